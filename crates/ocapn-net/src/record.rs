//! A recording: what a node receives and sends, one line of text for each event.
use std::{fmt, str::FromStr};

use lydite_ocapn::captp::Locator;
use lydite_ocapn::session::{Connection, Dial, Location, Proof};

/// One line of a recording. Connections and requests are numbered in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A peer opened a connection, of which the netlayer knows this.
    Accepted(Proof),
    /// A requested connection was opened, of whose peer the netlayer knows this. The requests are numbered from 0.
    Dialed(usize, Proof),
    /// A requested connection could not be opened.
    DialFailed(usize),
    /// Bytes arrived on a connection.
    Received(usize, Vec<u8>),
    /// Bytes were sent on a connection.
    Sent(usize, Vec<u8>),
    /// A connection was closed.
    Closed(usize),
    /// Deadlines were checked, and some had passed.
    Deadlines,
    /// The time of the next records, in milliseconds since the node started. Until the first one, it is 0.
    Time(u64),
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted(proof) => write!(f, "accepted{}", ProofText(proof)),
            Self::Dialed(dial, proof) => write!(f, "dialed {dial}{}", ProofText(proof)),
            Self::DialFailed(dial) => write!(f, "dial-failed {dial}"),
            Self::Received(connection, bytes) => write!(f, "received {connection} {}", hex(bytes)),
            Self::Sent(connection, bytes) => write!(f, "sent {connection} {}", hex(bytes)),
            Self::Closed(connection) => write!(f, "closed {connection}"),
            Self::Deadlines => f.write_str("deadlines"),
            Self::Time(time) => write!(f, "time {time}"),
        }
    }
}

/// ` claimed`, ` verified LOCATOR`, or nothing for [`Proof::Trusted`].
struct ProofText<'a>(&'a Proof);

impl fmt::Display for ProofText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Proof::Trusted => Ok(()),
            Proof::Claimed => f.write_str(" claimed"),
            Proof::Verified(location) => write!(f, " verified {}", location.locator(b"")),
        }
    }
}

fn proof<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Proof> {
    match words.next() {
        None => Some(Proof::Trusted),
        Some("claimed") => Some(Proof::Claimed),
        Some("verified") => {
            let locator: Locator = words.next()?.parse().ok()?;
            Some(Proof::Verified(Location::from(&locator)))
        }
        Some(_) => None,
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((16 * digit(*high)? + digit(*low)?) as u8);
    rest.is_empty().then_some(())?;
    pairs.iter().map(byte).collect()
}

impl FromStr for Record {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let invalid = || format!("expected a record, found `{line}`");
        let mut words = line.split_whitespace();
        let name = words.next().ok_or_else(invalid)?;
        match name {
            "accepted" => return proof(words).map(Self::Accepted).ok_or_else(invalid),
            "deadlines" => return Ok(Self::Deadlines),
            _ => {}
        }
        let word = words.next().ok_or_else(invalid)?;
        if name == "time" {
            return word.parse().map(Self::Time).map_err(|_| invalid());
        }
        let number = word.parse().map_err(|_| invalid())?;
        Ok(match name {
            "dialed" => Self::Dialed(number, proof(words).ok_or_else(invalid)?),
            "dial-failed" => Self::DialFailed(number),
            "closed" => Self::Closed(number),
            "received" | "sent" => {
                let bytes = words.next().and_then(unhex).ok_or_else(invalid)?;
                match name {
                    "sent" => Self::Sent(number, bytes),
                    _ => Self::Received(number, bytes),
                }
            }
            _ => return Err(invalid()),
        })
    }
}

/// Called with each record.
pub(crate) type Recorder = Box<dyn FnMut(Record) + Send>;

/// What is recorded, before its connections and requests are numbered.
pub(crate) enum Input<'a> {
    Accepted(Connection, Proof),
    Dialed(Dial, Connection, Proof),
    DialFailed(Dial),
    Received(Connection, &'a [u8]),
    Sent(Connection, &'a [u8]),
    Closed(Connection),
    Deadlines,
}

/// Numbers the connections and requests of a recording.
pub(crate) struct Numbered {
    recorder: Recorder,
    connections: Vec<Connection>,
    dials: Vec<Dial>,
    time: u64,
}

impl Numbered {
    pub fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            connections: Vec::new(),
            dials: Vec::new(),
            time: 0,
        }
    }

    pub fn requested(&mut self, dial: Dial) {
        self.dials.push(dial);
    }

    pub fn input(&mut self, input: Input<'_>, now: u64) {
        let number = |connection: Connection| {
            let mut known = self.connections.iter();
            known.position(|known| *known == connection)
        };
        let dial = |dial| self.dials.iter().position(|known| *known == dial);
        let record = match input {
            Input::Accepted(connection, proof) => {
                self.connections.push(connection);
                Some(Record::Accepted(proof))
            }
            Input::Dialed(request, connection, proof) => {
                let request = dial(request);
                self.connections.push(connection);
                request.map(|request| Record::Dialed(request, proof))
            }
            Input::DialFailed(request) => dial(request).map(Record::DialFailed),
            Input::Received(connection, bytes) => {
                number(connection).map(|number| Record::Received(number, bytes.into()))
            }
            Input::Sent(connection, bytes) => {
                number(connection).map(|number| Record::Sent(number, bytes.into()))
            }
            Input::Closed(connection) => number(connection).map(Record::Closed),
            Input::Deadlines => Some(Record::Deadlines),
        };
        let Some(record) = record else {
            return;
        };
        if self.time != now {
            self.time = now;
            (self.recorder)(Record::Time(now));
        }
        (self.recorder)(record);
    }
}
