//! CapTP for tokio: references to objects of other processes.
//!
//! A [`Node`] holds the sessions with all peers. It publishes objects under swiss numbers and finds those of others by
//! their sturdyrefs. A [`Reference`] can be called at once, also while its object is still being looked up: calls go
//! out in program order, and the result of one can be the target or an argument of the next (promise pipelining).
//! Dropping a reference releases the object at its peer. References to third parties are handed off.
//!
//! ```
//! use lydite_ocapn_net::{Network, Node, args};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let network = Network::default();
//! let alice = Node::builder().netlayer(network.join("alice")?).start()?;
//! let bob = Node::builder().netlayer(network.join("bob")?).start()?;
//! bob.publish(b"greeter", bob.function(|arguments| {
//!     let name: String = arguments.item(0)?.decode()?;
//!     Ok(format!("Hello, {name}!").into())
//! }));
//!
//! let greeter = alice.enliven(&"ocapn://bob.memory/s/greeter".parse()?);
//! let greeting = greeter.call(args!["Ann"]).await?;
//! assert_eq!(greeting.decode::<String>()?, "Hello, Ann!");
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The attribute [`object`](macro@object) turns a trait into the methods of objects. Methods exist on [`Ref`] and also
//! on promises for one, so that a chain of calls takes one round trip:
//!
//! ```
//! use lydite_ocapn_net::{Network, Node, Promise, Ref, object};
//!
//! #[object]
//! trait Counter {
//!     async fn add(&self, number: u64) -> u64;
//! }
//!
//! struct Total(std::sync::atomic::AtomicU64);
//!
//! impl Counter for Total {
//!     async fn add(&self, number: u64) -> u64 {
//!         self.0.fetch_add(number, std::sync::atomic::Ordering::Relaxed) + number
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let network = Network::default();
//! # let alice = Node::builder().netlayer(network.join("alice")?).start()?;
//! # let bob = Node::builder().netlayer(network.join("bob")?).start()?;
//! bob.publish(b"counter", CounterApi::object(&bob, Total(0.into())));
//! let counter: Promise<Ref<CounterApi>> = alice.enliven(&"ocapn://bob.memory/s/counter".parse()?).cast();
//! let (first, second) = (counter.add(1), counter.add(2));
//! assert_eq!((first.await?, second.await?), (1, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The protocol is in [`lydite_ocapn::session`], which does no I/O; this crate moves its bytes. A [`Netlayer`] opens
//! connections: [`Tcp`] (for tests only: it authenticates nobody), [`Unix`], in-memory ([`Network`]), and WebSocket
//! with the feature `websocket` (`tls` for `wss:` URLs too). A node need not listen: [`Tcp::client`].
//!
//! With the feature `tracing`, each call is a span of the target `captp` and the level debug: `call` at the caller,
//! `serve` at the object. Fields are the `session`, the `position` of the target and of the `answer` in it, the `method`
//! and the `outcome`. Arguments and results are not recorded.
//!
//! Order holds up to the start of a handler: messages through one reference start in the order in which they were sent.
#![forbid(unsafe_code)]

mod builder;
mod driver;
mod error;
mod netlayer;
mod node;
mod object;
mod passable;
mod promise;
mod record;
mod reference;
mod replay;
mod shared;
pub mod suite;
#[cfg(test)]
mod tests;
mod trace;
mod transfer;
mod typed;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the example of docs/captp.md as a test.
#[cfg(doctest)]
#[doc = include_str!("../captp.md")]
struct Page;

pub use builder::Builder;
pub use error::Error;
pub use lydite_ocapn_derive::object;
#[cfg(unix)]
pub use netlayer::Unix;
#[cfg(feature = "websocket")]
pub use netlayer::WebSocket;
pub use netlayer::{Future, Memory, Netlayer, Network, Opened, Stream, Tcp};
pub use node::Node;
pub use object::{Call, Object};
pub use passable::{Arguments, Pass, Passable, PassableBuilder};
pub use promise::{Promise, Resolver, Settled};
pub use record::Record;
pub use reference::{OnBroken, Reference};
pub use replay::{Recording, replay};
/// The types of [`WebSocket::tls`].
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
pub use transfer::Transfer;
#[doc(hidden)]
pub use typed::generated;
pub use typed::{Context, Done, Give, Ref, Target};
