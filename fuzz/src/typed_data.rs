//! EIP-712 hashing, written like the specification, one string at a time. Panics on values that do not fit their types.

use std::collections::BTreeSet;

use lydite::hash::keccak256;
use num_bigint::{BigInt, BigUint};
use serde_json::Value;

/// The domain separator and the hash of the message, which may be missing if it has the domain's type.
pub fn hash(document: &Value) -> ([u8; 32], [u8; 32]) {
    let mut types = document["types"].clone();
    if types.get("EIP712Domain").is_none() {
        let fields = [
            ("name", "string"),
            ("version", "string"),
            ("chainId", "uint256"),
            ("verifyingContract", "address"),
            ("salt", "bytes32"),
        ];
        let present = fields
            .iter()
            .filter(|(name, _)| document["domain"].get(name).is_some());
        types["EIP712Domain"] = present
            .map(|(name, ty)| serde_json::json!({"name": name, "type": ty}))
            .collect();
    }
    let primary = text(&document["primaryType"]);
    let part = match primary {
        "EIP712Domain" => "domain",
        _ => "message",
    };
    (
        hash_struct(&types, "EIP712Domain", &document["domain"]),
        hash_struct(&types, primary, &document[part]),
    )
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn members<'a>(types: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let members = types[name].as_array().expect("members").iter();
    members.map(|member| (text(&member["name"]), text(&member["type"])))
}

fn collect<'a>(types: &'a Value, name: &'a str, found: &mut BTreeSet<&'a str>) {
    if types.get(name).is_some() && found.insert(name) {
        for (_, ty) in members(types, name) {
            collect(types, ty.split('[').next().expect("a name"), found);
        }
    }
}

/// `encodeType`: the struct, then the structs it refers to, in alphabetical order.
pub fn encode_type(types: &Value, name: &str) -> String {
    let mut found = BTreeSet::new();
    collect(types, name, &mut found);
    found.remove(name);
    let structs = std::iter::once(name).chain(found);
    structs
        .map(|name| {
            let members: Vec<String> = members(types, name)
                .map(|(member, ty)| format!("{ty} {member}"))
                .collect();
            format!("{name}({})", members.join(","))
        })
        .collect()
}

fn hash_struct(types: &Value, name: &str, value: &Value) -> [u8; 32] {
    let mut words = keccak256(encode_type(types, name).as_bytes()).to_vec();
    for (member, ty) in members(types, name) {
        words.extend(word(types, ty, &value[member]));
    }
    keccak256(&words)
}

fn word(types: &Value, ty: &str, value: &Value) -> [u8; 32] {
    if let Some((element, length)) = ty.strip_suffix(']').and_then(|ty| ty.rsplit_once('[')) {
        let elements = value.as_array().expect("an array");
        assert!(length.is_empty() || length == elements.len().to_string());
        let words: Vec<u8> = elements
            .iter()
            .flat_map(|value| word(types, element, value))
            .collect();
        return keccak256(&words);
    }
    if types.get(ty).is_some() {
        return if value.is_null() {
            [0; 32]
        } else {
            hash_struct(types, ty, value)
        };
    }
    let bytes = || lydite::bytes::hex::decode(text(value)).expect("hex");
    match ty {
        "string" => keccak256(text(value).as_bytes()),
        "bytes" => keccak256(&bytes()),
        "bool" => right(&[value.as_bool().expect("a bool").into()]),
        "address" => right(&bytes()),
        _ if ty.starts_with("bytes") => {
            let mut word = bytes();
            assert_eq!(ty, format!("bytes{}", word.len()));
            word.resize(32, 0);
            right(&word)
        }
        _ => {
            let number = value.as_str().map(str::to_string);
            integer(ty, &number.unwrap_or_else(|| value.to_string()))
        }
    }
}

fn right(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[32 - bytes.len()..].copy_from_slice(bytes);
    word
}

fn integer(ty: &str, text: &str) -> [u8; 32] {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
        None => BigUint::parse_bytes(digits.as_bytes(), 10),
    };
    let magnitude = BigInt::from(magnitude.expect("digits"));
    let number = if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    };
    let power = |bits: u32| BigInt::from(1) << bits;
    let (low, high) = match (ty.strip_prefix("uint"), ty.strip_prefix("int")) {
        (Some(bits), _) => (BigInt::ZERO, power(bits.parse().expect("a width"))),
        (_, Some(bits)) => {
            let bits: u32 = bits.parse().expect("a width");
            (-power(bits - 1), power(bits - 1))
        }
        _ => panic!("no type: {ty}"),
    };
    assert!(low <= number && number < high);
    let word = if number < BigInt::ZERO {
        power(256) + number
    } else {
        number
    };
    right(&word.to_bytes_be().1)
}
