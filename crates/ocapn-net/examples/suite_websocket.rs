//! Serves the objects of the OCapN test suite over WebSocket and prints the locator: a peer for the tests of the
//! JavaScript package.
use lydite_ocapn_net::{Node, WebSocket, suite};

fn main() -> std::io::Result<()> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(async {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| std::io::Error::other(error.to_string()))?;
        let websocket = WebSocket::bind("127.0.0.1:0", &secret).await?;
        let node = Node::builder().netlayer(websocket).start()?;
        suite::publish(&node);
        if let Some(locator) = node.locator(b"") {
            println!("{locator}");
        }
        std::future::pending().await
    })
}
