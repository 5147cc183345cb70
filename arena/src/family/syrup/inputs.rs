//! Inputs of the `syrup` rows: the report's bytes, drawn values of every kind, framed streams, and malformed bytes.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use num_bigint::{BigInt, BigUint};
use serde::Deserialize;

use super::super::draw::{letters, spread};
use crate::kernel::Syrup;
use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::syrup::outputs::{Skill, server};
use crate::truth::syrup::{Value, int, record, string, symbol};
use crate::truth::unhex;
use crate::wire::lp;

#[derive(Deserialize)]
struct Vector {
    hex: String,
    cls: String,
}

static VECTORS: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    let text = include_str!("../../../../vectors/syrup/vectors.json");
    // The vectors are compiled in and read by every test.
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("embedded vectors: {error}"))
});

/// The records that the report names.
const CAPTP: &[u8] = b"<10'op:deliver<11'desc:export42+>5'hello[1+2+3+]>";
const DECIMALS: [&[u8]; 4] = [b"42+", b"1234:", b"99999\"", b"7'"];

/// The items of a row that are not drawn.
pub fn published(kernel: Syrup, op: &Op) -> Result<Vec<Vec<u8>>> {
    if op.input == Input::Vectors {
        return vectors(|class| !REFUSED.contains(&class) && class != "deep");
    }
    let elements = (0..op.ops_per_call).map(|k| report(kernel, op, k));
    Ok(vec![elements.collect::<Result<Vec<_>>>()?.concat()])
}

/// Vector classes that a strict decoder rejects.
const REFUSED: [&str; 4] = ["noncanonical", "invalid", "truncated", "trailing"];

fn vectors(wanted: impl Fn(&str) -> bool) -> Result<Vec<Vec<u8>>> {
    let chosen = VECTORS.iter().filter(|vector| wanted(&vector.cls));
    chosen.map(|vector| unhex(vector.hex.as_bytes())).collect()
}

/// Element `k` of the single item of a report row.
fn report(kernel: Syrup, op: &Op, k: usize) -> Result<Vec<u8>> {
    let skill = Skill {
        agent: "gay-mcp".into(),
        tool: "palette".into(),
        n: 4,
        seed: 1069,
        last: 0,
    };
    Ok(match kernel {
        Syrup::EncodeTypedSkill => skill_fields(&skill),
        Syrup::EncodeTypedExport => (k as u64 % 256).to_le_bytes().to_vec(),
        Syrup::RoundtripStruct | Syrup::RoundtripStructOwned => {
            server_fields("localhost", 8080, true)
        }
        Syrup::Decimal => lp(DECIMALS[k % 4]),
        // The other kernels take any value, which the row's case determines.
        _ => match op.case.as_str() {
            "skill" => lp(&skill.value().encode()),
            "list100" => lp(&Value::List((0..100).map(|i| int(i * 42)).collect()).encode()),
            "export" => lp(&export(k % 256).encode()),
            "server" => lp(&server("localhost", 8080, true).encode()),
            "captp" => lp(CAPTP),
            case => bail!("no report input for kernel {}, case {case}", op.kernel),
        },
    })
}

/// Draws one element; for a report row, one of the same shape as the report's.
pub fn element(kernel: Syrup, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
    let report = op.input == Input::Report;
    Ok(match kernel {
        Syrup::EncodeTypedSkill => skill_fields(&skill(random)),
        Syrup::EncodeTypedExport => position(random).to_le_bytes().to_vec(),
        Syrup::DecodeTypedCaptp => lp(&report_captp(random).encode()),
        Syrup::DecodeTypedDeliver => lp(&deliver(random).encode()),
        Syrup::RoundtripStruct | Syrup::RoundtripStructOwned => {
            let port = random.between(1, 65535) as i64;
            server_fields(&host(random), port, random.below(2) == 0)
        }
        Syrup::EncodeUnsorted => lp(&unsorted(random).encode()),
        Syrup::Decimal => lp(&decimal(random, report)),
        _ => match op.case.as_str() {
            "skill" => lp(&skill(random).value().encode()),
            "list100" => lp(&Value::List((0..100).map(|_| small(random)).collect()).encode()),
            "export" => lp(&export(random.below(1 << 16)).encode()),
            "server" => {
                let port = random.between(1, 65535) as i64;
                lp(&server(&host(random), port, random.below(2) == 0).encode())
            }
            "captp" if report => lp(&report_captp(random).encode()),
            "captp" => lp(&message(random).encode()),
            "bigint" => lp(&Value::List((0..16).map(|_| large(random)).collect()).encode()),
            "utf8" => lp(&Value::List((0..16).map(|_| speech(random)).collect()).encode()),
            "deep" => lp(&deep(random, 64).encode()),
            "1mb" => lp(&large_list(random, op.size).encode()),
            case => bail!("no generator for kernel {}, case {case}", op.kernel),
        },
    })
}

fn skill_fields(skill: &Skill) -> Vec<u8> {
    let numbers = [skill.n, skill.seed, skill.last].map(i64::to_le_bytes);
    [
        lp(skill.agent.as_bytes()),
        lp(skill.tool.as_bytes()),
        numbers.concat(),
    ]
    .concat()
}

fn server_fields(host: &str, port: i64, enabled: bool) -> Vec<u8> {
    let port = port.to_le_bytes();
    [lp(host.as_bytes()), port.to_vec(), vec![u8::from(enabled)]].concat()
}

fn export(position: usize) -> Value {
    record("desc:export", vec![int(position)])
}

fn word(random: &mut Random, low: usize, high: usize) -> String {
    let len = random.between(low, high);
    (0..len)
        .map(|_| char::from(random.pick(b"abcdefghijklmnopqrstuvwxyz-")))
        .collect()
}

fn host(random: &mut Random) -> String {
    format!("{}.{}", word(random, 3, 12), word(random, 2, 6))
}

/// An integer as programs send it: usually small, rarely negative.
fn small(random: &mut Random) -> Value {
    let number = spread(random, 0, 24);
    if random.below(8) == 0 {
        return Value::Integer(-BigInt::from(number));
    }
    int(number)
}

/// An integer of more than 64 bits.
fn large(random: &mut Random) -> Value {
    let number = BigInt::from(spread(random, 65, 512));
    Value::Integer(if random.below(2) == 0 {
        number
    } else {
        -number
    })
}

/// A position in a table of exports, imports or answers.
fn position(random: &mut Random) -> u64 {
    let bits = random.between(1, 20);
    random.word() >> (64 - bits)
}

fn skill(random: &mut Random) -> Skill {
    Skill {
        agent: word(random, 3, 16),
        tool: word(random, 3, 16),
        n: random.below(100) as i64,
        seed: random.below(1 << 20) as i64,
        last: random.below(10_000) as i64 - 1000,
    }
}

fn report_captp(random: &mut Random) -> Value {
    let to = record("desc:export", vec![int(position(random))]);
    let method = symbol(&word(random, 3, 12));
    let arguments = (0..random.below(9)).map(|_| small(random)).collect();
    record("op:deliver", vec![to, method, Value::List(arguments)])
}

/// Text in one of several scripts, 8 to 200 bytes.
fn speech(random: &mut Random) -> Value {
    let script = random.pick(&[
        "the quick brown fox jumps over the lazy dog, ",
        "voilà l'été où naît un cœur, ",
        "съешь ещё этих мягких булок, ",
        "いろはにほへとちりぬるを、",
        "天地玄黄宇宙洪荒，",
        "🦊🐕 emoji 👩‍🚀 too, ",
    ]);
    let limit = random.between(8, 200);
    let mut text = word(random, 1, 4);
    for c in script.chars().cycle().skip(random.below(20)) {
        if text.len() + c.len_utf8() > limit {
            break;
        }
        text.push(c);
    }
    string(&text)
}

/// A value with `levels` levels of nesting.
fn deep(random: &mut Random, levels: usize) -> Value {
    let mut value = small(random);
    for _ in 1..levels {
        value = match random.below(4) {
            0 | 1 => Value::List(vec![small(random), value]),
            2 => record(&word(random, 2, 6), vec![value]),
            _ => Value::Dictionary(vec![(string(&word(random, 1, 8)), value)]),
        };
    }
    value
}

/// A value that CapTP passes in arguments, nested at most `depth` times.
fn passable(random: &mut Random, depth: usize) -> Value {
    let several = |random: &mut Random| random.below(5);
    match random.below(if depth == 0 { 10 } else { 14 }) {
        0..=2 => small(random),
        3 | 4 => {
            let len = random.between(0, 40);
            string(&letters(random, len))
        }
        5 => symbol(&word(random, 2, 14)),
        6 => Value::Boolean(random.below(2) == 0),
        7 => {
            let number = random.word() as u32 as f64 / 1024.0 - 1e6;
            Value::Double(number.to_bits())
        }
        8 => {
            let len = random.pick(&[8, 32, 32, 64]);
            Value::Bytes(random.bytes(len))
        }
        9 => {
            let label = random.pick(&["desc:export", "desc:import-object", "desc:import-promise"]);
            record(label, vec![int(position(random))])
        }
        10 => {
            let fields = vec![symbol(&word(random, 3, 10)), passable(random, depth - 1)];
            record("desc:tagged", fields)
        }
        11 | 12 => {
            let count = several(random);
            Value::List((0..count).map(|_| passable(random, depth - 1)).collect())
        }
        _ => {
            let count = several(random);
            Value::Dictionary(
                keys(random, count)
                    .into_iter()
                    .map(|key| (string(&key), passable(random, depth - 1)))
                    .collect(),
            )
        }
    }
}

/// Distinct keys.
fn keys(random: &mut Random, count: usize) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    while keys.len() < count {
        let key = word(random, 1, 14);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// A list of alternating keys and values, unsorted.
fn unsorted(random: &mut Random) -> Value {
    let keys = keys(random, 24);
    Value::List(
        keys.iter()
            .flat_map(|key| [string(key), small(random)])
            .collect(),
    )
}

fn deliver(random: &mut Random) -> Value {
    let to = record("desc:export", vec![int(position(random))]);
    let mut arguments = vec![symbol(&word(random, 3, 12))];
    for _ in 0..random.below(4) {
        arguments.push(passable(random, 2));
    }
    let wanted = random.below(4) != 0;
    let or_none = |value: Value| {
        if wanted { value } else { Value::Boolean(false) }
    };
    let answer = or_none(int(position(random)));
    let resolve = or_none(record("desc:import-object", vec![int(position(random))]));
    record(
        "op:deliver",
        vec![to, Value::List(arguments), answer, resolve],
    )
}

/// A message of the draft of 2026-07; two in three are `op:deliver`.
fn message(random: &mut Random) -> Value {
    let answer = |random: &mut Random| record("desc:answer", vec![int(position(random))]);
    let positions = |random: &mut Random, count: usize| {
        Value::List((0..count).map(|_| int(position(random))).collect())
    };
    match random.below(18) {
        0 | 1 => {
            let resolver = record("desc:import-object", vec![int(position(random))]);
            record("op:listen", vec![answer(random), resolver])
        }
        2 | 3 => {
            let count = random.between(1, 4);
            let fields = vec![positions(random, count), positions(random, count)];
            record("op:gc-exports", fields)
        }
        4 => {
            let count = random.between(1, 4);
            record("op:gc-answers", vec![positions(random, count)])
        }
        5 => {
            let field = string(&word(random, 2, 12));
            record("op:get", vec![answer(random), field, int(position(random))])
        }
        _ => deliver(random),
    }
}

/// A list of documents whose encodings total at least `size` bytes.
fn large_list(random: &mut Random, size: usize) -> Value {
    let (mut documents, mut bytes) = (Vec::new(), 0);
    while bytes < size {
        let document = match random.below(3) {
            0 => message(random),
            1 => passable(random, 4),
            _ => speech(random),
        };
        bytes += document.encode().len();
        documents.push(document);
    }
    Value::List(documents)
}

fn decimal(random: &mut Random, report: bool) -> Vec<u8> {
    let number = if report {
        BigUint::from(random.below(100_000))
    } else {
        // At most 63 bits, which is up to 19 digits; all bit lengths are equally likely.
        spread(random, 0, 63)
    };
    let mark = random.pick(b"+-:\"'");
    [number.to_string().as_bytes(), &[mark]].concat()
}

/// `count` messages framed as `length:payload` and split into pieces of network size.
pub fn stream(count: usize, random: &mut Random) -> Vec<u8> {
    let mut framed = Vec::new();
    for _ in 0..count {
        framed.extend(Value::Bytes(message(random).encode()).encode());
    }
    let (mut rest, mut out) = (framed.as_slice(), Vec::new());
    while !rest.is_empty() {
        let piece = random.between(1, 2920).min(rest.len());
        out.extend(lp(&rest[..piece]));
        rest = &rest[piece..];
    }
    out
}

/// Malformed inputs of a decoder.
pub fn malformed(name: &str) -> Result<Vec<Vec<u8>>> {
    let skill = report_skill()?;
    Ok(match name {
        "neg:syrup_decode" | "neg:syrup_decode_owned" | "neg:syrup_walk" => {
            let mut bad = vectors(|class| REFUSED.contains(&class))?;
            bad.push(vec![b'['; 100_000]);
            bad.extend(MALFORMED.iter().map(|text| text.to_vec()));
            // Every proper prefix of a valid message, and the message followed by an extra byte.
            bad.extend((0..skill.len()).map(|end| skill[..end].to_vec()));
            bad.push([skill.as_slice(), b" "].concat());
            bad
        }
        "neg:syrup_decode_typed_skill" => {
            let mut bad: Vec<_> = (0..skill.len()).map(|end| skill[..end].to_vec()).collect();
            bad.push([skill.as_slice(), b"0+"].concat());
            let text = String::from_utf8(skill)?;
            for (good, wrong) in SKILL {
                bad.push(text.replacen(good, wrong, 1).into_bytes());
            }
            for (at, byte) in [(20, 0xff), (30, 0xc0), (3, b'X')] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                bad.push(bytes);
            }
            bad
        }
        other => bail!("no malformed inputs for {other}"),
    })
}

fn report_skill() -> Result<Vec<u8>> {
    let found = VECTORS.iter().find(|vector| {
        vector
            .hex
            .starts_with("3c313222736b696c6c3a696e766f6b653727")
    });
    unhex(found.context("rec-skill")?.hex.as_bytes())
}

/// Substitutions that make the report's record invalid.
const SKILL: [(&str, &str); 16] = [
    ("12\"skill:invoke", "12'skill:invoke"),
    ("12\"", "012\""),
    ("12\"skill:invoke", "11\"skill:invok"),
    ("7'gay-mcp", "7\"gay-mcp"),
    ("7'gay-mcp", "07'gay-mcp"),
    ("7'gay-mcp", "7:gay-mcp"),
    ("{1\"n4+4\"seed1069+}", "{4\"seed1069+1\"n4+}"),
    ("{1\"n4+4\"seed1069+}", "{1\"n4+1\"n4+}"),
    ("{1\"n4+4\"seed1069+}", "{1\"n4+}"),
    ("{1\"n4+4\"seed1069+}", "[1\"n4+4\"seed1069+]"),
    ("1069+", "01069+"),
    ("4+4", "4-04"),
    ("0+>", "0->"),
    ("0+>", "00+>"),
    ("0+>", "0+]"),
    ("0+>", "0+0+>"),
];

/// Malformed bytes in addition to the vectors.
const MALFORMED: [&[u8]; 34] = [
    b"{1\"b1+1\"a2+}",
    b"{1\"a1+1\"a2+}",
    b"{9\"aaaaaaaaa1+10\"aaaaaaaaaa2+}",
    b"{1'a1+1\"a2+}",
    b"<1\"x{1\"b1+1\"a2+}>",
    b"#2+1+$",
    b"#1+1+$",
    b"#1+",
    b"00+",
    b"-0+",
    b"+5",
    b"0",
    b"12",
    b"1+ ",
    b"l1+e",
    b"d1\"a1+e",
    b"T",
    b"]",
    b"}",
    b">",
    b"$",
    b"[1+>",
    b"<1+",
    b"{1\"a1+",
    b"1e5+",
    b"F\x3f\x80\x00",
    b"D\xff\xf8\x00\x00\x00\x00\x00\x01",
    b"[D\x7f\xf0\x00\x00\x00\x00\x00\x01]",
    b"2\"\xc0\x80",
    b"2'\xc3\x28",
    b"3\"\xed\xbf\xbf",
    b"4\"\xf4\x90\x80\x80",
    b"1'\x80",
    b"36893488147419103232\"a",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_reference_agrees_with_the_vectors() {
        for vector in VECTORS.iter() {
            let bytes = unhex(vector.hex.as_bytes()).unwrap();
            let decoded = Value::decode(&bytes);
            if vector.cls == "deep" {
                continue;
            }
            let refused = REFUSED.contains(&vector.cls.as_str());
            assert_eq!(decoded.is_err(), refused, "{}", vector.hex);
            if let Ok(value) = decoded {
                assert_eq!(value.encode(), bytes, "{}", vector.hex);
            }
        }
    }

    #[test]
    fn the_report_s_bytes_are_the_report_s() {
        let texts = [
            (
                Syrup::Decode,
                "syrup_decode_skill",
                "<12\"skill:invoke7'gay-mcp7'palette{1\"n4+4\"seed1069+}0+>",
            ),
            (
                Syrup::RoundtripTree,
                "syrup_roundtrip_tree",
                "{4\"host9\"localhost4\"port8080+7\"enabledt}",
            ),
        ];
        for (kernel, id, text) in texts {
            let op = crate::ops::catalogue()
                .iter()
                .find(|op| op.id == id)
                .unwrap();
            assert_eq!(report(kernel, op, 0).unwrap()[4..], *text.as_bytes());
        }
        let list = crate::ops::catalogue()
            .iter()
            .find(|op| op.id == "syrup_decode_list100");
        let list = &report(Syrup::Decode, list.unwrap(), 0).unwrap()[4..];
        assert!(list.len() == 474 && list.starts_with(b"[0+42+84+") && list.ends_with(b"4158+]"));
        assert_eq!(report_skill().unwrap().len(), 55);
    }

    #[test]
    fn malformed_bytes_are_refused() {
        for item in malformed("neg:syrup_decode").unwrap() {
            assert!(
                Value::decode(&item).is_err(),
                "{}",
                String::from_utf8_lossy(&item)
            );
        }
        let items = malformed("neg:syrup_decode_typed_skill").unwrap();
        assert!(items.len() > 70);
        for item in items {
            assert!(
                Skill::decode(&item).is_err(),
                "{}",
                String::from_utf8_lossy(&item)
            );
        }
    }
}
