//! Two vats in one thread, whose bytes are passed on without I/O.

use std::cell::RefCell;

use arena_kit_captp::{START, digest};
use lydite_ocapn::captp::Sturdyref;
use lydite_ocapn::session::{
    Config, Connection, Event, Location, Output, Payload, Proof, Ref, Vat,
};
use lydite_ocapn::syrup::{Items, decode};

/// A vat and its end of the connection.
struct Side {
    vat: Vat,
    connection: Option<Connection>,
}

struct Pair {
    client: Side,
    server: Side,
    /// The server's object, as the client refers to it.
    object: Ref,
    /// Bytes on their way.
    bytes: Vec<u8>,
    /// The message to send. Its memory is used again.
    arguments: Payload,
}

thread_local! {
    static PAIR: RefCell<Pair> = RefCell::new(Pair::new().expect("no session"));
}

const SWISS: &[u8] = b"object";

fn location(name: &str) -> Location {
    Location {
        transport: "memory".into(),
        designator: name.into(),
        hints: None,
    }
}

impl Side {
    fn new(name: &str, seed: u8) -> Self {
        Self {
            vat: Vat::new(Config::new(vec![location(name)]), [seed; 32]),
            connection: None,
        }
    }

    /// Passes what it has to send to the other side. Returns whether there was anything.
    fn pass(&mut self, to: &mut Self, bytes: &mut Vec<u8>) -> bool {
        let mut passed = false;
        while let Some(output) = self.vat.poll_output() {
            match output {
                Output::Bytes(connection) => {
                    bytes.clear();
                    self.vat.take_bytes(connection, bytes);
                    if let Some(connection) = to.connection {
                        to.vat.received(connection, bytes, 0);
                    }
                    passed = true;
                }
                Output::Dial { dial, .. } => {
                    self.connection = self.vat.dialed(dial, Proof::Trusted, 0);
                    to.connection = to.vat.accepted(0, Proof::Trusted, 0);
                }
                Output::Close(_) => return false,
            }
        }
        passed
    }
}

impl Pair {
    fn new() -> Option<Self> {
        let (mut client, mut server) = (Side::new("client", 1), Side::new("server", 2));
        let object = server.vat.object();
        server.vat.publish(SWISS, object);
        let location = location("server");
        let promise = client.vat.enliven(&Sturdyref {
            peer: location.peer(),
            swiss: SWISS,
        });
        client.vat.listen(promise);
        let mut pair = Self {
            client,
            server,
            object: promise,
            bytes: Vec::new(),
            arguments: Payload::default(),
        };
        pair.pass_all();
        while let Some(event) = pair.client.vat.poll_event() {
            if let Event::Settled { outcome, .. } = event {
                pair.object = outcome.ok()?.as_reference()?;
            }
        }
        Some(pair)
    }

    fn pass_to_server(&mut self) -> bool {
        self.client.pass(&mut self.server, &mut self.bytes)
    }

    fn pass_to_client(&mut self) -> bool {
        self.server.pass(&mut self.client, &mut self.bytes)
    }

    fn pass_all(&mut self) {
        while self.pass_to_server() | self.pass_to_client() {}
    }

    fn echo(&mut self, texts: &[String]) -> Option<Vec<String>> {
        let promises = texts.iter().map(|text| {
            self.arguments.rebuild_list(|list| {
                list.string(text);
            });
            let promise = self.client.vat.call(self.object, &self.arguments);
            self.client.vat.listen(promise);
            promise
        });
        let promises: Vec<Ref> = promises.collect();
        self.pass_to_server();
        while let Some(event) = self.server.vat.poll_event() {
            if let Event::Call {
                arguments,
                reply: Some(reply),
                ..
            } = event
            {
                self.server.vat.resolve(reply, Ok(&arguments));
                self.server.vat.drop_ref(reply);
                self.server.vat.drop_payload(arguments);
            }
        }
        self.pass_to_client();
        let mut results = Vec::with_capacity(texts.len());
        while let Some(event) = self.client.vat.poll_event() {
            if let Event::Settled { promise, outcome } = event {
                // Results arrive in the order of the calls.
                if promises.get(results.len()) != Some(&promise) {
                    return None;
                }
                let outcome = outcome.ok()?;
                results.push(text(&outcome)?.to_owned());
                self.client.vat.drop_payload(outcome);
                self.client.vat.drop_ref(promise);
            }
        }
        // References to answers and resolvers are returned to their owners.
        self.pass_all();
        Some(results)
    }

    fn oneway(&mut self, texts: &[String]) -> Option<u64> {
        for text in texts {
            self.arguments.rebuild_list(|list| {
                list.string(text);
            });
            self.client.vat.send(self.object, &self.arguments).ok()?;
        }
        self.pass_to_server();
        let mut state = START;
        while let Some(event) = self.server.vat.poll_event() {
            if let Event::Call { arguments, .. } = event {
                state = digest(state, text(&arguments)?);
                self.server.vat.drop_payload(arguments);
            }
        }
        Some(state)
    }
}

/// The first item of a list.
fn text(list: &Payload) -> Option<&str> {
    let items = decode::<Items<&str>>(list.data()).ok()?;
    items.iter().next()
}

pub fn echo(texts: &[String]) -> Option<Vec<String>> {
    PAIR.with_borrow_mut(|pair| pair.echo(texts))
}

pub fn oneway(texts: &[String]) -> Option<[u8; 8]> {
    PAIR.with_borrow_mut(|pair| Some(pair.oneway(texts)?.to_le_bytes()))
}
