//! tonic as a contender.

use std::net::SocketAddr;

use arena_kit::{locked_version, run};
use arena_kit_captp::{Client, START, Sender, Server, Texts, listen, many, one};
use futures_util::{StreamExt as _, future::join_all, stream};
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

struct Implementation;

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
}

type Stub = ObjectsClient<Channel>;

thread_local! {
    static SAME: Client<Stub> = Client::start(Server::SameThread, serve, connect);
    static OTHER: Client<Stub> = Client::start(Server::OtherThread, serve, connect);
}

/// What may be on its way in a stream, and on the connection.
const WINDOW: u32 = 4 << 20;

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
        .add_service(ObjectsServer::new(Implementation))
        .serve_with_incoming(incoming);
    served.await.expect("the server failed");
}

async fn connect(address: SocketAddr) -> Stub {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("no address");
    let endpoint = endpoint
        .tcp_nodelay(true)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    ObjectsClient::new(endpoint.connect().await.expect("no connection"))
}

/// Clones of a stub share its connection.
async fn echo(stub: &Stub, text: &str) -> Option<String> {
    let text = Text {
        text: text.to_owned(),
    };
    let response = stub.clone().echo(text).await.ok()?;
    Some(response.into_inner().text)
}

fn echo_same(text: &str) -> Option<String> {
    SAME.with(|client| client.run(async |stub| echo(stub, text).await))
}

fn echo_other(text: &str) -> Option<String> {
    OTHER.with(|client| client.run(async |stub| echo(stub, text).await))
}

fn echo_many(texts: &[String]) -> Option<Texts> {
    let echo_all = async |stub: &Stub| {
        let results = join_all(texts.iter().map(|text| echo(stub, text))).await;
        Some(Texts(results.into_iter().collect::<Option<_>>()?))
    };
    SAME.with(|client| client.run(echo_all))
}

fn oneway(texts: &[String]) -> Option<[u8; 8]> {
    let send = async |stub: &Stub| {
        let texts: Vec<Text> = texts
            .iter()
            .map(|text| Text { text: text.clone() })
            .collect();
        let response = stub.clone().log(stream::iter(texts)).await.ok()?;
        Some(response.into_inner().digest.to_le_bytes())
    };
    SAME.with(|client| client.run(send))
}

fn chain(texts: &[String]) -> Option<[u8; 8]> {
    let fold = async |stub: &Stub| {
        let (mut stub, mut state) = (stub.clone(), START);
        for text in texts {
            let text = text.clone();
            let response = stub.fold(Step { state, text }).await.ok()?;
            state = response.into_inner().digest;
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
        "tonic",
        locked_version(include_str!("../../Cargo.lock"), "tonic"),
        vec![
            one("captp_echo", echo_same),
            one("captp_echo_2t", echo_other),
            many("captp_echo_300", echo_many),
            many("captp_oneway", oneway),
            many("captp_chain_32", chain),
        ],
    );
}
