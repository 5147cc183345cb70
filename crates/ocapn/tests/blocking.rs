//! Runs the example.
#![cfg(all(feature = "captp", not(target_family = "wasm")))]
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../examples/blocking.rs"]
mod blocking;

#[test]
fn a_peer_without_a_runtime() {
    let expected = [
        Ok("Hello, Ann!".to_owned()),
        Err("expected `greet` and a name".to_owned()),
    ];
    assert_eq!(blocking::demonstrate().unwrap(), expected);
}
