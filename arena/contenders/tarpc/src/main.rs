//! tarpc as a contender.

use arena_kit::{locked_version, run};
use arena_kit_captp::{Client, START, Sender, Server, Texts, digest, listen, many, one};
use futures_util::{StreamExt as _, future::join_all};
use std::net::SocketAddr;
use tarpc::server::{BaseChannel, Channel as _};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::{client, context, serde_transport, server};
use tokio::net::TcpStream;

#[tarpc::service]
trait Objects {
    async fn echo(text: String) -> String;
    async fn fold(state: u64, text: String) -> u64;
}

#[derive(Clone)]
struct Implementation;

impl Objects for Implementation {
    async fn echo(self, _: context::Context, text: String) -> String {
        text
    }

    async fn fold(self, _: context::Context, state: u64, text: String) -> u64 {
        digest(state, &text)
    }
}

thread_local! {
    static SAME: Client<ObjectsClient> = Client::start(Server::SameThread, serve, connect);
    static OTHER: Client<ObjectsClient> = Client::start(Server::OtherThread, serve, connect);
}

/// Room for requests and responses that wait.
const ROOM: usize = 1024;

async fn serve(ready: Sender<SocketAddr>) {
    let (listener, address) = listen().await;
    assert!(ready.send(address).is_ok());
    let (stream, _) = listener.accept().await.expect("no connection");
    stream.set_nodelay(true).expect("no option");
    let transport = serde_transport::Transport::from((stream, Bincode::default()));
    let config = server::Config {
        pending_response_buffer: ROOM,
    };
    BaseChannel::new(config, transport)
        .execute(Implementation.serve())
        .for_each(async |response| drop(tokio::spawn(response)))
        .await;
}

async fn connect(address: SocketAddr) -> ObjectsClient {
    let stream = TcpStream::connect(address).await.expect("no connection");
    stream.set_nodelay(true).expect("no option");
    let transport = serde_transport::Transport::from((stream, Bincode::default()));
    let mut config = client::Config::default();
    config.pending_request_buffer = ROOM;
    ObjectsClient::new(config, transport).spawn()
}

async fn echo(client: &ObjectsClient, text: &str) -> Option<String> {
    client.echo(context::current(), text.to_owned()).await.ok()
}

fn echo_same(text: &str) -> Option<String> {
    SAME.with(|client| client.run(async |client| echo(client, text).await))
}

fn echo_other(text: &str) -> Option<String> {
    OTHER.with(|client| client.run(async |client| echo(client, text).await))
}

fn echo_many(texts: &[String]) -> Option<Texts> {
    let echo_all = async |client: &ObjectsClient| {
        let results = join_all(texts.iter().map(|text| echo(client, text))).await;
        Some(Texts(results.into_iter().collect::<Option<_>>()?))
    };
    SAME.with(|client| client.run(echo_all))
}

fn chain(texts: &[String]) -> Option<[u8; 8]> {
    let fold = async |client: &ObjectsClient| {
        let mut state = START;
        for text in texts {
            let call = client.fold(context::current(), state, text.clone());
            state = call.await.ok()?;
        }
        Some(state.to_le_bytes())
    };
    SAME.with(|client| client.run(fold))
}

fn main() {
    // Connect before the first batch.
    SAME.with(|_| ());
    OTHER.with(|_| ());
    run(
        "tarpc",
        locked_version(include_str!("../../Cargo.lock"), "tarpc"),
        vec![
            one("captp_echo", echo_same),
            one("captp_echo_2t", echo_other),
            many("captp_echo_300", echo_many),
            many("captp_chain_32", chain),
        ],
    );
}
