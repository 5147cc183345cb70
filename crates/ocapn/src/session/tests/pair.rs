//! Two or three vats: what each operation does.
use std::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use super::super::*;
use super::world::*;
use crate::syrup::{self, Value};

fn text(payload: &Payload) -> Value {
    payload.decode().unwrap()
}

/// Answers every call with its arguments.
fn echo(world: &mut World, vat: usize, events: &[Event]) {
    for (_, arguments, reply) in calls(events) {
        if let Some(reply) = reply {
            world.vats[vat].resolve(reply, Ok(&arguments));
            world.vats[vat].drop_ref(reply);
        }
        world.vats[vat].drop_payload(arguments);
    }
}

#[test]
fn call_and_answer() {
    let mut world = World::new(2, 1);
    world.publish(1, b"echo");
    let echo_ref = world.enliven(0, 1, b"echo");
    // The message is sent while the connection is being opened.
    let arguments = Payload::list(|list| {
        list.symbol("hello").integer(7);
    });
    let result = world.vats[0].call(echo_ref, &arguments);
    world.vats[0].listen(result);
    let events = world.settle();
    assert_eq!(calls(&events[1])[0].1, arguments);
    echo(&mut world, 1, &events[1]);
    let events = world.settle();
    assert_eq!(outcome(&events[0], result), Some(Ok(arguments)));
    world.vats[0].drop_ref(result);
    world.vats[0].drop_ref(echo_ref);
    world.settle();
    let stats: Vec<Stats> = world.vats.iter().map(Vat::stats).collect();
    assert_eq!(
        stats[0],
        Stats {
            nodes: 1,
            connections: 1,
            ..Stats::default()
        }
    );
    assert_eq!(
        stats[1],
        Stats {
            nodes: 2,
            connections: 1,
            ..Stats::default()
        }
    );
}

#[test]
fn a_long_value_is_copied_once() {
    for framing in FRAMINGS {
        let mut world = World::speaking(2, 1, || (DIALECTS[0], framing));
        world.bytewise = true;
        world.publish(1, b"object");
        let object = world.enliven(0, 1, b"object");
        // The byte that opens a record.
        let bytes = vec![b'<'; 10_000];
        let arguments = Payload::list(|list| {
            list.bytes(&bytes).symbol("more");
        });
        let result = world.vats[0].call(object, &arguments);
        world.vats[0].listen(result);
        let events = world.settle();
        let (_, received, reply) = calls(&events[1]).remove(0);
        assert_eq!(received, arguments);
        let (item, _) = received.item(0).unwrap();
        assert_eq!(item.data().as_ptr(), received.data()[1..].as_ptr());
        world.vats[1].resolve(reply.unwrap(), Ok(&item));
        let events = world.settle();
        let value = outcome(&events[0], result).unwrap().unwrap();
        assert_eq!(value, item);
        let kept = world.vats[0].outcome(result).unwrap().unwrap();
        assert_eq!(kept.data().as_ptr(), value.data().as_ptr());
    }
}

#[test]
fn unknown_objects_and_methods_break() {
    let mut world = World::new(2, 2);
    let missing = world.enliven(0, 1, b"missing");
    let location = location(1);
    let bootstrap = world.vats[0].connect(&location.peer());
    let method = world.vats[0].call(
        bootstrap,
        &Payload::list(|list| {
            list.symbol("nothing");
        }),
    );
    world.vats[0].listen(missing);
    world.vats[0].listen(method);
    let events = world.settle();
    assert_eq!(
        reason(outcome(&events[0], missing)),
        "no object has this swiss number"
    );
    assert_eq!(
        reason(outcome(&events[0], method)),
        "the bootstrap object has no such method"
    );
}

#[test]
fn dropped_replies_and_resolvers_break() {
    let mut world = World::new(2, 3);
    world.publish(1, b"object");
    let object = world.enliven(0, 1, b"object");
    let result = world.vats[0].call(object, &Payload::list(|_| {}));
    let pipelined = world.vats[0].call(result, &Payload::list(|_| {}));
    world.vats[0].listen(pipelined);
    let events = world.settle();
    let (_, _, reply) = calls(&events[1])[0].clone();
    world.vats[1].drop_ref(reply.unwrap());
    let events = world.settle();
    assert_eq!(
        reason(outcome(&events[0], pipelined)),
        "the resolver was dropped"
    );
}

#[test]
fn promises_are_passed_and_resolved() {
    let mut world = World::new(2, 4);
    world.publish(1, b"object");
    let object = world.enliven(0, 1, b"object");
    let (promise, resolver) = world.vats[0].promise();
    world.vats[0]
        .send(
            object,
            &Payload::list(|list| {
                list.reference(promise).reference(resolver);
            }),
        )
        .unwrap();
    let events = world.settle();
    let (_, arguments, reply) = calls(&events[1])[0].clone();
    assert_eq!(reply, None);
    let [their_promise, their_resolver] = arguments.refs().try_into().unwrap();
    world.vats[1].listen(their_promise);
    let value = Payload::value(&42u64).unwrap();
    let fulfil = Payload::list(|list| {
        list.symbol("fulfill").payload(&value);
    });
    world.vats[1].send(their_resolver, &fulfil).unwrap();
    // The second one is ignored.
    world.vats[1]
        .send(
            their_resolver,
            &Payload::list(|list| {
                list.symbol("break").integer(1);
            }),
        )
        .unwrap();
    let events = world.settle();
    assert_eq!(outcome(&events[1], their_promise), Some(Ok(value.clone())));
    assert_eq!(world.vats[0].outcome(promise), Some(Ok(&value)));
}

#[test]
fn parts_of_values() {
    for dialect in [
        crate::captp::Dialect::Endo202608,
        crate::captp::Dialect::Suite202602,
    ] {
        let mut configs: Vec<Config> = (0..2).map(config).collect();
        configs[0].dialect = dialect;
        let mut world = World::with(configs, 5);
        let target = world.publish(1, b"object");
        let object = world.enliven(0, 1, b"object");
        let result = world.vats[0].call(object, &Payload::list(|_| {}));
        let list = world.vats[0].get(result, "list");
        let inner = world.vats[0].index(list, 1);
        let called = world.vats[0].call(
            inner,
            &Payload::list(|list| {
                list.string("through a field");
            }),
        );
        let tagged = world.vats[0].index(list, 0);
        let untagged = world.vats[0].untag(tagged, "unit");
        let missing = world.vats[0].get(result, "missing");
        let outside = world.vats[0].index(list, 2);
        let other = world.vats[0].untag(tagged, "other");
        let broken = world.vats[0].get(other, "field");
        for promise in [called, untagged, missing, outside, other, broken] {
            world.vats[0].listen(promise);
        }
        let events = world.settle();
        // If the dialect can express it, the other vat was asked for the eight parts before there is a value. It also has
        // answers for the object and both calls, or only for the object and the first call.
        let answers = match dialect {
            crate::captp::Dialect::Suite202602 => 2,
            _ => 11,
        };
        assert_eq!(world.vats[1].stats().answers, answers);
        let reply = calls(&events[1])[0].2.unwrap();
        let tagged = Value::record("desc:tagged", [Value::symbol("unit"), 5.into()]);
        let mut builder = Builder::default();
        builder.raw(b"{4\"list[");
        builder.value(&tagged).unwrap().reference(target);
        builder.raw(b"]}");
        world.vats[1].resolve(reply, Ok(&builder.finish()));
        world.vats[1].drop_ref(reply);
        let mut events = world.settle();
        let through = calls(&events[1]);
        assert_eq!(
            text(&through[0].1),
            Value::List(vec!["through a field".into()])
        );
        echo(&mut world, 1, &events[1].clone());
        events[0].extend(world.settle().remove(0));
        assert_eq!(
            outcome(&events[0], untagged),
            Some(Ok(Payload::value(&5u64).unwrap()))
        );
        assert!(outcome(&events[0], called).unwrap().is_ok());
        for (promise, expected) in [
            (missing, "no such field"),
            (outside, "index out of range"),
            (other, "another tag"),
            (broken, "another tag"),
        ] {
            assert_eq!(reason(outcome(&events[0], promise)), expected, "{dialect}");
        }
    }
}

/// A long part is not read to find its end, which would take long again and again.
#[test]
fn ends_of_long_parts_are_known() {
    use super::super::part::{Marks, Part, part};
    let long = format!("[{}]", "[]".repeat(5_000));
    let end = long.len();
    let cases = [
        (format!("[1+{long}2+]"), Part::Item(1), 3),
        (format!("[{long}]"), Part::Item(0), 1),
        (format!("{{1\"a2+1\"b{long}}}"), Part::Field("b".into()), 9),
        (
            format!("<11'desc:tagged1'x{long}>"),
            Part::Tagged("x".into()),
            18,
        ),
    ];
    for (text, of, start) in cases {
        let payload = |text: String| {
            let mut builder = Builder::default();
            builder.raw(text.as_bytes());
            builder.finish()
        };
        let marks = Marks::new(&payload(text.clone()));
        // Reading this would fail.
        let unreadable = "?".repeat(end);
        let changed = payload(text.replace(&long, &unreadable));
        let found = part(&changed, Some(&marks), &of).unwrap();
        assert_eq!(found.data(), &changed.data()[start..start + end]);
        assert_eq!(found.data(), unreadable.as_bytes());
    }
}

/// Long values have marks, which must not change what is found.
#[test]
fn parts_of_long_values() {
    let mut world = World::new(1, 14);
    let vat = &mut world.vats[0];
    let objects = [vat.object(), vat.object()];
    let nodes = vat.stats().nodes;
    let item = |builder: &mut Builder, index: usize| match index % 50 {
        0 => drop(builder.string(&"x".repeat(index))),
        1 => drop(
            builder
                .begin_list()
                .reference(objects[index / 50 % 2])
                .end_list(),
        ),
        _ => drop(builder.integer(index as u64)),
    };
    let payload = |build: &dyn Fn(&mut Builder)| {
        let mut builder = Builder::default();
        build(&mut builder);
        builder.finish()
    };
    let list = payload(&|list| {
        list.begin_list();
        (0..3_000).for_each(|index| item(list, index));
        list.end_list();
    });
    // The keys are not sorted. One comes twice, and one is an integer.
    let fields = payload(&|fields| {
        fields.raw(b"{7+");
        fields.integer(8);
        for index in (0usize..3_000).chain([5]) {
            fields.string(&(index * 7 % 3_000).to_string());
            item(fields, index);
        }
        fields.raw(b"}");
    });
    for (value, is_list) in [(list, true), (fields, false)] {
        let (promise, resolver) = vat.promise();
        vat.resolve(resolver, Ok(&value));
        vat.drop_ref(resolver);
        for index in 0..3_000 {
            let part = match is_list {
                true => vat.index(promise, index),
                false => vat.get(promise, &(index * 7 % 3_000).to_string()),
            };
            let expected = payload(&|builder| item(builder, index as usize));
            assert_eq!(vat.outcome(part), Some(Ok(&expected)), "{index}");
            vat.drop_ref(part);
        }
        for missing in [
            vat.index(promise, 3_000),
            vat.index(promise, u64::MAX),
            vat.get(promise, "3000"),
            vat.get(promise, ""),
        ] {
            assert!(vat.outcome(missing).unwrap().is_err());
            vat.drop_ref(missing);
        }
        vat.drop_ref(promise);
        assert_eq!(vat.stats().nodes, nodes);
    }
}

/// A message to a promise that turned out to be data.
#[test]
fn calls_to_data() {
    let mut world = World::new(2, 15);
    let target = world.publish(1, b"object");
    let object = world.enliven(0, 1, b"object");
    let result = world.vats[0].call(object, &Payload::list(|_| {}));
    world.vats[0].listen(result);
    let events = world.settle();
    let reply = calls(&events[1])[0].2.unwrap();
    let data = Payload::list(|list| {
        list.reference(target);
    });
    world.vats[1].resolve(reply, Ok(&data));
    world.vats[1].drop_ref(reply);
    let value = outcome(&world.settle()[0], result).unwrap().unwrap();
    world.vats[0].drop_payload(value);
    let called = world.vats[0].call(result, &Payload::list(|_| {}));
    let refused = world.vats[0].outcome(called).unwrap().unwrap_err();
    assert_eq!(
        refused.message(),
        "not an object: the promise was fulfilled with data"
    );
    for handle in [called, result, object] {
        world.vats[0].drop_ref(handle);
    }
    world.settle();
    assert_eq!(world.vats[0].stats().nodes, 1);
    assert_eq!(world.vats[1].stats().exports, 0);
}

#[test]
fn handoff_between_three() {
    // Vat 0 has an object of vat 1 and mentions it to vat 2.
    for deposit_first in [true, false] {
        let mut world = World::mixed(3, 6 + u64::from(deposit_first));
        world.publish(1, b"exporter");
        world.publish(2, b"receiver");
        let gift = world.enliven(0, 1, b"exporter");
        let receiver = world.enliven(0, 2, b"receiver");
        world.vats[0].listen(gift);
        let events = world.settle();
        let gift = outcome(&events[0], gift)
            .unwrap()
            .unwrap()
            .as_reference()
            .unwrap();
        world.vats[0]
            .send(
                receiver,
                &Payload::list(|list| {
                    list.reference(gift);
                }),
            )
            .unwrap();
        let events = world.settle();
        let received = calls(&events[2])[0].1.refs()[0];
        let sent = Payload::list(|list| {
            list.string("directly");
        });
        world.vats[2].send(received, &sent).unwrap();
        let events = world.settle();
        assert_eq!(calls(&events[1])[0].1, sent);
        assert_eq!(world.vats[1].stats().gifts, 0);
        // The three have three sessions.
        assert!(world.vats.iter().all(|vat| vat.stats().connections == 2));
    }
}

#[test]
fn disconnection_breaks_everything_once() {
    let mut world = World::new(2, 8);
    world.publish(1, b"object");
    let object = world.enliven(0, 1, b"object");
    world.vats[0].listen(object);
    let events = world.settle();
    let remote = outcome(&events[0], object)
        .unwrap()
        .unwrap()
        .as_reference()
        .unwrap();
    world.vats[0].watch(remote);
    let pending = world.vats[0].call(remote, &Payload::list(|_| {}));
    world.vats[0].listen(pending);
    world.settle();
    world.cut();
    let events = world.settle();
    assert_eq!(reason(outcome(&events[0], pending)), "disconnected: cut");
    assert_eq!(
        events[0]
            .iter()
            .filter(|event| **event == Event::Broken(remote))
            .count(),
        1
    );
    let later = world.vats[0].call(remote, &Payload::list(|_| {}));
    world.vats[0].listen(later);
    let events = world.settle();
    assert_eq!(reason(outcome(&events[0], later)), "disconnected");
    let stats = world.vats[1].stats();
    assert_eq!((stats.connections, stats.exports, stats.answers), (0, 0, 0));
}

#[test]
fn the_end_of_a_bootstrap_object_is_reported() {
    let mut world = World::new(2, 8);
    let peer = location(1);
    let found = [(); 2].map(|()| {
        let promise = world.vats[0].connect(&peer.peer());
        world.vats[0].listen(promise);
        let events = world.settle();
        let found = outcome(&events[0], promise).unwrap().unwrap();
        found.as_reference().unwrap()
    });
    // There is one reference to it.
    assert_eq!(found[0], found[1]);
    world.vats[0].watch(found[0]);
    world.cut();
    let events = world.settle();
    let broken = |event: &&Event| **event == Event::Broken(found[0]);
    assert_eq!(events[0].iter().filter(broken).count(), 1);
}

#[test]
fn nobody_forges_the_cause_of_a_broken_promise() {
    let mut world = World::new(2, 9);
    world.publish(1, b"object");
    let object = world.enliven(0, 1, b"object");
    let call = |world: &mut World, arguments: &Payload| {
        let result = world.vats[0].call(object, arguments);
        world.vats[0].listen(result);
        result
    };
    let claimed = Payload::error("disconnected: cut");
    let forged = call(&mut world, &Payload::list(|_| {}));
    let events = world.settle();
    let reply = calls(&events[1])[0].2.unwrap();
    world.vats[1].resolve(reply, Err(&claimed));
    let long = Payload::list(|list| {
        list.bytes(&vec![0; 1 << 20]);
    });
    let too_long = call(&mut world, &long);
    let events = world.settle();
    assert_eq!(
        outcome(&events[0], forged),
        Some(Err(claimed.clone().into()))
    );
    let cause = |events: &[Event], of| outcome(events, of).unwrap().unwrap_err().cause;
    assert_eq!(cause(&events[0], too_long), Cause::Limit);

    let pending = call(&mut world, &Payload::list(|_| {}));
    world.settle();
    world.cut();
    let later = call(&mut world, &Payload::list(|_| {}));
    let events = world.settle();
    let reason = outcome(&events[0], pending).unwrap().unwrap_err();
    assert_eq!(
        (reason.cause, &reason.value),
        (Cause::Disconnected, &claimed)
    );
    assert_eq!(cause(&events[0], later), Cause::Disconnected);

    // An object that passes such a reason on breaks its own promise.
    let (promise, resolver) = world.vats[0].promise();
    world.vats[0].listen(promise);
    world.vats[0].resolve(resolver, Err(&reason.value));
    let events = world.settle();
    assert_eq!(cause(&events[0], promise), Cause::Application);
}

#[test]
pub fn own_messages_that_cannot_wait_fail_and_the_session_goes_on() {
    let mut configs: Vec<Config> = (0..2).map(config).collect();
    configs[0].limits = Limits {
        message: 1_000,
        queue: 4,
        outbound_soft: 2_000,
        outbound_hard: 10_000,
        ..Limits::default()
    };
    let mut world = World::with(configs, 11);
    world.publish(1, b"object");
    let object = world.enliven(0, 1, b"object");
    let message = Payload::list(|list| {
        list.bytes(&[0; 500]);
    });
    // Before there is a connection, messages wait for the promise.
    let mut sent = 0;
    while world.vats[0].send(object, &message).is_ok() {
        sent += 1;
        assert_eq!(world.vats[0].is_congested(object), sent >= 2);
    }
    assert_eq!(sent, 4);
    let events = world.settle();
    assert_eq!(calls(&events[1]).len(), 4);

    // Then they wait to be sent, also through the promise.
    assert!(!world.vats[0].is_congested(object));
    let (mut sent, mut congested) = (0, 0);
    let reason = loop {
        match world.vats[0].send(object, &message) {
            Ok(()) => sent += 1,
            Err(reason) => break reason,
        }
        congested += usize::from(world.vats[0].is_congested(object));
    };
    assert_eq!(reason.cause, Cause::Limit);
    assert!(sent > congested && congested > 0, "{sent}, {congested}");
    for refused in [
        world.vats[0].call(object, &message),
        world.vats[0].index(object, 0),
    ] {
        let refused = world.vats[0].outcome(refused).unwrap().unwrap_err();
        assert_eq!(refused.cause, Cause::Limit);
    }
    assert!(world.vats[0].stats().outbound <= 10_000);
    let events = world.settle();
    assert_eq!(calls(&events[1]).len(), sent);
    assert!(!world.vats[0].is_congested(object));
    let result = world.vats[0].call(object, &message);
    let events = world.settle();
    let [(_, _, reply)] = calls(&events[1]).try_into().unwrap();
    world.vats[1].resolve(reply.unwrap(), Ok(&Payload::from("fine")));
    world.vats[0].listen(result);
    let events = world.settle();
    assert_eq!(outcome(&events[0], result), Some(Ok("fine".into())));
}

#[test]
fn a_message_that_is_not_sent_is_reported() {
    let mut vat = Vat::new(config(0), [0; 32]);
    let empty = Payload::list(|_| {});
    let (data, resolver) = vat.promise();
    vat.resolve(resolver, Ok(&Payload::from("text")));
    let reason = vat.send(data, &empty).unwrap_err();
    assert_eq!(
        reason.message(),
        "not an object: the promise was fulfilled with data"
    );
    // The references in a reason are handles of the caller.
    let (broken, resolver) = vat.promise();
    let object = vat.object();
    vat.resolve(resolver, Err(&Payload::reference(object)));
    vat.drop_ref(resolver);
    vat.drop_ref(object);
    let reason = vat.send(broken, &empty).unwrap_err();
    assert_eq!(reason, Payload::reference(object).into());
    vat.drop_ref(broken);
    assert!(vat.is_held(object));
    vat.drop_payload(reason.value);
    assert_eq!(vat.poll_event(), Some(Event::Dropped(object)));
}

#[test]
fn crossed_hellos_leave_one_session() {
    for seed in 0..64 {
        let mut world = World::mixed(2, seed);
        for vat in 0..2 {
            world.publish(vat, b"object");
        }
        let refs = [
            world.enliven(0, 1, b"object"),
            world.enliven(1, 0, b"object"),
        ];
        for (vat, promise) in world.vats.iter_mut().zip(refs) {
            vat.listen(promise);
        }
        let events = world.settle();
        for (vat, promise) in refs.into_iter().enumerate() {
            let outcome = outcome(&events[vat], promise);
            assert!(matches!(outcome, Some(Ok(_))), "seed {seed}: {outcome:?}");
            assert_eq!(world.vats[vat].stats().connections, 1, "seed {seed}");
        }
    }
}

#[test]
fn cycles_of_promises_break() {
    let mut vat = Vat::new(config(0), [0; 32]);
    let (a, resolve_a) = vat.promise();
    let (b, resolve_b) = vat.promise();
    let waiting = vat.call(a, &Payload::list(|_| {}));
    vat.listen(waiting);
    vat.resolve(resolve_a, Ok(&Payload::reference(b)));
    vat.resolve(resolve_b, Ok(&Payload::reference(a)));
    let events: Vec<Event> = std::iter::from_fn(|| vat.poll_event()).collect();
    assert_eq!(
        reason(outcome(&events, waiting)),
        "the promise was fulfilled with itself"
    );
}

#[test]
fn long_chains_need_no_stack() {
    let mut vat = Vat::new(config(0), [0; 32]);
    let (first, resolver) = vat.promise();
    let mut last = first;
    for _ in 0..100_000 {
        let next = vat.call(last, &Payload::list(|_| {}));
        vat.drop_ref(last);
        last = next;
    }
    vat.listen(last);
    vat.resolve(resolver, Err(&Payload::from("no")));
    vat.drop_ref(resolver);
    let events: Vec<Event> = std::iter::from_fn(|| vat.poll_event()).collect();
    assert_eq!(
        outcome(&events, last),
        Some(Err(Payload::from("no").into()))
    );
    vat.drop_ref(last);
    assert_eq!(vat.stats().nodes, 1);
}

#[test]
fn payloads_keep_references_in_order() {
    let mut vat = Vat::new(config(0), [0; 32]);
    let refs: Vec<Ref> = (0..12).map(|_| vat.object()).collect();
    let payload = Payload::list(|list| {
        for (i, reference) in refs.iter().enumerate() {
            list.begin_list()
                .integer(i as u64)
                .reference(*reference)
                .end_list();
        }
    });
    assert_eq!(payload.refs(), refs);
    let items = payload.items().unwrap();
    for (i, item) in items.iter().enumerate() {
        assert_eq!(item.refs(), [refs[i]]);
        assert_eq!(
            item.data(),
            [
                &b"["[..],
                &syrup::encode(&(i as u64)).unwrap(),
                b"<8'desc:ref0+>]"
            ]
            .concat()
        );
    }
    assert_eq!(items[3].items().unwrap()[1].as_reference(), Some(refs[3]));
    assert_eq!(payload.as_reference(), None);
    let again = Payload::list(|list| {
        for item in &items {
            list.payload(item);
        }
    });
    assert_eq!(again, payload);
}

#[test]
fn many_dropped_references_are_few_messages() {
    const REFERENCES: usize = 100_000;
    let mut configs: Vec<Config> = (0..2).map(config).collect();
    for config in &mut configs {
        // And some for the object that is called.
        (config.limits.exports, config.limits.imports) = (REFERENCES + 9, REFERENCES + 9);
    }
    let mut world = World::with(configs, 1);
    world.publish(1, b"maker");
    let maker = world.enliven(0, 1, b"maker");
    world.settle();
    let mut received = vec![];
    for _ in 0..REFERENCES / 4000 {
        let result = world.vats[0].call(maker, &Payload::list(|_| {}));
        world.vats[0].listen(result);
        let events = world.settle();
        let [(_, _, reply)] = calls(&events[1]).try_into().unwrap();
        let vat = &mut world.vats[1];
        let objects: Vec<Ref> = (0..4000).map(|_| vat.object()).collect();
        let list = Payload::list(|list| {
            objects.iter().for_each(|object| {
                list.reference(*object);
            });
        });
        vat.resolve(reply.unwrap(), Ok(&list));
        vat.drop_payload(list);
        vat.drop_ref(reply.unwrap());
        let events = world.settle();
        received.push(outcome(&events[0], result).unwrap().unwrap());
        world.vats[0].drop_ref(result);
        world.settle();
    }
    let before = world.sent[0][0].len();
    for payload in received {
        world.vats[0].drop_payload(payload);
    }
    let events = world.settle();
    let dropped = |event: &&Event| matches!(event, Event::Dropped(_));
    assert_eq!(events[1].iter().filter(dropped).count(), REFERENCES);
    let sent = &world.sent[0][0][before..];
    let label: &[u8] = b"op:gc-exports";
    let messages = sent.windows(label.len()).filter(|bytes| *bytes == label);
    assert_eq!(messages.count(), 25);
}
