//! Writes the tables of multiples of secp256k1's generator: `cargo run --release -p lydite-curve --example generate_tables`.
//!
//! Deliberately plain: affine points over big integers, none of the crate's own arithmetic.
//! `comb.bin`: (2 i + 1) 2^(6 j) G at 32 j + i, for j in 0..43, i in 0..32.
//! `generator.bin`: (2 i + 1) G, then (2 i + 1) 2^128 G, for i in 0..2048.
//! Each point is x, y, 32 little-endian bytes each.

use std::{fs, io, path::Path};

use num_bigint::BigUint;

type Point = (BigUint, BigUint);

/// The field prime, 2^256 - 2^32 - 977.
fn prime() -> BigUint {
    (BigUint::from(1u8) << 256) - (BigUint::from(1u8) << 32) - 977u32
}

/// The chord-and-tangent rule for two finite points whose sum is finite.
fn add(a: &Point, b: &Point) -> Point {
    let p = prime();
    let (numerator, denominator) = if a == b {
        (&a.0 * &a.0 * 3u8, &a.1 * 2u8)
    } else {
        (&b.1 + &p - &a.1, &b.0 + &p - &a.0)
    };
    let slope = numerator * denominator.modpow(&(&p - 2u8), &p) % &p;
    let x = (&slope * &slope + (&p << 1) - &a.0 - &b.0) % &p;
    let y = (slope * (&a.0 + &p - &x) + &p - &a.1) % &p;
    (x, y)
}

fn double_times(point: &Point, times: usize) -> Point {
    (0..times).fold(point.clone(), |sum, _| add(&sum, &sum))
}

/// Appends 1, 3, 5, ... times the point.
fn write_odd_multiples(out: &mut Vec<u8>, point: &Point, count: usize) {
    let double = add(point, point);
    let mut multiple = point.clone();
    for i in 0..count {
        if i > 0 {
            multiple = add(&multiple, &double);
        }
        for coordinate in [&multiple.0, &multiple.1] {
            let mut bytes = coordinate.to_bytes_le();
            bytes.resize(32, 0);
            out.extend(bytes);
        }
    }
}

fn main() -> io::Result<()> {
    let coordinate = |hex: &[u8]| BigUint::parse_bytes(hex, 16).ok_or(io::ErrorKind::InvalidInput);
    let generator = (
        coordinate(b"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")?,
        coordinate(b"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")?,
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/secp256k1");

    let mut comb = Vec::new();
    let mut base = generator.clone();
    for _ in 0..43 {
        write_odd_multiples(&mut comb, &base, 32);
        base = double_times(&base, 6);
    }
    fs::write(folder.join("comb.bin"), comb)?;

    let mut table = Vec::new();
    write_odd_multiples(&mut table, &generator, 2048);
    write_odd_multiples(&mut table, &double_times(&generator, 128), 2048);
    fs::write(folder.join("generator.bin"), table)
}
