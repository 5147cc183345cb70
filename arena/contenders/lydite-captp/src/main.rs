//! lydite-ocapn and lydite-ocapn-net as a contender.

mod core;

use std::sync::Mutex;

use arena_kit::run;
use arena_kit_captp::{Peer, START, Sender, digest, many, operations};
use lydite_ocapn::captp::Locator;
use lydite_ocapn_net::{Call, Node, Object, Reference, Tcp, args};

/// The client's node, which must live, and its references to the objects of the server.
struct Objects {
    _node: Node,
    echo: Reference,
    log: Reference,
    link: Reference,
}

async fn node(name: &str) -> Node {
    let tcp = Tcp::bind("127.0.0.1:0", name).await.expect("no port");
    Node::builder().netlayer(tcp).start().expect("no node")
}

/// Keeps the digest of texts. A message without one returns it and starts again.
struct Log(Mutex<u64>);

impl Object for Log {
    fn call(&self, call: Call) {
        let Ok(mut state) = self.0.lock() else { return };
        match call.arguments.item(0) {
            Ok(text) => match text.decode() {
                Ok(text) => *state = digest(*state, text),
                Err(error) => call.settle(Err(error)),
            },
            Err(_) => call.settle(Ok(std::mem::replace(&mut *state, START).into())),
        }
    }
}

/// An object that returns a new one, for the digest after a text. A message without one returns the digest.
fn link(node: &Node, state: u64) -> Reference {
    node.object(move |call: Call| {
        let result = match call.arguments.item(0) {
            Ok(text) => text
                .decode()
                .map(|text| link(&call.node, digest(state, text)).into()),
            Err(_) => Ok(state.into()),
        };
        call.settle(result);
    })
}

impl Peer for Objects {
    type Address = [Locator; 3];
    const ONEWAY: bool = true;

    async fn serve(ready: Sender<[Locator; 3]>) {
        let node = node("server").await;
        let echo = node.function(|arguments| arguments.item(0));
        let objects: [(&[u8], Reference); 3] = [
            (b"echo", echo),
            (b"log", node.object(Log(Mutex::new(START)))),
            (b"link", link(&node, START)),
        ];
        let locators = objects.map(|(swiss, object)| {
            node.publish(swiss, object);
            node.locator(swiss).expect("no locator")
        });
        assert!(ready.send(locators).is_ok());
        std::future::pending::<()>().await;
    }

    async fn connect(locators: [Locator; 3]) -> Self {
        let node = node("client").await;
        let mut objects = locators.iter().map(|locator| node.enliven(locator));
        let mut next = async || {
            let object = objects.next()?.await.ok()?;
            object.as_reference()
        };
        let (echo, log, link) = (next().await, next().await, next().await);
        drop(objects);
        Self {
            _node: node,
            echo: echo.expect("no echo"),
            log: log.expect("no log"),
            link: link.expect("no link"),
        }
    }

    async fn echo(&self, text: &str) -> Option<String> {
        let result = self.echo.call(args![text]).await.ok()?;
        Some(result.decode::<&str>().ok()?.to_owned())
    }

    async fn echo_many(&self, texts: &[String]) -> Option<Vec<String>> {
        let calls = texts.iter().map(|text| self.echo.call(args![text]));
        let mut results = Vec::with_capacity(texts.len());
        for call in calls.collect::<Vec<_>>() {
            let result = call.await.ok()?;
            results.push(result.decode::<&str>().ok()?.to_owned());
        }
        Some(results)
    }

    async fn oneway(&self, texts: &[String]) -> Option<u64> {
        for text in texts {
            self.log.send(args![text]).ok()?;
        }
        let digest = self.log.call(args![]).await.ok()?;
        digest.decode().ok()
    }

    async fn chain(&self, texts: &[String]) -> Option<u64> {
        let (first, others) = texts.split_first()?;
        let mut link = self.link.call(args![first]);
        for text in others {
            link = link.call(args![text]);
        }
        let digest = link.call(args![]).await.ok()?;
        digest.decode().ok()
    }
}

fn main() {
    let mut all = vec![
        many("captp_core_echo", core::echo),
        many("captp_core_oneway", core::oneway),
    ];
    all.extend(operations::<Objects>());
    run("lydite-captp", env!("CARGO_PKG_VERSION"), all);
}
