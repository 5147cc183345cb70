//! Objects and promises, ours and those of peers.
use alloc::{boxed::Box, string::ToString as _, vec::Vec};

use super::part::{Marks, Part};
use super::payload::Payload;
use super::slab::Id;
use crate::captp::{Error, Target};

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

pub(super) const NOT_AN_OBJECT: &str = "not an object: the promise was fulfilled with data";
pub(super) const DISCONNECTED: &str = "disconnected";
pub(super) const MUCH_TO_SEND: &str = "too many bytes wait to be sent to this peer";

pub(super) fn disconnected() -> Reason {
    Reason::disconnected(DISCONNECTED)
}

pub(super) fn not_encoded(error: &Error) -> Reason {
    error.kind.to_string().as_str().into()
}

pub(super) fn outcome(is_fulfilled: bool, payload: Payload) -> Outcome {
    if is_fulfilled {
        Ok(payload)
    } else {
        Err(payload.into())
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
    Promise(Box<Promise>),
    /// An object or promise of a peer, or the answer of a peer.
    Remote {
        remote: Remote,
        /// For promises and answers.
        promise: Option<Box<Promise>>,
    },
}

#[derive(Clone, Copy)]
pub(super) struct Remote {
    pub session: Id,
    position: u64,
    /// Number of references received and not yet returned.
    pub received: u64,
    is_answer: bool,
    /// Whether a resolver was sent along or an `op:listen` after it.
    pub listening: bool,
    /// Whether to report that the session ended.
    pub watched: bool,
}

impl Remote {
    pub const fn new(session: Id, target: Target) -> Self {
        let (position, is_answer) = match target {
            Target::Export(position) => (position, false),
            Target::Answer(position) => (position, true),
        };
        Self {
            session,
            position,
            received: 0,
            is_answer,
            listening: false,
            watched: false,
        }
    }

    pub const fn target(&self) -> Target {
        match self.is_answer {
            false => Target::Export(self.position),
            true => Target::Answer(self.position),
        }
    }
}

#[derive(Default)]
pub(super) struct Promise {
    pub state: State,
    /// The session for which its value counts: its peer can refer to it, could, or fulfils it.
    pub kept_for: Option<Id>,
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

    /// The value or the reason.
    pub const fn outcome(&self) -> Option<Result<&Payload, &Reason>> {
        match &self.state {
            State::Fulfilled(value, _) => Some(Ok(value)),
            State::Broken(reason) => Some(Err(reason)),
            State::Pending(_) | State::Following(_) => None,
        }
    }

    pub const fn pending(&self) -> Option<&Pending> {
        match &self.state {
            State::Pending(pending) => Some(pending),
            _ => None,
        }
    }

    pub const fn pending_mut(&mut self) -> Option<&mut Pending> {
        match &mut self.state {
            State::Pending(pending) => Some(pending),
            _ => None,
        }
    }
}

pub(super) enum State {
    Pending(Pending),
    /// Becomes what another promise becomes.
    Following(Id),
    /// Marks are made when a part of a long value is asked for.
    Fulfilled(Payload, Option<Box<Marks>>),
    Broken(Reason),
}

impl Default for State {
    fn default() -> Self {
        Self::Pending(Pending::default())
    }
}

/// What waits for a promise. For most it is one listener, for which nothing is allocated.
#[derive(Default)]
pub(super) struct Pending {
    pub first: Option<Listener>,
    more: Option<Box<More>>,
}

#[derive(Default)]
struct More {
    /// Those after the first.
    listeners: Vec<Listener>,
    /// Messages that wait for a local promise. Those to remote ones are sent at once.
    queue: Vec<Queued>,
    /// The number of those that are not from a peer.
    own: usize,
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.first.is_none() && self.queued() == 0
    }

    pub fn queued(&self) -> usize {
        self.more.as_ref().map_or(0, |more| more.queue.len())
    }

    /// The number of messages that wait and are not from a peer.
    pub fn own(&self) -> usize {
        self.more.as_ref().map_or(0, |more| more.own)
    }

    pub fn messages(&self) -> impl Iterator<Item = &Queued> {
        self.more.iter().flat_map(|more| &more.queue)
    }

    pub fn enqueue(&mut self, message: Queued) {
        let more = self.more.get_or_insert_default();
        more.own += usize::from(message.origin.is_none());
        more.queue.push(message);
    }

    /// The number of listeners.
    pub fn listeners(&self) -> usize {
        let others = self.more.as_ref().map_or(0, |more| more.listeners.len());
        usize::from(self.first.is_some()) + others
    }

    pub fn listen(&mut self, listener: Listener) {
        match self.first {
            None => self.first = Some(listener),
            Some(_) => self.more.get_or_insert_default().listeners.push(listener),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Listener> {
        let others = self.more.iter().flat_map(|more| &more.listeners);
        self.first.iter().chain(others)
    }

    /// Whether nothing waits except the first listener, if there is one.
    pub const fn is_simple(&self) -> bool {
        self.more.is_none()
    }

    /// The listeners and the messages, each in their order.
    pub fn into_parts(self) -> (impl DoubleEndedIterator<Item = Listener>, Vec<Queued>) {
        let more = self.more.map_or_else(More::default, |more| *more);
        (self.first.into_iter().chain(more.listeners), more.queue)
    }

    /// Removes the listeners for which this holds.
    pub fn extract(&mut self, mut holds: impl FnMut(&Listener) -> bool) -> Vec<Listener> {
        let mut extracted = Vec::new();
        let others = self.more.as_mut();
        let others = others.map_or_else(Vec::new, |more| core::mem::take(&mut more.listeners));
        for listener in self.first.take().into_iter().chain(others) {
            if holds(&listener) {
                extracted.push(listener);
            } else {
                self.listen(listener);
            }
        }
        extracted
    }
}

pub(super) struct Queued {
    pub payload: Payload,
    pub result: Option<Id>,
    pub origin: Option<Id>,
}

impl Queued {
    /// The memory that it uses.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.payload.size()
    }
}

/// Who is notified when a promise settles.
pub(super) enum Listener {
    /// The caller, under the handle with which it listened.
    Caller(Id),
    /// A resolver of a peer: the object at this position, with one reference.
    Wire { session: Id, resolver: u64 },
    /// A promise for a part of the value.
    Part { of: Box<Part>, into: Id },
}

impl Node {
    pub fn new(kind: Kind) -> Self {
        Self {
            refs: 0,
            handles: 0,
            kind,
        }
    }

    pub fn promise(&self) -> Option<&Promise> {
        match &self.kind {
            Kind::Promise(promise) => Some(promise),
            Kind::Remote { promise, .. } => promise.as_deref(),
            _ => None,
        }
    }

    pub fn promise_mut(&mut self) -> Option<&mut Promise> {
        match &mut self.kind {
            Kind::Promise(promise) => Some(promise),
            Kind::Remote { promise, .. } => promise.as_deref_mut(),
            _ => None,
        }
    }

    /// Whether anything refers to the node or waits for it.
    pub fn is_observed(&self) -> bool {
        let waits = |pending: &Pending| !pending.is_empty();
        let pending = self.promise().and_then(Promise::pending);
        self.refs > 0 || self.handles > 0 || pending.is_some_and(waits)
    }

    /// Whether this is a promise that has not settled and follows no other.
    pub fn is_pending(&self) -> bool {
        self.promise().and_then(Promise::pending).is_some()
    }
}
