//! A CapTP session with a peer that sends valid operations only. The input chooses them, their positions and values,
//! when the peer reads, and what the application does in between. The session goes on, each resolver is notified once,
//! the vat returns no more references than it received, and once both sides have returned and dropped everything, its
//! tables are empty. Two vats, as in `session_network`, use neither other positions than 1, 2, 3… nor all forms of the
//! operations.
#![no_main]
use std::collections::{BTreeMap, BTreeSet};

use libfuzzer_sys::fuzz_target;
use lydite::ocapn::captp::{
    Dialect, Error, Frames, Framing, Import, Operation, SecretKey, StartSession, Syrup, Target,
};
use lydite::ocapn::syrup::Value;

use lydite_fuzz::session::tests::world::{config, location};
use lydite_fuzz::session::{Connection, Event, Output, Payload, Proof, Ref, Vat};

/// Fewer than the listeners that one promise may have.
const ROUNDS: usize = 100;
const DIALECT: Dialect = Dialect::Endo202608;

fuzz_target!(|data: &[u8]| {
    let mut session = Session::new(data);
    for _ in 0..ROUNDS {
        if session.input.is_empty() {
            break;
        }
        session.round();
    }
    session.finish();
});

struct Session<'a> {
    input: &'a [u8],
    vat: Vat,
    connection: Connection,
    application: Application,
    /// References to objects, promises and resolvers of the vat, by position.
    held: BTreeMap<u64, u64>,
    /// Resolvers among them that were not called.
    unsettled: BTreeSet<u64>,
    /// Positions of answers that the peer can refer to.
    answers: BTreeSet<u64>,
    /// References to objects and promises of the peer that the vat has not returned, by position.
    sent: BTreeMap<u64, u64>,
    /// How often each resolver of the peer was called.
    resolved: BTreeMap<u64, usize>,
    /// Answers of the peer that the vat can refer to.
    questions: BTreeSet<u64>,
    gifts: u8,
}

/// The references that the application holds.
#[derive(Default)]
struct Application {
    held: Vec<Ref>,
    resolvers: Vec<Ref>,
}

/// Positions that are small, large, far apart, or of one slot of a table.
fn position(byte: u8) -> u64 {
    let number = u64::from(byte / 4);
    match byte % 4 {
        0 => number,
        1 => u64::MAX - number,
        2 => number << 40,
        _ => number << 8,
    }
}

/// An object or a promise of the peer: what a position is never changes.
fn import(position: u64) -> Import {
    match position.count_ones() % 2 {
        0 => Import::Object(position),
        _ => Import::Promise(position),
    }
}

/// Resolvers of the peer have positions from here on, each for one promise.
const RESOLVERS: u64 = 1 << 50;

fn encode(operation: &Operation<'_>) -> Vec<u8> {
    let mut out = vec![];
    operation.encode::<Syrup, _>(DIALECT, &mut out).unwrap();
    out
}

impl<'a> Session<'a> {
    fn new(input: &'a [u8]) -> Self {
        let mut vat = Vat::new(config(0), [1; 32]);
        let object = vat.object();
        vat.publish(b"object", object);
        vat.drop_ref(object);
        let connection = vat.accepted(0, Proof::Trusted, 0).unwrap();
        let peer = location(9);
        let start = StartSession::sign::<Syrup>(&SecretKey::from_bytes(&[7; 32]), peer.peer());
        let mut session = Self {
            input,
            vat,
            connection,
            application: Application::default(),
            held: BTreeMap::new(),
            unsettled: BTreeSet::new(),
            answers: BTreeSet::new(),
            sent: BTreeMap::new(),
            resolved: BTreeMap::new(),
            questions: BTreeSet::new(),
            gifts: 0,
        };
        session.send(&Operation::StartSession(start.unwrap()));
        session.read();
        // The object at answer 0, which is sent twice so that it is also an export.
        for answer in [0, 1] {
            session.deliver(Target::Export(0), "5'fetch6:object", Some(answer), true);
        }
        session.read();
        session
    }

    fn byte(&mut self) -> u8 {
        self.input.split_off_first().copied().unwrap_or_default()
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    fn send(&mut self, operation: &Operation<'_>) {
        self.vat.received(self.connection, &encode(operation), 0);
    }

    fn round(&mut self) {
        match self.below(12) {
            0..=2 => {
                let to = self.target();
                let arguments = self.arguments();
                let answer = match self.below(2) {
                    0 => None,
                    _ => self.free_answer(),
                };
                let resolver = self.below(2) == 1;
                self.deliver(to, &arguments, answer, resolver);
            }
            3 => {
                let to = self.target();
                let resolver = self.resolver();
                let wants_partial = self.below(2) == 1;
                self.send(&Operation::Listen {
                    to,
                    resolver,
                    wants_partial,
                });
            }
            4 => self.read_part(),
            5 => self.return_references(),
            6 => {
                let count = self.below(4);
                let answers: Vec<u64> = self.answers.iter().copied().take(count).collect();
                self.answers.retain(|answer| !answers.contains(answer));
                self.send(&Operation::GcAnswers(answers.into()));
            }
            7 => self.settle(),
            8 => self.bootstrap(),
            9 => self.read(),
            _ => self.act(),
        }
        self.serve();
    }

    fn deliver(&mut self, to: Target, arguments: &str, answer: Option<u64>, resolver: bool) {
        let resolver = resolver.then(|| self.resolver());
        self.answers.extend(answer);
        self.send(&Operation::Deliver {
            to,
            arguments: format!("[{arguments}]").as_bytes(),
            answer,
            resolver,
        });
    }

    /// A new resolver.
    fn resolver(&mut self) -> Import {
        let position = RESOLVERS + self.resolved.len() as u64;
        self.resolved.insert(position, 0);
        self.sent.insert(position, 1);
        match position % 2 {
            0 => Import::Object(position),
            _ => Import::Promise(position),
        }
    }

    /// A position of an answer that is not in use.
    fn free_answer(&mut self) -> Option<u64> {
        let position = position(self.byte());
        (!self.answers.contains(&position)).then_some(position)
    }

    /// Something of the vat that the peer can refer to.
    fn target(&mut self) -> Target {
        let index = self.below(self.held.len() + self.answers.len() + 1);
        let exports = self.held.keys().copied().map(Target::Export);
        let answers = self.answers.iter().copied().map(Target::Answer);
        let target = exports.chain(answers).nth(index);
        target.unwrap_or(Target::Export(0))
    }

    /// Up to three values.
    fn arguments(&mut self) -> String {
        (0..self.below(4)).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> String {
        match self.below(8) {
            0 => "4\"text".into(),
            1 => format!("{}+", position(self.byte())),
            2 => format!("[{}]", self.reference()),
            3 => format!("{{1\"a{}}}", self.reference()),
            4 => format!("<11'desc:tagged1'a{}>", self.reference()),
            5 => format!("<5'other{}>", self.reference()),
            _ => self.reference(),
        }
    }

    /// A descriptor.
    fn reference(&mut self) -> String {
        if self.below(2) == 0 {
            return match self.target() {
                Target::Export(position) => format!("<11'desc:export{position}+>"),
                Target::Answer(position) => format!("<11'desc:answer{position}+>"),
            };
        }
        let position = position(self.byte());
        *self.sent.entry(position).or_default() += 1;
        match import(position) {
            Import::Object(_) => format!("<18'desc:import-object{position}+>"),
            Import::Promise(_) => format!("<19'desc:import-promise{position}+>"),
        }
    }

    fn read_part(&mut self) {
        let from = self.target();
        let Some(answer) = self.free_answer() else {
            return;
        };
        self.answers.insert(answer);
        let operation = match self.below(4) {
            0 => Operation::Get {
                from,
                field: "a",
                answer,
            },
            1 => Operation::Untag {
                from,
                tag: "a",
                answer,
            },
            index => Operation::Index {
                from,
                index: index as u64 - 2,
                answer,
            },
        };
        self.send(&operation);
    }

    /// Returns some references.
    fn return_references(&mut self) {
        let mut returned = vec![];
        let positions: Vec<u64> = self.held.keys().copied().collect();
        for position in positions {
            let refs = self.below(4) as u64;
            if refs > 0 && self.held[&position] >= refs {
                returned.push((position, refs));
                self.forget(position, refs);
            }
        }
        self.send(&Operation::GcExports(returned.into()));
    }

    fn forget(&mut self, position: u64, refs: u64) {
        let held = self.held.get_mut(&position).unwrap();
        *held -= refs;
        if *held == 0 {
            self.held.remove(&position);
            self.unsettled.remove(&position);
        }
    }

    /// Calls a resolver of the vat, which may be called again.
    fn settle(&mut self) {
        let index = self.below(self.unsettled.len());
        let Some(resolver) = self.unsettled.iter().nth(index).copied() else {
            return;
        };
        let (method, value) = (self.below(3), self.result());
        let method = if method == 0 { "5'break" } else { "7'fulfill" };
        if self.below(4) > 0 {
            self.unsettled.remove(&resolver);
        }
        let arguments = format!("{method}{value}");
        self.deliver(Target::Export(resolver), &arguments, None, false);
    }

    /// The value of a promise. Nothing in it can depend on the promise, which would keep itself until the session ends:
    /// `finish` checks the tables before.
    fn result(&mut self) -> String {
        let form = self.below(4);
        let position = position(self.byte());
        if form == 0 {
            return "4\"text".into();
        }
        let (kind, length) = match import(position) {
            Import::Object(_) => ("object", 18),
            Import::Promise(_) if form == 1 => return "[]".into(),
            Import::Promise(_) => ("promise", 19),
        };
        *self.sent.entry(position).or_default() += 1;
        let reference = format!("<{length}'desc:import-{kind}{position}+>");
        match form {
            1 => format!("{{1\"a{reference}}}"),
            _ => reference,
        }
    }

    fn bootstrap(&mut self) {
        let answer = self.free_answer();
        let arguments = match self.below(4) {
            0 => "5'fetch6:object".into(),
            1 => "5'fetch6:nobody".into(),
            2 => "7'unknown".into(),
            _ => {
                self.gifts = self.gifts.wrapping_add(1);
                let reference = self.reference();
                format!("12'deposit-gift3:{:03}{reference}", self.gifts)
            }
        };
        self.deliver(Target::Export(0), &arguments, answer, true);
    }

    /// Reads what the vat has sent.
    fn read(&mut self) {
        let mut bytes = vec![];
        while let Some(output) = self.vat.poll_output() {
            assert!(matches!(output, Output::Bytes(_)), "{output:?}");
            self.vat.take_bytes(self.connection, &mut bytes);
        }
        let mut messages = vec![];
        let mut frames = Frames::<Syrup>::new(Framing::None, 1 << 20);
        let read = frames.feed(&bytes, |message| {
            messages.push(message.to_vec());
            Ok::<_, Error>(())
        });
        read.unwrap();
        for message in messages {
            self.receive(Operation::decode::<Syrup>(&message, DIALECT).unwrap());
        }
    }

    fn receive(&mut self, operation: Operation<'_>) {
        match operation {
            Operation::StartSession(_) => {}
            Operation::Abort { reason } => panic!("aborted: {reason}"),
            Operation::Deliver {
                to,
                arguments,
                answer,
                resolver,
            } => {
                let arguments = Value::decode(arguments).unwrap();
                self.addressed(to);
                self.count(&arguments);
                if let (Target::Export(position @ RESOLVERS..), Value::List(items)) =
                    (to, arguments)
                    && let Some(resolved) = self.resolved.get_mut(&position)
                {
                    *resolved += 1;
                    let method = &items[0];
                    let known = [Value::symbol("fulfill"), Value::symbol("break")];
                    assert!(items.len() == 2 && known.contains(method), "{items:?}");
                }
                self.asked(answer, resolver);
            }
            Operation::Listen { to, resolver, .. } => {
                self.addressed(to);
                self.asked(None, Some(resolver));
            }
            Operation::Get { from, answer, .. }
            | Operation::Index { from, answer, .. }
            | Operation::Untag { from, answer, .. } => {
                self.addressed(from);
                self.asked(Some(answer), None);
            }
            Operation::GcExports(returned) => {
                for (position, refs) in returned.iter() {
                    let sent = self.sent.get_mut(position).expect("never sent");
                    *sent = sent.checked_sub(*refs).expect("returned too often");
                }
            }
            Operation::GcAnswers(answers) => {
                for answer in answers.iter() {
                    assert!(self.questions.remove(answer), "no answer {answer}");
                }
            }
        }
    }

    /// Checks that the vat may refer to this.
    fn addressed(&self, target: Target) {
        let known = match target {
            Target::Export(position) => self.sent.get(&position).is_some_and(|sent| *sent > 0),
            Target::Answer(position) => self.questions.contains(&position),
        };
        assert!(known, "{target:?}");
    }

    fn asked(&mut self, answer: Option<u64>, resolver: Option<Import>) {
        if let Some(answer) = answer {
            assert!(self.questions.insert(answer), "answer {answer} is in use");
        }
        if let Some(Import::Object(position) | Import::Promise(position)) = resolver {
            *self.held.entry(position).or_default() += 1;
            self.unsettled.insert(position);
        }
    }

    /// Counts the descriptors in a value.
    fn count(&mut self, value: &Value) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.count(item)),
            Value::Dictionary(entries) => {
                entries.iter().for_each(|(_, value)| self.count(value));
            }
            Value::Record(record) => {
                let (Value::Symbol(label), [field, ..]) = (&record.label, &record.fields[..])
                else {
                    return;
                };
                let position = match field {
                    Value::Integer(position) => u64::try_from(position).unwrap_or_default(),
                    _ => return record.fields.iter().for_each(|field| self.count(field)),
                };
                match label.as_str() {
                    "desc:import-object" | "desc:import-promise" => {
                        *self.held.entry(position).or_default() += 1;
                    }
                    "desc:export" => self.addressed(Target::Export(position)),
                    "desc:answer" => self.addressed(Target::Answer(position)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Serves the events of the application.
    fn serve(&mut self) {
        while let Some(event) = self.vat.poll_event() {
            match event {
                Event::Call {
                    arguments, reply, ..
                } => {
                    self.application.held.extend(arguments.refs());
                    self.application.resolvers.extend(reply);
                }
                Event::Settled { outcome, .. } => {
                    let payload = outcome.unwrap_or_else(|reason| reason.value);
                    self.application.held.extend(payload.refs());
                }
                Event::Down(_, reason) => panic!("ended: {reason}"),
                Event::Up(_) | Event::Broken(_) | Event::Dropped(_) => {}
            }
        }
    }

    /// Lets the application do something.
    fn act(&mut self) {
        let held = self.application.held.len();
        let index = self.below(held);
        let reference = self.application.held.get(index).copied();
        match (self.below(12), reference) {
            (0..=3, _) => self.resolve(),
            (4, _) => {
                let (promise, resolver) = self.vat.promise();
                self.application.held.push(promise);
                self.application.resolvers.push(resolver);
            }
            (5 | 6, Some(reference)) => {
                let arguments = self.payload();
                let result = self.vat.call(reference, &arguments);
                self.application.held.push(result);
            }
            (7, Some(reference)) => {
                let arguments = self.payload();
                if let Err(reason) = self.vat.send(reference, &arguments) {
                    self.vat.drop_payload(reason.value);
                }
            }
            (8, Some(reference)) => self.vat.listen(reference),
            (9, Some(reference)) => {
                let part = match self.below(3) {
                    0 => self.vat.get(reference, "a"),
                    1 => self.vat.untag(reference, "a"),
                    _ => self.vat.index(reference, 0),
                };
                self.application.held.push(part);
            }
            (10 | 11, Some(reference)) => {
                self.application.held.swap_remove(index);
                self.vat.drop_ref(reference);
            }
            _ => {
                let object = self.vat.object();
                self.application.held.push(object);
            }
        }
    }

    /// A list, with references that the application holds.
    fn payload(&mut self) -> Payload {
        let count = self.below(4);
        let held = self.application.held.len();
        let indices: Vec<usize> = (0..count.min(held)).map(|_| self.below(held)).collect();
        Payload::list(|list| {
            list.string("text");
            for index in indices {
                list.reference(self.application.held[index]);
            }
        })
    }

    /// Settles or drops a resolver.
    fn resolve(&mut self) {
        let index = self.below(self.application.resolvers.len());
        if index >= self.application.resolvers.len() {
            return;
        }
        let resolver = self.application.resolvers.swap_remove(index);
        let form = self.below(8);
        // As in `result`: a new object, or a new promise.
        let object = self.vat.object();
        self.application.held.push(object);
        let tree: &[u8] = match form {
            0..=2 => b"[<8'desc:ref0+>]",
            3 => b"{1\"a<8'desc:ref0+>}",
            _ => b"<11'desc:tagged1'a<8'desc:ref0+>>",
        };
        let data = Payload::from_tree(&Value::decode(tree).unwrap(), &[object]).unwrap();
        match form {
            0 => {}
            1 => self.vat.resolve(resolver, Err(&data)),
            2..=4 => self.vat.resolve(resolver, Ok(&data)),
            5 => {
                let (promise, next) = self.vat.promise();
                self.application.held.push(promise);
                self.application.resolvers.push(next);
                let reference = Payload::reference(promise);
                self.vat.resolve(resolver, Ok(&reference));
            }
            _ => self.vat.resolve(resolver, Ok(&Payload::reference(object))),
        }
        self.vat.drop_ref(resolver);
    }

    /// Returns and drops everything on both sides, and checks what is left.
    fn finish(&mut self) {
        loop {
            self.serve();
            self.read();
            let returned: Vec<(u64, u64)> = std::mem::take(&mut self.held).into_iter().collect();
            let answers: Vec<u64> = std::mem::take(&mut self.answers).into_iter().collect();
            let application = std::mem::take(&mut self.application);
            let handles = application.resolvers.iter().chain(&application.held);
            let idle = returned.is_empty() && answers.is_empty() && handles.clone().count() == 0;
            if idle && !self.vat.has_events() {
                break;
            }
            handles.for_each(|handle| self.vat.drop_ref(*handle));
            self.send(&Operation::GcExports(returned.into()));
            self.send(&Operation::GcAnswers(answers.into()));
            // Gifts expire.
            self.vat.tick(600_000);
        }
        self.read();
        for (resolver, resolved) in &self.resolved {
            assert_eq!(*resolved, 1, "the resolver {resolver}");
        }
        let kept: Vec<_> = self.sent.iter().filter(|(_, sent)| **sent > 0).collect();
        assert!(kept.is_empty(), "not returned: {kept:?}");
        assert!(self.questions.is_empty(), "{:?}", self.questions);
        let stats = self.vat.stats();
        // The bootstrap object and the published one.
        assert_eq!((stats.nodes, stats.connections), (2, 1));
        assert_eq!((stats.exports, stats.imports), (0, 0));
        assert_eq!((stats.questions, stats.answers), (0, 0));
        assert_eq!((stats.gifts, stats.queued, stats.outbound), (0, 0, 0));
    }
}
