//! Plain loops that call ruint and const-hex directly.

use std::hint::black_box;
use std::process::ExitCode;

use arena_plain::{Random, Row, read, row};
use ruint::aliases::U256;

/// Elements per item of an array operation, and number of items.
const ELEMENTS: usize = 64;
const ITEMS: usize = 16;

/// A row of elements of `N` bytes, each parsed by `parse`.
fn elements<const N: usize, T: 'static, R: 'static>(
    id: &'static str,
    rule: &'static str,
    mut draw: impl FnMut() -> [u8; N],
    parse: impl Fn(&[u8; N]) -> T,
    call: impl Fn(&T) -> R + 'static,
) -> Row {
    let drawn: Vec<Vec<[u8; N]>> = (0..ITEMS)
        .map(|_| (0..ELEMENTS).map(|_| draw()).collect())
        .collect();
    let items = drawn.iter().map(|item| item.concat()).collect();
    let values = drawn
        .iter()
        .map(|item| item.iter().map(&parse).collect::<Vec<T>>())
        .collect();
    row(id, rule, items, values, move |values: &Vec<T>| {
        for value in values {
            black_box(call(value));
        }
    })
}

fn operands(bytes: &[u8; 64]) -> (U256, U256) {
    let (a, b) = bytes.split_at(32);
    (U256::from_le_slice(a), U256::from_le_slice(b))
}

fn main() -> ExitCode {
    let mut random = Random::new(5);
    // The divisor has 128 bits.
    let mut division = Random::new(6);
    let divisible = move || {
        let mut bytes = division.bytes::<64>();
        bytes[48..].fill(0);
        bytes
    };
    let mut digits = Random::new(7);
    let text = move || {
        let text = const_hex::encode(digits.bytes::<32>());
        std::array::from_fn(|at| text.as_bytes()[at])
    };
    arena_plain::main(vec![
        elements("u256_div", "le@4", divisible, operands, |&(a, b)| {
            a.wrapping_div(b)
        }),
        elements(
            "hex_encode_32b",
            "le@0",
            move || random.bytes::<32>(),
            |bytes| *bytes,
            |bytes| read(const_hex::encode(bytes).as_bytes()),
        ),
        elements(
            "hex_decode_32b",
            "digits@0",
            text,
            |text: &[u8; 64]| *text,
            |text| const_hex::decode(text).map(|bytes| read(&bytes)),
        ),
    ])
}
