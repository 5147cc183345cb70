#![allow(clippy::unwrap_used, clippy::panic)]
mod hostile;
mod network;
mod pair;
mod payload;
pub mod world;
