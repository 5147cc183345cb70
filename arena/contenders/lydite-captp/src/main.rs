//! lydite-ocapn and lydite-ocapn-net as a contender.

mod core;

use std::sync::Mutex;

use arena_kit::run;
use arena_kit_captp::{Client, START, Sender, Server, Texts, digest, many, one};
use lydite_ocapn::captp::Locator;
use lydite_ocapn_net::{Call, Node, Object, Reference, Tcp, args};

/// The client's node, which must live, and its references to the objects of the server.
struct Objects {
    _node: Node,
    echo: Reference,
    log: Reference,
    link: Reference,
}

thread_local! {
    static SAME: Client<Objects> = Client::start(Server::SameThread, serve, connect);
    static OTHER: Client<Objects> = Client::start(Server::OtherThread, serve, connect);
}

async fn node(name: &str) -> Node {
    let tcp = Tcp::bind("127.0.0.1:0", name).await.expect("no port");
    Node::builder().netlayer(tcp).start().expect("no node")
}

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

async fn connect(locators: [Locator; 3]) -> Objects {
    let node = node("client").await;
    let mut objects = locators.iter().map(|locator| node.enliven(locator));
    let mut next = async || {
        let object = objects.next()?.await.ok()?;
        object.as_reference()
    };
    let (echo, log, link) = (next().await, next().await, next().await);
    drop(objects);
    Objects {
        _node: node,
        echo: echo.expect("no echo"),
        log: log.expect("no log"),
        link: link.expect("no link"),
    }
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

async fn echo(objects: &Objects, text: &str) -> Option<String> {
    let result = objects.echo.call(args![text]).await.ok()?;
    Some(result.decode::<&str>().ok()?.to_owned())
}

fn echo_same(text: &str) -> Option<String> {
    SAME.with(|client| client.run(async |objects| echo(objects, text).await))
}

fn echo_other(text: &str) -> Option<String> {
    OTHER.with(|client| client.run(async |objects| echo(objects, text).await))
}

fn echo_many(texts: &[String]) -> Option<Texts> {
    let many = async |objects: &Objects| {
        let calls = texts.iter().map(|text| objects.echo.call(args![text]));
        let mut results = Vec::with_capacity(texts.len());
        for call in calls.collect::<Vec<_>>() {
            let result = call.await.ok()?;
            results.push(result.decode::<&str>().ok()?.to_owned());
        }
        Some(Texts(results))
    };
    SAME.with(|client| client.run(many))
}

fn oneway(texts: &[String]) -> Option<[u8; 8]> {
    let send = async |objects: &Objects| {
        for text in texts {
            objects.log.send(args![text]);
        }
        let digest = objects.log.call(args![]).await.ok()?;
        Some(digest.decode::<u64>().ok()?.to_le_bytes())
    };
    SAME.with(|client| client.run(send))
}

fn chain(texts: &[String]) -> Option<[u8; 8]> {
    let chain = async |objects: &Objects| {
        let (first, others) = texts.split_first()?;
        let mut link = objects.link.call(args![first]);
        for text in others {
            link = link.call(args![text]);
        }
        let digest = link.call(args![]).await.ok()?;
        Some(digest.decode::<u64>().ok()?.to_le_bytes())
    };
    SAME.with(|client| client.run(chain))
}

fn main() {
    // Connect before the first batch.
    SAME.with(|_| ());
    OTHER.with(|_| ());
    run(
        "lydite-captp",
        env!("CARGO_PKG_VERSION"),
        vec![
            many("captp_core_echo", core::echo),
            many("captp_core_oneway", core::oneway),
            one("captp_echo", echo_same),
            one("captp_echo_2t", echo_other),
            many("captp_echo_300", echo_many),
            many("captp_oneway", oneway),
            many("captp_chain_32", chain),
        ],
    );
}
