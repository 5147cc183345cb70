//! CapTP sessions: a state machine without input or output.
//!
//! A [`Vat`] holds all sessions of one participant: crossed hellos and handoffs involve more than one of them. The
//! caller moves bytes and time, and drains events; the vat never calls user code, reads no clock and draws no
//! randomness. The same inputs therefore give the same outputs, which makes a recorded session replayable.
//!
//! | the caller | calls |
//! |---|---|
//! | opens and closes connections | [`Vat::accepted`], [`Vat::dialed`], [`Vat::dial_failed`], [`Vat::closed`] |
//! | moves bytes | [`Vat::received`], [`Vat::poll_output`], [`Vat::take_bytes`] |
//! | moves long values with fewer copies | [`Vat::take_incomplete`], [`Vat::received_in`], [`Vat::take_pieces`] |
//! | moves time | [`Vat::tick`], [`Vat::deadline`] |
//! | creates objects and promises | [`Vat::object`], [`Vat::promise`], [`Vat::publish`] |
//! | sends messages | [`Vat::call`], [`Vat::send`], [`Vat::get`], [`Vat::index`], [`Vat::untag`], [`Vat::enliven`] |
//! | serves calls and learns results | [`Vat::poll_event`], [`Vat::resolve`], [`Vat::listen`], [`Vat::watch`] |
//! | releases references | [`Vat::drop_ref`], [`Vat::drop_payload`] |
//!
//! Arguments and results are [`Payload`]s: encoded Syrup, in which each reference is the record `<desc:ref n>` that
//! stands for the n-th entry of [`Payload::refs`]. Data without references is never decoded.
//! Calls allocate nothing, once tables and buffers have grown, if the caller builds arguments with
//! [`Payload::rebuild_list`] and passes payloads back to [`Vat::drop_payload`].
//!
//! # Guarantees
//!
//! - Messages sent through one reference arrive in order, including messages that wait for a promise. A promise is never
//!   bypassed ("shortened") once something was sent through it.
//! - A promise settles at most once, and each listener is notified exactly once.
//! - What a peer can make the vat hold is bounded by [`Limits`]. Reaching a limit ends that session or breaks that
//!   promise; other sessions are not affected. To use memory again, a vat keeps at most 8 MiB of long messages and 8 MiB
//!   of bytes to be sent, for all sessions together.
//! - A location in a hello is a claim. [`Proof`] states whether the connection may be found under that location.
//! - Handoffs are used once: the count of a certificate is recorded when it is first seen, even if the gift is not
//!   there yet.
//! - Promises of a vat that only keep each other, through their values or messages that wait for them, break when a
//!   session ends, or once they may use more than [`Limits::values`].
//!
//! References in a circle across peers are never collected.
//!
//! Source: OCapN's CapTP draft of 2026-07-16; where it is silent, the OCapN test suite.

// `vat` is the state, made of what `config`, `connection`, `data`, `entropy`, `node`, `outgoing`, `part`, `payload`,
// `slab`, `spare` and `table` define; none of these depends on what is done with it. Each of the others is an
// `impl Vat` for one task.
mod bootstrap;
mod circles;
mod config;
mod connection;
mod data;
mod deliver;
mod entropy;
mod extract;
mod gift;
mod handshake;
mod node;
mod outbound;
mod outgoing;
mod part;
mod payload;
mod receive;
mod refs;
mod slab;
mod spare;
mod table;
#[cfg(test)]
mod tests;
mod vat;

pub use config::{Config, Limits, Location, Proof};
pub use connection::{Connection, Dial, Output};
pub use node::{Cause, Outcome, Reason};
pub use outgoing::Outgoing;
pub use payload::{Builder, Payload, Ref};
pub use vat::{Event, Stats, Vat};
