//! The JSON form: vectors of eth-account, comparison with the Rust types, and documents that must be rejected.

#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::{format, string::String, string::ToString, vec::Vec};
use std::fs;

use lydite_bytes::{Address, B256, Bytes, FixedBytes, I256, U256, hex};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{Mail, Person, Zoo, ether_mail};
use super::*;
use crate::abi::{Int, Uint};

fn vectors(path: &str) -> Value {
    let text =
        fs::read_to_string(format!("{}/vectors/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Documents are extracted from the file as text, because a `Value` would lose large numbers.
#[test]
fn vectors_of_eth_account() {
    let text = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/eip712/documents.json"
    ))
    .unwrap();
    let mut count = 0;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let line = line.strip_suffix(',').unwrap_or(line);
        let (_, rest) = line.split_once("\"document\":").unwrap();
        let document = &rest[..rest.rfind(",\"encode_type\":").unwrap()];
        let tail: Value =
            serde_json::from_str(&format!("{{{}", &rest[document.len() + 1..])).unwrap();
        let name = line.split('"').nth(3).unwrap();

        let data = TypedData::from_json(document).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(data.encode_type(), tail["encode_type"], "{name}");
        assert_eq!(data.type_hash().to_string(), tail["type_hash"], "{name}");
        assert_eq!(
            data.domain_separator().to_string(),
            tail["domain_separator"],
            "{name}"
        );
        assert_eq!(
            data.hash_struct().to_string(),
            tail["hash_struct"],
            "{name}"
        );
        assert_eq!(
            data.signing_hash().to_string(),
            tail["signing_hash"],
            "{name}"
        );
        count += 1;
    }
    assert_eq!(count, 120);
}

#[test]
fn vector_of_the_report() {
    let vectors = vectors("eth-ops/vectors.json");
    let vector = &vectors["eip712_hash_typed_data"];
    let data = TypedData::from_json(&vector["input"].to_string()).unwrap();
    assert_eq!(data.signing_hash().to_string(), vector["expected"]);
}

fn mail_document() -> Value {
    json!({
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"},
                {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"},
                {"name": "verifyingContract", "type": "address"}
            ],
            "Person": [{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}],
            "Mail": [
                {"name": "from", "type": "Person"},
                {"name": "to", "type": "Person"},
                {"name": "contents", "type": "string"}
            ]
        },
        "primaryType": "Mail",
        "domain": {
            "name": "Ether Mail",
            "version": "1",
            "chainId": 1,
            "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"
        },
        "message": {
            "from": {"name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
            "to": {"name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},
            "contents": "Hello, Bob!"
        }
    })
}

#[test]
fn ether_mail_in_json() {
    let (domain, mail) = ether_mail();
    let data = TypedData::from_json(&mail_document().to_string()).unwrap();
    assert_eq!(data.signing_hash(), domain.signing_hash(&mail));
    assert_eq!(data.encode_type(), Mail::encode_type());
    assert_eq!(data.type_hash(), Mail::type_hash());
    assert_eq!(data.primary_type(), "Mail");

    let mut undeclared = mail_document();
    undeclared["types"]
        .as_object_mut()
        .unwrap()
        .remove("EIP712Domain");
    let data = TypedData::from_json(&undeclared.to_string()).unwrap();
    assert_eq!(data.signing_hash(), domain.signing_hash(&mail));
}

/// A user's action of Hyperliquid, with the hash that alloy, viem and ethers compute.
#[test]
fn names_with_colons() {
    crate::typed_struct! {
        struct UsdSend as "HyperliquidTransaction:UsdSend" {
            chain as "hyperliquidChain": String,
            destination: String,
            amount: String,
            time: u64,
        }
    }
    let send = UsdSend {
        chain: "Testnet".into(),
        destination: "0x5e9ee1089755c3435139848e47e6635505d5a13a".into(),
        amount: "1".into(),
        time: 1_690_393_044_548,
    };
    let domain = Domain {
        name: Some("HyperliquidSignTransaction"),
        version: Some("1"),
        chain_id: Some(U256::from(421_614u64)),
        verifying_contract: Some(Address::ZERO),
        salt: None,
    };
    let hash = domain.signing_hash(&send);
    assert_eq!(
        hash.to_string(),
        "0xbcc34aa23e03b510c1b829b8f3a8efb0b70fa352d8ccb2ae7d3be61930cb8c7e"
    );
    let data = TypedData::from_json(&domain.to_json(&send)).unwrap();
    assert_eq!(data.primary_type(), "HyperliquidTransaction:UsdSend");
    assert_eq!(data.signing_hash(), hash);
}

/// A domain with other fields is hashed as declared.
#[test]
fn unusual_domain() {
    let mut document = mail_document();
    document["types"]["EIP712Domain"] =
        json!([{"name": "salt", "type": "bytes32"}, {"name": "name", "type": "string"}]);
    document["domain"] = json!({"name": "n", "salt": format!("0x{}", "05".repeat(32))});
    let data = TypedData::from_json(&document.to_string()).unwrap();
    let words = [
        lydite_hash::keccak256(b"EIP712Domain(bytes32 salt,string name)"),
        [5; 32],
        lydite_hash::keccak256(b"n"),
    ];
    assert_eq!(
        data.domain_separator().0,
        lydite_hash::keccak256(words.as_flattened())
    );
}

/// The hash is the one that MetaMask, viem and alloy compute.
#[test]
fn domain_as_primary_type() {
    let document = |rest: &str| {
        TypedData::from_json(&format!(
            r#"{{"types": {{"EIP712Domain": [{{"name": "name", "type": "string"}}]}}, "primaryType": "EIP712Domain",
                "domain": {{"name": "Family Wallet"}}{rest}}}"#
        ))
    };
    let same = r#"{"name": "Family Wallet"}"#;
    let expected = "0x72f9629f5f29dcda3a615a91c4c195e689fb46b8ba5364ce68a747dbcefb3999";
    for rest in [
        "",
        r#", "message": { }"#,
        &format!(r#", "message": {same}"#),
    ] {
        let data = document(rest).unwrap();
        assert_eq!(data.signing_hash().to_string(), expected, "{rest}");
        assert_eq!(data.hash_struct(), data.domain_separator(), "{rest}");
    }
    let text = "message: expected the domain or an empty object, found another domain";
    let error = document(r#", "message": {"name": "Family"}"#).unwrap_err();
    assert_eq!(error.to_string(), text);
    for message in ["null", "[]", r#"{"chainId": 1}"#, r#"{"name": 1}"#] {
        assert!(document(&format!(r#", "message": {message}"#)).is_err());
    }

    let data = document("").unwrap();
    let prepared = |message| {
        let separator = data.domain_separator();
        data.schema()
            .signing_hash(&separator, "EIP712Domain", message)
    };
    assert_eq!(prepared(same).unwrap().to_string(), expected);
    let error = prepared(r#"{"name": ""}"#).unwrap_err();
    assert_eq!(error.to_string(), text);
}

/// Sets the value at a JSON pointer and returns the text of the error.
fn refusal(pointer: &str, value: Value) -> String {
    let mut document = mail_document();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
    let error = TypedData::from_json(&document.to_string()).unwrap_err();
    let text = error.to_string();
    match error.offset {
        Some(offset) => text
            .strip_suffix(&format!(" (near byte {offset})"))
            .unwrap()
            .into(),
        None => text,
    }
}

#[test]
fn whole_messages_of_refusals() {
    let address = "not an address";
    for (pointer, value, expected) in [
        ("/message/from/wallet", json!("0x00"), format!("message.from.wallet: {address}: expected 40 hexadecimal digits, found 2")),
        (
            "/message/from/wallet",
            json!("0xzz2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"),
            format!("message.from.wallet: {address}: byte 2: expected a hexadecimal digit, found 0x7a"),
        ),
        ("/message/from/wallet", json!("CD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"), "message.from.wallet: expected a 0x prefix".into()),
        (
            "/message/from/wallet",
            json!(5),
            "message.from.wallet: expected address (a string of 0x and 40 hexadecimal digits), found integer `5`".into(),
        ),
        ("/message/to", json!({"name": "Bob"}), "message.to.wallet: missing".into()),
        ("/message/to/age", json!(5), "message.to.age: unknown key".into()),
        ("/message/to", json!("Bob"), "message.to: expected Person (an object), found string \"Bob\"".into()),
        ("/message/to", json!([]), "message.to: expected Person (an object), found array".into()),
        ("/message/contents", json!(null), "message.contents: expected string, found null".into()),
        ("/message/contents", json!(5), "message.contents: expected string, found integer `5`".into()),
        ("/message/contents", json!({}), "message.contents: expected string, found object".into()),
        ("/message", json!(null), "message: expected Mail (an object), found null".into()),
        ("/message", json!({}), "message: text is too short for the members of its structs".into()),
        ("/domain/chainId", json!(1.5), "domain.chainId: not an integer: byte 1: expected a digit, found 0x2e".into()),
        ("/domain/chainId", json!("1 "), "domain.chainId: not an integer: byte 1: expected a digit, found 0x20".into()),
        ("/domain/chainId", json!("0x"), "domain.chainId: not an integer: expected digits, found none".into()),
        ("/domain/chainId", json!(""), "domain.chainId: not an integer: expected digits, found none".into()),
        ("/domain/chainId", json!("-0x1"), "domain.chainId: not an integer: byte 2: expected a digit, found 0x78".into()),
        ("/domain/chainId", json!(-1), "domain.chainId: out of range for uint256".into()),
        (
            "/domain/chainId",
            json!(true),
            "domain.chainId: expected uint256 (a number, or a string of decimal or 0x hexadecimal digits)".into(),
        ),
        ("/domain/salt", json!("0x"), "domain.salt: unknown key".into()),
        ("/primaryType", json!("Letter"), "primaryType: unknown type `Letter`; expected an EIP-712 type or a struct of the document".into()),
        ("/primaryType", json!(1), "primaryType: expected a string, found integer `1`".into()),
        ("/extra", json!(1), "extra: unknown key".into()),
        ("/types/Mail/0", json!({"name": "from", "type": "Persn"}), "types.Mail.from: unknown type `Persn`; expected an EIP-712 type or a struct of the document".into()),
        ("/types/Mail/0", json!({"name": "from"}), "types.Mail[0].type: missing".into()),
        ("/types/Mail/0", json!({"name": "from", "type": "Person", "x": 1}), "types.Mail[0].x: unknown key".into()),
        ("/types/Mail/0", json!({"name": "to", "type": "Person"}), "types.Mail.to: duplicate name".into()),
        ("/types/Mail/0", json!({"name": "from,to", "type": "Person"}), "types.Mail[0].name: expected a Solidity identifier that is not a built-in type".into()),
        ("/types/Mail/0", json!({"name": "from:to", "type": "Person"}), "types.Mail[0].name: expected a Solidity identifier that is not a built-in type".into()),
        ("/types/:Mail", json!([]), "types.:Mail: expected a Solidity identifier that is not a built-in type".into()),
        ("/types/uint8", json!([]), "types.uint8: expected a Solidity identifier that is not a built-in type".into()),
        ("/types/A(b)", json!([]), "types.A(b): expected a Solidity identifier that is not a built-in type".into()),
        ("/types/Mail", json!({}), "types.Mail: expected a list of members, found object".into()),
        ("/types", json!([]), "types: expected an object of struct types, found array".into()),
    ] {
        assert_eq!(refusal(pointer, value), expected, "{pointer}");
    }
}

#[test]
fn types_that_are_none() {
    for ty in [
        "uint",
        "int",
        "uint0",
        "uint7",
        "uint264",
        "uint08",
        "uint+8",
        "bytes0",
        "bytes33",
        "bytes01",
        "Uint8",
        "address payable",
        "bool[0]",
        "bool[01]",
        "bool[",
        "bool]",
        "bool[]]",
        "bool[-1]",
        "bool[2",
        "bool[] ",
        "[]",
        "",
        "bool[99999999999999999999]",
    ] {
        let types = json!({"A": [{"name": "m", "type": ty}]}).to_string();
        let error = TypedSchema::from_json(&types).unwrap_err();
        assert_eq!(
            (error.path.as_str(), error.reason),
            ("types.A.m", Reason::Type(ty.into())),
            "{ty}"
        );
    }
}

/// Hashes a value of a struct with one member `m` of the given type.
fn hash_one(ty: &str, value: &str) -> Result<B256, TypedDataError> {
    let types = json!({"A": [{"name": "m", "type": ty}]}).to_string();
    TypedSchema::from_json(&types)
        .unwrap()
        .hash_struct("A", &format!("{{\"m\":{value}}}"))
}

#[test]
fn integers_at_the_limits() {
    for bits in (8..=256).step_by(8) {
        let half = U256::ONE << (bits - 1);
        let max = half.wrapping_sub(U256::ONE).wrapping_add(half);
        let over = if bits == 256 {
            format!("0x1{}", "0".repeat(64))
        } else {
            (U256::ONE << bits).to_string()
        };
        let (ty, signed) = (format!("uint{bits}"), format!("int{bits}"));
        let (below, above) = (half.wrapping_sub(U256::ONE), half.wrapping_add(U256::ONE));
        for (ty, value, fits) in [
            (&ty, max.to_string(), true),
            (&ty, over, false),
            (&ty, "-1".into(), false),
            (&ty, "-0".into(), true),
            (&signed, below.to_string(), true),
            (&signed, half.to_string(), false),
            (&signed, format!("-{half}"), true),
            (&signed, format!("-{above}"), false),
        ] {
            let quoted = hash_one(ty, &format!("\"{value}\""));
            assert_eq!(quoted.is_ok(), fits, "{ty} {value}");
            if !value.starts_with("0x") {
                let plain = hash_one(ty, &value);
                assert_eq!(plain.is_ok(), fits, "{ty} {value}");
                assert_eq!(plain.ok(), quoted.clone().ok(), "{ty} {value}");
            }
            if let Err(error) = quoted {
                let expected = Reason::Range {
                    signed: ty.starts_with('i'),
                    bits: bits as u16,
                };
                assert_eq!(error.reason, expected, "{ty} {value}");
            }
        }
    }
}

#[test]
fn large_numbers_lose_nothing() {
    let digits = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let number = hash_one("uint256", digits).unwrap();
    let words = [lydite_hash::keccak256(b"A(uint256 m)"), [0xff; 32]];
    assert_eq!(number.0, lydite_hash::keccak256(words.as_flattened()));
    // 2^53 + 1 is not representable as a double.
    assert_ne!(
        hash_one("uint64", "9007199254740993").unwrap(),
        hash_one("uint64", "9007199254740992").unwrap()
    );
    assert_eq!(
        hash_one("uint64", "\"\\u0031\\u0032\"").unwrap(),
        hash_one("uint64", "12").unwrap()
    );
    for value in [
        "1e3",
        "1.0",
        "1E0",
        "+1",
        "01",
        "0x1",
        "NaN",
        "\"+1\"",
        "\" 1\"",
        "\"1_000\"",
        "\"0X1\"",
        "[1]",
        "{}",
        "null",
    ] {
        assert!(hash_one("uint256", value).is_err(), "{value}");
    }
}

#[test]
fn values_of_the_wrong_kind_or_length() {
    for (ty, value, expected) in [
        (
            "bytes4",
            "\"0x010203\"",
            "message.m: expected 4 bytes, found 3",
        ),
        (
            "bytes4",
            "\"0x0102030405\"",
            "message.m: expected 4 bytes, found 5",
        ),
        (
            "bytes4",
            "\"0x0102030\"",
            "message.m: not hexadecimal bytes: expected an even number of hexadecimal digits, found 7",
        ),
        (
            "bytes4",
            "\"0x0102030g\"",
            "message.m: not hexadecimal bytes: byte 9: expected a hexadecimal digit, found 0x67",
        ),
        (
            "bytes",
            "\"0x0\"",
            "message.m: not hexadecimal bytes: expected an even number of hexadecimal digits, found 1",
        ),
        ("bytes", "\"\"", "message.m: expected a 0x prefix"),
        ("bytes", "\"abcd\"", "message.m: expected a 0x prefix"),
        (
            "bool",
            "\"true\"",
            "message.m: expected bool (true or false), found string \"true\"",
        ),
        (
            "bool",
            "1",
            "message.m: expected bool (true or false), found integer `1`",
        ),
        (
            "bool[2]",
            "[true]",
            "message.m: expected 2 elements, found 1",
        ),
        (
            "bool[2]",
            "[true,true,true,true]",
            "message.m: expected 2 elements, found 3",
        ),
        (
            "bool[2][]",
            "[[true,true],[true]]",
            "message.m[1]: expected 2 elements, found 1",
        ),
        (
            "bool[]",
            "[true,1]",
            "message.m[1]: expected bool (true or false), found integer `1`",
        ),
        (
            "bool[]",
            "true",
            "message.m: expected an array, found boolean `true`",
        ),
        ("bool[]", "null", "message.m: expected an array, found null"),
        (
            "uint8[][]",
            "[[1,256]]",
            "message.m[0][1]: out of range for uint8",
        ),
        (
            "A[]",
            "[null, {\"m\":{}}]",
            "message.m[1].m: expected an array, found object",
        ),
    ] {
        let error = hash_one(ty, value).unwrap_err();
        let text = error.to_string();
        assert_eq!(
            text.split(" (near").next().unwrap(),
            expected,
            "{ty} {value}"
        );
        assert!(error.offset.unwrap() <= value.len() + 6, "{text}");
    }
}

#[test]
fn not_json() {
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{\"types\":{}",
        "{} x",
        "{\"types\":}",
        "\u{0}",
        "{\"types\":{},}",
        "{\"types\":{\"A\":[}}",
    ] {
        assert!(TypedData::from_json(text).is_err(), "{text}");
    }
    let document = mail_document().to_string();
    for end in 0..document.len() {
        assert!(
            TypedData::from_json(&document[..end]).is_err(),
            "cut at {end}"
        );
    }
    assert!(TypedData::from_json(&format!("{document} ")).is_ok());
    assert!(TypedData::from_json(&format!("{document},")).is_err());
    let twice = document.replacen("\"primaryType\"", "\"domain\":{},\"primaryType\"", 1);
    assert_eq!(
        TypedData::from_json(&twice).unwrap_err().reason,
        Reason::Duplicate
    );
    let twice = document.replacen("\"contents\":", "\"contents\":\"\",\"contents\":", 1);
    let error = TypedData::from_json(&twice).unwrap_err();
    assert_eq!(
        (error.path.as_str(), error.reason),
        ("message.contents", Reason::Duplicate)
    );
}

/// The offset refers to the whole document, also across line breaks.
#[test]
fn offsets_are_of_the_document() {
    let document = serde_json::to_string_pretty(&mail_document()).unwrap();
    let bad = document.replace("0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB", "0xbB");
    let error = TypedData::from_json(&bad).unwrap_err();
    let end = bad.find("0xbB").unwrap() + 5;
    assert_eq!(error.offset, Some(end), "{error}");
}

#[test]
fn recursion() {
    let types =
        json!({"Node": [{"name": "value", "type": "int8"}, {"name": "next", "type": "Node"}]})
            .to_string();
    let schema = TypedSchema::from_json(&types).unwrap();
    assert!(
        schema
            .hash_struct(
                "Node",
                r#"{"value": 1, "next": {"next": null, "value": "-1"}}"#
            )
            .is_ok()
    );
    assert!(
        schema.hash_struct("Node", r#"{"value": 1}"#).is_err(),
        "left out is not null"
    );

    let deep = |depth: usize| {
        format!(
            "{}null{}",
            "{\"value\":1,\"next\":".repeat(depth),
            "}".repeat(depth)
        )
    };
    assert!(schema.hash_struct("Node", &deep(120)).is_ok());
    let error = schema.hash_struct("Node", &deep(100_000)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected at most 127 levels of nesting"),
        "{error}"
    );

    let brackets =
        json!({"A": [{"name": "m", "type": format!("bool{}", "[]".repeat(50_000))}]}).to_string();
    let schema = TypedSchema::from_json(&brackets).unwrap();
    assert!(
        schema
            .hash_struct("A", &format!("{{\"m\":{}}}", "[".repeat(100_000)))
            .is_err()
    );
}

/// Types that each depend on all others, and nested structs with many members: work and memory are bounded.
#[test]
fn hostile_types() {
    let many = |count: usize| {
        let types: serde_json::Map<String, Value> = (0..count)
            .map(|i| {
                let next = format!("T{}", (i + 1) % count);
                (
                    format!("T{i}"),
                    json!([{"name": "m", "type": next}, {"name": "n", "type": "T0"}]),
                )
            })
            .collect();
        TypedSchema::from_json(&Value::Object(types).to_string())
    };
    assert!(
        many(256)
            .unwrap()
            .encode_type("T7")
            .unwrap()
            .starts_with("T7(T8 m,T0 n)T0(T1 m,T0 n)T1(")
    );
    let error = many(257).unwrap_err();
    assert_eq!(error.path, "types.T99");
    assert_eq!(
        error.reason.to_string(),
        "expected at most 256 struct types, including EIP712Domain"
    );
    assert!(error.offset.is_some());

    let members: Vec<Value> = (0..20_000)
        .map(|i| json!({"name": format!("m{i}"), "type": "A"}))
        .collect();
    let schema = TypedSchema::from_json(&json!({"A": members}).to_string()).unwrap();
    let nested = format!("{}null{}", "{\"m19999\":".repeat(100), "}".repeat(100));
    assert_eq!(
        schema.hash_struct("A", &nested).unwrap_err().reason,
        Reason::TooShort
    );
    let flat: Vec<String> = (0..20_000)
        .rev()
        .map(|i| format!("\"m{i}\":null"))
        .collect();
    assert!(
        schema
            .hash_struct("A", &format!("{{{}}}", flat.join(",")))
            .is_ok()
    );
}

/// The domain's type counts as a struct, whether it is declared or not.
#[test]
fn as_many_types_as_allowed_with_the_domain() {
    let document = |count: usize, declared: bool| {
        let mut types: Vec<String> = (0..count).map(|i| format!(r#""T{i}":[]"#)).collect();
        if declared {
            types.push(r#""EIP712Domain":[]"#.into());
        }
        let types = types.join(",");
        TypedData::from_json(&format!(
            r#"{{"types":{{{types}}},"primaryType":"T0","domain":{{}},"message":{{}}}}"#
        ))
    };
    let expected = document(1, false).unwrap().signing_hash();
    for declared in [false, true] {
        assert_eq!(document(255, declared).unwrap().signing_hash(), expected);
        for count in [256, 257] {
            let error = document(count, declared).unwrap_err();
            assert_eq!(error.reason, Reason::TooManyTypes, "{count}");
            assert!(error.path.starts_with("types."), "{count}: {error}");
        }
    }
    let error = document(256, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "types.EIP712Domain: expected at most 256 struct types, including EIP712Domain"
    );
}

/// A duplicate member after all members have been read.
#[test]
fn last_member_twice() {
    let schema = TypedSchema::from_json(r#"{"A": [{"name": "m", "type": "uint8"}]}"#).unwrap();
    let error = schema.hash_struct("A", r#"{"m": 1, "m": 1}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "message.m: duplicate name (near byte 13)"
    );
}

/// Types that the message does not need are not hashed with the document, but have the correct hash on request.
#[test]
fn types_that_are_not_needed() {
    let types = r#"{"A": [{"name": "b", "type": "B"}], "B": [{"name": "m", "type": "uint8"}], "C": [{"name": "b", "type": "B"}], "D": []}"#;
    let document = format!(
        r#"{{"types": {types}, "primaryType": "A", "domain": {{}}, "message": {{"b": {{"m": 1}}}}}}"#
    );
    let data = TypedData::from_json(&document).unwrap();
    let whole = TypedSchema::from_json(types).unwrap();
    for (name, message) in [
        ("A", r#"{"b": null}"#),
        ("B", r#"{"m": 2}"#),
        ("C", r#"{"b": {"m": 3}}"#),
        ("D", "{}"),
    ] {
        let schema = data.schema();
        assert_eq!(schema.type_hash(name), whole.type_hash(name), "{name}");
        assert_eq!(schema.encode_type(name), whole.encode_type(name), "{name}");
        let text = whole.encode_type(name).unwrap();
        assert_eq!(
            schema.type_hash(name).unwrap().0,
            lydite_hash::keccak256(text.as_bytes())
        );
        assert_eq!(
            schema.hash_struct(name, message),
            whole.hash_struct(name, message),
            "{name}"
        );
    }
}

/// Arrays of every kind, short and much longer than a hashing window, compared with hashes of their words.
#[test]
fn arrays_longer_than_a_window() {
    let keccak = |bytes: &[u8]| lydite_hash::keccak256(bytes);
    let number = |i: usize| {
        let mut word = [0; 32];
        word[24..].copy_from_slice(&(i as u64).to_be_bytes());
        word
    };
    let hash_words = |words: &[[u8; 32]]| keccak(words.as_flattened());
    type Item<'a> = (&'a str, &'a dyn Fn(usize) -> (String, [u8; 32]));
    let pair_type = keccak(b"P(string s,uint256 n)");
    let items: [Item<'_>; 8] = [
        ("uint256", &|i| (i.to_string(), number(i))),
        ("string", &|i| {
            (format!("\"{i}\""), keccak(i.to_string().as_bytes()))
        }),
        ("string", &|i| {
            let text = "a".repeat(i % 3 * 16_384 + i % 2);
            (format!("\"{text}\""), keccak(text.as_bytes()))
        }),
        ("bytes", &|i| {
            (format!("\"0x{i:08x}\""), keccak(&(i as u32).to_be_bytes()))
        }),
        ("uint256[]", &|i| {
            let words: Vec<[u8; 32]> = (0..i % 5).map(number).collect();
            let text: Vec<String> = (0..i % 5).map(|i| i.to_string()).collect();
            (format!("[{}]", text.join(",")), hash_words(&words))
        }),
        ("uint256[]", &|i| {
            // Every seventh element is longer than a window.
            let length = if i % 7 == 3 { 700 } else { i % 2 };
            let words: Vec<[u8; 32]> = (0..length).map(number).collect();
            let text: Vec<String> = (0..length).map(|i| i.to_string()).collect();
            (format!("[{}]", text.join(",")), hash_words(&words))
        }),
        ("P", &|i| {
            let words = [pair_type, keccak(i.to_string().as_bytes()), number(i)];
            (format!(r#"{{"s": "{i}", "n": {i}}}"#), hash_words(&words))
        }),
        ("P", &|i| {
            if i.is_multiple_of(3) {
                return ("null".into(), [0; 32]);
            }
            let text = "b".repeat(i % 4 * 9_000);
            let words = [pair_type, keccak(text.as_bytes()), number(i)];
            (
                format!(r#"{{"n": {i}, "s": "{text}"}}"#),
                hash_words(&words),
            )
        }),
    ];
    for (case, (ty, item)) in items.into_iter().enumerate() {
        for count in [0, 1, 2, 100, 255, 511, 512, 513, 600, 1030] {
            let (text, words): (Vec<String>, Vec<[u8; 32]>) = (0..count).map(item).unzip();
            let list = format!("[{}]", text.join(","));
            // Before, between and after other members; twice, so that windows are left open around windows.
            let message = format!(
                r#"{{"first": "x", "m": {list}, "n": [{{"m": {list}}}, {{"m": []}}], "last": {{"s": "y", "n": 7}}}}"#
            );
            let types = format!(
                r#"{{"P": [{{"name": "s", "type": "string"}}, {{"name": "n", "type": "uint256"}}],
                    "I": [{{"name": "m", "type": "{ty}[]"}}],
                    "A": [{{"name": "first", "type": "string"}}, {{"name": "m", "type": "{ty}[]"}},
                          {{"name": "n", "type": "I[]"}}, {{"name": "last", "type": "P"}}]}}"#
            );
            let schema = TypedSchema::from_json(&types).unwrap();
            let inner = |words: &[[u8; 32]]| {
                hash_words(&[schema.type_hash("I").unwrap().0, hash_words(words)])
            };
            let expected = hash_words(&[
                schema.type_hash("A").unwrap().0,
                keccak(b"x"),
                hash_words(&words),
                hash_words(&[inner(&words), inner(&[])]),
                hash_words(&[pair_type, keccak(b"y"), number(7)]),
            ]);
            let prepared = schema.hash_struct("A", &message).unwrap();
            assert_eq!(prepared.0, expected, "{case}: {ty} {count}");
            let document = format!(
                r#"{{"types": {types}, "primaryType": "A", "domain": {{"name": "d"}}, "message": {message}}}"#
            );
            let data = TypedData::from_json(&document).unwrap();
            assert_eq!(data.hash_struct().0, expected, "{case}: {ty} {count}");
        }
    }
}

#[test]
fn missing_schema_names() {
    let schema = TypedSchema::from_json("{}").unwrap();
    assert_eq!(schema.encode_type("A"), None);
    assert_eq!(schema.type_hash("A"), None);
    let error = schema.hash_struct("A", "{}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "primaryType: unknown type `A`; expected an EIP-712 type or a struct of the document"
    );
}

/// Converts a type string to a type's members in JSON.
fn types_of(encode_type: &str) -> Value {
    let structs = encode_type.split_terminator(')').map(|own| {
        let (name, members) = own.split_once('(').unwrap();
        let member = |text: &str| {
            let (ty, name) = text.split_once(' ').unwrap();
            json!({"name": name, "type": ty})
        };
        (
            String::from(name),
            members.split_terminator(',').map(member).collect(),
        )
    });
    Value::Object(structs.collect())
}

fn person_json(person: &Person) -> Value {
    json!({"name": person.name, "wallet": person.wallet.to_string()})
}

fn mail_json(mail: &Mail) -> Value {
    json!({"to": person_json(&mail.to), "contents": mail.contents, "from": person_json(&mail.from)})
}

fn zoo_json(zoo: &Zoo) -> Value {
    json!({
        "yes": zoo.yes,
        "uSmall": zoo.small,
        "wide": zoo.wide.to_string(),
        "odd": format!("{:#x}", zoo.odd.get()),
        "whole": zoo.whole.to_string(),
        "negative": zoo.negative,
        "oddNegative": zoo.odd_negative.get().to_string(),
        "$wholeNegative": zoo.whole_negative.to_string(),
        "four": hex::encode_prefixed(zoo.four.0),
        "data": hex::encode_prefixed(&zoo.data.0),
        "words": zoo.words,
        "blobs": zoo.blobs.iter().map(|blob| hex::encode_prefixed(&blob.0)).collect::<Vec<_>>(),
        "matrix": zoo.matrix,
        "people": zoo.people.iter().map(person_json).collect::<Vec<_>>(),
        "letter": mail_json(&zoo.letter),
        "absent": zoo.absent.as_ref().map(person_json),
    })
}

prop_compose! {
    fn any_person()(name in any::<String>(), wallet in any::<[u8; 20]>()) -> Person {
        Person { name, wallet: Address(wallet) }
    }
}

prop_compose! {
    fn any_mail()(from in any_person(), to in any_person(), contents in any::<String>()) -> Mail {
        Mail { from, to, contents }
    }
}

prop_compose! {
    fn any_zoo()(
        (yes, small, wide, negative, four) in any::<(bool, u8, u128, i64, [u8; 4])>(),
        odd in any::<[u8; 12]>(),
        whole in any::<[u8; 32]>(),
        odd_negative in -0x80_0000i64..0x80_0000,
        whole_negative in any::<[u8; 32]>(),
        data in any::<Vec<u8>>(),
        words in any::<Vec<String>>(),
        blobs in any::<[Vec<u8>; 2]>(),
        matrix in any::<Vec<[u16; 3]>>(),
        people in prop::collection::vec(any_person(), 0..40),
        letter in any_mail(),
        absent in prop::option::of(any_person()),
    ) -> Zoo {
        Zoo {
            yes, small, wide, negative, words, matrix, people,
            odd: Uint::new(U256::from_be_slice(&odd).unwrap()).unwrap(),
            whole: U256::from_be_bytes(whole),
            odd_negative: Int::new(I256::from(odd_negative)).unwrap(),
            whole_negative: I256(U256::from_be_bytes(whole_negative)),
            four: FixedBytes(four),
            data: Bytes(data),
            blobs: blobs.map(Bytes),
            letter, absent,
        }
    }
}

/// The document of the specification, a domain with all fields, and the longest number that is not text.
#[test]
fn written_documents() {
    let (domain, mail) = ether_mail();
    let written: Value = serde_json::from_str(&domain.to_json(&mail)).unwrap();
    assert_eq!(written, mail_document());

    crate::typed_struct! {
        struct Numbers {
            exact: u64,
            text: u64,
            negative: i64,
        }
    }
    let numbers = Numbers {
        exact: 999_999_999_999_999,
        text: 1_000_000_000_000_000,
        negative: -999_999_999_999_999,
    };
    let domain = Domain {
        name: Some("\"\\\n\u{1}ž"),
        salt: Some(B256::from([7; 32])),
        ..domain
    };
    let json = domain.to_json(&numbers);
    let data = TypedData::from_json(&json).unwrap();
    assert_eq!(data.signing_hash(), domain.signing_hash(&numbers));
    let message = r#""message":{"exact":999999999999999,"text":"1000000000000000","negative":-999999999999999}}"#;
    assert!(json.ends_with(message), "{json}");
}

/// Reads any value.
fn walk(reader: &mut super::json::Reader<'_>) -> super::json::Result<()> {
    let mut first = true;
    match reader.peek() {
        Some(b'"') => reader.string().map(drop),
        Some(b'{') => {
            reader.open()?;
            while reader.key(first)?.is_some() {
                walk(reader)?;
                first = false;
            }
            Ok(())
        }
        Some(b'[') => {
            reader.open()?;
            while reader.more(b']', first)? {
                walk(reader)?;
                first = false;
            }
            Ok(())
        }
        Some(b'-' | b'0'..=b'9') => reader.number().map(drop),
        Some(b't' | b'f') => reader.boolean().map(drop),
        _ => reader.null(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn json_equals_rust_types(zoo in any_zoo(), chain in any::<u64>()) {
        let domain = Domain { name: Some("Zoo"), chain_id: Some(U256::from(chain)), ..Domain::default() };
        let document = json!({
            "types": types_of(Zoo::encode_type()),
            "primaryType": "Zoo",
            "domain": {"chainId": chain, "name": "Zoo"},
            "message": zoo_json(&zoo),
        });
        let data = TypedData::from_json(&document.to_string()).unwrap();
        prop_assert_eq!(data.encode_type(), Zoo::encode_type());
        prop_assert_eq!(data.domain_separator(), domain.separator());
        prop_assert_eq!(data.hash_struct(), zoo.hash_struct());
        prop_assert_eq!(data.signing_hash(), domain.signing_hash(&zoo));
        let written = TypedData::from_json(&domain.to_json(&zoo)).unwrap();
        prop_assert_eq!(written.signing_hash(), data.signing_hash());
        let again = data.schema().signing_hash(&domain.separator(), "Zoo", &zoo_json(&zoo).to_string()).unwrap();
        prop_assert_eq!(again, data.signing_hash());
    }

    /// The reader accepts what serde_json accepts, except for numbers that do not fit in a machine number.
    #[test]
    fn reader_equals_serde_json(
        text in "[\\[\\]{}\",:0-9.eE+\\-truefalsnx\\\\ub \t\n\u{1}ž]{0,16}",
        number in "-?[0-9]{0,3}\\.?[0-9]{0,3}[eE]?[+-]?[0-9]?",
        escape in "\\\\[\"\\\\/bfnrtux]([dD][89a-fA-F][0-9a-f]{2}|[0-9a-fA-F]{0,4})(\\\\u[dD][c-f][0-9]{2})?",
        at in any::<prop::sample::Index>(),
    ) {
        let mut document = mail_document().to_string();
        document.insert_str(at.index(document.len()), &text);
        for text in [text, number, format!("\"{escape}\""), document] {
            let known = serde_json::from_str::<Value>(&text);
            if known.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
                continue;
            }
            let mut reader = super::json::Reader::new(&text);
            let read = walk(&mut reader).and_then(|()| reader.end());
            prop_assert_eq!(read.is_ok(), known.is_ok(), "{:?} {:?}", text, read);
            let mut passing = super::json::Reader::new(&text);
            let passed = passing.skip();
            if read.is_ok() {
                let mut inside = passed.unwrap();
                prop_assert!(walk(&mut inside).is_ok() && inside.left() == 0);
                prop_assert!(passing.end().is_ok());
            }
        }
    }

    /// Changing any byte gives an error or a valid document, but never a panic.
    #[test]
    fn damaged_documents(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = mail_document().to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(text) = core::str::from_utf8(&bytes) {
            let _ = TypedData::from_json(text).map_err(|error| error.to_string());
        }
    }
}
