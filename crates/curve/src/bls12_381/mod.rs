//! BLS12-381 for the EVM's precompiles 0x0b to 0x11 (EIP-2537) and the KZG proof verification of 0x0a, based on `blst`.
//!
//! Points are encoded as coordinates of 48 big-endian bytes, x first; elements of Fp2 have the real part first;
//! infinity is all zeros. Everything is variable-time: the inputs are public.
//!
//! Source: \[EIP-2537\], \[EIP-4844\]. The arithmetic is that of `blst`, except that sums, subgroup checks and pairings
//! use vector kernels if the CPU has AVX-512 IFMA. Subgroups: \[Scott21\]; decomposition of multipliers: \[GLV01\],
//! \[GLS09\].

mod fields;
pub mod kzg;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use alloc::vec::Vec;
use core::fmt;

use blst::{
    blst_final_exp, blst_fp, blst_fp12, blst_fp12_is_one, blst_fp12_mul, blst_map_to_g1,
    blst_map_to_g2, blst_miller_loop_n, blst_p1, blst_p1_affine, blst_p1_affine_in_g1,
    blst_p1_from_affine, blst_p1_mult, blst_p1s_mult_pippenger,
    blst_p1s_mult_pippenger_scratch_sizeof, blst_p2, blst_p2_affine, blst_p2_affine_in_g2,
    blst_p2_from_affine, blst_p2_mult, blst_p2s_mult_pippenger,
    blst_p2s_mult_pippenger_scratch_sizeof, blst_scalar, blst_scalar_from_be_bytes, limb_t,
};
#[cfg(target_arch = "x86_64")]
use blst::{blst_fp2, blst_p1_add_or_double, blst_p2_add_or_double};

#[cfg(target_arch = "x86_64")]
use crate::cpu;
use crate::{
    field::LazyField,
    group::{self, Affine, Curve, Jacobian},
};
use fields::{Fp, Fp2, G1, G2};

/// Length of an encoded point of G1, in bytes.
pub const G1_LENGTH: usize = 96;
/// Length of an encoded point of G2, in bytes.
pub const G2_LENGTH: usize = 192;

/// The reason why an input is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A field element is not below the field prime.
    FieldElementOutOfRange,
    /// The coordinates are not on the curve.
    NotOnCurve,
    /// A point is not in the subgroup of order r.
    NotInSubgroup,
    /// A compressed point is not validly encoded.
    PointEncoding,
    /// A scalar is not below r.
    ScalarOutOfRange,
    /// The KZG proof is not valid for the claim.
    ProofMismatch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FieldElementOutOfRange => "bls12-381: field element is not below the field prime",
            Self::NotOnCurve => "bls12-381: point is not on the curve",
            Self::NotInSubgroup => "bls12-381: point is not in the subgroup of order r",
            Self::PointEncoding => "bls12-381: compressed point is not validly encoded",
            Self::ScalarOutOfRange => "bls12-381: scalar is not below the group order",
            Self::ProofMismatch => "kzg: proof is not valid for the claim",
        })
    }
}

impl core::error::Error for Error {}

fn read_g1(bytes: &[u8; G1_LENGTH]) -> Result<Option<Affine<G1>>, Error> {
    let words = bytes.as_chunks::<48>().0;
    read_point(Fp::from_bytes(&words[0])?, Fp::from_bytes(&words[1])?)
}

fn read_g2(bytes: &[u8; G2_LENGTH]) -> Result<Option<Affine<G2>>, Error> {
    let halves = bytes.as_chunks::<96>().0;
    read_point(Fp2::from_bytes(&halves[0])?, Fp2::from_bytes(&halves[1])?)
}

/// Returns a point of the curve; `None` is infinity.
fn read_point<C: Curve>(x: C::Field, y: C::Field) -> Result<Option<Affine<C>>, Error> {
    let point = Affine { x, y };
    if x.is_zero() && y.is_zero() {
        Ok(None)
    } else if point.is_on_curve() {
        Ok(Some(point))
    } else {
        Err(Error::NotOnCurve)
    }
}

fn write_g1(point: Option<Affine<G1>>) -> [u8; G1_LENGTH] {
    let mut bytes = [0; G1_LENGTH];
    if let Some(point) = point {
        bytes[..48].copy_from_slice(&point.x.to_bytes());
        bytes[48..].copy_from_slice(&point.y.to_bytes());
    }
    bytes
}

fn write_g2(point: Option<Affine<G2>>) -> [u8; G2_LENGTH] {
    let mut bytes = [0; G2_LENGTH];
    if let Some(point) = point {
        bytes[..96].copy_from_slice(&point.x.to_bytes());
        bytes[96..].copy_from_slice(&point.y.to_bytes());
    }
    bytes
}

/// Converts a point of the curve of G1 to blst's form.
fn to_p1_affine(Affine { x, y }: Affine<G1>) -> blst_p1_affine {
    blst_p1_affine { x: x.0, y: y.0 }
}

/// Converts a point of the curve of G2 to blst's form.
fn to_p2_affine(Affine { x, y }: Affine<G2>) -> blst_p2_affine {
    blst_p2_affine { x: x.0, y: y.0 }
}

/// The absolute value of the curve's parameter: r = X^4 - X^2 + 1.
const X: u64 = 0xd201_0000_0001_0000;

/// A step of the Miller loop. Each step has a line.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// Doubles the point. The product of the lines is squared before, unless it is still 1.
    Double,
    Add,
}

/// Returns the steps that compute X times a point.
fn steps() -> impl Iterator<Item = Step> {
    (0..X.ilog2()).rev().flat_map(|bit| {
        let add = (X >> bit & 1 == 1).then_some(Step::Add);
        [Some(Step::Double), add].into_iter().flatten()
    })
}

/// A cube root of 1 in Fp, in blst's form.
const BETA: Fp = Fp(blst_fp {
    l: [
        0x30f1_361b_798a_64e8,
        0xf3b8_ddab_7ece_5a2a,
        0x16a8_ca3a_c615_77f7,
        0xc26a_2ff8_74fd_029b,
        0x3636_b766_6070_1c6e,
        0x051b_a4ab_241b_6160,
    ],
});

/// The endomorphism of the curve. It equals -X^2 times the point exactly if the point is in the subgroup.
fn g1_image(p: &Affine<G1>) -> Affine<G1> {
    Affine {
        x: p.x.mul(&BETA),
        y: p.y,
    }
}

/// The endomorphism of the twist, Frobenius on the curve over Fp12. It equals -X times the point exactly if the point
/// is in G2.
#[cfg(target_arch = "x86_64")]
fn g2_image(p: &Affine<G2>) -> Affine<G2> {
    // (1 + u)^-((p - 1) / 3) and (1 + u)^-((p - 1) / 2).
    const BY_X: Fp2 = Fp2(blst_fp2 {
        fp: [
            blst_fp { l: [0; 6] },
            blst_fp {
                l: [
                    0x890d_c9e4_8675_45c3,
                    0x2af3_2253_3285_a5d5,
                    0x5088_0866_309b_7e2c,
                    0xa20d_1b8c_7e88_1024,
                    0x14e4_f04f_e2db_9068,
                    0x14e5_6d3f_1564_853a,
                ],
            },
        ],
    });
    const BY_Y: Fp2 = Fp2(blst_fp2 {
        fp: [
            blst_fp {
                l: [
                    0x3e2f_585d_a55c_9ad1,
                    0x4294_213d_86c1_8183,
                    0x3828_44c8_8b62_3732,
                    0x92ad_2afd_1910_3e18,
                    0x1d79_4e4f_ac7c_f0b9,
                    0x0bd5_92fc_7d82_5ec8,
                ],
            },
            blst_fp {
                l: [
                    0x7bcf_a7a2_5aa3_0fda,
                    0xdc17_dec1_2a92_7e7c,
                    0x2f08_8dd8_6b4e_bef1,
                    0xd1ca_2087_da74_d4a7,
                    0x2da2_5966_96ce_bc1d,
                    0x0e2b_7eed_bbfd_87d2,
                ],
            },
        ],
    });
    Affine {
        x: p.x.conjugate().mul(&BY_X),
        y: p.y.conjugate().mul(&BY_Y),
    }
}

/// Returns the four digits of a number below r to base X, lowest first.
fn x_digits(mut k: [u64; 4]) -> [u64; 4] {
    core::array::from_fn(|_| {
        let mut rest = 0;
        for word in k.iter_mut().rev() {
            let dividend = u128::from(rest) << 64 | u128::from(*word);
            *word = (dividend / u128::from(X)) as u64;
            rest = (dividend % u128::from(X)) as u64;
        }
        rest
    })
}

/// Combines digits to base X into digits to base X^2.
fn halves(digits: &[u64; 4]) -> [u128; 2] {
    let [d0, d1, d2, d3] = digits.map(u128::from);
    [d0 + d1 * u128::from(X), d2 + d3 * u128::from(X)]
}

/// Checks that finite points are in the subgroup. Uses vector kernels from `$from` points on; blst is as fast for a
/// single point of G2.
macro_rules! check {
    ($check:ident, $affine:ident, $in_group:ident, $in_lanes:ident, $from_affine:ident, $from:literal) => {
        fn $check(points: &[$affine]) -> Result<(), Error> {
            let all = points.chunks(LANES).all(|points| {
                #[cfg(target_arch = "x86_64")]
                if points.len() >= $from && cpu::has_avx512ifma() {
                    let points: Vec<_> = points.iter().map($from_affine).collect();
                    // SAFETY: `has_avx512ifma` was checked above.
                    return unsafe { x86_64::avx512ifma_x8::$in_lanes(&points) };
                }
                // SAFETY: the pointer comes from a reference to a point.
                points.iter().all(|point| unsafe { $in_group(point) })
            });
            all.then_some(()).ok_or(Error::NotInSubgroup)
        }
    };
}

check!(
    check_g1,
    blst_p1_affine,
    blst_p1_affine_in_g1,
    are_in_g1,
    from_p1_affine,
    1
);
check!(
    check_g2,
    blst_p2_affine,
    blst_p2_affine_in_g2,
    are_in_g2,
    from_p2_affine,
    2
);

#[cfg(target_arch = "x86_64")]
fn from_p1_affine(p: &blst_p1_affine) -> Affine<G1> {
    Affine {
        x: Fp(p.x),
        y: Fp(p.y),
    }
}

#[cfg(target_arch = "x86_64")]
fn from_p2_affine(p: &blst_p2_affine) -> Affine<G2> {
    Affine {
        x: Fp2(p.x),
        y: Fp2(p.y),
    }
}

/// Splits a product into terms with shorter multipliers.
#[cfg(target_arch = "x86_64")]
fn g1_terms(p: &blst_p1_affine, digits: &[u64; 4]) -> [(Affine<G1>, u128); 2] {
    let (p, [k0, k1]) = (from_p1_affine(p), halves(digits));
    [(p, k0), (g1_image(&p).negate_if(true), k1)]
}

/// Splits a product into terms with shorter multipliers.
#[cfg(target_arch = "x86_64")]
fn g2_terms(p: &blst_p2_affine, digits: &[u64; 4]) -> [(Affine<G2>, u128); 4] {
    let mut multiple = from_p2_affine(p);
    digits.map(|digit| {
        let term = (multiple, digit.into());
        multiple = g2_image(&multiple).negate_if(true);
        term
    })
}

/// Converts 32 big-endian bytes to the form that blst's multiplications expect. Values of r and above are allowed: blst
/// reduces them modulo r.
fn read_scalar(bytes: &[u8; 32]) -> blst_scalar {
    let mut scalar = blst_scalar::default();
    // SAFETY: `bytes` has the length passed; the output is a valid scalar.
    unsafe { blst_scalar_from_be_bytes(&mut scalar, bytes.as_ptr(), bytes.len()) };
    scalar
}

fn from_p1(p: &blst_p1) -> Jacobian<G1> {
    Jacobian {
        x: Fp(p.x),
        y: Fp(p.y),
        z: Fp(p.z),
    }
}

fn from_p2(p: &blst_p2) -> Jacobian<G2> {
    Jacobian {
        x: Fp2(p.x),
        y: Fp2(p.y),
        z: Fp2(p.z),
    }
}

/// Adds two points of G1. They need not be in the subgroup.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] if a point is invalid.
pub fn g1_add(p: &[u8; G1_LENGTH], q: &[u8; G1_LENGTH]) -> Result<[u8; G1_LENGTH], Error> {
    Ok(write_g1(group::add_affine(read_g1(p)?, read_g1(q)?)))
}

/// Adds two points of G2. They need not be in the subgroup.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] if a point is invalid.
pub fn g2_add(p: &[u8; G2_LENGTH], q: &[u8; G2_LENGTH]) -> Result<[u8; G2_LENGTH], Error> {
    Ok(write_g2(group::add_affine(read_g2(p)?, read_g2(q)?)))
}

/// Returns the scalar as little-endian words.
#[cfg(target_arch = "x86_64")]
fn words(scalar: &blst_scalar) -> [u64; 4] {
    let words = scalar.b.as_chunks().0;
    core::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// Points per vectorised sum. More are processed in several sums, so that the tables take at most a megabyte.
#[cfg(target_arch = "x86_64")]
const AT_ONCE: usize = 128;

/// Bits of a scalar below r.
const SCALAR_BITS: usize = 255;

/// The sum of products. Uses vector kernels from `$from` points on; blst is as fast for a single point of G1.
macro_rules! msm {
    ($pairs:ident, $read:ident, $to_affine:ident, $check:ident, $sum:ident, $from_affine:ident, $mult:ident,
     $pippenger:ident, $scratch_size:ident, $group:ident, $terms:ident, $add:ident, $from:literal) => {{
        let (mut points, mut scalars) = (Vec::new(), Vec::new());
        for (point, scalar) in $pairs {
            if let Some(point) = $read(&point)? {
                points.push($to_affine(point));
                scalars.push(read_scalar(&scalar));
            }
        }
        $check(&points)?;
        let mut sum = $sum::default();
        match (&*points, &*scalars) {
            ([], _) => {}
            #[cfg(target_arch = "x86_64")]
            (points, scalars) if points.len() >= $from && cpu::has_avx512ifma() => {
                for (points, scalars) in points.chunks(AT_ONCE).zip(scalars.chunks(AT_ONCE)) {
                    let terms: Vec<_> = points
                        .iter()
                        .zip(scalars)
                        .flat_map(|(point, scalar)| $terms(point, &x_digits(words(scalar))))
                        .collect();
                    let before = sum;
                    // SAFETY: `has_avx512ifma` was checked in the match guard; the pointers come from references to two
                    // points to read and one to write.
                    unsafe {
                        let part = x86_64::avx512ifma_x8::$group::sum(&terms);
                        $add(&mut sum, &before, &part);
                    }
                }
            }
            ([point], [scalar]) => {
                let mut jacobian = $sum::default();
                // SAFETY: the pointers come from references to points; the scalar has 32 bytes, more than the
                // `SCALAR_BITS` read.
                unsafe {
                    $from_affine(&mut jacobian, point);
                    $mult(&mut sum, &jacobian, scalar.b.as_ptr(), SCALAR_BITS);
                }
            }
            _ => {
                // A null pointer in second place: all further items follow the first in memory.
                let points_list = [points.as_ptr(), core::ptr::null()];
                let scalars_list = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
                // SAFETY: the function only computes a size.
                let bytes = unsafe { $scratch_size(points.len()) };
                let mut scratch: Vec<limb_t> = alloc::vec![0; bytes.div_ceil(size_of::<limb_t>())];
                // SAFETY: reads `points.len()` points and as many scalars of 32 bytes each, which both slices have; the
                // scratch space has the required size.
                unsafe {
                    $pippenger(
                        &mut sum,
                        points_list.as_ptr(),
                        points.len(),
                        scalars_list.as_ptr(),
                        SCALAR_BITS,
                        scratch.as_mut_ptr(),
                    );
                }
            }
        }
        sum
    }};
}

/// Computes the sum of scalar multiples in G1. Scalars are any 256-bit integers, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] for the first invalid point, otherwise
/// [`Error::NotInSubgroup`].
pub fn g1_msm(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; 32])>,
) -> Result<[u8; G1_LENGTH], Error> {
    let sum = msm!(
        pairs,
        read_g1,
        to_p1_affine,
        check_g1,
        blst_p1,
        blst_p1_from_affine,
        blst_p1_mult,
        blst_p1s_mult_pippenger,
        blst_p1s_mult_pippenger_scratch_sizeof,
        g1,
        g1_terms,
        blst_p1_add_or_double,
        2
    );
    Ok(write_g1(from_p1(&sum).to_affine()))
}

/// Computes the sum of scalar multiples in G2. Scalars are any 256-bit integers, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] for the first invalid point, otherwise
/// [`Error::NotInSubgroup`].
pub fn g2_msm(
    pairs: impl IntoIterator<Item = ([u8; G2_LENGTH], [u8; 32])>,
) -> Result<[u8; G2_LENGTH], Error> {
    let sum = msm!(
        pairs,
        read_g2,
        to_p2_affine,
        check_g2,
        blst_p2,
        blst_p2_from_affine,
        blst_p2_mult,
        blst_p2s_mult_pippenger,
        blst_p2s_mult_pippenger_scratch_sizeof,
        g2,
        g2_terms,
        blst_p2_add_or_double,
        1
    );
    Ok(write_g2(from_p2(&sum).to_affine()))
}

/// Number of points checked at once.
const LANES: usize = 8;

/// Number of pairs per Miller loop. More pairs take several loops, whose results are multiplied.
const CHUNK: usize = 16;

/// The product of Miller loops.
struct Product(blst_fp12);

impl Product {
    /// Multiplies by the Miller loop of these pairs, if all points are in the groups.
    fn multiply(&mut self, p: &[blst_p1_affine], q: &[blst_p2_affine]) -> Result<(), Error> {
        debug_assert_eq!(p.len(), q.len());
        if p.is_empty() {
            return Ok(());
        }
        check_g1(p)?;
        #[cfg(target_arch = "x86_64")]
        if cpu::has_avx512ifma() {
            let points = p.iter().map(from_p1_affine);
            let pairs: Vec<_> = points.zip(q.iter().map(from_p2_affine)).collect();
            // SAFETY: `has_avx512ifma` was checked above.
            let loops = unsafe { x86_64::avx512ifma_x8::miller_loop(&pairs) };
            self.times(&loops.ok_or(Error::NotInSubgroup)?);
            return Ok(());
        }
        check_g2(q)?;
        let (ps, qs) = (
            [p.as_ptr(), core::ptr::null()],
            [q.as_ptr(), core::ptr::null()],
        );
        let mut loops = blst_fp12::default();
        // SAFETY: reads `p.len()` points of each list (a null pointer in second place: all further points follow the
        // first in memory) and writes one field element.
        unsafe { blst_miller_loop_n(&mut loops, qs.as_ptr(), ps.as_ptr(), p.len()) };
        self.times(&loops);
        Ok(())
    }

    fn times(&mut self, factor: &blst_fp12) {
        let before = self.0;
        // SAFETY: the pointers come from references to field elements.
        unsafe { blst_fp12_mul(&mut self.0, &before, factor) };
    }
}

/// Whether the final exponentiation of a product of Miller loops gives one.
fn final_exponentiation_is_one(f: &blst_fp12) -> bool {
    #[cfg(target_arch = "x86_64")]
    if cpu::has_avx512ifma() {
        // SAFETY: `has_avx512ifma` was checked above.
        return unsafe { x86_64::avx512ifma_x8::final_exponentiation_is_one(f) };
    }
    let mut power = blst_fp12::default();
    // SAFETY: the pointers come from references to field elements.
    unsafe {
        blst_final_exp(&mut power, f);
        blst_fp12_is_one(&power)
    }
}

/// Checks whether the product of the pairings of these pairs is one.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`], [`Error::NotOnCurve`] or [`Error::NotInSubgroup`] if a pair is invalid. Within
/// each sixteen pairs, the coordinates are checked before the subgroups.
pub fn pairing_check(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; G2_LENGTH])>,
) -> Result<bool, Error> {
    let mut product = Product(blst_fp12::default());
    let (mut ps, mut qs) = (
        [blst_p1_affine::default(); CHUNK],
        [blst_p2_affine::default(); CHUNK],
    );
    let mut count = 0;
    for (p, q) in pairs {
        let p = read_g1(&p)?.map(to_p1_affine);
        let q = read_g2(&q)?.map(to_p2_affine);
        match (p, q) {
            (Some(p), Some(q)) => {
                (ps[count], qs[count]) = (p, q);
                count += 1;
            }
            (Some(p), None) => check_g1(&[p])?,
            (None, Some(q)) => check_g2(&[q])?,
            (None, None) => {}
        }
        if count == CHUNK {
            product.multiply(&ps, &qs)?;
            count = 0;
        }
    }
    if count == 1 && product.0 == blst_fp12::default() {
        // The pairing of two finite points is never one.
        check_g1(&ps[..1])?;
        check_g2(&qs[..1])?;
        return Ok(false);
    }
    product.multiply(&ps[..count], &qs[..count])?;
    Ok(final_exponentiation_is_one(&product.0))
}

/// Maps a field element to a point of G1.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] if the element is not below the field prime.
pub fn map_fp_to_g1(element: &[u8; 48]) -> Result<[u8; G1_LENGTH], Error> {
    let Fp(element) = Fp::from_bytes(element)?;
    let mut point = blst_p1::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g1(&mut point, &element, core::ptr::null::<blst_fp>()) };
    Ok(write_g1(from_p1(&point).to_affine()))
}

/// Maps an element of Fp2, real part first, to a point of G2.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] if a part is not below the field prime.
pub fn map_fp2_to_g2(element: &[u8; 96]) -> Result<[u8; G2_LENGTH], Error> {
    let Fp2(element) = Fp2::from_bytes(element)?;
    let mut point = blst_p2::default();
    // SAFETY: reads one valid field element (the second is optional) and writes a point.
    unsafe { blst_map_to_g2(&mut point, &element, core::ptr::null()) };
    Ok(write_g2(from_p2(&point).to_affine()))
}
