#![allow(clippy::unwrap_used, clippy::panic)]
use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use lydite_bytes::{Address, B256, Bytes, U256};
use proptest::prelude::*;

use super::{
    Decode, Encode, Error, ErrorKind, Event, Header, List, Reader, decode, encode, encode_append,
    encode_into, items,
};

/// The specification, appendix B of the Yellow Paper, line by line.
mod reference {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    pub enum Tree {
        String(Vec<u8>),
        List(Vec<Tree>),
    }

    pub fn big_endian(length: usize) -> Vec<u8> {
        length
            .to_be_bytes()
            .into_iter()
            .skip_while(|&byte| byte == 0)
            .collect()
    }

    fn prefix(base: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if payload.len() < 56 {
            out.push(base + payload.len() as u8);
        } else {
            let length = big_endian(payload.len());
            out.push(base + 55 + length.len() as u8);
            out.extend(length);
        }
        out.extend(payload);
        out
    }

    pub fn encode(tree: &Tree) -> Vec<u8> {
        match tree {
            Tree::String(bytes) if bytes.len() == 1 && bytes[0] < 0x80 => bytes.clone(),
            Tree::String(bytes) => prefix(0x80, bytes),
            Tree::List(elements) => {
                prefix(0xc0, &elements.iter().flat_map(encode).collect::<Vec<_>>())
            }
        }
    }
}
use reference::Tree;

/// Builds the tree that the events describe.
fn tree(input: &[u8]) -> Result<Tree, Error> {
    let mut open = vec![Vec::new()];
    for event in items(input) {
        let done = match event? {
            Event::String(bytes) => Tree::String(bytes.to_vec()),
            Event::List => {
                open.push(Vec::new());
                continue;
            }
            Event::End => Tree::List(open.pop().unwrap()),
        };
        open.last_mut().unwrap().push(done);
    }
    Ok(open.pop().unwrap().pop().unwrap())
}

fn error(kind: ErrorKind, offset: usize) -> Error {
    Error { kind, offset }
}

/// All encoders produce the expected bytes, for any buffer capacity; decoding returns the value; and every proper
/// prefix is an error.
fn check<T: Encode + for<'a> Decode<'a> + PartialEq + core::fmt::Debug>(
    value: &T,
    expected: &[u8],
) {
    assert_eq!(encode(value), expected, "{value:?}");
    assert_eq!(value.encoded_len(), expected.len(), "{value:?}");
    let mut appended = vec![1, 2, 3];
    encode_append(value, &mut appended);
    assert_eq!(appended, [&[1, 2, 3], expected].concat());
    for room in 0..expected.len() + 40 {
        let mut buffer = vec![0xee; room];
        let written = encode_into(value, &mut buffer);
        if room < expected.len() {
            assert_eq!(
                written,
                Err(error(ErrorKind::BufferTooSmall, expected.len()))
            );
        } else {
            assert_eq!(written, Ok(expected.len()));
            assert_eq!(buffer[..expected.len()], *expected, "room {room}");
        }
    }
    assert_eq!(decode::<T>(expected).as_ref(), Ok(value));
    for end in 0..expected.len() {
        let cut = decode::<T>(&expected[..end]);
        assert!(
            matches!(
                cut,
                Err(Error {
                    kind: ErrorKind::UnexpectedEnd,
                    ..
                })
            ),
            "{value:?} {end} {cut:?}"
        );
    }
    // If more bytes follow, the value is read by other code paths.
    for tail in 1..40 {
        let mut input = expected.to_vec();
        input.extend((0..tail).map(|i| 0xff - i));
        assert_eq!(Reader::new(&input).read::<T>().as_ref(), Ok(value));
        assert_eq!(
            decode::<T>(&input),
            Err(error(ErrorKind::TrailingBytes, expected.len()))
        );
    }
}

fn integer(bytes: &[u8]) -> Vec<u8> {
    reference::encode(&Tree::String(
        bytes
            .iter()
            .copied()
            .skip_while(|&byte| byte == 0)
            .collect(),
    ))
}

#[test]
fn integers_of_every_length() {
    for bits in 0..256 {
        let power = U256::ONE << bits;
        for value in [
            power,
            power.wrapping_sub(U256::ONE),
            power.wrapping_add(U256::from(bits as u64 + 1)),
        ] {
            let bytes = value.to_be_bytes();
            let expected = integer(&bytes);
            check(&value, &expected);
            let low = u128::from_be_bytes(*bytes.last_chunk().unwrap());
            check(&low, &integer(&low.to_be_bytes()));
            check(&(low as u64), &integer(&(low as u64).to_be_bytes()));
            check(&(low as u32), &integer(&(low as u32).to_be_bytes()));
            check(&(low as u16), &integer(&(low as u16).to_be_bytes()));
            check(&(low as u8), &integer(&[low as u8]));
            if bits >= 128 {
                assert_eq!(decode::<u128>(&expected).is_ok(), value < U256::ONE << 128);
            }
            let mut padded = Vec::new();
            super::put_integer_bytes(&bytes, &mut padded);
            assert_eq!(
                (padded.len(), padded),
                (super::integer_bytes_len(&bytes), expected)
            );
        }
    }
}

#[test]
fn strings_of_every_length() {
    for length in (0..600).chain([0xffff, 0x1_0000, 0xff_ffff, 0x100_0000]) {
        let string = vec![0x61; length];
        let expected = reference::encode(&Tree::String(string.clone()));
        assert_eq!(encode(string.as_slice()), expected);
        assert_eq!(decode::<&[u8]>(&expected), Ok(string.as_slice()));
        if length < 600 {
            check(&Bytes(string.clone()), &expected);
            check(&String::from_utf8(string).unwrap(), &expected);
        }
    }
    for byte in 0..=255u8 {
        check(
            &Bytes(vec![byte]),
            &reference::encode(&Tree::String(vec![byte])),
        );
        check(&[byte], &reference::encode(&Tree::String(vec![byte])));
    }
}

#[test]
fn other_types() {
    check(&true, &[0x01]);
    check(&false, &[0x80]);
    check(&[0u8; 0], &[0x80]);
    check(&[7u8; 55], &[&[0xb7], &[7u8; 55][..]].concat());
    check(&[7u8; 56], &[&[0xb8, 56], &[7u8; 56][..]].concat());
    check(&Address([9; 20]), &[&[0x94], &[9u8; 20][..]].concat());
    check(&Some(Address([9; 20])), &[&[0x94], &[9u8; 20][..]].concat());
    check(&None::<Address>, &[0x80]);
    check(&Vec::<u64>::new(), &[0xc0]);
    check(
        &(1u8, vec![2u16, 0], String::from("dog")),
        b"\xc8\x01\xc2\x02\x80\x83dog",
    );
    let keys: Vec<B256> = (0..9).map(|i| B256::from([i; 32])).collect();
    let expected = encode(&keys);
    assert_eq!(expected[..3], [0xf9, 1, 41]);
    check(&keys, &expected);
    let list: List<'_, B256> = decode(&expected).unwrap();
    assert_eq!(list.to_vec::<B256>(), keys);
    assert_eq!(encode(&list), expected);
}

/// The examples from the Ethereum wiki's page on RLP.
#[test]
fn known_items() {
    assert_eq!(encode("dog"), *b"\x83dog");
    assert_eq!(encode(&vec!["cat", "dog"]), *b"\xc8\x83cat\x83dog");
    assert_eq!(encode(""), [0x80]);
    assert_eq!(encode(&Vec::<u64>::new()), [0xc0]);
    assert_eq!(encode(&[0x00u8][..]), [0x00]);
    assert_eq!(encode(&0u64), [0x80]);
    assert_eq!(encode(&15u64), [0x0f]);
    assert_eq!(encode(&1024u64), [0x82, 0x04, 0x00]);
    let three = Tree::List(vec![
        Tree::List(vec![]),
        Tree::List(vec![Tree::List(vec![])]),
        Tree::List(vec![
            Tree::List(vec![]),
            Tree::List(vec![Tree::List(vec![])]),
        ]),
    ]);
    assert_eq!(
        tree(&[0xc7, 0xc0, 0xc1, 0xc0, 0xc3, 0xc0, 0xc1, 0xc0]),
        Ok(three)
    );
    let lorem = "Lorem ipsum dolor sit amet, consectetur adipisicing elit";
    assert_eq!(encode(lorem), [b"\xb8\x38", lorem.as_bytes()].concat());
}

#[test]
fn hostile_items() {
    use ErrorKind::*;
    let huge = [0xff; 9];
    let cases: &[(&[u8], Error)] = &[
        (&[], error(UnexpectedEnd, 0)),
        (&[0x81], error(UnexpectedEnd, 0)),
        (&[0x81, 0x00], error(SinglePrefixed, 0)),
        (&[0x81, 0x7f], error(SinglePrefixed, 0)),
        (&[0xb8], error(UnexpectedEnd, 0)),
        (&[0xb8, 0x00], error(LeadingZero, 1)),
        (&[0xb8, 0x01, 0x80], error(LengthNotMinimal, 0)),
        (&[0xb8, 0x37], error(LengthNotMinimal, 0)),
        (&[0xb8, 0x38], error(UnexpectedEnd, 0)),
        (&[0xb9, 0x00, 0x38], error(LeadingZero, 1)),
        (
            &[0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            error(UnexpectedEnd, 0),
        ),
        (
            &[0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            error(UnexpectedEnd, 0),
        ),
        (&huge, error(UnexpectedEnd, 0)),
        (&[0xbf, 0, 0, 0, 0, 0, 0, 0, 1, 0x80], error(LeadingZero, 1)),
        (&[0xf8, 0x37], error(LengthNotMinimal, 0)),
        (&[0xf8, 0x00], error(LeadingZero, 1)),
        (&[0xc1], error(UnexpectedEnd, 0)),
        (&[0xc1, 0x82, 0x80, 0x80], error(UnexpectedEnd, 1)),
        (&[0xc2, 0xc1, 0x81, 0x80], error(UnexpectedEnd, 2)),
        (&[0xc3, 0x81, 0x01, 0x80], error(SinglePrefixed, 1)),
        (&[0x01, 0x02], error(TrailingBytes, 1)),
        (&[0xc0, 0xc0], error(TrailingBytes, 1)),
    ];
    for (input, expected) in cases {
        assert_eq!(tree(input), Err(*expected), "{input:02x?}");
    }
    let integers: &[(&[u8], Error)] = &[
        (&[0x00], error(LeadingZero, 0)),
        (&[0x81, 0x00], error(LeadingZero, 1)),
        (&[0x81, 0x7f], error(SinglePrefixed, 0)),
        (&[0x82, 0x00, 0x80], error(LeadingZero, 1)),
        (&[0x88, 0, 1, 2, 3, 4, 5, 6, 7], error(LeadingZero, 1)),
        (&[0xc0], error(ExpectedString, 0)),
        (&[0xb8, 0x38], error(IntegerTooLarge { bits: 0 }, 0)),
        (&[0xa1, 1], error(IntegerTooLarge { bits: 0 }, 0)),
        (&huge, error(ExpectedString, 0)),
    ];
    for (input, expected) in integers {
        // The reported width is that of the type.
        let expected = |bits| match *expected {
            Error {
                kind: IntegerTooLarge { .. },
                offset,
            } => error(IntegerTooLarge { bits }, offset),
            other => other,
        };
        assert_eq!(decode::<U256>(input), Err(expected(256)), "{input:02x?}");
        assert_eq!(decode::<u64>(input), Err(expected(64)), "{input:02x?}");
        assert_eq!(decode::<u8>(input), Err(expected(8)), "{input:02x?}");
    }
    let mut zero = [0x22; 33];
    (zero[0], zero[1]) = (0xa0, 0);
    assert_eq!(decode::<U256>(&zero), Err(error(LeadingZero, 1)));
    assert_eq!(
        decode::<u128>(&zero),
        Err(error(IntegerTooLarge { bits: 128 }, 0))
    );
    assert_eq!(
        decode::<u8>(&[0x82, 1, 0]),
        Err(error(IntegerTooLarge { bits: 8 }, 0))
    );
    assert_eq!(decode::<bool>(&[0x02]), Err(error(InvalidBool, 0)));
    assert_eq!(decode::<&str>(b"\x83a\xff\xff"), Err(error(InvalidUtf8, 2)));
    assert_eq!(decode::<Address>(&[0x80]), Err(error(WrongLength, 0)));
    assert_eq!(
        decode::<Option<Address>>(&[0x81, 0x80]),
        Err(error(WrongLength, 0))
    );
    assert_eq!(
        decode::<[u8; 1]>(&[0x81, 0x01]),
        Err(error(SinglePrefixed, 0))
    );
    assert_eq!(decode::<Vec<u64>>(&[0x80]), Err(error(ExpectedList, 0)));
    assert_eq!(
        decode::<(u64, u64)>(&[0xc1, 0x01]),
        Err(error(UnexpectedEnd, 2))
    );
    assert_eq!(
        decode::<(u64,)>(&[0xc2, 0x01, 0x02]),
        Err(error(TrailingBytes, 2))
    );
    assert_eq!(
        decode::<Vec<(u64,)>>(&[0xc4, 0xc1, 0x01, 0xc1, 0x00]),
        Err(error(LeadingZero, 4))
    );
    assert_eq!(
        error(LengthNotMinimal, 17).to_string(),
        "byte 17: length is not in its shortest form"
    );
    assert_eq!(
        error(BufferTooSmall, 9).to_string(),
        "buffer is too small: expected at least 9 bytes"
    );
}

#[test]
fn deep_nesting_is_walked_flat() {
    const DEPTH: usize = 100_000;
    let mut reversed: Vec<u8> = vec![];
    for _ in 0..DEPTH {
        let mut header = Vec::new();
        Header {
            list: true,
            payload_len: reversed.len(),
        }
        .encode(&mut header);
        reversed.extend(header.iter().rev());
    }
    let nested: Vec<u8> = reversed.into_iter().rev().collect();
    let mut walk = items(&nested);
    let mut deepest = 0;
    while let Some(event) = walk.next() {
        event.unwrap();
        deepest = deepest.max(walk.depth());
    }
    assert_eq!((deepest, walk.offset()), (DEPTH, nested.len()));
    // The innermost list claims a byte that does not exist.
    let mut broken = nested.clone();
    *broken.last_mut().unwrap() = 0xc1;
    let last = items(&broken).last().unwrap();
    assert_eq!(last, Err(error(ErrorKind::UnexpectedEnd, nested.len() - 1)));
    // Headers of lists that only contain each other's headers: fails immediately.
    assert_eq!(
        items(&vec![0xff; DEPTH]).last(),
        Some(Err(error(ErrorKind::UnexpectedEnd, 0)))
    );
}

fn trees() -> impl Strategy<Value = Tree> {
    let string = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..4),
        proptest::collection::vec(any::<u8>(), 50..70),
        proptest::collection::vec(any::<u8>(), 250..260),
    ]
    .prop_map(Tree::String);
    string.prop_recursive(5, 40, 6, |inner| {
        proptest::collection::vec(inner, 0..6).prop_map(Tree::List)
    })
}

proptest! {
    #[test]
    fn any_tree_comes_back(value in trees()) {
        let encoded = reference::encode(&value);
        prop_assert_eq!(tree(&encoded), Ok(value));
        for end in 0..encoded.len() {
            prop_assert!(tree(&encoded[..end]).is_err());
        }
    }

    #[test]
    fn what_is_accepted_is_canonical(value in trees(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = reference::encode(&value);
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(tree) = tree(&bytes) {
            prop_assert_eq!(reference::encode(&tree), bytes);
        }
    }

    #[test]
    fn random_integers_come_back(limbs in any::<[u64; 4]>(), shift in 0u32..256, tail in proptest::collection::vec(any::<u8>(), 0..12)) {
        let value = U256::from_limbs(limbs) >> shift;
        let expected = integer(&value.to_be_bytes());
        prop_assert_eq!(encode(&value), expected.clone());
        let mut input = expected;
        input.extend(&tail);
        prop_assert_eq!(Reader::new(&input).read(), Ok(value));
    }

    #[test]
    fn random_bytes_decode_canonically_or_not_at_all(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(value) = decode::<U256>(&bytes) {
            prop_assert_eq!(encode(&value), bytes.clone());
        }
        if let Ok(value) = decode::<u64>(&bytes) {
            prop_assert_eq!(encode(&value), bytes.clone());
        }
        if let Ok(value) = decode::<Vec<Bytes>>(&bytes) {
            prop_assert_eq!(encode(&value), bytes.clone());
        }
    }
}
