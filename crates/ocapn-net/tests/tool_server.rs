//! Runs the example.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../examples/tool_server/main.rs"]
mod tool_server;

#[test]
fn a_weaker_tool_is_lent_and_revoked() {
    // The seconds between the attempts take no time.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let read_only = "refused: these notes are read-only";
    let none_left = "refused: no reads left";
    let lines = runtime.block_on(tool_server::demonstrate()).unwrap();
    let expected = [
        [read_only, "buy milk", none_left],
        [read_only, "buy milk", "buy milk"],
        [read_only, none_left, none_left],
    ];
    assert_eq!(lines, expected.concat());
}
