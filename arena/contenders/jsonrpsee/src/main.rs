//! jsonrpsee as a contender.

use std::net::SocketAddr;

use arena_kit::{locked_version, run};
use arena_kit_captp::{Client, START, Sender, Server, Texts, digest, many, one};
use futures_util::future::join_all;
use jsonrpsee_core::{client::ClientT as _, rpc_params};
use jsonrpsee_server::{RpcModule, ServerConfig, types::ErrorObjectOwned};
use jsonrpsee_ws_client::{WsClient, WsClientBuilder};

thread_local! {
    static SAME: Client<WsClient> = Client::start(Server::SameThread, serve, connect);
    static OTHER: Client<WsClient> = Client::start(Server::OtherThread, serve, connect);
}

/// Room for requests and responses that wait.
const ROOM: u32 = 1024;

async fn serve(ready: Sender<SocketAddr>) {
    let config = ServerConfig::builder()
        .ws_only()
        .set_tcp_no_delay(true)
        .set_message_buffer_capacity(ROOM)
        .build();
    let server = jsonrpsee_server::Server::builder().set_config(config);
    let server = server.build("127.0.0.1:0").await.expect("no port");
    let address = server.local_addr().expect("no address");
    let mut module = RpcModule::new(());
    let echo = module.register_method("echo", |params, _, _| params.one::<String>());
    echo.expect("registered twice");
    let fold = module.register_method("fold", |params, _, _| {
        let (state, text) = params.parse::<(u64, &str)>()?;
        Ok::<u64, ErrorObjectOwned>(digest(state, text))
    });
    fold.expect("registered twice");
    let handle = server.start(module);
    assert!(ready.send(address).is_ok());
    handle.stopped().await;
}

async fn connect(address: SocketAddr) -> WsClient {
    let builder = WsClientBuilder::default()
        .set_tcp_no_delay(true)
        .max_concurrent_requests(ROOM as usize);
    let client = builder.build(format!("ws://{address}")).await;
    client.expect("no connection")
}

async fn echo(client: &WsClient, text: &str) -> Option<String> {
    client.request("echo", rpc_params![text]).await.ok()
}

fn echo_same(text: &str) -> Option<String> {
    SAME.with(|client| client.run(async |client| echo(client, text).await))
}

fn echo_other(text: &str) -> Option<String> {
    OTHER.with(|client| client.run(async |client| echo(client, text).await))
}

fn echo_many(texts: &[String]) -> Option<Texts> {
    let echo_all = async |client: &WsClient| {
        let results = join_all(texts.iter().map(|text| echo(client, text))).await;
        Some(Texts(results.into_iter().collect::<Option<_>>()?))
    };
    SAME.with(|client| client.run(echo_all))
}

fn chain(texts: &[String]) -> Option<[u8; 8]> {
    let fold = async |client: &WsClient| {
        let mut state = START;
        for text in texts {
            let call = client.request::<u64, _>("fold", rpc_params![state, text]);
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
        "jsonrpsee",
        locked_version(include_str!("../../Cargo.lock"), "jsonrpsee-server"),
        vec![
            one("captp_echo", echo_same),
            one("captp_echo_2t", echo_other),
            many("captp_echo_300", echo_many),
            many("captp_chain_32", chain),
        ],
    );
}
