//! `lydite captp serve`, `call` and `replay` with each other.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// Stops the server.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lydite(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
    command.args(["captp"]).args(arguments);
    command
}

#[test]
fn a_call_by_sturdyref() {
    let echo = "/s/IO58l1laTyhcrgDKbEzFOO32MDd6zE5w?";
    for (transport, options) in [
        ("tcp-testing-only", &["--framing=none"][..]),
        ("tcp-testing-only", &["--framing=length"]),
        ("websocket", &["--websocket"]),
    ] {
        let mut serve = lydite(&["serve", "--suite", "--listen=127.0.0.1:0"]);
        serve.args(options).stdout(Stdio::piped());
        let mut server = Server(serve.spawn().unwrap());
        let mut line = String::new();
        let mut output = BufReader::new(server.0.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let locator = line.trim().rsplit(' ').next().unwrap();
        assert!(locator.contains(transport), "{line}");
        let sturdyref = locator.replacen('?', echo, 1);
        let result = lydite(&["call", &sturdyref, "\"Ann\"", "[1, true]"]).output();
        let result = result.unwrap();
        let error = String::from_utf8(result.stderr).unwrap();
        assert_eq!(
            String::from_utf8(result.stdout).unwrap(),
            "[\"Ann\",[1,true]]\n",
            "{error}"
        );
    }
}

#[test]
fn a_recording_is_replayed() {
    let file = std::env::temp_dir().join(format!("lydite-{}.captp", std::process::id()));
    let file = file.to_str().unwrap();
    let mut serve = lydite(&["serve", "--suite", "--listen=127.0.0.1:0", "--record", file]);
    let mut server = Server(serve.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let echo = "/s/IO58l1laTyhcrgDKbEzFOO32MDd6zE5w?";
    let sturdyref = line
        .trim()
        .rsplit(' ')
        .next()
        .unwrap()
        .replacen('?', echo, 1);
    for argument in ["\"Ann\"", "[1, true]"] {
        assert!(
            lydite(&["call", &sturdyref, argument])
                .output()
                .unwrap()
                .status
                .success()
        );
    }
    drop(server);
    let replay = |options: &[&str]| {
        let output = lydite(&["replay", file]).args(options).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (
            output.status.success(),
            text,
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for options in [&[][..], &["--pieces=1"]] {
        let (same, text, error) = replay(options);
        assert!(same && text.contains("true"), "{text}{error}");
    }
    // A call with another argument has another result.
    let text = std::fs::read_to_string(file).unwrap();
    let (ann, bob) = (
        "33 22 41 6e 6e".replace(' ', ""),
        "33 22 42 6f 62".replace(' ', ""),
    );
    let lines = text.lines().map(|line| match line.starts_with("received") {
        true => line.replace(&ann, &bob),
        false => line.to_owned(),
    });
    std::fs::write(file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let (same, _, error) = replay(&[]);
    assert!(!same && error.contains("other bytes from byte"), "{error}");
    std::fs::write(file, "accepted\n").unwrap();
    let (same, _, error) = replay(&[]);
    assert!(!same && error.contains("line 1: expected"), "{error}");
    std::fs::remove_file(file).unwrap();
}
