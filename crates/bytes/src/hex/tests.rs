#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use alloc::string::ToString;
use proptest::prelude::*;

const SAMPLE: &str = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

#[test]
fn known_answers() {
    assert_eq!(encode([]), "");
    assert_eq!(encode_prefixed([]), "0x");
    assert_eq!(decode("").unwrap(), []);
    assert_eq!(decode("0x").unwrap(), []);
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
        "byte 0: 0xc3 is not a hexadecimal digit"
    );
    assert_eq!(
        decode("123").unwrap_err().to_string(),
        "odd number of hexadecimal digits: 3"
    );
    assert_eq!(
        decode_to_array::<2>("12").unwrap_err().to_string(),
        "expected 4 hexadecimal digits, got 2"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

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
