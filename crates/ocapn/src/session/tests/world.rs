//! Vats on a network in memory: each direction of a link is a queue of bytes.
use std::{collections::VecDeque, format, string::String, vec, vec::Vec};

use super::super::*;
use crate::captp::{Dialect, Framing};

/// A small generator: the tests depend on its seed only, the fuzz target also on its input.
pub struct Random {
    state: u64,
    /// Decides before the generator does.
    pub input: VecDeque<u8>,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            input: VecDeque::new(),
        }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        if let Some(byte) = self.input.pop_front() {
            // A bound above 256 uses two bytes.
            let high = match bound {
                0..=256 => None,
                _ => self.input.pop_front(),
            };
            return (usize::from(byte) + 256 * usize::from(high.unwrap_or(0))) % bound;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        // The same on 32-bit targets.
        ((self.state >> 16) % bound as u64) as usize
    }
}

/// One end of a link.
#[derive(Clone, Copy, Debug)]
struct End {
    vat: usize,
    connection: Option<Connection>,
    closed: bool,
}

/// A connection between two vats. `queues[0]` leads to the end 1.
pub struct Link {
    ends: [End; 2],
    queues: [VecDeque<u8>; 2],
    dial: Option<Dial>,
}

pub struct World {
    pub vats: Vec<Vat>,
    pub links: Vec<Link>,
    pub random: Random,
    pub now: u64,
    /// Whether bytes are delivered one by one.
    pub bytewise: bool,
    /// Whether all bytes that wait on a link are delivered at once.
    pub whole: bool,
    /// All bytes that each vat sent, by link and end.
    pub sent: Vec<[Vec<u8>; 2]>,
}

pub const DIALECTS: [Dialect; 3] = [
    Dialect::Endo202608,
    Dialect::Suite202602,
    Dialect::Draft202607,
];

pub const FRAMINGS: [Framing; 2] = [Framing::None, Framing::Length];

pub fn location(vat: usize) -> Location {
    Location {
        transport: "memory".into(),
        designator: format!("vat{vat}"),
        hints: Some(vec![("n".into(), format!("{vat}"))]),
    }
}

pub fn config(vat: usize) -> Config {
    Config::new(vec![location(vat)])
}

impl World {
    pub fn new(vats: usize, seed: u64) -> Self {
        let configs = (0..vats).map(config).collect();
        Self::with(configs, seed)
    }

    /// Vats of all dialects and framings.
    pub fn mixed(vats: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self::speaking(vats, seed, || {
            (DIALECTS[random.below(3)], FRAMINGS[random.below(2)])
        })
    }

    /// Vats of the given dialects and framings.
    pub fn speaking(
        vats: usize,
        seed: u64,
        mut speech: impl FnMut() -> (Dialect, Framing),
    ) -> Self {
        let configs = (0..vats).map(|vat| {
            let mut config = config(vat);
            // Handoffs break above the limit, and their gifts stay until they expire.
            config.limits.handoffs = 1024;
            (config.dialect, config.framing) = speech();
            config
        });
        let configs = configs.collect();
        Self::with(configs, seed)
    }

    pub fn with(configs: Vec<Config>, seed: u64) -> Self {
        let vat = |(i, config)| {
            let mut bytes = [i as u8; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            Vat::new(config, bytes)
        };
        Self {
            vats: configs.into_iter().enumerate().map(vat).collect(),
            links: vec![],
            random: Random::new(seed),
            now: 0,
            bytewise: false,
            whole: false,
            sent: vec![],
        }
    }

    /// Moves what a vat wants to send to its links.
    fn send(&mut self, vat: usize) -> bool {
        let mut moved = false;
        while let Some(output) = self.vats[vat].poll_output() {
            moved = true;
            match output {
                Output::Bytes(connection) => self.flush(vat, connection),
                Output::Close(connection) => {
                    self.flush(vat, connection);
                    if let Some((link, end)) = self.link(vat, connection) {
                        self.links[link].ends[end].closed = true;
                    }
                    self.vats[vat].closed(connection, "closed");
                }
                Output::Dial { dial, location } => {
                    let to = location.designator.strip_prefix("vat").unwrap();
                    let end = |vat| End {
                        vat,
                        connection: None,
                        closed: false,
                    };
                    self.links.push(Link {
                        ends: [end(vat), end(to.parse().unwrap())],
                        queues: [VecDeque::new(), VecDeque::new()],
                        dial: Some(dial),
                    });
                    self.sent.push([vec![], vec![]]);
                }
            }
        }
        moved
    }

    fn link(&self, vat: usize, connection: Connection) -> Option<(usize, usize)> {
        for (i, link) in self.links.iter().enumerate() {
            for end in 0..2 {
                if link.ends[end].vat == vat && link.ends[end].connection == Some(connection) {
                    return Some((i, end));
                }
            }
        }
        None
    }

    fn flush(&mut self, vat: usize, connection: Connection) {
        let mut out = Outgoing::default();
        self.vats[vat].take_pieces(connection, &mut out);
        let bytes = out.pieces(0).collect::<Vec<_>>().concat();
        if let Some((link, end)) = self.link(vat, connection) {
            self.sent[link][end].extend(&bytes);
            self.links[link].queues[end].extend(bytes);
        }
    }

    /// Makes progress on one random link. Returns whether there was any.
    fn carry(&mut self) -> bool {
        let start = match self.links.len() {
            0 => return false,
            links => self.random.below(links),
        };
        for i in 0..self.links.len() {
            let index = (start + i) % self.links.len();
            if let Some(dial) = self.links[index].dial.take() {
                let [from, to] = self.links[index].ends.map(|end| end.vat);
                let opened = self.vats[from].dialed(dial, Proof::Trusted, self.now);
                self.links[index].ends[0].connection = opened;
                self.links[index].ends[0].closed = opened.is_none();
                let accepted = self.vats[to].accepted(0, Proof::Trusted, self.now);
                self.links[index].ends[1].connection = accepted;
                return true;
            }
            let first = self.random.below(2);
            for end in [first, 1 - first] {
                let link = &mut self.links[index];
                let receiver = link.ends[1 - end];
                let length = link.queues[end].len();
                let Some(connection) = receiver.connection else {
                    link.queues[end].clear();
                    continue;
                };
                if length > 0 {
                    // Whole, or cut anywhere.
                    let length = if self.whole || self.random.below(2) == 0 {
                        length
                    } else {
                        1 + self.random.below(length)
                    };
                    let bytes: Vec<u8> = link.queues[end].drain(..length).collect();
                    let vat = &mut self.vats[receiver.vat];
                    if self.bytewise {
                        bytes
                            .chunks(1)
                            .for_each(|byte| vat.received(connection, byte, self.now));
                    } else {
                        vat.received(connection, &bytes, self.now);
                    }
                    return true;
                }
                if link.ends[end].closed && !link.ends[1 - end].closed {
                    link.ends[1 - end].closed = true;
                    self.vats[receiver.vat].closed(connection, "closed by the peer");
                    return true;
                }
            }
        }
        false
    }

    /// One random step of the network.
    pub fn step(&mut self) -> bool {
        let vats = self.vats.len();
        let start = self.random.below(vats);
        if self.random.below(2) == 0 && (0..vats).any(|i| self.send((start + i) % vats)) {
            return true;
        }
        self.carry() || (0..vats).any(|i| self.send((start + i) % vats))
    }

    /// Cuts a random link.
    pub fn cut(&mut self) {
        if self.links.is_empty() {
            return;
        }
        let index = self.random.below(self.links.len());
        let ends = self.links[index].ends;
        if let Some(dial) = self.links[index].dial.take() {
            return self.vats[ends[0].vat].dial_failed(dial, "cut");
        }
        for (end, other) in [(0, 1), (1, 0)] {
            self.links[index].ends[end].closed = true;
            self.links[index].queues[other].clear();
            if let (Some(connection), false) = (ends[end].connection, ends[end].closed) {
                self.vats[ends[end].vat].closed(connection, "cut");
            }
        }
    }

    /// Runs the network until nothing moves, and returns the events of each vat.
    pub fn settle(&mut self) -> Vec<Vec<Event>> {
        while self.step() {}
        self.vats
            .iter_mut()
            .map(|vat| std::iter::from_fn(|| vat.poll_event()).collect())
            .collect()
    }

    /// A published object on a vat.
    /// Two vats with a session, and an object of the second one.
    pub fn connected(framing: Framing) -> (Self, Ref) {
        let mut world = Self::speaking(2, 1, || (DIALECTS[0], framing));
        world.publish(1, b"object");
        let object = world.enliven(0, 1, b"object");
        world.settle();
        (world, object)
    }

    /// The first connection of a vat that is open.
    pub fn connection(&self, vat: usize) -> Connection {
        let mut ends = self.links.iter().flat_map(|link| link.ends);
        let open = ends.find_map(|end| end.connection.filter(|_| end.vat == vat && !end.closed));
        open.unwrap()
    }

    pub fn publish(&mut self, vat: usize, swiss: &[u8]) -> Ref {
        let object = self.vats[vat].object();
        self.vats[vat].publish(swiss, object);
        object
    }

    /// A promise on one vat for an object on another.
    pub fn enliven(&mut self, vat: usize, other: usize, swiss: &[u8]) -> Ref {
        let location = location(other);
        self.vats[vat].enliven(&crate::captp::Sturdyref {
            peer: location.peer(),
            swiss,
        })
    }
}

/// The calls among events.
pub fn calls(events: &[Event]) -> Vec<(Ref, Payload, Option<Ref>)> {
    let call = |event: &Event| match event {
        Event::Call {
            object,
            arguments,
            reply,
            ..
        } => Some((*object, arguments.clone(), *reply)),
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

/// The outcome of the promise among events.
pub fn outcome(events: &[Event], of: Ref) -> Option<Outcome> {
    events.iter().find_map(|event| match event {
        Event::Settled { promise, outcome } if *promise == of => Some(outcome.clone()),
        _ => None,
    })
}

/// The message of a broken promise.
pub fn reason(outcome: Option<Outcome>) -> String {
    let reason = outcome.expect("settled").expect_err("broken");
    reason.value.as_error().expect("an error").into()
}
