//! What the caller decides: locations, dialect, limits.
use alloc::{string::String, vec::Vec};

use crate::captp::{Dialect, Framing, Locator, Peer};

/// Where a peer can be found. The owned form of [`Peer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// How to connect: `tcp-testing-only`, …
    pub transport: String,
    /// The peer's name within the transport.
    pub designator: String,
    /// Connection hints. `None` is `f` on the wire.
    pub hints: Option<Vec<(String, String)>>,
}

impl Location {
    /// The borrowed form.
    pub fn peer(&self) -> Peer<'_> {
        let hints = self.hints.as_ref().map(|hints| {
            let pairs = hints.iter();
            pairs
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect()
        });
        Peer {
            transport: &self.transport,
            designator: &self.designator,
            hints,
        }
    }

    /// The locator of the object with this swiss number, or of the peer if it is empty.
    pub fn locator(&self, swiss: &[u8]) -> Locator {
        Locator {
            designator: self.designator.clone(),
            transport: self.transport.clone(),
            swiss: (!swiss.is_empty()).then(|| swiss.into()),
            hints: self.hints.clone().unwrap_or_default(),
        }
    }

    /// Whether both refer to the same peer. Hints are ignored.
    pub fn is_same(&self, other: &Self) -> bool {
        self.peer().is_same(&other.peer())
    }

    pub(super) fn key(&self) -> (String, String) {
        (self.transport.clone(), self.designator.clone())
    }
}

impl From<&Peer<'_>> for Location {
    fn from(peer: &Peer<'_>) -> Self {
        let hints = peer.hints.as_ref().map(|hints| {
            let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
            hints.iter().map(pair).collect()
        });
        Self {
            transport: peer.transport.into(),
            designator: peer.designator.into(),
            hints,
        }
    }
}

impl From<&Locator> for Location {
    fn from(locator: &Locator) -> Self {
        Self::from(&locator.peer())
    }
}

/// What a netlayer knows about the location of a connection's peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing. An accepted session is usable by both sides, but not found under its location, and it can neither
    /// replace a connection that is being opened nor block a later one.
    Claimed,
    /// Nothing, but the netlayer trusts claims, like `tcp-testing-only`.
    Trusted,
    /// The netlayer has authenticated the peer as this one. A hello with another location ends the session.
    Verified(Location),
}

/// Settings of a vat.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where this vat can be found: one location for each netlayer. A hello states the one of its transport.
    pub locations: Vec<Location>,
    /// The dialect to write. All dialects are read.
    pub dialect: Dialect,
    /// How to frame messages on connections opened by this vat, unless a session asked for the connection: then like
    /// that session. Accepted connections use the framing that the peer's first byte shows.
    pub framing: Framing,
    /// Transports with a fixed framing, which neither [`framing`](Self::framing) nor peers change.
    pub fixed_framing: Vec<(String, Framing)>,
    /// Bounds on what peers can use.
    pub limits: Limits,
}

impl Config {
    /// The newest dialect, without framing, with the default limits.
    pub fn new(locations: Vec<Location>) -> Self {
        Self {
            locations,
            dialect: Dialect::Endo202608,
            framing: Framing::None,
            fixed_framing: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// The transport of the location with this number.
    pub(super) fn transport(&self, location: usize) -> &str {
        let location = self.locations.get(location);
        location.map_or("", |location| &location.transport)
    }

    /// The fixed framing of this transport, if it has one.
    pub(super) fn fixed_framing(&self, transport: &str) -> Option<Framing> {
        let mut fixed = self.fixed_framing.iter();
        fixed.find_map(|(name, framing)| (name == transport).then_some(*framing))
    }
}

/// Bounds on what peers can use. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest message in bytes, in either direction: 1 MiB. A longer one from the peer ends the session; one of ours
    /// breaks its result.
    pub message: usize,
    /// Most references in one message: 4,096. More end the session.
    pub references: usize,
    /// Accepted connections that have not said hello: 256. One more closes the oldest.
    pub unidentified: usize,
    /// Time until the hello on an accepted connection: 10 s.
    pub hello_time: u64,
    /// Time to open a connection, including its hello: 30 s. Then what waits for it breaks.
    pub dial_time: u64,
    /// Time to wait for a connection from a peer that closed the one being opened to it, which it does when both open
    /// one at the same time: 1 s.
    pub crossed_time: u64,
    /// Time that the hello of a peer waits if there is a session with it, since its end may be on its way on another
    /// connection: 200 ms. Then the new one ends.
    pub duplicate_time: u64,
    /// Time until a started message is complete: 30 s. Then the session ends. The caller should also close a connection
    /// if the peer has read nothing for as long, although bytes wait.
    pub message_time: u64,
    /// Time until a connection is closed by the caller after the last bytes were ready: 1 s. Then it is forgotten.
    pub close_time: u64,
    /// Connections in all: 4,096. Further ones are refused. Handoffs open none while there are half as many.
    pub connections: usize,
    /// Objects exported to one peer: 65,536. A call that needs one more breaks.
    pub exports: usize,
    /// References imported from one peer: 65,536. One more ends the session.
    pub imports: usize,
    /// Answers that one peer may keep: 16,384. One more ends the session.
    pub answers: usize,
    /// Messages of the caller waiting on one promise: 1,024. One more breaks.
    pub queue: usize,
    /// Memory of messages from one peer that wait on promises: 4 MiB. More end the session.
    pub queue_bytes: usize,
    /// Bytes of settled values of promises that one peer has or had references to, as answers or exports, or that it
    /// fulfils: 256 MiB. More end the session. A promise counts for the first peer only, until it is freed.
    pub values: usize,
    /// Listeners on one promise: 256. One more is notified that it was refused.
    pub listeners: usize,
    /// Listeners of one peer: 4,096.
    pub session_listeners: usize,
    /// Gifts deposited by one peer: 256. One more is refused.
    pub gifts: usize,
    /// Withdrawals of one peer that wait for the gift: 64. One more breaks.
    pub withdrawals: usize,
    /// Time until a gift, or a withdrawal that waits for one, expires: 10 min.
    pub gift_time: u64,
    /// Longest gift id in bytes: 64.
    pub gift_id: usize,
    /// Connections that handoffs from one peer may be opening: 16. A further handoff breaks.
    pub handoffs: usize,
    /// Signature checks that withdrawals of one peer may cause each second: 1,000. Beyond that they break.
    pub signatures: u32,
    /// Bytes waiting to be sent on one connection above which [`Vat::is_congested`](super::Vat::is_congested): 4 MiB.
    pub outbound_soft: usize,
    /// Bytes waiting to be sent on one connection: 16 MiB. While there are more, nothing should be read from the peer
    /// ([`Vat::is_full`](super::Vat::is_full)), so that it cannot request more than it reads. The requests that arrived
    /// before are bounded too: if their results are more than [`values`](Self::values) beyond that, the session ends.
    /// Messages of the caller break or fail before that, when one of the greatest length might be too much.
    pub outbound_hard: usize,
    /// Length of the parts of a location: designator, and each name and value of at most 8 hints: 256. The transport
    /// has at most 64.
    pub location_part: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 1 << 20,
            references: 4096,
            unidentified: 256,
            hello_time: 10_000,
            dial_time: 30_000,
            crossed_time: 1_000,
            duplicate_time: 200,
            message_time: 30_000,
            close_time: 1_000,
            connections: 4096,
            exports: 65_536,
            imports: 65_536,
            answers: 16_384,
            queue: 1024,
            queue_bytes: 4 << 20,
            values: 256 << 20,
            listeners: 256,
            session_listeners: 4096,
            gifts: 256,
            withdrawals: 64,
            gift_time: 600_000,
            gift_id: 64,
            handoffs: 16,
            signatures: 1000,
            outbound_soft: 4 << 20,
            outbound_hard: 16 << 20,
            location_part: 256,
        }
    }
}

impl Limits {
    /// Whether a message that can be refused may follow these bytes, which wait to be sent.
    pub(super) const fn allow_message_after(&self, bytes: usize) -> bool {
        bytes == 0 || bytes.saturating_add(self.message) <= self.outbound_hard
    }

    /// Whether a peer's location is within the bounds.
    pub(super) fn allow_location(&self, peer: &Peer<'_>) -> bool {
        let hints = peer.hints.as_deref().unwrap_or_default();
        let short = |text: &str| text.len() <= self.location_part;
        peer.transport.len() <= 64
            && short(peer.designator)
            && hints.len() <= 8
            && hints
                .iter()
                .all(|(name, value)| short(name) && short(value))
    }
}
