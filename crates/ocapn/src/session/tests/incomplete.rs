//! Long messages whose rest is read into the memory of their start.
use std::{sync::Arc, vec, vec::Vec};

use super::super::{data::Shared, spare::Spare, *};
use super::world::*;
use crate::captp::Framing;

/// Bytes of a stream that one call passes.
const PIECE: usize = 40_000;

/// Two vats, the connection of the second one, and its object as the first one refers to it.
fn connected(framing: Framing) -> (World, Connection, Ref) {
    let (world, object) = World::connected(framing);
    let connection = world.connection(1);
    (world, connection, object)
}

/// The bytes of calls by the first vat, with an argument of each length.
fn stream(world: &mut World, object: Ref, lengths: &[usize]) -> Vec<u8> {
    let vat = &mut world.vats[0];
    for (index, &length) in lengths.iter().enumerate() {
        let arguments = Payload::list(|list| {
            list.bytes(&vec![index as u8; length]);
        });
        vat.send(object, &arguments).unwrap();
    }
    let mut bytes = vec![];
    while let Some(output) = vat.poll_output() {
        if let Output::Bytes(connection) = output {
            vat.take_bytes(connection, &mut bytes);
        }
    }
    bytes
}

/// Passes bytes, if possible in memory of the vat. Returns how many it passed so.
fn pass(vat: &mut Vat, connection: Connection, mut bytes: &[u8]) -> usize {
    let mut in_memory = 0;
    while !bytes.is_empty() {
        let length = match vat.take_incomplete(connection) {
            Some(mut memory) => {
                let room = memory.capacity() - memory.len();
                let length = room.min(3 * PIECE).min(bytes.len());
                assert!(length > 0);
                memory.extend_from_slice(&bytes[..length]);
                vat.received_in(connection, memory, 0);
                in_memory += length;
                length
            }
            None => {
                let length = PIECE.min(bytes.len());
                vat.received(connection, &bytes[..length], 0);
                length
            }
        };
        bytes = &bytes[length..];
    }
    in_memory
}

fn arguments(vat: &mut Vat) -> Vec<Payload> {
    let events: Vec<_> = core::iter::from_fn(|| vat.poll_event()).collect();
    calls(&events).into_iter().map(|call| call.1).collect()
}

#[test]
fn most_of_a_long_message_is_not_copied() {
    let lengths = [300_000, 5, 33_000, 500_000, 1, 2, 100_000];
    for framing in FRAMINGS {
        let (mut world, connection, object) = connected(framing);
        let bytes = stream(&mut world, object, &lengths);
        let vat = &mut world.vats[1];
        let in_memory = pass(vat, connection, &bytes);
        assert!(in_memory > 600_000, "{in_memory}");
        let arguments = arguments(vat);
        assert_eq!(arguments.len(), lengths.len());
        for (index, (&length, arguments)) in lengths.iter().zip(&arguments).enumerate() {
            let expected = Payload::list(|list| {
                list.bytes(&vec![index as u8; length]);
            });
            assert_eq!(arguments.data(), expected.data());
        }
    }
}

#[test]
fn memory_is_used_again_once_it_is_free() {
    for framing in FRAMINGS {
        let (mut world, connection, object) = connected(framing);
        let next = |world: &mut World| {
            let bytes = stream(world, object, &[400_000]);
            let vat = &mut world.vats[1];
            assert!(pass(vat, connection, &bytes) > 300_000);
            arguments(vat).pop().unwrap()
        };
        let first = next(&mut world);
        let second = next(&mut world);
        let places = [first.data().as_ptr(), second.data().as_ptr()];
        assert_ne!(places[0], places[1]);
        assert!(first.data() == second.data());
        world.vats[1].drop_payload(first);
        let third = next(&mut world);
        assert_eq!(third.data().as_ptr(), places[0]);
        let copy = second.clone();
        world.vats[1].drop_payload(second);
        let fourth = next(&mut world);
        assert!(!places.contains(&fourth.data().as_ptr()));
        assert!(copy.data() == fourth.data());
    }
}

#[test]
fn kept_memory_is_bounded() {
    const MOST: usize = 8 << 20;
    let lengths = [1, 16, 128, 1000, 5 << 10, 8 << 10, 9 << 10].map(|kib| kib << 10);
    let mut spare = Spare::default();
    let mut memories = vec![];
    for round in 0..100 {
        let length = lengths[(round * round + round / 7) % lengths.len()];
        let Some(message) = Shared::take(&mut vec![0; length]) else {
            continue;
        };
        spare.keep_long(&message);
        memories.push(Arc::downgrade(message.memory()));
        drop(message);
        memories.retain(|memory| memory.strong_count() > 0);
        let kept = memories.iter().filter_map(|memory| memory.upgrade());
        let kept: Vec<_> = kept.map(|memory| memory.len()).collect();
        assert!(kept.iter().sum::<usize>() <= MOST, "{kept:?}");
        assert_eq!(
            kept.last() == Some(&length),
            (128 << 10..=MOST).contains(&length)
        );
    }
    // Short ones, which are many within the bound.
    for _ in 0..100 {
        let message = Shared::take(&mut vec![0; 128 << 10]).unwrap();
        spare.keep_long(&message);
        memories.push(Arc::downgrade(message.memory()));
    }
    memories.retain(|memory| memory.strong_count() > 0);
    assert_eq!(memories.len(), 8);
}

#[test]
fn lent_memory_has_to_come_back() {
    type Misuse = fn(&mut Vat, Connection, Vec<u8>);
    let misuses: [(Misuse, &str); 4] = [
        (
            |vat, connection, _| vat.received(connection, b"t", 0),
            "failed earlier",
        ),
        (
            |vat, connection, mut memory| {
                memory.pop();
                vat.received_in(connection, memory, 0);
            },
            "failed earlier",
        ),
        // It came back already, so the vat has the start of the message.
        (
            |vat, connection, memory| {
                vat.received_in(connection, memory.clone(), 0);
                vat.received_in(connection, memory, 0);
            },
            "failed earlier",
        ),
        // Without anything to read, the session goes on.
        (
            |vat, connection, memory| vat.received_in(connection, memory, 0),
            "",
        ),
    ];
    for framing in FRAMINGS {
        for (misuse, reason) in misuses {
            let (mut world, connection, object) = connected(framing);
            let bytes = stream(&mut world, object, &[400_000]);
            let vat = &mut world.vats[1];
            vat.received(connection, &bytes[..PIECE], 0);
            let memory = vat.take_incomplete(connection).unwrap();
            assert_eq!(memory[..], bytes[..PIECE]);
            assert!(vat.take_incomplete(connection).is_none());
            misuse(vat, connection, memory);
            let events = core::iter::from_fn(|| vat.poll_event());
            let ends: Vec<_> = events
                .filter_map(|event| match event {
                    Event::Down(_, reason) => Some(reason),
                    _ => None,
                })
                .collect();
            match reason {
                "" => {
                    assert!(ends.is_empty());
                    pass(vat, connection, &bytes[PIECE..]);
                    assert_eq!(arguments(vat).len(), 1);
                }
                _ => assert!(ends.len() == 1 && ends[0].contains(reason), "{ends:?}"),
            }
            assert!(vat.take_incomplete(connection).is_none());
        }
    }
}

#[test]
fn memory_for_a_session_that_has_ended() {
    let (mut world, connection, object) = connected(Framing::None);
    let bytes = stream(&mut world, object, &[400_000]);
    let vat = &mut world.vats[1];
    vat.received(connection, &bytes[..PIECE], 0);
    let mut memory = vat.take_incomplete(connection).unwrap();
    vat.closed(connection, "cut");
    memory.extend_from_slice(&bytes[PIECE..][..100]);
    vat.received_in(connection, memory, 0);
    assert!(arguments(vat).is_empty());
    assert!(vat.take_incomplete(connection).is_none());
}
