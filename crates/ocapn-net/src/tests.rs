#![allow(clippy::unwrap_used, clippy::panic)]
use std::{io, time::Duration};

use lydite_ocapn::captp::{
    Dialect, Import, Locator, Operation, SecretKey, StartSession, Syrup, Target,
};
use lydite_ocapn::session::{Limits, Location};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::*;

/// Fails instead of hanging.
pub(crate) fn run<T>(test: impl std::future::Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let timeout = tokio::time::timeout(Duration::from_secs(30), test);
        timeout.await.expect("the test hangs")
    })
}

pub(crate) fn node(netlayer: impl Netlayer) -> Node {
    let node = Node::builder().netlayer(netlayer).start().unwrap();
    suite::publish(&node);
    node
}

async fn trio(kind: &str) -> Vec<Node> {
    let network = Network::default();
    let folder = std::env::temp_dir().join(format!("lydite-{}-{kind}", std::process::id()));
    let mut nodes = vec![];
    for name in ["alice", "bob", "carol"] {
        nodes.push(match kind {
            "tcp" => node(Tcp::bind("127.0.0.1:0", name).await.unwrap()),
            #[cfg(unix)]
            "unix" => {
                std::fs::create_dir_all(&folder).unwrap();
                node(Unix::bind(folder.join(name), name).unwrap())
            }
            #[cfg(feature = "websocket")]
            "websocket" => {
                let secret = [nodes.len() as u8; 32];
                node(WebSocket::bind("127.0.0.1:0", &secret).await.unwrap())
            }
            _ => node(network.join(name).unwrap()),
        });
    }
    nodes
}

const KINDS: &[&str] = &[
    "memory",
    "tcp",
    #[cfg(unix)]
    "unix",
    #[cfg(feature = "websocket")]
    "websocket",
];

#[test]
fn calls_pipelines_and_handoffs_on_each_netlayer() {
    for kind in KINDS {
        run(async {
            let nodes = trio(kind).await;
            let [alice, bob, carol] = nodes.as_slice() else {
                panic!()
            };
            // Sent at once, before there is a connection.
            let builder = alice.enliven(&bob.locator(suite::swiss::CAR_FACTORY_BUILDER).unwrap());
            let specification = lydite_ocapn::syrup::Value::List(vec![
                lydite_ocapn::syrup::Value::symbol("red"),
                lydite_ocapn::syrup::Value::symbol("zoomracer"),
            ]);
            let noise = builder
                .call(args![])
                .call(args![specification])
                .call(args![]);
            let noise: String = noise.await.unwrap().decode::<String>().unwrap();
            assert_eq!(noise, "Vroom! I am a red zoomracer car!");

            // Alice passes an object of Bob to Carol, who calls it and passes it back to Bob.
            let echo = alice.enliven(&bob.locator(suite::swiss::ECHO).unwrap());
            let echo = echo.await.unwrap().as_reference().unwrap();
            let carols = alice.enliven(&carol.locator(suite::swiss::GREETER).unwrap());
            let greeting = carols.call(args![&echo]).await.unwrap();
            assert_eq!(greeting.data(), b"[5\"Hello]");
            assert_eq!(carol.stats().connections, 2);

            // Once everything is dropped, the tables are empty.
            drop((builder, echo, carols, greeting));
            for node in &nodes {
                let started = std::time::Instant::now();
                loop {
                    let stats = node.stats();
                    if (stats.exports, stats.imports, stats.questions, stats.answers)
                        == (0, 0, 0, 0)
                    {
                        break;
                    }
                    assert!(
                        started.elapsed() < Duration::from_secs(10),
                        "{kind}: {stats:?}"
                    );
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            nodes.iter().for_each(Node::shutdown);
        });
    }
}

/// A node without a listener, and two that listen.
async fn client_and_servers(kind: &str) -> [Node; 3] {
    let [_, bob, carol] = trio(kind).await.try_into().ok().unwrap();
    let client = match kind {
        "tcp" => node(Tcp::client("client").reach_private()),
        #[cfg(feature = "websocket")]
        _ => node(WebSocket::client(&[7; 32]).reach_private()),
        #[cfg(not(feature = "websocket"))]
        _ => panic!(),
    };
    [client, bob, carol]
}

#[test]
fn a_client_without_a_listener() {
    for kind in ["tcp", "websocket"] {
        if !KINDS.contains(&kind) {
            continue;
        }
        run(async {
            let [client, bob, carol] = client_and_servers(kind).await;
            let echo = client.enliven(&bob.locator(suite::swiss::ECHO).unwrap());
            assert_eq!(echo.call(args![1u64]).await.unwrap().data(), b"[1+]");

            // The server calls an object of the client.
            let own = client.function(|arguments| Ok(args![arguments, "client"]));
            let greeter = client.enliven(&bob.locator(suite::swiss::GREETER).unwrap());
            let greeting = greeter.call(args![&own]).await.unwrap();
            assert_eq!(greeting.data(), b"[[5\"Hello]6\"client]");

            // A third node cannot.
            let greeter = bob.enliven(&carol.locator(suite::swiss::GREETER).unwrap());
            let relay = bob.async_function(move |arguments| {
                let greeter = greeter.clone();
                async move { greeter.call(arguments).await }
            });
            bob.publish(b"relay", relay);
            let relay = client.enliven(&bob.locator(b"relay").unwrap());
            let error = relay.call(args![&own]).await.unwrap_err();
            assert!(error.to_string().contains("expected the hint"), "{error}");
            assert_eq!(echo.call(args![2u64]).await.unwrap().data(), b"[2+]");
        });
    }
}

#[test]
fn a_client_reaches_public_addresses_only() {
    run(async {
        let client = node(Tcp::client("client"));
        let locator = "ocapn://x.tcp-testing-only/s/x?host=127.0.0.1&port=1";
        let error = client.enliven(&locator.parse().unwrap()).await.unwrap_err();
        assert!(
            error.to_string().contains("not reachable by policy"),
            "{error}"
        );
    });
}

#[test]
fn long_values_arrive_on_each_netlayer() {
    for kind in KINDS {
        run(async {
            let nodes = trio(kind).await;
            let echo = nodes[0].enliven(&nodes[1].locator(suite::swiss::ECHO).unwrap());
            let values: Vec<Vec<u8>> = [300_000, 7, 900_000, 65_536, 40_000, 900_000]
                .iter()
                .zip(1u32..)
                .map(|(&length, seed)| (0..length).map(|i: u32| ((i * seed) >> 3) as u8).collect())
                .collect();
            for _ in 0..3 {
                let calls: Vec<Promise> = values
                    .iter()
                    .map(|value| echo.call(args![&value[..]]))
                    .collect();
                for (call, value) in calls.into_iter().zip(&values) {
                    let echoed = call.await.unwrap().item(0).unwrap();
                    assert!(echoed.decode::<&[u8]>().unwrap() == value, "{kind}");
                }
            }
        });
    }
}

#[test]
fn promises_resolvers_and_parts() {
    run(async {
        let nodes = trio("memory").await;
        let pair = nodes[0].enliven(&nodes[1].locator(suite::swiss::PROMISE_RESOLVER).unwrap());
        let pair = pair.call(args![]);
        let (promise, resolver) = (pair.index(0), pair.index(1));
        let through = promise.call(args!["early"]);
        let object = nodes[0].async_function(|arguments| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(args![arguments, true])
        });
        let fulfil = lydite_ocapn::syrup::Symbol("fulfill");
        resolver.send(args![fulfil, object]).unwrap();
        assert_eq!(through.await.unwrap().data(), b"[[5\"early]t]");

        let (promise, resolver) = nodes[0].promise();
        drop(resolver);
        let error = promise.await.unwrap_err();
        assert_eq!(error.to_string(), "the resolver was dropped");
    });
}

#[test]
fn a_settled_promise_is_ready_at_once() {
    run(async {
        let node = node(Network::default().join("alice").unwrap());
        let (promise, resolver) = node.promise();
        resolver.fulfil("x");
        let mut settled = std::pin::pin!(promise.into_future());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(settled.as_mut().poll(&mut context).is_ready());
    });
}

#[test]
fn order_holds_for_concurrent_calls() {
    run(async {
        let network = Network::default();
        let alice = node(network.join("alice").unwrap());
        let bob = node(network.join("bob").unwrap());
        let next = std::sync::atomic::AtomicU64::new(0);
        let counter = bob.function(move |arguments| {
            let expected = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(arguments.item(0)?.decode::<u64>()?, expected);
            Ok(Passable::new(expected))
        });
        bob.publish(b"counter", counter);
        let counter = alice.enliven(&bob.locator(b"counter").unwrap());
        // More than may wait for the connection.
        (&counter).await.unwrap();
        let calls: Vec<Promise> = (0..5000u64).map(|i| counter.call(args![i])).collect();
        for (i, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap().decode::<u64>().unwrap(), i as u64);
        }
    });
}

#[test]
fn disconnection_and_failed_dials() {
    run(async {
        let nodes = trio("tcp").await;
        let echo = nodes[0].enliven(&nodes[1].locator(suite::swiss::ECHO).unwrap());
        let echo = echo.await.unwrap().as_reference().unwrap();
        let watching = tokio::spawn({
            let echo = echo.clone();
            async move { echo.on_broken().await }
        });
        assert!(echo.call(args![1u64]).await.is_ok());
        nodes[1].shutdown();
        watching.await.unwrap();
        let error = echo.call(args![1u64]).await.unwrap_err();
        assert!(matches!(&error, Error::Disconnected(reason) if reason == "disconnected"));
        assert_eq!(error.to_string(), "disconnected");

        for (locator, reason) in [
            (
                "ocapn://x.tcp-testing-only/s/x?host=127.0.0.1&port=x",
                "expected a port in the hint `port`",
            ),
            (
                "ocapn://x.tcp-testing-only/s/x?host=127.0.0.1",
                "expected the hint `port`",
            ),
            (
                "ocapn://x.tcp-testing-only/s/x?host=169.254.169.254&port=80",
                "not reachable by policy",
            ),
            (
                "ocapn://x.tcp-testing-only/s/x?host=10.1.2.3&port=1",
                "not reachable by policy",
            ),
            ("ocapn://x.onion/s/x", "no netlayer for the transport onion"),
        ] {
            let locator: Locator = locator.parse().unwrap();
            let error = nodes[0].enliven(&locator).await.unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(matches!(error, Error::Disconnected(_)));
        }
    });
}

#[test]
fn the_end_of_what_promises_became_is_reported() {
    run(async {
        let [alice, bob, carol] = trio("tcp").await.try_into().ok().unwrap();
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        let keep = alice.function(move |arguments| {
            sender.send(arguments.item(0).unwrap()).unwrap();
            Ok(args![])
        });
        alice.publish(b"keep", keep);
        // An argument that was handed off, a promise for an object, one that cannot be fulfilled, and a bootstrap object.
        let echo = bob.enliven(&carol.locator(suite::swiss::ECHO).unwrap());
        let echo = echo.await.unwrap().as_reference().unwrap();
        let keep = bob.enliven(&alice.locator(b"keep").unwrap());
        keep.call(args![&echo]).await.unwrap();
        let argument = received.recv().await.unwrap().as_reference().unwrap();
        let object = alice.enliven(&carol.locator(suite::swiss::ECHO).unwrap());
        let bootstrap = alice.connect(&carol.locator(b"").unwrap().peer());
        let bootstrap = bootstrap.await.unwrap().as_reference().unwrap();
        let nobody = "ocapn://x.tcp-testing-only/s/x?host=127.0.0.1&port=1";
        let nobody = alice.enliven(&nobody.parse().unwrap());
        let watched = [
            &argument,
            object.reference(),
            &bootstrap,
            nobody.reference(),
        ];
        let watching = watched.map(|reference| tokio::spawn(reference.on_broken()));
        object.call(args![1u64]).await.unwrap();
        carol.shutdown();
        for watching in watching {
            watching.await.unwrap();
        }
        let local = alice.function(|_| Ok(args![]));
        let still = tokio::time::timeout(Duration::from_millis(50), local.on_broken());
        assert!(still.await.is_err());
    });
}

/// A netlayer that never opens a connection. Holds a clone for each that is being opened.
struct Silent(std::sync::Arc<()>);

impl Netlayer for Silent {
    fn location(&self) -> Location {
        Location {
            transport: "silent".into(),
            designator: "alice".into(),
            hints: None,
        }
    }

    fn dial(&self, _: Location) -> Future<'_, io::Result<Opened>> {
        let held = self.0.clone();
        Box::pin(async move {
            let _held = held;
            std::future::pending().await
        })
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        Box::pin(std::future::pending())
    }
}

/// Runs a test whose time passes when all tasks wait.
fn run_paused(test: impl std::future::Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(test);
}

#[test]
fn connections_that_do_not_open_end_in_time() {
    run_paused(async {
        let network = Network::default();
        let opening = std::sync::Arc::new(());
        let alice = Node::builder()
            .netlayer(Silent(opening.clone()))
            .netlayer(network.join("alice").unwrap())
            .start()
            .unwrap();
        let bob = node(network.join("bob").unwrap());
        let started = tokio::time::Instant::now();
        let silent: Locator = "ocapn://bob.silent/s/x".parse().unwrap();
        let calls: Vec<Promise> = (0..10).map(|_| alice.enliven(&silent)).collect();
        // Others are not affected.
        let echo = alice.enliven(&bob.locator(suite::swiss::ECHO).unwrap());
        assert!(echo.call(args![1u64]).await.is_ok());
        assert!(started.elapsed() < Duration::from_secs(1));
        assert_eq!(std::sync::Arc::strong_count(&opening), 3);
        for call in calls {
            let error = call.await.unwrap_err();
            assert_eq!(error.to_string(), "cannot connect: no connection in time");
            assert!(matches!(error, Error::Disconnected(_)));
        }
        let seconds = started.elapsed().as_secs_f64();
        assert!((30.0..30.5).contains(&seconds), "{seconds} s");
        tokio::task::yield_now().await;
        assert_eq!(std::sync::Arc::strong_count(&opening), 2);
        assert!(echo.call(args![1u64]).await.is_ok());
    });
}

#[test]
fn a_node_that_stops_has_no_connections() {
    run_paused(async {
        // Opening a connection, accepting it, and serving it take a few turns.
        for turns in 0..12 {
            for stopped in 0..2 {
                let nodes = trio("memory").await;
                let echo = nodes[0].enliven(&nodes[1].locator(suite::swiss::ECHO).unwrap());
                for _ in 0..turns {
                    tokio::task::yield_now().await;
                }
                nodes[stopped].shutdown();
                let error = echo.call(args![1u64]).await.unwrap_err();
                assert!(matches!(error, Error::Disconnected(_)), "{error}");
                tokio::time::sleep(Duration::from_secs(2)).await;
                let connections = nodes.iter().map(|node| node.stats().connections);
                assert_eq!(connections.sum::<usize>(), 0, "{turns} {stopped}");
            }
        }
    });
}

#[test]
fn a_node_that_stops_opens_no_connections() {
    run_paused(async {
        let started = tokio::time::Instant::now();
        for seconds in [0, 1] {
            let opening = std::sync::Arc::new(());
            let alice = node(Silent(opening.clone()));
            let silent: Locator = "ocapn://bob.silent/s/x".parse().unwrap();
            let early = alice.enliven(&silent);
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            alice.shutdown();
            for promise in [early, alice.enliven(&silent)] {
                let error = promise.await.unwrap_err();
                assert_eq!(error.to_string(), "cannot connect: the node stops");
            }
            assert_eq!(alice.stats().dials, 0);
            drop(alice);
            // The tasks and the netlayer are dropped at their next turn.
            while std::sync::Arc::strong_count(&opening) > 1 {
                tokio::task::yield_now().await;
            }
        }
        assert!(started.elapsed() < Duration::from_secs(2));
    });
}

#[test]
fn a_node_stops_with_its_runtime() {
    let network = Network::default();
    let silent: Locator = "ocapn://bob.silent/s/x".parse().unwrap();
    let runtime = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap()
    };
    let first = runtime();
    let (alice, promises) = first.block_on(async {
        let bob = node(network.join("bob").unwrap());
        bob.publish(b"never", bob.object(std::mem::forget::<Call>));
        let alice = Node::builder().netlayer(network.join("alice").unwrap());
        let alice = alice.netlayer(Silent(std::sync::Arc::default()));
        let alice = alice.start().unwrap();
        let never = alice.enliven(&bob.locator(b"never").unwrap());
        let never = never.await.unwrap().as_reference().unwrap();
        let promises = [never.call(args![]), alice.enliven(&silent)];
        tokio::task::yield_now().await;
        (alice, promises)
    });
    drop(first);
    runtime().block_on(async {
        let late = alice.enliven(&silent);
        for promise in promises.into_iter().chain([late]) {
            let result = tokio::time::timeout(Duration::from_secs(5), promise.into_future());
            let error = result.await.unwrap().unwrap_err();
            assert!(matches!(error, Error::Disconnected(_)), "{error}");
        }
    });
    assert_eq!(alice.stats().connections, 0);
}

fn encode(operation: Operation<'_>) -> Vec<u8> {
    let mut out = vec![];
    let dialect = Dialect::Endo202608;
    operation.encode::<Syrup, _>(dialect, &mut out).unwrap();
    out
}

/// A call as another implementation sends it.
fn deliver(to: Target, arguments: &[u8], answer: Option<u64>, resolver: Option<u64>) -> Vec<u8> {
    encode(Operation::Deliver {
        to,
        arguments,
        answer,
        resolver: resolver.map(Import::Object),
    })
}

/// The connection of another implementation to a server, whose object `blob` it has as answer 1.
async fn hostile(network: &Network, server: &Node) -> Box<dyn Stream> {
    let hostile = network.join("hostile").unwrap();
    let (key, location) = (SecretKey::from_bytes(&[7; 32]), hostile.location());
    let start = StartSession::sign::<Syrup>(&key, location.peer()).unwrap();
    let to = Location::from(&server.locator(b"").unwrap());
    let mut stream = hostile.dial(to).await.unwrap().stream;
    let hello = encode(Operation::StartSession(start));
    let fetch = deliver(Target::Export(0), b"[5'fetch4:blob]", Some(1), None);
    stream.write_all(&[hello, fetch].concat()).await.unwrap();
    stream
}

#[test]
fn the_time_to_close_is_limited() {
    run_paused(async {
        let network = Network::default();
        let server = node(network.join("server").unwrap());
        server.publish(b"blob", server.function(|_| Ok(vec![7; 5_000].into())));
        let mut peer = hostile(&network, &server).await;
        for resolver in 0..40 {
            let call = deliver(Target::Answer(1), b"[]", None, Some(resolver));
            peer.write_all(&call).await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        server.shutdown();
        let started = tokio::time::Instant::now();
        // It makes room for some bytes each time.
        while peer.write_all(b"x").await.is_ok() {
            peer.read_exact(&mut [0; 1000]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        assert!(started.elapsed() < Duration::from_secs(2));
    });
}

#[test]
fn a_peer_that_does_not_read_has_limited_time() {
    run_paused(async {
        let network = Network::default();
        let limits = Limits {
            outbound_soft: 100_000,
            outbound_hard: 200_000,
            ..Limits::default()
        };
        let server = Node::builder().netlayer(network.join("server").unwrap());
        let server = server.limits(limits).start().unwrap();
        server.publish(b"blob", server.function(|_| Ok(vec![7; 5_000].into())));
        // Whoever reads may request any number of results at once.
        let client = node(network.join("client").unwrap());
        let blob = client.enliven(&server.locator(b"blob").unwrap());
        let calls: Vec<Promise> = (0..100).map(|_| blob.call(args![])).collect();
        for call in calls {
            assert_eq!(call.await.unwrap().data().len(), 5_005);
        }

        let mut stream = hostile(&network, &server).await;
        let started = tokio::time::Instant::now();
        let mut written = 0;
        for resolver in 0.. {
            let call = deliver(Target::Answer(1), b"[]", None, Some(resolver));
            if stream.write_all(&call).await.is_err() {
                break;
            }
            written += call.len();
        }
        let seconds = started.elapsed().as_secs_f64();
        assert!((30.0..31.5).contains(&seconds), "{seconds} s");
        // Far less was read than would have been if results were not awaited.
        assert!(written < 300_000, "{written} bytes");
        assert_eq!(server.stats().connections, 1);
        assert!(blob.call(args![]).await.is_ok());
    });
}

#[test]
fn connections_of_one_address_are_bounded() {
    run(async {
        let tcp = Tcp::bind("127.0.0.1:0", "server").await.unwrap();
        let server = Node::builder().netlayer(tcp).connections_per_address(2);
        let server = server.start().unwrap();
        suite::publish(&server);
        let locator = server.locator(suite::swiss::ECHO).unwrap();
        let (_, port) = &locator.hints[1];
        let connect = async || {
            let address = ("127.0.0.1", port.parse().unwrap());
            tokio::net::TcpStream::connect(address).await.unwrap()
        };
        let (first, _second) = (connect().await, connect().await);
        let mut third = connect().await;
        let read = tokio::io::AsyncReadExt::read(&mut third, &mut [0]).await;
        assert!(matches!(read, Ok(0) | Err(_)));
        // Another address, for which the limit is its own.
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let address = format!("127.0.0.1:{port}").parse().unwrap();
        let _other = socket.connect(address).await.unwrap();
        while server.stats().connections < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(first);
        while server.stats().connections > 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let client = node(Tcp::bind("127.0.0.1:0", "client").await.unwrap());
        let echo = client.enliven(&locator);
        assert_eq!(echo.call(args![1u64]).await.unwrap().data(), b"[1+]");
    });
}

#[test]
fn only_the_session_disconnects_and_limits() {
    run(async {
        let nodes = trio("memory").await;
        // An object that claims to be disconnected, and one that has lost its own peer, give reasons of their own.
        nodes[1].publish(
            b"claims",
            nodes[1].function(|_| Err(Error::new("disconnected"))),
        );
        nodes[1].publish(
            b"lost",
            nodes[1].function(|_| Err(Error::Disconnected("lost".into()))),
        );
        for (swiss, reason) in [(&b"claims"[..], "disconnected"), (b"lost", "lost")] {
            let object = nodes[0].enliven(&nodes[1].locator(swiss).unwrap());
            let error = object.call(args![]).await.unwrap_err();
            assert!(matches!(&error, Error::Broken(value) if value.as_error() == Some(reason)));
        }
        let echo = nodes[0].enliven(&nodes[1].locator(suite::swiss::ECHO).unwrap());
        (&echo).await.unwrap();
        let error = echo.call(args![vec![0; 1 << 20]]).await.unwrap_err();
        assert!(matches!(&error, Error::Limit(reason) if reason.contains("longer than")));
        assert!(echo.call(args![1u64]).await.is_ok());
    });
}

#[test]
fn names_and_sockets_are_taken_once() {
    run(async {
        let network = Network::default();
        let _alice = network.join("alice").unwrap();
        assert_eq!(
            network.join("alice").unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
    });
}

#[test]
fn a_dropped_or_stopped_node_frees_its_name() {
    run(async {
        let network = Network::default();
        for stop in [Node::shutdown as fn(&Node), |_| {}] {
            let node = node(network.join("alice").unwrap());
            stop(&node);
            drop(node);
            // Aborted tasks end at their next turn.
            while let Err(error) = network.join("alice") {
                assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
}

/// A node with the settings of the recording and the objects of the test suite sends the same bytes.
fn recorded(text: &str) {
    let recording: Recording = text.parse().unwrap();
    assert!(recording.to_string() == text);
    let expected = recording.sent();
    assert!(expected.len() > 2);
    for pieces in [usize::MAX, 7, 1] {
        let node = recording.builder().start().unwrap();
        suite::publish(&node);
        let mut sent = replay(&node, &recording.records, pieces);
        // Nothing is sent to connections that say nothing.
        sent.retain(|_, bytes| !bytes.is_empty());
        assert!(sent == expected, "in pieces of {pieces} bytes");
    }
}

#[test]
fn recorded_sessions_with_the_test_suite() {
    recorded(include_str!("../vectors/captp/suite-2026-02.txt"));
    recorded(include_str!("../vectors/captp/endo-2026-08-unframed.txt"));
    recorded(include_str!("../vectors/captp/endo-2026-08-length.txt"));
    recorded(include_str!("../vectors/captp/suite-pull-request-23.txt"));
    recorded(include_str!("../vectors/captp/suite-referencing-tests.txt"));
}

#[test]
fn recorded_handoffs_with_endo() {
    // Two nodes took part in each, with Endo in every role.
    recorded(include_str!("../vectors/captp/endo-1fa6c227-a.txt"));
    recorded(include_str!("../vectors/captp/endo-1fa6c227-b.txt"));
    recorded(include_str!("../vectors/captp/endo-1fa6c227-length-a.txt"));
    recorded(include_str!("../vectors/captp/endo-1fa6c227-length-b.txt"));
    recorded(include_str!(
        "../vectors/captp/endo-1fa6c227-websocket-a.txt"
    ));
    recorded(include_str!(
        "../vectors/captp/endo-1fa6c227-websocket-b.txt"
    ));
    recorded(include_str!("../vectors/captp/endo-2c5bc1a86-a.txt"));
    recorded(include_str!("../vectors/captp/endo-2c5bc1a86-b.txt"));
}

#[test]
fn recordings_that_are_not_valid() {
    let seed = "2a".repeat(32);
    let header = format!("# endo-2026-08 none {seed} ocapn://x.tcp-testing-only");
    let all = format!(
        "{header}\naccepted\naccepted claimed\ndialed 0\ndialed 1 verified ocapn://y.websocket?url=ws:%2F%2Fy\ntime 12\ndeadlines\n"
    );
    assert_eq!(all.parse::<Recording>().unwrap().to_string(), all);
    for (text, reason) in [
        (
            String::new(),
            "line 1: expected `# DIALECT FRAMING SEED LOCATOR`, found ``",
        ),
        (
            header.replace("endo", "ende"),
            "line 1: unknown dialect `ende-2026-08`",
        ),
        (
            header.replace("none", "line"),
            "line 1: expected `none` or `length`, found `line`",
        ),
        (
            header.replace("2a2a", "2a"),
            "line 1: expected a seed of 64 hexadecimal digits",
        ),
        (header.replace("ocapn:", "http:"), "line 1: not a locator: "),
        (
            format!("{header}\naccepted\nreceived 0 0x"),
            "line 3: expected a record, found `received 0 0x`",
        ),
        (
            format!("{header}\naccepted verified"),
            "line 2: expected a record, found `accepted verified`",
        ),
    ] {
        let error = text.parse::<Recording>().unwrap_err();
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn parts_have_their_references() {
    run(async {
        let node = node(Network::default().join("alice").unwrap());
        let objects: Vec<Reference> = (0..3).map(|_| node.function(|_| Ok(().into()))).collect();
        let [a, b, c] = &objects[..] else {
            unreachable!()
        };
        // One object twice, so that the first reference to it is not always the one of a part.
        let list = args![a, args![b, c], 7u64, args![b, a], b];
        assert_eq!(list.item(0).unwrap().as_reference().as_ref(), Some(a));
        assert_eq!(list.item(4).unwrap().as_reference().as_ref(), Some(b));
        assert!(matches!(list.item(5), Err(Error::Missing(5))));
        for part in [list.item(3).unwrap(), list.items().swap_remove(3)] {
            let references = part.items().into_iter().map(|item| item.as_reference());
            assert_eq!(
                references.collect::<Vec<_>>(),
                [Some(b.clone()), Some(a.clone())]
            );
        }
    });
}

/// A server that counts messages, and a client with small buffers.
fn small_buffers() -> (Node, Node) {
    let network = Network::default();
    let bob = node(network.join("bob").unwrap());
    let next = std::sync::atomic::AtomicU64::new(0);
    bob.publish(
        b"counter",
        bob.function(move |_| {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(number.into())
        }),
    );
    let limits = Limits {
        message: 1_000,
        outbound_soft: 5_000,
        outbound_hard: 20_000,
        queue: 8,
        ..Default::default()
    };
    let alice = Node::builder().netlayer(network.join("alice").unwrap());
    (alice.limits(limits).start().unwrap(), bob)
}

#[test]
fn who_waits_for_room_never_fails_and_others_are_refused() {
    run(async {
        let (alice, bob) = small_buffers();
        let counter = alice.enliven(&bob.locator(b"counter").unwrap());
        let message = || args![vec![0; 200]];
        // While there is no connection, for the promise; then for bytes to be sent.
        for _ in 0..500 {
            counter.ready().await;
            counter.send(message()).unwrap();
        }
        let mut sent = 500;
        let refused = loop {
            match counter.send(message()) {
                Ok(()) => sent += 1,
                Err(error) => break error,
            }
            assert!(sent < 1_000_000, "the buffer is unbounded");
        };
        assert!(matches!(refused, Error::Limit(_)));
        counter.ready().await;
        assert_eq!(
            counter
                .call(message())
                .await
                .unwrap()
                .decode::<u64>()
                .unwrap(),
            sent
        );
    });
}

#[test]
fn waiting_for_room_ends_with_the_promise_or_the_session() {
    run(async {
        let (alice, bob) = small_buffers();
        let (promise, resolver) = alice.promise();
        while promise.send(args![]).is_ok() {}
        let waiting = tokio::spawn({
            let promise = promise.clone();
            async move { promise.ready().await }
        });
        tokio::task::yield_now().await;
        let counter = alice.enliven(&bob.locator(b"counter").unwrap());
        resolver.fulfil(counter.clone());
        waiting.await.unwrap();

        (&counter).await.unwrap();
        let message = args![vec![0; 200]];
        // Nobody moves bytes while this loop runs, if it is quick; if not, it goes on.
        while !matches!(counter.send(message.clone()), Err(Error::Limit(_))) {}
        alice.shutdown();
        counter.ready().await;
        assert!(matches!(counter.send(message), Err(Error::Disconnected(_))));
    });
}

/// Counts its polls. It is woken once within the first, and once from another thread after the second.
struct Polled(u64);

impl std::future::Future for Polled {
    type Output = u64;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<u64> {
        self.0 += 1;
        let waker = context.waker().clone();
        match self.0 {
            1 => waker.wake(),
            2 => drop(std::thread::spawn(|| waker.wake())),
            _ => return std::task::Poll::Ready(self.0),
        }
        std::task::Poll::Pending
    }
}

#[test]
fn a_handler_that_waits_at_once_is_woken() {
    run(async {
        let nodes = trio("memory").await;
        let object = nodes[1].async_function(|_| async { Ok(Polled(0).await.into()) });
        nodes[1].publish(b"polled", object);
        let polled = nodes[0].enliven(&nodes[1].locator(b"polled").unwrap());
        let polls = polled.call(args![]).await.unwrap();
        assert_eq!(polls.decode::<u64>().unwrap(), 3);
    });
}

#[test]
fn handlers_of_one_peer_are_bounded() {
    run(async {
        let network = Network::default();
        let limits = Limits {
            answers: 10,
            ..Default::default()
        };
        let server = Node::builder().netlayer(network.join("server").unwrap());
        let server = server.limits(limits).call_bytes(100_000);
        let server = server.start().unwrap();
        let names = ["hostile", "greedy", "honest"];
        let clients = names.map(|name| node(network.join(name).unwrap()));
        let object = server.async_function(|arguments| async move {
            match arguments.items().len() {
                1 => Ok(arguments),
                _ => std::future::pending().await,
            }
        });
        server.publish(b"object", object);
        let [hostile, greedy, honest] = clients
            .each_ref()
            .map(|client| client.enliven(&server.locator(b"object").unwrap()));
        // Calls that complete do not count, and those that nobody waits for do.
        for _ in 0..100 {
            hostile.call(args![1u64]).await.unwrap();
        }
        for _ in 0..10 {
            hostile.send(args![]).unwrap();
        }
        hostile.call(args![1u64]).await.unwrap_err();
        let error = hostile.call(args![1u64]).await.unwrap_err();
        assert!(matches!(error, Error::Disconnected(_)));
        // So do their bytes.
        let bytes = vec![0; 40_000];
        for _ in 0..10 {
            greedy.call(args![&bytes[..]]).await.unwrap();
        }
        for _ in 0..2 {
            greedy.send(args![&bytes[..], 1u64]).unwrap();
        }
        greedy.call(args![1u64]).await.unwrap();
        let error = greedy.call(args![&bytes[..]]).await.unwrap_err();
        assert!(matches!(error, Error::Disconnected(_)));
        assert!(honest.call(args![1u64]).await.is_ok());
    });
}
