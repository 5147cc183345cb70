//! Bytes to be sent, in pieces.
use std::{vec, vec::Vec};

use super::super::*;
use super::world::*;
use crate::captp::Framing;

/// Takes all bytes that the vat has to send. It has one connection.
fn take(vat: &mut Vat) -> Outgoing {
    let mut out = Outgoing::default();
    while let Some(output) = vat.poll_output() {
        if let Output::Bytes(connection) = output {
            vat.take_pieces(connection, &mut out);
        }
    }
    out
}

fn all(out: &Outgoing) -> Vec<u8> {
    out.pieces(0).collect::<Vec<_>>().concat()
}

fn long(fill: u8) -> Payload {
    Payload::list(|list| {
        list.bytes(&vec![fill; 20_000]);
    })
}

#[test]
fn long_arguments_stay_in_their_memory() {
    for framing in FRAMINGS {
        let short = Payload::list(|list| {
            list.integer(5);
        });
        let arguments = [long(1), short, long(2)];
        let send = |vat: &mut Vat, object| {
            for arguments in &arguments {
                vat.send(object, arguments).unwrap();
            }
        };
        let (mut world, object) = World::connected(framing);
        let (mut other, same_object) = World::connected(framing);
        send(&mut world.vats[0], object);
        send(&mut other.vats[0], same_object);

        let out = take(&mut world.vats[0]);
        let pieces: Vec<_> = out.pieces(0).collect();
        assert_eq!(pieces.len(), 5);
        assert_eq!(pieces[1].as_ptr(), arguments[0].data().as_ptr());
        assert_eq!(pieces[3].as_ptr(), arguments[2].data().as_ptr());
        let mut bytes = vec![];
        while let Some(output) = other.vats[0].poll_output() {
            if let Output::Bytes(connection) = output {
                other.vats[0].take_bytes(connection, &mut bytes);
            }
        }
        // The two vats differ in their keys only, which these messages do not contain.
        assert_eq!(pieces.concat(), bytes);
        assert_eq!(out.len(), bytes.len());
        for offset in [
            1,
            pieces[0].len(),
            pieces[0].len() + 1,
            bytes.len() - 1,
            bytes.len(),
        ] {
            let rest: Vec<_> = out.pieces(offset).collect();
            assert!(rest.iter().all(|piece| !piece.is_empty()));
            assert_eq!(rest.concat(), bytes[offset..]);
        }
    }
}

#[test]
fn bytes_that_wait_for_the_caller_keep_their_order() {
    let (mut world, object) = World::connected(Framing::Length);
    let vat = &mut world.vats[0];
    let mut out = Outgoing::default();
    let mut lengths = vec![];
    for fill in 0..3 {
        vat.send(object, &long(fill)).unwrap();
        while let Some(output) = vat.poll_output() {
            if let Output::Bytes(connection) = output {
                vat.take_pieces(connection, &mut out);
            }
        }
        lengths.push(out.len());
    }
    let bytes = all(&out);
    assert_eq!(bytes.len(), lengths[2]);
    for (fill, end) in lengths.into_iter().enumerate() {
        assert!(
            bytes[end - 15_000..end - 100]
                .iter()
                .all(|byte| usize::from(*byte) == fill)
        );
    }
    out.clear();
    assert!(out.is_empty() && out.pieces(0).next().is_none());
}

#[test]
fn a_message_that_is_not_sent_leaves_nothing() {
    let (mut world, object) = World::connected(Framing::Length);
    let vat = &mut world.vats[0];
    let too_long = Payload::list(|list| {
        list.bytes(&vec![7; Limits::default().message]);
    });
    vat.send(object, &long(1)).unwrap();
    assert_eq!(vat.send(object, &too_long).unwrap_err().cause, Cause::Limit);
    vat.send(object, &long(2)).unwrap();
    let bytes = all(&take(vat));
    assert!(bytes.len() < 2 * 20_100 && !bytes.contains(&7));
}
