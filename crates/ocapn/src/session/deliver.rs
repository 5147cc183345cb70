//! Messages to local objects and promises, and the settling of promises.
//!
//! What follows from a message is a stack of work instead of recursion, because a peer decides how long a chain of
//! promises is. Each step puts what it causes on top, in order: this gives the order of a recursive implementation.
use alloc::{format, vec::Vec};
use core::ops::Range;

use super::connection::Connection;
use super::node::{
    Kind, Listener, MUCH_TO_SEND, NOT_AN_OBJECT, Node, Outcome, Promise, Queued, Reason, State,
    outcome, payload_of,
};
use super::payload::{Payload, Ref};
use super::slab::Id;
use super::table::Table;
use super::vat::{Event, Vat, Work};
use crate::captp::{Codec as _, Deliver, Syrup};

impl Vat {
    /// Does all work.
    #[inline]
    pub(super) fn run(&mut self) {
        if !self.work.is_empty() || !self.unreferenced.is_empty() || self.has_suspects() {
            self.work_off();
        }
    }

    #[inline(never)]
    fn work_off(&mut self) {
        loop {
            if let Some(work) = self.work.pop() {
                match work {
                    Work::Deliver {
                        target,
                        payload,
                        result,
                        origin,
                    } => self.deliver(target, payload, result, origin),
                    Work::Settle { promise, outcome } => self.settle(promise, outcome),
                    Work::Notify { listener, promise } => {
                        self.notify(listener, promise);
                        self.release(promise);
                    }
                    Work::Hello { session } => self.resume_hello(session),
                }
            } else if let Some(id) = self.unreferenced.pop() {
                self.collect(id);
            } else if self.has_suspects() {
                self.break_circles();
            } else {
                return;
            }
        }
    }

    /// Settles the result of a message, and drops the reference to it.
    pub(super) fn finish(&mut self, result: Option<Id>, outcome: Outcome) {
        match result {
            Some(promise) => {
                self.work.push(Work::Settle { promise, outcome });
                self.release(promise);
            }
            None => self.release_outcome(outcome),
        }
    }

    pub(super) fn refuse(&mut self, result: Option<Id>, reason: impl Into<Reason>) {
        self.finish(result, Err(reason.into()));
    }

    pub(super) fn deliver(
        &mut self,
        target: Id,
        mut payload: Payload,
        result: Option<Id>,
        origin: Option<Id>,
    ) {
        let target = self.follow(target);
        let Some(node) = self.nodes.get_mut(target) else {
            self.release_payload(payload);
            return self.refuse(result, "no such object");
        };
        match &mut node.kind {
            Kind::Object => {
                self.hand_over(&payload);
                let reply = result.map(|promise| {
                    let resolver = self.nodes.insert(Node::new(Kind::Resolver(promise)));
                    self.release(promise);
                    self.handle(resolver)
                });
                self.events.push_back(Event::Call {
                    object: Ref(target),
                    arguments: payload,
                    reply,
                    from: origin.map(Connection),
                });
            }
            Kind::Bootstrap => self.bootstrap_call(payload, result, origin),
            Kind::Resolver(promise) => {
                let promise = *promise;
                let Some((is_fulfilled, range)) = settlement(&payload.data) else {
                    self.release_payload(payload);
                    return self.refuse(result, "expected `fulfill value` or `break reason`");
                };
                payload.reduce(range);
                if result.is_some() {
                    self.finish(result, Ok(Payload::list(|_| {})));
                }
                let outcome = outcome(is_fulfilled, payload);
                self.work.push(Work::Settle { promise, outcome });
            }
            Kind::Promise(promise) => match &promise.state {
                State::Pending(pending) => {
                    let full = origin.is_none() && pending.own() >= self.config.limits.queue;
                    self.enqueue(
                        target,
                        full,
                        Queued {
                            payload,
                            result,
                            origin,
                        },
                    );
                }
                // `follow` has passed promises for references.
                State::Broken(_) | State::Following(_) | State::Fulfilled(..) => {
                    self.release_payload(payload);
                    let reason = self.refusal(target);
                    self.refuse(result, reason);
                }
            },
            Kind::Remote { remote, .. } => {
                let waiting = self.sessions.get(remote.session);
                let waiting = waiting.map_or(0, |session| session.out.len());
                if let Some(origin) = origin
                    && !self.config.limits.allow_message_after(waiting)
                {
                    self.release_payload(payload);
                    if result.is_none() {
                        // Nothing else would report that the message is lost.
                        return self.end(origin, MUCH_TO_SEND, true);
                    }
                    return self.refuse(result, Reason::limit(MUCH_TO_SEND));
                }
                let sent = match result {
                    Some(_) => self
                        .send_remote(target, &payload)
                        .map(|sent| sent.map(Some)),
                    None => self
                        .send_remote_only(target, &payload)
                        .map(|sent| sent.map(|()| None)),
                };
                self.release_payload(payload);
                match sent {
                    Some(Ok(Some(question))) => {
                        self.retain(question);
                        if let Some(origin) = origin {
                            self.keep_for(origin, question);
                        }
                        let outcome = Ok(Payload::reference(Ref(question)));
                        self.finish(result, outcome);
                    }
                    Some(Ok(None)) => {}
                    Some(Err(reason)) => self.refuse(result, reason),
                    // Only settled promises of remote parties are not sent to.
                    None => {
                        let reason = self.refusal(target);
                        self.refuse(result, reason);
                    }
                }
            }
        }
    }

    /// Why a message to a settled promise fails.
    fn refusal(&mut self, promise: Id) -> Reason {
        let promise = self.nodes.get(promise).and_then(Node::promise);
        let reason = match promise.map(|promise| &promise.state) {
            Some(State::Broken(reason)) => reason.clone(),
            _ => NOT_AN_OBJECT.into(),
        };
        for reference in reason.value.refs() {
            self.retain(reference.0);
        }
        reason
    }

    fn enqueue(&mut self, promise: Id, full: bool, message: Queued) {
        let mut refused = full;
        if let Some(session) = message
            .origin
            .and_then(|origin| self.sessions.get_mut(origin))
        {
            let bytes = message.size();
            refused |= session.queued + bytes > self.config.limits.queue_bytes;
            if !refused {
                session.queued += bytes;
            }
        }
        if refused {
            self.release_payload(message.payload);
            let reason = Reason::limit("too many messages wait for this promise");
            self.refuse(message.result, reason);
            if let Some(origin) = message.origin {
                self.end(origin, "too many messages wait for a promise", true);
            }
            return;
        }
        let promise = self.nodes.get_mut(promise).and_then(Node::promise_mut);
        if let Some(pending) = promise.and_then(Promise::pending_mut) {
            pending.enqueue(message);
        }
    }

    /// Where a message to `id` goes: past local promises that follow others. Remote promises are not passed, since
    /// messages sent to them before may still be on their way.
    pub(super) fn follow(&mut self, id: Id) -> Id {
        self.walk(id, false)
    }

    /// What a promise has become so far: the last promise that it follows, or the object.
    pub(super) fn settled_as(&self, id: Id) -> Id {
        self.end_of(id, true)
    }

    pub(super) fn next_of(&self, id: Id, remote: bool) -> Option<Id> {
        let node = self.nodes.get(id)?;
        if let Kind::Remote { remote: at, .. } = &node.kind
            && !remote
            && self.is_active(at.session)
        {
            return None;
        }
        match &node.promise()?.state {
            State::Following(other) => Some(*other),
            State::Fulfilled(value, _) => value.as_reference().map(|reference| reference.0),
            _ => None,
        }
    }

    pub(super) fn end_of(&self, mut id: Id, remote: bool) -> Id {
        while let Some(next) = self.next_of(id, remote) {
            id = next;
        }
        id
    }

    /// Like [`end_of`](Self::end_of), and makes the promises on the way follow the end, so that the next walk is short.
    fn walk(&mut self, id: Id, remote: bool) -> Id {
        let Some(next) = self.next_of(id, remote) else {
            return id;
        };
        let end = self.end_of(next, remote);
        let mut at = id;
        while let Some(next) = self.next_of(at, remote) {
            if next != end {
                let state = self.nodes.get_mut(at).and_then(Node::promise_mut);
                if let Some(promise) = state
                    && let State::Following(other) = &mut promise.state
                {
                    *other = end;
                    self.retain(end);
                    self.release(next);
                }
            }
            at = next;
        }
        end
    }

    /// Like [`settled_as`](Self::settled_as), and makes the remote promises on the way follow the end, so that the next
    /// walk is short. A local promise keeps what it follows: messages to it must not bypass a remote one.
    pub(super) fn settled_end(&mut self, id: Id) -> Id {
        if self.nodes.get(id).is_some_and(Node::is_pending) {
            return id;
        }
        let start = self.follow(id);
        let Some(next) = self.next_of(start, true) else {
            return start;
        };
        let end = self.end_of(next, true);
        let mut at = start;
        while let Some(next) = self.next_of(at, true) {
            let active = match self.nodes.get(at).map(|node| &node.kind) {
                Some(Kind::Remote { remote, .. }) => self.is_active(remote.session),
                _ => false,
            };
            let state = self.nodes.get_mut(at).and_then(Node::promise_mut);
            if active
                && next != end
                && let Some(promise) = state
                && let State::Following(other) = &mut promise.state
            {
                *other = end;
                self.retain(end);
                self.release(next);
            }
            at = next;
        }
        end
    }

    /// A copy of the outcome of a promise, if it has settled as data or broken.
    pub(super) fn settled(&mut self, id: Id) -> Option<Outcome> {
        let outcome = self.nodes.get(id)?.promise()?.outcome()?;
        let outcome = match outcome {
            Ok(value) => Ok(self.spare.copy(value)),
            Err(reason) => Err(reason.clone()),
        };
        for reference in payload_of(&outcome).refs() {
            self.retain(reference.0);
        }
        Some(outcome)
    }

    pub(super) fn settle(&mut self, id: Id, mut outcome: Outcome) {
        let Some(node) = self.nodes.get(id).filter(|node| node.is_pending()) else {
            return self.release_outcome(outcome);
        };
        if !node.is_observed() {
            // Nobody will know what it became.
            self.release_outcome(outcome);
            return self.unreferenced.push(id);
        }
        self.suspect(&outcome);
        // A promise fulfilled with a promise follows it, or takes over what that has become.
        let mut following = None;
        if let Some(reference) = outcome.as_ref().ok().and_then(Payload::as_reference) {
            let end = self.settled_end(reference.0);
            if end == id {
                self.release_outcome(outcome);
                outcome = Err("the promise was fulfilled with itself".into());
            } else if self
                .nodes
                .get(end)
                .is_some_and(|node| node.promise().is_some())
            {
                match self.settled(end) {
                    Some(settled) => {
                        self.release_outcome(outcome);
                        outcome = settled;
                    }
                    // Messages that wait must go where earlier ones went, hence not to the end.
                    None => following = Some(reference.0),
                }
            }
        }
        let state = match (outcome, following) {
            (_, Some(other)) => State::Following(other),
            (Ok(value), None) => State::Fulfilled(value, None),
            (Err(reason), None) => State::Broken(reason),
        };
        let Some(promise) = self.nodes.get_mut(id).and_then(Node::promise_mut) else {
            return;
        };
        let State::Pending(pending) = core::mem::replace(&mut promise.state, state) else {
            return;
        };
        let size = promise.size();
        self.charge(id, size);
        if following.is_none() && pending.is_simple() {
            // The same as below, without the stack.
            if let Some(listener) = pending.first {
                self.forget_listener(id, &listener);
                self.notify(listener, id);
            }
            if !self.nodes.get(id).is_some_and(Node::is_observed) {
                self.unreferenced.push(id);
            }
            return;
        }
        for listener in pending.iter() {
            self.forget_listener(id, listener);
        }
        let (listeners, queue) = pending.into_parts();
        if let Some(other) = following {
            for listener in listeners {
                match listener {
                    // A peer may be asked for the part now.
                    Listener::Part { of, into } => match self.ask_part(other, &of) {
                        Some(question) => {
                            let part = self.as_payload(question);
                            self.finish(Some(into), Ok(part));
                        }
                        None => self.subscribe(other, Listener::Part { of, into }),
                    },
                    listener => self.subscribe(other, listener),
                }
            }
        } else {
            // Listeners are notified after the messages that waited, so they are below them on the stack.
            for listener in listeners.rev() {
                self.notify_later(listener, id);
            }
        }
        for message in queue.into_iter().rev() {
            let bytes = message.size();
            if let Some(session) = message
                .origin
                .and_then(|origin| self.sessions.get_mut(origin))
            {
                session.queued -= bytes;
            }
            self.work.push(Work::Deliver {
                target: id,
                payload: message.payload,
                result: message.result,
                origin: message.origin,
            });
        }
        // What waited for it may have been all that kept it.
        self.unreferenced.push(id);
    }

    /// Notifies `listener` when the promise has settled.
    pub(super) fn subscribe(&mut self, id: Id, listener: Listener) {
        let end = self.settled_end(id);
        let Some(node) = self.nodes.get(end) else {
            return self.notify_broken(listener, "no such object");
        };
        if node.promise().is_none() {
            // Like a promise for the object.
            let promise = self.new_promise();
            let outcome = Ok(self.as_payload(end));
            self.notify_later(listener, promise);
            return self.settle(promise, outcome);
        }
        let silent = match &node.kind {
            Kind::Remote { remote, .. } if !remote.listening => Some(*remote),
            _ => None,
        };
        if node.promise().is_some_and(Promise::is_settled) {
            return self.notify_later(listener, end);
        }
        if let Some(remote) = silent
            && let Err(reason) = self.send_listen(end, remote)
        {
            return self.notify_broken(listener, reason);
        }
        let limits = &self.config.limits;
        let most = limits.listeners;
        let mut full = false;
        if let Listener::Wire { session, .. } = &listener {
            let listened = self.sessions.get_mut(*session);
            if let Some(session) = listened {
                full = session.listeners >= limits.session_listeners;
            }
        }
        let promise = self.nodes.get_mut(end).and_then(Node::promise_mut);
        let Some(pending) = promise.and_then(Promise::pending_mut) else {
            return;
        };
        if full || pending.listeners() >= most {
            let reason = Reason::limit(&format!("more than {most} listeners"));
            return self.notify_broken(listener, reason);
        }
        if let Listener::Wire { session, .. } = &listener
            && let Some(session) = self.sessions.get_mut(*session)
        {
            match session.listens.get_mut(end.index.into()) {
                Some((_, count)) => *count += 1,
                None => session.listens.insert(end.index.into(), (end, 1)),
            }
            session.listeners += 1;
        }
        pending.listen(listener);
    }

    /// A listener of a peer on this promise no longer counts.
    fn forget_listener(&mut self, promise: Id, listener: &Listener) {
        if let Listener::Wire { session, .. } = listener
            && let Some(session) = self.sessions.get_mut(*session)
            && let Some((_, count)) = session.listens.get_mut(promise.index.into())
        {
            *count -= 1;
            if *count == 0 {
                session.listens.remove(promise.index.into());
            }
            session.listeners -= 1;
        }
    }

    fn notify_later(&mut self, listener: Listener, promise: Id) {
        self.retain(promise);
        self.work.push(Work::Notify { listener, promise });
    }

    fn notify_broken(&mut self, listener: Listener, reason: impl Into<Reason>) {
        let promise = self.broken(reason);
        self.notify_later(listener, promise);
    }

    fn notify(&mut self, listener: Listener, promise: Id) {
        match listener {
            Listener::Caller(id) => {
                if let Some(outcome) = self.settled(promise) {
                    self.hand_over(payload_of(&outcome));
                    self.events.push_back(Event::Settled {
                        promise: Ref(id),
                        outcome,
                    });
                }
            }
            Listener::Wire { session, resolver } => {
                self.send_settlement(session, resolver, promise);
            }
            Listener::Part { of, into } => {
                if let Some(part) = self.settled_part(promise, &of) {
                    self.finish(Some(into), part);
                }
            }
        }
    }

    /// Removes the listeners of a session that ended.
    pub(super) fn drop_listeners(&mut self, session: Id, listens: Table<(Id, usize)>) {
        for (_, (id, _)) in listens.into_entries() {
            let promise = self.nodes.get_mut(id).and_then(Node::promise_mut);
            let Some(pending) = promise.and_then(Promise::pending_mut) else {
                continue;
            };
            let is_theirs = |listener: &Listener| match listener {
                Listener::Wire { session: other, .. } => *other == session,
                _ => false,
            };
            let dropped: Vec<Listener> = pending.extract(is_theirs);
            dropped
                .iter()
                .for_each(|listener| self.drop_listener(listener));
            self.unreferenced.push(id);
        }
    }
}

/// Returns whether the arguments of a resolver fulfil its promise, and the range of the value or reason; `None` for
/// other arguments.
fn settlement(arguments: &[u8]) -> Option<(bool, Range<usize>)> {
    let mut reader = Syrup::reader(arguments);
    let (is_fulfilled, value) = Deliver::read_outcome(&mut reader)?;
    // Before the end of the list, which is one byte.
    let end = reader.offset() - 1;
    Some((is_fulfilled, end - value.len()..end))
}
