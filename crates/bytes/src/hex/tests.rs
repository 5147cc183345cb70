#![allow(clippy::unwrap_used, clippy::panic)]

use super::{dispatch::Backend, *};
use alloc::{format, string::ToString, vec};
use proptest::prelude::*;

const SAMPLE: &str = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

#[test]
fn known_answers() {
    assert_eq!(encode([]), "");
    assert_eq!(encode_prefixed([]), "0x");
    assert!(decode("").unwrap().is_empty());
    assert!(decode("0x").unwrap().is_empty());
    let bytes = decode(SAMPLE).unwrap();
    assert_eq!((bytes[0], bytes[1], bytes[31]), (0xc5, 0xd2, 0x70));
    assert_eq!(encode(&bytes), SAMPLE);
    assert_eq!(
        decode_to_array::<32>(SAMPLE.to_uppercase()).unwrap()[..],
        bytes
    );
}

#[test]
fn errors_say_where() {
    assert_eq!(decode("abc"), Err(Error::OddLength { digits: 3 }));
    assert_eq!(decode("0xabc"), Err(Error::OddLength { digits: 3 }));
    assert_eq!(
        decode("0X12"),
        Err(Error::InvalidDigit {
            offset: 1,
            byte: b'X'
        })
    );
    assert_eq!(
        decode("0x0x12"),
        Err(Error::InvalidDigit {
            offset: 3,
            byte: b'x'
        })
    );
    assert_eq!(
        decode_to_array::<2>("0x12"),
        Err(Error::Length {
            expected: 4,
            actual: 2
        })
    );
    assert_eq!(
        encode_to_slice(&[1], &mut [0; 3]),
        Err(Error::Length {
            expected: 2,
            actual: 3
        })
    );
    assert_eq!(
        decode("é0x").unwrap_err().to_string(),
        "byte 0: expected a hexadecimal digit, found 0xc3"
    );
    assert_eq!(
        decode("123").unwrap_err().to_string(),
        "expected an even number of hexadecimal digits, found 3"
    );
    assert_eq!(
        decode_to_array::<2>("12").unwrap_err().to_string(),
        "expected 4 hexadecimal digits, found 2"
    );
}

/// Bytes of every value, with the values at different positions.
fn sample(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 167 + length * 59) as u8).collect()
}

/// Lengths on both sides of every block boundary; a few under Miri.
fn lengths(end: usize) -> impl Iterator<Item = usize> {
    (0..=end).filter(|length| !cfg!(miri) || [0, 3, 17, 33, 70].contains(length))
}

#[test]
fn every_backend_equals_the_reference_at_every_length() {
    for length in lengths(300) {
        let bytes = sample(length);
        let mut expected = vec![0; 2 * length];
        reference::encode(&bytes, &mut expected);
        let mixed: Vec<u8> = expected
            .iter()
            .enumerate()
            .map(|(i, c)| {
                if i % 3 == 0 {
                    c.to_ascii_uppercase()
                } else {
                    *c
                }
            })
            .collect();
        for backend in Backend::available() {
            let mut text = vec![0; 2 * length];
            backend.encode(&bytes, place(&mut text));
            assert_eq!(text, expected, "{backend:?}, {length} bytes");
            let mut decoded = vec![0xff; length];
            assert!(
                backend.decode(&mixed, place(&mut decoded)),
                "{backend:?}, {length} bytes"
            );
            assert_eq!(decoded, bytes, "{backend:?}, {length} bytes");
        }
    }
}

#[test]
fn every_backend_writes_long_texts_at_every_place_in_a_cache_line() {
    for length in [4095, 4096, 4097, 4223, 5000]
        .into_iter()
        .filter(|&length| !cfg!(miri) || length == 4097)
    {
        let bytes = sample(length);
        let mut expected = vec![0; 2 * length];
        reference::encode(&bytes, &mut expected);
        for backend in Backend::available() {
            for offset in (0..64).step_by(if cfg!(miri) { 63 } else { 1 }) {
                let mut text = vec![0; offset + 2 * length + 1];
                backend.encode(&bytes, place(&mut text[offset..offset + 2 * length]));
                assert_eq!(text[offset..][..2 * length], expected);
                assert_eq!(text[offset + 2 * length], 0);
            }
        }
    }
}

#[test]
fn every_backend_refuses_every_wrong_byte_at_every_position() {
    for length in lengths(150).filter(|length| *length <= 40 || length % 10 == 0) {
        let digits = encode(sample(length)).into_bytes();
        for backend in Backend::available() {
            for at in (0..digits.len()).step_by(if cfg!(miri) { 31 } else { 1 }) {
                // All bytes in short texts; in long ones, those adjacent to a digit.
                let wrong: Vec<u8> = if length <= 33 && !cfg!(miri) {
                    (0..=255)
                        .filter(|byte: &u8| !byte.is_ascii_hexdigit())
                        .collect()
                } else {
                    b"/:@G`g\0\x7f\x80\xb0\xff".to_vec()
                };
                for byte in wrong {
                    let mut text = digits.clone();
                    text[at] = byte;
                    let mut output = vec![0; length];
                    assert!(
                        !backend.decode(&text, place(&mut output)),
                        "{backend:?}, {byte:#x} at {at} of {length} bytes"
                    );
                    assert_eq!(decode(&text), Err(Error::InvalidDigit { offset: at, byte }));
                }
            }
        }
    }
}

#[test]
fn the_first_wrong_byte_is_the_one_reported() {
    for length in lengths(150).filter(|length| *length > 1) {
        let mut text = encode_prefixed(sample(length)).into_bytes();
        text[2 + length / 2] = b'!';
        text[2 + 2 * length - 1] = 0xff;
        let expected = Error::InvalidDigit {
            offset: 2 + length / 2,
            byte: b'!',
        };
        assert_eq!(decode(&text), Err(expected));
        assert_eq!(decode_to_slice(&text, &mut vec![0; length]), Err(expected));
    }
}

#[test]
fn every_pair_of_digits() {
    for byte in (0..=255u8).step_by(if cfg!(miri) { 51 } else { 1 }) {
        for backend in Backend::available() {
            let mut text = [0; 40];
            backend.encode(&[byte; 20], place(&mut text));
            assert_eq!(text, format!("{byte:02x}").repeat(20).as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 256 },
        failure_persistence: None, // Miri cannot access files
        ..ProptestConfig::default()
    })]

    #[test]
    fn encoding_equals_the_reference(input: Vec<u8>) {
        let mut expected = vec![0; 2 * input.len()];
        reference::encode(&input, &mut expected);
        prop_assert_eq!(encode(&input).into_bytes(), expected);
    }

    #[test]
    fn any_text_is_judged_as_the_reference_does(text: Vec<u8>) {
        let mut expected = vec![0; text.len() / 2];
        let even = text.len() % 2 == 0;
        let valid = even && reference::decode(&text, &mut expected);
        prop_assert_eq!(decode(&text).ok(), valid.then_some(expected));
    }
}
