//! Counting references, and freeing what nothing refers to.
use alloc::boxed::Box;

use super::connection::Phase;
use super::node::{Kind, Listener, Node, Outcome, Promise, Remote, State};
use super::outbound::BATCH;
use super::payload::{Payload, Ref};
use super::slab::Id;
use super::vat::{Event, Vat, Work};
use crate::captp::Target;

impl Vat {
    pub(super) fn retain(&mut self, id: Id) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.refs += 1;
        }
    }

    /// Drops a reference of a table, queue or value. The node is freed by the next [`run`](Self::run).
    pub(super) fn release(&mut self, id: Id) {
        if let Some(node) = self.nodes.get_mut(id) {
            debug_assert!(node.refs > 0);
            node.refs = node.refs.saturating_sub(1);
            if node.refs == 0 && node.handles == 0 {
                self.unreferenced.push(id);
            }
        }
    }

    /// Drops a handle of the caller.
    pub(super) fn drop_handle(&mut self, id: Id) {
        let Some(node) = self.nodes.get_mut(id) else {
            return;
        };
        if node.handles == 0 {
            return;
        }
        node.handles -= 1;
        if node.handles > 0 {
            return;
        }
        // The caller cannot be notified about a handle that it does not have, so that it need not be kept for that.
        if let Some(pending) = node.promise_mut().and_then(Promise::pending_mut) {
            let is_caller =
                |listener: &Listener| matches!(listener, Listener::Caller(by) if *by == id);
            pending.extract(is_caller);
        }
        if node.refs == 0 {
            self.unreferenced.push(id);
        } else if let Some(promise) = node.promise() {
            // A circle may be all that is left of what refers to it.
            let size = size_of::<Node>() + size_of::<Promise>() + promise.size();
            self.suspected = self.suspected.saturating_add(size);
        }
    }

    /// A copy of a payload of the caller that holds its references.
    pub(super) fn retained(&mut self, payload: &Payload) -> Payload {
        for reference in payload.refs() {
            self.retain(reference.0);
        }
        self.spare.copy(payload)
    }

    pub(super) fn release_payload(&mut self, payload: Payload) {
        for reference in payload.refs() {
            self.release(reference.0);
        }
        self.spare.put(payload);
    }

    pub(super) fn release_outcome(&mut self, outcome: Outcome) {
        self.release_payload(outcome.unwrap_or_else(|reason| reason.value));
    }

    /// Turns the references of a payload into handles of the caller.
    pub(super) fn hand_over(&mut self, payload: &Payload) {
        for reference in payload.refs() {
            if let Some(node) = self.nodes.get_mut(reference.0) {
                node.handles += 1;
                node.refs -= 1;
            }
        }
    }

    /// Counts more bytes of a promise's value for the session that keeps it. The session ends if it has too many.
    pub(super) fn charge(&mut self, id: Id, more: usize) {
        let keeper = self.nodes.get(id).and_then(|node| node.promise()?.kept_for);
        let Some(keeper) = keeper else {
            return;
        };
        let Some(session) = self.sessions.get_mut(keeper) else {
            return;
        };
        session.values += more;
        if session.values > self.config.limits.values {
            self.end(keeper, "too many bytes in values", true);
        }
    }

    /// Counts the value of a promise, now or when it settles, for a session, unless it counts for another one. It counts
    /// until it is freed: other values may keep it when its peer cannot refer to it any more.
    pub(super) fn keep_for(&mut self, session: Id, id: Id) {
        let keeper = self.nodes.get(id).and_then(|node| node.promise()?.kept_for);
        if keeper.is_some_and(|keeper| self.is_active(keeper)) {
            return;
        }
        if let Some(promise) = self.nodes.get_mut(id).and_then(Node::promise_mut) {
            promise.kept_for = Some(session);
            let size = promise.size();
            self.charge(id, size);
        }
    }

    /// A value of this size, which counted for this session, is freed.
    pub(super) fn discharge(&mut self, keeper: Option<Id>, size: usize) {
        if let Some(session) = keeper.and_then(|keeper| self.sessions.get_mut(keeper)) {
            debug_assert!(session.values >= size);
            session.values = session.values.saturating_sub(size);
        }
    }

    /// Frees the node if nothing refers to it. A promise that somebody waits for is kept until it settles.
    pub(super) fn collect(&mut self, id: Id) {
        if self.nodes.get(id).is_none_or(Node::is_observed) {
            return;
        }
        let Some(node) = self.nodes.remove(id) else {
            return;
        };
        match node.kind {
            Kind::Object => self.events.push_back(Event::Dropped(Ref(id))),
            Kind::Bootstrap => {}
            Kind::Promise(promise) => self.release_promise(promise),
            Kind::Resolver(promise) => self.drop_resolver(promise),
            Kind::Remote { remote, promise } => {
                if let Some(promise) = promise {
                    self.release_promise(promise);
                }
                self.forget(remote);
            }
        }
    }

    /// Breaks the promise, whose resolver nothing refers to any more, unless it has settled.
    pub(super) fn drop_resolver(&mut self, promise: Id) {
        if self.nodes.get(promise).is_some_and(Node::is_pending) {
            let outcome = Err("the resolver was dropped".into());
            self.work.push(Work::Settle { promise, outcome });
        }
    }

    /// Removes a remote party, to which nothing refers any more, from the tables of its session.
    fn forget(&mut self, remote: Remote) {
        if let Some(session) = self.sessions.get_mut(remote.session)
            && session.phase == Phase::Active
        {
            match remote.target() {
                // The bootstrap object is not counted.
                Target::Export(_) if remote.received == 0 => return,
                Target::Export(position) => session.imports.remove(position),
                Target::Answer(position) => session.questions.remove(position),
            };
            self.return_reference(remote.session, remote.target(), remote.received);
        }
    }

    /// Queues the message that nothing refers to this party any more, with the number of references received.
    pub(super) fn return_reference(&mut self, id: Id, target: Target, received: u64) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if session.phase != Phase::Active {
            return;
        }
        match target {
            Target::Export(position) => session.gc_exports.push((position, received)),
            Target::Answer(position) => session.gc_answers.push(position),
        }
        if session.gc_exports.len() + session.gc_answers.len() >= BATCH {
            self.return_references(id);
        } else {
            self.announce(id);
        }
    }

    fn release_promise(&mut self, mut promise: Box<Promise>) {
        self.discharge(promise.kept_for, promise.size());
        match core::mem::take(&mut *promise).state {
            State::Pending(_) => {}
            State::Following(other) => self.release(other),
            State::Fulfilled(payload, _) => self.release_payload(payload),
            State::Broken(reason) => self.release_payload(reason.value),
        }
        self.spare.put_promise(promise);
    }

    /// Drops a listener that will not be notified.
    pub(super) fn drop_listener(&mut self, listener: &Listener) {
        match listener {
            // The references to resolvers of peers ended with their session.
            Listener::Caller(_) | Listener::Wire { .. } => {}
            Listener::Part { into, .. } => self.release(*into),
        }
    }
}
