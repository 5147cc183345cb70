//! `lydite captp serve`, `call`, `trace` and `replay` with each other.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::{sync::mpsc, thread, time::Duration};

const ECHO: &str = "/s/IO58l1laTyhcrgDKbEzFOO32MDd6zE5w?";

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

/// Serves the suite's objects, and returns the sturdyref of its echo.
fn serve(options: &[&str]) -> (Server, String) {
    let mut serve = lydite(&["serve", "--suite", "--listen=127.0.0.1:0"]);
    serve.args(options).stdout(Stdio::piped());
    let mut server = Server(serve.spawn().unwrap());
    let mut line = String::new();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let locator = line.trim().rsplit(' ').next().unwrap();
    (server, locator.replacen('?', ECHO, 1))
}

/// Returns the standard output and standard error of a call.
fn call(sturdyref: &str, arguments: &[&str]) -> (String, String) {
    let output = lydite(&["call", sturdyref])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_call_by_sturdyref() {
    for (transport, options) in [
        ("tcp-testing-only", &["--framing=none"][..]),
        ("tcp-testing-only", &["--framing=length"]),
        ("websocket", &["--websocket"]),
    ] {
        let (_server, sturdyref) = serve(options);
        assert!(sturdyref.contains(transport), "{sturdyref}");
        let (result, error) = call(&sturdyref, &["\"Ann\"", "[1, true]"]);
        assert_eq!(result, "[\"Ann\",[1,true]]\n", "{error}");
    }
}

#[test]
fn the_method_may_be_a_word() {
    let (_server, sturdyref) = serve(&[]);
    for method in ["greet-all", "{\"symbol\":\"greet-all\"}"] {
        let (result, error) = call(&sturdyref, &[method, "\"Ann\""]);
        assert_eq!(result, "[{\"symbol\":\"greet-all\"},\"Ann\"]\n", "{error}");
    }
    // A word that is JSON is a value, not a method.
    assert_eq!(call(&sturdyref, &["true"]).0, "[true]\n");
    // Later arguments are data, and a mistake in JSON is not a method.
    for wrong in [
        &["greet", "Ann"][..],
        &["\"greet"],
        &["{symbol:greet}"],
        &[""],
    ] {
        let (result, error) = call(&sturdyref, wrong);
        assert!(result.is_empty() && error.contains("not JSON: "), "{error}");
    }
}

#[test]
fn a_trace_prints_both_directions() {
    for options in [&[][..], &["--framing=length"], &["--websocket"]] {
        traces(options);
    }
}

/// A proxy, what it reports, and its port.
fn start_trace(dial: &str) -> (Server, BufReader<ChildStderr>, String) {
    let mut trace = lydite(&["trace", "--listen=127.0.0.1:0", dial]);
    trace.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut trace = Server(trace.spawn().unwrap());
    let mut line = String::new();
    let mut errors = BufReader::new(trace.0.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    let (_, port) = line.trim().rsplit_once(':').unwrap();
    (trace, errors, port.to_owned())
}

#[test]
fn a_trace_outlives_connections_that_cannot_be_forwarded() {
    // A port on which nobody listens.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let dial = format!("--dial={}", port.unwrap());
    let (_trace, mut errors, proxy) = start_trace(&dial);
    for connection in 0..2 {
        TcpStream::connect(format!("127.0.0.1:{proxy}")).unwrap();
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let expected = format!("{connection} cannot connect to 127.0.0.1:");
        assert!(line.starts_with(&expected), "{line}");
    }
}

fn traces(options: &[&str]) {
    let (_server, sturdyref) = serve(options);
    let (before, _) = sturdyref
        .rsplit_once(|c: char| !c.is_ascii_digit())
        .unwrap();
    let (before, port) = sturdyref.split_at(before.len() + 1);
    let dial = format!("--dial=127.0.0.1:{port}");
    let (mut trace, _errors, proxy) = start_trace(&dial);
    let sturdyref = format!("{before}{proxy}");
    let (result, error) = call(&sturdyref, &["\"Ann\""]);
    assert_eq!(result, "[\"Ann\"]\n", "{error}");

    // The proxy may print a message after it has forwarded it.
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(trace.0.stdout.take().unwrap());
    thread::spawn(move || {
        output
            .lines()
            .try_for_each(|line| sender.send(line.unwrap()))
    });
    let mut missing = vec![
        ("0 > ", "op:start-session"),
        ("0 < ", "op:start-session"),
        ("0 > ", "\"Ann\""),
        ("0 < ", "\"Ann\""),
    ];
    while !missing.is_empty() {
        let line = lines.recv_timeout(Duration::from_secs(30));
        let line = line.unwrap_or_else(|_| panic!("not printed: {missing:?}"));
        missing.retain(|(direction, text)| !line.starts_with(direction) || !line.contains(text));
    }
}

#[test]
fn a_recording_is_replayed() {
    is_replayed("tcp", &[]);
    is_replayed("websocket", &["--websocket"]);
}

fn is_replayed(name: &str, options: &[&str]) {
    let file = std::env::temp_dir().join(format!("lydite-{}-{name}.captp", std::process::id()));
    let file = file.to_str().unwrap();
    let (server, sturdyref) = serve(&[&["--record", file], options].concat());
    for argument in ["\"Ann\"", "[1, true]"] {
        let (result, error) = call(&sturdyref, &[argument]);
        assert!(!result.is_empty(), "{error}");
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
