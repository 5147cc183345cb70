//! What is sent to peers.
use alloc::{format, vec::Vec};
use core::num::NonZeroU64;

use super::connection::{Connection, Export, Output, Phase};
use super::data::Shared;
use super::node::{Kind, Node, Reason, Remote, State, disconnected, not_encoded};
use super::outgoing::Outgoing;
use super::part::Part;
use super::payload::{Payload, Ref};
use super::slab::{Id, Slab};
use super::vat::Vat;
use crate::captp::{Codec as _, Dialect, Error, Framing, Import, Operation, Syrup, Target};
use crate::syrup::Buffer;

/// References that are returned at once, even if no bytes are fetched.
pub(super) const BATCH: usize = 4096;
/// Most entries of such messages whose memory is kept.
const KEPT: usize = 256;

impl Vat {
    pub(super) fn is_active(&self, session: Id) -> bool {
        self.sessions
            .get(session)
            .is_some_and(|session| session.phase == Phase::Active)
    }

    /// The remote party that messages to `id` are sent to, unless its promise has settled as data or broken.
    fn sendable(&self, id: Id) -> Option<Remote> {
        let Kind::Remote { remote, promise } = &self.nodes.get(id)?.kind else {
            return None;
        };
        match promise.as_ref().map(|promise| &promise.state) {
            Some(State::Broken(_)) => None,
            Some(State::Fulfilled(value, _)) if value.as_reference().is_none() => None,
            _ => Some(*remote),
        }
    }

    /// Sends a message to a remote party and returns its answer; `None` if the target is not one.
    pub(super) fn send_remote(&mut self, id: Id, payload: &Payload) -> Option<Result<Id, Reason>> {
        let remote = self.sendable(id)?;
        Some(self.ask(remote.session, remote.target(), payload))
    }

    /// Like [`send_remote`](Self::send_remote), without an answer.
    pub(super) fn send_remote_only(
        &mut self,
        id: Id,
        payload: &Payload,
    ) -> Option<Result<(), Reason>> {
        let remote = self.sendable(id)?;
        Some(self.tell(remote.session, remote.target(), payload))
    }

    /// Sends a message with an answer position and a resolver.
    pub(super) fn ask(&mut self, session: Id, to: Target, payload: &Payload) -> Result<Id, Reason> {
        self.active(session)?;
        let (question, answer) = self.new_question(session, true)?;
        let resolver = self.new_export(session, question, true);
        let sent = resolver.and_then(|position| {
            self.send_deliver(
                session,
                to,
                payload,
                Some(answer),
                Some(Import::Object(position)),
            )
            .inspect_err(|_| self.undo_export(session, position))
        });
        if let Err(reason) = sent {
            // It was never sent, so there is no answer to return.
            if let Some(session) = self.sessions.get_mut(session) {
                session.questions.remove(answer);
            }
            self.nodes.remove(question);
            return Err(reason);
        }
        Ok(question)
    }

    /// Sends a message without answer.
    pub(super) fn tell(
        &mut self,
        session: Id,
        to: Target,
        payload: &Payload,
    ) -> Result<(), Reason> {
        self.active(session)?;
        self.send_deliver(session, to, payload, None, None)
    }

    fn active(&self, session: Id) -> Result<(), Reason> {
        if self.is_active(session) {
            Ok(())
        } else {
            Err(disconnected())
        }
    }

    fn new_question(&mut self, session: Id, listening: bool) -> Result<(Id, u64), Reason> {
        let state = self.sessions.get_mut(session).ok_or_else(disconnected)?;
        if state.questions.len() >= self.config.limits.exports {
            return Err(Reason::limit("too many answers of this peer are held"));
        }
        let answer = state.next_answer;
        state.next_answer += 1;
        let mut remote = Remote::new(session, Target::Answer(answer));
        remote.listening = listening;
        let promise = Some(self.spare.promise());
        let question = self
            .nodes
            .insert(Node::new(Kind::Remote { remote, promise }));
        state.questions.insert(answer, question);
        Ok((question, answer))
    }

    /// Exports a node, or the resolver of a promise.
    fn new_export(&mut self, session: Id, node: Id, is_resolver: bool) -> Result<u64, Reason> {
        let most = self.config.limits.exports;
        let state = self.sessions.get_mut(session).ok_or_else(disconnected)?;
        if state.exports.len() >= most {
            let reason = format!("more than {most} objects exported to this peer");
            return Err(Reason::limit(&reason));
        }
        let position = state.next_export;
        state.next_export += 1;
        let export = Export {
            node,
            is_resolver,
            refs: 1,
        };
        state.exports.insert(position, export);
        if !is_resolver {
            self.retain(node);
        }
        Ok(position)
    }

    /// The position of a node exported to this session, counted once more.
    fn export(&mut self, session: Id, node: Id) -> Result<u64, Reason> {
        if let Some(state) = self.sessions.get_mut(session)
            && let Some(&position) = state.export_index.get(node.index.into())
            && let Some(export) = state.exports.get_mut(position.get())
        {
            export.refs += 1;
            return Ok(position.get());
        }
        let position = self.new_export(session, node, false)?;
        if let Some(state) = self.sessions.get_mut(session)
            && let Some(position) = NonZeroU64::new(position)
        {
            state.export_index.insert(node.index.into(), position);
        }
        self.keep_for(session, node);
        Ok(position)
    }

    /// Takes back references to an export. Returns `None` if there are not as many.
    pub(super) fn unexport(&mut self, session: Id, position: u64, refs: u64) -> Option<()> {
        let state = self.sessions.get_mut(session)?;
        let export = state.exports.get_mut(position)?;
        export.refs = export.refs.checked_sub(refs)?;
        if export.refs == 0 {
            let (node, is_resolver) = (export.node, export.is_resolver);
            state.exports.remove(position);
            if is_resolver {
                self.drop_resolver(node);
                return Some(());
            }
            let index = state.export_index.get(node.index.into());
            if index.is_some_and(|index| index.get() == position) {
                state.export_index.remove(node.index.into());
            }
            self.release(node);
        }
        Some(())
    }

    /// Takes back a reference that was not sent. If the session has ended, it is gone already.
    fn undo_export(&mut self, session: Id, position: u64) {
        let _: Option<()> = self.unexport(session, position, 1);
    }

    /// Requests notification of a remote promise.
    pub(super) fn send_listen(&mut self, promise: Id, remote: Remote) -> Result<(), Reason> {
        self.active(remote.session)?;
        let position = self.new_export(remote.session, promise, true)?;
        let operation = Operation::Listen {
            to: remote.target(),
            resolver: Import::Object(position),
            wants_partial: false,
        };
        self.write(remote.session, &operation)
            .inspect_err(|_| self.undo_export(remote.session, position))?;
        if let Some(Kind::Remote { remote, .. }) =
            self.nodes.get_mut(promise).map(|node| &mut node.kind)
        {
            remote.listening = true;
        }
        Ok(())
    }

    /// Asks for a part of a remote promise, if the dialect can express it. The answer has no resolver.
    pub(super) fn send_part(&mut self, id: Id, remote: Remote, part: &Part) -> Option<Id> {
        let session = self.sessions.get(remote.session)?;
        if session.phase != Phase::Active || session.dialect == Dialect::Suite202602 {
            return None;
        }
        self.sendable(id)?;
        let (question, answer) = self.new_question(remote.session, false).ok()?;
        let from = remote.target();
        let operation = match part {
            Part::Field(field) => Operation::Get {
                from,
                field,
                answer,
            },
            Part::Item(index) => Operation::Index {
                from,
                index: *index,
                answer,
            },
            Part::Tagged(tag) => Operation::Untag { from, tag, answer },
        };
        match self.write(remote.session, &operation) {
            Ok(()) => Some(question),
            Err(_) => {
                if let Some(session) = self.sessions.get_mut(remote.session) {
                    session.questions.remove(answer);
                }
                self.nodes.remove(question);
                None
            }
        }
    }

    /// Calls a resolver of a peer with what a promise has become, and returns the reference to it.
    pub(super) fn send_settlement(&mut self, session: Id, resolver: u64, promise: Id) {
        let to = Target::Export(resolver);
        let sent = self.active(session).and_then(|()| {
            let Some(outcome) = outcome_of(&self.nodes, promise) else {
                return Ok(());
            };
            if outcome.unwrap_or_else(|reason| reason).refs().is_empty() {
                return self.append(session, &Message::Settlement { to, promise });
            }
            let arguments = self.spare.settlement(outcome);
            let sent = self.tell(session, to, &arguments);
            self.spare.put(arguments);
            sent
        });
        if let Err(reason) = sent {
            let arguments = self.spare.settlement(Err(&reason.value));
            // If even this cannot be sent, the session has ended.
            let _: Result<(), _> = self.tell(session, to, &arguments);
            self.spare.put(arguments);
        }
        self.return_reference(session, to, 1);
    }

    fn send_deliver(
        &mut self,
        session: Id,
        to: Target,
        payload: &Payload,
        answer: Option<u64>,
        resolver: Option<Import>,
    ) -> Result<(), Reason> {
        if payload.refs().is_empty() {
            let operation = Operation::Deliver {
                to,
                arguments: &payload.data,
                answer,
                resolver,
            };
            let shared = payload.data.shared();
            return self.append(session, &Message::Operation(&operation, shared));
        }
        let mut exported = core::mem::take(&mut self.exported);
        let mut arguments = self.spare.builder();
        let encoded = payload.write(&mut arguments.data, |reference, out| {
            self.put_reference(session, reference.0, out, &mut exported)
        });
        let sent = encoded.and_then(|()| {
            let operation = Operation::Deliver {
                to,
                arguments: &arguments.data,
                answer,
                resolver,
            };
            self.write(session, &operation)
        });
        self.spare.put(arguments.finish());
        for position in exported.drain(..) {
            if sent.is_err() {
                self.undo_export(session, position);
            }
        }
        self.exported = exported;
        sent
    }

    /// Writes the descriptor of a reference for this session.
    fn put_reference(
        &mut self,
        session: Id,
        reference: Id,
        out: &mut Vec<u8>,
        exported: &mut Vec<u64>,
    ) -> Result<(), Reason> {
        let end = self.settled_end(reference);
        let node = self.nodes.get(end).ok_or("stale reference")?;
        let is_promise = node.promise().is_some();
        if let Kind::Remote { remote, promise } = &node.kind {
            let (remote, pending) = (*remote, promise.is_none() || node.is_pending());
            if remote.session == session && pending {
                remote.target().write(&mut Syrup::writer(out));
                return Ok(());
            }
            // The promise of a third party is exported like one of ours, which forwards.
            if promise.is_none() {
                if self.is_active(remote.session) {
                    return self.put_give(session, remote, out);
                }
                let broken = self.broken(disconnected());
                let position = self.export(session, broken)?;
                exported.push(position);
                Import::Promise(position).write(&mut Syrup::writer(out));
                return Ok(());
            }
        }
        let position = self.export(session, end)?;
        exported.push(position);
        let import = if is_promise {
            Import::Promise(position)
        } else {
            Import::Object(position)
        };
        import.write(&mut Syrup::writer(out));
        Ok(())
    }

    /// Queues a message for sending.
    pub(super) fn write(&mut self, session: Id, operation: &Operation<'_>) -> Result<(), Reason> {
        self.append(session, &Message::Operation(operation, None))
    }

    /// Queues a message. Long data in it are not copied.
    fn append(&mut self, session: Id, message: &Message<'_>) -> Result<(), Reason> {
        let limits = &self.config.limits;
        let longest = limits.message;
        let most = limits.outbound_hard.saturating_add(limits.values);
        let state = self.sessions.get_mut(session).ok_or_else(disconnected)?;
        let framing = state.framing.unwrap_or(Framing::None);
        let out = &mut state.out;
        out.use_memory(|| self.spare.buffer());
        let start = out.mark();
        let (nodes, dialect) = (&self.nodes, state.dialect);
        let encoded = match message.shared(nodes) {
            None => message.encode(nodes, dialect, out.buffer()),
            Some(shared) => message.encode(nodes, dialect, &mut out.buffer_around(shared)),
        };
        if encoded.is_err() || out.length_from(start) > longest {
            out.truncate(start);
            return Err(match encoded {
                Err(error) => not_encoded(&error),
                Ok(()) => Reason::limit(&format!("message longer than {longest} bytes")),
            });
        }
        out.put_header(framing, start);
        if out.len() > most {
            out.truncate(start);
            self.end(session, "the peer does not read", true);
            return Err(disconnected());
        }
        self.announce(session);
        Ok(())
    }

    /// Announces bytes to the caller.
    pub(super) fn announce(&mut self, id: Id) {
        if let Some(session) = self.sessions.get_mut(id)
            && !session.announced
        {
            session.announced = true;
            self.outputs.push_back(Output::Bytes(Connection(id)));
        }
    }

    /// Whether so much waits to be sent on a connection that nothing should be read from it: its peer requests more
    /// than it reads.
    pub fn is_full(&self, connection: Connection) -> bool {
        let session = self.sessions.get(connection.0);
        session.is_some_and(|session| session.out.len() > self.config.limits.outbound_hard)
    }

    /// Moves the bytes to send on a connection to the end of `out`. If they are fetched only when earlier ones have
    /// been sent, the limits on waiting bytes take effect, and references dropped meanwhile are returned together.
    pub fn take_bytes(&mut self, connection: Connection, out: &mut Vec<u8>) {
        self.take(connection, |outgoing| outgoing.copy_to(out));
    }

    /// Like [`take_bytes`](Self::take_bytes), without copying long values.
    pub fn take_pieces(&mut self, connection: Connection, out: &mut Outgoing) {
        self.take(connection, |outgoing| outgoing.move_to(out));
    }

    fn take(&mut self, connection: Connection, take: impl FnOnce(&mut Outgoing)) {
        self.return_references(connection.0);
        if let Some(session) = self.sessions.get_mut(connection.0) {
            session.announced = false;
            take(&mut session.out);
            self.spare.put_buffer(session.out.take_memory());
        }
    }

    /// Sends the positions of a session's references and answers that nothing refers to any more.
    pub(super) fn return_references(&mut self, id: Id) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if session.phase != Phase::Active {
            return;
        }
        let mut exports = core::mem::take(&mut session.gc_exports);
        let mut answers = core::mem::take(&mut session.gc_answers);
        // An entry has at most 42 bytes, so each message is within the limit. Other failures end the session.
        let most = (self.config.limits.message / 64).max(1);
        for batch in exports.chunks(most) {
            let _: Result<(), _> = self.write(id, &Operation::GcExports(batch.into()));
        }
        for batch in answers.chunks(most) {
            let _: Result<(), _> = self.write(id, &Operation::GcAnswers(batch.into()));
        }
        // The memory is used for the next batch, unless this one was long.
        exports.clear();
        answers.clear();
        if let Some(session) = self.sessions.get_mut(id)
            && exports.capacity().max(answers.capacity()) <= KEPT
        {
            (session.gc_exports, session.gc_answers) = (exports, answers);
        }
    }

    /// The handle of a node in a new payload.
    pub(super) fn as_payload(&mut self, id: Id) -> Payload {
        self.retain(id);
        Payload::reference(Ref(id))
    }
}

/// A message to be sent.
enum Message<'a> {
    /// With the data that it contains, if they are in shared memory.
    Operation(&'a Operation<'a>, Option<&'a Shared>),
    /// Calls a resolver with the outcome of a promise.
    Settlement { to: Target, promise: Id },
}

impl Message<'_> {
    /// The data that it contains, if they are in shared memory.
    fn shared<'n>(&'n self, nodes: &'n Slab<Node>) -> Option<&'n Shared> {
        match self {
            Self::Operation(_, shared) => *shared,
            Self::Settlement { promise, .. } => {
                let outcome = outcome_of(nodes, *promise)?;
                outcome.unwrap_or_else(|reason| reason).data.shared()
            }
        }
    }

    fn encode<B: Buffer>(
        &self,
        nodes: &Slab<Node>,
        dialect: Dialect,
        out: &mut B,
    ) -> Result<(), Error> {
        match self {
            Self::Operation(operation, _) => operation.encode::<Syrup, _>(dialect, out)?,
            Self::Settlement { to, promise } => {
                if let Some(outcome) = outcome_of(nodes, *promise) {
                    let outcome = outcome.map(Payload::data).map_err(Payload::data);
                    Operation::write_settlement(&mut Syrup::writer(out), dialect, *to, outcome);
                }
            }
        }
        Ok(())
    }
}

/// The value or the reason of a promise that has settled.
fn outcome_of(nodes: &Slab<Node>, promise: Id) -> Option<Result<&Payload, &Payload>> {
    let outcome = nodes.get(promise)?.promise()?.outcome()?;
    Some(outcome.map_err(|reason| &reason.value))
}
