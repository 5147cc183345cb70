//! The precompiles of the EVM: outputs where slow code can compute them from the input, gas, and encodings of points.
//!
//! An output has two parts: one byte, 1 for success and 0 for failure, and the bytes that the precompile returns.

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;

use super::curve::{BN254_G1, Curve, P256, Point};
use super::{hash, keccak256, secp256k1};

/// An item and the parts of its expected output.
pub struct Case {
    /// The item.
    pub item: Vec<u8>,
    /// The parts of its output.
    pub parts: Vec<Vec<u8>>,
}

impl Case {
    /// A case in which the precompile succeeds on `item` and returns `output`.
    pub fn success(item: Vec<u8>, output: Vec<u8>) -> Self {
        let parts = vec![vec![1], output];
        Self { item, parts }
    }

    /// A case in which the precompile fails on `item`.
    pub fn failure(item: Vec<u8>) -> Self {
        let parts = vec![vec![0], Vec::new()];
        Self { item, parts }
    }

    /// Whether the precompile succeeds.
    pub fn succeeds(&self) -> bool {
        self.parts[0] == [1]
    }
}

/// The expected result for this input; `None` for precompiles whose outputs are only known for drawn inputs.
pub fn output(address: u64, input: &[u8]) -> Result<Option<Case>> {
    let item = input.to_vec();
    let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
    Ok(Some(match address {
        0x01 => {
            let (hash, v, signature) = (&input[..32], &input[32..64], &input[64..128]);
            let v = number(v);
            let known = v == BigUint::from(27u8) || v == BigUint::from(28u8);
            let id = [u8::from(v == BigUint::from(28u8))];
            let found = secp256k1::recover(hash, &[signature, &id].concat()).ok();
            let output = match found.filter(|_| known) {
                Some(key) => [&[0; 12], &keccak256(&key)[12..]].concat(),
                None => Vec::new(),
            };
            Case::success(item, output)
        }
        0x02 => Case::success(item, hash::sha256(input).to_vec()),
        0x03 => Case::success(
            item,
            [vec![0; 12], hash::ripemd160(input).to_vec()].concat(),
        ),
        0x04 => Case::success(item.clone(), item),
        0x05 => {
            let length = |at: usize| usize::try_from(number(&input[at..at + 32]));
            let (base, exponent, modulus) = (length(0)?, length(32)?, length(64)?);
            // EIP-7823
            if base.max(exponent).max(modulus) > 1024 {
                return Ok(Some(Case::failure(item)));
            }
            let (e_at, m_at) = (96 + base, 96 + base + exponent);
            let (b, e) = (number(&input[96..e_at]), number(&input[e_at..m_at]));
            let m = number(&input[m_at..m_at + modulus]);
            let power = match m == BigUint::ZERO {
                true => m,
                false => b.modpow(&e, &m),
            };
            Case::success(item, be(&power, modulus))
        }
        0x07 => {
            let point = (number(&input[..32]), number(&input[32..64]));
            let (x, y) = (vec![point.0], vec![point.1]);
            if !BN254_G1.contains(&x, &y) {
                return Ok(Some(Case::failure(item)));
            }
            let product = BN254_G1.multiply(&number(&input[64..96]), &Some((x, y)));
            Case::success(item, bn254(&product, 1))
        }
        0x100 => Case::success(item, p256_verify(input)?),
        0x09 => match input.last() {
            Some(0 | 1) => {
                let output = hash::blake2f(input.try_into().context("213 bytes")?);
                Case::success(item, output)
            }
            _ => Case::failure(item),
        },
        _ => return Ok(None),
    }))
}

/// Verifies a signature by its definition (SEC 1, section 4.1.4): 1 as 32 bytes, or nothing if it is invalid.
fn p256_verify(input: &[u8]) -> Result<Vec<u8>> {
    let curve: &Curve = &P256;
    let n = &curve.order;
    let numbers: Vec<BigUint> = input.chunks(32).map(BigUint::from_bytes_be).collect();
    let [e, r, s, x, y] = numbers.as_slice() else {
        bail!("expected 160 bytes, found {}", input.len());
    };
    let (qx, qy) = (vec![x.clone()], vec![y.clone()]);
    let valid = [r, s].iter().all(|v| **v != BigUint::ZERO && *v < n)
        && [x, y].iter().all(|v| *v < &curve.p)
        && curve.contains(&qx, &qy);
    if !valid {
        return Ok(Vec::new());
    }
    let w = s.modinv(n).context("inverse")?;
    let left = curve.generate(&(e * &w));
    let right = curve.multiply(&(r * &w % n), &Some((qx, qy)));
    let found = curve.add(&left, &right);
    Ok(match found {
        Some((x, _)) if &x[0] % n == *r => be(&BigUint::from(1u8), 32),
        _ => Vec::new(),
    })
}

/// Big-endian, zero-padded to `len` bytes.
pub fn be(value: &BigUint, len: usize) -> Vec<u8> {
    let digits = value.to_bytes_be();
    [vec![0; len.saturating_sub(digits.len())], digits].concat()
}

/// Encodes a point as in EIP-196 and EIP-197, with the imaginary part first.
pub fn bn254(point: &Point, parts: usize) -> Vec<u8> {
    match point {
        None => vec![0; 64 * parts],
        Some((x, y)) => [x, y]
            .iter()
            .flat_map(|c| c.iter().rev().flat_map(|part| be(part, 32)))
            .collect(),
    }
}

/// Encodes a point as in EIP-2537: 64 bytes per part, with the imaginary part last.
pub fn bls(point: &Point, parts: usize) -> Vec<u8> {
    match point {
        None => vec![0; 128 * parts],
        Some((x, y)) => [x, y]
            .iter()
            .flat_map(|c| c.iter().flat_map(|part| be(part, 64)))
            .collect(),
    }
}

/// Decodes an affine point; zeros are infinity.
pub fn point(curve: &Curve, bytes: &[u8], width: usize) -> Result<Point> {
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let mut parts: Vec<BigUint> = bytes.chunks(width).map(BigUint::from_bytes_be).collect();
    let y = parts.split_off(parts.len() / 2);
    ensure!(curve.contains(&parts, &y), "not on the curve");
    Ok(Some((parts, y)))
}

/// The sum of the two points of an input; `width` is the size of a number.
pub fn sum(curve: &Curve, item: &[u8], width: usize) -> Result<Point> {
    let (left, right) = item.split_at(item.len() / 2);
    Ok(curve.add(&point(curve, left, width)?, &point(curve, right, width)?))
}

/// The sum of the multiples of an input's points, each `size` bytes and followed by its scalar.
pub fn msm(curve: &Curve, item: &[u8], size: usize) -> Result<Point> {
    let mut sum = None;
    let mut known: Option<(&[u8], Point)> = None;
    for term in item.chunks(size + 32) {
        let product = match &known {
            Some((same, product)) if *same == term => product.clone(),
            _ => {
                let (left, scalar) = term.split_at(size);
                curve.multiply(&BigUint::from_bytes_be(scalar), &point(curve, left, 64)?)
            }
        };
        sum = curve.add(&sum, &product);
        known = Some((term, product));
    }
    Ok(sum)
}

/// The gas of a call since Osaka: EIP-152, 1108, 2537, 4844, 7883, 7951 and the Yellow Paper.
pub fn gas(address: u64, input: &[u8]) -> Result<u64> {
    let words = input.len().div_ceil(32) as u64;
    Ok(match address {
        0x01 => 3000,
        0x02 => 60 + 12 * words,
        0x03 => 600 + 120 * words,
        0x04 => 15 + 3 * words,
        0x05 => modexp_gas(input)?,
        0x06 => 150,
        0x07 => 6000,
        0x08 => 45_000 + 34_000 * (input.len() / 192) as u64,
        0x09 => u64::from(u32::from_be_bytes(*input.first_chunk().context("rounds")?)),
        0x0a => 50_000,
        0x0b => 375,
        0x0c => (input.len() / 160) as u64 * 12 * discount(input.len() / 160)?[0],
        0x0d => 600,
        0x0e => (input.len() / 288) as u64 * 45 * discount(input.len() / 288)?[1] / 2,
        0x0f => 37_700 + 32_600 * (input.len() / 384) as u64,
        0x10 => 5500,
        0x11 => 23_800,
        0x100 => 6900,
        _ => bail!("no precompile at {address:#x}"),
    })
}

/// The gas of modular exponentiation (EIP-7883).
fn modexp_gas(input: &[u8]) -> Result<u64> {
    let field = |at: usize, len: usize| -> BigUint {
        let bytes = (at..at + len).map(|i| input.get(i).copied().unwrap_or(0));
        BigUint::from_bytes_be(&bytes.collect::<Vec<_>>())
    };
    let length = |at: usize| -> Result<u64> { Ok(u64::try_from(field(at, 32))?) };
    let (base, exponent, modulus) = (length(0)?, length(32)?, length(64)?);
    ensure!(
        base.max(modulus).max(exponent) <= 1 << 20,
        "not for this slow code"
    );
    let longest = base.max(modulus);
    let multiplication = match longest {
        0..=32 => 16,
        _ => 2 * longest.div_ceil(8).pow(2),
    };
    let head = field(96 + base as usize, exponent.min(32) as usize);
    let iterations = 16 * exponent.saturating_sub(32) + head.bits().saturating_sub(1);
    Ok((multiplication * iterations.max(1)).max(500))
}

/// EIP-2537: the discount in thousandths for G1 and G2, for the numbers of points that rows use.
fn discount(points: usize) -> Result<[u64; 2]> {
    Ok(match points {
        1 => [1000, 1000],
        2 => [949, 1000],
        16 => [677, 717],
        64 => [576, 582],
        128 => [519, 524],
        _ => bail!("no row has {points} points"),
    })
}
