//! Recordings of a node, and their replay.
use std::{collections::HashMap, fmt, str::FromStr};

use lydite_ocapn::captp::{Dialect, Framing, Locator};
use lydite_ocapn::session::{Connection, Location};

use crate::builder::Builder;
use crate::node::Node;
use crate::record::{Record, hex, unhex};

/// The messages that a node received and sent, and its settings, for [`replay`]. As text, each line is a [`Record`],
/// except the first:
///
/// ```text
/// # DIALECT FRAMING SEED LOCATOR
/// ```
///
/// The dialect is `endo-2026-08`, `suite-2026-02` or `draft-2026-07`, the framing `none` or `length`. The seed has 64
/// hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The dialect that the node writes.
    pub dialect: Dialect,
    /// The framing of connections that the node opens.
    pub framing: Framing,
    /// The seed of the node's keys.
    pub seed: [u8; 32],
    /// Where the node is found.
    pub location: Location,
    /// The events, in their order.
    pub records: Vec<Record>,
}

impl Recording {
    /// Settings of a node without netlayers that sends the same, if it has the same objects.
    pub fn builder(&self) -> Builder {
        Node::builder()
            .location(self.location.clone())
            .dialect(self.dialect)
            .framing(self.framing)
            .seed(self.seed)
    }

    /// The bytes that were sent on each connection on which there were any.
    pub fn sent(&self) -> HashMap<usize, Vec<u8>> {
        let mut sent: HashMap<usize, Vec<u8>> = HashMap::new();
        for record in &self.records {
            if let Record::Sent(connection, bytes) = record {
                sent.entry(*connection).or_default().extend(bytes);
            }
        }
        sent
    }
}

const FRAMINGS: [(Framing, &str); 2] = [(Framing::None, "none"), (Framing::Length, "length")];

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut framings = FRAMINGS.into_iter();
        let framing = framings.find_map(|(known, name)| (known == self.framing).then_some(name));
        let (dialect, framing) = (self.dialect, framing.unwrap_or_default());
        let (seed, locator) = (hex(&self.seed), self.location.locator(b""));
        writeln!(f, "# {dialect} {framing} {seed} {locator}")?;
        let mut records = self.records.iter();
        records.try_for_each(|record| writeln!(f, "{record}"))
    }
}

impl FromStr for Recording {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let header = text.lines().next().unwrap_or_default();
        let words: Vec<&str> = header.split_whitespace().collect();
        let ["#", dialect, framing, seed, locator] = words[..] else {
            return Err(format!(
                "line 1: expected `# DIALECT FRAMING SEED LOCATOR`, found `{header}`"
            ));
        };
        let mut dialects = Dialect::ALL.into_iter();
        let found = dialects.find(|known| known.to_string() == dialect);
        let dialect = found.ok_or_else(|| format!("line 1: unknown dialect `{dialect}`"))?;
        let mut framings = FRAMINGS.into_iter();
        let found = framings.find_map(|(known, name)| (name == framing).then_some(known));
        let framing = found
            .ok_or_else(|| format!("line 1: expected `none` or `length`, found `{framing}`"))?;
        let seed = unhex(seed).and_then(|seed| seed.try_into().ok());
        let seed = seed.ok_or("line 1: expected a seed of 64 hexadecimal digits")?;
        let locator: Locator = locator
            .parse()
            .map_err(|error| format!("line 1: not a locator: {error}"))?;
        let lines = text.lines().enumerate().skip(1);
        let records = lines.map(|(index, line)| {
            line.parse()
                .map_err(|error| format!("line {}: {error}", index + 1))
        });
        Ok(Self {
            dialect,
            framing,
            seed,
            location: Location::from(&locator),
            records: records.collect::<Result<_, _>>()?,
        })
    }
}

/// Feeds the inputs of a recording to a node without netlayers and returns what it sends on each connection. The node
/// must have the settings ([`Recording::builder`]) and the objects of the recorded one; its objects must not depend on
/// time or tasks.
/// `pieces` splits what arrives.
pub fn replay(node: &Node, records: &[Record], pieces: usize) -> HashMap<usize, Vec<u8>> {
    let shared = node.shared();
    let mut sent: HashMap<usize, Vec<u8>> = HashMap::new();
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let (mut dials, mut now) = (Vec::new(), 0);
    let mut take = |number, connection: Option<Connection>| {
        if let Some(connection) = connection {
            let out = sent.entry(number).or_default();
            shared.vat(|vat| vat.take_bytes(connection, out));
        }
    };
    for record in records {
        shared.input(|vat, _| {
            match record {
                Record::Accepted(proof) => connections.push(vat.accepted(0, proof.clone(), now)),
                Record::Dialed(dial, proof) => {
                    let dial = dials.get(*dial).copied();
                    connections.push(dial.and_then(|dial| vat.dialed(dial, proof.clone(), now)));
                }
                Record::DialFailed(dial) => {
                    if let Some(dial) = dials.get(*dial) {
                        vat.dial_failed(*dial, "refused");
                    }
                }
                Record::Received(connection, bytes) => {
                    if let Some(Some(connection)) = connections.get(*connection) {
                        for piece in bytes.chunks(pieces.max(1)) {
                            vat.received(*connection, piece, now);
                        }
                    }
                }
                Record::Sent(..) => {}
                Record::Deadlines => vat.tick(now),
                Record::Time(time) => now = *time,
                Record::Closed(connection) => {
                    if let Some(Some(connection)) = connections.get(*connection) {
                        vat.closed(*connection, "closed by the peer");
                    }
                }
            }
            ((), None)
        });
        // When bytes are fetched decides which references are returned together.
        if let Record::Sent(number, _) = record {
            take(*number, connections.get(*number).copied().flatten());
        }
        while let Some((dial, _)) = shared.dial() {
            dials.push(dial);
        }
    }
    for (number, connection) in connections.into_iter().enumerate() {
        take(number, connection);
    }
    sent
}
