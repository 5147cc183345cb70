//! tarpc as a contender.

use std::net::SocketAddr;
use std::sync::Arc;

use arena_kit::{locked_version, run};
use arena_kit_captp::{Peer, Rounds, START, Sender, digest, listen, operations};
use futures_util::StreamExt as _;
use serde_bytes::ByteBuf;
use tarpc::server::{BaseChannel, Channel as _};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::{client, context, serde_transport, server};
use tokio::net::TcpStream;

#[tarpc::service]
trait Objects {
    async fn echo(text: String) -> String;
    async fn fold(state: u64, text: String) -> u64;
    async fn blob(bytes: ByteBuf) -> ByteBuf;
    async fn wait(round: u64) -> Option<String>;
    async fn settle(round: u64, text: String);
}

#[derive(Clone, Default)]
struct Implementation(Arc<Rounds>);

impl Objects for Implementation {
    async fn echo(self, _: context::Context, text: String) -> String {
        text
    }

    async fn fold(self, _: context::Context, state: u64, text: String) -> u64 {
        digest(state, &text)
    }

    async fn blob(self, _: context::Context, bytes: ByteBuf) -> ByteBuf {
        bytes
    }

    async fn wait(self, _: context::Context, round: u64) -> Option<String> {
        self.0.wait(round).await
    }

    async fn settle(self, _: context::Context, round: u64, text: String) {
        self.0.settle(round, text);
    }
}

/// Room for requests and responses that wait.
const ROOM: usize = 1024;

struct Calls(ObjectsClient);

impl Peer for Calls {
    type Address = SocketAddr;

    async fn serve(ready: Sender<SocketAddr>) {
        let (listener, address) = listen().await;
        assert!(ready.send(address).is_ok());
        let implementation = Implementation::default();
        loop {
            let (stream, _) = listener.accept().await.expect("no connection");
            stream.set_nodelay(true).expect("no option");
            let transport = serde_transport::Transport::from((stream, Bincode::default()));
            let config = server::Config {
                pending_response_buffer: ROOM,
            };
            let responses =
                BaseChannel::new(config, transport).execute(implementation.clone().serve());
            tokio::task::spawn_local(
                responses.for_each(async |response| drop(tokio::spawn(response))),
            );
        }
    }

    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("no connection");
        stream.set_nodelay(true).expect("no option");
        let transport = serde_transport::Transport::from((stream, Bincode::default()));
        let mut config = client::Config::default();
        config.pending_request_buffer = ROOM;
        config.max_in_flight_requests = ROOM;
        Self(ObjectsClient::new(config, transport).spawn())
    }

    async fn echo(&self, text: &str) -> Option<String> {
        let call = self.0.echo(context::current(), text.to_owned());
        call.await.ok()
    }

    async fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let call = self.0.blob(context::current(), ByteBuf::from(bytes));
        Some(call.await.ok()?.into_vec())
    }

    async fn wait(&self, round: u64) -> Option<String> {
        self.0.wait(context::current(), round).await.ok()?
    }

    async fn settle(&self, round: u64, text: &str) -> Option<()> {
        let call = self.0.settle(context::current(), round, text.to_owned());
        call.await.ok()
    }

    async fn chain(&self, texts: &[String]) -> Option<u64> {
        let mut state = START;
        for text in texts {
            let call = self.0.fold(context::current(), state, text.clone());
            state = call.await.ok()?;
        }
        Some(state)
    }
}

fn main() {
    run(
        "tarpc",
        locked_version(include_str!("../../Cargo.lock"), "tarpc"),
        operations::<Calls>(),
    );
}
