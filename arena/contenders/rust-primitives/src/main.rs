//! Single-purpose crates that Rust users choose: ruint for integers, and for hex the crate named by the first argument,
//! const-hex (the default), faster-hex, hex-simd or fashex. Integers are only offered together with const-hex, because
//! they do not depend on the hex crate.

use arena_kit::{Op, Reader, array, negative, op};
use hex_simd::{AsOut, AsciiCase};
use ruint::aliases::{U256, U512};

fn main() {
    let name = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "const-hex".to_owned());
    let ops = match name.as_str() {
        "faster-hex" => faster_hex_ops(),
        "hex-simd" => hex_simd_ops(),
        "fashex" => fashex_ops(),
        _ => const_hex_ops().into_iter().chain(integers()).collect(),
    };
    let lockfile = include_str!("../../Cargo.lock");
    let version = |package| arena_kit::locked_version(lockfile, package);
    let versions = format!("ruint {}, {name} {}", version("ruint"), version(&name));
    arena_kit::run("rust-primitives", &versions, ops);
}

/// ruint has no `mul_div`; this is the fastest way to implement it with ruint.
fn mul_div(a: U256, b: U256, d: U256) -> U256 {
    if a.bit_len() + b.bit_len() <= 256 {
        a * b / d
    } else {
        (a.widening_mul::<256, 4, 512, 8>(b) / U512::from(d)).to()
    }
}

/// Applies the rule `le@4` to an operand: sets bits 32 to 63.
fn set_upper_half(number: &mut U256, word: u32) {
    let mut limbs = number.into_limbs();
    arena_kit::set_upper_half(&mut limbs, word);
    *number = U256::from_limbs(limbs);
}

fn integers() -> Vec<Op> {
    let number = |r: &mut Reader| r.limbs().map(U256::from_limbs);
    let two = move |r: &mut Reader| Some((number(r)?, number(r)?));
    let three = move |r: &mut Reader| Some((number(r)?, number(r)?, number(r)?));
    vec![
        array("u256_add", two)
            .change("le@4", |(a, _), word| set_upper_half(a, word))
            .call(|&(a, b)| a.wrapping_add(b).into_limbs()),
        array("u256_mul", two)
            .change("le@4", |(a, _), word| set_upper_half(a, word))
            .call(|&(a, b)| a.wrapping_mul(b).into_limbs()),
        array("u256_div", two)
            .change("le@4", |(a, _), word| set_upper_half(a, word))
            .call(|&(a, b)| a.wrapping_div(b).into_limbs()),
        array("u256_uniswapv2_amount_out", three)
            .change("le@4", |(a, ..), word| set_upper_half(a, word))
            .call(|&(amount, reserve_in, out)| {
                let amount = amount * U256::from(997);
                (amount * out / (reserve_in * U256::from(1000) + amount)).into_limbs()
            }),
        array("u256_mulDiv", three)
            .change("le@4", |(a, ..), word| set_upper_half(a, word))
            .call(|&(a, b, d)| mul_div(a, b, d).into_limbs()),
        array("u256_uniswapv4_swap", three)
            .change("le@4", |(a, ..), word| set_upper_half(a, word))
            .call(|&(liquidity, price, amount)| {
                mul_div(liquidity, price, liquidity + amount * price).into_limbs()
            }),
    ]
}

const ENCODE: &str = "hex_encode_32b";
const ENCODE_INTO: &str = "hex_encode_32b_into";
const DECODE: &str = "hex_decode_32b";
const DECODE_INTO: &str = "hex_decode_32b_into";
const ENCODE_1KB: &str = "hex_encode_1kb_into";
const DECODE_1KB: &str = "hex_decode_1kb_into";
const ENCODE_1MB: &str = "hex_encode_1mb_into";
const DECODE_1MB: &str = "hex_decode_1mb_into";

fn bytes<const N: usize>(r: &mut Reader) -> Option<[u8; N]> {
    r.array()
}

fn const_hex_ops() -> Vec<Op> {
    vec![
        array(ENCODE, bytes::<32>)
            .raw()
            .call(|bytes| const_hex::encode(bytes)),
        array(ENCODE_INTO, bytes::<32>).raw().reuse(
            || [0; 64],
            |bytes, out| const_hex::encode_to_slice(bytes, out),
        ),
        array(DECODE, bytes::<64>)
            .raw()
            .call(|text| const_hex::decode(text)),
        array(DECODE_INTO, bytes::<64>).raw().reuse(
            || [0; 32],
            |text, out| const_hex::decode_to_slice(text, out),
        ),
        op(ENCODE_1KB, bytes::<1024>).raw().reuse(
            || [0; 2048],
            |bytes, out| const_hex::encode_to_slice(bytes, out),
        ),
        op(DECODE_1KB, bytes::<2048>).raw().reuse(
            || [0; 1024],
            |text, out| const_hex::decode_to_slice(text, out),
        ),
        op(ENCODE_1MB, Reader::whole).raw().reuse(
            || vec![0; 2 << 20],
            |bytes, out| const_hex::encode_to_slice(bytes, out),
        ),
        op(DECODE_1MB, Reader::whole).raw().reuse(
            || vec![0; 1 << 20],
            |text, out| const_hex::decode_to_slice(text, out),
        ),
        negative("hex_decode_32b", |text| const_hex::decode(text).is_ok()),
        array("address_from_hex", bytes::<42>)
            .raw()
            .call(|text| const_hex::decode_to_array::<_, 20>(text)),
        negative("address_from_hex", |text| {
            const_hex::decode_to_array::<_, 20>(text).is_ok()
        }),
    ]
}

fn faster_hex_ops() -> Vec<Op> {
    vec![
        array(ENCODE, bytes::<32>)
            .raw()
            .call(|bytes| faster_hex::hex_string(bytes)),
        array(ENCODE_INTO, bytes::<32>).raw().reuse(
            || [0; 64],
            |bytes, out| faster_hex::hex_encode(bytes, out).map(drop),
        ),
        array(DECODE, bytes::<64>)
            .raw()
            .call(|text| faster_hex::hex_decode_vec(text)),
        array(DECODE_INTO, bytes::<64>).raw().reuse(
            || [0; 32],
            |text, out| faster_hex::hex_decode(text, out).map(drop),
        ),
        op(ENCODE_1KB, bytes::<1024>).raw().reuse(
            || [0; 2048],
            |bytes, out| faster_hex::hex_encode(bytes, out).map(drop),
        ),
        op(DECODE_1KB, bytes::<2048>).raw().reuse(
            || [0; 1024],
            |text, out| faster_hex::hex_decode(text, out).map(drop),
        ),
        op(ENCODE_1MB, Reader::whole).raw().reuse(
            || vec![0; 2 << 20],
            |bytes, out| faster_hex::hex_encode(bytes, out).map(drop),
        ),
        op(DECODE_1MB, Reader::whole).raw().reuse(
            || vec![0; 1 << 20],
            |text, out| faster_hex::hex_decode(text, out).map(drop),
        ),
        negative("hex_decode_32b", |text| {
            faster_hex::hex_decode_vec(text).is_ok()
        }),
    ]
}

fn hex_simd_ops() -> Vec<Op> {
    let encode = |bytes: &[u8], out: &mut [u8]| {
        let _ = hex_simd::encode(bytes, out.as_out(), AsciiCase::Lower);
    };
    let decode = |text: &[u8], out: &mut [u8]| hex_simd::decode(text, out.as_out()).map(drop);
    vec![
        array(ENCODE, bytes::<32>)
            .raw()
            .call(|bytes| hex_simd::encode_to_string(bytes, AsciiCase::Lower)),
        array(ENCODE_INTO, bytes::<32>)
            .raw()
            .reuse(|| [0; 64], move |bytes, out| encode(bytes, out)),
        array(DECODE, bytes::<64>)
            .raw()
            .call(|text| hex_simd::decode_to_vec(text)),
        array(DECODE_INTO, bytes::<64>)
            .raw()
            .reuse(|| [0; 32], move |text, out| decode(text, out)),
        op(ENCODE_1KB, bytes::<1024>)
            .raw()
            .reuse(|| [0; 2048], move |bytes, out| encode(bytes, out)),
        op(DECODE_1KB, bytes::<2048>)
            .raw()
            .reuse(|| [0; 1024], move |text, out| decode(text, out)),
        op(ENCODE_1MB, Reader::whole)
            .raw()
            .reuse(|| vec![0; 2 << 20], move |bytes, out| encode(bytes, out)),
        op(DECODE_1MB, Reader::whole)
            .raw()
            .reuse(|| vec![0; 1 << 20], move |text, out| decode(text, out)),
        negative("hex_decode_32b", |text| {
            hex_simd::decode_to_vec(text).is_ok()
        }),
    ]
}

fn fashex_ops() -> Vec<Op> {
    let encode = |bytes: &[u8], out: &mut [u8]| fashex::encode::<false>(bytes, out).map(drop);
    let decode = |text: &[u8], out: &mut [u8]| fashex::decode(text, out).map(drop);
    let to_string = |bytes: &[u8]| {
        let mut text = Vec::with_capacity(2 * bytes.len());
        fashex::encode::<false>(bytes, &mut text)
            .map(drop)
            .map(|()| text)
    };
    let to_bytes = |text: &[u8]| {
        let mut bytes = Vec::with_capacity(text.len() / 2);
        fashex::decode(text, &mut bytes).map(drop).map(|()| bytes)
    };
    vec![
        array(ENCODE, bytes::<32>)
            .raw()
            .call(move |bytes| to_string(bytes)),
        array(ENCODE_INTO, bytes::<32>)
            .raw()
            .reuse(|| [0; 64], move |bytes, out| encode(bytes, out)),
        array(DECODE, bytes::<64>)
            .raw()
            .call(move |text| to_bytes(text)),
        array(DECODE_INTO, bytes::<64>)
            .raw()
            .reuse(|| [0; 32], move |text, out| decode(text, out)),
        op(ENCODE_1KB, bytes::<1024>)
            .raw()
            .reuse(|| [0; 2048], move |bytes, out| encode(bytes, out)),
        op(DECODE_1KB, bytes::<2048>)
            .raw()
            .reuse(|| [0; 1024], move |text, out| decode(text, out)),
        op(ENCODE_1MB, Reader::whole)
            .raw()
            .reuse(|| vec![0; 2 << 20], move |bytes, out| encode(bytes, out)),
        op(DECODE_1MB, Reader::whole)
            .raw()
            .reuse(|| vec![0; 1 << 20], move |text, out| decode(text, out)),
        negative("hex_decode_32b", move |text| to_bytes(text).is_ok()),
    ]
}
