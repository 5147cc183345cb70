//! Connections and the sessions on them.
use alloc::{boxed::Box, string::String, vec::Vec};
use core::num::NonZeroU64;

use super::config::{Location, Proof};
use super::outgoing::Outgoing;
use super::slab::Id;
use super::table::Table;
use crate::captp::{Dialect, Frames, Framing, PublicKey, SecretKey, Syrup};

/// A connection, and the session on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(pub(super) Id);

/// A request to open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dial(pub(super) Id);

/// What the caller has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// There are bytes to send: fetch them with [`Vat::take_bytes`](super::Vat::take_bytes) or
    /// [`Vat::take_pieces`](super::Vat::take_pieces).
    Bytes(Connection),
    /// Send the remaining bytes, close the connection and report [`Vat::closed`](super::Vat::closed).
    Close(Connection),
    /// Open a connection and report [`Vat::dialed`](super::Vat::dialed) or
    /// [`Vat::dial_failed`](super::Vat::dial_failed). The location may come from a peer.
    Dial {
        /// The request.
        dial: Dial,
        /// Where to connect.
        location: Location,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// No valid hello received.
    Hello,
    Active,
    /// Waits for the caller to send the last bytes and close.
    Closing,
}

pub(super) struct Export {
    pub node: Id,
    /// Whether the peer refers to the resolver of the node, a promise that does not live for it. The resolver has no
    /// node until somebody refers to it in another way.
    pub is_resolver: bool,
    /// References sent and not yet returned.
    pub refs: u64,
}

/// A connection's state: a session once the peer's hello was accepted.
pub(super) struct Session {
    pub phase: Phase,
    /// The request that opened it, until it is active.
    pub dial: Option<Id>,
    /// Whether anybody may be at the other end, and who is, until the hello.
    pub is_claimed: bool,
    pub verified: Option<Box<Location>>,
    pub key: SecretKey,
    pub our_id: [u8; 32],
    /// The number of our location in the hello.
    pub location: usize,
    pub dialect: Dialect,
    pub framing: Option<Framing>,
    /// Bytes received before the first message that is not complete.
    pub offset: usize,
    /// While a message is incomplete.
    pub frames: Option<Box<Frames<Syrup>>>,
    pub out: Outgoing,
    /// Whether the caller knows that there are bytes.
    pub announced: bool,
    /// When it closes unless there is progress: at the hello, within a message, or at the end.
    pub deadline: Option<u64>,

    /// A valid hello that waits for the end of another session with the same peer.
    pub parked: Option<Box<(PeerKey, Vec<u8>)>>,
    pub peer: Option<Identity>,
    /// Whether other parties may find the session under its location.
    pub findable: bool,

    pub exports: Table<Export>,
    /// From the index of a node to its position.
    pub export_index: Table<NonZeroU64>,
    pub next_export: u64,
    pub imports: Table<Id>,
    /// The last reference to the peer's bootstrap object, which may be gone.
    pub bootstrap: Option<Id>,
    pub questions: Table<Id>,
    pub next_answer: u64,
    pub answers: Table<Id>,
    /// Promises on which the peer listens, by their index, with the number of its listeners; and their sum.
    pub listens: Table<(Id, usize)>,
    pub listeners: usize,
    pub gc_exports: Vec<(u64, u64)>,
    pub gc_answers: Vec<u64>,

    /// Memory of its messages that wait on promises.
    pub queued: usize,
    /// Bytes of settled values that count for it.
    pub values: usize,
    /// Our next handoff count.
    pub next_count: u64,
    /// Which counts of the peer's handoffs are used, once there is one.
    pub counts: Option<Box<Window>>,
    pub gifts: usize,
    pub withdrawals: usize,
    pub handoffs: usize,
    /// Signature checks that it may still cause now, and when that was computed.
    pub signatures: (u32, u64),
}

/// The peer, as its hello stated.
pub(super) struct Identity {
    pub key: PublicKey,
    pub id: [u8; 32],
    pub session_id: [u8; 32],
    pub location: Location,
}

impl Session {
    pub fn new(
        key: SecretKey,
        location: usize,
        dialect: Dialect,
        framing: Option<Framing>,
        proof: Proof,
    ) -> Self {
        Self {
            phase: Phase::Hello,
            dial: None,
            is_claimed: proof == Proof::Claimed,
            verified: match proof {
                Proof::Verified(location) => Some(location.into()),
                Proof::Claimed | Proof::Trusted => None,
            },
            our_id: key.public_key().id::<Syrup>(),
            key,
            location,
            dialect,
            framing,
            offset: 0,
            frames: None,
            out: Outgoing::default(),
            announced: false,
            deadline: None,
            parked: None,
            peer: None,
            findable: false,
            exports: Table::default(),
            export_index: Table::default(),
            next_export: 1,
            imports: Table::default(),
            bootstrap: None,
            questions: Table::default(),
            next_answer: 1,
            answers: Table::default(),
            listens: Table::default(),
            listeners: 0,
            gc_exports: Vec::new(),
            gc_answers: Vec::new(),
            queued: 0,
            values: 0,
            next_count: 0,
            counts: None,
            gifts: 0,
            withdrawals: 0,
            handoffs: 0,
            signatures: (0, 0),
        }
    }

    /// Whether the peer has used this handoff count.
    pub fn has_used(&self, count: u64) -> bool {
        let window = self.counts.as_ref();
        window.is_some_and(|window| window.is_used(count))
    }
}

/// Which handoff counts a peer has used: those below the window count as used.
#[derive(Default)]
pub(super) struct Window {
    /// One more than the highest count seen.
    next: u64,
    /// Bit i is count `next - 1 - i`.
    seen: [u64; 16],
}

impl Window {
    const SIZE: u64 = 1024;

    pub fn is_used(&self, count: u64) -> bool {
        if count >= self.next {
            return false;
        }
        let back = self.next - 1 - count;
        back >= Self::SIZE || self.seen[(back / 64) as usize] >> (back % 64) & 1 == 1
    }

    pub fn record(&mut self, count: u64) {
        if count >= self.next {
            let shift = (count - self.next + 1).min(2 * Self::SIZE);
            self.shift(shift);
            self.next = count + 1;
        }
        let back = self.next - 1 - count;
        if back < Self::SIZE {
            self.seen[(back / 64) as usize] |= 1 << (back % 64);
        }
    }

    fn shift(&mut self, by: u64) {
        let (words, bits) = ((by / 64) as usize, by % 64);
        for i in (0..self.seen.len()).rev() {
            let word = |at: Option<usize>| at.map_or(0, |at| self.seen[at]);
            let high = word(i.checked_sub(words)) << bits;
            let low = match bits {
                0 => 0,
                _ => word(i.checked_sub(words + 1)) >> (64 - bits),
            };
            self.seen[i] = high | low;
        }
    }
}

/// What waits for a session with a peer.
pub(super) enum Waiter {
    /// A promise for the peer's bootstrap object.
    Bootstrap { promise: Id },
    /// A promise for the object with this swiss number.
    Fetch { promise: Id, swiss: Vec<u8> },
    /// A promise for a gift.
    Withdraw {
        promise: Id,
        /// The signed give, encoded.
        envelope: Vec<u8>,
        /// Our key in the session with the gifter.
        key: Box<SecretKey>,
        /// The session with the gifter.
        gifter: Id,
    },
}

impl Waiter {
    pub const fn promise(&self) -> Id {
        match self {
            Self::Bootstrap { promise }
            | Self::Fetch { promise, .. }
            | Self::Withdraw { promise, .. } => *promise,
        }
    }
}

/// A peer to which a connection is being opened.
pub(super) struct Dialing {
    pub location: Location,
    /// Each with the location that it was given, whose hints may be others.
    pub waiters: Vec<(Location, Waiter)>,
    pub connection: Option<Id>,
    pub framing: Framing,
    pub deadline: u64,
    /// Why the peer closed the connection. It may have kept one that it opened itself, whose hello is still on its
    /// way.
    pub refused: Option<String>,
}

/// Transport and designator of a peer.
pub(super) type PeerKey = (String, String);
