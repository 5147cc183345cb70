//! Recording what a node receives and sends, and replaying it.
use std::{collections::HashMap, fmt, str::FromStr};

use lydite_ocapn::session::{Connection, Output, Proof};

use crate::Node;

/// One line of a recording. Connections and requests are numbered in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A peer opened a connection.
    Accepted,
    /// A requested connection was opened. The requests are numbered from 0.
    Dialed(usize),
    /// A requested connection could not be opened.
    DialFailed(usize),
    /// Bytes arrived on a connection.
    Received(usize, Vec<u8>),
    /// Bytes were sent on a connection.
    Sent(usize, Vec<u8>),
    /// A connection was closed.
    Closed(usize),
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.write_str("accepted"),
            Self::Dialed(dial) => write!(f, "dialed {dial}"),
            Self::DialFailed(dial) => write!(f, "dial-failed {dial}"),
            Self::Received(connection, bytes) => write!(f, "received {connection} {}", hex(bytes)),
            Self::Sent(connection, bytes) => write!(f, "sent {connection} {}", hex(bytes)),
            Self::Closed(connection) => write!(f, "closed {connection}"),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl FromStr for Record {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let invalid = || format!("expected a record, found `{line}`");
        let mut words = line.split_whitespace();
        let name = words.next().ok_or_else(invalid)?;
        if name == "accepted" {
            return Ok(Self::Accepted);
        }
        let number = words
            .next()
            .and_then(|word| word.parse().ok())
            .ok_or_else(invalid)?;
        let bytes = |word: Option<&str>| {
            let digits = word?.as_bytes();
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>()
        };
        Ok(match name {
            "dialed" => Self::Dialed(number),
            "dial-failed" => Self::DialFailed(number),
            "closed" => Self::Closed(number),
            "received" => Self::Received(number, bytes(words.next()).ok_or_else(invalid)?),
            "sent" => Self::Sent(number, bytes(words.next()).ok_or_else(invalid)?),
            _ => return Err(invalid()),
        })
    }
}

/// Called with each record.
pub(crate) type Recorder = Box<dyn FnMut(Record) + Send>;

/// Feeds the inputs of a recording to a node without netlayers and returns what it sends on each connection. The node
/// must have the seed, the settings and the objects of the recorded one; its objects must not depend on time or tasks.
/// `pieces` splits what arrives.
pub fn replay(node: &Node, records: &[Record], pieces: usize) -> HashMap<usize, Vec<u8>> {
    let mut sent: HashMap<usize, Vec<u8>> = HashMap::new();
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut dials = Vec::new();
    let mut take = |number, connection: Option<Connection>| {
        if let Some(connection) = connection {
            let out = sent.entry(number).or_default();
            node.vat(|vat| vat.take_bytes(connection, out));
        }
    };
    for record in records {
        node.input(|vat| match record {
            Record::Accepted => connections.push(vat.accepted(0, Proof::Trusted, 0)),
            Record::Dialed(dial) => {
                let dial = dials.get(*dial).copied();
                connections.push(dial.and_then(|dial| vat.dialed(dial, Proof::Trusted, 0)));
            }
            Record::DialFailed(dial) => {
                if let Some(dial) = dials.get(*dial) {
                    vat.dial_failed(*dial, "refused");
                }
            }
            Record::Received(connection, bytes) => {
                if let Some(Some(connection)) = connections.get(*connection) {
                    for piece in bytes.chunks(pieces.max(1)) {
                        vat.received(*connection, piece, 0);
                    }
                }
            }
            Record::Sent(..) => {}
            Record::Closed(connection) => {
                if let Some(Some(connection)) = connections.get(*connection) {
                    vat.closed(*connection, "closed by the peer");
                }
            }
        });
        // When bytes are fetched decides which references are returned together.
        if let Record::Sent(number, _) = record {
            take(*number, connections.get(*number).copied().flatten());
        }
        while let Some(output) = node.output() {
            if let Output::Dial { dial, .. } = output {
                dials.push(dial);
            }
        }
    }
    for (number, connection) in connections.into_iter().enumerate() {
        take(number, connection);
    }
    sent
}
