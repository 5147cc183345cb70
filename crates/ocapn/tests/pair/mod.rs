//! Two vats in one process, which pass their bytes to each other.
use lydite_ocapn::captp::Sturdyref;
use lydite_ocapn::session::{Config, Connection, Event, Location, Output, Proof, Ref, Vat};

pub const SWISS: &[u8] = b"object";

/// A vat and its end of a connection.
pub struct Side {
    pub vat: Vat,
    /// Most bytes that it sends at a time.
    pub piece: usize,
    connection: Option<Connection>,
}

pub fn config(name: &str) -> Config {
    Config::new(vec![location(name)])
}

fn location(name: &str) -> Location {
    Location {
        transport: "memory".into(),
        designator: name.into(),
        hints: None,
    }
}

impl Side {
    pub fn new(config: Config, seed: u8) -> Self {
        Self {
            vat: Vat::new(config, [seed; 32]),
            piece: usize::MAX,
            connection: None,
        }
    }

    /// Passes bytes on, in memory that is used again. Returns whether there were any.
    pub fn pass(&mut self, to: &mut Self, bytes: &mut Vec<u8>) -> bool {
        let mut passed = false;
        while let Some(output) = self.vat.poll_output() {
            passed = true;
            match output {
                Output::Bytes(connection) => {
                    bytes.clear();
                    self.vat.take_bytes(connection, bytes);
                    for piece in bytes.chunks(self.piece) {
                        to.vat.received(to.connection.unwrap(), piece, 0);
                    }
                }
                Output::Dial { dial, .. } => {
                    self.connection = self.vat.dialed(dial, Proof::Trusted, 0);
                    to.connection = to.vat.accepted(0, Proof::Trusted, 0);
                }
                Output::Close(_) => panic!("a session ended"),
            }
        }
        passed
    }
}

/// Passes bytes until there are none.
pub fn pass_all(a: &mut Side, b: &mut Side, bytes: &mut Vec<u8>) {
    while a.pass(b, bytes) | b.pass(a, bytes) {}
}

/// Opens a session with the server of this name. Returns the client's reference to its object with the number [`SWISS`].
pub fn enliven(client: &mut Side, server: &mut Side, name: &str) -> Ref {
    let location = location(name);
    let promise = client.vat.enliven(&Sturdyref {
        peer: location.peer(),
        swiss: SWISS,
    });
    client.vat.listen(promise);
    let mut bytes = Vec::new();
    pass_all(client, server, &mut bytes);
    let object = std::iter::from_fn(|| client.vat.poll_event()).find_map(|event| match event {
        Event::Settled { outcome, .. } => outcome.unwrap().as_reference(),
        _ => None,
    });
    client.vat.drop_ref(promise);
    pass_all(client, server, &mut bytes);
    object.unwrap()
}
