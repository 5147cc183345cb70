//! tonic as a contender.

use std::net::SocketAddr;

use arena_kit::{locked_version, run};
use arena_kit_captp::{Peer, Rounds, START, Sender, listen, operations};
use futures_util::{StreamExt as _, stream};
use prost::bytes::Bytes;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status, Streaming};

mod service {
    tonic::include_proto!("arena.Objects");
}

use service::objects_client::ObjectsClient;
use service::objects_server::{Objects, ObjectsServer};

#[derive(Clone, PartialEq, prost::Message)]
struct Text {
    #[prost(string, tag = "1")]
    text: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Step {
    #[prost(fixed64, tag = "1")]
    state: u64,
    #[prost(string, tag = "2")]
    text: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Digest {
    #[prost(fixed64, tag = "1")]
    digest: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Blob {
    #[prost(bytes = "bytes", tag = "1")]
    bytes: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Round {
    #[prost(uint64, tag = "1")]
    round: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Settled {
    #[prost(uint64, tag = "1")]
    round: u64,
    #[prost(string, tag = "2")]
    text: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Nothing {}

#[derive(Default)]
struct Implementation(Rounds);

#[tonic::async_trait]
impl Objects for Implementation {
    async fn echo(&self, request: Request<Text>) -> Result<Response<Text>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn fold(&self, request: Request<Step>) -> Result<Response<Digest>, Status> {
        let Step { state, text } = request.into_inner();
        let digest = arena_kit_captp::digest(state, &text);
        Ok(Response::new(Digest { digest }))
    }

    async fn log(&self, request: Request<Streaming<Text>>) -> Result<Response<Digest>, Status> {
        let mut texts = request.into_inner();
        let mut digest = START;
        while let Some(text) = texts.next().await {
            digest = arena_kit_captp::digest(digest, &text?.text);
        }
        Ok(Response::new(Digest { digest }))
    }

    async fn blob(&self, request: Request<Blob>) -> Result<Response<Blob>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn wait(&self, request: Request<Round>) -> Result<Response<Text>, Status> {
        let text = self.0.wait(request.into_inner().round).await;
        let text = text.ok_or_else(|| Status::not_found("no such round"))?;
        Ok(Response::new(Text { text }))
    }

    async fn settle(&self, request: Request<Settled>) -> Result<Response<Nothing>, Status> {
        let Settled { round, text } = request.into_inner();
        self.0.settle(round, text);
        Ok(Response::new(Nothing {}))
    }
}

/// What may be on its way in a stream, and on the connection.
const WINDOW: u32 = 4 << 20;

/// Calls in flight.
const STREAMS: u32 = 1024;

/// Clones share the connection.
struct Calls(ObjectsClient<Channel>);

impl Peer for Calls {
    type Address = SocketAddr;
    const ONEWAY: bool = true;

    async fn serve(ready: Sender<SocketAddr>) {
        let (listener, address) = listen().await;
        assert!(ready.send(address).is_ok());
        let incoming = TcpListenerStream::new(listener).map(|stream| {
            let stream = stream?;
            stream.set_nodelay(true)?;
            Ok::<_, std::io::Error>(stream)
        });
        let served = tonic::transport::Server::builder()
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_concurrent_streams(STREAMS)
            .add_service(ObjectsServer::new(Implementation::default()))
            .serve_with_incoming(incoming);
        served.await.expect("the server failed");
    }

    async fn connect(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("no address");
        let endpoint = endpoint
            .tcp_nodelay(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        let channel = endpoint.connect().await.expect("no connection");
        Self(ObjectsClient::new(channel))
    }

    async fn echo(&self, text: &str) -> Option<String> {
        let text = Text {
            text: text.to_owned(),
        };
        let response = self.0.clone().echo(text).await.ok()?;
        Some(response.into_inner().text)
    }

    async fn oneway(&self, texts: &[String]) -> Option<u64> {
        let texts: Vec<Text> = texts
            .iter()
            .map(|text| Text { text: text.clone() })
            .collect();
        let response = self.0.clone().log(stream::iter(texts)).await.ok()?;
        Some(response.into_inner().digest)
    }

    async fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let bytes = Bytes::copy_from_slice(bytes);
        let response = self.0.clone().blob(Blob { bytes }).await.ok()?;
        Some(response.into_inner().bytes.into())
    }

    async fn wait(&self, round: u64) -> Option<String> {
        let response = self.0.clone().wait(Round { round }).await.ok()?;
        Some(response.into_inner().text)
    }

    async fn settle(&self, round: u64, text: &str) -> Option<()> {
        let text = text.to_owned();
        let response = self.0.clone().settle(Settled { round, text }).await;
        response.ok().map(drop)
    }

    async fn chain(&self, texts: &[String]) -> Option<u64> {
        let (mut stub, mut state) = (self.0.clone(), START);
        for text in texts {
            let text = text.clone();
            let response = stub.fold(Step { state, text }).await.ok()?;
            state = response.into_inner().digest;
        }
        Some(state)
    }
}

fn main() {
    run(
        "tonic",
        locked_version(include_str!("../../Cargo.lock"), "tonic"),
        operations::<Calls>(),
    );
}
