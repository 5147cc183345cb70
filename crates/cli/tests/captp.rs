//! `lydite captp serve` and `call` with each other.

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
