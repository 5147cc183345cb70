//! CapTP: the messages that capability-secure peers exchange.
//!
//! - [`Operation`] and its parts, in each [`Dialect`] used on the wire. To convert a message, decode it in one dialect
//!   and encode it in the other.
//! - [`Frames`] splits a stream into messages.
//! - [`StartSession`], [`Signed`] handoffs, [`session_id`] and [`crossed_hellos`] establish the peer's identity.
//! - [`Locator`] is the text form, `ocapn://…`.
//! - [`challenge`], [`answer_challenge`] and [`verify_answer`] authenticate the listener of a WebSocket.
//!
//! Nothing here depends on the bytes of the encoding. That is the job of the [`Codec`]: [`Syrup`], or [`EndoSyrup`]
//! between peers that sort keys like Endo.
//!
//! Source: OCapN's CapTP, Netlayers and Locators drafts of 2026-07-16, the OCapN test suite at 6c146dc, and Endo 1.1.1.
//! Signing is constant time; everything else handles public data.

mod codec;
mod dialect;
mod error;
mod frame;
mod handoff;
mod identity;
mod locator;
mod operation;
mod policy;
#[cfg(test)]
mod tests;
mod websocket;

pub use codec::{Codec, EndoSyrup, Read, Scan, Syrup, SyrupScan, SyrupWriter, Write};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind};
pub(crate) use frame::put_header;
pub use frame::{Frames, Framing, put_frame};
pub use handoff::{HandoffGive, HandoffReceive, Signable, Signed};
pub use identity::{Crossed, PublicKey, SecretKey, Signature, crossed_hellos, session_id};
pub use locator::{Locator, Peer, Sturdyref};
pub(crate) use operation::Deliver;
pub use operation::{Import, Operation, StartSession, Target};
pub use policy::may_reach;
pub use websocket::{answer_challenge, challenge, verify_answer};
