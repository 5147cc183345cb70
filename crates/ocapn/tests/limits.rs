//! The memory of a vat whose peer goes far beyond one limit: at most what the limit allows, and nothing remains of the
//! session. What else happens at each limit is in the unit tests of the sessions (`hostile.rs`).
#![cfg(feature = "captp")]
#![allow(clippy::unwrap_used, clippy::panic)]
mod counted;

use counted::{live, most};
use lydite_ocapn::captp::{
    Codec as _, Dialect, Frames, Framing, HandoffGive, HandoffReceive, Import, Operation,
    PublicKey, SecretKey, Signed, StartSession, Syrup, Target, Write as _, session_id,
};
use lydite_ocapn::session::{
    Config, Connection, Event, Limits, Location, Output, Payload, Proof, Vat,
};

/// How the vat's objects respond to a message.
#[derive(Clone, Copy)]
enum Application {
    /// Keep the arguments, and do not answer.
    Hold,
    /// Return a new object.
    Make,
    /// Return a text of this length.
    Text(usize),
}

/// A peer that drives one limit.
struct Row {
    limits: Limits,
    application: Application,
    /// Why the session ends or a promise breaks.
    reason: &'static str,
    /// Most memory of the vat in bytes, beyond [`SPARE`].
    memory: usize,
    /// Called with the numbers below [`STEPS`], unless the session ends before.
    step: fn(&mut Attack, u64),
}

/// The limit of most rows, and the number of steps.
const MOST: usize = 1000;
const STEPS: u64 = 10 * MOST as u64;
/// The limit of rows that count bytes.
const BYTES: usize = 1 << 20;
/// Memory in bytes that a vat keeps for reuse, and that a session uses without driving a limit.
const SPARE: usize = 96 << 10;

macro_rules! rows {
    ($($limit:ident: $row:expr;)* [$($other:ident)*]) => {
        /// A limit that is missing here is an error of the compiler.
        fn rows() -> Vec<(&'static str, Row)> {
            let Limits { $($limit: _,)* $($other: _,)* } = Limits::default();
            vec![$((stringify!($limit), $row)),*]
        }
    };
}

rows! {
    message: Row {
        limits: Limits { message: BYTES, ..Limits::default() },
        application: Application::Hold,
        reason: "longer than the limit",
        memory: 3 * BYTES,
        step: |attack, number| {
            if number == 0 {
                attack.send(b"<10'op:deliver<11'desc:export0+>[");
            }
            attack.send(&[b't'; 4096]);
        },
    };
    references: Row {
        limits: Limits { references: MOST, ..Limits::default() },
        application: Application::Hold,
        reason: "references in a message",
        // Twice as many descriptors arrive, in a message that the peer builds here too.
        memory: 500 * MOST,
        step: |attack, _| {
            let arguments = format!("[{}]", "<18'desc:import-object1+>".repeat(2 * MOST));
            attack.deliver(Target::Answer(1), arguments.as_bytes());
        },
    };
    unidentified: Row {
        limits: Limits { unidentified: MOST, connections: usize::MAX, ..Limits::default() },
        application: Application::Hold,
        reason: "too many connections without a hello",
        memory: 2500 * MOST,
        step: |attack, _| attack.connect(),
    };
    connections: Row {
        limits: Limits { unidentified: usize::MAX, connections: MOST, ..Limits::default() },
        application: Application::Hold,
        reason: "no more connections",
        memory: 2500 * MOST,
        step: |attack, _| attack.connect(),
    };
    exports: Row {
        limits: Limits { exports: MOST, ..Limits::default() },
        application: Application::Make,
        reason: "objects exported to this peer",
        memory: 250 * MOST,
        step: |attack, number| attack.ask(Target::Answer(1), b"[]", None, Some(number)),
    };
    imports: Row {
        limits: Limits { imports: MOST, ..Limits::default() },
        application: Application::Hold,
        reason: "imports",
        memory: 200 * MOST,
        step: |attack, number| {
            let arguments = format!("[<18'desc:import-object{number}+>]");
            attack.deliver(Target::Answer(1), arguments.as_bytes());
        },
    };
    answers: Row {
        limits: Limits { answers: MOST, ..Limits::default() },
        application: Application::Hold,
        reason: "answers",
        memory: 400 * MOST,
        step: |attack, number| attack.ask(Target::Answer(1), b"[]", Some(number + 3), None),
    };
    queue_bytes: Row {
        limits: Limits { queue_bytes: BYTES, ..Limits::default() },
        application: Application::Hold,
        reason: "too many messages wait",
        memory: 2 * BYTES,
        step: |attack, _| attack.deliver(Target::Answer(2), list(4096).data()),
    };
    values: Row {
        limits: Limits { values: BYTES, ..Limits::default() },
        application: Application::Text(4096),
        reason: "too many bytes in values",
        memory: 2 * BYTES,
        step: |attack, number| attack.ask(Target::Answer(1), b"[]", Some(number + 3), None),
    };
    listeners: Row {
        limits: Limits { listeners: MOST, session_listeners: usize::MAX, ..Limits::default() },
        application: Application::Hold,
        reason: "listeners",
        memory: 50 * MOST,
        step: |attack, number| attack.listen(Target::Answer(2), number),
    };
    session_listeners: Row {
        limits: Limits { listeners: usize::MAX, session_listeners: MOST, ..Limits::default() },
        application: Application::Hold,
        reason: "listeners",
        memory: 50 * MOST,
        step: |attack, number| attack.listen(Target::Answer(2), number),
    };
    gifts: Row {
        limits: Limits { gifts: MOST, ..Limits::default() },
        application: Application::Hold,
        reason: "too many gifts",
        memory: 500 * MOST,
        step: |attack, number| attack.deposit(&number.to_be_bytes()),
    };
    gift_id: Row {
        limits: Limits { gifts: usize::MAX, gift_id: 64, ..Limits::default() },
        application: Application::Hold,
        reason: "gift id too long",
        memory: 0,
        step: |attack, number| attack.deposit(&[number.to_be_bytes(); 9].concat()),
    };
    withdrawals: Row {
        limits: Limits { withdrawals: MOST / 10, signatures: u32::MAX, ..Limits::default() },
        application: Application::Hold,
        reason: "too many withdrawals wait",
        memory: 50 * MOST,
        step: |attack, number| {
            if number < STEPS / 10 {
                attack.withdraw(number);
            }
        },
    };
    handoffs: Row {
        limits: Limits { handoffs: MOST / 10, ..Limits::default() },
        application: Application::Hold,
        reason: "too many handoffs at once",
        memory: 300 * MOST,
        step: |attack, number| {
            if number < STEPS / 10 {
                let give = attack.give(attack.vat_key, &location(&format!("exporter {number}")));
                attack.deliver(Target::Answer(1), &[b"[", &give[..], b"]"].concat());
                // Further promises break, of which the peer learns nothing.
                attack.reached = number > MOST as u64 / 10 && attack.vat.stats().dials == MOST / 10;
            }
        },
    };
    outbound_hard: Row {
        limits: Limits { outbound_hard: BYTES / 2, values: BYTES / 2, ..Limits::default() },
        application: Application::Text(4096),
        reason: "does not read",
        memory: 3 * BYTES,
        step: |attack, number| {
            attack.reads = false;
            attack.ask(Target::Answer(1), b"[]", None, Some(number));
        },
    };
    location_part: Row {
        limits: Limits { location_part: 256, unidentified: usize::MAX, connections: usize::MAX, ..Limits::default() },
        application: Application::Hold,
        reason: "location too long",
        memory: 0,
        step: |attack, number| {
            if number < STEPS / 10 {
                let connection = attack.vat.accepted(0, Proof::Claimed, 0).unwrap();
                let hello = hello(&attack.key, &format!("{number:4096}"));
                attack.vat.received(connection, &hello, 0);
                attack.serve();
            }
        },
    };
    // Those of time, of work, and of the messages of the application.
    [hello_time dial_time crossed_time duplicate_time message_time close_time queue gift_time signatures outbound_soft]
}

fn location(designator: &str) -> Location {
    Location {
        transport: "memory".into(),
        designator: designator.into(),
        hints: None,
    }
}

fn encode(operation: &Operation<'_>) -> Vec<u8> {
    let mut out = vec![];
    let dialect = Dialect::Endo202608;
    operation.encode::<Syrup, _>(dialect, &mut out).unwrap();
    out
}

fn hello(key: &SecretKey, designator: &str) -> Vec<u8> {
    let location = location(designator);
    let start = StartSession::sign::<Syrup>(key, location.peer());
    encode(&Operation::StartSession(start.unwrap()))
}

/// A list of a text of this length.
fn list(length: usize) -> Payload {
    Payload::list(|list| {
        list.bytes(&vec![b'x'; length]);
    })
}

struct Attack {
    vat: Vat,
    connection: Connection,
    key: SecretKey,
    /// The vat's key in this session.
    vat_key: PublicKey,
    application: Application,
    reason: &'static str,
    /// Whether the session ended or a promise broke for that reason.
    reached: bool,
    ended: bool,
    /// Whether the peer reads what is sent to it.
    reads: bool,
    sent: Vec<u8>,
}

impl Attack {
    /// The peer has an object at answer 1, and a promise at answer 2 that does not settle.
    fn new(row: &Row) -> Self {
        let mut config = Config::new(vec![location("vat")]);
        config.limits = row.limits.clone();
        let mut vat = Vat::new(config, [1; 32]);
        let object = vat.object();
        vat.publish(b"object", object);
        let connection = vat.accepted(0, Proof::Trusted, 0).unwrap();
        let key = SecretKey::from_bytes(&[7; 32]);
        vat.received(connection, &hello(&key, "attacker"), 0);
        let mut greeting = vec![];
        vat.take_bytes(connection, &mut greeting);
        let mut vat_key = None;
        let mut frames = Frames::<Syrup>::new(Framing::None, 1 << 20);
        let read = frames.feed(&greeting, |message| {
            let operation = Operation::decode::<Syrup>(message, Dialect::Endo202608)?;
            if let Operation::StartSession(start) = operation {
                vat_key = Some(start.key);
            }
            Ok::<_, lydite_ocapn::captp::Error>(())
        });
        read.unwrap();
        let mut attack = Self {
            vat,
            connection,
            key,
            vat_key: vat_key.unwrap(),
            application: Application::Hold,
            reason: row.reason,
            reached: false,
            ended: false,
            reads: true,
            sent: vec![],
        };
        attack.ask(Target::Export(0), b"[5'fetch6:object]", Some(1), None);
        attack.ask(Target::Answer(1), b"[]", Some(2), None);
        attack.application = row.application;
        attack
    }

    fn send(&mut self, bytes: &[u8]) {
        self.vat.received(self.connection, bytes, 0);
        self.serve();
    }

    fn serve(&mut self) {
        while let Some(event) = self.vat.poll_event() {
            match event {
                Event::Call {
                    reply: Some(reply), ..
                } => {
                    let value = match self.application {
                        Application::Hold => continue,
                        Application::Make => Payload::reference(self.vat.object()),
                        Application::Text(length) => list(length),
                    };
                    self.vat.resolve(reply, Ok(&value));
                    self.vat.drop_payload(value);
                    self.vat.drop_ref(reply);
                }
                Event::Down(connection, reason) => {
                    self.reached |= reason.contains(self.reason);
                    self.ended |= connection == self.connection;
                }
                _ => {}
            }
        }
        while let Some(output) = self.vat.poll_output() {
            match output {
                Output::Bytes(connection) if self.reads => {
                    self.sent.clear();
                    self.vat.take_bytes(connection, &mut self.sent);
                    let mut windows = self.sent.windows(self.reason.len());
                    self.reached |= windows.any(|window| window == self.reason.as_bytes());
                }
                Output::Close(connection) => self.vat.closed(connection, ""),
                _ => {}
            }
        }
    }

    fn connect(&mut self) {
        let accepted = self.vat.accepted(0, Proof::Claimed, 0);
        self.reached |= accepted.is_none();
        self.serve();
    }

    fn ask(&mut self, to: Target, arguments: &[u8], answer: Option<u64>, resolver: Option<u64>) {
        self.send(&encode(&Operation::Deliver {
            to,
            arguments,
            answer,
            resolver: resolver.map(Import::Object),
        }));
    }

    fn deliver(&mut self, to: Target, arguments: &[u8]) {
        self.ask(to, arguments, None, None);
    }

    fn listen(&mut self, to: Target, resolver: u64) {
        self.send(&encode(&Operation::Listen {
            to,
            resolver: Import::Object(resolver),
            wants_partial: false,
        }));
    }

    fn deposit(&mut self, gift: &[u8]) {
        let mut arguments = b"[12'deposit-gift".to_vec();
        Syrup::writer(&mut arguments).bytes(gift);
        arguments.extend(b"<18'desc:import-object50+>]");
        self.ask(Target::Export(0), &arguments, None, Some(1));
    }

    /// The id of the session with the vat.
    fn session(&self) -> [u8; 32] {
        let (ours, theirs) = (self.key.public_key(), self.vat_key);
        session_id(&ours.id::<Syrup>(), &theirs.id::<Syrup>())
    }

    fn give(&self, receiver_key: PublicKey, exporter: &Location) -> Vec<u8> {
        let give = HandoffGive {
            receiver_key,
            exporter: exporter.peer(),
            session: self.session(),
            gifter_side: self.key.public_key().id::<Syrup>(),
            gift: exporter.designator.as_bytes(),
        };
        let mut out = vec![];
        let signed = Signed::sign::<Syrup>(&self.key, give).unwrap();
        signed.write(&mut Syrup::writer(&mut out));
        out
    }

    /// Asks for a gift that was not deposited. The peer is its gifter and its receiver.
    fn withdraw(&mut self, number: u64) {
        let exporter = location("vat");
        let give = HandoffGive {
            receiver_key: self.key.public_key(),
            exporter: exporter.peer(),
            session: self.session(),
            gifter_side: self.key.public_key().id::<Syrup>(),
            gift: &number.to_be_bytes(),
        };
        let receive = HandoffReceive {
            session: self.session(),
            receiver_side: self.key.public_key().id::<Syrup>(),
            count: number,
            give: Signed::sign::<Syrup>(&self.key, give).unwrap(),
        };
        let mut arguments = b"[13'withdraw-gift".to_vec();
        let signed = Signed::sign::<Syrup>(&self.key, receive).unwrap();
        signed.write(&mut Syrup::writer(&mut arguments));
        arguments.push(b']');
        self.ask(Target::Export(0), &arguments, None, Some(1));
    }
}

/// One test, so that no other test allocates at the same time.
#[test]
fn each_limit_bounds_the_memory() {
    let mut exceeded = vec![];
    for (limit, row) in rows() {
        let before = live();
        let mut attack = Attack::new(&row);
        let memory = most(|| {
            for number in 0..STEPS {
                (row.step)(&mut attack, number);
                if attack.ended {
                    break;
                }
            }
            attack.serve();
        });
        assert!(attack.reached, "{limit}: not reached");
        if memory > row.memory + SPARE {
            exceeded.push(format!("{limit}: {memory} bytes"));
        }
        attack.vat.closed(attack.connection, "");
        attack.serve();
        let stats = attack.vat.stats();
        assert_eq!(
            (stats.exports, stats.imports, stats.answers, stats.gifts),
            (0, 0, 0, 0),
            "{limit}"
        );
        assert_eq!((stats.queued, stats.outbound), (0, 0), "{limit}");
        drop(attack);
        assert!(live() <= before + 1024, "{limit}: memory is lost");
    }
    assert!(exceeded.is_empty(), "{exceeded:?}");
}
