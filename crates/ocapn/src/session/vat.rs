//! The vat: its state, and what the caller does with references.
use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

use lydite_hash::sha256;

use super::config::Config;
use super::connection::{Connection, Dialing, Output, PeerKey, Phase, Session};
use super::data::Shared;
use super::entropy::Entropy;
use super::node::{Kind, Listener, MUCH_TO_SEND, NOT_AN_OBJECT, Node, Outcome, Reason, State};
use super::part::Part;
use super::payload::{Payload, Ref};
use super::slab::{Id, Slab};
use super::spare::Spare;
use crate::captp::{SecretKey, Sturdyref, Target};

/// What happened. References in payloads are handles that the caller owns: release them with
/// [`Vat::drop_payload`].
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A message for an object of the caller.
    Call {
        /// The object. This is not a new handle.
        object: Ref,
        /// A list.
        arguments: Payload,
        /// The resolver of the result, for [`resolve`](Vat::resolve): a handle that the caller owns. If it is dropped
        /// before, the result breaks. `None` if the sender does not wait for a result.
        reply: Option<Ref>,
        /// The session of the peer that sent it, or `None` for messages of the caller.
        from: Option<Connection>,
    },
    /// A promise settled on which the caller listens.
    Settled {
        /// The handle with which it listened. This is not a new handle.
        promise: Ref,
        /// What became of it.
        outcome: Outcome,
    },
    /// The session of a [`watched`](Vat::watch) reference ended.
    Broken(Ref),
    /// Nobody refers to this object of the caller any more. The handle is stale.
    Dropped(Ref),
    /// A session became active.
    Up(Connection),
    /// A connection ended, for this reason.
    Down(Connection, alloc::string::String),
}

/// The sizes of a vat's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Objects and promises, including the bootstrap object.
    pub nodes: usize,
    /// Connections.
    pub connections: usize,
    /// Exports in all sessions.
    pub exports: usize,
    /// Imports in all sessions.
    pub imports: usize,
    /// Questions in all sessions: answers of peers that are still referred to.
    pub questions: usize,
    /// Answers in all sessions that peers may refer to.
    pub answers: usize,
    /// Gifts, and withdrawals that wait for one.
    pub gifts: usize,
    /// Connections being opened.
    pub dials: usize,
    /// Bytes of messages that wait on promises.
    pub queued: usize,
    /// Bytes that wait to be sent.
    pub outbound: usize,
}

/// All sessions of one participant. See the [module](super).
pub struct Vat {
    pub(super) config: Config,
    pub(super) entropy: Entropy,
    pub(super) now: u64,
    pub(super) nodes: Slab<Node>,
    pub(super) bootstrap: Id,
    pub(super) sessions: Slab<Session>,
    pub(super) dials: Slab<Dialing>,
    /// Active sessions that may be found under their location.
    pub(super) peers: BTreeMap<PeerKey, Id>,
    pub(super) dialing: BTreeMap<PeerKey, Id>,
    /// Connections whose hello waits for the end of the session with their peer.
    pub(super) parked: BTreeMap<PeerKey, Id>,
    /// Active sessions by session id.
    pub(super) session_ids: BTreeMap<[u8; 32], Id>,
    /// By the hash of the swiss number, so that a lookup does not reveal how much of a guess matches.
    pub(super) published: BTreeMap<[u8; 32], Id>,
    pub(super) gifts: BTreeMap<GiftKey, Gift>,
    pub(super) outputs: VecDeque<Output>,
    pub(super) events: VecDeque<Event>,
    /// What to do next is last.
    pub(super) work: Vec<Work>,
    pub(super) spare: Spare,
    /// The memory of a long message that is being read.
    pub(super) reading: Option<Shared>,
    /// The exports of a message that is being written.
    pub(super) exported: Vec<u64>,
    /// Nodes to which nothing may refer any more.
    pub(super) unreferenced: Vec<Id>,
    /// Memory of settled promises that may have closed circles since they were last searched for.
    pub(super) suspected: usize,
    /// Accepted connections, oldest first, of which some may have said hello.
    pub(super) unidentified: VecDeque<Id>,
    /// What happens at which time.
    pub(super) timers: BTreeSet<(u64, Timer)>,
}

/// The queue in front of a message: bytes to be sent, or messages of the caller that wait for a promise.
enum Waiting {
    Bytes(usize),
    Messages(usize),
}

/// What has a deadline.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Session(Id),
    Dial(Id),
    Gift(GiftKey),
}

/// A step that the vat takes before it returns to the caller.
pub(super) enum Work {
    /// Delivers a message; holds its references and its result.
    Deliver {
        target: Id,
        payload: Payload,
        result: Option<Id>,
        /// The session from which it came.
        origin: Option<Id>,
    },
    /// Settles a promise; holds the references of the outcome.
    Settle { promise: Id, outcome: Outcome },
    /// Notifies a listener of what the promise has become; holds the promise. The value is copied only now, so that
    /// many listeners do not need many copies at a time.
    Notify { listener: Listener, promise: Id },
    /// Processes a hello that waited.
    Hello { session: Id },
}

/// The gifter's session, and the gift's id there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GiftKey {
    pub session: [u8; 32],
    pub gift: Vec<u8>,
}

pub(super) struct Gift {
    pub state: GiftState,
    pub deadline: u64,
}

pub(super) enum GiftState {
    /// By this session.
    Deposited { node: Id, gifter: Id },
    /// The promise for it, and the session of the receiver.
    Awaited { promise: Id, receiver: Id },
}

impl Vat {
    /// Creates a vat without sessions. `seed` must come from a good source of randomness and be used once: all session
    /// keys and gift ids derive from it.
    pub fn new(config: Config, seed: [u8; 32]) -> Self {
        let mut nodes = Slab::new();
        let mut bootstrap = Node::new(Kind::Bootstrap);
        bootstrap.refs = 1;
        Self {
            config,
            entropy: Entropy::new(seed),
            now: 0,
            bootstrap: nodes.insert(bootstrap),
            nodes,
            sessions: Slab::new(),
            dials: Slab::new(),
            peers: BTreeMap::new(),
            dialing: BTreeMap::new(),
            parked: BTreeMap::new(),
            session_ids: BTreeMap::new(),
            published: BTreeMap::new(),
            gifts: BTreeMap::new(),
            outputs: VecDeque::new(),
            events: VecDeque::new(),
            work: Vec::new(),
            spare: Spare::default(),
            reading: None,
            exported: Vec::new(),
            unreferenced: Vec::new(),
            suspected: 0,
            unidentified: VecDeque::new(),
            timers: BTreeSet::new(),
        }
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether there is an event.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// What to do next.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The sizes of all tables.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            nodes: self.nodes.len(),
            connections: self.sessions.len(),
            gifts: self.gifts.len(),
            dials: self.dials.len(),
            ..Stats::default()
        };
        for session in self
            .sessions
            .ids()
            .into_iter()
            .filter_map(|id| self.sessions.get(id))
        {
            stats.exports += session.exports.len();
            stats.imports += session.imports.len();
            stats.questions += session.questions.len();
            stats.answers += session.answers.len();
            stats.queued += session.queued;
            stats.outbound += session.out.len();
        }
        stats
    }

    /// Creates an object. Messages to it are [`Event::Call`]s.
    pub fn object(&mut self) -> Ref {
        let id = self.nodes.insert(Node::new(Kind::Object));
        self.handle(id)
    }

    /// Creates a promise and its resolver. The resolver is an object that takes `['fulfill value]` or
    /// `['break reason]`, once. If it is dropped before, the promise breaks.
    pub fn promise(&mut self) -> (Ref, Ref) {
        let promise = self.new_promise();
        let resolver = self.nodes.insert(Node::new(Kind::Resolver(promise)));
        (self.handle(promise), self.handle(resolver))
    }

    /// Settles the promise of a resolver: one made by [`promise`](Self::promise), or the reply of a call. Ignored for
    /// other references and if the promise is settled already.
    pub fn resolve(&mut self, resolver: Ref, outcome: Result<&Payload, &Payload>) {
        let Some(Kind::Resolver(promise)) = self.nodes.get(resolver.0).map(|node| &node.kind)
        else {
            return;
        };
        let promise = *promise;
        let outcome = match outcome {
            Ok(value) => Ok(self.retained(value)),
            Err(reason) => Err(self.retained(reason).into()),
        };
        self.settle(promise, outcome);
        self.run();
    }

    /// Makes an object available to whoever knows the swiss number, which should be 32 random bytes. Replaces an
    /// earlier object with that number.
    pub fn publish(&mut self, swiss: &[u8], object: Ref) {
        if self.nodes.get(object.0).is_some() {
            self.retain(object.0);
            if let Some(before) = self.published.insert(sha256(swiss), object.0) {
                self.release(before);
            }
            self.run();
        }
    }

    /// Withdraws the object with this swiss number. References to it remain valid.
    pub fn unpublish(&mut self, swiss: &[u8]) {
        if let Some(object) = self.published.remove(&sha256(swiss)) {
            self.release(object);
            self.run();
        }
    }

    /// Sends a message and returns a promise for the result, to which messages can be sent at once. `arguments` must be
    /// a list; its handles stay with the caller.
    pub fn call(&mut self, target: Ref, arguments: &Payload) -> Ref {
        let sent = match self.admit(target.0) {
            Ok(()) => self.send_remote(target.0, arguments),
            Err(reason) => Some(Err(reason)),
        };
        let result = match sent {
            Some(Ok(question)) => question,
            Some(Err(reason)) => self.broken(reason),
            None => {
                let promise = self.new_promise();
                let payload = self.retained(arguments);
                self.retain(promise);
                self.work.push(Work::Deliver {
                    target: target.0,
                    payload,
                    result: Some(promise),
                    origin: None,
                });
                promise
            }
        };
        let handle = self.handle(result);
        self.run();
        handle
    }

    /// Sends a message whose result nobody needs. There is no sign whether it arrived.
    ///
    /// # Errors
    ///
    /// It was not sent, for this reason. The caller owns the handles in it.
    pub fn send(&mut self, target: Ref, arguments: &Payload) -> Result<(), Reason> {
        self.admit(target.0)?;
        let target = self.follow(target.0);
        let settled = self.outcome(Ref(target)).map(|outcome| match outcome {
            Ok(_) => NOT_AN_OBJECT.into(),
            Err(reason) => reason.clone(),
        });
        if let Some(reason) = settled {
            for reference in reason.value.refs() {
                self.handle(reference.0);
            }
            return Err(reason);
        }
        let sent = self.send_remote_only(target, arguments);
        if sent.is_none() {
            let payload = self.retained(arguments);
            self.work.push(Work::Deliver {
                target,
                payload,
                result: None,
                origin: None,
            });
        }
        self.run();
        sent.unwrap_or(Ok(()))
    }

    /// Checks that a message of the caller can wait, to be sent or for a promise. It leaves room for what cannot be
    /// refused, such as results.
    fn admit(&self, target: Id) -> Result<(), Reason> {
        let limits = &self.config.limits;
        match self.waiting(target) {
            Some(Waiting::Bytes(bytes)) if !limits.allow_message_after(bytes) => {
                Err(Reason::limit(MUCH_TO_SEND))
            }
            Some(Waiting::Messages(messages)) if messages >= limits.queue => {
                Err(Reason::limit("too many messages wait for this promise"))
            }
            _ => Ok(()),
        }
    }

    /// The queue in front of a message to `target`.
    fn waiting(&self, target: Id) -> Option<Waiting> {
        let node = self.nodes.get(self.end_of(target, false))?;
        match &node.kind {
            Kind::Remote { remote, .. } => {
                let session = self.sessions.get(remote.session)?;
                let active = session.phase == Phase::Active;
                active.then_some(Waiting::Bytes(session.out.len()))
            }
            Kind::Promise(promise) => Some(Waiting::Messages(promise.pending()?.own())),
            _ => None,
        }
    }

    /// A promise for a field of the struct that the promise is fulfilled with.
    pub fn get(&mut self, promise: Ref, field: &str) -> Ref {
        self.part_of(promise, Part::Field(field.into()))
    }

    /// A promise for an item of the list that the promise is fulfilled with. The first has index 0.
    pub fn index(&mut self, promise: Ref, index: u64) -> Ref {
        self.part_of(promise, Part::Item(index))
    }

    /// A promise for the contents of the tagged value that the promise is fulfilled with.
    pub fn untag(&mut self, promise: Ref, tag: &str) -> Ref {
        self.part_of(promise, Part::Tagged(tag.into()))
    }

    /// Requests one [`Event::Settled`] for a promise; for an object, it is reported as fulfilled with itself.
    pub fn listen(&mut self, promise: Ref) {
        if self.nodes.get(promise.0).is_some() {
            self.subscribe(promise.0, Listener::Caller(promise.0));
            self.run();
        }
    }

    /// Requests an [`Event::Broken`] when the session of the reference ends.
    pub fn watch(&mut self, reference: Ref) {
        let node = self.nodes.get_mut(reference.0);
        if let Some(Kind::Remote { remote, .. }) = node.map(|node| &mut node.kind) {
            remote.watched = true;
            let session = remote.session;
            if !self.is_active(session) {
                self.events.push_back(Event::Broken(reference));
            }
        }
    }

    /// Whether the reference is a promise, which may have settled.
    pub fn is_promise(&self, reference: Ref) -> bool {
        let node = self.nodes.get(reference.0);
        node.is_some_and(|node| node.promise().is_some())
    }

    /// The outcome of a promise that has settled. The handles in it are not new ones.
    pub fn outcome(&self, promise: Ref) -> Option<Result<&Payload, &Reason>> {
        let promise = self.nodes.get(self.settled_as(promise.0))?;
        promise.promise()?.outcome()
    }

    /// The connection through which messages to this reference are sent, and whom they address there. `None` for local
    /// ones, and for promises that have not settled.
    pub fn remote(&self, reference: Ref) -> Option<(Connection, Target)> {
        match &self.nodes.get(self.end_of(reference.0, false))?.kind {
            Kind::Remote { remote, .. } => Some((Connection(remote.session), remote.target())),
            _ => None,
        }
    }

    /// Whether the caller should wait before it sends more through this reference: many bytes wait to be sent to its
    /// peer, or half as many messages wait for the promise as may.
    pub fn is_congested(&self, reference: Ref) -> bool {
        let limits = &self.config.limits;
        match self.waiting(reference.0) {
            Some(Waiting::Bytes(bytes)) => bytes > limits.outbound_soft,
            Some(Waiting::Messages(messages)) => messages >= limits.queue.div_ceil(2),
            None => false,
        }
    }

    /// Makes another handle of the same reference.
    pub fn clone_ref(&mut self, reference: Ref) -> Ref {
        if self.nodes.get(reference.0).is_some() {
            self.handle(reference.0);
        }
        reference
    }

    /// Whether the caller has handles of this reference.
    pub fn is_held(&self, reference: Ref) -> bool {
        self.nodes
            .get(reference.0)
            .is_some_and(|node| node.handles > 0)
    }

    /// Releases a handle. A stale one is ignored.
    pub fn drop_ref(&mut self, reference: Ref) {
        self.drop_handle(reference.0);
        self.run();
    }

    /// Releases the handles in a payload that came with an event. Its memory is used for the payloads of further events.
    pub fn drop_payload(&mut self, payload: Payload) {
        for reference in payload.refs() {
            self.drop_handle(reference.0);
        }
        self.spare.put(payload);
        self.run();
    }

    /// A promise for the object that a sturdyref names. Uses the session with its peer or opens one.
    pub fn enliven(&mut self, sturdyref: &Sturdyref<'_>) -> Ref {
        let promise = self.find(&sturdyref.peer, Some(sturdyref.swiss), None);
        let handle = self.handle(promise);
        self.run();
        handle
    }

    /// A promise for the bootstrap object of a peer. Uses the session with it or opens one.
    pub fn connect(&mut self, peer: &crate::captp::Peer<'_>) -> Ref {
        let promise = self.find(peer, None, None);
        let handle = self.handle(promise);
        self.run();
        handle
    }

    /// Ends a session.
    pub fn abort(&mut self, connection: Connection, reason: &str) {
        self.end(connection.0, reason, true);
        self.run();
    }

    /// Ends all sessions, and the requests to open connections.
    pub fn abort_all(&mut self, reason: &str) {
        for id in self.sessions.ids() {
            self.end(id, reason, true);
        }
        // The end of one may be followed by another one with other hints.
        while let Some(id) = self.dials.ids().pop() {
            self.end_dial(id, reason);
        }
        self.run();
    }

    /// The time when a period from now ends.
    pub(super) const fn after(&self, period: u64) -> u64 {
        self.now.saturating_add(period)
    }

    pub(super) fn secret_key(&mut self) -> SecretKey {
        let mut seed = self.entropy.next();
        let key = SecretKey::from_bytes(&seed);
        zeroize::Zeroize::zeroize(&mut seed);
        key
    }

    /// Makes a handle for the caller.
    pub(super) fn handle(&mut self, id: Id) -> Ref {
        if let Some(node) = self.nodes.get_mut(id) {
            node.handles += 1;
        }
        Ref(id)
    }

    pub(super) fn new_promise(&mut self) -> Id {
        let promise = self.spare.promise();
        self.nodes.insert(Node::new(Kind::Promise(promise)))
    }

    /// A promise that is broken already.
    pub(super) fn broken(&mut self, reason: impl Into<Reason>) -> Id {
        let mut promise = self.spare.promise();
        promise.state = State::Broken(reason.into());
        self.nodes.insert(Node::new(Kind::Promise(promise)))
    }

    fn part_of(&mut self, promise: Ref, part: Part) -> Ref {
        let result = match self.admit(promise.0) {
            Ok(()) => self.part(promise.0, part),
            Err(reason) => self.broken(reason),
        };
        let handle = self.handle(result);
        self.run();
        handle
    }
}
