#![allow(clippy::unwrap_used, clippy::panic)]
use std::collections::{BTreeMap, BTreeSet};
use std::{format, string::String, string::ToString as _, vec, vec::Vec};

use lydite_bytes::{Bytes, hex};
use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

use super::*;

/// One case of `vectors/syrup`.
pub(crate) struct Vector {
    pub id: String,
    pub class: String,
    pub bytes: Vec<u8>,
    pub sha256: [u8; 32],
}

pub(crate) fn vectors() -> Vec<Vector> {
    let file = include_str!("../../vectors/syrup/vectors.json");
    let cases: serde_json::Value = serde_json::from_str(file).unwrap();
    let text = |case: &serde_json::Value, field: &str| case[field].as_str().unwrap().to_string();
    let cases = cases.as_array().unwrap().iter().map(|case| Vector {
        id: text(case, "id"),
        class: text(case, "cls"),
        bytes: hex::decode(text(case, "hex")).unwrap(),
        sha256: hex::decode(text(case, "sha256"))
            .unwrap()
            .try_into()
            .unwrap(),
    });
    let mut cases: Vec<_> = cases.collect();
    let zoo = include_bytes!("../../vectors/syrup/zoo.bin").to_vec();
    cases.push(Vector {
        id: "zoo".into(),
        class: "canonical".into(),
        sha256: lydite_hash::sha256(&zoo),
        bytes: zoo,
    });
    cases
}

/// The result of the strict decoders, which must all agree.
fn strict(input: &[u8]) -> Result<Value, Error> {
    let tree = Value::decode(input);
    let mut tape = Tape::new();
    let taped = tape.decode(input);
    let mut reader = Reader::new(input);
    let stepped = reader.raw().and_then(|raw| reader.finish().map(|()| raw));
    let typed = decode::<Value>(input);
    let document = Document::decode(input);
    assert_eq!(document.as_ref().map(|_| ()), tree.as_ref().map(|_| ()));
    assert_eq!(decode::<Document>(input), document);
    assert_eq!(taped.map(|_| ()), tree.clone().map(|_| ()));
    assert_eq!(stepped.map(|_| ()), tree.clone().map(|_| ()));
    assert_eq!(typed.map(|_| ()), tree.clone().map(|_| ()));
    if let Ok(document) = document {
        assert_eq!(encode(&from_tape(document.root())).as_deref(), Ok(input));
        assert_eq!(encode(&document).as_deref(), Ok(input));
        assert_eq!(document.clone().into_bytes(), document.as_bytes());
    }
    if let (Ok(tree), Ok(node)) = (&tree, taped) {
        assert_eq!(node.raw().as_bytes(), input);
        let below: usize = node.descendants().map(|node| node.len()).sum();
        assert_eq!(node.descendants().count(), below + 1);
        assert_eq!(encode(&from_tape(node)).as_deref(), Ok(input));
        let encoded = encode(tree).unwrap();
        assert_eq!(encoded, input, "what is accepted encodes to itself");
        for short in 0..input.len().min(70) {
            let mut buffer = vec![0; short];
            assert_eq!(
                encode_into(tree, &mut buffer),
                Err(ErrorKind::BufferTooSmall.at(input.len()))
            );
        }
        let mut buffer = vec![0; input.len()];
        assert_eq!(encode_into(tree, &mut buffer), Ok(input.len()));
        assert_eq!(buffer, input);
        assert_eq!(content_id(tree), Ok(lydite_hash::sha256(input)));
    }
    tree
}

/// Rebuilds the tree from a tape, using all methods of a node.
fn from_tape(node: NodeRef<'_, '_>) -> Value {
    let mut children = node.children().map(|child| {
        let tree = from_tape(child);
        assert_eq!(child.raw().decode(), Ok(Raw::new(&encode(&tree).unwrap())));
        tree
    });
    assert_eq!(node.len(), node.children().count());
    match node.kind() {
        Kind::Boolean => Value::Boolean(node.as_bool().unwrap()),
        Kind::Integer => {
            let integer = node.as_integer().unwrap();
            assert_eq!(node.as_u64(), u64::try_from(&integer).ok());
            assert_eq!(node.as_i64(), i64::try_from(&integer).ok());
            Value::Integer(integer)
        }
        Kind::Float64 => Value::Float64(node.as_f64().unwrap()),
        Kind::Float32 => Value::Float32(node.as_f32().unwrap()),
        Kind::Bytes => Value::bytes(node.as_bytes().unwrap()),
        Kind::String => Value::from(node.as_str().unwrap()),
        Kind::Symbol => Value::symbol(node.as_symbol().unwrap()),
        Kind::List => Value::List(children.collect()),
        Kind::Set => Value::Set(children.collect()),
        Kind::Record => {
            let label = children.next().unwrap();
            Value::Record(
                Record {
                    label,
                    fields: children.collect(),
                }
                .into(),
            )
        }
        Kind::Dictionary => {
            let flat: Vec<Value> = children.collect();
            let entries = flat
                .chunks(2)
                .map(|pair| (pair[0].clone(), pair[1].clone()));
            Value::Dictionary(entries.collect())
        }
    }
}

#[test]
fn every_vector_has_its_class() {
    let cases = vectors();
    assert_eq!(cases.len(), 129);
    for case in cases {
        let Vector {
            id,
            class,
            bytes,
            sha256,
        } = case;
        assert_eq!(lydite_hash::sha256(&bytes), sha256, "{id}");
        let (strict, lenient) = (strict(&bytes), Value::decode_lenient(&bytes));
        match class.as_str() {
            "canonical" | "canonical-disputed" | "syrup-only" | "dialect-2026-02"
            | "dialect-zig" => {
                strict.unwrap_or_else(|error| panic!("{id}: {error}"));
                assert_eq!(
                    lenient.and_then(|value| encode(&value)).as_deref(),
                    Ok(&bytes[..]),
                    "{id}"
                );
            }
            "deep" => {
                let limits = Limits {
                    depth: bytes.len(),
                    ..Limits::default()
                };
                let mut tape = Tape::new();
                let decoded = tape.decode_within(&bytes, limits).map(|_| ());
                let unclosed = Err(ErrorKind::UnexpectedEnd.at(bytes.len()));
                let expected = if id.starts_with("deep-open") {
                    unclosed
                } else {
                    Ok(())
                };
                assert_eq!(decoded, expected, "{id}");
                if bytes.len() > 2 * Limits::DEFAULT.depth {
                    let depth = Limits::DEFAULT.depth;
                    assert_eq!(strict, Err(ErrorKind::TooDeep.at(depth)), "{id}");
                }
            }
            "noncanonical" => {
                strict.expect_err(&id);
                let canonical =
                    encode(&lenient.unwrap_or_else(|error| panic!("{id}: {error}"))).unwrap();
                assert_ne!(canonical, bytes, "{id}");
                assert!(super::tests::strict(&canonical).is_ok(), "{id}");
            }
            "truncated" => {
                let error = strict.expect_err(&id);
                assert_eq!(error, ErrorKind::UnexpectedEnd.at(bytes.len()), "{id}");
                lenient.expect_err(&id);
            }
            "trailing" => {
                assert_eq!(
                    strict.expect_err(&id).kind,
                    ErrorKind::TrailingBytes,
                    "{id}"
                );
                lenient.expect_err(&id);
            }
            "invalid" => {
                strict.expect_err(&id);
                lenient.expect_err(&id);
            }
            class => panic!("{id}: class {class}"),
        }
    }
}

#[test]
fn every_prefix_of_every_vector() {
    // All prefixes of the deep vectors look the same.
    for case in vectors().iter().filter(|case| case.bytes.len() < 1000) {
        for length in 0..case.bytes.len() {
            let prefix = &case.bytes[..length];
            let accepted = strict(prefix);
            if case.class.starts_with("canonical") || case.class == "syrup-only" {
                // No encoding is a prefix of another.
                assert_eq!(
                    accepted,
                    Err(ErrorKind::UnexpectedEnd.at(length)),
                    "{} {length}",
                    case.id
                );
            }
            let _ = Value::decode_lenient(prefix);
        }
    }
}

#[test]
fn needless_zeros_are_taken_up_to_a_limit() {
    for value in ["1+", "1:a", "1\"a"] {
        let padded = |digits: usize| [&"0".repeat(digits - 1), value].concat();
        let plain = Value::decode(value.as_bytes()).unwrap();
        assert_eq!(Value::decode_lenient(padded(65_535).as_bytes()), Ok(plain));
        assert_eq!(
            Value::decode_lenient(padded(65_536).as_bytes()),
            Err(ErrorKind::TooLong.at(0))
        );
    }
}

#[test]
fn errors_name_the_byte() {
    use ErrorKind::*;
    for (input, kind, offset) in [
        ("", UnexpectedEnd, 0),
        ("x", UnexpectedByte, 0),
        ("12x", UnexpectedByte, 2),
        ("[1+2x]", UnexpectedByte, 4),
        ("[1+}", UnexpectedByte, 3),
        ("007+", LeadingZero, 0),
        ("[00000000000007+", LeadingZero, 1),
        ("03\"cat", LeadingZero, 0),
        ("00\"", LeadingZero, 0),
        ("[0-]", NegativeZero, 1),
        ("{1\"b1+1\"a2+}", NotSorted, 6),
        ("{1\"a1+1\"a2+}", Duplicate, 6),
        ("#2+1+$", NotSorted, 3),
        ("#[1+][1+]$", Duplicate, 5),
        ("{1\"a}", MissingValue, 4),
        ("<>", MissingLabel, 1),
        ("[<>]", MissingLabel, 2),
        ("5:cat", UnexpectedEnd, 5),
        ("18446744073709551616:cat", UnexpectedEnd, 24),
        ("99999999999999999999999999999999999", UnexpectedEnd, 35),
        ("1+2+", TrailingBytes, 2),
        ("]", UnexpectedByte, 0),
        ("(1+)", UnexpectedByte, 0),
        ("l1+e", UnexpectedByte, 0),
        ("d1\"a1+e", UnexpectedByte, 0),
        (" 1+", UnexpectedByte, 0),
        ("[1+ ]", UnexpectedByte, 3),
        ("D1234567", UnexpectedEnd, 8),
        ("F123", UnexpectedEnd, 4),
    ] {
        assert_eq!(strict(input.as_bytes()), Err(kind.at(offset)), "{input}");
    }
    assert_eq!(
        strict(b"D\x7f\xf8\0\0\0\0\0\x01"),
        Err(NotCanonicalNan.at(1))
    );
    assert_eq!(strict(b"[4\"ab\xff\xff]"), Err(InvalidUtf8.at(5)));
    assert_eq!(
        strict(b"[20\"0123456789012345678\xff]"),
        Err(InvalidUtf8.at(23))
    );
    assert_eq!(strict(b"3'\xed\xa0\x80"), Err(InvalidUtf8.at(2)));
    assert_eq!(strict(b"F\x7f\xc0\0\x01"), Err(NotCanonicalNan.at(1)));
    assert!(strict(b"F\x7f\xc0\0\0").is_ok());
}

/// `{1"a t KEY t}`, in which KEY is such a dictionary again.
fn keys_in_keys(levels: usize) -> Vec<u8> {
    let mut text = b"t".to_vec();
    for _ in 0..levels {
        text = [b"{1\"at", text.as_slice(), b"t}"].concat();
    }
    text
}

#[test]
fn keys_of_any_length_and_kind_are_sorted_by_their_encodings() {
    let text = |length: usize| "x".repeat(length);
    let mut entries = Vec::new();
    for length in [0, 1, 9, 10, 11, 19, 90, 99, 100, 101, 999, 1000, 12_345] {
        for key in [
            Value::String(text(length)),
            Value::Symbol(text(length)),
            Value::bytes(text(length)),
        ] {
            entries.push((key, Value::from(length as i64)));
        }
    }
    let mut pieces: Vec<Vec<u8>> = entries
        .iter()
        .map(|(key, value)| [encode(key).unwrap(), encode(value).unwrap()].concat())
        .collect();
    pieces.sort();
    let expected = [b"{".as_slice(), &pieces.concat(), b"}"].concat();
    assert_eq!(
        encode(&Value::Dictionary(entries.clone())).unwrap(),
        expected
    );
    entries.reverse();
    assert_eq!(
        encode(&Value::Dictionary(entries.clone())).unwrap(),
        expected
    );
    entries.push(entries[0].clone());
    let error = encode(&Value::Dictionary(entries)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Duplicate);
}

#[test]
fn keys_nested_in_keys_take_no_exponential_time() {
    // Encoding each key twice, to compare and to write it, would take 2^100 steps.
    let bytes = keys_in_keys(100);
    let value = Value::decode(&bytes).unwrap();
    assert_eq!(encode(&value).unwrap(), bytes);
    assert_eq!(content_id(&value).unwrap(), lydite_hash::sha256(&bytes));
    let Value::Dictionary(mut entries) = value else {
        panic!("expected a dictionary")
    };
    entries.reverse();
    assert_eq!(encode(&Value::Dictionary(entries)).unwrap(), bytes);
    let set = Value::Set(vec![true.into(), Value::decode(&bytes).unwrap()]);
    assert_eq!(
        encode(&set).unwrap(),
        [b"#t", bytes.as_slice(), b"$"].concat()
    );

    assert!(Value::decode_lenient(&keys_in_keys(17)).is_ok());
    let error = Value::decode_lenient(&keys_in_keys(100)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooDeep);
    let sets = [vec![b'#'; 100], vec![b'$'; 100]].concat();
    assert!(Value::decode_lenient(&sets).is_ok());
    // Nesting in values is not limited by this.
    let lists = [vec![b'['; 100], vec![b']'; 100]].concat();
    let text = [b"{1\"at", lists.as_slice(), b"t}"].concat();
    assert!(Value::decode_lenient(&text).is_ok());
}

#[test]
fn nesting_is_limited_and_takes_no_recursion() {
    const MILLION: usize = 1_000_000;
    for open in [b'[', b'{', b'#', b'<'] {
        let input = vec![open; MILLION];
        assert_eq!(strict(&input), Err(ErrorKind::TooDeep.at(128)));
        assert_eq!(
            Value::decode_lenient(&input),
            Err(ErrorKind::TooDeep.at(128))
        );
    }
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    for depth in [1, 64, 128] {
        assert!(strict(&nested(depth)).is_ok());
    }
    assert_eq!(strict(&nested(129)), Err(ErrorKind::TooDeep.at(128)));

    // A tape has no depth limit other than the caller's. A tree stops where dropping it would recurse too deep.
    let limits = Limits {
        depth: MILLION,
        ..Limits::default()
    };
    let million = nested(MILLION);
    let mut tape = Tape::new();
    let mut node = tape.decode_within(&million, limits).unwrap();
    for level in 0..MILLION {
        assert_eq!(node.offset(), level);
        assert_eq!(node.raw().as_bytes().len(), 2 * (MILLION - level));
        match node.children().next() {
            Some(child) => node = child,
            None => assert_eq!(level, MILLION - 1),
        }
    }
    assert_eq!(
        Value::decode_within(&million, limits),
        Err(ErrorKind::TooDeep.at(MAX_TREE_DEPTH))
    );
    let deepest = nested(MAX_TREE_DEPTH);
    let tree = Value::decode_within(&deepest, limits).unwrap();
    assert_eq!(encode(&tree), Ok(deepest));
    assert_eq!(
        encode(&Value::List(vec![tree])),
        Err(ErrorKind::TooDeep.at(0))
    );
}

#[test]
fn values_are_limited() {
    let limits = Limits {
        values: 4,
        ..Limits::default()
    };
    for (input, expected) in [
        ("[1+2+3+]", Ok(())),
        ("[1+2+3+4+]", Err(ErrorKind::TooManyValues.at(7))),
        ("[[[[[]]]]]", Err(ErrorKind::TooManyValues.at(4))),
    ] {
        let input = input.as_bytes();
        assert_eq!(Value::decode_within(input, limits).map(|_| ()), expected);
        assert_eq!(
            Tape::new().decode_within(input, limits).map(|_| ()),
            expected
        );
    }
}

#[test]
fn a_stream_without_frames() {
    let stream = b"1+[2+]3\"cat";
    let (mut tape, mut at, mut ends) = (Tape::new(), 0, vec![]);
    while at < stream.len() {
        at += tape
            .decode_first(&stream[at..], Limits::default())
            .unwrap()
            .1;
        ends.push(at);
    }
    assert_eq!(ends, [2, 6, 11]);
}

#[test]
fn encoding_sorts() {
    let text = |text: &str| Value::from(text);
    let keys = Value::Dictionary(vec![
        (text("b"), 1.into()),
        (Value::bytes("a"), 2.into()),
        (text("aa"), 3.into()),
        (Value::symbol("a"), 4.into()),
        (text("a"), 5.into()),
        (text("0123456789"), 6.into()),
        (9.into(), 7.into()),
        (10.into(), 8.into()),
        (Value::List(vec![]), 9.into()),
    ]);
    let expected = b"{1\"a5+1\"b1+1'a4+10\"01234567896+10+8+1:a2+2\"aa3+9+7+[]9+}";
    assert_eq!(encode(&keys).unwrap(), expected);
    assert_eq!(content_id(&keys), Ok(lydite_hash::sha256(expected)));
    assert!(strict(expected).is_ok());

    let set = |members: Vec<Value>| Value::Set(members);
    assert_eq!(encode(&set(vec![2.into(), 1.into()])).unwrap(), b"#1+2+$");
    let twice = set(vec![2.into(), 1.into(), 2.into()]);
    assert_eq!(encode(&twice), Err(ErrorKind::Duplicate.at(0)));
    let twice = Value::Dictionary(vec![(text("a"), 1.into()), (text("a"), 1.into())]);
    assert_eq!(encode(&twice), Err(ErrorKind::Duplicate.at(0)));
    let mut out = b"kept".to_vec();
    assert!(encode_append(&Value::List(vec![twice]), &mut out).is_err());
    assert_eq!(out, b"kept");
}

#[test]
fn lenient_decoding_finds_keys_that_mean_the_same() {
    for (input, offset) in [
        (&b"{1+t01+f}"[..], 4),
        (b"#0+0-$", 3),
        (b"#[1+](1+)$", 5),
        (b"{[#1+2+$]t[#2+1+$]f}", 10),
    ] {
        assert_eq!(
            Value::decode_lenient(input),
            Err(ErrorKind::Duplicate.at(offset))
        );
    }
}

#[test]
fn rust_types() {
    fn same<T: Encode + for<'a> Decode<'a> + PartialEq + core::fmt::Debug>(
        value: T,
        encoded: &[u8],
    ) {
        assert_eq!(encode(&value).unwrap(), encoded);
        assert_eq!(decode::<T>(encoded).as_ref(), Ok(&value));
    }
    same(true, b"t");
    same(u8::MAX, b"255+");
    same(u64::MAX, b"18446744073709551615+");
    same(i64::MIN, b"9223372036854775808-");
    same(i8::MIN, b"128-");
    same(u128::MAX, b"340282366920938463463374607431768211455+");
    same(i128::MIN, b"170141183460469231731687303715884105728-");
    same(1.5f64, b"D\x3f\xf8\0\0\0\0\0\0");
    same(1f32, b"F\x3f\x80\0\0");
    same(String::from("cat"), b"3\"cat");
    same(Symbol(String::from("cat")), b"3'cat");
    same(Bytes::from(b"cat".to_vec()), b"3:cat");
    same(*b"cat", b"3:cat");
    same(vec![1u8, 2], b"[1+2+]");
    same(BTreeSet::from([9u8, 10]), b"#10+9+$");
    same(
        BTreeMap::from([(String::from("b"), 1u8), (String::from("aa"), 2)]),
        b"{1\"b1+2\"aa2+}",
    );
    assert_eq!(decode::<&[u8]>(b"3:cat"), Ok(&b"cat"[..]));
    assert_eq!(decode::<&[u8; 3]>(b"3:cat"), Ok(b"cat"));
    assert_eq!(
        decode::<[u8; 4]>(b"3:cat"),
        Err(ErrorKind::WrongLength.at(0))
    );
    assert_eq!(
        decode::<u8>(b"256+"),
        Err(ErrorKind::IntegerOutOfRange.at(0))
    );
    assert_eq!(
        decode::<u64>(b"1-"),
        Err(ErrorKind::IntegerOutOfRange.at(0))
    );
    assert_eq!(
        decode::<i64>(b"9223372036854775808+"),
        Err(ErrorKind::IntegerOutOfRange.at(0))
    );
    assert_eq!(decode::<u64>(b"3:cat"), Err(ErrorKind::WrongType.at(0)));
    assert_eq!(decode::<&str>(b"3'cat"), Err(ErrorKind::WrongType.at(0)));
    assert_eq!(decode::<&str>(b"[]"), Err(ErrorKind::WrongType.at(0)));
    assert_eq!(decode::<&str>(b"x"), Err(ErrorKind::UnexpectedByte.at(0)));
    assert_eq!(
        decode::<bool>(b"D\0\0\0\0\0\0\0\0"),
        Err(ErrorKind::WrongType.at(0))
    );
    assert_eq!(decode::<u64>(b"0-"), Err(ErrorKind::NegativeZero.at(0)));
    assert_eq!(
        decode::<Vec<u64>>(b"[1+t]"),
        Err(ErrorKind::WrongType.at(3))
    );
    assert_eq!(
        decode::<Vec<u64>>(b"[1+"),
        Err(ErrorKind::UnexpectedEnd.at(3))
    );
    assert_eq!(
        decode::<BTreeSet<u64>>(b"#2+1+$"),
        Err(ErrorKind::NotSorted.at(3))
    );
    assert_eq!(
        decode::<BTreeSet<u64>>(b"#2+2+$"),
        Err(ErrorKind::Duplicate.at(3))
    );
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Account<'a> {
    name: &'a str,
    id: u64,
    owner_address: Raw<'a>,
    #[syrup(key = "t")]
    tags: Vec<Symbol<&'a str>>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[syrup(record = "op:open")]
struct Open<'a> {
    account: Account<'a>,
    amount: i64,
}

/// One case of everything else that can be derived.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
enum Shape<'a, T> {
    #[syrup(record = "one", string_label)]
    One(T),
    #[syrup(symbol = "nothing at all")]
    Nothing,
    Empty {},
    #[syrup(record = "a label that is longer than any window that a buffer may have")]
    Named {
        pair: Pair,
        #[syrup(or_false)]
        wrapped: Option<Wrapped<'a>>,
        r#type: Sparse<'a>,
    },
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Pair(u8, bool);

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Wrapped<'a>(&'a str);

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Sparse<'a> {
    #[syrup(optional)]
    a: Option<u8>,
    b: Nil,
    #[syrup(optional)]
    ccc: Option<&'a [u8]>,
    #[syrup(or_false)]
    r#dd: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[syrup(list)]
struct Listed<'a, 'b> {
    left: &'a str,
    right: Vec<Pointer<'b>>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[syrup(record = "p")]
struct Pointer<'a>(&'a str);

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Bare {}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[syrup(record = "stop")]
struct Stop;

#[test]
fn derived_types() {
    fn same<'a, T: Encode + Decode<'a> + PartialEq + core::fmt::Debug>(value: T, encoded: &'a str) {
        assert_eq!(String::from_utf8(encode(&value).unwrap()).unwrap(), encoded);
        assert_eq!(decode::<T>(encoded.as_bytes()), Ok(value));
        assert!(strict(encoded.as_bytes()).is_ok());
        for length in 0..encoded.len() {
            let cut = decode::<T>(&encoded.as_bytes()[..length]);
            assert_eq!(cut, Err(ErrorKind::UnexpectedEnd.at(length)), "{length}");
        }
    }
    same(Shape::One(7u8), "<3\"one7+>");
    same(Shape::<u8>::Nothing, "14'nothing at all");
    same::<Shape<'_, u8>>(Shape::Empty {}, "<5'Empty>");
    same(Pair(1, true), "[1+t]");
    same(Wrapped("cat"), "3\"cat");
    same(Bare {}, "{}");
    same(Stop, "<4'stop>");
    let listed = Listed {
        left: "l",
        right: vec![Pointer("x"), Pointer("y")],
    };
    same(listed, "[1\"l[<1'p1\"x><1'p1\"y>]]");
    let sparse = |a, ccc, dd| Sparse { a, b: Nil, ccc, dd };
    same(sparse(None, None, None), "{1\"b[]2\"ddf}");
    same(sparse(Some(1), None, Some(2)), "{1\"a1+1\"b[]2\"dd2+}");
    same(
        sparse(Some(1), Some(b"x"), None),
        "{1\"a1+1\"b[]2\"ddf3\"ccc1:x}",
    );
    let label = "61'a label that is longer than any window that a buffer may have";
    for (wrapped, text) in [(None, "f"), (Some(Wrapped("w")), "1\"w")] {
        let named: Shape<'_, u8> = Shape::Named {
            pair: Pair(0, false),
            wrapped,
            r#type: sparse(None, None, None),
        };
        same(named, &format!("<{label}[0+f]{text}{{1\"b[]2\"ddf}}>"));
    }
}

#[test]
fn what_derived_types_refuse() {
    type Any<'a> = Shape<'a, u8>;
    fn refused<'a, T: Decode<'a> + core::fmt::Debug>(input: &'a str, kind: ErrorKind, at: usize) {
        assert_eq!(
            decode::<T>(input.as_bytes()).unwrap_err(),
            kind.at(at),
            "{input}"
        );
    }
    refused::<Any>("<3\"two7+>", ErrorKind::WrongLabel, 1);
    refused::<Any>("<3'one7+>", ErrorKind::WrongLabel, 1);
    refused::<Any>("<3\"one7+8+>", ErrorKind::WrongLength, 8);
    refused::<Any>("<3\"one256+>", ErrorKind::IntegerOutOfRange, 6);
    refused::<Any>("3'two", ErrorKind::WrongLabel, 0);
    refused::<Any>("3\"two", ErrorKind::WrongType, 0);
    refused::<Any>("<>", ErrorKind::UnexpectedByte, 1);
    refused::<Any>("]", ErrorKind::UnexpectedByte, 0);
    refused::<Stop>("4'stop", ErrorKind::WrongType, 0);
    refused::<Stop>("<4'stopt>", ErrorKind::WrongLength, 7);
    refused::<Pair>("[1+]", ErrorKind::UnexpectedByte, 3);
    refused::<Bare>("{1\"at}", ErrorKind::WrongLength, 1);
    refused::<Sparse>("{1\"b[]1\"a1+2\"ddf}", ErrorKind::WrongKey, 6);
    refused::<Sparse>("{1\"a1+1\"a1+1\"b[]2\"ddf}", ErrorKind::WrongKey, 6);
    refused::<Sparse>("{1\"b[]}", ErrorKind::UnexpectedByte, 6);

    // A type with unbounded nesting stops at the reader's limit.
    #[derive(Debug, PartialEq, Encode, Decode)]
    enum Tree {
        Leaf,
        Node(Vec<Tree>),
    }
    let nested = |depth: usize| ["<4'Node[".repeat(depth), "]>".repeat(depth)].concat();
    assert!(decode::<Tree>(nested(64).as_bytes()).is_ok());
    assert_eq!(
        decode::<Tree>(nested(65).as_bytes()),
        Err(ErrorKind::TooDeep.at(64 * 8))
    );
    assert_eq!(
        decode::<Tree>("<4'Node[".repeat(100_000).as_bytes()),
        Err(ErrorKind::TooDeep.at(64 * 8))
    );
}

#[test]
fn for_endo() {
    let text = |text: &str| Value::from(text);
    let value = Value::Dictionary(vec![
        (text("b"), (-0.0).into()),
        (text("aa"), f64::NAN.into()),
        (text("\u{ff5e}"), 3.into()),
        (
            text("\u{1f600}"),
            Value::record("r", [Value::Dictionary(vec![])]),
        ),
        (text(""), Value::List(vec![])),
    ]);
    // Sorted by UTF-16 code units: a character beyond the first plane is two surrogates, which sort before U+E000 and
    // above.
    let mut expected = b"{0\"[]2\"aaD\x7f\xf8\0\0\0\0\0\0".to_vec();
    expected.extend_from_slice(b"1\"bD\0\0\0\0\0\0\0\0");
    expected.extend_from_slice("4\"\u{1f600}<1'r{}>3\"\u{ff5e}3+}".as_bytes());
    let encoded = encode_for_endo(&value).unwrap();
    assert_eq!(encoded, expected);
    assert_eq!(strict(&encoded), Err(ErrorKind::NotSorted.at(18)));
    let lenient = Value::decode_lenient(&encoded).unwrap();
    assert_eq!(encode_for_endo(&lenient).as_ref(), Ok(&encoded));
    let decoded = Value::decode_from_endo(&encoded).unwrap();
    assert_eq!(encode_for_endo(&decoded).as_ref(), Ok(&encoded));
    let mut reader = Reader::for_endo(&encoded);
    let read: Value = reader.read().unwrap();
    assert_eq!(encode_for_endo(&read).as_ref(), Ok(&encoded));
    let read: Document = Reader::for_endo(&encoded).read().unwrap();
    assert_eq!((read.as_bytes(), read.root().len()), (&encoded[..], 10));
    for (input, kind, offset) in [
        (&b"{1\"b1+2\"aa1+}"[..], ErrorKind::NotSorted, 6),
        (b"{1\"b1+1\"b1+}", ErrorKind::Duplicate, 6),
        (b"{1'b1+}", ErrorKind::WrongType, 1),
        (b"{[]1+}", ErrorKind::WrongType, 1),
        (b"#$", ErrorKind::UnexpectedByte, 0),
        (b"F\0\0\0\0", ErrorKind::UnexpectedByte, 0),
        (b"[D\x80\0\0\0\0\0\0\0]", ErrorKind::NegativeZero, 1),
        (b"007+", ErrorKind::LeadingZero, 0),
        (b"0-", ErrorKind::NegativeZero, 0),
        (b"[1+ ]", ErrorKind::UnexpectedByte, 3),
    ] {
        let error = kind.at(offset);
        assert_eq!(Value::decode_from_endo(input), Err(error));
        assert_eq!(Reader::for_endo(input).raw(), Err(error));
    }
    for set in [&b"#$"[..], b"#1+$", b"#1\"a$"] {
        let members = Reader::for_endo(set).read::<BTreeSet<u64>>();
        assert_eq!(members, Err(ErrorKind::WrongType.at(0)));
    }

    let twice = Value::Dictionary(vec![(text("a"), 1.into()), (text("a"), 1.into())]);
    assert_eq!(encode_for_endo(&twice), Err(ErrorKind::Duplicate.at(0)));
    for formless in [
        Value::Dictionary(vec![(Value::symbol("a"), 1.into())]),
        Value::Set(vec![]),
        Value::List(vec![Value::Float32(1.0)]),
    ] {
        assert_eq!(encode_for_endo(&formless), Err(ErrorKind::WrongType.at(0)));
    }
}

/// A value of a type that is not derived: an empty list.
#[derive(Clone, Debug, PartialEq)]
struct Nil;

impl Encode for Nil {
    fn encode<B: Buffer>(&self, out: &mut B) -> Result<(), Error> {
        out.put(b"[]", 2);
        Ok(())
    }
}

impl Decode<'_> for Nil {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.begin(Kind::List)?;
        reader.end(Kind::List)?;
        Ok(Self)
    }
}

#[test]
fn structs_and_records() {
    let account = Account {
        name: "Ada",
        id: 7,
        owner_address: Raw::new(b"[t]"),
        tags: vec![Symbol("new")],
    };
    let encoded = b"{1\"t[3'new]13\"owner_address[t]2\"id7+4\"name3\"Ada}";
    assert_eq!(encode(&account).unwrap(), encoded);
    assert_eq!(decode::<Account>(encoded), Ok(account.clone()));
    assert!(strict(encoded).is_ok());
    for length in 0..encoded.len() {
        let error = ErrorKind::UnexpectedEnd.at(length);
        assert_eq!(decode::<Account>(&encoded[..length]), Err(error));
    }
    let open = Open {
        account,
        amount: -5,
    };
    let encoded = encode(&open).unwrap();
    assert_eq!(decode::<Open>(&encoded), Ok(open));

    assert_eq!(
        decode::<Account>(b"{1\"t[]13\"owner_addresst2\"id7+4\"name0\"5\"othert}"),
        Err(ErrorKind::WrongLength.at(37))
    );
    assert_eq!(
        decode::<Account>(b"{1\"u[]}"),
        Err(ErrorKind::WrongKey.at(1))
    );
    assert_eq!(
        decode::<Account>(b"{}"),
        Err(ErrorKind::UnexpectedByte.at(1))
    );
    assert_eq!(
        decode::<Open>(b"<7'op:openz>"),
        Err(ErrorKind::UnexpectedByte.at(10))
    );
    assert_eq!(
        decode::<Open>(b"<7'op:shut1+>"),
        Err(ErrorKind::WrongLabel.at(1))
    );
}

#[test]
fn integers_convert() {
    for text in [
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
    ] {
        let integer: Integer = text.parse().unwrap();
        assert_eq!(integer.to_string(), text);
        assert_eq!(i64::try_from(&integer).unwrap().to_string(), text);
    }
    assert_eq!("-0".parse(), Ok(Integer::from(0)));
    assert_eq!(
        "0009223372036854775808".parse(),
        Ok(Integer::from(1u64 << 63))
    );
    for text in ["", "-", "+1", "1.5", " 1", "१"] {
        assert_eq!(text.parse::<Integer>(), Err(ParseIntegerError), "{text}");
    }
}

/// Random values, smaller ones more often.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z]{0,12}", any::<String>(), "[a-zé]{14,40}"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0i64..20_000).prop_map(Value::from),
        (any::<bool>(), prop::collection::vec(any::<u64>(), 0..6))
            .prop_map(|(negative, limbs)| Integer::from_sign_magnitude(negative, &limbs).into()),
        any::<u64>().prop_map(|bits| Value::Float64(f64::from_bits(bits))),
        any::<u32>().prop_map(|bits| Value::Float32(f32::from_bits(bits))),
        prop::collection::vec(any::<u8>(), 0..70).prop_map(Value::Bytes),
        text.clone().prop_map(Value::from),
        text.prop_map(Value::symbol),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::List),
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Set),
            prop::collection::vec((inner.clone(), inner.clone()), 0..8).prop_map(Value::Dictionary),
            (inner.clone(), prop::collection::vec(inner, 0..5))
                .prop_map(|(label, fields)| Value::Record(Record { label, fields }.into())),
        ]
    })
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(value in any_value()) {
        match encode(&value) {
            Ok(encoded) => {
                let decoded = strict(&encoded).unwrap();
                prop_assert_eq!(&encode(&Value::decode_lenient(&encoded).unwrap()).unwrap(), &encoded);
                prop_assert_eq!(encode(&decoded).unwrap(), encoded);
                if let Ok(encoded) = encode_for_endo(&value) {
                    let decoded = Value::decode_from_endo(&encoded).unwrap();
                    prop_assert_eq!(encode_for_endo(&decoded).unwrap(), encoded);
                }
            }
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::Duplicate),
        }
    }

    /// The definition of canonical, in terms of the lenient decoder and the encoder.
    #[test]
    fn accepted_is_what_encodes_to_itself(
        value in any_value(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3, prop::sample::select(&b"0123456789+-:\"'[]{}#$<>tfDFlde() \0\xff"[..])), 0..4),
    ) {
        let mut input = encode(&value).unwrap_or_default();
        for (place, edit, byte) in edits {
            if input.is_empty() { break }
            let place = place.index(input.len());
            match edit {
                0 => input[place] = byte,
                1 => input.insert(place, byte),
                _ => { input.remove(place); }
            }
        }
        let loose = Value::decode_lenient(&input).and_then(|value| encode(&value));
        prop_assert_eq!(strict(&input).is_ok(), loose.is_ok_and(|encoded| encoded == input));
    }

    #[test]
    fn any_bytes(input in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = (strict(&input), Value::decode_lenient(&input));
    }

    #[test]
    fn integers_agree_with_num_bigint(negative: bool, limbs in prop::collection::vec(any::<u64>(), 0..8), other: i128) {
        let integer = Integer::from_sign_magnitude(negative, &limbs);
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        let expected = BigInt::from_biguint(sign, BigUint::from_bytes_le(&bytes));
        prop_assert_eq!(integer.to_string(), expected.to_string());
        prop_assert_eq!(&integer, &expected.to_string().parse().unwrap());
        prop_assert_eq!(integer.magnitude(), expected.magnitude().to_u64_digits());
        prop_assert_eq!(integer.is_negative(), expected.sign() == Sign::Minus);
        let other_expected = BigInt::from(other);
        prop_assert_eq!(integer.cmp(&other.into()), expected.cmp(&other_expected));
        prop_assert_eq!(i128::try_from(&integer).ok(), i128::try_from(&expected).ok());
        prop_assert_eq!(u64::try_from(&integer).ok(), u64::try_from(&expected).ok());
        let encoded = encode(&integer).unwrap();
        prop_assert_eq!(decode::<Integer>(&encoded), Ok(integer));
    }

    #[test]
    fn words_are_written_in_decimal(value: u64, shift in 0u32..64) {
        let value = value >> shift;
        let encoded = format!("{value}+").into_bytes();
        prop_assert_eq!(encode(&value), Ok(encoded.clone()));
        prop_assert_eq!(decimal(&encoded), Ok((value, b'+')));
        prop_assert_eq!(decode::<u64>(&encoded), Ok(value));
    }
}

#[test]
fn all_lengths_of_numbers() {
    for power in 0..20 {
        let power = 10u64.pow(power);
        for value in [power - 1, power, power + 1, power.saturating_mul(10) - 1] {
            assert_eq!(encode(&value).unwrap(), format!("{value}+").as_bytes());
            assert_eq!(decode::<u64>(format!("{value}+").as_bytes()), Ok(value));
            assert_eq!(decimal(format!("{value}:").as_bytes()), Ok((value, b':')));
            assert_eq!(
                decode::<u64>(format!("{value}+     ").trim().as_bytes()),
                Ok(value)
            );
            assert_eq!(
                decode::<Vec<u64>>(format!("[{value}+12345678+]").as_bytes()),
                Ok(vec![value, 12345678])
            );
        }
    }
    for value in 0..20_000u64 {
        assert_eq!(encode(&value).unwrap(), format!("{value}+").as_bytes());
    }
}

#[test]
fn all_lengths_of_text() {
    for length in 0..300 {
        let text: String = (b'a'..=b'z').cycle().take(length).map(char::from).collect();
        let encoded = format!("{length}\"{text}");
        assert_eq!(encode(text.as_str()).unwrap(), encoded.as_bytes());
        assert_eq!(decode::<&str>(encoded.as_bytes()), Ok(text.as_str()));
        assert!(strict(encoded.as_bytes()).is_ok());
        let list = vec![text.as_str(); 3];
        assert_eq!(
            content_id(&list).unwrap(),
            lydite_hash::sha256(&encode(&list).unwrap())
        );
    }
}

#[test]
fn integers_that_follow_each_other() {
    use ErrorKind::*;
    let mut tape = Tape::new();
    // At every position, since several integers are read at once.
    for before in 0..70 {
        let mut check = |item: &str, expected: Result<(), (ErrorKind, usize)>| {
            let input = format!("[{}{item}{}]", "7+".repeat(before), "123-".repeat(40));
            let expected = expected.map_err(|(kind, at)| kind.at(1 + 2 * before + at));
            let root = tape.decode(input.as_bytes());
            assert_eq!(root.as_ref().map(|_| ()), expected.as_ref().map(|_| ()));
            if let Ok(root) = root {
                let mut texts = String::from("[");
                for node in root.children() {
                    let integer = node.as_integer().unwrap();
                    assert_eq!(
                        node.raw().as_bytes(),
                        encode(&Value::Integer(integer)).unwrap()
                    );
                    texts.push_str(core::str::from_utf8(node.raw().as_bytes()).unwrap());
                }
                assert_eq!(texts + "]", input);
                assert_eq!(root.len(), before + 41);
            }
        };
        for digits in 1..22 {
            let number = &"9876543210987654321098"[..digits];
            check(&format!("{number}+"), Ok(()));
            check(&format!("{number}-"), Ok(()));
            check(&format!("0{number}+"), Err((LeadingZero, 0)));
            check(&format!("{number}="), Err((UnexpectedByte, digits)));
        }
        check("0+", Ok(()));
        check("0-", Err((NegativeZero, 0)));
        check("00-", Err((LeadingZero, 0)));
        check("+", Err((UnexpectedByte, 0)));
    }
}

#[test]
fn text_is_checked_wherever_it_stands() {
    for keyed in [false, true] {
        let mut message = vec![if keyed { b'{' } else { b'[' }];
        // Position and length of each text and byte array, and whether it is text.
        let mut places = Vec::new();
        for (i, length) in (0..24).chain([63, 64, 130]).enumerate() {
            for (j, marker) in ['"', ':', '\''].into_iter().enumerate() {
                if keyed {
                    message.extend_from_slice(format!("3\"{:03}", 3 * i + j).as_bytes());
                }
                message.extend_from_slice(format!("{length}{marker}").as_bytes());
                places.push((message.len(), length, marker != ':'));
                message.resize(message.len() + length, b'a');
            }
        }
        message.push(if keyed { b'}' } else { b']' });
        let check = |message: &[u8], expected: Result<(), Error>| {
            assert_eq!(strict(message).map(|_| ()), expected);
        };
        for (start, length, is_text) in places {
            for at in start..start + length {
                let mut wrong = message.clone();
                wrong[at] = 0xff;
                let refused = Err(ErrorKind::InvalidUtf8.at(at));
                check(&wrong, if is_text { refused } else { Ok(()) });
                if at + 1 < start + length {
                    wrong[at..at + 2].copy_from_slice("é".as_bytes());
                    check(&wrong, Ok(()));
                }
            }
        }
    }
}

/// Duplicate keys and members short enough that the bytes after them are among the first eight bytes compared.
#[test]
fn short_keys_twice() {
    for (input, first, second) in [
        ("{1+f1+t}", 1, 4),
        ("{1+f1+t2+f3+f}", 1, 4),
        ("{1+1+1+2+2+3+}", 1, 5),
        ("{0\"f0\"t1\"af1\"bf}", 1, 4),
        ("{1'af1'at1'bf1'cf}", 1, 5),
        ("{ftff1+t2+t}", 1, 3),
        ("{[]f[]t1+t2+t}", 1, 4),
    ] {
        let at = |kind: ErrorKind| kind.at(second);
        let input = input.as_bytes();
        assert_eq!(input[first], input[second]);
        assert_eq!(
            Value::decode(input),
            Err(at(ErrorKind::Duplicate)),
            "{}",
            input.escape_ascii()
        );
        assert_eq!(
            Tape::new().decode(input).map(|_| ()),
            Err(at(ErrorKind::Duplicate)),
            "{}",
            input.escape_ascii()
        );
        assert!(crate::syrup::decode::<Raw<'_>>(input).is_err());
    }
    for input in ["#1+1+$", "#1+1+2+3+4+$", "#0\"0\"1\"a1\"b$", "#tt1+2+3+$"] {
        assert_eq!(
            Value::decode(input.as_bytes()).unwrap_err().kind,
            ErrorKind::Duplicate,
            "{input}"
        );
    }
}
