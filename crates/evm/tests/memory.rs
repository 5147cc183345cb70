//! Decoders use memory in proportion to the input, whatever the input claims.
#![allow(clippy::unwrap_used)]
mod counted;

use counted::most;
use lydite_evm::{
    abi::{Codec, EventCodec, MAX_TYPES, Type, Value},
    eip712::{Reason, TypedData, TypedSchema},
    rlp,
};

const LENGTH: usize = 1 << 20;

fn filled(open: &str, item: &str, close: &str) -> String {
    let mut text = String::with_capacity(LENGTH + 1024);
    text.push_str(open);
    while text.len() < LENGTH {
        text.push_str(item);
    }
    text.push_str(item.trim_end_matches(','));
    text.push_str(close);
    text
}

/// Builds `count` types that each depend on the next, the last on the first, with names of `length` bytes, and a
/// message of type `primary`.
fn ring(count: usize, length: usize, primary: &str, message: &str) -> String {
    let pad = "a".repeat(length);
    let types: Vec<String> = (0..count)
        .map(|i| {
            let next = (i + 1) % count;
            format!(r#""S{i}":[{{"name":"x","type":"S{next}"}},{{"name":"{pad}","type":"uint8"}}]"#)
        })
        .collect();
    format!(
        r#"{{"types":{{{},"P":[{{"name":"a","type":"uint8"}}]}},"primaryType":"{primary}","domain":{{}},"message":{message}}}"#,
        types.join(",")
    )
}

fn document(member: &str, message: &str) -> String {
    format!(
        r#"{{"types":{{"B":[],"A":[{member}]}},"primaryType":"A","domain":{{}},"message":{message}}}"#
    )
}

/// A single test, so that no other test allocates at the same time.
#[test]
fn memory_is_a_multiple_of_the_input() {
    typed_data();
    text_of_types_and_values();
    // Documented at the implementation for `Vec`.
    let lists = rlp::encode(&vec![Vec::<u8>::new(); LENGTH]);
    let peak = most(|| drop(rlp::decode::<Vec<Vec<u8>>>(&lists).unwrap()));
    assert!(peak <= 24 * lists.len(), "{peak}");
}

fn typed_data() {
    let array = |ty: &str, item: &str| {
        let member = format!(r#"{{"name":"m","type":"{ty}"}}"#);
        let message = filled(r#"{"m":["#, &format!("{item},"), "]}");
        document(&member, &message)
    };
    let pad = LENGTH / 250;
    let mut recursive = r#"{"a":null,"b":null}"#.to_string();
    while recursive.len() < LENGTH {
        recursive = format!(r#"{{"a":{recursive},"b":{recursive}}}"#);
    }
    let members = |item: fn(usize) -> String| {
        let count = LENGTH / 27;
        (0..count).map(item).collect::<Vec<_>>().join(",")
    };
    let documents = [
        array("uint8[]", "1"),
        array("bool[]", "true"),
        array("uint8[][]", "[]"),
        array("uint8[][]", "[1]"),
        array("string[]", r#""""#),
        array("string[]", r#""a""#),
        array("bytes[]", r#""0x00""#),
        array("B[]", "{}"),
        array("B[]", "null"),
        array("B[][]", "[{}]"),
        array("uint8[][][][][]", "[[[[]]]]"),
        array("string[][]", r#"["",""]"#),
        array("string[]", &format!(r#""{}""#, "a".repeat(20_000))),
        // A tree of structs, and a struct with many members.
        document(
            r#"{"name":"a","type":"A"},{"name":"b","type":"A"}"#,
            &recursive,
        ),
        document(
            &members(|i| format!(r#"{{"name":"m{i}","type":"bool"}}"#)),
            &format!("{{{}}}", members(|i| format!(r#""m{i}":true"#))),
        ),
        // Unused types, and types with many dimensions.
        ring(250, pad, "P", r#"{"a":1}"#),
        document(
            &format!(
                r#"{{"name":"m","type":"uint8{}"}}"#,
                "[]".repeat(LENGTH / 2)
            ),
            r#"{"m":[]}"#,
        ),
    ];
    for document in &documents {
        let (start, length) = (&document[..document.len().min(100)], document.len());
        let mut result = None;
        let peak = most(|| result = Some(TypedData::from_json(document).map(drop)));
        assert_eq!(result, Some(Ok(())), "{start}");
        assert!(
            peak <= 8 * length + (2 << 20),
            "{start}: {:.1} times the document",
            peak as f64 / length as f64
        );
    }

    // Types in a ring that the message needs: 250 type strings, each containing all of them.
    let needed = ring(250, pad, "S0", r#"{"x":null,"a":1}"#);
    let error = TypedData::from_json(&needed).unwrap_err();
    assert_eq!(error.reason, Reason::TypesTooLong);
    assert!(error.path.starts_with("types.S"), "{error}");
    assert_eq!(error.offset, None);
    assert!(
        error.to_string().contains("at most 4194304 bytes"),
        "{error}"
    );
    let peak = most(|| drop(TypedData::from_json(&needed)));
    assert!(peak <= 8 * needed.len() + (2 << 20), "{peak}");
    let types = &needed[r#"{"types":"#.len()..needed.find(r#","primaryType""#).unwrap()];
    let peak = most(|| {
        let error = TypedSchema::from_json(types).unwrap_err();
        assert_eq!(error.reason, Reason::TypesTooLong);
    });
    assert!(peak <= 8 * needed.len() + (2 << 20), "{peak}");
}

fn text_of_types_and_values() {
    // Documented at `MAX_TYPES`: 168 bytes per type, plus the names.
    let wide = filled("(", "int,", ")");
    for text in [&wide, &format!("event E{wide}")] {
        let peak = most(|| {
            assert!(Type::parse(text).is_err());
            assert!(Codec::parse(text).is_err());
            assert!(EventCodec::parse(text).is_err());
        });
        assert!(peak <= MAX_TYPES * 168 + (1 << 20), "{peak}");
    }
    let widest = format!("({})", ["int"; MAX_TYPES - 1].join(","));
    let peak = most(|| drop(Codec::parse(&widest).unwrap()));
    assert!(peak <= MAX_TYPES * 192, "{peak}");

    // Documented at `MAX_VALUES`.
    let ty = Type::parse("uint8[]").unwrap();
    let text = filled("[", "1,", "]");
    let peak = most(|| drop(Value::parse(&ty, &text).unwrap()));
    assert!(peak <= 60 * text.len(), "{peak}");
}
