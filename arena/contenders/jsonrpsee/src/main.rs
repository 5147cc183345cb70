//! jsonrpsee as a contender.

use std::net::SocketAddr;
use std::sync::Arc;

use arena_kit::{locked_version, run};
use arena_kit_captp::{Peer, Rounds, START, Sender, digest, operations};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use jsonrpsee_core::{client::ClientT as _, rpc_params};
use jsonrpsee_server::types::{ErrorObjectOwned, error::INVALID_PARAMS_CODE};
use jsonrpsee_server::{RpcModule, ServerConfig};
use jsonrpsee_ws_client::{WsClient, WsClientBuilder};

/// Room for requests and responses that wait.
const ROOM: u32 = 1024;

struct Calls(WsClient);

fn invalid(message: &str) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(INVALID_PARAMS_CODE, message, None::<()>)
}

impl Peer for Calls {
    type Address = SocketAddr;

    async fn serve(ready: Sender<SocketAddr>) {
        let config = ServerConfig::builder()
            .ws_only()
            .set_tcp_no_delay(true)
            .set_message_buffer_capacity(ROOM)
            .build();
        let server = jsonrpsee_server::Server::builder().set_config(config);
        let server = server.build("127.0.0.1:0").await.expect("no port");
        let address = server.local_addr().expect("no address");
        let mut module = RpcModule::new(Rounds::default());
        let echo = module.register_method("echo", |params, _, _| params.one::<String>());
        echo.expect("registered twice");
        let fold = module.register_method("fold", |params, _, _| {
            let (state, text) = params.parse::<(u64, &str)>()?;
            Ok::<u64, ErrorObjectOwned>(digest(state, text))
        });
        fold.expect("registered twice");
        let blob = module.register_method("blob", |params, _, _| {
            let bytes = BASE64_STANDARD.decode(params.one::<&str>()?);
            let bytes = bytes.map_err(|error| invalid(&error.to_string()))?;
            Ok::<_, ErrorObjectOwned>(BASE64_STANDARD.encode(bytes))
        });
        blob.expect("registered twice");
        let wait = module.register_async_method("wait", async |params, rounds: Arc<Rounds>, _| {
            let text = rounds.wait(params.one()?).await;
            text.ok_or_else(|| invalid("no such round"))
        });
        wait.expect("registered twice");
        let settle = module.register_method("settle", |params, rounds, _| {
            let (round, text) = params.parse()?;
            rounds.settle(round, text);
            Ok::<_, ErrorObjectOwned>(())
        });
        settle.expect("registered twice");
        let handle = server.start(module);
        assert!(ready.send(address).is_ok());
        handle.stopped().await;
    }

    async fn connect(address: SocketAddr) -> Self {
        let builder = WsClientBuilder::default()
            .set_tcp_no_delay(true)
            .max_concurrent_requests(ROOM as usize);
        let client = builder.build(format!("ws://{address}")).await;
        Self(client.expect("no connection"))
    }

    async fn echo(&self, text: &str) -> Option<String> {
        self.0.request("echo", rpc_params![text]).await.ok()
    }

    async fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = BASE64_STANDARD.encode(bytes);
        let call = self.0.request::<String, _>("blob", rpc_params![text]);
        BASE64_STANDARD.decode(call.await.ok()?).ok()
    }

    async fn wait(&self, round: u64) -> Option<String> {
        self.0.request("wait", rpc_params![round]).await.ok()
    }

    async fn settle(&self, round: u64, text: &str) -> Option<()> {
        let call = self.0.request("settle", rpc_params![round, text]);
        call.await.ok()
    }

    async fn chain(&self, texts: &[String]) -> Option<u64> {
        let mut state = START;
        for text in texts {
            let call = self.0.request::<u64, _>("fold", rpc_params![state, text]);
            state = call.await.ok()?;
        }
        Some(state)
    }
}

fn main() {
    run(
        "jsonrpsee",
        locked_version(include_str!("../../Cargo.lock"), "jsonrpsee-server"),
        operations::<Calls>(),
    );
}
