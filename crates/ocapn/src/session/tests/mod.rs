#![allow(clippy::unwrap_used, clippy::panic)]
mod data;
mod hostile;
mod incomplete;
mod network;
mod outgoing;
mod pair;
mod payload;
pub mod world;
