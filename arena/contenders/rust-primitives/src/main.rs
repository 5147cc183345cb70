//! Single-purpose crates that Rust users choose: ruint for integers, and for hex the crate named by the first argument,
//! const-hex (the default), faster-hex, hex-simd or fashex. Integers are only offered together with const-hex, because
//! they do not depend on the hex crate.

use arena_kit::hex::{self, Hex};
use arena_kit::integers::Integers;
use arena_kit::{Op, Reader, array, negative};
use hex_simd::{AsOut, AsciiCase};
use ruint::aliases::{U256, U512};

fn main() {
    let name = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "const-hex".to_owned());
    let ops = match name.as_str() {
        "faster-hex" => hex::ops(FasterHex),
        "hex-simd" => hex::ops(HexSimd),
        "fashex" => hex::ops(Fashex),
        _ => {
            let mut ops = hex::ops(ConstHex);
            ops.push(
                array("address_from_hex", Reader::array::<42>)
                    .raw()
                    .call(|text| const_hex::decode_to_array::<_, 20>(text)),
            );
            ops.push(negative("address_from_hex", |text| {
                const_hex::decode_to_array::<_, 20>(text).is_ok()
            }));
            ops.extend(integers());
            ops
        }
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

struct Ruint;

impl Integers for Ruint {
    type Number = U256;

    fn number(limbs: [u64; 4]) -> U256 {
        U256::from_limbs(limbs)
    }

    fn limbs(number: U256) -> [u64; 4] {
        number.into_limbs()
    }
}

fn integers() -> Vec<Op> {
    vec![
        Ruint::row("u256_add", |&[a, b]| a.wrapping_add(b).into_limbs()),
        Ruint::row("u256_mul", |&[a, b]| a.wrapping_mul(b).into_limbs()),
        Ruint::row("u256_div", |&[a, b]| a.wrapping_div(b).into_limbs()),
        Ruint::row("u256_mulDiv", |&[a, b, d]| mul_div(a, b, d).into_limbs()),
        Ruint::row("u256_uniswapv2_amount_out", |&[amount, reserve_in, out]| {
            let amount = amount * U256::from(997);
            (amount * out / (reserve_in * U256::from(1000) + amount)).into_limbs()
        }),
        Ruint::row("u256_uniswapv4_swap", |&[liquidity, price, amount]| {
            mul_div(liquidity, price, liquidity + amount * price).into_limbs()
        }),
    ]
}

#[derive(Clone, Copy)]
struct ConstHex;

impl Hex for ConstHex {
    type Digits = String;
    type Bytes = Result<Vec<u8>, const_hex::FromHexError>;

    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits {
        const_hex::encode(bytes)
    }

    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        const_hex::encode_to_slice(bytes, out).ok()
    }

    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes {
        const_hex::decode(text)
    }

    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        const_hex::decode_to_slice(text, out).ok()
    }
}

#[derive(Clone, Copy)]
struct FasterHex;

impl Hex for FasterHex {
    type Digits = String;
    type Bytes = Result<Vec<u8>, faster_hex::Error>;

    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits {
        faster_hex::hex_string(bytes.as_ref())
    }

    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        faster_hex::hex_encode(bytes.as_ref(), out).map(drop).ok()
    }

    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes {
        faster_hex::hex_decode_vec(text.as_ref())
    }

    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        faster_hex::hex_decode(text.as_ref(), out).map(drop).ok()
    }
}

#[derive(Clone, Copy)]
struct HexSimd;

impl Hex for HexSimd {
    type Digits = String;
    type Bytes = Result<Vec<u8>, hex_simd::Error>;

    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits {
        hex_simd::encode_to_string(bytes, AsciiCase::Lower)
    }

    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        let _ = hex_simd::encode(bytes.as_ref(), out.as_out(), AsciiCase::Lower);
        Some(())
    }

    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes {
        hex_simd::decode_to_vec(text)
    }

    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        hex_simd::decode(text.as_ref(), out.as_out()).map(drop).ok()
    }
}

#[derive(Clone, Copy)]
struct Fashex;

impl Hex for Fashex {
    type Digits = Result<Vec<u8>, fashex::InvalidInput>;
    type Bytes = Result<Vec<u8>, fashex::InvalidInput>;

    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits {
        let bytes = bytes.as_ref();
        let mut text = Vec::with_capacity(2 * bytes.len());
        fashex::encode::<false>(bytes, &mut text).map(drop)?;
        Ok(text)
    }

    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        fashex::encode::<false>(bytes.as_ref(), out).map(drop).ok()
    }

    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes {
        let text = text.as_ref();
        let mut bytes = Vec::with_capacity(text.len() / 2);
        fashex::decode(text, &mut bytes).map(drop)?;
        Ok(bytes)
    }

    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()> {
        fashex::decode(text.as_ref(), out).map(drop).ok()
    }
}
