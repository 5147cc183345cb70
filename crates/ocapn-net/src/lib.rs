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
//! The protocol is in [`lydite_ocapn::session`], which does no I/O; this crate moves its bytes. A [`Netlayer`] opens
//! connections: [`Tcp`] (for tests only: it authenticates nobody), [`Unix`], in-memory ([`Network`]), and WebSocket
//! with the feature `websocket`.
//!
//! Order holds up to the start of a handler: messages through one reference start in the order in which they were sent.
#![forbid(unsafe_code)]

mod driver;
mod error;
mod netlayer;
mod node;
mod object;
mod passable;
mod record;
mod reference;
pub mod suite;
#[cfg(test)]
mod tests;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use error::Error;
#[cfg(unix)]
pub use netlayer::Unix;
#[cfg(feature = "websocket")]
pub use netlayer::WebSocket;
pub use netlayer::{Future, Memory, Netlayer, Network, Opened, Stream, Tcp};
pub use node::{Builder, Node};
pub use object::{Call, Object};
pub use passable::{Arguments, Pass, Passable, PassableBuilder};
pub use record::{Record, replay};
pub use reference::{Promise, Reference, Resolver};
