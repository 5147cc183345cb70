//! Writes the tables of the curves: `cargo run --release -p lydite-curve --example generate_tables`.
//!
//! Computes multiples of the generators of secp256k1 and secp256r1 with affine points over big integers, deliberately
//! without the crate's arithmetic.
//!
//! `secp256k1/comb.bin`: (2 i + 1) 2^(6 j) G at 32 j + i, for j in 0..43, i in 0..32.
//! `secp256k1/generator.bin`: (2 i + 1) G, then (2 i + 1) 2^128 G, for i in 0..2048.
//! `secp256r1/generator.bin`: (2 i + 1) G, for i in 0..1024, times 2^256 modulo the field prime (Montgomery form).
//! `bls12_381/generator.bin`: (2 i + 1) G, for i in 0..64, times 2^384 modulo the field prime.
//! Each point is x, y, 32 little-endian bytes each; 48 bytes each for BLS12-381.
//!
//! `bls12_381/negated_generator.bin`, `bls12_381/tau.bin`: the lines `b x / y w^2 + c / y + w^3` of the Miller loops
//! with -G2 and tau G2, derived from those that blst computes: b and c in blst's form, in little-endian words.

use std::{fs, io, path::Path};

use num_bigint::BigUint;

type Point = (BigUint, BigUint);

/// The curve y^2 = x^3 - minus_a x + b modulo p.
struct Curve {
    p: BigUint,
    minus_a: u8,
}

/// The chord-and-tangent rule for two finite points whose sum is finite.
fn add(curve: &Curve, a: &Point, b: &Point) -> Point {
    let p = &curve.p;
    let (numerator, denominator) = if a == b {
        (&a.0 * &a.0 * 3u8 + p - curve.minus_a, &a.1 * 2u8)
    } else {
        (&b.1 + p - &a.1, &b.0 + p - &a.0)
    };
    let slope = numerator * denominator.modpow(&(p - 2u8), p) % p;
    let x = (&slope * &slope + (p << 1) - &a.0 - &b.0) % p;
    let y = (slope * (&a.0 + p - &x) + p - &a.1) % p;
    (x, y)
}

fn double_times(curve: &Curve, point: &Point, times: usize) -> Point {
    (0..times).fold(point.clone(), |sum, _| add(curve, &sum, &sum))
}

/// Appends 1, 3, 5, ... times the point, with each coordinate multiplied by `factor`, as `length` bytes.
fn write_odd_multiples(
    out: &mut Vec<u8>,
    curve: &Curve,
    point: &Point,
    count: usize,
    factor: &BigUint,
    length: usize,
) {
    let double = add(curve, point, point);
    let mut multiple = point.clone();
    for i in 0..count {
        if i > 0 {
            multiple = add(curve, &multiple, &double);
        }
        for coordinate in [&multiple.0, &multiple.1] {
            let mut bytes = (coordinate * factor % &curve.p).to_bytes_le();
            bytes.resize(length, 0);
            out.extend(bytes);
        }
    }
}

fn main() -> io::Result<()> {
    let number = |hex: &[u8]| BigUint::parse_bytes(hex, 16).ok_or(io::ErrorKind::InvalidInput);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let one = BigUint::from(1u8);

    let secp256k1 = Curve {
        p: (&one << 256) - (&one << 32) - 977u32,
        minus_a: 0,
    };
    let generator = (
        number(b"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")?,
        number(b"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")?,
    );
    let mut comb = Vec::new();
    let mut base = generator.clone();
    for _ in 0..43 {
        write_odd_multiples(&mut comb, &secp256k1, &base, 32, &one, 32);
        base = double_times(&secp256k1, &base, 6);
    }
    fs::write(folder.join("secp256k1/comb.bin"), comb)?;

    let mut table = Vec::new();
    write_odd_multiples(&mut table, &secp256k1, &generator, 2048, &one, 32);
    let upper = double_times(&secp256k1, &generator, 128);
    write_odd_multiples(&mut table, &secp256k1, &upper, 2048, &one, 32);
    fs::write(folder.join("secp256k1/generator.bin"), table)?;

    let secp256r1 = Curve {
        p: (&one << 256) - (&one << 224) + (&one << 192) + (&one << 96) - 1u8,
        minus_a: 3,
    };
    let generator = (
        number(b"6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")?,
        number(b"4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")?,
    );
    let mut table = Vec::new();
    write_odd_multiples(&mut table, &secp256r1, &generator, 1024, &(&one << 256), 32);
    fs::write(folder.join("secp256r1/generator.bin"), table)?;

    let bls12_381 = Curve {
        p: number(
            b"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
        )?,
        minus_a: 0,
    };
    let generator = (
        number(
            b"17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
        )?,
        number(
            b"08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
        )?,
    );
    let mut table = Vec::new();
    write_odd_multiples(&mut table, &bls12_381, &generator, 64, &(&one << 384), 48);
    fs::write(folder.join("bls12_381/generator.bin"), table)?;

    // SAFETY: blst returns a valid pointer to a static.
    let mut negated = unsafe { *blst::blst_p2_affine_generator() };
    let y = negated.y;
    // SAFETY: both pointers come from references to field elements.
    unsafe { blst::blst_fp2_cneg(&mut negated.y, &y, true) };
    write_lines(&folder.join("bls12_381/negated_generator.bin"), &negated)?;
    let compressed = number(TAU)?.to_bytes_be();
    let mut tau = blst::blst_p2_affine::default();
    // SAFETY: `compressed` must have 96 bytes, which is asserted below for the constant; the output is a valid point.
    let read = unsafe { blst::blst_p2_uncompress(&mut tau, compressed.as_ptr()) };
    assert!(compressed.len() == 96 && read == blst::BLST_ERROR::BLST_SUCCESS);
    write_lines(&folder.join("bls12_381/tau.bin"), &tau)
}

/// tau G2 of Ethereum's KZG ceremony, compressed: the trusted setup's `g2_monomial[1]`.
const TAU: &[u8] = b"b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72\
    185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2";

fn write_lines(path: &Path, point: &blst::blst_p2_affine) -> io::Result<()> {
    let mut lines = [blst::blst_fp6::default(); 68];
    // SAFETY: reads a valid point and writes the 68 lines of a Miller loop, for which the array has room. Each line has
    // the coefficients of 1, -2 x and 2 y.
    unsafe { blst::blst_precompute_lines(lines.as_mut_ptr(), point) };
    let mut bytes = Vec::new();
    for line in lines {
        let [constant, by_x, by_y] = line.fp2;
        let (mut by_2y, mut inverse) = (by_y, by_y);
        let (mut minus_by_x, mut out) = (by_x, by_x);
        // SAFETY: all pointers come from references to field elements.
        unsafe {
            blst::blst_fp2_cneg(&mut minus_by_x, &by_x, true);
            blst::blst_fp2_add(&mut by_2y, &by_y, &by_y);
        }
        for (coefficient, divisor) in [(minus_by_x, by_y), (constant, by_2y)] {
            // SAFETY: all pointers come from references to field elements.
            unsafe {
                blst::blst_fp2_inverse(&mut inverse, &divisor);
                blst::blst_fp2_mul(&mut out, &coefficient, &inverse);
            }
            let words = out.fp.iter().flat_map(|c| c.l);
            bytes.extend(words.flat_map(u64::to_le_bytes));
        }
    }
    fs::write(path, bytes)
}
