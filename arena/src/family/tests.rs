#![allow(clippy::unwrap_used, clippy::panic)]
use num_bigint::BigUint;
use serde_json::Value;

use super::vectors::{BLOCKS, PUBLISHED, bytes, number};
use super::*;
use crate::change::Words;
use crate::kernel::{Ethereum, Precompile, Secp256k1};
use crate::ops::{Input, catalogue};
use crate::truth::hex;
use crate::wire::le32;

fn row(id: &str) -> &'static Op {
    catalogue().iter().find(|op| op.id == id).unwrap()
}

fn items(op: &Op, selection: Selection) -> Vec<Vec<u8>> {
    of(op).items(op, selection).unwrap()
}

fn output(op: &Op, item: &[u8]) -> Vec<u8> {
    let expected = of(op).expected(op, item).unwrap();
    expected.unwrap().bytes
}

/// Families whose outputs follow from the items' bytes.
fn has_elements(op: &&Op) -> bool {
    op.family != "precompiles" && op.family != "xmss"
}

/// The one output that all elements of a report row have.
fn element(id: &str) -> Vec<u8> {
    let op = row(id);
    let output = output(op, &items(op, Selection::Main)[0]);
    let one = output.len() / op.ops_per_call;
    assert!(output.chunks(one).all(|part| part == &output[..one]));
    output[..one].to_vec()
}

#[test]
fn report_rows_give_the_vectors_outputs() {
    let vectors = PUBLISHED.as_object().unwrap();
    let mut seen = 0;
    let mut check = |id: &str, want: Vec<u8>| {
        assert_eq!(element(id), want, "{id}");
        seen += 1;
    };
    let le = |value: &Value| le32(&number(value).unwrap());
    for (name, vector) in vectors {
        let want = &vector["expected"];
        match name.as_str() {
            "secp256k1_sign" => {
                let v = want["v"].as_u64().unwrap() as u8;
                check(
                    name,
                    [
                        bytes(&want["r"]).unwrap(),
                        bytes(&want["s"]).unwrap(),
                        vec![v],
                    ]
                    .concat(),
                );
            }
            "secp256k1_sign_recover" => {
                let key = bytes(&want["pubkey_uncompressed"]).unwrap()[1..].to_vec();
                check(name, key.clone());
                check("secp256k1_recover", key);
            }
            "checksum_address" | "hex_encode_32b" => check(name, want.as_str().unwrap().into()),
            "abi_decode_dynamic" => {
                let joined = [
                    want[0].as_str().unwrap().as_bytes().to_vec(),
                    bytes(&want[1]).unwrap(),
                ];
                check(name, joined.concat());
            }
            "rlp_encode_eip1559_tx" => {
                check(name, bytes(&want["list_only"]).unwrap());
                check(
                    "rlp_encode_eip1559_tx_typed",
                    bytes(&want["with_type"]).unwrap(),
                );
            }
            "u256_mulDiv" => {
                check(name, le(&want["alloy_bench"]));
                check("u256_mulDiv_zig", le(&want["zig"]));
                check("u256_mulDiv_hard512", le(&want["hard512"]));
            }
            "u256_uniswapv4_swap" => {
                check(name, le(&want["alloy_bench"]));
                check("u256_uniswapv4_swap_zig", le(&want["zig"]));
            }
            "eip712_hash_typed_data" => {
                for suffix in ["", "_cached", "_json"] {
                    check(&format!("{name}{suffix}"), bytes(want).unwrap());
                }
            }
            _ if want.as_str().unwrap().starts_with("0x") => check(name, bytes(want).unwrap()),
            _ => check(name, le(want)),
        }
    }
    assert_eq!(seen, vectors.len() + 7);
}

#[test]
fn block_rows_give_the_vectors_hashes_and_senders() {
    let op = row("tx_sender_blocks");
    let items = items(op, Selection::Main);
    assert_eq!(items.len(), op.items);
    for (item, vector) in items.iter().zip(BLOCKS.as_array().unwrap()) {
        let hash = bytes(&vector["hash"]).unwrap();
        let sender = bytes(&vector["sender"]).unwrap();
        assert_eq!(output(op, item), [hash.clone(), sender].concat());
        assert_eq!(output(row("tx_decode_blocks"), item).len(), 68);
        assert_eq!(output(row("tx_hash_blocks"), item), hash);
    }
}

#[test]
fn drawn_items_are_distinct_reproducible_and_have_a_truth() {
    for op in catalogue().iter().filter(has_elements) {
        let main = items(op, Selection::Main);
        assert_eq!(main.len(), op.items, "{}", op.id);
        assert_eq!(main, items(op, Selection::Main), "{}", op.id);
        let probe = items(op, Selection::Probe { round: 0, count: 4 });
        assert_eq!(probe.len(), 4);
        let mut all: Vec<_> = main.iter().chain(&probe).collect();
        all.sort();
        all.dedup();
        let fixed = matches!(op.input, Input::Blocks | Input::Vectors);
        let reordered = if fixed { 4 } else { 0 };
        assert_eq!(all.len(), main.len() + 4 - reordered, "{}: distinct", op.id);
        for item in main.iter().take(3).chain(&probe) {
            assert!(!output(op, item).is_empty(), "{}", op.id);
        }
    }
}

#[test]
fn quotients_fit() {
    // The kernels require floor(a*b/d) below 2^256; a wrapped quotient would match no implementation.
    for op in catalogue()
        .iter()
        .filter(|op| op.kernel == Kernel::Ethereum(Ethereum::U256MulDiv))
    {
        let probe = items(op, Selection::Probe { round: 1, count: 8 });
        for item in items(op, Selection::Main).iter().chain(&probe) {
            for triple in item.chunks(96) {
                let at = |i: usize| BigUint::from_bytes_le(&triple[32 * i..32 * i + 32]);
                assert!((at(0) * at(1) / at(2)).bits() <= 256, "{}", op.id);
            }
        }
    }
}

#[test]
fn malformed_inputs_are_malformed() {
    for op in catalogue().iter().filter(|op| op.family != "xmss") {
        let Some(name) = &op.negative else { continue };
        let family = of(op);
        let mut op = op.clone();
        op.ops_per_call = 1;
        let bad = family.malformed(name).unwrap();
        assert!(bad.len() >= 15, "{name}");
        let good = &items(&op, Selection::Main)[0];
        for bad in bad {
            // The reference accepts any v, but only items of exactly 97 bytes.
            if op.kernel == Kernel::Secp256k1(Secp256k1::Recover) && bad.len() != 97 {
                continue;
            }
            let item = family.spoilt(&op, good, &bad).unwrap();
            assert!(
                family.expected(&op, &item).is_err(),
                "{name}: {}",
                hex(&bad)
            );
        }
    }
}

#[test]
fn changed_items_are_valid() {
    // Every changed item still has an output, which in most rows differs from that of the unchanged item.
    for op in catalogue().iter().filter(|op| op.change.is_some()) {
        let family = of(op);
        let selection = Selection::Probe { round: 9, count: 2 };
        let (items, before) = family.cases(op, selection).unwrap();
        for ((mut item, before), x) in items.into_iter().zip(before).zip(Words::new(7)) {
            change(op, &mut item, x).unwrap();
            let after = family.expected(op, &item);
            let after = after.unwrap_or_else(|error| panic!("{}: {error:#}", op.id));
            // A recovered signer does not depend on the hash, and failing inputs and signatures of other hashes still
            // fail.
            let constant = op.kernel == Kernel::Secp256k1(Secp256k1::SignRecover)
                || op.kernel == Kernel::Precompile(Precompile::P256Verify)
                || op.id.contains("_fail_");
            if let Some(after) = after {
                assert_eq!(after == before, constant, "{}", op.id);
            }
        }
    }
}
