#![allow(clippy::unwrap_used, clippy::panic)]
use std::{format, string::String, string::ToString as _, vec, vec::Vec};

use lydite_bytes::hex;
use proptest::prelude::*;

use super::*;
use crate::syrup::{self, Buffer, Kind};

const DIALECTS: [Dialect; 3] = [
    Dialect::Suite202602,
    Dialect::Draft202607,
    Dialect::Endo202608,
];

fn vector(id: &str) -> Vec<u8> {
    let mut vectors = syrup::tests::vectors().into_iter();
    vectors.find(|vector| vector.id == id).unwrap().bytes
}

fn crypto(field: &str) -> Vec<u8> {
    let file = include_str!("../../vectors/syrup/crypto.json");
    let json: serde_json::Value = serde_json::from_str(file).unwrap();
    hex::decode(json[field].as_str().unwrap()).unwrap()
}

fn crypto32(field: &str) -> [u8; 32] {
    crypto(field).try_into().unwrap()
}

fn encode(operation: &Operation<'_>, dialect: Dialect) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    operation.encode::<Syrup, _>(dialect, &mut out)?;
    Ok(out)
}

#[test]
fn operations_of_the_vectors() {
    use Dialect::*;
    let all = &DIALECTS[..];
    let new = &[Draft202607, Endo202608][..];
    let target = Target::Answer(1);
    for (id, dialects, expected) in [
        (
            "op-deliver-fetch",
            all,
            Operation::Deliver {
                to: Target::Export(0),
                arguments: b"[5'fetch32:JadQ0++RzsD4M+40uLxTWVaVqM10DcBJ]",
                answer: Some(3),
                resolver: Some(Import::Object(5)),
            },
        ),
        (
            "op-deliver-only-old",
            &[Suite202602],
            Operation::Deliver {
                to: Target::Export(5),
                arguments: b"[5\"Hello]",
                answer: None,
                resolver: None,
            },
        ),
        (
            "op-listen",
            &[Draft202607],
            Operation::Listen {
                to: Target::Answer(3),
                resolver: Import::Object(7),
                wants_partial: false,
            },
        ),
        (
            "op-listen-3",
            &[Suite202602, Endo202608],
            Operation::Listen {
                to: Target::Answer(3),
                resolver: Import::Object(7),
                wants_partial: true,
            },
        ),
        ("op-abort", all, Operation::Abort { reason: "reason" }),
        (
            "op-gc-exports",
            new,
            Operation::GcExports(vec![(1, 1), (2, 3)].into()),
        ),
        (
            "op-gc-export",
            &[Suite202602],
            Operation::GcExports(vec![(1, 1), (2, 3)].into()),
        ),
        ("op-gc-answers", new, Operation::GcAnswers(vec![4].into())),
        (
            "op-get",
            new,
            Operation::Get {
                from: target,
                field: "field",
                answer: 2,
            },
        ),
        (
            "op-index",
            new,
            Operation::Index {
                from: target,
                index: 0,
                answer: 2,
            },
        ),
        (
            "op-untag",
            new,
            Operation::Untag {
                from: target,
                tag: "decimal",
                answer: 2,
            },
        ),
    ] {
        let bytes = vector(id);
        for dialect in DIALECTS {
            let decoded = Operation::decode::<Syrup>(&bytes, dialect);
            if dialects.contains(&dialect) {
                assert_eq!(decoded.as_ref(), Ok(&expected), "{id} {dialect}");
                assert_eq!(
                    encode(&expected, dialect),
                    Ok(bytes.clone()),
                    "{id} {dialect}"
                );
                for length in 0..bytes.len() {
                    let end = ErrorKind::Value(syrup::ErrorKind::UnexpectedEnd).at(length);
                    assert_eq!(
                        Operation::decode::<Syrup>(&bytes[..length], dialect),
                        Err(end),
                        "{id} {length}"
                    );
                }
            } else {
                decoded.expect_err(id);
            }
        }
    }
    // The "op:deliver" of the report is not a valid one.
    let report = vector("captp-bench");
    let error = Operation::decode::<Syrup>(&report, Draft202607).unwrap_err();
    assert_eq!(error, ErrorKind::Value(syrup::ErrorKind::WrongType).at(33));
}

#[test]
fn what_a_dialect_has_no_form_for() {
    fn not_in<T>(dialect: Dialect, offset: usize) -> Result<T, Error> {
        Err(ErrorKind::NotInDialect(dialect).at(offset))
    }
    let suite = Dialect::Suite202602;
    let answer_only = b"<10'op:deliver<11'desc:export5+>[]3+f>";
    let decoded = Operation::decode::<Syrup>(answer_only, Dialect::Draft202607).unwrap();
    assert_eq!(encode(&decoded, suite), not_in(suite, 0));
    assert_eq!(
        Operation::decode::<Syrup>(answer_only, suite),
        not_in(suite, 0)
    );
    // There are two forms for a message without answer and resolver. Each dialect has one of them.
    let nobody = b"<10'op:deliver<11'desc:export5+>[]ff>";
    assert_eq!(Operation::decode::<Syrup>(nobody, suite), not_in(suite, 0));
    let listen = Operation::Listen {
        to: Target::Answer(3),
        resolver: Import::Promise(7),
        wants_partial: true,
    };
    assert_eq!(
        encode(&listen, Dialect::Draft202607),
        not_in(Dialect::Draft202607, 0)
    );
    let get = Operation::Get {
        from: Target::Answer(1),
        field: "f",
        answer: 2,
    };
    assert_eq!(encode(&get, suite), not_in(suite, 0));
}

#[test]
fn malformed_operations() {
    use syrup::ErrorKind::*;
    for (message, kind, offset) in [
        ("<10'op:deliver<11'desc:import0+>[]ff>", None, 14),
        ("<10'op:deliver<11'desc:export0+>{}ff>", Some(WrongType), 32),
        (
            "<10'op:deliver<11'desc:export0+>[02+]ff>",
            Some(LeadingZero),
            33,
        ),
        (
            "<10'op:deliver<11'desc:export1->[]ff>",
            Some(IntegerOutOfRange),
            29,
        ),
        ("<10'op:deliver<11'desc:export0+>[]tf>", Some(WrongType), 34),
        (
            "<10'op:deliver<11'desc:export0+>[]fff>",
            Some(WrongLength),
            36,
        ),
        (
            "<10'op:deliver<11'desc:export0+>[]ff>f",
            Some(TrailingBytes),
            37,
        ),
        ("<10\"op:deliver<11'desc:export0+>[]ff>", Some(WrongType), 1),
        ("<7'op:pick1+>", None, 0),
        ("<13'op:gc-exports[1+2+][1+]>", Some(WrongLength), 23),
        ("[]", Some(WrongType), 0),
    ] {
        let kind = kind.map_or(ErrorKind::UnknownLabel, ErrorKind::Value);
        let decoded = Operation::decode::<Syrup>(message.as_bytes(), Dialect::Draft202607);
        assert_eq!(decoded, Err(kind.at(offset)), "{message}");
    }
    let version = b"<16'op:start-session3\"2.0>";
    let error = ErrorKind::WrongVersion.at(20);
    assert_eq!(
        Operation::decode::<Syrup>(version, Dialect::Draft202607),
        Err(error)
    );
}

/// Two independent implementations must agree on all signatures of the vectors.
#[test]
fn signatures_agree_with_ed25519_compact() {
    let location = crypto("my_location");
    let signature: [u8; 64] = crypto("location_sig").try_into().unwrap();
    for (seed, public) in [("seed_a", "pub_a"), ("seed_b", "pub_b")] {
        let key = SecretKey::from_bytes(&crypto32(seed));
        let other = ed25519_compact::KeyPair::from_seed(ed25519_compact::Seed::new(crypto32(seed)));
        assert_eq!(key.public_key(), PublicKey(crypto32(public)));
        assert_eq!(other.pk.as_ref(), crypto(public));
        for message in [&location[..], b"", b"another"] {
            assert_eq!(key.sign(message).0, *other.sk.sign(message, None));
        }
    }
    let key = PublicKey(crypto32("pub_a"));
    assert_eq!(
        SecretKey::from_bytes(&crypto32("seed_a")).sign(&location),
        Signature(signature)
    );
    assert_eq!(key.verify(&location, &Signature(signature)), Ok(()));
    let other = ed25519_compact::PublicKey::new(crypto32("pub_a"));
    assert!(
        other
            .verify(&location, &ed25519_compact::Signature::new(signature))
            .is_ok()
    );

    for byte in [0, 31, 32, 63] {
        let mut wrong = signature;
        wrong[byte] ^= 1;
        assert_eq!(
            key.verify(&location, &Signature(wrong)),
            Err(ErrorKind::InvalidSignature.at(0))
        );
    }
    let b = PublicKey(crypto32("pub_b"));
    assert_eq!(
        b.verify(&location, &Signature(signature)),
        Err(ErrorKind::InvalidSignature.at(0))
    );
    // If accepted as a key, the neutral element verifies any message.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut forged = [0; 64];
    forged[0] = 1;
    assert!(
        PublicKey(neutral)
            .verify(b"anything", &Signature(forged))
            .is_err()
    );
    assert!(
        PublicKey([2; 32])
            .verify(b"anything", &Signature(forged))
            .is_err()
    );
}

#[test]
fn ids() {
    let [a, b] = ["pub_a", "pub_b"].map(|field| PublicKey(crypto32(field)).id::<Syrup>());
    assert_eq!(a, crypto32("public_id_a"));
    assert_eq!(b, crypto32("public_id_b"));
    assert_eq!(session_id(&a, &b), crypto32("session_id"));
    assert_eq!(session_id(&b, &a), crypto32("session_id"));

    // Both sides must reach the same decision.
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    assert_eq!(crossed_hellos(&low, &high), Some(Crossed::KeepTheirs));
    assert_eq!(crossed_hellos(&high, &low), Some(Crossed::KeepOurs));
    assert_eq!(crossed_hellos(&a, &a), None);
}

#[test]
fn start_session() {
    let bytes = vector("start-session");
    for dialect in DIALECTS {
        let operation = Operation::decode::<Syrup>(&bytes, dialect).unwrap();
        assert_eq!(encode(&operation, dialect).unwrap(), bytes);
        let Operation::StartSession(start) = operation else {
            panic!()
        };
        assert_eq!(start.key, PublicKey(crypto32("pub_a")));
        assert_eq!(
            start.location.hints,
            Some(vec![("host", "127.0.0.1"), ("port", "22045")])
        );
        assert_eq!(start.verify::<Syrup>(), Ok(()));

        let key = SecretKey::from_bytes(&crypto32("seed_a"));
        assert_eq!(
            StartSession::sign::<Syrup>(&key, start.location.clone()),
            Ok(start.clone())
        );
        let mut elsewhere = start;
        elsewhere.location.hints = None;
        assert_eq!(
            elsewhere.verify::<Syrup>(),
            Err(ErrorKind::InvalidSignature.at(0))
        );
    }
    // An unknown algorithm.
    let text = String::from_utf8_lossy(&bytes).replace("7'Ed25519", "7'Ed44818");
    assert!(text.contains("Ed44818"));
    let start = bytes
        .windows(9)
        .position(|window| window == b"7'Ed25519")
        .unwrap();
    let mut other = bytes.clone();
    other[start..start + 9].copy_from_slice(b"7'Ed44818");
    let error = ErrorKind::InvalidKey.at(start);
    assert_eq!(
        Operation::decode::<Syrup>(&other, Dialect::Draft202607),
        Err(error)
    );
}

#[test]
fn handoffs() {
    let gifter = SecretKey::from_bytes(&crypto32("seed_a"));
    let receiver = SecretKey::from_bytes(&crypto32("seed_r"));
    let bytes = vector("handoff-give");
    let give = Signed::<HandoffGive<'_>>::decode::<Syrup>(&bytes).unwrap();
    let inside = give.verify(&gifter.public_key()).unwrap().clone();
    assert_eq!(inside.receiver_key, receiver.public_key());
    assert_eq!(inside.session, crypto32("session_id"));
    assert_eq!(inside.gifter_side, crypto32("public_id_a"));
    assert_eq!(inside.gift, [b'g'; 32]);
    assert!(give.verify(&receiver.public_key()).is_err());

    let signed = Signed::sign::<Syrup>(&gifter, inside).unwrap();
    assert_eq!(signed, give);
    let mut out = Vec::new();
    signed.write(&mut Syrup::writer(&mut out));
    assert_eq!(out, bytes);

    let receive = HandoffReceive {
        session: [5; 32],
        receiver_side: [6; 32],
        count: 0,
        give,
    };
    let receive = Signed::sign::<Syrup>(&receiver, receive).unwrap();
    let mut out = Vec::new();
    receive.write(&mut Syrup::writer(&mut out));
    let decoded = Signed::<HandoffReceive<'_>>::decode::<Syrup>(&out).unwrap();
    assert_eq!(decoded, receive);
    assert_eq!(
        decoded.verify_handoff(&gifter.public_key()).unwrap().gift,
        [b'g'; 32]
    );
    assert!(decoded.verify_handoff(&receiver.public_key()).is_err());
    // Signed by someone other than the receiver named by the gifter.
    let stolen = Signed::sign::<Syrup>(&gifter, receive.unverified().clone()).unwrap();
    assert!(stolen.verify_handoff(&gifter.public_key()).is_err());
    for byte in 0..out.len() {
        let mut changed = out.clone();
        changed[byte] ^= 1;
        let decoded = Signed::<HandoffReceive<'_>>::decode::<Syrup>(&changed);
        assert!(
            decoded.is_err()
                || decoded
                    .unwrap()
                    .verify_handoff(&gifter.public_key())
                    .is_err()
        );
    }
}

#[test]
fn sturdyrefs() {
    let bytes = vector("sturdyref");
    let suite = Dialect::Suite202602;
    let sturdyref = Sturdyref::decode::<Syrup>(&bytes, suite).unwrap();
    assert_eq!(sturdyref.swiss, b"JadQ0++RzsD4M+40uLxTWVaVqM10DcBJ");
    let mut out = Vec::new();
    sturdyref
        .write(&mut Syrup::writer(&mut out), suite)
        .unwrap();
    assert_eq!(out, bytes);
    assert!(Sturdyref::decode::<Syrup>(&bytes, Dialect::Draft202607).is_err());
    out.clear();
    sturdyref
        .write(&mut Syrup::writer(&mut out), Dialect::Draft202607)
        .unwrap();
    assert_eq!(
        Sturdyref::decode::<Syrup>(&out, Dialect::Draft202607).as_ref(),
        Ok(&sturdyref)
    );
    let secret = Sturdyref {
        swiss: b"\xff",
        ..sturdyref.clone()
    };
    assert!(
        secret
            .write(&mut Syrup::writer(&mut Vec::new()), Dialect::Draft202607)
            .is_err()
    );

    let mut reader = Syrup::reader(b"<10'ocapn-peer5'onion3\"abcf>");
    let peer = Peer::read(&mut reader).unwrap();
    assert_eq!(
        peer,
        Peer {
            transport: "onion",
            designator: "abc",
            hints: None
        }
    );
    let near = Peer {
        hints: Some(vec![("via", "here")]),
        ..peer.clone()
    };
    assert!(near != peer && near.is_same(&peer) && !peer.is_same(&sturdyref.peer));

    let text = "ocapn://a2ef69ddd5f84840970612ff660f5058.tcp-testing-only/s/JadQ0++RzsD4M+40uLxTWVaVqM10DcBJ?host=127.0.0.1&port=22045";
    let locator: Locator = text.parse().unwrap();
    assert_eq!(locator.sturdyref().as_ref(), Some(&sturdyref));
    assert_eq!(locator.to_string(), text);
}

#[test]
fn texts_that_are_no_locators() {
    for (text, offset) in [
        ("", 0),
        ("http://a.b", 0),
        ("ocapn://ab", 8),
        ("ocapn://.b", 8),
        ("ocapn://a.", 10),
        ("ocapn://a..b", 8),
        ("ocapn://a b.c", 8),
        ("ocapn://a.b/", 12),
        ("ocapn://a.b/x/1", 12),
        ("ocapn://a.b/s/", 14),
        ("ocapn://a.b/s/1/2", 15),
        ("ocapn://a.b/s/%4", 14),
        ("ocapn://a.b/s/%4g", 14),
        ("ocapn://a.b/s/é", 14),
        ("ocapn://a.b?", 12),
        ("ocapn://a.b?h", 12),
        ("ocapn://a.b?=1", 12),
        ("ocapn://a.b?h=1&h=2", 16),
        ("ocapn://a.b?h=%ff", 14),
    ] {
        assert_eq!(
            text.parse::<Locator>(),
            Err(ErrorKind::InvalidLocator.at(offset)),
            "{text}"
        );
    }
    let dots: Locator = "ocapn://x.y.onion".parse().unwrap();
    assert_eq!(
        (&dots.designator[..], &dots.transport[..]),
        ("x.y", "onion")
    );
}

/// Returns all messages of a stream that is split at these positions.
fn split<C: Codec>(
    framing: Framing,
    limit: usize,
    stream: &[u8],
    cuts: &[usize],
) -> Result<Vec<Vec<u8>>, Error> {
    let (messages, result) = split_until_error::<C>(framing, limit, stream, cuts);
    result.map(|()| messages)
}

/// Like [`split`], with the messages before an error.
fn split_until_error<C: Codec>(
    framing: Framing,
    limit: usize,
    stream: &[u8],
    cuts: &[usize],
) -> (Vec<Vec<u8>>, Result<(), Error>) {
    let mut frames = Frames::<C>::new(framing, limit);
    let (mut messages, mut start) = (vec![], 0);
    for &cut in cuts.iter().chain([&stream.len()]) {
        let fed = frames.feed(&stream[start..cut], |message| {
            messages.push(message.to_vec());
            Ok::<_, Error>(())
        });
        if fed.is_err() {
            return (messages, fed);
        }
        start = cut;
    }
    assert!(frames.pending() <= limit.saturating_add(21));
    (messages, Ok(()))
}

#[test]
fn streams_in_pieces() {
    let ids = [
        "op-abort",
        "op-deliver-fetch",
        "int-0",
        "start-session",
        "f64-pi",
        "bytes-256-40af",
        "str-bear-4",
    ];
    let messages: Vec<Vec<u8>> = ids.iter().map(|id| vector(id)).collect();
    for framing in [Framing::None, Framing::Length] {
        let mut stream = vec![];
        messages
            .iter()
            .for_each(|message| put_frame(framing, message, &mut stream));
        let all: Vec<usize> = (1..stream.len()).collect();
        assert_eq!(
            split::<Syrup>(framing, 400, &stream, &all).as_ref(),
            Ok(&messages)
        );
        for first in 0..stream.len() {
            for second in [first, first + 1, first + 2, stream.len()] {
                let cuts = [first, second.min(stream.len())];
                assert_eq!(
                    split::<Syrup>(framing, 400, &stream, &cuts).as_ref(),
                    Ok(&messages),
                    "{framing:?} {cuts:?}"
                );
            }
        }
        // The longest message has 323 bytes.
        assert!(split::<Syrup>(framing, 323, &stream, &all).is_ok());
        for cuts in [&[][..], &all] {
            let error = split::<Syrup>(framing, 322, &stream, cuts).unwrap_err();
            assert_eq!(error.kind, ErrorKind::MessageTooLong);
        }
    }
}

#[test]
fn streams_that_are_none() {
    for (framing, stream, kind, offset) in [
        (Framing::Length, &b"3:1+]x:"[..], ErrorKind::InvalidFrame, 5),
        (Framing::Length, b"03:abc", ErrorKind::InvalidFrame, 0),
        (Framing::Length, b"3\"abc", ErrorKind::InvalidFrame, 1),
        (Framing::Length, b":", ErrorKind::InvalidFrame, 0),
        (Framing::Length, b"2:1+101:", ErrorKind::MessageTooLong, 4),
        (
            Framing::Length,
            b"99999999999999999999999999",
            ErrorKind::MessageTooLong,
            0,
        ),
        (
            Framing::None,
            b"1+[02+]",
            ErrorKind::Value(syrup::ErrorKind::LeadingZero),
            3,
        ),
        (
            Framing::None,
            b"1+]",
            ErrorKind::Value(syrup::ErrorKind::UnexpectedByte),
            2,
        ),
        // Once the header is there: 101 bytes.
        (Framing::None, b"1+[[96:", ErrorKind::MessageTooLong, 2),
        (Framing::None, b"98\"", ErrorKind::MessageTooLong, 0),
        (
            Framing::None,
            b"{18446744073709551615'",
            ErrorKind::MessageTooLong,
            0,
        ),
        (
            Framing::None,
            b"[18446744073709551616\"",
            ErrorKind::MessageTooLong,
            0,
        ),
        (
            Framing::None,
            b"<111111111111111111111111111111:",
            ErrorKind::MessageTooLong,
            0,
        ),
    ] {
        let all: Vec<usize> = (1..stream.len()).collect();
        for cuts in [&[][..], &all] {
            let mut frames = Frames::<Syrup>::new(framing, 100);
            let mut start = 0;
            let mut result = Ok(());
            for &cut in cuts.iter().chain([&stream.len()]) {
                let next = frames.feed(&stream[start..cut], |_| Ok::<_, Error>(()));
                start = cut;
                result = result.and(next);
            }
            assert_eq!(result, Err(kind.at(offset)), "{stream:?} {cuts:?}");
            // The error persists.
            assert_eq!(frames.feed(b"1+", |_| Ok::<_, Error>(())), result);
        }
    }
    // Endless digits, open lists and text byte by byte: at most the limit is buffered, and nothing takes quadratic
    // time.
    const LIMIT: usize = 300_000;
    for byte in [b'1', b'['] {
        let mut frames = Frames::<Syrup>::new(Framing::None, LIMIT);
        let mut result = Ok(());
        let mut taken = 0;
        while result.is_ok() {
            result = frames.feed(&[byte], |_| Ok::<_, Error>(()));
            taken += 1;
        }
        assert_eq!(taken, if byte == b'[' { 129 } else { LIMIT });
    }
    // Messages as long as the limit.
    for (header, length, end) in [("[[93:", 93, "]]"), ("97\"", 97, "")] {
        let mut frames = Frames::<Syrup>::new(Framing::None, 100);
        let mut count = 0;
        for piece in [header.as_bytes(), &vec![b'x'; length], end.as_bytes()] {
            let each = |_: &[u8]| {
                count += 1;
                Ok::<_, Error>(())
            };
            frames.feed(piece, each).unwrap();
        }
        assert_eq!(count, 1);
    }
    let mut frames = Frames::<Syrup>::new(Framing::None, 1000);
    frames.feed(b"[1+2+", |_| Ok::<_, Error>(())).unwrap();
    let stopped = ErrorKind::Stopped.at(0);
    let given_up = frames.feed(b"]3+", |_| Err(stopped));
    assert_eq!(given_up, Err(stopped));
    assert!(frames.feed(b"4+", |_| Ok::<_, Error>(())).is_err());
}

/// The least length of an incomplete value is above that of its start, never above its own, and known to the end of a
/// text after its header.
#[test]
fn least_length_of_an_incomplete_value() {
    let mut values: Vec<_> = syrup::tests::vectors()
        .into_iter()
        .map(|vector| vector.bytes)
        .collect();
    values.push([b"[1+{1\"a[2000:" as &[u8], &[7; 2000], b"]}f]"].concat());
    let mut incomplete = 0;
    for value in &values {
        if !matches!(Syrup::reader(value).raw(), Ok(raw) if raw.as_bytes().len() == value.len()) {
            continue;
        }
        let mut scan = <Syrup as Codec>::Scan::default();
        for length in 0..value.len() {
            assert_eq!(scan.end(&value[..length]), Ok(None));
            let least = scan.least_length(&value[..length]);
            assert!(
                length < least && least <= value.len(),
                "{length} {least} {value:?}"
            );
            incomplete += 1;
        }
    }
    assert!(incomplete > 4000, "{incomplete}");
    let value = values.last().unwrap();
    let mut scan = <Syrup as Codec>::Scan::default();
    let header = value.len() - 2000 - 4;
    assert_eq!(scan.end(&value[..header]), Ok(None));
    assert_eq!(scan.least_length(&value[..header]), header + 2000);
}

/// A limit larger than memory, and lengths around the largest address.
#[test]
fn frames_without_a_limit() {
    for length in [
        usize::MAX,
        usize::MAX - 19,
        usize::MAX - 20,
        usize::MAX - 21,
        usize::MAX - 22,
        isize::MAX as usize + 1,
        isize::MAX as usize,
        isize::MAX as usize - 21,
    ] {
        let stream = format!("{length}:[1+");
        let header = stream.len() - 3;
        for cuts in [vec![], vec![1], vec![header], vec![header - 1, header + 1]] {
            for limit in [usize::MAX, usize::MAX - 1, isize::MAX as usize] {
                let result = split::<Syrup>(Framing::Length, limit, stream.as_bytes(), &cuts);
                assert_eq!(
                    result,
                    Err(ErrorKind::MessageTooLong.at(0)),
                    "{stream} {cuts:?}"
                );
            }
        }
    }
    let stream = b"4:[1+]";
    for cuts in [vec![], vec![1], vec![3], vec![1, 2, 3, 4, 5]] {
        let messages = split::<Syrup>(Framing::Length, usize::MAX, stream, &cuts);
        assert_eq!(messages, Ok(vec![b"[1+]".to_vec()]));
        let messages = split::<Syrup>(Framing::None, usize::MAX, &stream[2..], &[1]);
        assert_eq!(messages, Ok(vec![b"[1+]".to_vec()]));
    }
}

/// An encoding that has only the kinds in common with Syrup: one byte of kind, 4 bytes of length, content.
struct Boxes;

#[derive(Clone, Copy)]
struct BoxReader<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> BoxReader<'a> {
    fn peek(&self) -> Result<(u8, &'a [u8]), syrup::Error> {
        let end = syrup::ErrorKind::UnexpectedEnd.at(self.at);
        let rest = self.input.get(self.at..).ok_or(end)?;
        let (kind, rest) = rest.split_first().ok_or(end)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(end)?;
        let content = rest
            .get(..u32::from_be_bytes(*length) as usize)
            .ok_or(end)?;
        Ok((*kind, content))
    }

    fn take(&mut self, kind: u8) -> Result<&'a [u8], syrup::Error> {
        let (found, content) = self.peek()?;
        if found != kind {
            return Err(syrup::ErrorKind::WrongType.at(self.at));
        }
        self.at += 5 + content.len();
        Ok(content)
    }

    fn text(&mut self, kind: u8) -> Result<&'a str, syrup::Error> {
        let at = self.at;
        std::str::from_utf8(self.take(kind)?).map_err(|_| syrup::ErrorKind::InvalidUtf8.at(at))
    }
}

impl<'a> Read<'a> for BoxReader<'a> {
    fn offset(&self) -> usize {
        self.at
    }
    fn finish(&self) -> Result<(), syrup::Error> {
        match self.at == self.input.len() {
            true => Ok(()),
            false => Err(syrup::ErrorKind::TrailingBytes.at(self.at)),
        }
    }
    fn kind(&self) -> Result<Kind, syrup::Error> {
        Ok(match self.peek()?.0 {
            b'b' => Kind::Boolean,
            b'(' => Kind::List,
            b'<' => Kind::Record,
            b'{' => Kind::Dictionary,
            _ => Kind::Integer,
        })
    }
    fn begin_record(&mut self) -> Result<&'a str, syrup::Error> {
        self.take(b'<')?;
        self.text(b'y')
    }
    fn end_record(&mut self) -> Result<(), syrup::Error> {
        self.take(b'>').map(|_| ())
    }
    fn begin_list(&mut self) -> Result<(), syrup::Error> {
        self.take(b'(').map(|_| ())
    }
    fn try_end_list(&mut self) -> bool {
        self.take(b')').is_ok()
    }
    fn end_list(&mut self) -> Result<(), syrup::Error> {
        self.take(b')').map(|_| ())
    }
    fn boolean(&mut self) -> Result<bool, syrup::Error> {
        Ok(self.take(b'b')? == [1])
    }
    fn integer(&mut self) -> Result<u64, syrup::Error> {
        let at = self.at;
        let bytes = self.take(b'i')?.try_into();
        bytes
            .map(u64::from_be_bytes)
            .map_err(|_| syrup::ErrorKind::WrongLength.at(at))
    }
    fn string(&mut self) -> Result<&'a str, syrup::Error> {
        self.text(b's')
    }
    fn symbol(&mut self) -> Result<&'a str, syrup::Error> {
        self.text(b'y')
    }
    fn bytes(&mut self) -> Result<&'a [u8], syrup::Error> {
        self.take(b'a')
    }
    fn strings(&mut self) -> Result<Vec<(&'a str, &'a str)>, syrup::Error> {
        self.take(b'{')?;
        let mut entries = vec![];
        while self.take(b'}').is_err() {
            entries.push((self.text(b's')?, self.text(b's')?));
        }
        Ok(entries)
    }
    fn raw(&mut self) -> Result<&'a [u8], syrup::Error> {
        let (start, mut open) = (self.at, 0);
        loop {
            let (kind, _) = self.peek()?;
            self.take(kind)?;
            open += i32::from(b"(<{".contains(&kind)) - i32::from(b")>}".contains(&kind));
            if open <= 0 {
                return Ok(&self.input[start..self.at]);
            }
        }
    }
}

struct BoxWriter<'b, B>(&'b mut B);

impl<B: Buffer> BoxWriter<'_, B> {
    fn put(&mut self, kind: u8, content: &[u8]) {
        self.0.put_slice(&[kind]);
        self.0.put_slice(&(content.len() as u32).to_be_bytes());
        self.0.put_slice(content);
    }
}

impl<B: Buffer> Write for BoxWriter<'_, B> {
    fn begin_record(&mut self, label: &'static str) {
        self.put(b'<', b"");
        self.symbol(label);
    }
    fn end_record(&mut self) {
        self.put(b'>', b"");
    }
    fn begin_list(&mut self) {
        self.put(b'(', b"");
    }
    fn end_list(&mut self) {
        self.put(b')', b"");
    }
    fn boolean(&mut self, value: bool) {
        self.put(b'b', &[u8::from(value)]);
    }
    fn integer(&mut self, value: u64) {
        self.put(b'i', &value.to_be_bytes());
    }
    fn string(&mut self, text: &str) {
        self.put(b's', text.as_bytes());
    }
    fn symbol(&mut self, text: &str) {
        self.put(b'y', text.as_bytes());
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.put(b'a', bytes);
    }
    fn strings(&mut self, entries: &[(&str, &str)]) -> Result<(), syrup::Error> {
        self.put(b'{', b"");
        for (key, value) in entries {
            self.string(key);
            self.string(value);
        }
        self.put(b'}', b"");
        Ok(())
    }
    fn raw(&mut self, encoded: &[u8]) {
        self.0.put_slice(encoded);
    }
}

#[derive(Default)]
struct BoxScan;

impl Scan for BoxScan {
    fn end(&mut self, input: &[u8]) -> Result<Option<usize>, syrup::Error> {
        Ok(BoxReader { input, at: 0 }.raw().ok().map(<[u8]>::len))
    }
}

impl Codec for Boxes {
    type Reader<'a> = BoxReader<'a>;
    type Writer<'b, B: Buffer + 'b> = BoxWriter<'b, B>;
    type Scan = BoxScan;
    fn reader(input: &[u8]) -> BoxReader<'_> {
        BoxReader { input, at: 0 }
    }
    fn writer<'b, B: Buffer + 'b>(out: &'b mut B) -> BoxWriter<'b, B> {
        BoxWriter(out)
    }
}

/// Keys of different lengths, the only difference between the two.
#[test]
fn keys_in_endo_s_order() {
    let location = Peer {
        transport: "t",
        designator: "d",
        hints: Some(vec![("host", "h"), ("ip", "i"), ("port", "p")]),
    };
    let key = SecretKey::from_bytes(&crypto32("seed_a"));
    let start = StartSession::sign::<EndoSyrup>(&key, location).unwrap();
    assert_eq!(start.verify::<EndoSyrup>(), Ok(()));
    assert_eq!(
        start.verify::<Syrup>(),
        Err(ErrorKind::InvalidSignature.at(0))
    );
    let mut encoded = vec![];
    let operation = Operation::StartSession(start);
    operation
        .encode::<EndoSyrup, _>(Dialect::Endo202608, &mut encoded)
        .unwrap();
    let text = String::from_utf8_lossy(&encoded);
    assert!(text.contains("{4\"host1\"h2\"ip1\"i4\"port1\"p}"));
    let decoded = Operation::decode::<EndoSyrup>(&encoded, Dialect::Endo202608);
    assert_eq!(decoded, Ok(operation));
    let not_sorted = ErrorKind::Value(syrup::ErrorKind::NotSorted);
    let strict = Operation::decode::<Syrup>(&encoded, Dialect::Endo202608);
    assert_eq!(strict.map_err(|error| error.kind), Err(not_sorted));

    // A struct among the arguments: sorted in one order or the other, never accepted by both.
    let deliver =
        |arguments: &str| format!("<10'op:deliver<11'desc:export5+>[{arguments}]ff>").into_bytes();
    let (ours, endos) = (deliver("{1\"b2+2\"aa1+}"), deliver("{2\"aa1+1\"b2+}"));
    for (message, strict, endo) in [(&ours, true, false), (&endos, false, true)] {
        let dialect = Dialect::Endo202608;
        assert_eq!(Operation::decode::<Syrup>(message, dialect).is_ok(), strict);
        assert_eq!(
            Operation::decode::<EndoSyrup>(message, dialect).is_ok(),
            endo
        );
    }
}

fn any_operation() -> impl Strategy<Value = Operation<'static>> {
    let target = || {
        prop_oneof![
            any::<u64>().prop_map(Target::Export),
            (0u64..9).prop_map(Target::Answer)
        ]
    };
    let import = || {
        prop_oneof![
            any::<u64>().prop_map(Import::Object),
            (0u64..9).prop_map(Import::Promise)
        ]
    };
    let text =
        || prop::sample::select(&["", "a", "Ünï", "a longer text, longer than sixteen bytes"][..]);
    prop_oneof![
        (target(), any::<Option<u64>>(), prop::option::of(import())).prop_map(
            |(to, answer, resolver)| Operation::Deliver {
                to,
                arguments: b"",
                answer,
                resolver
            }
        ),
        (target(), import(), any::<bool>()).prop_map(|(to, resolver, wants_partial)| {
            Operation::Listen {
                to,
                resolver,
                wants_partial,
            }
        }),
        any::<Vec<(u64, u64)>>().prop_map(|exports| Operation::GcExports(exports.into())),
        any::<Vec<u64>>().prop_map(|answers| Operation::GcAnswers(answers.into())),
        text().prop_map(|reason| Operation::Abort { reason }),
        (target(), text(), any::<u64>()).prop_map(|(from, field, answer)| Operation::Get {
            from,
            field,
            answer
        }),
        (target(), any::<u64>(), any::<u64>()).prop_map(|(from, index, answer)| Operation::Index {
            from,
            index,
            answer
        }),
        (target(), text(), any::<u64>()).prop_map(|(from, tag, answer)| Operation::Untag {
            from,
            tag,
            answer
        }),
        (any::<[u8; 32]>(), any::<[u8; 32]>(), text()).prop_map(|(key, half, designator)| {
            Operation::StartSession(StartSession {
                key: PublicKey(key),
                location: Peer {
                    transport: "t",
                    designator,
                    hints: Some(vec![("a", "b"), ("zz", "")]),
                },
                signature: Signature([half, half].concat().try_into().unwrap()),
            })
        }),
    ]
}

/// Encodes and decodes with this codec, and with these arguments if the operation has any.
fn there_and_back<C: Codec>(operation: &Operation<'static>, dialect: Dialect, list: &'static [u8]) {
    let mut operation = operation.clone();
    if let Operation::Deliver { arguments, .. } = &mut operation {
        *arguments = list;
    }
    let mut out = vec![];
    let encoded = operation.encode::<C, _>(dialect, &mut out);
    assert_eq!(encoded.is_ok(), operation.fits(dialect));
    if encoded.is_ok() {
        assert_eq!(Operation::decode::<C>(&out, dialect), Ok(operation));
        let mut stream = vec![];
        put_frame(Framing::None, &out, &mut stream);
        put_frame(Framing::None, &out, &mut stream);
        let cut = stream.len() / 3;
        assert_eq!(
            split::<C>(Framing::None, 1 << 20, &stream, &[cut]),
            Ok(vec![out.clone(), out])
        );
    }
}

#[test]
fn a_listener_proves_its_designator() {
    let secret = SecretKey::from_bytes(&[1; 32]);
    let (key, nonce) = (secret.public_key(), [7; 32]);
    let question = challenge(&nonce);
    assert_eq!(
        question,
        [b"<14'init:peer-auth32:", &nonce[..], b">"].concat()
    );
    let answer = answer_challenge(&question, &secret).unwrap();
    assert_eq!(verify_answer(&answer, &nonce, &key), Ok(()));

    let other = SecretKey::from_bytes(&[2; 32]);
    let kind = |result: Result<(), Error>| result.unwrap_err().kind;
    let invalid = ErrorKind::InvalidSignature;
    assert_eq!(
        kind(verify_answer(&answer, &nonce, &other.public_key())),
        invalid
    );
    assert_eq!(kind(verify_answer(&answer, &[8; 32], &key)), invalid);
    for at in 0..answer.len() {
        let mut changed = answer.clone();
        changed[at] ^= 1;
        assert!(verify_answer(&changed, &nonce, &key).is_err(), "byte {at}");
        assert!(verify_answer(&answer[..at], &nonce, &key).is_err());
    }
    // Nothing else is signed.
    let longer = [&question[..], b"0+"].concat();
    for message in [&question[..53], &longer, &answer, b""] {
        assert!(answer_challenge(message, &secret).is_err());
    }
}

#[test]
fn designators_are_keys() {
    let zeros = "a".repeat(52);
    assert_eq!(PublicKey([0; 32]).to_designator(), zeros);
    // The padding of the last character is 0.
    let ones = format!("{}q", "7".repeat(51));
    assert_eq!(PublicKey([255; 32]).to_designator(), ones);
    let counting = PublicKey(core::array::from_fn(|i| i as u8));
    let text = "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq";
    assert_eq!(counting.to_designator(), text);
    assert_eq!(PublicKey::from_designator(text), Ok(counting));
    for (text, offset) in [
        (format!("{}b", "a".repeat(51)), 52),
        (text.to_uppercase(), 0),
        (text[..51].into(), 51),
        (format!("{text}a"), 52),
        (format!("{text}aa"), 52),
        (format!("{}=", &text[..51]), 51),
        (text.replace('q', "1"), 3),
        (String::new(), 0),
    ] {
        let error = PublicKey::from_designator(&text).unwrap_err();
        assert_eq!(
            (error.kind, error.offset),
            (ErrorKind::InvalidKey, offset),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn every_operation_in_every_dialect_and_codec(operation in any_operation()) {
        for dialect in DIALECTS {
            there_and_back::<Syrup>(&operation, dialect, b"[5'fetch[t]]");
            there_and_back::<EndoSyrup>(&operation, dialect, b"[{2\"aa1+1\"b2+}]");
            there_and_back::<Boxes>(&operation, dialect, b"(\0\0\0\0b\0\0\0\x01\x01)\0\0\0\0");
        }
    }

    /// Messages and errors do not depend on the pieces in which a stream arrives.
    #[test]
    fn pieces_make_no_difference(
        stream in prop::collection::vec(prop::sample::select(&b"0123456789999++-\"':[[]]{}<>tfxx"[..]), 1..60),
        length in any::<bool>(),
        limit in 1usize..40,
        cuts in prop::collection::btree_set(1usize..60, 0..5),
    ) {
        let framing = if length { Framing::Length } else { Framing::None };
        let all: Vec<usize> = (1..stream.len()).collect();
        let some: Vec<usize> = cuts.into_iter().filter(|cut| *cut < stream.len()).collect();
        let whole = split_until_error::<Syrup>(framing, limit, &stream, &[]);
        prop_assert_eq!(&split_until_error::<Syrup>(framing, limit, &stream, &all), &whole);
        prop_assert_eq!(split_until_error::<Syrup>(framing, limit, &stream, &some), whole);
    }

    /// A decoded message encodes to the same bytes.
    #[test]
    fn bytes_survive(operation in any_operation(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3)) {
        for dialect in DIALECTS {
            let Ok(mut bytes) = encode(&operation, dialect) else { continue };
            for (place, byte) in &edits {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            if let Ok(decoded) = Operation::decode::<Syrup>(&bytes, dialect) {
                prop_assert_eq!(encode(&decoded, dialect), Ok(bytes));
            }
        }
    }

    #[test]
    fn locators_survive(
        designator in "[a-z0-9_-]{1,9}(\\.[a-z0-9]{1,9})?",
        transport in "[a-z0-9-]{1,9}",
        swiss in prop::option::of(prop::collection::vec(any::<u8>(), 1..40)),
        hints in prop::collection::btree_map(".{1,5}", ".{0,5}", 0..4),
    ) {
        let locator = Locator { designator, transport, swiss, hints: hints.into_iter().collect() };
        prop_assert_eq!(locator.to_string().parse(), Ok(locator));
    }

    #[test]
    fn any_text_is_no_panic(text in ".{0,40}") {
        let _ = (text.parse::<Locator>(), format!("ocapn://a.b{text}").parse::<Locator>());
    }
}
