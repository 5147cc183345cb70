//! Objects and promises, ours and those of peers.
use alloc::{boxed::Box, string::String, vec::Vec};

use super::extract::Marks;
use super::payload::Payload;
use super::slab::Id;
use crate::captp::Target;

/// A handle to an object or promise. A copy is the same handle: [`Vat::clone_ref`](super::Vat::clone_ref) makes
/// another one, and each is released by [`Vat::drop_ref`](super::Vat::drop_ref). A stale handle refers to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(pub(super) Id);

impl Ref {
    /// The number of its slot, to find it in a table: live references to different objects and promises have different
    /// slots, the numbers are dense, and those of freed references are used again.
    pub const fn slot(self) -> usize {
        self.0.index as usize
    }
}

/// What became of a promise: its value, or the reason for which it broke.
pub type Outcome = Result<Payload, Reason>;

/// Why a promise broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Who broke it. Neither a peer nor an object can choose this.
    pub cause: Cause,
    /// The reason as a value, which listeners of peers receive. They do not receive the cause.
    pub value: Payload,
}

/// Who broke a promise.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Whoever could settle it: an object, a resolver, or a peer, which may report an error of any kind.
    Application,
    /// The session with the peer that it depends on ended, or could not be opened.
    Disconnected,
    /// One of our [`Limits`](super::Limits).
    Limit,
}

impl Reason {
    /// The message if the value is `<desc:error "message">`, else an empty string.
    pub fn message(&self) -> &str {
        self.value.as_error().unwrap_or_default()
    }

    pub(super) fn disconnected(message: &str) -> Self {
        Self {
            cause: Cause::Disconnected,
            value: Payload::error(message),
        }
    }

    pub(super) fn limit(message: &str) -> Self {
        Self {
            cause: Cause::Limit,
            value: Payload::error(message),
        }
    }
}

impl From<Payload> for Reason {
    /// A reason of an application.
    fn from(value: Payload) -> Self {
        Self {
            cause: Cause::Application,
            value,
        }
    }
}

impl From<&str> for Reason {
    /// A reason of an application.
    fn from(message: &str) -> Self {
        Payload::error(message).into()
    }
}

/// The value or the reason.
pub(super) const fn payload_of(outcome: &Outcome) -> &Payload {
    match outcome {
        Ok(payload) => payload,
        Err(reason) => &reason.value,
    }
}

/// What a reference refers to.
pub(super) struct Node {
    /// References from tables, queues and values.
    pub refs: u32,
    /// Handles of the caller.
    pub handles: u32,
    /// Whether to report that the session ended.
    pub watched: bool,
    pub kind: Kind,
}

pub(super) enum Kind {
    /// An object of the caller.
    Object,
    /// The object at position 0, the same for all peers.
    Bootstrap,
    /// Settles the promise when called. The promise does not live for it.
    Resolver(Id),
    /// A local promise. Its resolver settles it.
    Promise(Promise),
    /// An object or promise of a peer, or the answer of a peer.
    Remote {
        remote: Remote,
        /// For promises and answers.
        promise: Option<Promise>,
    },
}

#[derive(Clone, Copy)]
pub(super) struct Remote {
    pub session: Id,
    pub target: Target,
    /// Number of references received and not yet returned.
    pub received: u64,
    /// Whether a resolver was sent along or an `op:listen` after it.
    pub listening: bool,
}

#[derive(Default)]
pub(super) struct Promise {
    pub state: State,
    /// Messages that wait for a local promise. Those to remote ones are sent at once.
    pub queue: Vec<Queued>,
    pub listeners: Listeners,
    /// The session whose peer can refer to it, and how many bytes of its value count there.
    pub kept_for: Option<(Id, usize)>,
}

impl Promise {
    /// Bytes of the value or reason, and of its marks.
    pub fn size(&self) -> usize {
        match &self.state {
            State::Fulfilled(payload, marks) => {
                payload.data.len() + marks.as_ref().map_or(0, |marks| marks.size())
            }
            State::Broken(reason) => reason.value.data.len(),
            _ => 0,
        }
    }

    pub const fn is_settled(&self) -> bool {
        matches!(self.state, State::Fulfilled(..) | State::Broken(_))
    }
}

#[derive(Default)]
pub(super) enum State {
    #[default]
    Pending,
    /// Becomes what another promise becomes.
    Following(Id),
    /// Marks are made when a part of a long value is asked for.
    Fulfilled(Payload, Option<Box<Marks>>),
    Broken(Reason),
}

pub(super) struct Queued {
    pub payload: Payload,
    pub result: Option<Id>,
    pub origin: Option<Id>,
}

impl Queued {
    /// The memory that it uses.
    pub fn size(&self) -> usize {
        size_of::<Self>()
            + self.payload.data.len()
            + self.payload.refs().len() * size_of::<(Ref, u32)>()
    }
}

/// Who is notified when a promise settles.
pub(super) enum Listener {
    /// The caller, under the handle with which it listened.
    Caller(Id),
    /// A resolver of a peer.
    Wire { session: Id, resolver: Id },
    /// A promise for a part of the value.
    Part { of: Box<Part>, into: Id },
}

/// Listeners in their order. Most promises have one, for which nothing is allocated.
#[derive(Default)]
pub(super) struct Listeners {
    first: Option<Listener>,
    more: Vec<Listener>,
}

impl Listeners {
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    pub fn push(&mut self, listener: Listener) {
        match self.first {
            None => self.first = Some(listener),
            Some(_) => self.more.push(listener),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Listener> {
        self.first.iter().chain(&self.more)
    }

    pub fn into_iter(self) -> impl DoubleEndedIterator<Item = Listener> {
        self.first.into_iter().chain(self.more)
    }

    /// Removes those for which this holds.
    pub fn extract(&mut self, mut holds: impl FnMut(&Listener) -> bool) -> Vec<Listener> {
        let mut extracted = Vec::new();
        for listener in core::mem::take(self).into_iter() {
            if holds(&listener) {
                extracted.push(listener);
            } else {
                self.push(listener);
            }
        }
        extracted
    }
}

/// A part of a value.
pub(super) enum Part {
    Field(String),
    Item(u64),
    Tagged(String),
}

impl Node {
    pub fn new(kind: Kind) -> Self {
        Self {
            refs: 0,
            handles: 0,
            watched: false,
            kind,
        }
    }

    pub fn promise(&self) -> Option<&Promise> {
        match &self.kind {
            Kind::Promise(promise) => Some(promise),
            Kind::Remote { promise, .. } => promise.as_ref(),
            _ => None,
        }
    }

    pub fn promise_mut(&mut self) -> Option<&mut Promise> {
        match &mut self.kind {
            Kind::Promise(promise) => Some(promise),
            Kind::Remote { promise, .. } => promise.as_mut(),
            _ => None,
        }
    }

    /// Whether anything refers to the node or waits for it.
    pub fn is_observed(&self) -> bool {
        let waits = |promise: &Promise| !promise.listeners.is_empty() || !promise.queue.is_empty();
        self.refs > 0 || self.handles > 0 || self.is_pending() && self.promise().is_some_and(waits)
    }

    /// Whether this is a promise that has not settled and follows no other.
    pub fn is_pending(&self) -> bool {
        self.promise()
            .is_some_and(|promise| matches!(promise.state, State::Pending))
    }
}
