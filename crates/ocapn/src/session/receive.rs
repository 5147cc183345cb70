//! What peers send.
use alloc::{
    boxed::Box,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::connection::{Connection, Phase};
use super::data::{Data, Shared};
use super::node::{Kind, Listener, Node, Remote, outcome};
use super::part::Part;
use super::payload::{Builder, PLACEHOLDER, Payload, Ref, walk};
use super::slab::Id;
use super::spare::LONG_REST;
use super::vat::Vat;
use crate::captp::{
    Codec as _, Deliver, Dialect, Error, Frames, Framing, Import, Operation, Read, Syrup, Target,
};
use crate::syrup::{self, Reader};

/// Why reading a connection stops.
pub(super) enum Stop {
    /// The session has to end for this reason.
    Fatal(String),
    /// It has ended.
    Ended,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<syrup::Error> for Stop {
    fn from(error: syrup::Error) -> Self {
        Self::Fatal(error.to_string())
    }
}

impl From<String> for Stop {
    fn from(reason: String) -> Self {
        Self::Fatal(reason)
    }
}

impl From<&str> for Stop {
    fn from(reason: &str) -> Self {
        Self::Fatal(reason.into())
    }
}

impl Vat {
    /// Processes bytes that arrived on a connection at the time `now`: milliseconds of a clock that never goes back.
    /// If they are not valid, the session ends; there is an [`Event::Down`](super::Event::Down).
    pub fn received(&mut self, connection: Connection, bytes: &[u8], now: u64) {
        self.now = self.now.max(now);
        let id = connection.0;
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        if session.phase == Phase::Closing {
            return;
        }
        let Some(&first) = bytes.first() else {
            return;
        };
        let limit = self.config.limits.message;
        let frames = match session.frames.take() {
            Some(frames) => frames,
            None => {
                let framing = *session.framing.get_or_insert(match first {
                    b'0'..=b'9' => Framing::Length,
                    _ => Framing::None,
                });
                self.spare.frames(framing, limit, session.offset)
            }
        };
        self.read(id, frames, bytes, None);
    }

    /// Takes the start of a long message of which much is missing, so that the next bytes of the connection need no copy:
    /// the caller appends some of them, as far as there is memory, and passes all to
    /// [`received_in`](Self::received_in). Until then the connection can receive nothing else.
    pub fn take_incomplete(&mut self, connection: Connection) -> Option<Vec<u8>> {
        let session = self.sessions.get_mut(connection.0)?;
        let frames = session.frames.as_mut()?;
        let is_long = frames.missing() >= LONG_REST && frames.room() >= LONG_REST;
        is_long.then(|| frames.lend())
    }

    /// Like [`received`](Self::received), for bytes that follow those in the memory that
    /// [`take_incomplete`](Self::take_incomplete) returned.
    pub fn received_in(&mut self, connection: Connection, memory: Vec<u8>, now: u64) {
        self.now = self.now.max(now);
        let id = connection.0;
        let session = self.sessions.get_mut(id);
        if let Some(frames) = session.and_then(|session| session.frames.take()) {
            self.read(id, frames, &[], Some(memory));
        }
    }

    /// Processes bytes of a stream: those in memory that was lent, then the others.
    fn read(
        &mut self,
        id: Id,
        mut frames: Box<Frames<Syrup>>,
        bytes: &[u8],
        lent: Option<Vec<u8>>,
    ) {
        let (mut messages, mut rest) = (0, bytes);
        let (mut result, mut last) = (Ok(()), 0);
        let message_in = |memory: &mut Vec<u8>, start| {
            messages += 1;
            last = memory.len() - start;
            self.message_in(id, memory, start)
        };
        let after;
        if let Some(memory) = lent {
            match frames.take_back(memory, message_in) {
                Ok(bytes) => {
                    after = bytes;
                    rest = &after;
                }
                Err(stop) => result = Err(stop),
            }
        } else if frames.pending() > 0 {
            result = frames.feed_partial(&mut rest, message_in);
        }
        let framing = self.sessions.get(id).and_then(|session| session.framing);
        let unframed = framing == Some(Framing::None);
        // If the next message is as long as the last one, a shorter rest does not contain all of it.
        let may_be_whole = unframed && frames.pending() == 0 && last <= rest.len();
        while may_be_whole && result.is_ok() {
            match self.whole_deliver(id, rest, false) {
                Ok(0) => break,
                Ok(length) => {
                    messages += 1;
                    frames.skip(length);
                    rest = &rest[length..];
                }
                Err(stop) => result = Err(stop),
            }
        }
        let result = result.and_then(|()| {
            frames.feed(rest, |message| {
                messages += 1;
                self.message(id, message)
            })
        });
        match result {
            Ok(()) => {
                if let Some(session) = self.sessions.get_mut(id)
                    && session.phase != Phase::Closing
                {
                    let pending = frames.pending();
                    session.offset = frames.offset();
                    match pending {
                        0 => self.spare.put_frames(frames),
                        _ => {
                            self.spare.make_room(&mut frames);
                            session.frames = Some(frames);
                        }
                    }
                    if session.phase == Phase::Active {
                        let deadline = match session.deadline {
                            _ if pending == 0 => None,
                            Some(deadline) if messages == 0 => Some(deadline),
                            _ => Some(self.after(self.config.limits.message_time)),
                        };
                        self.set_deadline(id, deadline);
                    }
                }
            }
            Err(Stop::Ended) => {}
            Err(Stop::Fatal(reason)) => self.end(id, &reason, true),
        }
        self.run();
    }

    /// Processes the message at the start of the bytes, or that is all of them if `is_message`, if it is a whole
    /// `op:deliver`: in a stream, to read it takes less than to find its end first. Returns its length, or 0 for
    /// others, which include all that are invalid.
    fn whole_deliver(&mut self, id: Id, bytes: &[u8], is_message: bool) -> Result<usize, Stop> {
        let Some(session) = self.sessions.get(id) else {
            return Err(Stop::Ended);
        };
        let (phase, dialect) = (session.phase, session.dialect);
        let mut reader = Syrup::reader(bytes);
        let to = match phase {
            Phase::Active => Deliver::begin(&mut reader),
            _ => None,
        };
        let Some((to, has_both)) = to else {
            return Ok(0);
        };
        let most = self.config.limits.message;
        let is_valid = |reader: &Reader<'_>| {
            let length = reader.offset();
            length <= most && (!is_message || length == bytes.len())
        };
        let mut inside = reader;
        if let Some(promise) = self.resolvable(id, to)
            && let Some((is_fulfilled, value)) = Deliver::read_settlement(&mut inside, has_both)
            && is_valid(&inside)
        {
            reader = inside;
            let payload = self.read_payload(id, value)?;
            self.settle(promise, outcome(is_fulfilled, payload));
        } else if has_both
            && let Ok(deliver) = Deliver::read(&mut reader, dialect, 0)
            && is_valid(&reader)
        {
            self.receive_deliver(id, to, &deliver)?;
        } else {
            return Ok(0);
        }
        self.finish_message(id)?;
        Ok(reader.offset())
    }

    /// Processes the message that is in `memory` from `start` on. The payload of a long one takes the memory.
    fn message_in(&mut self, id: Id, memory: &mut Vec<u8>, start: usize) -> Result<(), Stop> {
        let Some(shared) = Shared::take(memory) else {
            return self.message(id, &memory[start..]);
        };
        self.spare.keep_long(&shared);
        self.reading = Some(shared.clone());
        let result = self.message(id, &shared[start..]);
        self.reading = None;
        result
    }

    fn message(&mut self, id: Id, message: &[u8]) -> Result<(), Stop> {
        if self.whole_deliver(id, message, true)? > 0 {
            return Ok(());
        }
        let Some(session) = self.sessions.get(id) else {
            return Err(Stop::Ended);
        };
        let (phase, dialect) = (session.phase, session.dialect);
        if phase != Phase::Active || !self.take_back(id, message)? {
            match (phase, decode(message, dialect)?) {
                (_, Operation::Abort { reason }) => {
                    self.end(id, &format!("aborted by the peer: {reason}"), false);
                }
                (Phase::Hello, Operation::StartSession(start)) => {
                    self.hello(id, &start, message)?
                }
                (Phase::Hello, _) => return Err("expected op:start-session".into()),
                (Phase::Active, operation) => self.operation(id, operation)?,
                (Phase::Closing, _) => return Err(Stop::Ended),
            }
        }
        self.finish_message(id)
    }

    fn finish_message(&mut self, id: Id) -> Result<(), Stop> {
        self.run();
        match self.sessions.get(id) {
            Some(session) if session.phase != Phase::Closing => Ok(()),
            _ => Err(Stop::Ended),
        }
    }

    fn operation(&mut self, id: Id, operation: Operation<'_>) -> Result<(), Stop> {
        match operation {
            Operation::StartSession(_) => Err("second op:start-session".into()),
            // Handled in every phase.
            Operation::Abort { .. } => Ok(()),
            Operation::Deliver {
                to,
                arguments,
                answer,
                resolver,
            } => {
                let deliver = Deliver {
                    arguments,
                    answer,
                    resolver,
                };
                self.receive_deliver(id, to, &deliver)
            }
            Operation::Listen { to, resolver, .. } => {
                let target = self.target(id, to)?;
                self.subscribe(target, wire_listener(id, resolver));
                Ok(())
            }
            // Read by `take_back`.
            Operation::GcExports(_) | Operation::GcAnswers(_) => Ok(()),
            Operation::Get {
                from,
                field,
                answer,
            } => self.read_part(id, from, Part::Field(field.into()), answer),
            Operation::Index {
                from,
                index,
                answer,
            } => self.read_part(id, from, Part::Item(index), answer),
            Operation::Untag { from, tag, answer } => {
                self.read_part(id, from, Part::Tagged(tag.into()), answer)
            }
        }
    }

    fn receive_deliver(&mut self, id: Id, to: Target, deliver: &Deliver<'_>) -> Result<(), Stop> {
        let target = self.target(id, to)?;
        if let Some(answer) = deliver.answer {
            self.check_answer(id, answer)?;
        }
        let payload = self.read_payload(id, deliver.arguments)?;
        let wanted = deliver.answer.is_some() || deliver.resolver.is_some();
        let result = wanted.then(|| self.new_promise());
        if let Some(result) = result {
            self.retain(result);
            if let Some(answer) = deliver.answer {
                self.add_answer(id, answer, result);
            }
            if let Some(resolver) = deliver.resolver {
                self.subscribe(result, wire_listener(id, resolver));
            }
        }
        self.deliver(target, payload, result, Some(id));
        Ok(())
    }

    /// Takes back the references or answers that the message returns, in the form of any dialect. Returns whether it is
    /// such a message.
    fn take_back(&mut self, id: Id, message: &[u8]) -> Result<bool, Stop> {
        let mut reader = Reader::new(message);
        match reader.begin_record() {
            Ok("op:gc-export" | "op:gc-exports") => self.take_back_exports(id, &mut reader)?,
            Ok("op:gc-answer" | "op:gc-answers") => self.take_back_answers(id, &mut reader)?,
            _ => return Ok(false),
        }
        reader.end(syrup::Kind::Record)?;
        reader.finish()?;
        Ok(true)
    }

    fn take_back_exports(&mut self, id: Id, reader: &mut Reader<'_>) -> Result<(), Stop> {
        // Goblins 0.12 to 0.16 return one at a time, without a list.
        if reader.kind()? == syrup::Kind::Integer {
            let position = reader.u64()?;
            return self.take_back_export(id, position, reader.u64()?);
        }
        // A list of positions and a list of numbers of references, read side by side.
        let mut counts = *reader;
        counts.raw()?;
        reader.begin(syrup::Kind::List)?;
        counts.begin(syrup::Kind::List)?;
        while !reader.try_end(syrup::Kind::List) {
            let position = reader.u64()?;
            self.take_back_export(id, position, counts.u64()?)?;
        }
        counts.end(syrup::Kind::List)?;
        *reader = counts;
        Ok(())
    }

    fn take_back_answers(&mut self, id: Id, reader: &mut Reader<'_>) -> Result<(), Stop> {
        if reader.kind()? == syrup::Kind::Integer {
            let answer = reader.u64()?;
            return self.take_back_answer(id, answer);
        }
        reader.begin(syrup::Kind::List)?;
        while !reader.try_end(syrup::Kind::List) {
            let answer = reader.u64()?;
            self.take_back_answer(id, answer)?;
        }
        Ok(())
    }

    fn take_back_export(&mut self, id: Id, position: u64, refs: u64) -> Result<(), Stop> {
        // The bootstrap object is not counted.
        if position > 0 && (refs == 0 || self.unexport(id, position, refs).is_none()) {
            return Err(format!("cannot return {refs} references to export {position}").into());
        }
        Ok(())
    }

    fn take_back_answer(&mut self, id: Id, answer: u64) -> Result<(), Stop> {
        let session = self.sessions.get_mut(id).ok_or(Stop::Ended)?;
        let promise = session.answers.remove(answer);
        let promise = promise.ok_or_else(|| format!("no answer {answer} to return"))?;
        self.release(promise);
        Ok(())
    }

    fn read_part(&mut self, id: Id, from: Target, of: Part, answer: u64) -> Result<(), Stop> {
        let target = self.target(id, from)?;
        self.check_answer(id, answer)?;
        let promise = self.part(target, of);
        self.add_answer(id, answer, promise);
        Ok(())
    }

    /// The promise, if the peer addresses its resolver.
    fn resolvable(&self, id: Id, target: Target) -> Option<Id> {
        let Target::Export(position) = target else {
            return None;
        };
        let export = self.sessions.get(id)?.exports.get(position)?;
        export.is_resolver.then_some(export.node)
    }

    /// The node that the peer addresses.
    fn target(&mut self, id: Id, target: Target) -> Result<Id, Stop> {
        let session = self.sessions.get_mut(id).ok_or(Stop::Ended)?;
        match target {
            Target::Export(0) => Ok(self.bootstrap),
            Target::Export(position) => match session.exports.get_mut(position) {
                Some(export) if export.is_resolver => {
                    let mut resolver = Node::new(Kind::Resolver(export.node));
                    resolver.refs = 1;
                    export.node = self.nodes.insert(resolver);
                    export.is_resolver = false;
                    Ok(export.node)
                }
                Some(export) => Ok(export.node),
                None => Err(format!("no export {position}").into()),
            },
            Target::Answer(position) => match session.answers.get(position) {
                Some(answer) => Ok(*answer),
                None => Err(format!("no answer {position}").into()),
            },
        }
    }

    fn check_answer(&self, id: Id, answer: u64) -> Result<(), Stop> {
        let session = self.sessions.get(id).ok_or(Stop::Ended)?;
        if session.answers.get(answer).is_some() {
            return Err(format!("answer {answer} is in use").into());
        }
        if session.answers.len() >= self.config.limits.answers {
            return Err(format!("more than {} answers", self.config.limits.answers).into());
        }
        Ok(())
    }

    fn add_answer(&mut self, id: Id, answer: u64, promise: Id) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.answers.insert(answer, promise);
            self.retain(promise);
            self.keep_for(id, promise);
        }
    }

    /// The node of an import, with one reference for the caller.
    fn import(&mut self, id: Id, import: Import) -> Result<Id, Stop> {
        let (position, is_promise) = match import {
            Import::Object(position) => (position, false),
            Import::Promise(position) => (position, true),
        };
        let session = self.sessions.get_mut(id).ok_or(Stop::Ended)?;
        if let Some(&node) = session.imports.get(position)
            && let Some(Kind::Remote { remote, promise }) =
                self.nodes.get_mut(node).map(|node| &mut node.kind)
        {
            if promise.is_some() != is_promise {
                return Err(format!("import {position} is both an object and a promise").into());
            }
            remote.received = remote
                .received
                .checked_add(1)
                .ok_or("too many references received")?;
            self.retain(node);
            return Ok(node);
        }
        if session.imports.len() >= self.config.limits.imports {
            return Err(format!("more than {} imports", self.config.limits.imports).into());
        }
        let mut remote = Remote::new(id, Target::Export(position));
        remote.received = 1;
        let promise = is_promise.then(|| {
            let mut promise = self.spare.promise();
            promise.kept_for = Some(id);
            promise
        });
        let node = self
            .nodes
            .insert(Node::new(Kind::Remote { remote, promise }));
        session.imports.insert(position, node);
        self.retain(node);
        Ok(node)
    }

    /// Reads arguments; the payload holds a reference for each descriptor.
    fn read_payload(&mut self, id: Id, encoded: &[u8]) -> Result<Payload, Stop> {
        // Only records contain descriptors.
        if !has_brackets(encoded) {
            return Ok(self.plain_payload(encoded));
        }
        let mut import = Importer {
            encoded,
            copied: 0,
            builder: self.spare.builder(),
            references: 0,
        };
        let read = walk(&mut Syrup::reader(encoded), &mut |reader| {
            self.read_descriptor(id, reader, &mut import)
        });
        if import.references == 0 {
            self.spare.put(import.builder.finish());
            return read.map(|()| self.plain_payload(encoded));
        }
        import.builder.raw(&encoded[import.copied..]);
        let payload = import.builder.finish();
        if let Err(stop) = read {
            self.release_payload(payload);
            return Err(stop);
        }
        Ok(payload)
    }

    /// Arguments without references. Those of a long message share its memory.
    fn plain_payload(&mut self, encoded: &[u8]) -> Payload {
        let reading = self.reading.as_ref();
        match reading.and_then(|memory| memory.part_of(encoded)) {
            Some(part) => Payload::without_references(Data::Shared(part)),
            None => {
                let mut builder = self.spare.builder();
                builder.raw(encoded);
                builder.finish()
            }
        }
    }

    /// Reads a record that is a descriptor or that has no references; leaves others.
    fn read_descriptor<'a>(
        &mut self,
        id: Id,
        reader: &mut Reader<'a>,
        import: &mut Importer<'a>,
    ) -> Result<bool, Stop> {
        let start = *reader;
        let mut inside = start;
        inside.begin(syrup::Kind::Record)?;
        if inside.kind()? != syrup::Kind::Symbol {
            return Ok(false);
        }
        let node = match inside.symbol()? {
            "desc:import-object" | "desc:import-promise" => {
                import.count(self.config.limits.references)?;
                self.import(id, Import::read(reader)?)?
            }
            "desc:export" | "desc:answer" => {
                import.count(self.config.limits.references)?;
                let node = self.target(id, Target::read(reader)?)?;
                self.retain(node);
                node
            }
            "desc:sig-envelope" => {
                let envelope = reader.raw()?.as_bytes();
                if inside.begin_record()? != "desc:handoff-give" {
                    return Ok(true);
                }
                import.count(self.config.limits.references)?;
                self.receive_gift(id, envelope)?
            }
            PLACEHOLDER => return Err(format!("unknown descriptor {PLACEHOLDER}").into()),
            _ => return Ok(false),
        };
        import.put(start.offset(), reader.offset(), node);
        Ok(true)
    }
}

/// Arguments that are being read.
struct Importer<'a> {
    encoded: &'a [u8],
    /// Number of bytes that are in the builder, or replaced by a reference.
    copied: usize,
    builder: Builder,
    references: usize,
}

impl Importer<'_> {
    fn count(&mut self, most: usize) -> Result<(), Stop> {
        self.references += 1;
        if self.references > most {
            return Err(format!("more than {most} references in a message").into());
        }
        Ok(())
    }

    /// Replaces a descriptor.
    fn put(&mut self, start: usize, end: usize, node: Id) {
        self.builder.raw(&self.encoded[self.copied..start]);
        self.builder.reference(Ref(node));
        self.copied = end;
    }
}

/// Whether there is a byte that opens a record. Unlike `contains`, this compiles to vector instructions.
fn has_brackets(bytes: &[u8]) -> bool {
    let among = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(false, |found, byte| found | (*byte == b'<'))
    };
    match bytes.last_chunk::<32>() {
        // The last block may overlap the one before.
        Some(last) => {
            let (blocks, _) = bytes.as_chunks::<32>();
            blocks.iter().any(|block| among(block)) || among(last)
        }
        None => among(bytes),
    }
}

/// The listener for which a peer sent this resolver.
const fn wire_listener(session: Id, resolver: Import) -> Listener {
    let (Import::Object(resolver) | Import::Promise(resolver)) = resolver;
    Listener::Wire { session, resolver }
}

/// Decodes an operation of any dialect, preferably of this one.
pub(super) fn decode(message: &[u8], dialect: Dialect) -> Result<Operation<'_>, Error> {
    let error = match Operation::decode::<Syrup>(message, dialect) {
        Ok(operation) => return Ok(operation),
        Err(error) => error,
    };
    Dialect::ALL
        .into_iter()
        .filter(|other| *other != dialect)
        .find_map(|other| Operation::decode::<Syrup>(message, other).ok())
        .ok_or(error)
}
