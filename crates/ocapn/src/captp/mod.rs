//! CapTP: the messages that capability-secure peers exchange.
//!
//! - [`Operation`] and what it consists of, in each [`Dialect`] on the wire; a message of one is converted to another by
//!   decoding in the first and encoding in the second.
//! - [`Frames`]: messages out of a stream.
//! - [`StartSession`], [`Signed`] handoffs, [`session_id`], [`crossed_hellos`]: who one is talking to.
//! - [`Locator`] is the text form, `ocapn://…`.
//!
//! Nothing here knows the bytes of the encoding: that is the [`Codec`], of which [`Syrup`] is the first
//! and [`EndoSyrup`] what it is between peers that sort keys as Endo does.
//!
//! Source: OCapN's CapTP, Netlayers and Locators drafts of 2026-07-16, the OCapN test suite at 6c146dc, and Endo 1.1.1.
//! Constant time: signing; the rest is public.

mod codec;
mod error;
mod frame;
mod handoff;
mod identity;
mod locator;
mod operation;
#[cfg(test)]
mod tests;

pub use codec::{Codec, EndoSyrup, Read, Scan, Syrup, SyrupScan, SyrupWriter, Write};
pub use error::{Error, ErrorKind};
pub use frame::{Frames, Framing, put_frame};
pub use handoff::{HandoffGive, HandoffReceive, Signable, Signed};
pub use identity::{Crossed, PublicKey, SecretKey, Signature, crossed_hellos, session_id};
pub use locator::{Locator, Peer, Sturdyref};
pub use operation::{Dialect, Import, Operation, StartSession, Target};
