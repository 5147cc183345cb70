//! lydite-ocapn and lydite-ocapn-net as a contender.

mod core;
mod handoff;
mod hostile;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use arena_kit::run;
use arena_kit_captp::{
    Counter, LISTENERS, Peer, REFERENCES, REFERENCES_AT_ONCE, START, Sender, digest, many, one,
    operations,
};
use lydite_ocapn::captp::Locator;
use lydite_ocapn::session::Limits;
use lydite_ocapn_net::{
    Arguments, Call, Error, Node, Object, Passable, Promise, Reference, Resolver, Tcp, args,
};

/// The client's node, which must live, and its references to the objects of the server.
struct Objects {
    _node: Node,
    echo: Reference,
    log: Reference,
    link: Reference,
    wait: Reference,
    create: Reference,
    dropped: Reference,
}

/// Room for the rows.
fn limits() -> Limits {
    Limits {
        message: 2 << 20,
        exports: 1 << 17,
        imports: 1 << 17,
        listeners: 1024,
        signatures: u32::MAX,
        ..Limits::default()
    }
}

async fn node(name: &str, limits: Limits) -> Node {
    let tcp = Tcp::bind("127.0.0.1:0", name).await.expect("no port");
    let builder = Node::builder().netlayer(tcp).limits(limits);
    builder.start().expect("no node")
}

/// A node that only connects to others.
fn client(name: &str) -> Node {
    let tcp = Tcp::client(name).reach_private();
    let builder = Node::builder().netlayer(tcp).limits(limits());
    builder.start().expect("no node")
}

/// Publishes an object.
fn publish(node: &Node, swiss: &[u8], object: Reference) -> Locator {
    node.publish(swiss, object);
    node.locator(swiss).expect("no locator")
}

/// Returns what it is called with.
fn echo(node: &Node) -> Reference {
    node.function(|arguments| arguments.item(0))
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

/// A promise for all who ask for it, and its resolver. A message with a text fulfils it, and another one takes its
/// place.
struct Wait(Mutex<(Promise, Resolver)>);

impl Object for Wait {
    fn call(&self, call: Call) {
        let mut pair = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match call.arguments.item(0) {
            Ok(text) => {
                let (_, resolver) = std::mem::replace(&mut *pair, call.node.promise());
                drop(pair);
                resolver.fulfil(text);
                call.settle(Ok(().into()));
            }
            Err(_) => {
                let promise = pair.0.clone();
                drop(pair);
                call.settle(Ok(promise.into()));
            }
        }
    }
}

/// A list of new objects, for a text, the number of the first, and the number of objects.
fn create(node: &Node, counter: &Arc<Counter>, arguments: &Arguments) -> Result<Passable, Error> {
    let text: String = arguments.item(0)?.decode()?;
    let (first, count) = (arguments.item(1)?.decode()?, arguments.item(2)?.decode()?);
    Ok(Passable::list(|list| {
        for number in first..u64::saturating_add(first, count) {
            let counted = counter.count(&text, number);
            list.push(node.object(move |call: Call| call.settle(Ok(counted.word().into()))));
        }
    }))
}

impl Peer for Objects {
    type Address = [Locator; 6];
    const ONEWAY: bool = true;
    const REFERENCES: bool = true;

    async fn serve(ready: Sender<[Locator; 6]>) {
        let node = node("server", limits()).await;
        let counter = Arc::<Counter>::default();
        let (creating, of) = (counter.clone(), node.clone());
        let objects = [
            echo(&node),
            node.object(Log(Mutex::new(START))),
            link(&node, START),
            node.object(Wait(Mutex::new(node.promise()))),
            node.function(move |arguments| create(&of, &creating, arguments)),
            node.async_function(move |_| {
                let counter = counter.clone();
                async move { Ok(counter.dropped().await.into()) }
            }),
        ];
        let mut swiss = 0u8..;
        let locators =
            objects.map(|object| publish(&node, &[swiss.next().unwrap_or_default()], object));
        assert!(ready.send(locators).is_ok());
        std::future::pending::<()>().await;
    }

    async fn connect(locators: [Locator; 6]) -> Self {
        let node = client("client");
        let mut objects = locators.iter().map(|locator| node.enliven(locator));
        let mut next = async || {
            let object = objects.next()?.await.ok()?;
            object.as_reference()
        };
        Self {
            echo: next().await.expect("no echo"),
            log: next().await.expect("no log"),
            link: next().await.expect("no link"),
            wait: next().await.expect("no wait"),
            create: next().await.expect("no create"),
            dropped: next().await.expect("no dropped"),
            _node: node.clone(),
        }
    }

    async fn setup([locator, ..]: [Locator; 6], text: &str) -> Option<String> {
        // A peer with the name of another one would take its place.
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let name = format!("client {}", CLIENTS.fetch_add(1, Relaxed));
        let node = client(&name);
        let result = node.enliven(&locator).call(args![text]).await;
        node.shutdown();
        Some(result.ok()?.decode::<&str>().ok()?.to_owned())
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

    async fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let result = self.echo.call(args![bytes]).await.ok()?;
        Some(result.decode::<&[u8]>().ok()?.to_vec())
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

    // Messages arrive in order, so that rounds need no number.
    async fn wait(&self, _: u64) -> Option<String> {
        let text = self.wait.call(args![]).await.ok()?;
        Some(text.decode::<&str>().ok()?.to_owned())
    }

    async fn settle(&self, _: u64, text: &str) -> Option<()> {
        self.wait.call(args![text]).await.ok().map(drop)
    }

    async fn fan_out(&self, round: u64, text: &str) -> Option<u64> {
        let calls = (0..LISTENERS).map(|_| self.wait.call(args![]));
        let calls: Vec<Promise> = calls.collect();
        self.settle(round, text).await?;
        let mut state = START;
        for call in calls {
            state = digest(state, call.await.ok()?.decode::<&str>().ok()?);
        }
        Some(state)
    }

    async fn storm(&self, text: &str) -> Option<u64> {
        let firsts = (0..REFERENCES).step_by(REFERENCES_AT_ONCE as usize);
        let calls = firsts.map(|first| self.create.call(args![text, first, REFERENCES_AT_ONCE]));
        let mut objects = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            objects.push(call.await.ok()?);
        }
        drop(objects);
        let sum = self.dropped.call(args![]).await.ok()?;
        sum.decode().ok()
    }
}

fn main() {
    let mut all = vec![
        many("captp_core_echo", core::echo),
        many("captp_core_oneway", core::oneway),
        one("captp_handoff", handoff::handoff),
        one("captp_echo_hostile", hostile::echo_hostile),
    ];
    all.extend(operations::<Objects>());
    run("lydite-captp", env!("CARGO_PKG_VERSION"), all);
}
