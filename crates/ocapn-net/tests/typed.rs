//! Traits as objects: calls, pipelining, references in both directions, and what goes wrong.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
use std::{future::Future, sync::Mutex, time::Duration};

use lydite_ocapn::syrup::{Decode, Encode};
use lydite_ocapn_net::{Context, Error, Network, Node, Promise, Ref, Reference, args, object};

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Model {
    color: String,
    doors: u64,
}

#[object]
trait Car {
    async fn drive(&self) -> String;
    async fn model(&self) -> Model;
}

#[object(kebab)]
trait Factory {
    async fn make_car(&self, model: Model) -> Ref<CarApi>;
    async fn race(&self, first: Ref<CarApi>, second: Ref<CarApi>) -> Result<String, Error>;
    /// Appends a line. The parameter has a name that generated code uses.
    fn log(&self, list: String);
    #[symbol = "lines"]
    async fn all_lines(&self) -> Vec<String>;
    async fn clear(&self);
    async fn wait(&self);
    async fn panic(&self) -> u64;
}

struct Made(Model);

impl Car for Made {
    async fn drive(&self) -> String {
        format!("the {} car drives", self.0.color)
    }

    async fn model(&self) -> Model {
        self.0.clone()
    }
}

struct Works {
    node: Node,
    lines: Mutex<Vec<String>>,
}

impl Factory for Works {
    async fn make_car(&self, model: Model) -> Ref<CarApi> {
        CarApi::object(&self.node, Made(model))
    }

    async fn race(&self, first: Ref<CarApi>, second: Ref<CarApi>) -> Result<String, Error> {
        let (first, second) = (first.drive(), second.drive());
        Ok(format!("{}, {}", first.await?, second.await?))
    }

    fn log(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    async fn all_lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    async fn clear(&self) {
        self.lines.lock().unwrap().clear();
    }

    async fn wait(&self) {
        std::future::pending().await
    }

    async fn panic(&self) -> u64 {
        panic!("a handler panics, as this test intends")
    }
}

/// Fails instead of hanging.
fn run<T>(test: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let timeout = tokio::time::timeout(Duration::from_secs(30), test);
        timeout.await.expect("the test hangs")
    })
}

/// Two nodes, and a promise of the first for the second's factory.
fn factory() -> (Node, Node, Promise<Ref<FactoryApi>>) {
    let network = Network::default();
    let start = |name| {
        let netlayer = network.join(name).unwrap();
        Node::builder().netlayer(netlayer).start().unwrap()
    };
    let (alice, bob) = (start("alice"), start("bob"));
    let works = Works {
        node: bob.clone(),
        lines: Mutex::default(),
    };
    bob.publish(b"factory", FactoryApi::object(&bob, works));
    let factory = alice.enliven(&bob.locator(b"factory").unwrap()).cast();
    (alice, bob, factory)
}

fn model(color: &str) -> Model {
    Model {
        color: color.into(),
        doors: 3,
    }
}

#[test]
fn references_are_arguments_and_results() {
    run(async {
        let (alice, _bob, factory) = factory();
        // All of it is sent before there is a connection.
        let red = factory.make_car(model("red"));
        let noise = red.drive();
        let own = CarApi::object(&alice, Made(model("blue")));
        let race = factory.race(&red, &own);
        assert_eq!(noise.await.unwrap(), "the red car drives");
        assert_eq!(
            race.await.unwrap(),
            "the red car drives, the blue car drives"
        );
        let red: Ref<CarApi> = red.await.unwrap();
        assert_eq!(red.model().await.unwrap(), model("red"));
    });
}

#[test]
fn methods_start_in_order() {
    run(async {
        let (_alice, _bob, factory) = factory();
        let expected: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        for line in &expected {
            factory.log(line).unwrap();
        }
        let lines = factory.all_lines();
        factory.log("later").unwrap();
        factory.clear().await.unwrap();
        assert_eq!(lines.await.unwrap(), expected);
        assert!(factory.all_lines().await.unwrap().is_empty());
    });
}

#[test]
fn wrong_calls_break_and_say_why() {
    run(async {
        let (_alice, _bob, factory) = factory();
        let untyped: Reference = (&factory).await.unwrap().into();
        let symbol = |name| lydite_ocapn::syrup::Symbol(name);
        for (arguments, message) in [
            (args![], "Factory: expected a symbol as the first argument"),
            (
                args![1u64],
                "Factory: expected a symbol as the first argument",
            ),
            (args![symbol("paint")], "Factory.paint: no such method"),
            (
                args![symbol("make_car")],
                "Factory.make_car: no such method",
            ),
            (
                args![symbol("make-car"), 1u64, 2u64],
                "Factory.make-car: expected 1 arguments, found 2",
            ),
            (
                args![symbol("race"), &untyped, "car"],
                "Factory.race: argument 1 (`second`): expected a reference, found data",
            ),
        ] {
            let error = untyped.call(arguments).await.unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let error = untyped.call(args![symbol("make-car"), "red"]);
        let error = error.await.unwrap_err().to_string();
        let start = "Factory.make-car: argument 0 (`model`): unexpected value: ";
        assert!(error.starts_with(start), "{error}");

        // A result of another type is an error of the caller only.
        let wrong: Promise<Ref<CarApi>> = factory.all_lines().cast();
        assert!(matches!(wrong.await, Err(Error::NotReference)));
        let wrong: Promise<u64> = factory.make_car(model("red")).cast();
        assert!(matches!(wrong.await, Err(Error::Type(_))));
    });
}

/// Waits until the node has no questions.
async fn no_questions(node: &Node) {
    let started = std::time::Instant::now();
    while node.stats().questions > 0 {
        let stats = node.stats();
        assert!(started.elapsed() < Duration::from_secs(10), "{stats:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn deadlines_and_dropped_promises_release_the_question() {
    run(async {
        let (alice, _bob, factory) = factory();
        let factory = factory.await.unwrap();
        no_questions(&alice).await;
        let wait = factory.wait().with_deadline(Duration::from_millis(20));
        assert_eq!(alice.stats().questions, 1);
        assert!(matches!(wait.await, Err(Error::Deadline)));
        no_questions(&alice).await;

        let wait = factory.wait();
        assert_eq!(alice.stats().questions, 1);
        drop(wait);
        no_questions(&alice).await;

        let lines = factory.all_lines().with_deadline(Duration::from_secs(20));
        assert!(lines.await.is_ok());
    });
}

#[test]
fn broken_references_are_reported_once_and_dropped_futures_are_not_woken() {
    run(async {
        let (_alice, bob, factory) = factory();
        let factory = factory.await.unwrap();
        let (kept, mut dropped) = (factory.on_broken(), Box::pin(factory.on_broken()));
        let woken = std::sync::Arc::new(Flag);
        let waker = std::task::Waker::from(woken.clone());
        let mut context = std::task::Context::from_waker(&waker);
        assert!(dropped.as_mut().poll(&mut context).is_pending());
        drop(dropped);
        drop(waker);
        // Nobody holds its waker any more.
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
        let kept = tokio::spawn(kept);
        bob.shutdown();
        kept.await.unwrap();
        factory.on_broken().await;
    });
}

struct Flag;

impl std::task::Wake for Flag {
    fn wake(self: std::sync::Arc<Self>) {}
}

#[test]
fn a_panic_breaks_its_call_only() {
    run(async {
        let (_alice, _bob, factory) = factory();
        let error = factory.panic().await.unwrap_err();
        assert_eq!(error.to_string(), "the resolver was dropped");
        assert!(factory.all_lines().await.is_ok());
    });
}

#[object(sequential)]
trait Ledger {
    fn deposit(&self, context: &Context, amount: u64);
    async fn withdraw(&self, amount: u64) -> Result<u64, Error>;
    async fn panic(&self);
    async fn sessions(&self, context: &Context) -> u64;
    async fn stall(&self);
}

/// The balance, and the sessions that deposited.
#[derive(Default)]
struct Book {
    balance: Mutex<u64>,
    sessions: Mutex<std::collections::HashSet<Option<lydite_ocapn::session::Connection>>>,
}

impl Ledger for Book {
    fn deposit(&self, context: &Context, amount: u64) {
        *self.balance.lock().unwrap() += amount;
        self.sessions.lock().unwrap().insert(context.session());
    }

    async fn withdraw(&self, amount: u64) -> Result<u64, Error> {
        let before = *self.balance.lock().unwrap();
        // Others would run now if handlers were concurrent.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let after = before.checked_sub(amount);
        let after = after.ok_or_else(|| Error::new("not enough"))?;
        *self.balance.lock().unwrap() = after;
        Ok(after)
    }

    async fn panic(&self) {
        tokio::task::yield_now().await;
        panic!("a handler panics, as this test intends")
    }

    async fn sessions(&self, context: &Context) -> u64 {
        assert!(context.node().stats().connections > 0);
        self.sessions.lock().unwrap().len() as u64
    }

    async fn stall(&self) {
        std::future::pending().await
    }
}

#[test]
fn a_sequential_object_handles_one_message_at_a_time() {
    run(async {
        let (alice, bob, _) = factory();
        let own = LedgerApi::object(&bob, Book::default());
        bob.publish(b"ledger", own.clone());
        let ledger: Promise<Ref<LedgerApi>> =
            alice.enliven(&bob.locator(b"ledger").unwrap()).cast();
        ledger.deposit(10u64).unwrap();
        let withdrawals: Vec<_> = (0..6).map(|_| ledger.withdraw(2u64)).collect();
        ledger.deposit(1u64).unwrap();
        let panic = ledger.panic();
        let last = ledger.withdraw(1u64);
        let mut left = vec![];
        for withdrawal in withdrawals {
            left.push(withdrawal.await.map_err(|error| error.to_string()));
        }
        let expected = [Ok(8), Ok(6), Ok(4), Ok(2), Ok(0), Err("not enough".into())];
        assert_eq!(left, expected);
        // A panic ends its own call only.
        assert_eq!(
            panic.await.unwrap_err().to_string(),
            "the resolver was dropped"
        );
        assert_eq!(last.await.unwrap(), 0);
        own.deposit(1u64).unwrap();
        assert_eq!(ledger.sessions().await.unwrap(), 2);
    });
}

#[test]
fn a_sequence_is_bounded() {
    run(async {
        let (alice, bob, factory) = factory();
        bob.publish(b"ledger", LedgerApi::object(&bob, Book::default()));
        let ledger: Promise<Ref<LedgerApi>> =
            alice.enliven(&bob.locator(b"ledger").unwrap()).cast();
        let ledger = ledger.await.unwrap();
        let stalled: Vec<_> = (0..1025).map(|_| ledger.stall()).collect();
        let error = ledger.stall().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "Ledger.stall: too many messages wait for this object"
        );
        assert!(factory.all_lines().await.is_ok());
        ledger.deposit(1u64).unwrap();
        for stalled in stalled {
            assert!(
                matches!(stalled.await, Err(Error::Disconnected(reason)) if reason.contains("too many messages"))
            );
        }
    });
}
