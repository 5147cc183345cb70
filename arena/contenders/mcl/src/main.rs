//! mcl as a contender: BN254 or BLS12-381, selected by its argument, with the checks of EIP-196, 197 and 2537.

use std::ffi::c_int;

use arena_kit::{Op, locked_version, precompile, run};
use mcl_rust::{CurveType, Fp, Fp2, Fr, G1, G2, GT, final_exp, init};

// Functions of mcl's C interface (`mcl/bn.h`) that its crate does not declare.
unsafe extern "C" {
    fn mclBnFp_serialize(buffer: *mut u8, size: usize, x: *const Fp) -> usize;
    fn mclBnFp_mapToG1(y: *mut G1, x: *const Fp) -> c_int;
    fn mclBnFp2_mapToG2(y: *mut G2, x: *const Fp2) -> c_int;
    fn mclBn_setMapToMode(mode: c_int) -> c_int;
    fn mclBn_verifyOrderG1(verify: c_int);
    fn mclBn_verifyOrderG2(verify: c_int);
    fn mclBn_millerLoopVec(z: *mut GT, x: *const G1, y: *const G2, n: usize);
}

/// The hash-to-curve map of RFC 9380.
const HASH_TO_CURVE: c_int = 5;

/// Encoding of a prime field element in an EIP: big-endian, after a number of zero bytes.
#[derive(Clone, Copy)]
struct Format {
    bytes: usize,
    zeros: usize,
    /// Whether the imaginary part of an extension element comes first.
    i_first: bool,
}

const BN254: Format = Format {
    bytes: 32,
    zeros: 0,
    i_first: true,
};
const BLS12_381: Format = Format {
    bytes: 48,
    zeros: 16,
    i_first: false,
};

trait Coordinate: Default {
    /// Number of prime field elements.
    const PARTS: usize;

    fn read(bytes: &[u8], format: Format) -> Option<Self>;
    fn write(&self, format: Format, out: &mut Vec<u8>);
    fn is_zero(&self) -> bool;
    fn one() -> Self;
}

impl Coordinate for Fp {
    const PARTS: usize = 1;

    fn read(bytes: &[u8], format: Format) -> Option<Self> {
        let (zeros, bytes) = bytes.split_at_checked(format.zeros)?;
        let mut buffer = [0; 48];
        let little = buffer.get_mut(..bytes.len())?;
        little.copy_from_slice(bytes);
        little.reverse();
        let mut element = Self::default();
        // `deserialize` rejects values that are not below the prime.
        let read = zeros.iter().all(|byte| *byte == 0) && element.deserialize(little);
        read.then_some(element)
    }

    fn write(&self, format: Format, out: &mut Vec<u8>) {
        let mut little = [0; 48];
        // SAFETY: mcl writes at most `little.len()` bytes to `little`; `self` is a valid element to read.
        unsafe { mclBnFp_serialize(little.as_mut_ptr(), little.len(), self) };
        out.extend_from_slice(&[0; 16][..format.zeros]);
        out.extend(little[..format.bytes].iter().rev());
    }

    fn is_zero(&self) -> bool {
        Self::is_zero(self)
    }

    fn one() -> Self {
        Self::from_int(1)
    }
}

impl Coordinate for Fp2 {
    const PARTS: usize = 2;

    fn read(bytes: &[u8], format: Format) -> Option<Self> {
        let (first, second) = bytes.split_at_checked(bytes.len() / 2)?;
        let (first, second) = (Fp::read(first, format)?, Fp::read(second, format)?);
        let d = match format.i_first {
            true => [second, first],
            false => [first, second],
        };
        Some(Self { d })
    }

    fn write(&self, format: Format, out: &mut Vec<u8>) {
        let [real, i] = &self.d;
        let (first, second) = match format.i_first {
            true => (i, real),
            false => (real, i),
        };
        first.write(format, out);
        second.write(format, out);
    }

    fn is_zero(&self) -> bool {
        Self::is_zero(self)
    }

    fn one() -> Self {
        Self {
            d: [Fp::from_int(1), Fp::default()],
        }
    }
}

trait Group: Clone + Default {
    type Coordinate: Coordinate;

    fn of(x: Self::Coordinate, y: Self::Coordinate, z: Self::Coordinate) -> Self;
    fn coordinates(&self) -> (&Self::Coordinate, &Self::Coordinate);
    fn is_zero(&self) -> bool;
    /// Whether the point is on the curve and, if enabled by [`check_order`], in the subgroup.
    fn is_valid(&self) -> bool;
    fn sum(&self, other: &Self) -> Self;
    fn times(&self, factor: &Fr) -> Self;
    fn sum_of_products(points: &[Self], factors: &[Fr]) -> Self;
    fn normalized(&self) -> Self;
}

macro_rules! group {
    ($group:ty, $coordinate:ty) => {
        impl Group for $group {
            type Coordinate = $coordinate;

            fn of(x: $coordinate, y: $coordinate, z: $coordinate) -> Self {
                Self { x, y, z }
            }

            fn coordinates(&self) -> (&$coordinate, &$coordinate) {
                (&self.x, &self.y)
            }

            fn is_zero(&self) -> bool {
                Self::is_zero(self)
            }

            fn is_valid(&self) -> bool {
                Self::is_valid(self)
            }

            fn sum(&self, other: &Self) -> Self {
                self + other
            }

            fn times(&self, factor: &Fr) -> Self {
                let mut product = Self::default();
                Self::mul(&mut product, self, factor);
                product
            }

            fn sum_of_products(points: &[Self], factors: &[Fr]) -> Self {
                let mut sum = Self::default();
                Self::mul_vec(&mut sum, points, factors);
                sum
            }

            fn normalized(&self) -> Self {
                let mut affine = Self::default();
                Self::normalize(&mut affine, self);
                affine
            }
        }
    };
}
group!(G1, Fp);
group!(G2, Fp2);

/// Sets whether points must be in the subgroup to be valid.
fn check_order(check: bool) {
    // SAFETY: the calls set a global flag, and this program has only one thread.
    unsafe {
        mclBn_verifyOrderG1(check.into());
        mclBn_verifyOrderG2(check.into());
    }
}

/// Reads the first point of `bytes`; two zeros are the point at infinity.
fn point<G: Group>(bytes: &mut &[u8], format: Format) -> Option<G> {
    let length = G::Coordinate::PARTS * (format.zeros + format.bytes);
    let (head, rest) = bytes.split_at_checked(2 * length)?;
    *bytes = rest;
    let (x, y) = head.split_at(length);
    let (x, y) = (
        G::Coordinate::read(x, format)?,
        G::Coordinate::read(y, format)?,
    );
    if x.is_zero() && y.is_zero() {
        return Some(G::default());
    }
    let point = G::of(x, y, G::Coordinate::one());
    point.is_valid().then_some(point)
}

fn scalar(bytes: &mut &[u8]) -> Option<Fr> {
    let (head, rest) = bytes.split_first_chunk::<32>()?;
    *bytes = rest;
    let (mut little, mut scalar) = (*head, Fr::default());
    little.reverse();
    scalar.set_little_endian_mod(&little).then_some(scalar)
}

fn output<G: Group>(point: &G, format: Format) -> Vec<u8> {
    let length = 2 * G::Coordinate::PARTS * (format.zeros + format.bytes);
    if point.is_zero() {
        return vec![0; length];
    }
    let point = point.normalized();
    let (x, y) = point.coordinates();
    let mut out = Vec::with_capacity(length);
    x.write(format, &mut out);
    y.write(format, &mut out);
    out
}

fn add<G: Group>(mut input: &[u8], format: Format) -> Option<Vec<u8>> {
    check_order(false);
    let (a, b) = (
        point::<G>(&mut input, format)?,
        point::<G>(&mut input, format)?,
    );
    input.is_empty().then(|| output(&a.sum(&b), format))
}

fn multiply(mut input: &[u8]) -> Option<Vec<u8>> {
    check_order(false);
    let (point, factor) = (point::<G1>(&mut input, BN254)?, scalar(&mut input)?);
    Some(output(&point.times(&factor), BN254))
}

fn msm<G: Group>(mut input: &[u8]) -> Option<Vec<u8>> {
    check_order(true);
    let (mut points, mut factors) = (Vec::<G>::new(), Vec::new());
    while !input.is_empty() {
        points.push(point(&mut input, BLS12_381)?);
        factors.push(scalar(&mut input)?);
    }
    let sum = match points.as_slice() {
        [] => return None,
        [point] => point.times(&factors[0]),
        points => G::sum_of_products(points, &factors),
    };
    Some(output(&sum, BLS12_381))
}

fn pairing(mut input: &[u8], format: Format) -> Option<Vec<u8>> {
    check_order(true);
    let (mut left, mut right) = (Vec::<G1>::new(), Vec::<G2>::new());
    while !input.is_empty() {
        left.push(point(&mut input, format)?);
        right.push(point(&mut input, format)?);
    }
    let (mut product, mut result) = (GT::default(), GT::default());
    // SAFETY: `left` and `right` both have `left.len()` points, because they are pushed in pairs; `product` is a local
    // variable.
    unsafe { mclBn_millerLoopVec(&mut product, left.as_ptr(), right.as_ptr(), left.len()) };
    final_exp(&mut result, &product);
    let mut word = vec![0; 32];
    word[31] = u8::from(result.is_one());
    Some(word)
}

fn map_to_g1(input: &[u8]) -> Option<Vec<u8>> {
    let (element, mut point) = (Fp::read(input, BLS12_381)?, G1::default());
    // SAFETY: `element` is valid to read and `point` to write.
    let status = unsafe { mclBnFp_mapToG1(&mut point, &element) };
    (status == 0).then(|| output(&point, BLS12_381))
}

fn map_to_g2(input: &[u8]) -> Option<Vec<u8>> {
    let (element, mut point) = (Fp2::read(input, BLS12_381)?, G2::default());
    // SAFETY: `element` is valid to read and `point` to write.
    let status = unsafe { mclBnFp2_mapToG2(&mut point, &element) };
    (status == 0).then(|| output(&point, BLS12_381))
}

fn ops(curve: &str) -> Option<Vec<Op>> {
    match curve {
        "bn254" => init(CurveType::SNARK).then(|| {
            vec![
                precompile("precompile_06", |input| add::<G1>(input, BN254)),
                precompile("precompile_07", multiply),
                precompile("precompile_08", |input| pairing(input, BN254)),
            ]
        }),
        "bls12-381" => {
            // SAFETY: the call sets a global mode, after `init` and in a program with only one thread.
            let ready =
                init(CurveType::BLS12_381) && unsafe { mclBn_setMapToMode(HASH_TO_CURVE) } == 0;
            ready.then(|| {
                vec![
                    precompile("precompile_0b", |input| add::<G1>(input, BLS12_381)),
                    precompile("precompile_0c", msm::<G1>),
                    precompile("precompile_0d", |input| add::<G2>(input, BLS12_381)),
                    precompile("precompile_0e", msm::<G2>),
                    precompile("precompile_0f", |input| pairing(input, BLS12_381)),
                    precompile("precompile_10", map_to_g1),
                    precompile("precompile_11", map_to_g2),
                ]
            })
        }
        _ => None,
    }
}

fn main() {
    let curve = std::env::args().nth(1).unwrap_or_default();
    let Some(ops) = ops(&curve) else {
        eprintln!("expected bn254 or bls12-381, found {curve:?}");
        std::process::exit(2);
    };
    let version = locked_version(include_str!("../../Cargo.lock"), "mcl_rust");
    run("mcl", version, ops);
}
