//! The command `bench`, through the program.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_lydite-bench");
    Command::new(program).args(arguments).output().unwrap()
}

#[test]
fn has_the_other_commands() {
    let done = run(&["keccak", "00"]);
    assert_eq!(
        String::from_utf8(done.stdout).unwrap(),
        "0xbc36789e7a1e281436464229828f817d6612f7b477d66591ff96a9e064bcc98a\n"
    );
}

#[test]
fn lists_contenders() {
    assert!(run(&["bench", "--help"]).status.success());
    let doctor = run(&["bench", "doctor", "--contenders", "lydite"]);
    assert!(doctor.status.success(), "{doctor:?}");
    assert!(doctor.stdout.ends_with(b" contenders can run here\n"));
}

#[test]
fn names_the_wrong_argument() {
    for (arguments, error) in [
        (&["x"][..], "error: no family \"x\"; there are: ethereum, "),
        (&["check", "--ops", "x"], "error: no operation matches"),
        (&["schema", "--json"], "error: --json: "),
        (&["report", "/x"], "error: read /x: "),
    ] {
        let done = run(&[&["bench"], arguments].concat());
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(done.stderr).unwrap();
        assert!(text.starts_with(error), "{arguments:?}: {text}");
    }
}
