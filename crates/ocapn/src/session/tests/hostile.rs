//! A peer that drives each limit: only its session ends, or only that promise breaks.
use std::{format, string::String, vec, vec::Vec};

use super::super::*;
use super::pair;
use super::world::*;
use crate::captp::*;
use crate::syrup::{self, Value};

macro_rules! driven {
    ($($limit:ident: $($test:path),+;)*) => {
        const _: fn(Limits) = |limits| {
            let Limits { $($limit: _),* } = limits;
        };
        const _: &[fn()] = &[$($($test),+),*];
    };
}

// Each limit, and the tests that drive it. A missing limit does not compile. `tests/limits.rs` measures the memory that
// a peer can make a vat hold.
driven! {
    message: long_and_deep_messages, own_messages_that_are_too_long;
    references: imports_and_references_in_a_message;
    unidentified: no_hello_in_time_and_too_many_without;
    hello_time: no_hello_in_time_and_too_many_without;
    dial_time: connections_that_do_not_open_in_time;
    crossed_time: a_peer_that_refuses_and_does_not_connect;
    duplicate_time: hellos_that_are_refused, a_peer_that_reconnects_before_its_end_is_known;
    message_time: malformed_bytes, deadlines_are_kept_in_order;
    close_time: a_connection_that_nobody_closes;
    connections: connections_in_all, handoffs::connections_for_gives_leave_room;
    exports: exports_to_one_peer, answers_held_of_one_peer;
    imports: imports_and_references_in_a_message;
    answers: answers_in_use_and_too_many;
    queue: a_promise_of_several_parties, pair::own_messages_that_cannot_wait_fail_and_the_session_goes_on;
    queue_bytes: queues_of_promises;
    values: values_in_answers, values_kept_for_a_session_that_ended, values_that_keep_each_other,
        handoffs::values_of_promises_that_the_peer_fulfils;
    listeners: listeners;
    session_listeners: listeners, listeners_that_were_notified_do_not_count;
    gifts: handoffs::gifts_withdrawals_and_signatures_are_bounded;
    withdrawals: handoffs::gifts_withdrawals_and_signatures_are_bounded;
    gift_time: handoffs::gifts_withdrawals_and_signatures_are_bounded;
    gift_id: handoffs::gifts_withdrawals_and_signatures_are_bounded, handoffs::gives_with_long_parts;
    handoffs: handoffs::gives_for_others_and_too_many;
    signatures: handoffs::gifts_withdrawals_and_signatures_are_bounded;
    outbound_soft: pair::own_messages_that_cannot_wait_fail_and_the_session_goes_on;
    outbound_hard: a_peer_that_does_not_read, messages_for_a_peer_that_does_not_read, pair::own_messages_that_cannot_wait_fail_and_the_session_goes_on;
    location_part: locations_that_are_too_long, handoffs::gives_with_long_parts;
}

/// A vat under attack with an honest peer (vat 1), and the attacker's side of a connection.
struct Attack {
    world: World,
    connection: Connection,
    key: SecretKey,
    events: Vec<Event>,
    honest: Ref,
}

fn hello(key: &SecretKey, designator: &str) -> Vec<u8> {
    let mut location = location(9);
    location.designator = designator.into();
    encode(&Operation::StartSession(
        StartSession::sign::<Syrup>(key, location.peer()).unwrap(),
    ))
}

fn encode(operation: &Operation<'_>) -> Vec<u8> {
    let mut out = vec![];
    operation
        .encode::<Syrup, _>(Dialect::Endo202608, &mut out)
        .unwrap();
    out
}

fn deliver(to: Target, arguments: &[u8], answer: Option<u64>, resolver: Option<u64>) -> Vec<u8> {
    encode(&Operation::Deliver {
        to,
        arguments,
        answer,
        resolver: resolver.map(Import::Object),
    })
}

fn fetch(swiss: &str, answer: u64) -> Vec<u8> {
    let arguments = format!("[5'fetch{}:{swiss}]", swiss.len());
    deliver(Target::Export(0), arguments.as_bytes(), Some(answer), None)
}

impl Attack {
    fn new(limits: Limits) -> Self {
        let mut configs: Vec<Config> = (0..2).map(config).collect();
        configs[0].limits = limits;
        let mut world = World::with(configs, 77);
        world.publish(0, b"object");
        let honest = world.enliven(1, 0, b"object");
        world.vats[1].listen(honest);
        world.settle();
        let mut attack = Self {
            connection: world.vats[0].accepted(0, Proof::Trusted, 0).unwrap(),
            world,
            key: SecretKey::from_bytes(&[7; 32]),
            events: vec![],
            honest,
        };
        let hello = hello(&attack.key, "attacker");
        attack.send(&hello);
        let greeting = attack.read();
        assert!(matches!(greeting[0], Value::Record(_)), "{greeting:?}");
        attack
    }

    fn default() -> Self {
        Self::new(Limits::default())
    }

    fn vat(&mut self) -> &mut Vat {
        &mut self.world.vats[0]
    }

    fn send(&mut self, bytes: &[u8]) {
        let (connection, now) = (self.connection, self.world.now);
        self.vat().received(connection, bytes, now);
        while let Some(event) = self.vat().poll_event() {
            self.events.push(event);
        }
    }

    /// What was sent to the attacker.
    fn read(&mut self) -> Vec<Value> {
        let connection = self.connection;
        let mut bytes = vec![];
        self.vat().take_bytes(connection, &mut bytes);
        let mut values = vec![];
        let mut frames = Frames::<Syrup>::new(Framing::None, 1 << 24);
        frames
            .feed(&bytes, |message| {
                values.push(Value::decode(message).unwrap());
                Ok::<(), Error>(())
            })
            .unwrap();
        values
    }

    /// What resolvers of the attacker were told, as text.
    fn told(&mut self) -> Vec<String> {
        let texts = self.read().into_iter().map(|value| {
            let encoded = syrup::encode(&value).unwrap();
            format!("{}", encoded.escape_ascii())
        });
        texts
            .filter(|text| text.contains("fulfill") || text.contains("break"))
            .collect()
    }

    fn ended(&self) -> Option<String> {
        self.events.iter().find_map(|event| match event {
            Event::Down(connection, reason) if *connection == self.connection => {
                Some(reason.clone())
            }
            _ => None,
        })
    }

    /// The session ended for this reason, the attacker was told, nothing of it remains, and others go on.
    #[track_caller]
    fn ends(mut self, reason: &str) {
        let ended = self.ended().expect("the session goes on");
        assert!(ended.contains(reason), "{ended}");
        let last = self.read().pop().expect("no op:abort");
        let Value::Record(record) = last else {
            panic!()
        };
        assert_eq!(record.label, Value::symbol("op:abort"));
        let connection = self.connection;
        self.vat().closed(connection, "");
        self.goes_on();
    }

    /// The honest peer can call, and what it does not hold is free.
    #[track_caller]
    fn goes_on(mut self) {
        let result = self.world.vats[1].call(self.honest, &Payload::list(|_| {}));
        self.world.vats[1].listen(result);
        let events = self.world.settle();
        let (_, _, reply) = calls(&events[0])[0].clone();
        self.vat().resolve(reply.unwrap(), Ok(&"fine".into()));
        self.vat().drop_ref(reply.unwrap());
        let events = self.world.settle();
        assert_eq!(outcome(&events[1], result), Some(Ok("fine".into())));
    }

    /// Also checks that the attack left nothing in the tables.
    #[track_caller]
    fn ends_clean(mut self, reason: &str) {
        for event in std::mem::take(&mut self.events) {
            match &event {
                Event::Call {
                    arguments, reply, ..
                } => {
                    self.vat().drop_payload(arguments.clone());
                    reply.iter().for_each(|reply| self.vat().drop_ref(*reply));
                }
                Event::Down(..) => self.events.push(event),
                _ => {}
            }
        }
        let stats = self.vat().stats();
        // Bootstrap, the published object, and the answer that the honest peer holds.
        assert_eq!(
            (stats.nodes, stats.imports, stats.gifts, stats.queued),
            (3, 0, 0, 0)
        );
        self.ends(reason);
    }
}

#[test]
fn malformed_bytes() {
    for bytes in [
        &b"x"[..],
        b"<",
        b"<11'op:delivers>",
        b"<5'hello>",
        b"t",
        b"[]",
        b"<10'op:deliver>",
    ] {
        let mut attack = Attack::default();
        attack.send(bytes);
        if bytes == b"<" {
            // The message is not complete: it has 30 s.
            attack.world.now = 30_000;
            attack.vat().tick(29_999);
            assert_eq!(attack.ended(), None);
            attack.vat().tick(30_000);
            attack
                .events
                .extend(std::iter::from_fn(|| attack.world.vats[0].poll_event()));
            attack.ends_clean("message not complete in time");
        } else {
            attack.ends_clean("byte");
        }
    }
}

#[test]
fn long_and_deep_messages() {
    let limits = Limits {
        message: 10_000,
        ..Limits::default()
    };
    let text = format!("[10000:{}]", "x".repeat(10_000));
    for message in [
        [b"<10'op:deliver[".as_slice(), &[b't'; 10_001]].concat(),
        deliver(Target::Export(0), text.as_bytes(), None, None),
    ] {
        let mut attack = Attack::new(limits.clone());
        attack.send(&message);
        attack.ends_clean("longer than the limit");
    }

    let mut attack = Attack::default();
    attack.send(b"<8'op:abort2000000\"");
    attack.send(&vec![b'a'; 1 << 20]);
    attack.ends_clean("longer than the limit");

    let mut attack = Attack::default();
    attack.connection = attack.vat().accepted(0, Proof::Trusted, 0).unwrap();
    attack.send(b"1048577:");
    let ended = attack.ended().unwrap();
    assert!(ended.contains("longer than the limit"), "{ended}");
    attack.goes_on();

    let nested = |depth| ["[".repeat(depth), "]".repeat(depth)].concat();
    for is_complete in [true, false] {
        let mut attack = Attack::default();
        attack.send(&deliver(
            Target::Export(0),
            nested(100).as_bytes(),
            None,
            None,
        ));
        assert_eq!(attack.ended(), None);
        let deep = deliver(Target::Export(0), nested(1000).as_bytes(), None, None);
        attack.send(&deep[..if is_complete { deep.len() } else { 900 }]);
        attack.ends_clean("nested deeper than the limit");
    }
}

#[test]
fn own_messages_that_are_too_long() {
    let mut attack = Attack::new(Limits {
        message: 1_000,
        ..Limits::default()
    });
    attack.send(&fetch("object", 1));
    for answer in [2, 3] {
        attack.send(&deliver(
            Target::Answer(1),
            b"[]",
            Some(answer),
            Some(answer),
        ));
    }
    let replies = calls(&std::mem::take(&mut attack.events));
    for (length, (_, _, reply)) in [1_000, 10].into_iter().zip(replies) {
        let value = Payload::from("x".repeat(length));
        attack.vat().resolve(reply.unwrap(), Ok(&value));
        attack.vat().drop_ref(reply.unwrap());
    }
    let told = attack.told();
    assert!(
        told.len() == 2
            && told[0].contains("message longer than 1000 bytes")
            && told[1].contains("fulfill10"),
        "{told:?}"
    );
    attack.goes_on();
}

#[test]
fn positions_that_do_not_exist() {
    for (message, reason) in [
        (deliver(Target::Export(9), b"[]", None, None), "no export 9"),
        (deliver(Target::Answer(9), b"[]", None, None), "no answer 9"),
        (
            deliver(Target::Export(0), b"[<11'desc:export9+>]", None, None),
            "no export 9",
        ),
        (
            deliver(Target::Export(0), b"[{1\"a<11'desc:answer9+>}]", None, None),
            "no answer 9",
        ),
        (
            deliver(Target::Export(0), b"[<8'desc:ref0+>]", None, None),
            "unknown descriptor",
        ),
        (
            deliver(
                Target::Export(0),
                b"[{<18'desc:import-object1+>t}]",
                None,
                None,
            ),
            "not of the expected type",
        ),
        (
            deliver(
                Target::Export(0),
                b"[#<18'desc:import-object1+>$]",
                None,
                None,
            ),
            "not of the expected type",
        ),
        (
            encode(&Operation::GcExports(vec![(9, 1)].into())),
            "cannot return 1 references to export 9",
        ),
        (
            encode(&Operation::GcExports(vec![(1, 0)].into())),
            "cannot return 0 references",
        ),
        (encode(&Operation::GcAnswers(vec![9].into())), "no answer 9"),
        (
            encode(&Operation::Index {
                from: Target::Answer(9),
                index: 0,
                answer: 1,
            }),
            "no answer 9",
        ),
        (
            hello(&SecretKey::from_bytes(&[8; 32]), "again"),
            "second op:start-session",
        ),
    ] {
        let mut attack = Attack::default();
        attack.send(&message);
        attack.ends_clean(reason);
    }
}

#[test]
fn more_references_returned_than_were_sent() {
    let mut attack = Attack::default();
    attack.send(&deliver(
        Target::Export(0),
        b"[5'fetch6:object]",
        None,
        Some(1),
    ));
    assert_eq!(attack.told().len(), 1);
    attack.send(&encode(&Operation::GcExports(vec![(1, 2)].into())));
    attack.ends_clean("cannot return 2 references to export 1");
}

#[test]
fn references_are_returned_in_the_form_of_any_dialect() {
    for (exports, answers) in [
        ("<13'op:gc-exports[1+0+][2+9+]>", "<13'op:gc-answers[1+]>"),
        ("<12'op:gc-export[1+][2+]>", "<12'op:gc-answer[1+]>"),
        ("<12'op:gc-export1+2+>", "<12'op:gc-answer1+>"),
    ] {
        let mut attack = Attack::default();
        attack.send(&fetch("object", 1));
        for resolver in [1, 2] {
            let fetch = b"[5'fetch6:object]";
            attack.send(&deliver(Target::Export(0), fetch, None, Some(resolver)));
        }
        let tables = |attack: &mut Attack| {
            let stats = attack.vat().stats();
            (stats.exports, stats.answers)
        };
        // The honest peer has an export, and an answer for its call.
        let (others, answered) = tables(&mut attack);
        attack.send(exports.as_bytes());
        attack.send(answers.as_bytes());
        assert_eq!(attack.ended(), None);
        assert_eq!(tables(&mut attack), (others - 1, answered - 1), "{exports}");
        attack.goes_on();
    }
    for malformed in [
        "<13'op:gc-exports[1+][]>",
        "<13'op:gc-exports[][1+]>",
        "<13'op:gc-exports[1+]>",
        "<12'op:gc-export1+>",
        "<12'op:gc-export1+1+1+>",
        "<13'op:gc-answers[1\"a]>",
        "<13'op:gc-answers>",
    ] {
        let mut attack = Attack::default();
        let fetch = b"[5'fetch6:object]";
        attack.send(&deliver(Target::Export(0), fetch, Some(1), Some(1)));
        attack.send(malformed.as_bytes());
        attack.ends_clean("byte");
    }
}

#[test]
fn imports_change_kind() {
    let mut attack = Attack::default();
    let arguments = b"[<18'desc:import-object5+><19'desc:import-promise5+>]";
    attack.send(&deliver(Target::Export(0), arguments, None, None));
    attack.ends_clean("both an object and a promise");
}

/// The resolver of a question, at position 1, is an object like others.
#[test]
fn resolvers_of_questions_are_objects() {
    let to = Target::Export(1);
    let text = |value: Result<&str, &str>| match value {
        Ok(value) => Some(Ok(Payload::from(value))),
        Err(reason) => Some(Err(Reason::from(reason))),
    };
    let fulfil = b"[7'fulfill4\"done]";
    let malformed = deliver(to, b"[7'fulfill1\"a1\"b]", None, None);
    let listen = encode(&Operation::Listen {
        to,
        resolver: Import::Object(7),
        wants_partial: false,
    });
    let returned = encode(&Operation::GcExports(vec![(1, 1)].into()));
    let twice = [
        deliver(to, fulfil, None, None),
        deliver(to, b"[5'break1\"x]", None, None),
    ];
    for (messages, expected, told) in [
        (vec![malformed.clone()], None, ""),
        (
            vec![malformed, deliver(to, fulfil, None, None)],
            text(Ok("done")),
            "",
        ),
        (
            vec![deliver(to, b"[5'break1\"x]", None, None)],
            Some(Err(Payload::from("x").into())),
            "",
        ),
        (twice.to_vec(), text(Ok("done")), ""),
        (
            vec![deliver(to, fulfil, Some(3), Some(7))],
            text(Ok("done")),
            "fulfill[]]",
        ),
        (vec![listen], None, "fulfill<18"),
        (
            vec![returned.clone()],
            text(Err("the resolver was dropped")),
            "",
        ),
        (
            vec![deliver(to, fulfil, None, None), returned.clone()],
            text(Ok("done")),
            "",
        ),
        // It is an argument, to an object that resolves it.
        (
            vec![deliver(
                Target::Answer(1),
                b"[<11'desc:export1+>]",
                None,
                None,
            )],
            text(Ok("resolved")),
            "",
        ),
        (
            vec![
                deliver(Target::Answer(1), b"[<11'desc:export1+>]", None, None),
                returned,
            ],
            text(Ok("resolved")),
            "",
        ),
    ] {
        let mut attack = Attack::default();
        attack.send(&fetch("object", 1));
        attack.send(&deliver(
            Target::Answer(1),
            b"[<18'desc:import-object5+>]",
            None,
            None,
        ));
        let (_, arguments, _) = calls(&std::mem::take(&mut attack.events))[0].clone();
        let promise = attack
            .vat()
            .call(arguments.refs()[0], &Payload::list(|_| {}));
        attack.vat().listen(promise);
        // That, and the object that the honest peer holds.
        assert_eq!(attack.vat().stats().exports, 2);
        attack.read();
        for message in messages {
            attack.send(&message);
        }
        for (_, arguments, _) in calls(&attack.events) {
            attack
                .vat()
                .resolve(arguments.refs()[0], Ok(&"resolved".into()));
            attack.vat().drop_payload(arguments);
        }
        while let Some(event) = attack.vat().poll_event() {
            attack.events.push(event);
        }
        assert_eq!(attack.ended(), None);
        assert_eq!(outcome(&attack.events, promise), expected);
        let texts = attack.told();
        assert!(
            texts.len() == usize::from(!told.is_empty()) && texts.concat().contains(told),
            "{texts:?}"
        );
        attack.vat().drop_payload(arguments);
        attack.vat().drop_ref(promise);
        attack.send(b"<8'op:abort3\"end>");
        let connection = attack.connection;
        attack.vat().closed(connection, "");
        assert_eq!(attack.vat().stats().nodes, 3);
        attack.goes_on();
    }
}

#[test]
fn answers_in_use_and_too_many() {
    let mut attack = Attack::default();
    attack.send(&fetch("object", 1));
    attack.send(&fetch("object", 1));
    attack.ends_clean("answer 1 is in use");

    let mut attack = Attack::new(Limits {
        answers: 10,
        ..Limits::default()
    });
    for answer in 0..10 {
        attack.send(&fetch("object", answer));
    }
    assert_eq!(attack.ended(), None);
    attack.send(&fetch("object", 10));
    attack.ends_clean("more than 10 answers");
}

#[test]
fn imports_and_references_in_a_message() {
    let limits = Limits {
        imports: 10,
        references: 20,
        ..Limits::default()
    };
    let mut attack = Attack::new(limits.clone());
    let import = |at: u64| format!("<18'desc:import-object{at}+>");
    let many = |range: std::ops::Range<u64>| format!("[{}]", range.map(import).collect::<String>());
    attack.send(&fetch("object", 1));
    attack.send(&deliver(
        Target::Answer(1),
        many(0..10).as_bytes(),
        None,
        None,
    ));
    assert_eq!(attack.ended(), None);
    attack.send(&deliver(
        Target::Answer(1),
        many(10..11).as_bytes(),
        None,
        None,
    ));
    attack.ends_clean("more than 10 imports");

    let mut attack = Attack::new(limits);
    let same = format!("[{}]", import(1).repeat(21));
    attack.send(&deliver(Target::Export(0), same.as_bytes(), None, None));
    attack.ends_clean("more than 20 references");
}

#[test]
fn exports_to_one_peer() {
    let mut attack = Attack::new(Limits {
        exports: 3,
        ..Limits::default()
    });
    attack.send(&fetch("object", 1));
    for answer in 2..7 {
        attack.send(&deliver(
            Target::Answer(1),
            b"[]",
            Some(answer),
            Some(answer),
        ));
    }
    let calls = calls(&std::mem::take(&mut attack.events));
    assert_eq!(calls.len(), 5);
    for (_, _, reply) in calls {
        let object = attack.vat().object();
        attack
            .vat()
            .resolve(reply.unwrap(), Ok(&Payload::reference(object)));
        attack.vat().drop_ref(reply.unwrap());
        attack.vat().drop_ref(object);
    }
    let told = attack.told();
    assert_eq!(
        told.iter().filter(|text| text.contains("fulfill")).count(),
        3,
        "{told:?}"
    );
    assert_eq!(
        told.iter()
            .filter(|text| text.contains("more than 3 objects"))
            .count(),
        2
    );
    assert_eq!(attack.ended(), None);
    attack.goes_on();
}

#[test]
fn answers_held_of_one_peer() {
    let mut attack = Attack::new(Limits {
        exports: 3,
        ..Limits::default()
    });
    attack.send(&fetch("object", 1));
    let object = b"[<18'desc:import-object5+>]";
    attack.send(&deliver(Target::Answer(1), object, None, None));
    let peer = calls(&attack.events)[0].1.refs()[0];
    let nothing = Payload::list(|_| {});
    let [.., held, refused] = [(); 4].map(|()| attack.vat().call(peer, &nothing));
    assert_eq!(attack.vat().outcome(held), None);
    let reason = attack.vat().outcome(refused).unwrap().unwrap_err();
    assert_eq!(reason.cause, Cause::Limit);
    assert_eq!(reason.message(), "too many answers of this peer are held");
    assert_eq!(attack.ended(), None);
    attack.goes_on();
}

#[test]
fn queues_of_promises() {
    let limits = Limits {
        queue_bytes: 10_000,
        ..Limits::default()
    };
    // Small messages count with what their entries in the queue take.
    let entry = size_of::<super::super::node::Queued>();
    for (size, allowed) in [(1000, 10_000 / (entry + 1007)), (1, 10_000 / (entry + 5))] {
        let mut attack = Attack::new(limits.clone());
        attack.send(&fetch("object", 1));
        attack.send(&deliver(Target::Answer(1), b"[]", Some(2), None));
        let arguments = format!("[{size}:{}]", "x".repeat(size));
        let message = deliver(Target::Answer(2), arguments.as_bytes(), None, None);
        for _ in 0..allowed {
            attack.send(&message);
        }
        assert_eq!(attack.ended(), None);
        attack.send(&message);
        attack.ends_clean("too many messages wait");
    }
}

#[test]
fn a_promise_of_several_parties() {
    let mut attack = Attack::new(Limits {
        queue: 10,
        ..Limits::default()
    });
    attack.send(&fetch("object", 1));
    attack.send(&deliver(Target::Answer(1), b"[]", Some(2), None));
    let reply = calls(&attack.events)[0].2.unwrap();
    let (promise, resolver) = attack.vat().promise();
    attack
        .vat()
        .resolve(reply, Ok(&Payload::reference(promise)));
    let nothing = Payload::list(|_| {});
    let [first, .., tenth] = [(); 10].map(|()| attack.vat().call(promise, &nothing));
    // Messages of the attacker do not count for the caller, and vice versa.
    for _ in 0..30 {
        attack.send(&deliver(Target::Answer(2), b"[]", None, None));
    }
    let refused = attack.vat().call(promise, &nothing);
    for (call, waits) in [(first, true), (tenth, true), (refused, false)] {
        assert_eq!(attack.vat().outcome(call).is_none(), waits);
    }
    assert_eq!(attack.ended(), None);
    attack.vat().drop_ref(resolver);
    assert_eq!(attack.vat().stats().queued, 0);
    attack.goes_on();
}

#[test]
fn messages_for_a_peer_that_does_not_read() {
    for answer in [None, Some(3)] {
        let mut attack = Attack::new(Limits {
            message: 10_000,
            outbound_hard: 100_000,
            ..Limits::default()
        });
        // The honest peer passes an object, which the attacker gets.
        let object = attack.world.vats[1].object();
        let arguments = Payload::list(|list| {
            list.reference(object);
        });
        let honest = attack.honest;
        attack.world.vats[1].send(honest, &arguments).unwrap();
        let events = attack.world.settle();
        let object = calls(&events[0])[0].1.refs()[0];
        attack.send(&fetch("object", 1));
        attack.send(&deliver(Target::Answer(1), b"[]", Some(2), None));
        let reply = calls(&attack.events)[0].2.unwrap();
        let nothing = Payload::list(|_| {});
        let promise = attack.vat().call(object, &nothing);
        attack
            .vat()
            .resolve(reply, Ok(&Payload::reference(promise)));

        let arguments = format!("[9000:{}]", "x".repeat(9000));
        let (mut sent, mut answers) = (0, 3..);
        while attack.vat().stats().outbound < 90_000 && sent < 30 {
            let answer = answer.and_then(|_| answers.next());
            let message = deliver(Target::Answer(2), arguments.as_bytes(), answer, None);
            attack.send(&message);
            sent += 1;
        }
        assert!((9..12).contains(&sent), "{sent}");
        let (next, resolver) = (answers.next(), Some(7));
        let (next, resolver) = (
            next.and(answer).and(next),
            resolver.and(answer).and(Some(7)),
        );
        let message = deliver(Target::Answer(2), arguments.as_bytes(), next, resolver);
        attack.send(&message);
        assert!(attack.vat().stats().outbound < 100_000);
        match answer {
            // A lost message has to be reported, and a one-way message has no result that could break.
            None => attack.ends("too many bytes wait to be sent to this peer"),
            Some(_) => {
                let told = attack.told();
                assert!(
                    told.len() == 1 && told[0].contains("too many bytes wait"),
                    "{told:?}"
                );
                assert_eq!(attack.ended(), None);
                attack.goes_on();
            }
        }
    }
}

#[test]
fn values_in_answers() {
    let mut attack = Attack::new(Limits {
        values: 1_000_000,
        ..Limits::default()
    });
    // A promise that breaks with a large reason, and answers that break with it.
    attack.send(&fetch("object", 1));
    attack.send(&deliver(Target::Answer(1), b"[]", Some(2), None));
    for answer in 3..100 {
        attack.send(&deliver(Target::Answer(2), b"[]", Some(answer), None));
    }
    let reason = "x".repeat(100_000);
    let reply = attack.events.iter().find_map(|event| match event {
        Event::Call { reply, .. } => *reply,
        _ => None,
    });
    let reply = reply.unwrap();
    attack
        .vat()
        .resolve(reply, Err(&Payload::from(reason.as_str())));
    attack.send(b"");
    attack.ends_clean("too many bytes in values");

    // Answers that were returned do not count any more.
    let mut attack = Attack::new(Limits {
        values: 10_000,
        ..Limits::default()
    });
    for answer in 1..100 {
        let swiss = "x".repeat(100);
        attack.send(&fetch(&swiss, answer));
        attack.send(&encode(&Operation::GcAnswers(vec![answer].into())));
    }
    assert_eq!(attack.ended(), None);
    attack.goes_on();
}

#[test]
fn values_that_keep_each_other() {
    let mut attack = Attack::new(Limits {
        values: 100_000,
        ..Limits::default()
    });
    // Each answer contains the one before, to which the attacker does not refer any more.
    attack.send(&fetch("object", 1));
    for answer in 2..30 {
        let before = match answer {
            2 => String::new(),
            _ => format!("<11'desc:answer{}+>", answer - 1),
        };
        let arguments = format!("[{before}9000:{}]", "x".repeat(9000));
        let to = Target::Answer(1);
        attack.send(&deliver(to, arguments.as_bytes(), Some(answer), None));
        if attack.ended().is_some() {
            assert_eq!(answer, 14);
            break;
        }
        let (_, arguments, reply) = calls(&attack.events).pop().unwrap();
        attack.events.clear();
        attack.vat().resolve(reply.unwrap(), Ok(&arguments));
        attack.vat().drop_ref(reply.unwrap());
        attack.vat().drop_payload(arguments);
        if answer > 2 {
            let before = Operation::GcAnswers(vec![answer - 1].into());
            attack.send(&encode(&before));
        }
        attack.send(b"");
    }
    attack.ends("too many bytes in values");
}

#[test]
fn values_kept_for_a_session_that_ended() {
    let mut attack = Attack::new(Limits {
        values: 1_000,
        ..Limits::default()
    });
    let (promise, resolver) = attack.vat().promise();
    for _ in 0..2 {
        attack.send(&fetch("object", 1));
        attack.send(&deliver(Target::Answer(1), b"[]", Some(2), Some(3)));
        let Some(Event::Call { reply, .. }) = attack.events.pop() else {
            panic!("no call");
        };
        let list = Payload::list(|list| {
            list.reference(promise);
        });
        attack.vat().resolve(reply.unwrap(), Ok(&list));
        attack.vat().drop_ref(reply.unwrap());
        if attack.world.now == 0 {
            // The same peer comes back.
            let connection = attack.connection;
            attack.vat().closed(connection, "");
            attack.world.now = 1;
            attack.connection = attack.vat().accepted(0, Proof::Trusted, 1).unwrap();
            let hello = hello(&SecretKey::from_bytes(&[8; 32]), "attacker");
            attack.send(&hello);
            attack.events.clear();
        }
    }
    let value = "x".repeat(2_000);
    attack
        .vat()
        .resolve(resolver, Ok(&Payload::from(value.as_str())));
    attack.send(b"");
    attack.vat().drop_ref(resolver);
    attack.vat().drop_ref(promise);
    while let Some(event) = attack.vat().poll_event() {
        attack.events.push(event);
    }
    attack.ends("too many bytes in values");
}

impl Attack {
    /// Lets the application fulfil a call with a promise and its resolver. The attacker refers to them as the answers
    /// `first` and `first + 1`.
    fn promise(&mut self, first: u64) {
        let list = first + 2;
        self.send(&fetch("object", list + 1));
        self.send(&deliver(Target::Answer(list + 1), b"[]", Some(list), None));
        let Some(Event::Call { reply, .. }) = self.events.pop() else {
            panic!("no call");
        };
        let (promise, resolver) = self.vat().promise();
        let pair = Payload::list(|list| {
            list.reference(promise).reference(resolver);
        });
        self.vat().resolve(reply.unwrap(), Ok(&pair));
        for handle in [promise, resolver, reply.unwrap()] {
            self.vat().drop_ref(handle);
        }
        self.item(list, 0, first);
        self.item(list, 1, first + 1);
        self.send(&encode(&Operation::GcAnswers(vec![list, list + 1].into())));
    }

    fn item(&mut self, list: u64, index: u64, answer: u64) {
        self.send(&encode(&Operation::Index {
            from: Target::Answer(list),
            index,
            answer,
        }));
    }

    fn settle(&mut self, resolver: u64, arguments: &str) {
        let to = Target::Answer(resolver);
        self.send(&deliver(to, arguments.as_bytes(), None, None));
    }
}

/// Promises that keep each other. Answers 1 and 11 are promises, 2 and 12 are their resolvers.
const CIRCLES: &[fn(&mut Attack)] = &[
    |attack| attack.settle(2, "[7'fulfill[<11'desc:answer1+>]]"),
    |attack| attack.settle(2, "[5'break{1\"a<11'desc:answer1+>}]"),
    |attack| {
        attack.settle(2, "[7'fulfill[<11'desc:answer11+>]]");
        attack.settle(12, "[5'break[<11'desc:answer1+>]]");
    },
    |attack| {
        attack.settle(2, "[7'fulfill[<11'desc:answer11+>]]");
        attack.settle(12, "[7'fulfill<11'desc:answer1+>]");
    },
    // The result of a message that waits.
    |attack| {
        attack.send(&deliver(Target::Answer(1), b"[]", Some(3), None));
        attack.settle(2, "[7'fulfill<11'desc:answer3+>]");
    },
    |attack| {
        attack.send(&deliver(Target::Answer(1), b"[]", Some(3), None));
        attack.send(&deliver(Target::Answer(11), b"[]", Some(13), None));
        attack.settle(2, "[7'fulfill<11'desc:answer13+>]");
        attack.settle(12, "[7'fulfill<11'desc:answer3+>]");
    },
    // The resolver in a message that waits, or in the value of what is in one.
    |attack| attack.settle(1, "[<11'desc:answer2+>]"),
    |attack| {
        attack.settle(1, "[<11'desc:answer11+>]");
        attack.settle(12, "[7'fulfill[<11'desc:answer2+>]]");
    },
    // A part.
    |attack| {
        attack.item(1, 0, 3);
        attack.settle(2, "[7'fulfill<11'desc:answer3+>]");
    },
    |attack| {
        attack.item(1, 0, 3);
        attack.item(11, 0, 13);
        attack.settle(2, "[7'fulfill<11'desc:answer13+>]");
        attack.settle(12, "[7'fulfill<11'desc:answer3+>]");
    },
];

#[test]
fn promises_that_keep_each_other_end_with_the_session() {
    for close in CIRCLES {
        let mut attack = Attack::default();
        attack.promise(1);
        attack.promise(11);
        close(&mut attack);
        assert_eq!(attack.ended(), None);
        attack.send(b"<8'op:abort3\"end>");
        let connection = attack.connection;
        attack.vat().closed(connection, "");
        let stats = attack.vat().stats();
        assert_eq!((stats.nodes, stats.connections), (3, 1));
        attack.goes_on();
    }
}

#[test]
fn circles_are_searched_for_if_the_session_may_have_left_some() {
    let mut attack = Attack::default();
    let objects = [(); 1_000].map(|()| attack.vat().object());
    for (references, values, searched) in [(2, 0, false), (100, 0, true), (2, 1 << 30, true)] {
        attack.vat().suspected = 0;
        attack.vat().suspect_ended(references, values);
        assert_eq!(attack.vat().has_suspects(), searched);
    }
    objects
        .iter()
        .for_each(|object| attack.vat().drop_ref(*object));
    attack.goes_on();
}

#[test]
fn promises_that_keep_each_other_are_bounded() {
    for close in CIRCLES {
        let mut attack = Attack::new(Limits {
            values: 20_000,
            queue_bytes: 20_000,
            ..Limits::default()
        });
        for _ in 0..2_000 {
            attack.promise(1);
            attack.promise(11);
            close(&mut attack);
            let answers = vec![1, 2, 3, 11, 12, 13];
            let answers: Vec<u64> = answers
                .into_iter()
                .filter(|answer| {
                    let session = attack.world.vats[0].sessions.get(attack.connection.0);
                    session.is_some_and(|session| session.answers.get(*answer).is_some())
                })
                .collect();
            attack.send(&encode(&Operation::GcAnswers(answers.into())));
            attack.read();
            if attack.ended().is_some() {
                break;
            }
            assert!(attack.vat().stats().nodes < 500);
        }
        if attack.ended().is_none() {
            attack.goes_on();
        }
    }
}

/// What others hold is not broken.
#[test]
fn promises_that_somebody_holds_outlive_a_session() {
    let mut attack = Attack::default();
    let mut list = vec![];
    for _ in 0..2 {
        let (promise, resolver) = attack.vat().promise();
        list.extend([promise, resolver]);
    }
    let [first, resolve_first, second, resolve_second] = list[..] else {
        panic!()
    };
    let vat = attack.vat();
    // A circle with a handle.
    vat.resolve(
        resolve_first,
        Ok(&Payload::list(|list| {
            list.reference(first);
        })),
    );
    // A promise that waits, which only its resolver can break.
    let result = vat.call(
        second,
        &Payload::list(|list| {
            list.reference(first).reference(second);
        }),
    );
    vat.listen(result);
    vat.drop_ref(second);
    attack.send(b"<8'op:abort3\"end>");
    let connection = attack.connection;
    let vat = attack.vat();
    vat.closed(connection, "");
    let value = vat.outcome(first).unwrap().unwrap();
    assert_eq!(value.refs(), [first]);
    let object = vat.object();
    vat.resolve(resolve_second, Ok(&Payload::reference(object)));
    let called = std::iter::from_fn(|| vat.poll_event()).any(|event| match event {
        Event::Call { arguments, .. } => arguments.refs()[0] == first,
        _ => false,
    });
    assert!(called);
    attack.goes_on();
}

#[test]
fn deadlines_are_kept_in_order() {
    let mut attack = Attack::new(Limits {
        message_time: 500,
        ..Limits::default()
    });
    assert_eq!(attack.vat().deadline(), None);
    attack.send(b"<");
    assert_eq!(attack.vat().deadline(), Some(500));
    let waiting = attack.vat().accepted(0, Proof::Trusted, 100).unwrap();
    // The second connection has 10 s for its hello.
    assert_eq!(attack.vat().deadline(), Some(500));
    attack.vat().tick(499);
    assert_eq!(attack.vat().deadline(), Some(500));
    attack.vat().tick(500);
    assert_eq!(attack.vat().deadline(), Some(1_500));
    attack.vat().tick(1_500);
    assert_eq!(attack.vat().deadline(), Some(10_100));
    attack.vat().closed(waiting, "");
    assert_eq!(attack.vat().deadline(), None);
}

#[test]
fn listeners_that_were_notified_do_not_count() {
    let mut attack = Attack::new(Limits {
        session_listeners: 3,
        ..Limits::default()
    });
    attack.send(&fetch("object", 1));
    for answer in 2..20 {
        attack.send(&deliver(
            Target::Answer(1),
            b"[]",
            Some(answer),
            Some(answer),
        ));
        let reply = attack.events.iter().rev().find_map(|event| match event {
            Event::Call { reply, .. } => *reply,
            _ => None,
        });
        attack.vat().resolve(reply.unwrap(), Ok(&"done".into()));
    }
    let told = attack.told();
    assert_eq!(told.len(), 18, "{told:?}");
    assert!(told.iter().all(|text| text.contains("done")), "{told:?}");
    attack.goes_on();
}

#[test]
fn a_chain_of_promises_is_walked_once() {
    const LENGTH: usize = 50;
    let mut attack = Attack::default();
    attack.send(&fetch("object", 1));
    let promises: String = (0..LENGTH)
        .map(|i| format!("<19'desc:import-promise{}+>", i + 1))
        .collect();
    attack.send(&deliver(
        Target::Answer(1),
        format!("[{promises}]").as_bytes(),
        None,
        None,
    ));
    let Some(Event::Call { arguments, .. }) = attack.events.pop() else {
        panic!("no call");
    };
    for promise in arguments.refs() {
        attack.vat().listen(*promise);
    }
    // Each promise is fulfilled with the next.
    let resolvers: Vec<u64> = attack
        .read()
        .iter()
        .filter_map(|message| {
            let text = syrup::encode(message).unwrap();
            let text = String::from_utf8(text).unwrap();
            let (_, resolver) = text
                .split_once("op:listen")?
                .1
                .split_once("import-object")?;
            resolver.split_once('+')?.0.parse().ok()
        })
        .collect();
    assert_eq!(resolvers.len(), LENGTH);
    for (i, resolver) in resolvers[..LENGTH - 1].iter().enumerate() {
        let next = format!("[7'fulfill<19'desc:import-promise{}+>]", i + 2);
        attack.send(&deliver(
            Target::Export(*resolver),
            next.as_bytes(),
            None,
            None,
        ));
    }
    let (first, last) = (arguments.refs()[0].0, arguments.refs()[LENGTH - 1].0);
    assert_eq!(attack.vat().settled_end(first), last);
    assert_eq!(attack.vat().next_of(first, true), Some(last));
    // Messages still go to the first, since earlier ones may be on their way to it.
    assert_eq!(attack.vat().next_of(first, false), None);
    attack.goes_on();
}

#[test]
fn a_value_with_many_references_and_items() {
    // Only the number of items counts, not its product with the number of references.
    let items: String = (0..4000)
        .map(|i| format!("<18'desc:import-object{}+>0+", i + 1))
        .collect();
    let mut attack = Attack::default();
    attack.send(&fetch("object", 1));
    attack.send(&deliver(
        Target::Answer(1),
        format!("[{items}]").as_bytes(),
        None,
        None,
    ));
    let Some(Event::Call { arguments, .. }) = attack.events.pop() else {
        panic!("no call");
    };
    let parts = arguments.items().unwrap();
    assert_eq!(parts.len(), 8000);
    for (index, part) in parts.iter().enumerate() {
        match index % 2 {
            0 => assert_eq!(part.as_reference(), Some(arguments.refs()[index / 2])),
            _ => assert_eq!(part.data(), b"0+"),
        }
    }
    attack.vat().drop_payload(arguments);
    // The bootstrap object does not take a long list apart.
    attack.send(&deliver(
        Target::Export(0),
        format!("[{}]", "0+".repeat(400_000)).as_bytes(),
        Some(2),
        None,
    ));
    attack.goes_on();
}

#[test]
fn listeners() {
    for limits in [
        Limits {
            listeners: 10,
            ..Limits::default()
        },
        Limits {
            session_listeners: 10,
            ..Limits::default()
        },
    ] {
        let mut attack = Attack::new(limits);
        attack.send(&fetch("object", 1));
        attack.send(&deliver(Target::Answer(1), b"[]", Some(2), None));
        for resolver in 0..12 {
            attack.send(&encode(&Operation::Listen {
                to: Target::Answer(2),
                resolver: Import::Object(resolver),
                wants_partial: false,
            }));
        }
        let told = attack.told();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|text| text.contains("listeners")));
        assert_eq!(attack.ended(), None);
        attack.goes_on();
    }
}

#[test]
fn a_peer_that_does_not_read() {
    let mut attack = Attack::new(Limits {
        outbound_hard: 10_000,
        values: 20_000,
        ..Limits::default()
    });
    let connection = attack.connection;
    let mut full = 0;
    for resolver in 0..1000 {
        let fetch = b"[5'fetch7:missing]";
        attack.send(&deliver(Target::Export(0), fetch, None, Some(resolver)));
        let outbound = attack.vat().stats().outbound;
        assert!(outbound <= 30_000 + 1_000, "{outbound}");
        assert_eq!(attack.vat().is_full(connection), outbound > 10_000);
        full += usize::from(outbound > 10_000);
        // It reads once.
        if full == 1 && outbound > 10_000 {
            assert!(attack.read().len() > 50);
            assert!(!attack.vat().is_full(connection));
        }
    }
    assert!(full > 100);
    attack.ends("does not read");
}

#[test]
fn no_hello_in_time_and_too_many_without() {
    let mut attack = Attack::new(Limits {
        unidentified: 3,
        ..Limits::default()
    });
    let silent: Vec<Connection> = (0..4)
        .map(|_| attack.vat().accepted(0, Proof::Claimed, 0).unwrap())
        .collect();
    let mut ended = vec![];
    while let Some(event) = attack.vat().poll_event() {
        ended.push(event);
    }
    let too_many = "too many connections without a hello";
    assert_eq!(ended, [Event::Down(silent[0], too_many.into())]);
    assert_eq!(attack.vat().deadline(), Some(1_000));
    attack.vat().tick(10_000);
    ended.clear();
    while let Some(event) = attack.vat().poll_event() {
        ended.push(event);
    }
    let late = silent[1..]
        .iter()
        .map(|silent| Event::Down(*silent, "no hello in time".into()));
    assert_eq!(ended, late.collect::<Vec<_>>());
    attack.goes_on();
}

/// The requests to open connections.
fn dials(vat: &mut Vat) -> Vec<Dial> {
    let outputs = std::iter::from_fn(|| vat.poll_output());
    let dials = outputs.filter_map(|output| match output {
        Output::Dial { dial, .. } => Some(dial),
        _ => None,
    });
    dials.collect()
}

#[test]
fn connections_that_do_not_open_in_time() {
    let mut attack = Attack::default();
    // The first is never opened, and the second receives no hello.
    let promises = [20, 21].map(|vat| attack.world.enliven(0, vat, b"object"));
    let vat = attack.vat();
    promises.iter().for_each(|promise| vat.listen(*promise));
    let [_, silent] = dials(vat).try_into().unwrap();
    vat.dialed(silent, Proof::Trusted, 10_000).unwrap();
    vat.tick(29_999);
    assert_eq!((vat.stats().dials, vat.poll_event()), (2, None));
    vat.tick(30_000);
    assert_eq!(vat.stats().dials, 0);
    let events: Vec<Event> = std::iter::from_fn(|| vat.poll_event()).collect();
    let reasons = promises.map(|promise| reason(outcome(&events, promise)));
    let expected = ["no connection in time", "no hello in time"];
    assert_eq!(
        reasons,
        expected.map(|reason| format!("cannot connect: {reason}"))
    );
    attack.goes_on();
}

#[test]
fn a_peer_that_refuses_and_does_not_connect() {
    let mut attack = Attack::default();
    let promise = attack.world.enliven(0, 20, b"object");
    let vat = attack.vat();
    vat.listen(promise);
    let [dial] = dials(vat).try_into().unwrap();
    let connection = vat.dialed(dial, Proof::Trusted, 0).unwrap();
    vat.received(connection, b"<8'op:abort7\"crossed>", 0);
    vat.closed(connection, "");
    // A connection from the peer may be on its way.
    vat.tick(999);
    assert_eq!(vat.stats().dials, 1);
    vat.tick(1_000);
    assert_eq!(vat.stats().dials, 0);
    let events: Vec<Event> = std::iter::from_fn(|| vat.poll_event()).collect();
    assert_eq!(
        reason(outcome(&events, promise)),
        "cannot connect: aborted by the peer: crossed"
    );
    attack.goes_on();
}

#[test]
fn a_connection_that_nobody_closes() {
    let mut attack = Attack::default();
    attack.send(b"x");
    assert!(attack.ended().is_some());
    attack.vat().tick(999);
    assert_eq!(attack.vat().stats().connections, 2);
    attack.vat().tick(1_000);
    assert_eq!(attack.vat().stats().connections, 1);
    attack.goes_on();
}

/// Locations with one part above the limit each.
fn long_locations() -> Vec<Location> {
    let with = |change: fn(&mut Location)| {
        let mut location = location(9);
        change(&mut location);
        location
    };
    let long = || "x".repeat(257);
    vec![
        with(|location| location.transport = "x".repeat(65)),
        Location {
            designator: long(),
            ..location(9)
        },
        Location {
            hints: Some(vec![(long(), String::new())]),
            ..location(9)
        },
        Location {
            hints: Some(vec![(String::new(), long())]),
            ..location(9)
        },
        with(|location| {
            let hints = (0..9).map(|i| (format!("{i}"), String::new()));
            location.hints = Some(hints.collect());
        }),
    ]
}

#[test]
fn locations_that_are_too_long() {
    let key = SecretKey::from_bytes(&[9; 32]);
    let hello = |location: &Location| {
        let start = StartSession::sign::<Syrup>(&key, location.peer());
        encode(&Operation::StartSession(start.unwrap()))
    };
    for location in long_locations() {
        let mut attack = Attack::default();
        attack.connection = attack.vat().accepted(0, Proof::Trusted, 0).unwrap();
        attack.send(&hello(&location));
        attack.ends("location too long");

        let mut attack = Attack::default();
        let promise = attack.vat().connect(&location.peer());
        let reason = attack.vat().outcome(promise).unwrap().unwrap_err();
        assert_eq!(reason.cause, Cause::Limit);
        assert_eq!(reason.message(), "location too long");
        assert_eq!(attack.vat().stats().dials, 0);
        attack.goes_on();
    }
    let longest = Location {
        designator: "x".repeat(256),
        hints: Some(
            (0..8)
                .map(|i| (format!("{i:256}"), "x".repeat(256)))
                .collect(),
        ),
        ..location(9)
    };
    let mut attack = Attack::default();
    attack.connection = attack.vat().accepted(0, Proof::Trusted, 0).unwrap();
    attack.send(&hello(&longest));
    assert!(attack.events.contains(&Event::Up(attack.connection)));
    attack.goes_on();
}

#[test]
fn limits_without_an_end() {
    let mut attack = Attack::new(Limits {
        hello_time: u64::MAX,
        dial_time: u64::MAX,
        message_time: u64::MAX,
        close_time: u64::MAX,
        duplicate_time: u64::MAX,
        gift_time: u64::MAX,
        message: usize::MAX,
        outbound_hard: usize::MAX,
        ..Limits::default()
    });
    attack.vat().tick(1_000_000);
    assert!(
        attack
            .vat()
            .accepted(0, Proof::Claimed, 1_000_000)
            .is_some()
    );
    attack.world.enliven(0, 20, b"object");
    attack.send(b"<");
    attack.vat().tick(u64::MAX - 1);
    while let Some(event) = attack.vat().poll_event() {
        attack.events.push(event);
    }
    assert_eq!(attack.events, [Event::Up(attack.connection)]);
    assert_eq!(dials(attack.vat()).len(), 1);
    attack.goes_on();
}

/// A location of vat 20 with this hint.
fn hinted(hint: &str) -> Location {
    Location {
        hints: Some(vec![("host".into(), hint.into())]),
        ..location(20)
    }
}

/// The connections that are to be opened, with their hints.
fn hinted_dials(vat: &mut Vat) -> Vec<(Dial, String)> {
    let outputs = std::iter::from_fn(|| vat.poll_output());
    let dials = outputs.filter_map(|output| match output {
        Output::Dial { dial, location } => Some((dial, location.hints?[0].1.clone())),
        _ => None,
    });
    dials.collect()
}

#[test]
fn connections_in_all() {
    let mut attack = Attack::new(Limits {
        connections: 4,
        ..Limits::default()
    });
    // The attacker's and the honest one are two.
    assert!(attack.vat().accepted(0, Proof::Claimed, 0).is_some());
    assert!(attack.vat().accepted(0, Proof::Claimed, 0).is_some());
    assert!(attack.vat().accepted(0, Proof::Claimed, 0).is_none());
    attack.goes_on();
}

#[test]
fn hellos_that_are_refused() {
    let key = SecretKey::from_bytes(&[9; 32]);
    let forged = {
        let location = location(9);
        let mut start = StartSession::sign::<Syrup>(&key, location.peer()).unwrap();
        start.signature.0[0] ^= 1;
        encode(&Operation::StartSession(start))
    };
    let of = |location: &Location| {
        encode(&Operation::StartSession(
            StartSession::sign::<Syrup>(&key, location.peer()).unwrap(),
        ))
    };
    let mut other_transport = location(9);
    other_transport.transport = "pigeon".into();
    let version = String::from_utf8_lossy(&of(&location(9))).replace("3\"1.0", "3\"2.0");
    for (bytes, reason) in [
        (forged, "signature"),
        (version.clone().into_bytes(), "byte"),
        (of(&location(0)), "our own key or location"),
        (of(&other_transport), "unknown transport pigeon"),
        (fetch("object", 1), "expected op:start-session"),
        // The honest peer has a session, and so has the attacker.
        (of(&location(1)), "there is a session with this peer"),
        (hello(&key, "attacker"), "there is a session with this peer"),
    ] {
        if version.is_ascii() || reason != "byte" {
            let mut attack = Attack::default();
            let first = attack.connection;
            attack.connection = attack.vat().accepted(0, Proof::Trusted, 0).unwrap();
            attack.send(&bytes);
            if reason.contains("a session with") {
                // It waits for the end of the other one.
                assert_eq!(attack.ended(), None);
                attack.vat().tick(200);
                attack
                    .events
                    .extend(std::iter::from_fn(|| attack.world.vats[0].poll_event()));
            }
            assert_eq!(
                attack
                    .events
                    .iter()
                    .filter(|event| **event == Event::Up(first))
                    .count(),
                1
            );
            attack.ends(reason);
        }
    }
}

#[test]
fn a_peer_that_reconnects_before_its_end_is_known() {
    let mut attack = Attack::default();
    let first = attack.connection;
    let second = attack.vat().accepted(0, Proof::Trusted, 0).unwrap();
    let again = SecretKey::from_bytes(&[9; 32]);
    attack.vat().received(second, &hello(&again, "attacker"), 0);
    assert_eq!(attack.vat().poll_event(), None);
    attack
        .vat()
        .received(first, b"<8'op:abort14\"session closed>", 1);
    let events: Vec<Event> = std::iter::from_fn(|| attack.vat().poll_event()).collect();
    let down = Event::Down(first, "aborted by the peer: session closed".into());
    assert_eq!(events, [down, Event::Up(second)]);
    attack.goes_on();
}

#[test]
fn claimed_locations_are_not_found() {
    // The attacker claims the location of vat 2, before and while vat 0 connects to it.
    let mut world = World::new(3, 5);
    let expected = world.publish(2, b"object");
    let connection = world.vats[0].accepted(0, Proof::Claimed, 0).unwrap();
    let key = SecretKey::from_bytes(&[1; 32]);
    world.vats[0].received(connection, &hello(&key, "vat2"), 0);
    assert!(matches!(world.vats[0].poll_event(), Some(Event::Up(_))));
    let object = world.enliven(0, 2, b"object");
    world.vats[0].listen(object);
    let second = world.vats[0].accepted(0, Proof::Claimed, 0).unwrap();
    world.vats[0].received(second, &hello(&SecretKey::from_bytes(&[2; 32]), "vat2"), 0);
    let events = world.settle();
    assert!(matches!(outcome(&events[0], object), Some(Ok(_))));
    world.vats[0].send(object, &Payload::list(|_| {})).unwrap();
    let events = world.settle();
    assert_eq!(calls(&events[2])[0].0, expected);
}

mod handoffs {
    use super::*;

    /// The attacker's session id with the vat, and the vat's side.
    impl Attack {
        fn identity(&mut self) -> ([u8; 32], [u8; 32]) {
            let session = self.world.vats[0].sessions.get(self.connection.0).unwrap();
            let peer = session.peer.as_ref().unwrap();
            (peer.session_id, peer.id)
        }

        fn give(&mut self, receiver: &SecretKey, gift: &[u8]) -> Vec<u8> {
            let (session, gifter_side) = self.identity();
            let exporter = location(0);
            let give = HandoffGive {
                receiver_key: receiver.public_key(),
                exporter: exporter.peer(),
                session,
                gifter_side,
                gift,
            };
            let signed = Signed::sign::<Syrup>(&self.key, give).unwrap();
            let mut out = vec![];
            signed.write(&mut Syrup::writer(&mut out));
            out
        }

        /// Here the attacker is also the receiver, on the same session.
        fn withdraw(&mut self, receiver: &SecretKey, gift: &[u8], count: u64) -> Vec<u8> {
            let give = self.give(receiver, gift);
            let (session, receiver_side) = self.identity();
            let receive = HandoffReceive {
                session,
                receiver_side,
                count,
                give: Signed::decode::<Syrup>(&give).unwrap(),
            };
            let signed = Signed::sign::<Syrup>(receiver, receive).unwrap();
            let mut arguments = b"[13'withdraw-gift".to_vec();
            signed.write(&mut Syrup::writer(&mut arguments));
            arguments.push(b']');
            deliver(Target::Export(0), &arguments, None, Some(count + 100))
        }

        fn deposit(&mut self, gift: &[u8]) {
            let mut arguments = b"[12'deposit-gift".to_vec();
            Syrup::writer(&mut arguments).bytes(gift);
            arguments.extend(b"<18'desc:import-object50+>]");
            let answer = Some(1000 + self.vat().stats().answers as u64);
            self.send(&deliver(Target::Export(0), &arguments, answer, answer));
        }
    }

    fn receiver() -> SecretKey {
        SecretKey::from_bytes(&[3; 32])
    }

    /// A give for the vat, of a gift at another exporter. The vat cannot check who signed it.
    fn give_of(attack: &mut Attack, exporter: &Location) -> Vec<u8> {
        let session = attack.world.vats[0].sessions.get(attack.connection.0);
        let give = HandoffGive {
            receiver_key: session.unwrap().key.public_key(),
            exporter: exporter.peer(),
            session: [0; 32],
            gifter_side: [0; 32],
            gift: b"gift",
        };
        let mut arguments = b"[".to_vec();
        let signed = Signed::sign::<Syrup>(&receiver(), give).unwrap();
        signed.write(&mut Syrup::writer(&mut arguments));
        arguments.push(b']');
        deliver(Target::Export(0), &arguments, None, None)
    }

    #[test]
    pub fn connections_for_gives_leave_room() {
        let mut attack = Attack::new(Limits {
            connections: 8,
            ..Limits::default()
        });
        for number in 20..30 {
            let give = give_of(&mut attack, &location(number));
            attack.send(&give);
            for dial in dials(attack.vat()) {
                let connection = attack.vat().dialed(dial, Proof::Trusted, 0).unwrap();
                let key = SecretKey::from_bytes(&[number as u8; 32]);
                let name = location(number).designator;
                attack.vat().received(connection, &hello(&key, &name), 0);
            }
        }
        // Those of the attacker and of the honest peer are two.
        assert_eq!(attack.vat().stats().connections, 4);
        // The caller opens more, up to the limit.
        for number in 40..45 {
            attack.world.enliven(0, number, b"object");
        }
        let opened = dials(attack.vat())
            .into_iter()
            .filter_map(|dial| attack.vat().dialed(dial, Proof::Trusted, 0));
        assert_eq!(opened.count(), 4);
        assert_eq!(attack.vat().stats().dials, 4);
        attack.goes_on();
    }

    #[test]
    fn hints_of_a_give_do_not_delay_others() {
        let mut attack = Attack::default();
        let give = give_of(&mut attack, &hinted("evil"));
        attack.send(&give);
        let [(evil, hint)] = hinted_dials(attack.vat()).try_into().unwrap();
        assert_eq!(hint, "evil");
        // The caller does not wait for it.
        let good = hinted("good");
        let sturdyref = Sturdyref {
            peer: good.peer(),
            swiss: b"object",
        };
        let object = attack.vat().enliven(&sturdyref);
        let [(good, hint)] = hinted_dials(attack.vat()).try_into().unwrap();
        assert_eq!(hint, "good");
        assert_eq!(attack.vat().dialed(evil, Proof::Trusted, 0), None);
        // A give with other hints joins, and its own are tried after.
        let other = give_of(&mut attack, &hinted("other"));
        attack.send(&other);
        assert_eq!(hinted_dials(attack.vat()), []);
        attack.vat().dial_failed(good, "refused");
        let reason = attack.vat().outcome(object).unwrap().unwrap_err();
        assert_eq!(reason.message(), "cannot connect: refused");
        for expected in ["evil", "other"] {
            let [(dial, hint)] = hinted_dials(attack.vat()).try_into().unwrap();
            assert_eq!(hint, expected);
            attack.vat().dial_failed(dial, "refused");
        }
        assert_eq!(attack.vat().stats().dials, 0);
        attack.goes_on();
    }

    #[test]
    pub fn values_of_promises_that_the_peer_fulfils() {
        let mut attack = Attack::new(Limits {
            values: 100_000,
            ..Limits::default()
        });
        let value = format!("[7'fulfill9000:{}]", "x".repeat(9000));
        for count in 0..30 {
            if attack.ended().is_some() {
                assert_eq!(count, 12);
                break;
            }
            let gift = [count as u8];
            let mut arguments = b"[12'deposit-gift".to_vec();
            Syrup::writer(&mut arguments).bytes(&gift);
            arguments.extend(format!("<19'desc:import-promise{}+>]", count + 50).as_bytes());
            attack.send(&deliver(Target::Export(0), &arguments, None, None));
            // The answer keeps the promise.
            let withdraw = attack.withdraw(&receiver(), &gift, count);
            let withdraw = Operation::decode::<Syrup>(&withdraw, Dialect::Endo202608);
            let Ok(Operation::Deliver { to, arguments, .. }) = withdraw else {
                panic!("no op:deliver");
            };
            let resolver = Some(5000 + count);
            attack.send(&deliver(to, arguments, Some(count), resolver));
            let resolver = attack.read().into_iter().find_map(listened);
            let resolver = resolver.expect("no op:listen");
            let to = Target::Export(resolver);
            attack.send(&deliver(to, value.as_bytes(), None, None));
        }
        attack.ends("too many bytes in values");
    }

    /// The resolver with which the vat listens.
    fn listened(message: Value) -> Option<u64> {
        let encoded = syrup::encode(&message).unwrap();
        match Operation::decode::<Syrup>(&encoded, Dialect::Endo202608) {
            Ok(Operation::Listen {
                resolver: Import::Object(position),
                ..
            }) => Some(position),
            _ => None,
        }
    }

    #[test]
    fn counts_are_used_once() {
        for early in [false, true] {
            let mut attack = Attack::default();
            let withdraw = attack.withdraw(&receiver(), b"gift", 5);
            if early {
                // Recorded although the gift is not there yet.
                attack.send(&withdraw);
                assert_eq!(attack.told(), [""; 0]);
                attack.send(&withdraw);
                let told = attack.told();
                assert!(
                    told.len() == 1 && told[0].contains("used before"),
                    "{told:?}"
                );
                attack.deposit(b"gift");
            } else {
                attack.deposit(b"gift");
                attack.read();
                attack.send(&withdraw);
            }
            let told = attack.told();
            assert!(
                told.iter()
                    .any(|text| text.contains("fulfill<11\\'desc:export50+>")),
                "{told:?}"
            );
            attack.deposit(b"gift");
            attack.read();
            attack.send(&withdraw);
            let told = attack.told();
            assert!(
                told.len() == 1 && told[0].contains("used before"),
                "{told:?}"
            );
            attack.goes_on();
        }
    }

    #[test]
    fn certificates_are_checked() {
        let mut attack = Attack::default();
        attack.deposit(b"gift");
        attack.read();
        let good = attack.withdraw(&receiver(), b"gift", 1);
        let identity = attack.identity();
        let changed = |find: &[u8], by: &[u8]| {
            let at = good
                .windows(find.len())
                .position(|window| window == find)
                .unwrap();
            [&good[..at], by, &good[at + find.len()..]].concat()
        };
        let mut flipped = good.clone();
        let last = flipped.len() - 40;
        flipped[last] ^= 1;
        for (message, reason) in [
            (flipped, "signature is invalid"),
            (changed(&identity.0, &[0; 32]), "another session"),
            (
                changed(&identity.1, &[0; 32]),
                "another side of the session",
            ),
            (changed(b"4\"vat0", b"4\"vat5"), "another exporter"),
            (
                deliver(Target::Export(0), b"[13'withdraw-gift1:x]", None, Some(1)),
                "expected a signed",
            ),
        ] {
            attack.send(&message);
            let told = attack.told();
            assert!(
                told.len() == 1 && told[0].contains(reason),
                "{reason}: {told:?}"
            );
        }
        assert_eq!(attack.ended(), None);
        attack.send(&good);
        assert!(attack.told()[0].contains("fulfill"));
        attack.goes_on();
    }

    #[test]
    pub fn gifts_withdrawals_and_signatures_are_bounded() {
        let mut attack = Attack::new(Limits {
            gifts: 2,
            withdrawals: 2,
            signatures: 14,
            ..Limits::default()
        });
        for i in 0..3u8 {
            attack.deposit(&[b'a', i]);
        }
        let told = attack.told();
        assert!(
            told.len() == 3 && told[2].contains("too many gifts"),
            "{told:?}"
        );
        attack.deposit(&[0; 65]);
        attack.deposit(b"a\0");
        let told = attack.told();
        assert!(
            told[0].contains("gift id too long") && told[1].contains("a gift with this id"),
            "{told:?}"
        );
        for i in 0..3u8 {
            let withdraw = attack.withdraw(&receiver(), &[b'b', i], u64::from(i));
            attack.send(&withdraw);
        }
        let told = attack.told();
        assert!(
            told.len() == 1 && told[0].contains("too many withdrawals"),
            "{told:?}"
        );
        let again = attack.withdraw(&receiver(), b"b\0", 3);
        attack.send(&again);
        assert!(attack.told()[0].contains("somebody waits"));
        for count in 4..8 {
            let withdraw = attack.withdraw(&receiver(), b"a\0", count);
            attack.send(&withdraw);
        }
        let told = attack.told();
        assert!(told[3].contains("too many signatures"), "{told:?}");
        // They expire.
        assert_eq!(attack.vat().stats().gifts, 3);
        attack.vat().tick(600_000);
        assert_eq!(attack.vat().stats().gifts, 0);
        let told = attack.told();
        assert!(
            told.len() == 2 && told[0].contains("did not arrive in time"),
            "{told:?}"
        );
        attack.goes_on();
    }

    #[test]
    pub fn gives_with_long_parts() {
        let mut attack = Attack::default();
        attack.send(&fetch("object", 1));
        let ours = &attack.world.vats[0]
            .sessions
            .get(attack.connection.0)
            .unwrap();
        let receiver_key = ours.key.public_key();
        let locations = long_locations();
        let mut exporters: Vec<(&Location, &[u8])> = locations
            .iter()
            .map(|location| (location, &b"gift"[..]))
            .collect();
        let exporter = location(20);
        exporters.push((&exporter, &[0; 65]));
        let mut arguments = b"[".to_vec();
        for (exporter, gift) in exporters.iter().copied() {
            let give = HandoffGive {
                receiver_key,
                exporter: exporter.peer(),
                session: [0; 32],
                gifter_side: [0; 32],
                gift,
            };
            let signed = Signed::sign::<Syrup>(&attack.key, give).unwrap();
            signed.write(&mut Syrup::writer(&mut arguments));
        }
        arguments.push(b']');
        attack.send(&deliver(Target::Answer(1), &arguments, None, None));
        let calls = calls(&attack.events);
        assert_eq!(calls[0].1.refs().len(), exporters.len());
        for promise in calls[0].1.refs() {
            let reason = attack.vat().outcome(*promise).unwrap().unwrap_err();
            assert_eq!(reason.message(), "location or gift id too long");
        }
        assert_eq!(attack.vat().stats().dials, 0);
        attack.goes_on();
    }

    #[test]
    pub fn gives_for_others_and_too_many() {
        let mut attack = Attack::new(Limits {
            handoffs: 2,
            ..Limits::default()
        });
        attack.send(&fetch("object", 1));
        let ours = attack.world.vats[0]
            .sessions
            .get(attack.connection.0)
            .unwrap();
        let ours = ours.key.clone();
        let other = attack.give(&receiver(), b"gift");
        let own = attack.give(&ours, b"gift");
        let mut foreign = vec![];
        for i in 0..3 {
            let exporter = location(20 + i);
            let give = HandoffGive {
                receiver_key: ours.public_key(),
                exporter: exporter.peer(),
                session: [0; 32],
                gifter_side: [0; 32],
                gift: b"gift",
            };
            let signed = Signed::sign::<Syrup>(&attack.key, give).unwrap();
            signed.write(&mut Syrup::writer(&mut foreign));
        }
        let arguments = [&b"["[..], &other, &own, &foreign, b"]"].concat();
        attack.send(&deliver(Target::Answer(1), &arguments, None, None));
        let calls = calls(&std::mem::take(&mut attack.events));
        let [other, own, first, second, third] = calls[0].1.refs().try_into().unwrap();
        let reason = |attack: &Attack, of: Ref| match attack.world.vats[0].outcome(of) {
            Some(Err(reason)) => reason.value.as_error().map(String::from),
            _ => None,
        };
        assert_eq!(
            reason(&attack, other).unwrap(),
            "the handoff is for another receiver"
        );
        assert_eq!(reason(&attack, own).unwrap(), "no such gift");
        assert_eq!(reason(&attack, first), None);
        assert_eq!(reason(&attack, second), None);
        assert_eq!(reason(&attack, third).unwrap(), "too many handoffs at once");
        assert_eq!(attack.vat().stats().dials, 2);
        // Nobody answers.
        while let Some(output) = attack.vat().poll_output() {
            if let Output::Dial { dial, .. } = output {
                attack.vat().dial_failed(dial, "refused");
            }
        }
        assert_eq!(reason(&attack, first).unwrap(), "cannot connect: refused");
        attack.goes_on();
    }

    #[test]
    fn the_window_of_counts() {
        use super::super::super::connection::Window;
        let mut window = Window::default();
        for count in [0, 3, 1, 2000, 1500, 977] {
            assert!(!window.is_used(count), "{count}");
            window.record(count);
            assert!(window.is_used(count), "{count}");
        }
        assert!(!window.is_used(978) && !window.is_used(1999) && !window.is_used(2001));
        // Older than the window.
        assert!(window.is_used(976) && window.is_used(2));
        let mut used = vec![];
        for count in (0..10_000).map(|i| i * 7919 % 10_007) {
            if !window.is_used(count) {
                window.record(count);
                used.push(count);
            }
        }
        assert!(used.len() > 100);
        used.sort_unstable();
        used.dedup();
        assert!(used.iter().all(|count| window.is_used(*count)));
    }
}
