//! Inputs of the precompiles, drawn so that their outputs are known: from slow code for hashes and powers, from
//! discrete logarithms for the curves (a pairing product is one if the products of the logarithms sum to zero), and
//! from quadratic polynomials for KZG.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use num_bigint::BigUint;
use serde_json::Value;

use super::super::draw::wrong;
use super::bytes;
use crate::kernel::Precompile;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::curve::{BLS_G1, BLS_G2, BN254_G1, BN254_G2, Curve, P256, Point};
use crate::truth::precompiles::{Case, be, bls, bn254};
use crate::truth::{hash, keccak256, secp256k1};

/// Geth's vectors of the map-to-curve precompiles.
static MAPS: LazyLock<[Value; 2]> = LazyLock::new(|| {
    [
        include_str!("../../../../vectors/precompiles/geth/blsMapG1.json"),
        include_str!("../../../../vectors/precompiles/geth/blsMapG2.json"),
    ]
    // The vectors are compiled in and read by every test.
    .map(|text| serde_json::from_str(text).unwrap_or_else(|error| unreachable!("vectors: {error}")))
});

/// A random number of exactly `bits` bits.
fn sized(random: &mut Random, bits: usize) -> BigUint {
    let mut value = BigUint::from_bytes_le(&random.bytes(bits.div_ceil(8)));
    value >>= bits.next_multiple_of(8) - bits;
    value.set_bit(bits as u64 - 1, true);
    value
}

/// A random scalar below all group orders used here.
fn scalar(random: &mut Random) -> BigUint {
    sized(random, 253)
}

/// The compressed encoding of a point of BLS12-381 G1.
fn compressed(point: &Point) -> Vec<u8> {
    let Some((x, y)) = point else {
        return [vec![0xc0], vec![0; 47]].concat();
    };
    let mut out = be(&x[0], 48);
    let larger = &y[0] * 2u8 > BLS_G1.p;
    out[0] |= if larger { 0xa0 } else { 0x80 };
    out
}

/// Moves a point off the curve by adding one to its y coordinate.
fn off_curve(point: Point) -> Point {
    point.map(|(x, mut y)| {
        y[0] += 1u8;
        (x, y)
    })
}

fn big(low: u64) -> BigUint {
    BigUint::from(low)
}

/// Valid inputs mixed with invalid ones that only fail in the last step; both cost the same.
pub const MIXED: &str = "mixed";

/// Draws one item of a row whose inputs are varied.
pub fn draw(kernel: Precompile, op: &Op, random: &mut Random) -> Result<Case> {
    let case = match op.case.as_str() {
        MIXED if wrong(random) => "fail_proof",
        MIXED => "",
        case => case,
    };
    let fails = case.starts_with("fail");
    Ok(match kernel {
        Precompile::Ecrecover => ecrecover(random, case)?,
        Precompile::Sha256 => {
            let item = random.bytes(op.size);
            let output = hash::sha256(&item).to_vec();
            Case::success(item, output)
        }
        Precompile::Ripemd160 => {
            let item = random.bytes(op.size);
            let output = [vec![0; 12], hash::ripemd160(&item).to_vec()].concat();
            Case::success(item, output)
        }
        Precompile::Identity => {
            let item = random.bytes(op.size);
            Case::success(item.clone(), item)
        }
        Precompile::Modexp => modexp(random, case)?,
        Precompile::Bn254Add | Precompile::BlsG1Add | Precompile::BlsG2Add => {
            let (curve, write): (&Curve, fn(&Point) -> Vec<u8>) = match kernel {
                Precompile::Bn254Add => (&BN254_G1, |p| bn254(p, 1)),
                Precompile::BlsG1Add => (&BLS_G1, |p| bls(p, 1)),
                _ => (&BLS_G2, |p| bls(p, 2)),
            };
            let (a, b) = (scalar(random), scalar(random));
            let (left, right) = (curve.generate(&a), curve.generate(&b));
            match case {
                "fail" => Case::failure([write(&left), write(&off_curve(right))].concat()),
                "double" => {
                    Case::success(write(&left).repeat(2), write(&curve.generate(&(a * 2u8))))
                }
                "infinity" => Case::success([write(&left), write(&None)].concat(), write(&left)),
                _ => Case::success(
                    [write(&left), write(&right)].concat(),
                    write(&curve.generate(&(a + b))),
                ),
            }
        }
        Precompile::Bn254Mul => {
            let a = scalar(random);
            let point = BN254_G1.generate(&a);
            let bits = if case.contains("chfast1") { 61 } else { 256 };
            let k = sized(random, bits);
            if fails {
                Case::failure([bn254(&off_curve(point), 1), be(&k, 32)].concat())
            } else {
                let item = [bn254(&point, 1), be(&k, 32)].concat();
                Case::success(item, bn254(&BN254_G1.generate(&(a * k)), 1))
            }
        }
        Precompile::Bn254Pairing => pairing(random, case, op.size, &BN254_G1, &BN254_G2, bn254)?,
        Precompile::BlsPairing => pairing(random, case, op.size, &BLS_G1, &BLS_G2, bls)?,
        Precompile::Blake2f => {
            let mut input = [0; 213];
            input[..4].copy_from_slice(&(op.size as u32).to_be_bytes());
            input[4..212].copy_from_slice(&random.bytes(208));
            input[212] = if fails { 2 } else { (random.word() & 1) as u8 };
            match fails {
                true => Case::failure(input.to_vec()),
                false => Case::success(input.to_vec(), hash::blake2f(&input)),
            }
        }
        Precompile::Kzg => kzg(random, case)?,
        Precompile::BlsG1Msm => msm(random, case, op.size, &BLS_G1, 1)?,
        Precompile::BlsG2Msm => msm(random, case, op.size, &BLS_G2, 2)?,
        Precompile::BlsMap if fails => {
            // Coordinates that are not below the prime.
            let parts = if op.call.ends_with("11") { 2 } else { 1 };
            let parts = (0..parts).flat_map(|_| be(&(&BLS_G1.p + sized(random, 64)), 64));
            Case::failure(parts.collect())
        }
        Precompile::BlsMap => maps(op, random, 1)?.swap_remove(0),
        Precompile::P256Verify => p256(random, fails)?,
    })
}

/// Inputs of Geth's vectors in random order: the outputs of the maps to curves cannot be derived by algebra.
pub fn maps(op: &Op, random: &mut Random, count: usize) -> Result<Vec<Case>> {
    let [g1, g2] = &*MAPS;
    let vectors = if op.call.ends_with("11") { g2 } else { g1 };
    let mut own: Vec<&Value> = vectors.as_array().context("vectors")?.iter().collect();
    random.shuffle(&mut own);
    let case = |v: &&Value| Ok(Case::success(bytes(&v["Input"])?, bytes(&v["Expected"])?));
    own.iter().take(count).map(case).collect()
}

fn ecrecover(random: &mut Random, case: &str) -> Result<Case> {
    let key = [vec![0x11], random.bytes(31)].concat();
    let message = random.bytes(32);
    let signature = secp256k1::sign(&key, &message)?;
    let item =
        |r: &[u8], v: u8| [message.as_slice(), &[0; 31], &[v], r, &signature[32..64]].concat();
    let v = 27 + signature[64];
    Ok(match case {
        // A signature that cannot be recovered costs the same gas and returns nothing.
        "off_curve" => loop {
            let r = [vec![0x11], random.bytes(31)].concat();
            let other = [r.as_slice(), &signature[32..]].concat();
            if secp256k1::recover(&message, &other).is_err() {
                break Case::success(item(&r, v), Vec::new());
            }
        },
        "wrong_v" => Case::success(item(&signature[..32], 29), Vec::new()),
        _ => {
            let public = secp256k1::public_key(&key)?;
            let output = [&[0; 12], &keccak256(&public)[12..]].concat();
            Case::success(item(&signature[..32], v), output)
        }
    })
}

/// `base exponent modulus parity`: lengths in bytes, or `=N` for the exponent N itself.
fn modexp(random: &mut Random, case: &str) -> Result<Case> {
    let words: Vec<&str> = case.split(' ').collect();
    let [base, exponent, modulus, parity] = words[..] else {
        bail!("case {case:?}");
    };
    let (base, modulus): (usize, usize) = (base.parse()?, modulus.parse()?);
    let b = sized(random, 8 * base);
    let e = match exponent.strip_prefix('=') {
        Some(value) => value.parse()?,
        None => {
            let len: usize = exponent.parse()?;
            sized(random, 8 * len)
        }
    };
    let mut m = sized(random, 8 * modulus);
    // An even modulus has half of its bits in a power of two, the hardest split.
    match parity {
        "even" => m = (m >> (4 * modulus) << (4 * modulus)) + (big(1) << (4 * modulus - 1)),
        _ => m.set_bit(0, true),
    }
    let e_bytes = e.to_bytes_be();
    let lengths = [base, e_bytes.len(), modulus].map(|len| be(&big(len as u64), 32));
    let item = [lengths.concat(), be(&b, base), e_bytes, be(&m, modulus)].concat();
    if parity == "fail" {
        return Ok(Case::failure(item));
    }
    let output = be(&b.modpow(&e, &m), modulus);
    Ok(Case::success(item, output))
}

/// `size` pairs; half of all products are one.
fn pairing(
    random: &mut Random,
    case: &str,
    size: usize,
    g1: &Curve,
    g2: &Curve,
    write: fn(&Point, usize) -> Vec<u8>,
) -> Result<Case> {
    let (mut item, mut sum) = (Vec::new(), BigUint::ZERO);
    let one = random.word() & 1 == 0 && size > 1;
    for index in 0..size {
        let (mut a, b) = (scalar(random), scalar(random));
        if one && index + 1 == size {
            // The last point brings the sum back to zero.
            let back = &g1.order - &sum % &g1.order;
            a = back * b.modinv(&g1.order).context("inverse")? % &g1.order;
        }
        sum += &a * &b;
        let mut left = g1.generate(&a);
        let mut right = g2.generate(&b);
        if index + 1 == size {
            match case {
                "fail_curve" => left = off_curve(left),
                "fail_subgroup" => right = g2.outside_subgroup(&b)?,
                _ => {}
            }
        }
        item.extend(write(&left, 1));
        item.extend(write(&right, 2));
    }
    if case.starts_with("fail") {
        return Ok(Case::failure(item));
    }
    let product_is_one = sum % &g1.order == BigUint::ZERO;
    Ok(Case::success(item, be(&big(u64::from(product_is_one)), 32)))
}

/// `size` points in arithmetic progression, with scalars of 255 or 256 bits.
fn msm(random: &mut Random, case: &str, size: usize, curve: &Curve, parts: usize) -> Result<Case> {
    let (mut a, step) = (scalar(random), scalar(random));
    let (mut point, by) = (curve.generate(&a), curve.generate(&step));
    let (mut item, mut sum) = (Vec::new(), BigUint::ZERO);
    for index in 0..size {
        let k = sized(random, 255 + (index & 1));
        if case == "fail_subgroup" && index + 1 == size {
            point = curve.outside_subgroup(&a)?;
        }
        item.extend(bls(&point, parts));
        item.extend(be(&k, 32));
        sum += &a * k;
        point = curve.add(&point, &by);
        a += &step;
    }
    Ok(match case {
        "fail_subgroup" => Case::failure(item),
        _ => Case::success(item, bls(&curve.generate(&sum), parts)),
    })
}

/// The points t G and t^2 G of the ceremony's secret t, from the mainnet trusted setup (EIP-4844, `g1_monomial`).
static SETUP: LazyLock<[Point; 2]> = LazyLock::new(|| {
    let point = |x: &str, y: &str| -> Point {
        let part = |hex: &str| BigUint::parse_bytes(hex.as_bytes(), 16).map(|n| vec![n]);
        part(x).zip(part(y))
    };
    [
        point(
            "0d3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81",
            "17de623f59a3043952d2f637a935fae14b6dee8b255e526304963d58ab6f1a827c7de623d34d394f8a3d0f57d6e972b9",
        ),
        point(
            "0029c8ce0d2dce761a7f29c2df2290850c85bdfaec2955626d7acc8864aeb01fe16c9e156863dc63b6c22553910e27c1",
            "03a6a23d2d7f2468340557888fa5251e824ddc71d4cb9478dd94ba9156f9cd8c35a1db612a3735af9d344fd6dd258fbb",
        ),
    ]
});

/// A commitment to `p(X) = a + b X + c X^2` and its proof at `z`; the quotient polynomial is `(b + c z) + c X`.
fn kzg(random: &mut Random, case: &str) -> Result<Case> {
    let curve: &Curve = &BLS_G1;
    let r = &curve.order;
    let [a, b, c, z] = std::array::from_fn(|_| scalar(random));
    let times = |k: &BigUint, power: usize| curve.multiply(k, &SETUP[power]);
    let high = curve.add(&times(&b, 0), &times(&c, 1));
    let commitment = compressed(&curve.add(&curve.generate(&a), &high));
    let mut proof = curve.add(&curve.generate(&(&b + &c * &z)), &times(&c, 0));
    let mut y = (&a + &b * &z + &c * &z * &z) % r;
    let mut versioned = hash::sha256(&commitment);
    versioned[0] = 1;
    match case {
        "fail_proof" => y = (y + 1u8) % r,
        "fail_subgroup" => proof = curve.outside_subgroup(&a)?,
        "fail_hash" => versioned[31] ^= 1,
        _ => {}
    }
    let item = [
        versioned.to_vec(),
        be(&z, 32),
        be(&y, 32),
        commitment,
        compressed(&proof),
    ]
    .concat();
    if case.starts_with("fail") {
        return Ok(Case::failure(item));
    }
    Ok(Case::success(
        item,
        [be(&big(4096), 32), be(r, 32)].concat(),
    ))
}

/// A signature by key `d` with nonce `k`; a wrong one has another hash.
fn p256(random: &mut Random, fails: bool) -> Result<Case> {
    let curve: &Curve = &P256;
    let n = &curve.order;
    let (d, k, mut e) = (scalar(random), scalar(random), scalar(random));
    let (public, nonce) = (curve.generate(&d), curve.generate(&k));
    let ((qx, qy), (x, _)) = public.zip(nonce).context("a point")?;
    let r = &x[0] % n;
    let s = (&e + &r * &d) * k.modinv(n).context("inverse")? % n;
    if fails {
        e += 1u8;
    }
    let item = [&e, &r, &s, &qx[0], &qy[0]]
        .map(|value| be(value, 32))
        .concat();
    let output = if fails { Vec::new() } else { be(&big(1), 32) };
    Ok(Case::success(item, output))
}
