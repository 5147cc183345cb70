//! CapTP without an async runtime: threads and blocking sockets of the standard library move the bytes of a `Vat`.
//!
//! `cargo run -p lydite-ocapn --example blocking`
//!
//! All that a driver does is in [`Peer`]: it gives the vat what arrives, and carries out what the vat wants.
use std::{
    collections::HashMap,
    error::Error,
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs as _},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use lydite_ocapn::session::{Config, Connection, Event, Location, Output, Payload, Proof, Vat};
use lydite_ocapn::syrup;

/// How long to wait for a connection, and for a peer that does not read.
const PATIENCE: Duration = Duration::from_secs(10);

enum Input {
    Accepted(TcpStream),
    Received(Connection, Vec<u8>),
    Ended(Connection),
}

/// A vat and its connections. One thread owns it; others wait for bytes and connections.
struct Peer {
    vat: Vat,
    location: Location,
    streams: HashMap<Connection, TcpStream>,
    inputs: Receiver<Input>,
    sender: SyncSender<Input>,
    start: Instant,
}

impl Peer {
    fn listen(name: &str) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port().to_string();
        let location = Location {
            transport: "tcp-testing-only".into(),
            designator: name.into(),
            hints: Some(vec![
                ("host".into(), "127.0.0.1".into()),
                ("port".into(), port),
            ]),
        };
        // All keys derive from it.
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
        // If the vat is slow, those who read wait, and TCP makes the peers wait.
        let (sender, inputs) = sync_channel(16);
        let accepted = sender.clone();
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept()
                && accepted.send(Input::Accepted(stream)).is_ok()
            {}
        });
        Ok(Self {
            vat: Vat::new(Config::new(vec![location.clone()]), seed),
            location,
            streams: HashMap::new(),
            inputs,
            sender,
            start: Instant::now(),
        })
    }

    /// Milliseconds of a clock that never goes back.
    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Waits for an event. What the caller did because of earlier ones is sent before that.
    fn next_event(&mut self) -> Event {
        loop {
            if let Some(event) = self.vat.poll_event() {
                return event;
            }
            self.carry_out();
            if self.vat.has_events() {
                continue;
            }
            let deadline = self.vat.deadline().unwrap_or(u64::MAX);
            let wait = Duration::from_millis(deadline.saturating_sub(self.now()));
            let input = self.inputs.recv_timeout(wait);
            let now = self.now();
            match input {
                Ok(Input::Accepted(stream)) => {
                    // `None` if there are too many: the stream is dropped.
                    if let Some(connection) = self.vat.accepted(0, Proof::Trusted, now) {
                        self.serve(connection, stream);
                    }
                }
                Ok(Input::Received(connection, bytes)) => {
                    self.vat.received(connection, &bytes, now);
                }
                Ok(Input::Ended(connection)) => self.close(connection, "closed by the peer"),
                // The deadline has come.
                Err(_) => {}
            }
            self.vat.tick(now);
        }
    }

    /// Starts the thread that reads.
    fn serve(&mut self, connection: Connection, stream: TcpStream) {
        let sender = self.sender.clone();
        let reading = stream.set_write_timeout(Some(PATIENCE));
        let reading = reading.and_then(|()| stream.try_clone());
        self.streams.insert(connection, stream);
        let Ok(mut stream) = reading else {
            return self.close(connection, "no handle for reading");
        };
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer)
                && let Some(bytes) = buffer.get(..count)
                && sender
                    .send(Input::Received(connection, bytes.to_vec()))
                    .is_ok()
            {}
            // If the peer has ended, nobody needs to know.
            let _: Result<(), _> = sender.send(Input::Ended(connection));
        });
    }

    fn close(&mut self, connection: Connection, reason: &str) {
        if let Some(stream) = self.streams.remove(&connection) {
            // Ends the thread that reads. The stream may be closed already.
            let _: io::Result<()> = stream.shutdown(Shutdown::Both);
        }
        self.vat.closed(connection, reason);
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.vat.poll_output() {
            match output {
                Output::Bytes(connection) => {
                    if let Err(error) = self.write(connection) {
                        self.close(connection, &error.to_string());
                    }
                }
                Output::Close(connection) => {
                    let written = self.write(connection);
                    let reason = written.err().map(|error| error.to_string());
                    self.close(connection, reason.as_deref().unwrap_or("closed"));
                }
                Output::Dial { dial, location } => match connect(&location) {
                    Ok(stream) => {
                        let now = self.now();
                        if let Some(connection) = self.vat.dialed(dial, Proof::Trusted, now) {
                            self.serve(connection, stream);
                        }
                    }
                    Err(error) => self.vat.dial_failed(dial, &error.to_string()),
                },
            }
        }
    }

    fn write(&mut self, connection: Connection) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.vat.take_bytes(connection, &mut bytes);
        match self.streams.get_mut(&connection) {
            Some(stream) => stream.write_all(&bytes),
            None => Ok(()),
        }
    }
}

/// Connects to where the hints of a location say. A peer can cause this for any location by a handoff, so a program on
/// the Internet has to restrict it.
fn connect(location: &Location) -> io::Result<TcpStream> {
    let hints = location.hints.as_deref().unwrap_or_default();
    let hint = |name: &str| {
        let hint = hints.iter().find(|(known, _)| known == name);
        let missing = || io::Error::other(format!("expected the hint `{name}`"));
        hint.map(|(_, value)| value.as_str()).ok_or_else(missing)
    };
    let port = hint("port")?.parse().map_err(io::Error::other)?;
    let mut addresses = (hint("host")?, port).to_socket_addrs()?;
    let address = addresses.next();
    let address = address.ok_or_else(|| io::Error::other("the host has no address"))?;
    TcpStream::connect_timeout(&address, PATIENCE)
}

/// Answers `['greet name]` until the first session ends.
fn serve_greeter(mut peer: Peer) {
    loop {
        match peer.next_event() {
            Event::Call {
                arguments, reply, ..
            } => {
                if let Some(reply) = reply {
                    match greeting(&arguments) {
                        Ok(text) => peer.vat.resolve(reply, Ok(&Payload::from(text.as_str()))),
                        Err(reason) => peer.vat.resolve(reply, Err(&Payload::error(&reason))),
                    }
                    peer.vat.drop_ref(reply);
                }
                // Its references are ours until then.
                peer.vat.drop_payload(arguments);
            }
            Event::Down(..) => return,
            _ => {}
        }
    }
}

fn greeting(arguments: &Payload) -> Result<String, String> {
    let items = arguments.items().unwrap_or_default();
    match items.as_slice() {
        [method, name] if method.as_symbol() == Some("greet") => {
            let name: &str = syrup::decode(name.data()).map_err(|error| error.to_string())?;
            Ok(format!("Hello, {name}!"))
        }
        _ => Err("expected `greet` and a name".into()),
    }
}

/// Returns the results of two calls.
pub fn demonstrate() -> Result<[Result<String, String>; 2], Box<dyn Error>> {
    let mut server = Peer::listen("server")?;
    let swiss = b"greeter"; // In programs: 32 random bytes.
    let greeter = server.vat.object();
    server.vat.publish(swiss, greeter);
    let locator = server.location.locator(swiss);
    let server = thread::spawn(move || serve_greeter(server));

    let mut client = Peer::listen("client")?;
    let sturdyref = locator.sturdyref().ok_or("expected a swiss number")?;
    let greeter = client.vat.enliven(&sturdyref);
    // Both calls are sent before the greeter is there, with the request for it.
    let calls = ["greet", "shout"].map(|method| {
        let arguments = Payload::list(|list| {
            list.symbol(method).string("Ann");
        });
        let promise = client.vat.call(greeter, &arguments);
        client.vat.listen(promise);
        promise
    });
    let mut results = [const { None }; 2];
    while results.iter().any(Option::is_none) {
        match client.next_event() {
            Event::Settled { promise, outcome } => {
                let result = match &outcome {
                    Ok(value) => Ok(syrup::decode::<&str>(value.data())?.to_owned()),
                    Err(reason) => Err(reason.message().to_owned()),
                };
                let payload = outcome.unwrap_or_else(|reason| reason.value);
                client.vat.drop_payload(payload);
                if let Some(index) = calls.iter().position(|call| *call == promise) {
                    results[index] = Some(result);
                }
                // The peer can forget the answer.
                client.vat.drop_ref(promise);
            }
            Event::Down(_, reason) => return Err(reason.into()),
            _ => {}
        }
    }
    if let Some((connection, _)) = client.vat.remote(greeter) {
        client.vat.abort(connection, "done");
        client.carry_out();
    }
    server.join().map_err(|_| "the server panicked")?;
    let [greeted, shouted] = results;
    Ok([greeted.ok_or("no result")?, shouted.ok_or("no result")?])
}

#[allow(dead_code, clippy::print_stdout)] // A test includes this file.
fn main() -> Result<(), Box<dyn Error>> {
    for result in demonstrate()? {
        println!("{result:?}");
    }
    Ok(())
}
