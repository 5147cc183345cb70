//! CapTP sessions, with the network that their unit tests simulate.

pub use lydite::ocapn::session::*;

#[path = "../../crates/ocapn/src/session/tests"]
#[allow(dead_code, unused_imports)]
pub mod tests {
    pub mod network;
    pub mod world;
}
