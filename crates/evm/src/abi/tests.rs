#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use lydite_bytes::{Address, B256, Bytes, FixedBytes, I256, U256, hex};
use proptest::prelude::*;

use super::*;

fn vectors(path: &str) -> serde_json::Value {
    let path = format!("{}/vectors/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(text: &serde_json::Value) -> Vec<u8> {
    hex::decode(text.as_str().unwrap()).unwrap()
}

/// Reads the values as views into the data, in order and by index, and from a copy.
fn views(codec: &Codec, data: &[u8]) -> Result<Vec<Value>, Error> {
    fn each(values: Values<'_>) {
        assert_eq!(values.iter().len(), values.len());
        assert_eq!(values.get(values.len()), None);
        for (i, value) in values.into_iter().enumerate() {
            assert_eq!(values.get(i), Some(value));
            if let ValueRef::Array(list) | ValueRef::FixedArray(list) | ValueRef::Tuple(list) =
                value
            {
                each(list);
            }
        }
    }
    let values = codec.view(data)?;
    each(values);
    let flat = codec.decode_flat(data)?;
    assert_eq!(flat.values(), values);
    assert_eq!(flat.into_data(), data);
    Ok(values.iter().map(Value::from).collect())
}

/// Checks a value with every method of the runtime codec against the expected encoding.
fn check(ty: &Type, value: &Value, encoded: &[u8]) {
    let codec = Codec::new(ty).unwrap();
    let arguments = match value {
        Value::Tuple(arguments) => arguments.clone(),
        other => vec![other.clone()],
    };
    assert_eq!(codec.encode(&arguments).unwrap(), encoded, "{ty}");
    // A dirty buffer that is too long, one of the exact length, and one that is a byte too short.
    let mut buffer = vec![0xa5; encoded.len() + 7];
    assert_eq!(
        codec.encode_into(&arguments, &mut buffer),
        Ok(encoded.len())
    );
    assert_eq!(&buffer[..encoded.len()], encoded);
    assert_eq!(&buffer[encoded.len()..], [0xa5; 7]);
    if let Some(short) = encoded.len().checked_sub(1) {
        let error = Error::new(ErrorKind::Buffer, encoded.len());
        assert_eq!(
            codec.encode_into(&arguments, &mut buffer[..short]),
            Err(error)
        );
    }
    for mode in [Mode::Canonical, Mode::Strict, Mode::Lenient] {
        assert_eq!(codec.decode_with(encoded, mode).unwrap(), arguments, "{ty}");
    }
    assert_eq!(views(&codec, encoded).unwrap(), arguments, "{ty}");
    let longer = [encoded, &[0]].concat();
    assert_eq!(codec.decode(&longer).unwrap(), arguments);
    let error = codec.decode_with(&longer, Mode::Canonical).unwrap_err();
    assert_eq!(error, Error::new(ErrorKind::NotCanonical, encoded.len()));
    for end in 0..encoded.len() {
        assert!(codec.decode(&encoded[..end]).is_err(), "{ty} cut at {end}");
    }
    assert_eq!(Value::parse(ty, &value.to_string()).as_ref(), Ok(value));
}

#[test]
fn eth_abi_vectors() {
    for vector in vectors("abi/encode.json").as_array().unwrap() {
        let ty = Type::parse(vector["type"].as_str().unwrap()).unwrap();
        assert_eq!(ty.to_string(), vector["type"].as_str().unwrap());
        let value = Value::parse(&ty, &vector["value"].to_string()).unwrap();
        check(&ty, &value, &bytes(&vector["encoded"]));
    }
}

#[test]
fn eth_abi_packed_vectors() {
    for vector in vectors("abi/packed.json").as_array().unwrap() {
        let ty = Type::parse(vector["type"].as_str().unwrap()).unwrap();
        let Value::Tuple(values) = Value::parse(&ty, &vector["value"].to_string()).unwrap() else {
            panic!("not a tuple")
        };
        assert_eq!(
            encode_packed(&values).unwrap(),
            bytes(&vector["encoded"]),
            "{ty}"
        );
    }
}

#[test]
fn packed_pads_elements_and_refuses_what_solidity_refuses() {
    let nested = Value::Array(vec![Value::Array(vec![])]);
    for value in [
        nested,
        Value::Tuple(vec![]),
        Value::Array(vec![Value::Bytes(vec![])]),
    ] {
        let error = encode_packed(&[Value::Bool(true), value]).unwrap_err();
        assert_eq!(error, Error::new(ErrorKind::Mismatch, 1));
    }
    let array = Value::Array(vec![Value::Uint(U256::ONE, 8), Value::Bool(true)]);
    assert_eq!(encode_packed(&[array]).unwrap(), words(&[1, 1]));
    let dirty = Value::FixedBytes([0xff; 32], 4);
    for value in [
        Value::Uint(U256::from(256u64), 8),
        Value::Array(vec![dirty.clone()]),
        dirty,
    ] {
        let error = encode_packed(&[value]).unwrap_err();
        assert_eq!(error, Error::new(ErrorKind::Range, 0));
    }
    let whole = Value::FixedBytes([0xff; 32], 32);
    assert_eq!(encode_packed(&[whole]).unwrap(), [0xff; 32]);
}

#[test]
fn errors_say_where_and_what() {
    let error = decode::<bool>(&[2; 32]).unwrap_err();
    assert_eq!(error.kind.to_string(), "expected a boolean (0 or 1)");
    assert_eq!(error.to_string(), "byte 0: expected a boolean (0 or 1)");
    let error = encode_into(&U256::ONE, &mut [0; 31]).unwrap_err();
    assert_eq!(error.kind.to_string(), "buffer is too small");
    assert_eq!(
        error.to_string(),
        "buffer is too small: expected at least 32 bytes"
    );
}

#[test]
fn reports_vectors() {
    let all = vectors("eth-ops/vectors.json");
    let all = all.get("ops").unwrap_or(&all);
    let find = |name: &str| all.get(name).unwrap_or_else(|| panic!("{name}"));
    let address: Address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
        .parse()
        .unwrap();
    let amount = U256::from(1_000_000_000_000_000_000u64);

    let expected = bytes(&find("abi_encode_static")["expected"]);
    assert_eq!(encode(&(address, amount)), expected);
    let expected = bytes(&find("abi_encode_transfer")["expected"]);
    assert_eq!(
        encode_call([0xa9, 0x05, 0x9c, 0xbb], &(address, amount)),
        expected
    );
    let mut buffer = [0xa5; 70];
    let written = encode_call_into([0xa9, 0x05, 0x9c, 0xbb], &(address, amount), &mut buffer);
    assert_eq!((written, &buffer[..68]), (Ok(68), &expected[..]));
    let written = encode_call_into(
        [0xa9, 0x05, 0x9c, 0xbb],
        &(address, amount),
        &mut buffer[..67],
    );
    assert_eq!(written, Err(Error::new(ErrorKind::Buffer, 68)));

    let op = find("abi_encode_dynamic");
    let text = op["input"]["values"][0].as_str().unwrap();
    let data = bytes(&op["input"]["values"][1]);
    let list: Vec<U256> = (1..=5u64).map(U256::from).collect();
    let expected = bytes(&op["expected"]);
    let value = (text, &data[..], list);
    assert_eq!(encode(&value), expected);
    assert_eq!(encoded_size(&value), expected.len());
    let mut buffer = vec![0xa5; expected.len()];
    assert_eq!(encode_into(&value, &mut buffer), Ok(expected.len()));
    assert_eq!(buffer, expected);
    for short in 0..expected.len() {
        let error = Error::new(ErrorKind::Buffer, expected.len());
        assert_eq!(encode_into(&value, &mut buffer[..short]), Err(error));
    }

    let op = find("abi_decode_uint256");
    assert_eq!(decode(&bytes(&op["input"]["data"])), Ok(amount));
    let op = find("abi_decode_dynamic");
    let encoded = bytes(&op["input"]["data"]);
    let owned: (String, Bytes) = decode(&encoded).unwrap();
    let borrowed: (&str, &[u8]) = decode_with(&encoded, Mode::Canonical).unwrap();
    assert_eq!((owned.0.as_str(), &owned.1[..]), borrowed);
    assert_eq!(
        borrowed,
        (
            op["expected"][0].as_str().unwrap(),
            &bytes(&op["expected"][1])[..]
        )
    );
}

/// Solidity ABI specification, "Examples" and "Use of Dynamic Types".
#[test]
fn specification_examples() {
    fn call<T: AbiEncode>(signature: &str, arguments: &T, expected: &str) {
        let words: String = expected.split_whitespace().collect();
        let found = encode_call(selector(signature).unwrap(), arguments);
        assert_eq!(hex::encode(&found), words, "{signature}");
        // The same, parsed from text.
        let signature = Signature::parse(signature).unwrap();
        let ty = Type::Tuple(signature.inputs.into_iter().map(|p| p.ty).collect());
        let values = Codec::new(&ty).unwrap().decode(&found[4..]).unwrap();
        check(&ty, &Value::Tuple(values), &found[4..]);
        assert_eq!(T::NAME.as_str(), ty.to_string());
    }
    let number = |n: u64| U256::from(n);
    call(
        "baz(uint32,bool)",
        &(69u32, true),
        "cdcd77c0
        0000000000000000000000000000000000000000000000000000000000000045
        0000000000000000000000000000000000000000000000000000000000000001",
    );
    call(
        "bar(bytes3[2])",
        &([FixedBytes(*b"abc"), FixedBytes(*b"def")],),
        "fce353f6
        6162630000000000000000000000000000000000000000000000000000000000
        6465660000000000000000000000000000000000000000000000000000000000",
    );
    call(
        "sam(bytes,bool,uint256[])",
        &(&b"dave"[..], true, vec![number(1), number(2), number(3)]),
        "a5643bf2
        0000000000000000000000000000000000000000000000000000000000000060
        0000000000000000000000000000000000000000000000000000000000000001
        00000000000000000000000000000000000000000000000000000000000000a0
        0000000000000000000000000000000000000000000000000000000000000004
        6461766500000000000000000000000000000000000000000000000000000000
        0000000000000000000000000000000000000000000000000000000000000003
        0000000000000000000000000000000000000000000000000000000000000001
        0000000000000000000000000000000000000000000000000000000000000002
        0000000000000000000000000000000000000000000000000000000000000003",
    );
    call(
        "f(uint256,uint32[],bytes10,bytes)",
        &(
            number(0x123),
            vec![0x456u32, 0x789],
            FixedBytes(*b"1234567890"),
            &b"Hello, world!"[..],
        ),
        "8be65246
        0000000000000000000000000000000000000000000000000000000000000123
        0000000000000000000000000000000000000000000000000000000000000080
        3132333435363738393000000000000000000000000000000000000000000000
        00000000000000000000000000000000000000000000000000000000000000e0
        0000000000000000000000000000000000000000000000000000000000000002
        0000000000000000000000000000000000000000000000000000000000000456
        0000000000000000000000000000000000000000000000000000000000000789
        000000000000000000000000000000000000000000000000000000000000000d
        48656c6c6f2c20776f726c642100000000000000000000000000000000000000",
    );
    call(
        "g(uint256[][],string[])",
        &(
            vec![vec![number(1), number(2)], vec![number(3)]],
            vec!["one", "two", "three"],
        ),
        "2289b18c
        0000000000000000000000000000000000000000000000000000000000000040
        0000000000000000000000000000000000000000000000000000000000000140
        0000000000000000000000000000000000000000000000000000000000000002
        0000000000000000000000000000000000000000000000000000000000000040
        00000000000000000000000000000000000000000000000000000000000000a0
        0000000000000000000000000000000000000000000000000000000000000002
        0000000000000000000000000000000000000000000000000000000000000001
        0000000000000000000000000000000000000000000000000000000000000002
        0000000000000000000000000000000000000000000000000000000000000001
        0000000000000000000000000000000000000000000000000000000000000003
        0000000000000000000000000000000000000000000000000000000000000003
        0000000000000000000000000000000000000000000000000000000000000060
        00000000000000000000000000000000000000000000000000000000000000a0
        00000000000000000000000000000000000000000000000000000000000000e0
        0000000000000000000000000000000000000000000000000000000000000003
        6f6e650000000000000000000000000000000000000000000000000000000000
        0000000000000000000000000000000000000000000000000000000000000003
        74776f0000000000000000000000000000000000000000000000000000000000
        0000000000000000000000000000000000000000000000000000000000000005
        7468726565000000000000000000000000000000000000000000000000000000",
    );
}

#[test]
fn types_are_read_and_written() {
    for (text, canonical) in [
        ("uint", "uint256"),
        (" int [ ] ", "int256[]"),
        ("address payable", "address"),
        (
            "tuple(uint a, tuple(bytes b)[2] c)[]",
            "(uint256,(bytes)[2])[]",
        ),
        ("()", "()"),
        ("function", "function"),
        (
            "bytes32[0][18446744073709551615]",
            "bytes32[0][18446744073709551615]",
        ),
    ] {
        assert_eq!(Type::parse(text).unwrap().to_string(), canonical);
    }
    for (text, offset) in [
        ("", 0),
        ("uint7", 0),
        ("uint0", 0),
        ("uint264", 0),
        ("uint08", 0),
        ("bytes0", 0),
        ("bytes33", 0),
        ("Uint", 0),
        ("tuple", 0),
        ("uint[", 5),
        ("uint[01]", 7),
        ("uint[-1]", 5),
        ("uint[18446744073709551616]", 25),
        ("(uint,)", 6),
        ("(uint", 5),
        ("uint)", 4),
        ("uint é", 5),
        ("string payable", 7),
    ] {
        assert_eq!(
            Type::parse(text),
            Err(Error::new(ErrorKind::Syntax, offset)),
            "{text}"
        );
    }
}

#[test]
fn nesting_has_a_limit() {
    for (open, close) in [("(", ")"), ("(uint,", ")"), ("", "[]"), ("", "[1]")] {
        let text = |n: usize| format!("{}uint8{}", open.repeat(n), close.repeat(n));
        let deepest = Type::parse(&text(MAX_DEPTH)).unwrap();
        let codec = Codec::new(&deepest).unwrap();
        assert!(codec.decode(&[0; 32 * 65]).is_ok() || deepest.is_dynamic());
        for n in [MAX_DEPTH + 1, 100_000] {
            assert_eq!(Type::parse(&text(n)).unwrap_err().kind, ErrorKind::TooDeep);
        }
        assert!(Type::parse(&open.repeat(100_000)).is_err());
    }
    let error = Value::parse(&Type::Bool, &"[".repeat(100_000)).unwrap_err();
    assert_eq!(error, Error::new(ErrorKind::Mismatch, 0));
}

#[test]
fn signatures() {
    let transfer = "event Transfer(address indexed from, address indexed to, uint256 amount)";
    let parsed = Signature::parse(transfer).unwrap();
    let indexed: Vec<bool> = parsed.inputs.iter().map(|p| p.indexed).collect();
    assert_eq!(
        (parsed.name.as_str(), indexed),
        ("Transfer", vec![true, true, false])
    );
    let topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    assert_eq!(event_topic(transfer).unwrap().to_string(), topic);
    assert_eq!(
        event_topic_const("Transfer(address,address,uint256)").to_string(),
        topic
    );
    // Solidity's built-in errors.
    assert_eq!(
        selector("error Error(string message);").unwrap(),
        [0x08, 0xc3, 0x79, 0xa0]
    );
    assert_eq!(selector_const("Panic(uint256)"), [0x4e, 0x48, 0x7b, 0x71]);
    let text = "function f(tuple(uint a, bytes memory b)[] calldata c, function () g) public payable returns (int, bool ok)";
    assert_eq!(Signature::parse(text).unwrap_err().kind, ErrorKind::Syntax);
    let text = "function f(tuple(uint a, bytes memory b)[] calldata c) public payable returns (int, bool ok)";
    let parsed = Signature::parse(text).unwrap();
    assert_eq!(parsed.to_string(), "f((uint256,bytes)[])");
    assert_eq!(
        (parsed.outputs.len(), parsed.outputs[1].name.as_str()),
        (2, "ok")
    );
    assert_eq!(
        Signature::parse("function(uint)").unwrap().to_string(),
        "function(uint256)"
    );
    for text in [
        "",
        "()",
        "f",
        "f(",
        "f()x(",
        "1f()",
        "event f(uint indexed a b)",
    ] {
        assert_eq!(
            Signature::parse(text).unwrap_err().kind,
            ErrorKind::Syntax,
            "{text}"
        );
    }
}

#[test]
fn values_from_text() {
    let parse = |ty: &str, text: &str| Value::parse(&Type::parse(ty).unwrap(), text);
    assert_eq!(parse("int8", "-128").unwrap().to_string(), "-128");
    assert_eq!(parse("uint8", "0xff").unwrap().to_string(), "255");
    assert_eq!(parse("string", "a, [b").unwrap().to_string(), r#""a, [b""#);
    assert_eq!(
        parse("string[]", r#"[a b,"c"]"#).unwrap().to_string(),
        r#"["a b","c"]"#
    );
    assert_eq!(
        parse("string", r#""\u00e9\ud83d\ude00""#)
            .unwrap()
            .to_string(),
        "\"\u{e9}\u{1f600}\""
    );
    assert_eq!(parse("bytes3", "0x010203").unwrap().to_string(), "0x010203");
    for (ty, text, kind, offset) in [
        ("uint8", "256", ErrorKind::Range, 0),
        ("int8", "128", ErrorKind::Range, 0),
        ("uint8", "-1", ErrorKind::Mismatch, 0),
        ("uint8", "", ErrorKind::Mismatch, 0),
        ("bool", "1", ErrorKind::Mismatch, 0),
        ("bytes3", "0x0102", ErrorKind::Range, 0),
        ("bytes", "0x012", ErrorKind::Mismatch, 0),
        ("uint8[]", "[1, 300]", ErrorKind::Range, 4),
        ("uint8[2]", "[1]", ErrorKind::Mismatch, 3),
        ("uint8[1]", "[1,2]", ErrorKind::Mismatch, 3),
        ("uint8[]", "[1,2", ErrorKind::Mismatch, 4),
        ("uint8[]", "(1)", ErrorKind::Mismatch, 0),
        ("(uint8,bool)", "(1)", ErrorKind::Mismatch, 3),
        ("(uint8)", "(1]", ErrorKind::Mismatch, 2),
        ("uint8", "1,", ErrorKind::Mismatch, 1),
        ("uint8", r#""7"#, ErrorKind::Mismatch, 1),
        ("bytes[]", r#"[0x, "0x01]"#, ErrorKind::Mismatch, 6),
        ("string", r#""a"#, ErrorKind::Mismatch, 1),
        ("string", r#""\x""#, ErrorKind::Mismatch, 3),
        ("string", r#""\ud800""#, ErrorKind::Mismatch, 7),
        ("string", r#""\u00é""#, ErrorKind::Mismatch, 3),
    ] {
        assert_eq!(
            parse(ty, text),
            Err(Error::new(kind, offset)),
            "{ty} {text}"
        );
    }
}

#[test]
fn codec_refuses_unsound_types_and_wrong_values() {
    for (ty, kind) in [
        ("()[]", ErrorKind::Size),
        ("uint256[0][]", ErrorKind::Size),
        ("uint8[0][1000000000]", ErrorKind::Size),
        ("(()[3])[][1]", ErrorKind::Size),
        ("uint8[4294967296][4294967296]", ErrorKind::Size),
        (
            "(uint8[288230376151711744],uint8[288230376151711744])",
            ErrorKind::Size,
        ),
    ] {
        assert_eq!(Codec::parse(ty).unwrap_err(), Error::new(kind, 0), "{ty}");
    }
    for ty in [
        Type::Uint(7),
        Type::Int(264),
        Type::FixedBytes(0),
        Type::FixedBytes(33),
    ] {
        assert_eq!(
            Codec::new(&ty).unwrap_err(),
            Error::new(ErrorKind::Syntax, 0)
        );
    }
    let codec = Codec::parse("(uint8,uint8[2],(int8,bytes2),string[])").unwrap();
    let int = |bits: u64| Value::Int(U256::from_limbs([bits, u64::MAX, u64::MAX, u64::MAX]), 8);
    let good = [
        Value::Uint(U256::from(255u64), 8),
        Value::FixedArray(vec![Value::Uint(U256::ONE, 8); 2]),
        Value::Tuple(vec![int(-128i64 as u64), Value::FixedBytes([0; 32], 2)]),
        Value::Array(vec![]),
    ];
    assert!(codec.encode(&good).is_ok());
    let mut dirty = [0; 32];
    dirty[2] = 1;
    for (i, bad, kind) in [
        (0, Value::Uint(U256::from(256u64), 8), ErrorKind::Range),
        (0, Value::Int(U256::ONE, 8), ErrorKind::Mismatch),
        (
            1,
            Value::FixedArray(vec![Value::Uint(U256::ONE, 8)]),
            ErrorKind::Mismatch,
        ),
        (
            2,
            Value::Tuple(vec![int(-129i64 as u64), Value::FixedBytes([0; 32], 2)]),
            ErrorKind::Range,
        ),
        (
            2,
            Value::Tuple(vec![int(u64::MAX), Value::FixedBytes(dirty, 2)]),
            ErrorKind::Range,
        ),
        (2, Value::Tuple(vec![int(u64::MAX)]), ErrorKind::Mismatch),
        (
            3,
            Value::Array(vec![Value::Bytes(vec![])]),
            ErrorKind::Mismatch,
        ),
    ] {
        let mut values = good.clone();
        values[i] = bad;
        assert_eq!(codec.encode(&values), Err(Error::new(kind, i)));
    }
    assert_eq!(
        codec.encode(&good[..3]),
        Err(Error::new(ErrorKind::Mismatch, 3))
    );
    assert_eq!(codec.encode(&[]), Err(Error::new(ErrorKind::Mismatch, 0)));
}

/// No memory is reserved for words that have no values.
#[cfg(target_pointer_width = "64")]
#[test]
fn types_as_large_as_memory() {
    let none = Value::FixedArray(vec![]);
    for (ty, value) in [
        ("uint256[1000000000000000]", none.clone()),
        ("uint256[1000000000000000][]", Value::Array(vec![none])),
    ] {
        let error = Codec::parse(ty).unwrap().encode(&[value]).unwrap_err();
        assert_eq!(error, Error::new(ErrorKind::Mismatch, 0), "{ty}");
    }
}

/// Converts words to data: numbers, or `u64::MAX` for 2^256 - 1.
fn words(list: &[u64]) -> Vec<u8> {
    let word = |n: &u64| {
        if *n == u64::MAX {
            [0xff; 32]
        } else {
            word::from_u64(*n)
        }
    };
    list.iter().flat_map(word).collect()
}

/// Runs both decoders on the same data; they must agree.
fn fails<'a, T: AbiDecode<'a> + core::fmt::Debug>(data: &'a [u8], kind: ErrorKind, offset: usize) {
    let expected = Error::new(kind, offset);
    assert_eq!(
        decode::<T>(data).unwrap_err(),
        expected,
        "{}",
        T::NAME.as_str()
    );
    let codec = Codec::parse(T::NAME.as_str()).unwrap();
    assert_eq!(
        codec.decode(data).unwrap_err(),
        expected,
        "{} by text",
        T::NAME.as_str()
    );
}

#[test]
fn hostile_words() {
    fails::<u8>(&words(&[256]), ErrorKind::Range, 0);
    fails::<(u8, u8)>(&words(&[255, u64::MAX]), ErrorKind::Range, 32);
    fails::<i8>(&words(&[128]), ErrorKind::Range, 0);
    fails::<u128>(&words(&[u64::MAX]), ErrorKind::Range, 0);
    fails::<Uint<24>>(&words(&[1 << 24]), ErrorKind::Range, 0);
    fails::<Int<24>>(&words(&[1 << 23]), ErrorKind::Range, 0);
    fails::<bool>(&words(&[2]), ErrorKind::Bool, 0);
    fails::<Address>(&words(&[u64::MAX]), ErrorKind::Padding, 0);
    fails::<FixedBytes<31>>(&words(&[1]), ErrorKind::Padding, 0);
    fails::<Function>(&words(&[1]), ErrorKind::Padding, 0);
    fails::<[bool; 3]>(&words(&[1, 0, 2]), ErrorKind::Bool, 64);
    fails::<U256>(&[0; 31], ErrorKind::Truncated, 31);

    let lenient = Mode::Lenient;
    let ones = words(&[u64::MAX]);
    assert_eq!(decode_with(&ones, lenient), Ok(255u8));
    assert_eq!(decode_with(&words(&[0x1_80]), lenient), Ok(-128i8));
    assert_eq!(decode_with(&ones, lenient), Ok(true));
    assert_eq!(decode_with(&ones, lenient), Ok(Address([0xff; 20])));
    assert_eq!(decode_with(&ones, lenient), Ok(FixedBytes([0xff; 3])));
    assert_eq!(decode_with(&ones, lenient), Ok(Function([0xff; 24])));
    assert_eq!(
        decode_with(&ones, lenient),
        Ok(Uint::<24>::new(U256::from(0xff_ffffu64)).unwrap())
    );
    let least = Int::<24>::new(I256::from(-(1i64 << 23))).unwrap();
    assert_eq!(decode_with(&words(&[1 << 23]), lenient), Ok(least));
    for ty in [
        "uint8", "int8", "bool", "address", "bytes3", "function", "uint24",
    ] {
        let codec = Codec::parse(ty).unwrap();
        let value = codec.decode_with(&ones, lenient).unwrap();
        assert!(codec.decode(&codec.encode(&value).unwrap()).is_ok(), "{ty}");
    }
}

#[test]
fn hostile_offsets_and_lengths() {
    let max = u64::MAX;
    fails::<String>(&words(&[max]), ErrorKind::Offset, 0);
    fails::<String>(&words(&[65]), ErrorKind::Offset, 0);
    fails::<String>(&words(&[0x8000_0000_0000_0000]), ErrorKind::Offset, 0);
    fails::<String>(&words(&[32]), ErrorKind::Truncated, 32);
    fails::<String>(&words(&[32, max]), ErrorKind::Length, 32);
    fails::<String>(&words(&[32, 33, 0]), ErrorKind::Length, 32);
    fails::<String>(
        &words(&[32, 0x7fff_ffff_ffff_ffff, 0]),
        ErrorKind::Length,
        32,
    );
    fails::<Bytes>(&words(&[32, 31, 1]), ErrorKind::Padding, 64 + 31);
    fails::<Bytes>(&words(&[32, 1, 0])[..80], ErrorKind::Truncated, 80);
    fails::<Vec<U256>>(&words(&[32, max, 0]), ErrorKind::Length, 32);
    fails::<Vec<U256>>(&words(&[32, 2, 0]), ErrorKind::Length, 32);
    fails::<Vec<U256>>(&words(&[32, 1 << 59, 0]), ErrorKind::Length, 32);
    fails::<((String, bool),)>(&words(&[32, 64]), ErrorKind::Truncated, 64);
    fails::<([String; 2],)>(&words(&[32, 64, max, 0]), ErrorKind::Offset, 64);
    fails::<String>(&words(&[32, 4, 0xff]), ErrorKind::Padding, 64 + 31);
    let mut text = words(&[32, 4, 0]);
    text[64..68].copy_from_slice(b"ab\xffc");
    fails::<String>(&text, ErrorKind::Utf8, 66);

    let lenient = Mode::Lenient;
    assert_eq!(decode_with(&text, lenient), Ok(String::from("ab\u{fffd}c")));
    assert_eq!(
        decode_with::<&str>(&text, lenient),
        Err(Error::new(ErrorKind::Utf8, 66))
    );
    // Solidity does not require the last padding.
    assert_eq!(decode_with(&text[..68], lenient), Ok(&b"ab\xffc"[..]));
    assert_eq!(
        decode_with::<&[u8]>(&text[..67], lenient),
        Err(Error::new(ErrorKind::Length, 32))
    );
    assert_eq!(decode_with(&words(&[32, 31, 1]), lenient), Ok(&[0; 31][..]));
}

#[test]
fn offsets_may_be_shared_but_not_to_blow_up() {
    // Both strings at one position, and in reverse order: Solidity accepts this, canonical mode does not.
    for data in [words(&[64, 64, 0]), words(&[96, 64, 0, 0])] {
        assert_eq!(decode::<(&str, &str)>(&data), Ok(("", "")));
        let error = decode_with::<(&str, &str)>(&data, Mode::Canonical).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotCanonical);
    }
    // Each level is an array whose n offsets all point to the next level: n^levels elements.
    let levels = 8;
    let n = 16;
    let mut data = vec![32u64];
    for _ in 0..levels {
        data.push(n);
        data.extend(vec![32 * n; n as usize]);
    }
    data.push(0);
    let data = words(&data);
    let codec = Codec::parse(&format!("bytes{}", "[]".repeat(levels))).unwrap();
    assert_eq!(codec.decode(&data).unwrap_err().kind, ErrorKind::Budget);
    type Deep = Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Bytes>>>>>>>>;
    assert_eq!(decode::<Deep>(&data).unwrap_err().kind, ErrorKind::Budget);
    assert_eq!(
        decode_with::<Deep>(&data, Mode::Lenient).unwrap_err().kind,
        ErrorKind::Budget
    );
    // Every word is an offset, a length and an element of each level at once.
    let codec = Codec::parse(&format!("bool{}", "[]".repeat(MAX_DEPTH))).unwrap();
    let error = codec.decode(&words(&[32; 200])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Budget);
    // Many elements, much larger in memory than their offsets: no memory is reserved for them in advance.
    let mut data = vec![32, 1000];
    data.extend(vec![u64::MAX; 1000]);
    assert_eq!(
        decode::<Vec<[String; 4096]>>(&words(&data))
            .unwrap_err()
            .kind,
        ErrorKind::Offset
    );
    assert_eq!(rust_types::capacity::<[String; 4096]>(1000, 32_064), 1);
    assert_eq!(rust_types::capacity::<U256>(1000, 32_064), 1000);
}

crate::abi_struct! {
    /// Nested, borrowing.
    #[derive(Debug, PartialEq)]
    struct Order<'a> {
        maker: Address,
        legs: Vec<Leg>,
        memo: &'a str,
    }
}

crate::abi_struct! {
    /// Static.
    #[derive(Debug, PartialEq, Clone)]
    struct Leg {
        amount: u128,
        limit: Int<24>,
    }
}

crate::abi_call! {
    #[derive(Debug, PartialEq)]
    pub struct Submit<'a> = "submit" { order: Order<'a>, proof: &'a [u8], flags: [bool; 2] }
}

crate::abi_call! {
    #[derive(Debug, PartialEq)]
    struct Paused {}
}

crate::abi_event! {
    #[derive(Debug, PartialEq)]
    struct Filled<'a> { #[indexed] maker: Address, memo: &'a str, #[indexed] path: Hashed<Vec<u8>>, legs: Vec<Leg> }
}

#[test]
fn structs_calls_and_events() {
    let leg = Leg {
        amount: 7,
        limit: Int::new(I256::from(-1i64)).unwrap(),
    };
    assert_eq!(<Leg as AbiType>::HEAD, 64);
    let order = Order {
        maker: Address([0x11; 20]),
        legs: vec![leg.clone()],
        memo: "m",
    };
    let text = "(address,(uint128,int24)[],string)";
    assert_eq!(<Order<'_> as AbiType>::NAME.as_str(), text);
    // A struct is one argument; the tuple of its members would be three.
    let data = encode(&order);
    assert_eq!(data[..32], word::from_u64(32));
    assert_eq!(decode_with(&data, Mode::Canonical), Ok(order));
    let values = Codec::parse(&format!("({text})"))
        .unwrap()
        .decode(&data)
        .unwrap();
    check(
        &Type::parse(&format!("({text})")).unwrap(),
        &Value::Tuple(values),
        &data,
    );

    let call = Submit {
        order: decode(&data).unwrap(),
        proof: &[1, 2, 3],
        flags: [true, false],
    };
    let signature = "submit((address,(uint128,int24)[],string),bytes,bool[2])";
    assert_eq!(Submit::SIGNATURE.as_str(), signature);
    assert_eq!(Submit::SELECTOR, selector(signature).unwrap());
    let data = call.encode_call();
    assert_eq!(Submit::decode_call(&data), Ok(call));
    let call = Submit::decode_call(&data).unwrap();
    let mut buffer = [0; 1000];
    assert_eq!(call.encode_call_into(&mut buffer), Ok(data.len()));
    assert_eq!(buffer[..data.len()], data);
    assert_eq!(
        Submit::decode_call(&data[1..]),
        Err(Error::new(ErrorKind::Selector, 0))
    );
    assert_eq!(
        Submit::decode_call(&data[..3]),
        Err(Error::new(ErrorKind::Selector, 0))
    );
    assert_eq!(Paused::SIGNATURE.as_str(), "Paused()");
    assert_eq!(Paused::decode_call(&Paused {}.encode_call()), Ok(Paused {}));

    assert_eq!(
        Filled::SIGNATURE.as_str(),
        "Filled(address,string,uint8[],(uint128,int24)[])"
    );
    assert_eq!(
        Filled::TOPIC,
        event_topic(Filled::SIGNATURE.as_str()).unwrap()
    );
    let maker = FixedBytes(word::right(&[0x11; 20]));
    let data = encode(&("memo", vec![leg.clone()]));
    let topics: [B256; 3] = [Filled::TOPIC, maker, FixedBytes([9; 32])];
    let log = Filled::decode_log(&topics, &data).unwrap();
    let expected = Filled {
        maker: Address([0x11; 20]),
        memo: "memo",
        path: Hashed::new(FixedBytes([9; 32])),
        legs: vec![leg],
    };
    assert_eq!(log, expected);
    for wrong in [&topics[..2], &topics[1..], &[]] {
        let error = Filled::decode_log(wrong, &data).unwrap_err();
        assert_eq!(error, Error::new(ErrorKind::Selector, 0));
    }
    let dirty = [Filled::TOPIC, FixedBytes([1; 32]), FixedBytes([9; 32])];
    let error = Filled::decode_log(&dirty, &data).unwrap_err();
    assert_eq!(error, Error::new(ErrorKind::Padding, 32));
}

fn scalar() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::Bool),
        Just(Type::Address),
        Just(Type::Function),
        Just(Type::Bytes),
        Just(Type::String),
        (1..=32u16).prop_map(|n| Type::Uint(8 * n)),
        (1..=32u16).prop_map(|n| Type::Int(8 * n)),
        (1..=32u8).prop_map(Type::FixedBytes),
    ]
}

fn any_type() -> impl Strategy<Value = Type> {
    scalar().prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|t| Type::Array(t.into())),
            (inner.clone(), 1..4usize).prop_map(|(t, n)| Type::FixedArray(t.into(), n)),
            prop::collection::vec(inner, 1..4).prop_map(Type::Tuple),
        ]
    })
}

fn any_value(ty: &Type) -> BoxedStrategy<Value> {
    let word = any::<[u8; 32]>();
    match ty.clone() {
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::Uint(bits) => word
            .prop_map(move |w| {
                Value::Uint(
                    U256::from_be_bytes(word::keep_right(&w, usize::from(bits) / 8)),
                    bits,
                )
            })
            .boxed(),
        Type::Int(bits) => word
            .prop_map(move |w| {
                Value::Int(
                    U256::from_be_bytes(word::sign_extend(&w, usize::from(bits) / 8)),
                    bits,
                )
            })
            .boxed(),
        Type::Address => any::<[u8; 20]>()
            .prop_map(|a| Value::Address(Address(a)))
            .boxed(),
        Type::FixedBytes(len) => word
            .prop_map(move |w| Value::FixedBytes(word::keep_left(&w, usize::from(len)), len))
            .boxed(),
        Type::Function => any::<[u8; 24]>().prop_map(Value::Function).boxed(),
        Type::Bytes => prop::collection::vec(any::<u8>(), 0..100)
            .prop_map(Value::Bytes)
            .boxed(),
        Type::String => any::<String>().prop_map(Value::String).boxed(),
        Type::Array(element) => prop::collection::vec(any_value(&element), 0..4)
            .prop_map(Value::Array)
            .boxed(),
        Type::FixedArray(element, len) => prop::collection::vec(any_value(&element), len)
            .prop_map(Value::FixedArray)
            .boxed(),
        Type::Tuple(members) => members
            .iter()
            .map(any_value)
            .collect::<Vec<_>>()
            .prop_map(Value::Tuple)
            .boxed(),
    }
}

/// The specification's `enc`, line by line: heads and tails of a list of members.
fn reference(members: &[&Value]) -> Vec<u8> {
    fn dynamic(value: &Value) -> bool {
        match value {
            Value::Bytes(_) | Value::String(_) | Value::Array(_) => true,
            Value::FixedArray(list) | Value::Tuple(list) => list.iter().any(dynamic),
            _ => false,
        }
    }
    fn enc(value: &Value) -> Vec<u8> {
        let padded = |bytes: &[u8]| {
            let mut out = U256::from(bytes.len() as u64).to_be_bytes().to_vec();
            out.extend_from_slice(bytes);
            while out.len() % 32 != 0 {
                out.push(0);
            }
            out
        };
        match value {
            Value::Bool(b) => U256::from(u64::from(*b)).to_be_bytes().to_vec(),
            Value::Uint(n, _) | Value::Int(n, _) => n.to_be_bytes().to_vec(),
            Value::Address(a) => [&[0; 12][..], &a.0].concat(),
            Value::FixedBytes(w, _) => w.to_vec(),
            Value::Function(f) => [&f[..], &[0; 8]].concat(),
            Value::Bytes(b) => padded(b),
            Value::String(s) => padded(s.as_bytes()),
            Value::Array(list) => {
                let length = U256::from(list.len() as u64).to_be_bytes();
                [&length[..], &reference(&list.iter().collect::<Vec<_>>())].concat()
            }
            Value::FixedArray(list) | Value::Tuple(list) => {
                reference(&list.iter().collect::<Vec<_>>())
            }
        }
    }
    let head_size: usize = members
        .iter()
        .map(|m| if dynamic(m) { 32 } else { enc(m).len() })
        .sum();
    let (mut heads, mut tails) = (Vec::new(), Vec::new());
    for member in members {
        if dynamic(member) {
            let offset = U256::from((head_size + tails.len()) as u64);
            heads.extend_from_slice(&offset.to_be_bytes());
            tails.extend(enc(member));
        } else {
            heads.extend(enc(member));
        }
    }
    [heads, tails].concat()
}

fn typed_value() -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(|ty| (Just(ty.clone()), any_value(&ty)))
}

/// An encoding with some words replaced by small numbers, offsets, or noise.
fn mutated() -> impl Strategy<Value = (Type, Vec<u8>)> {
    let change = (
        any::<prop::sample::Index>(),
        prop_oneof![0..300u64, Just(u64::MAX), any::<u64>()],
    );
    (
        typed_value(),
        prop::collection::vec(change, 0..4),
        0..64usize,
    )
        .prop_map(|((ty, value), changes, cut)| {
            let codec = Codec::new(&ty).unwrap();
            let arguments = match value {
                Value::Tuple(values) => values,
                other => vec![other],
            };
            let mut data = codec.encode(&arguments).unwrap();
            for (index, number) in changes {
                let at = 32 * index.index(data.len() / 32);
                data[at..at + 32].copy_from_slice(&words(&[number]));
            }
            data.truncate(data.len() - cut.saturating_sub(32));
            (ty, data)
        })
}

proptest! {
    #[test]
    fn codec_equals_the_specification((ty, value) in typed_value()) {
        prop_assert_eq!(&Type::parse(&ty.to_string()).unwrap(), &ty);
        let members: Vec<&Value> = match &value {
            Value::Tuple(values) => values.iter().collect(),
            other => vec![other],
        };
        check(&ty, &value, &reference(&members));
    }

    #[test]
    fn canonical_is_what_encode_writes((ty, data) in mutated()) {
        let codec = Codec::new(&ty).unwrap();
        let canonical = codec.decode_with(&data, Mode::Canonical);
        let strict = codec.decode(&data);
        let lenient = codec.decode_with(&data, Mode::Lenient);
        match &strict {
            Ok(values) => {
                prop_assert_eq!(lenient.as_ref(), Ok(values));
                prop_assert_eq!(&views(&codec, &data).unwrap(), values);
                let again = codec.encode(values).unwrap();
                prop_assert_eq!(canonical.is_ok(), again == data);
            }
            Err(_) => {
                prop_assert!(canonical.is_err());
                prop_assert!(codec.view(&data).is_err() && codec.decode_flat(&data).is_err());
            }
        }
        // Decoded values take at most a small multiple of the data.
        if let Ok(values) = lenient
            && let Ok(again) = codec.encode(&values)
        {
            prop_assert!(again.len() <= 16 * data.len() + 1000);
        }
    }

    #[test]
    fn rust_types_equal_the_codec(
        address in any::<[u8; 20]>(),
        word in any::<[u8; 32]>(),
        ints in any::<(u8, i16, u32, i64, u128, i128)>(),
        text in any::<String>(),
        blob in any::<Vec<u8>>(),
        lists in prop::collection::vec(prop::collection::vec(".{0,40}", 0..4), 0..4),
        pairs in prop::collection::vec(any::<(bool, [u16; 3])>(), 0..6),
    ) {
        type All<'a> = (
            (Address, U256, FixedBytes<32>), u8, i16, u32, (i64, u128, i128), &'a str, &'a [u8],
            [Vec<Vec<String>>; 2], Vec<(bool, [u16; 3])>, Uint<256>, Int<8>, (String,),
        );
        let int = Int::new(I256::from(i64::from(ints.1 as i8))).unwrap();
        let number = U256::from_be_bytes(word);
        let value: All<'_> = (
            (Address(address), number, FixedBytes(word)), ints.0, ints.1, ints.2, (ints.3, ints.4, ints.5),
            &text, &blob, [lists.clone(), lists], pairs, Uint::new(number).unwrap(), int, (text.clone(),),
        );
        let data = encode(&value);
        prop_assert_eq!(data.len(), encoded_size(&value));
        let codec = Codec::parse(All::NAME.as_str()).unwrap();
        let values = codec.decode_with(&data, Mode::Canonical).unwrap();
        prop_assert_eq!(codec.encode(&values).unwrap(), &data[..]);
        prop_assert_eq!(&decode_with::<All<'_>>(&data, Mode::Canonical).unwrap(), &value);
        let mut buffer = vec![0xa5; data.len()];
        prop_assert_eq!(encode_into(&value, &mut buffer), Ok(data.len()));
        prop_assert_eq!(buffer, data);
    }

    #[test]
    fn text_is_never_fatal(text in "[uint8bytes(),\\[\\]0-9 ]{0,40}", value in "[-0-9a-fx\"\\\\u,\\[\\]()tre ]{0,40}") {
        if let Ok(ty) = Type::parse(&text) {
            prop_assert_eq!(&Type::parse(&ty.to_string()).unwrap(), &ty);
            let _ = Codec::new(&ty);
        }
        let _ = Signature::parse(&text);
        for ty in ["string[]", "(uint8,bytes)", "int256[][2]", "bool", "address"] {
            let ty = Type::parse(ty).unwrap();
            if let Ok(value) = Value::parse(&ty, &value) {
                prop_assert_eq!(Value::parse(&ty, &value.to_string()), Ok(value));
            }
        }
    }
}

/// Logs of events known only at run time: the order of the signature, hashed topics, and mismatches.
#[test]
fn event_logs_at_run_time() {
    let word = |byte: u8| FixedBytes([byte; 32]);
    let event = EventCodec::parse("event E(uint8 a, string indexed b, address indexed c, bytes d)")
        .unwrap();
    assert_eq!(
        event.topic(),
        &event_topic("E(uint8,string,address,bytes)").unwrap()
    );
    let sender = Address([7; 20]);
    let topics = [*event.topic(), word(9), sender.into_word()];
    let data = Codec::parse("(uint8,bytes)")
        .unwrap()
        .encode(&[Value::Uint(U256::ONE, 8), Value::Bytes(vec![5])])
        .unwrap();
    let values = [
        Value::Uint(U256::ONE, 8),
        Value::FixedBytes([9; 32], 32),
        Value::Address(sender),
        Value::Bytes(vec![5]),
    ];
    assert_eq!(event.decode(&topics, &data).unwrap(), values);

    let kind = |topics: &[B256], data: &[u8]| event.decode(topics, data).unwrap_err().kind;
    assert_eq!(kind(&topics[..2], &data), ErrorKind::Selector);
    assert_eq!(
        kind(&[word(1), topics[1], topics[2]], &data),
        ErrorKind::Selector
    );
    assert_eq!(kind(&[], &data), ErrorKind::Selector);
    assert_eq!(
        kind(&[topics[0], topics[1], word(1)], &data),
        ErrorKind::Padding
    );
    for end in 0..data.len() {
        event.decode(&topics, &data[..end]).unwrap_err();
    }

    let anonymous = EventCodec::parse("event A(uint256 indexed x) anonymous;").unwrap();
    assert!(anonymous.is_anonymous() && !event.is_anonymous());
    assert_eq!(
        anonymous.decode(&[word(0)], &[]).unwrap(),
        [Value::Uint(U256::ZERO, 256)]
    );
    let four = "E(uint8 indexed a,uint8 indexed b,uint8 indexed c,uint8 indexed d)";
    assert_eq!(EventCodec::parse(four).unwrap_err().kind, ErrorKind::Size);
    assert!(EventCodec::parse(&format!("{four} anonymous")).is_ok());

    for end in [
        "\tanonymous",
        "\n  anonymous;",
        " anonymous\n",
        "anonymous ;",
    ] {
        let event = EventCodec::parse(&format!("event A(){end}")).unwrap();
        assert!(event.is_anonymous(), "{end:?}");
    }
    for (text, at) in [
        ("A() anonimous", 4),
        ("A() anonymous view", 14),
        ("A() returns (bool)", 4),
    ] {
        let error = EventCodec::parse(text).unwrap_err();
        assert_eq!(error, Error::new(ErrorKind::Syntax, at), "{text}");
        assert!(Signature::parse(&format!("event {text}")).is_err());
        assert!(Signature::parse(text).is_ok());
    }
}

/// Texts with as many types and values as allowed, and with one more.
#[test]
fn texts_are_limited_by_count() {
    let members = |count: usize| format!("({})", alloc::vec!["bool"; count].join(","));
    assert!(Type::parse(&members(MAX_TYPES - 1)).is_ok());
    let error = Type::parse(&members(MAX_TYPES)).unwrap_err();
    assert_eq!(
        error,
        Error::new(ErrorKind::TooManyTypes, 1 + 5 * (MAX_TYPES - 1))
    );
    assert_eq!(
        error.to_string(),
        format!("byte {}: expected at most {MAX_TYPES} types", error.offset)
    );
    let arrays = format!("({})", alloc::vec!["bool[]"; MAX_TYPES / 2].join(","));
    assert_eq!(
        Codec::parse(&arrays).unwrap_err().kind,
        ErrorKind::TooManyTypes
    );
    let event = format!("E{}", members(MAX_TYPES + 1));
    assert_eq!(
        Signature::parse(&event).unwrap_err().kind,
        ErrorKind::TooManyTypes
    );
    assert_eq!(
        ErrorKind::TooManyValues.to_string(),
        format!("expected at most {MAX_VALUES} values")
    );
}
