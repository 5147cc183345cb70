//! Opening and closing sessions.
use alloc::{
    boxed::Box,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::config::{Location, Proof};
use super::connection::{
    Connection, Dial, Dialing, Identity, Output, PeerKey, Phase, Session, Waiter,
};
use super::node::{Kind, Node, Reason, Remote};
use super::payload::Ref;
use super::receive::{Stop, decode};
use super::slab::Id;
use super::table::Table;
use super::vat::{Event, Timer, Vat, Work};
use crate::captp::{
    Crossed, Framing, Operation, Peer, StartSession, Syrup, Target, crossed_hellos, session_id,
};

impl Vat {
    /// Registers a connection that a peer opened to the own location with this index. `None`: there are too many
    /// connections, and this one should be closed.
    pub fn accepted(&mut self, location: usize, proof: Proof, now: u64) -> Option<Connection> {
        self.now = self.now.max(now);
        if self.sessions.len() >= self.config.limits.connections {
            return None;
        }
        let transport = &self.config.locations.get(location)?.transport;
        let framing = self.config.fixed_framing(transport);
        let key = self.secret_key();
        let session = Session::new(key, location, self.config.dialect, framing, proof);
        let id = self.sessions.insert(session);
        self.set_deadline(id, Some(self.after(self.config.limits.hello_time)));
        self.unidentified.push_back(id);
        while self.unidentified.len() > self.config.limits.unidentified {
            let Some(oldest) = self.unidentified.pop_front() else {
                break;
            };
            // Those that have said hello stay in the queue until here.
            if self.is_unidentified(oldest) {
                self.end(oldest, "too many connections without a hello", true);
            }
        }
        self.run();
        Some(Connection(id))
    }

    fn is_unidentified(&self, id: Id) -> bool {
        self.sessions
            .get(id)
            .is_some_and(|session| session.phase == Phase::Hello)
    }

    /// Registers a connection that was opened as requested. `None`: it is not needed any more and should be closed.
    pub fn dialed(&mut self, dial: Dial, proof: Proof, now: u64) -> Option<Connection> {
        self.now = self.now.max(now);
        let dialing = self.dials.get(dial.0)?;
        if dialing.connection.is_some() {
            return None;
        }
        if self.sessions.len() >= self.config.limits.connections {
            self.end_dial(dial.0, "too many connections");
            self.run();
            return None;
        }
        let transport = &dialing.location.transport;
        let locations = &self.config.locations;
        locations.first()?;
        let ours = locations
            .iter()
            .position(|ours| ours.transport == *transport);
        let (ours, framing, deadline) = (
            ours.unwrap_or(0),
            self.config
                .fixed_framing(transport)
                .unwrap_or(dialing.framing),
            dialing.deadline,
        );
        let key = self.secret_key();
        let mut session = Session::new(key, ours, self.config.dialect, Some(framing), proof);
        session.dial = Some(dial.0);
        let id = self.sessions.insert(session);
        self.set_deadline(id, Some(deadline));
        if let Some(dialing) = self.dials.get_mut(dial.0) {
            dialing.connection = Some(id);
        }
        if let Err(reason) = self.send_hello(id) {
            self.end(id, &reason, false);
        }
        self.run();
        Some(Connection(id))
    }

    /// Reports that a connection could not be opened. What waits for it breaks.
    pub fn dial_failed(&mut self, dial: Dial, reason: &str) {
        self.end_dial(dial.0, reason);
        self.run();
    }

    /// Reports that a connection is closed.
    pub fn closed(&mut self, connection: Connection, reason: &str) {
        self.end(connection.0, reason, false);
        self.set_deadline(connection.0, None);
        self.sessions.remove(connection.0);
        self.run();
    }

    /// Applies deadlines. Call it at [`deadline`](Self::deadline).
    pub fn tick(&mut self, now: u64) {
        self.now = self.now.max(now);
        while self.deadline().is_some_and(|deadline| deadline <= self.now) {
            match self.timers.pop_first() {
                Some((_, Timer::Session(id))) => self.session_expired(id),
                Some((_, Timer::Dial(id))) => {
                    let dial = self.dials.get(id);
                    let reason = dial.and_then(|dial| dial.refused.clone());
                    self.end_dial(id, reason.as_deref().unwrap_or("no connection in time"));
                }
                Some((_, Timer::Gift(key))) => {
                    self.drop_gift(&key, "the gift did not arrive in time");
                }
                None => break,
            }
        }
        self.run();
    }

    fn session_expired(&mut self, id: Id) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        session.deadline = None;
        match session.phase {
            Phase::Hello if session.parked.is_some() => self.refuse_duplicate(id),
            Phase::Hello => self.end(id, "no hello in time", true),
            Phase::Active => self.end(id, "message not complete in time", true),
            Phase::Closing => {
                self.sessions.remove(id);
            }
        }
    }

    /// When to call [`tick`](Self::tick), unless something else happens before.
    pub fn deadline(&self) -> Option<u64> {
        self.timers.first().map(|(deadline, _)| *deadline)
    }

    pub(super) fn set_deadline(&mut self, id: Id, deadline: Option<u64>) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let before = core::mem::replace(&mut session.deadline, deadline);
        if before == deadline {
            return;
        }
        if let Some(before) = before {
            self.timers.remove(&(before, Timer::Session(id)));
        }
        if let Some(deadline) = deadline {
            self.timers.insert((deadline, Timer::Session(id)));
        }
    }

    fn remove_dial(&mut self, id: Id) -> Option<Dialing> {
        let dialing = self.dials.remove(id)?;
        self.timers.remove(&(dialing.deadline, Timer::Dial(id)));
        self.dialing.remove(&dialing.location.key());
        Some(dialing)
    }

    fn send_hello(&mut self, id: Id) -> Result<(), String> {
        let session = self.sessions.get(id).ok_or("disconnected")?;
        let key = session.key.clone();
        let location = self.config.locations.get(session.location);
        let location = location.ok_or("disconnected")?.clone();
        let start = StartSession::sign::<Syrup>(&key, location.peer());
        let start = start.map_err(|error| error.kind.to_string())?;
        self.write(id, &Operation::StartSession(start))
            .map_err(|reason| reason.message().into())
    }

    /// Checks the peer's hello. The session is active if this succeeds.
    pub(super) fn hello(
        &mut self,
        id: Id,
        start: &StartSession<'_>,
        message: &[u8],
    ) -> Result<(), Stop> {
        if !self.config.limits.allow_location(&start.location) {
            return Err("location too long".into());
        }
        start
            .verify::<Syrup>()
            .map_err(|error| error.kind.to_string())?;
        let location = Location::from(&start.location);
        let peer_id = start.key.id::<Syrup>();
        let session = self.sessions.get(id).ok_or(Stop::Ended)?;
        let (our_id, dial) = (session.our_id, session.dial);
        let findable = !session.is_claimed || dial.is_some();
        let ours = &self.config.locations;
        if peer_id == our_id || ours.iter().any(|ours| ours.is_same(&location)) {
            return Err("the peer has our own key or location".into());
        }
        if !ours.iter().any(|ours| ours.transport == location.transport) {
            return Err(format!("unknown transport {}", location.transport).into());
        }
        let dialed = dial.and_then(|dial| Some(&self.dials.get(dial)?.location));
        let verified = session.verified.as_deref();
        for expected in dialed.into_iter().chain(verified) {
            if !expected.is_same(&location) {
                let (expected, found) = (&expected.designator, &location.designator);
                return Err(format!("expected the peer {expected}, found {found}").into());
            }
        }
        let key = location.key();
        if findable && dial.is_none() {
            self.resolve_crossed(&key, &peer_id)?;
            if self.peers.contains_key(&key) {
                return self.park(id, key, message);
            }
        }
        if dial.is_none() {
            self.send_hello(id)?;
        }
        let session_id = session_id(&our_id, &peer_id);
        let session = self.sessions.get_mut(id).ok_or(Stop::Ended)?;
        session.phase = Phase::Active;
        session.dial = None;
        session.findable = findable;
        session.verified = None;
        session.signatures = (self.config.limits.signatures, self.now);
        session.peer = Some(Identity {
            key: start.key,
            id: peer_id,
            session_id,
            location,
        });
        self.set_deadline(id, None);
        self.session_ids.insert(session_id, id);
        self.events.push_back(Event::Up(Connection(id)));
        if findable {
            self.peers.insert(key.clone(), id);
            // Those who wait for a connection that is being opened need it no more.
            if let Some(&dial) = self.dialing.get(&key)
                && let Some(dialing) = self.remove_dial(dial)
            {
                for (_, waiter) in dialing.waiters {
                    self.satisfy(id, waiter);
                }
            }
        }
        Ok(())
    }

    /// Lets a hello wait for the end of the session with its peer.
    fn park(&mut self, id: Id, key: PeerKey, message: &[u8]) -> Result<(), Stop> {
        let session = self.sessions.get_mut(id).ok_or(Stop::Ended)?;
        if session.parked.is_some() || self.parked.contains_key(&key) {
            self.refuse_duplicate(id);
            return Err(Stop::Ended);
        }
        session.parked = Some(Box::new((key.clone(), message.into())));
        self.parked.insert(key, id);
        self.set_deadline(id, Some(self.after(self.config.limits.duplicate_time)));
        Ok(())
    }

    /// Processes a hello that waited.
    pub(super) fn resume_hello(&mut self, id: Id) {
        let parked = self
            .sessions
            .get_mut(id)
            .and_then(|session| session.parked.take());
        let Some((_, message)) = parked.map(|parked| *parked) else {
            return;
        };
        let result = match decode(&message, self.config.dialect) {
            Ok(Operation::StartSession(start)) => self.hello(id, &start, &message),
            _ => Ok(()),
        };
        if let Err(Stop::Fatal(reason)) = result {
            self.end(id, &reason, true);
        }
    }

    /// Ends the second session with a peer. The hello comes first, so that the peer knows who refused it.
    fn refuse_duplicate(&mut self, id: Id) {
        // If it cannot be sent, the session ends without.
        let _: Result<(), _> = self.send_hello(id);
        self.end(id, "there is a session with this peer", true);
    }

    /// Decides between a connection from a peer and one to it that are being opened at the same time.
    fn resolve_crossed(&mut self, key: &PeerKey, theirs: &[u8; 32]) -> Result<(), Stop> {
        let dialing = self
            .dialing
            .get(key)
            .and_then(|dial| self.dials.get_mut(*dial));
        let Some(dialing) = dialing else {
            return Ok(());
        };
        let Some(outbound) = dialing.connection else {
            return Ok(());
        };
        let Some(ours) = self.sessions.get_mut(outbound) else {
            return Ok(());
        };
        match crossed_hellos(&ours.our_id, theirs) {
            Some(Crossed::KeepOurs) => Err("crossed hellos: the other connection is kept".into()),
            Some(Crossed::KeepTheirs) => {
                dialing.connection = None;
                ours.dial = None;
                self.end(
                    outbound,
                    "crossed hellos: the other connection is kept",
                    true,
                );
                Ok(())
            }
            None => {
                self.end(outbound, "the peer has our own key", true);
                Err("the peer has our own key".into())
            }
        }
    }

    /// Finds a session for the waiter, or opens one.
    pub(super) fn wait_for_session(
        &mut self,
        location: Location,
        waiter: Waiter,
        framing: Option<Framing>,
    ) {
        let key = location.key();
        self.retain(waiter.promise());
        if let Some(&session) = self.peers.get(&key) {
            return self.satisfy(session, waiter);
        }
        let mut waiters = Vec::new();
        if let Some(&dial) = self.dialing.get(&key)
            && let Some(dialing) = self.dials.get_mut(dial)
        {
            // The hints of a peer must not delay a connection that the caller requests.
            let is_handoff = |waiter: &Waiter| matches!(waiter, Waiter::Withdraw { .. });
            let takes_over = dialing.connection.is_none()
                && dialing.location.hints != location.hints
                && !is_handoff(&waiter)
                && dialing.waiters.iter().all(|(_, waiter)| is_handoff(waiter));
            if !takes_over {
                return dialing.waiters.push((location, waiter));
            }
            let before = self.remove_dial(dial);
            waiters = before.map_or_else(Vec::new, |before| before.waiters);
        }
        waiters.push((location.clone(), waiter));
        let deadline = self.after(self.config.limits.dial_time);
        let id = self.dials.insert(Dialing {
            location: location.clone(),
            waiters,
            connection: None,
            framing: framing.unwrap_or(self.config.framing),
            deadline,
            refused: None,
        });
        self.timers.insert((deadline, Timer::Dial(id)));
        self.dialing.insert(key, id);
        self.outputs.push_back(Output::Dial {
            dial: Dial(id),
            location,
        });
    }

    /// Gives the waiter what it waits for.
    pub(super) fn satisfy(&mut self, session: Id, waiter: Waiter) {
        let promise = waiter.promise();
        let found = match waiter {
            Waiter::Bootstrap { .. } => Ok(self.bootstrap_of(session)),
            Waiter::Fetch { swiss, .. } => self.fetch(session, &swiss),
            Waiter::Withdraw {
                envelope,
                key,
                gifter,
                ..
            } => {
                self.end_handoff(gifter);
                self.withdraw(session, &envelope, &key)
            }
        };
        let outcome = found.map(|node| self.as_payload(node));
        self.work.push(Work::Settle { promise, outcome });
        self.release(promise);
    }

    /// A promise for an object or the bootstrap object of a peer.
    pub(super) fn find(
        &mut self,
        peer: &Peer<'_>,
        swiss: Option<&[u8]>,
        framing: Option<Framing>,
    ) -> Id {
        if !self.config.limits.allow_location(peer) {
            return self.broken(Reason::limit("location too long"));
        }
        let location = Location::from(peer);
        let promise = self.new_promise();
        if self.is_own(&location) {
            let object = match swiss {
                Some(swiss) => self.published(swiss),
                None => Some(self.bootstrap),
            };
            let outcome = match object {
                Some(object) => Ok(self.as_payload(object)),
                None => Err("no object has this swiss number".into()),
            };
            self.work.push(Work::Settle { promise, outcome });
            return promise;
        }
        let waiter = match swiss {
            Some(swiss) => Waiter::Fetch {
                promise,
                swiss: swiss.into(),
            },
            None => Waiter::Bootstrap { promise },
        };
        self.wait_for_session(location, waiter, framing);
        promise
    }

    pub(super) fn is_own(&self, location: &Location) -> bool {
        self.config
            .locations
            .iter()
            .any(|ours| ours.is_same(location))
    }

    pub(super) fn end_dial(&mut self, id: Id, reason: &str) {
        let Some(dialing) = self.remove_dial(id) else {
            return;
        };
        let mut others = Vec::new();
        for (location, waiter) in dialing.waiters {
            let promise = waiter.promise();
            if location.hints != dialing.location.hints {
                others.push((location, waiter));
                continue;
            }
            if let Waiter::Withdraw { gifter, .. } = waiter {
                self.end_handoff(gifter);
            }
            let outcome = Err(Reason::disconnected(&format!("cannot connect: {reason}")));
            self.work.push(Work::Settle { promise, outcome });
            self.release(promise);
        }
        if let Some(connection) = dialing.connection {
            self.end(connection, reason, true);
        }
        // The next attempt is with other hints, so that there is an end.
        for (location, waiter) in others {
            let promise = waiter.promise();
            self.wait_for_session(location, waiter, Some(dialing.framing));
            self.release(promise);
        }
    }

    /// Ends a session. Its promises break, and its references are broken from now on.
    pub(super) fn end(&mut self, id: Id, reason: &str, abort: bool) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if session.phase == Phase::Closing {
            return;
        }
        session.phase = Phase::Closing;
        session.frames = None;
        let dial = session.dial.take();
        if let Some(parked) = session.parked.take() {
            self.parked.remove(&parked.0);
        }
        let exports = core::mem::take(&mut session.exports);
        session.export_index = Table::default();
        let imports = core::mem::take(&mut session.imports);
        let questions = core::mem::take(&mut session.questions);
        let answers = core::mem::take(&mut session.answers);
        let listens = core::mem::take(&mut session.listens);
        let bootstrap = session.bootstrap.take();
        session.gc_exports = Vec::new();
        session.gc_answers = Vec::new();
        let (withdrawals, findable) = (session.withdrawals > 0, session.findable);
        let values = session.values;
        let ended = exports.len() + imports.len() + questions.len() + answers.len();
        let peer = session.peer.take();
        self.set_deadline(id, Some(self.after(self.config.limits.close_time)));
        if let Some(peer) = peer {
            self.session_ids.remove(&peer.session_id);
            self.suspect_ended(ended, values);
            if findable {
                let key = peer.location.key();
                self.peers.remove(&key);
                if let Some(session) = self.parked.remove(&key) {
                    self.work.push(Work::Hello { session });
                }
            }
            self.drop_gifts(id, &peer.session_id, withdrawals);
        }
        if abort {
            let reason = truncated(reason);
            // If it cannot be written, the connection closes without a reason.
            let _: Result<(), _> = self.write(id, &Operation::Abort { reason });
        }
        self.outputs.push_back(Output::Close(Connection(id)));
        self.events
            .push_back(Event::Down(Connection(id), reason.into()));
        for (_, export) in exports.into_entries() {
            if !export.is_resolver {
                self.release(export.node);
            }
        }
        for (_, answer) in answers.into_entries() {
            self.release(answer);
        }
        self.drop_listeners(id, listens);
        let (imports, questions) = (imports.into_entries(), questions.into_entries());
        let remote = imports.into_iter().chain(questions).map(|(_, node)| node);
        for node in remote.chain(bootstrap) {
            let Some(state) = self.nodes.get(node) else {
                continue;
            };
            if let Kind::Remote { remote, .. } = &state.kind
                && remote.watched
                && state.handles > 0
            {
                self.events.push_back(Event::Broken(Ref(node)));
            }
            if self.nodes.get(node).is_some_and(Node::is_pending) {
                let outcome = Err(Reason::disconnected(&format!("disconnected: {reason}")));
                self.work.push(Work::Settle {
                    promise: node,
                    outcome,
                });
            }
        }
        if let Some(id) = dial {
            let deadline = self.after(self.config.limits.crossed_time);
            // Only the peer ends a session without telling it.
            match self.dials.get_mut(id) {
                Some(dial) if !abort => {
                    dial.connection = None;
                    dial.refused = Some(reason.into());
                    let before = core::mem::replace(&mut dial.deadline, deadline);
                    self.timers.remove(&(before, Timer::Dial(id)));
                    self.timers.insert((deadline, Timer::Dial(id)));
                }
                _ => self.end_dial(id, reason),
            }
        }
    }

    /// A reference to the peer's bootstrap object. It is not counted.
    fn bootstrap_of(&mut self, id: Id) -> Id {
        let session = self.sessions.get_mut(id);
        let known = session.as_ref().and_then(|session| session.bootstrap);
        if let Some(node) = known.filter(|node| self.nodes.get(*node).is_some()) {
            return node;
        }
        let node = self.nodes.insert(Node::new(Kind::Remote {
            remote: Remote::new(id, Target::Export(0)),
            promise: None,
        }));
        if let Some(session) = session {
            session.bootstrap = Some(node);
        }
        node
    }
}

/// Reasons are for people, and short.
fn truncated(reason: &str) -> &str {
    let mut end = reason.len().min(200);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    &reason[..end]
}
