//! Plain loops that call alloy directly.

use std::hint::black_box;
use std::process::ExitCode;

use alloy_primitives::{Address, Bytes, U256, keccak256};
use alloy_sol_types::SolValue;
use arena_plain::{Random, Row, read, row};

/// Elements per item of an array operation.
const ELEMENTS: usize = 64;

fn hash<const N: usize>() -> Row {
    let mut random = Random::new(N as u64);
    let messages: Vec<[u8; N]> = (0..256).map(|_| random.bytes()).collect();
    let items = messages.iter().map(|message| message.to_vec()).collect();
    row("keccak256", "le@0", items, messages, |message| {
        keccak256(message)
    })
}

/// Encodings of strings and bytes with the lengths of the published benchmark.
fn decode() -> Row {
    let mut random = Random::new(3);
    let mut values = Vec::new();
    let items = (0..16).map(|_| {
        let mut item = Vec::new();
        let elements: Vec<Vec<u8>> = (0..ELEMENTS)
            .map(|_| {
                let text = random
                    .bytes::<43>()
                    .map(|byte| char::from(b'a' + byte % 26));
                let data = Bytes::copy_from_slice(&random.bytes::<59>());
                (String::from_iter(text), data).abi_encode_params()
            })
            .collect();
        for element in &elements {
            item.extend((element.len() as u32).to_le_bytes());
            item.extend(element);
        }
        values.push(elements);
        item
    });
    let items = items.collect();
    row(
        "abi_decode_dynamic",
        "digits@96",
        items,
        values,
        |elements| {
            for element in elements {
                let decoded = <(String, Bytes)>::abi_decode_params(element);
                black_box(
                    decoded
                        .map(|(text, data)| read(text.as_bytes()) ^ read(&data))
                        .ok(),
                );
            }
        },
    )
}

fn encode() -> Row {
    let mut random = Random::new(4);
    let mut values = Vec::new();
    let items = (0..16).map(|_| {
        let elements: Vec<(Address, U256)> = (0..ELEMENTS)
            .map(|_| {
                let to = Address::new(random.bytes());
                (to, U256::from_be_bytes(random.bytes::<32>()))
            })
            .collect();
        let wire = |(to, amount): &(Address, U256)| {
            [to.to_vec(), amount.to_be_bytes::<32>().to_vec()].concat()
        };
        let item = elements.iter().flat_map(wire).collect();
        values.push(elements);
        item
    });
    let items = items.collect();
    row("abi_encode_static", "be@-4", items, values, |elements| {
        for element in elements {
            black_box(read(&element.abi_encode_params()));
        }
    })
}

fn main() -> ExitCode {
    arena_plain::main(vec![hash::<32>(), hash::<1024>(), encode(), decode()])
}
