//! BLS12-381, as the EVM's precompiles 0x0b to 0x11 have it (EIP-2537), and the KZG check of 0x0a, on `blst`.
//!
//! Points are coordinates of 48 big-endian bytes, x first, of Fp2 the real part first; infinity is all zeros. Everything is
//! variable-time: the inputs are public.
//!
//! Source: \[EIP-2537\], \[EIP-4844\]; the arithmetic is that of `blst`.

mod fields;
pub mod kzg;
#[cfg(test)]
mod tests;

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

use crate::{
    field::LazyField,
    group::{self, Affine, Curve, Jacobian},
};
use fields::{Fp, Fp2, G1, G2};

/// Bytes of a point of G1.
pub const G1_LENGTH: usize = 96;
/// Bytes of a point of G2.
pub const G2_LENGTH: usize = 192;

/// Why an input is not accepted.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A field element is not below the field prime.
    FieldElementOutOfRange,
    /// The coordinates are not those of a point of the curve.
    NotOnCurve,
    /// A point is not in the subgroup of order r.
    NotInSubgroup,
    /// A compressed point is not encoded as it should be.
    PointEncoding,
    /// A scalar is not below r.
    ScalarOutOfRange,
    /// The KZG proof does not prove the claim.
    ProofMismatch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FieldElementOutOfRange => "bls12-381: field element is not below the field prime",
            Self::NotOnCurve => "bls12-381: point is not on the curve",
            Self::NotInSubgroup => "bls12-381: point is not in the subgroup",
            Self::PointEncoding => "bls12-381: compressed point is not well-formed",
            Self::ScalarOutOfRange => "bls12-381: scalar is not below the group order",
            Self::ProofMismatch => "KZG: the proof does not prove the claim",
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

/// A point of the curve; `None` is infinity.
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

/// A point of the curve of G1 in blst's form.
fn to_p1_affine(Affine { x, y }: Affine<G1>) -> blst_p1_affine {
    blst_p1_affine { x: x.0, y: y.0 }
}

/// A point of the curve of G2 in blst's form.
fn to_p2_affine(Affine { x, y }: Affine<G2>) -> blst_p2_affine {
    blst_p2_affine { x: x.0, y: y.0 }
}

fn check_g1(points: &[blst_p1_affine]) -> Result<(), Error> {
    let mut points = points.iter();
    // SAFETY: reads a point.
    let all = points.all(|point| unsafe { blst_p1_affine_in_g1(point) });
    all.then_some(()).ok_or(Error::NotInSubgroup)
}

fn check_g2(points: &[blst_p2_affine]) -> Result<(), Error> {
    let mut points = points.iter();
    // SAFETY: reads a point.
    let all = points.all(|point| unsafe { blst_p2_affine_in_g2(point) });
    all.then_some(()).ok_or(Error::NotInSubgroup)
}

/// Any 256-bit integer modulo r, as blst's multiplications want it.
fn read_scalar(bytes: &[u8; 32]) -> blst_scalar {
    let mut scalar = blst_scalar::default();
    // SAFETY: reads 32 bytes, writes a scalar.
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

/// P + Q in G1. The points need not be in the subgroup.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`].
pub fn g1_add(p: &[u8; G1_LENGTH], q: &[u8; G1_LENGTH]) -> Result<[u8; G1_LENGTH], Error> {
    Ok(write_g1(group::add_affine(read_g1(p)?, read_g1(q)?)))
}

/// P + Q in G2. The points need not be in the subgroup.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`].
pub fn g2_add(p: &[u8; G2_LENGTH], q: &[u8; G2_LENGTH]) -> Result<[u8; G2_LENGTH], Error> {
    Ok(write_g2(group::add_affine(read_g2(p)?, read_g2(q)?)))
}

/// Bits of a scalar below r.
const SCALAR_BITS: usize = 255;

macro_rules! msm {
    ($pairs:ident, $read:ident, $to_affine:ident, $check:ident, $sum:ident, $from_affine:ident, $mult:ident,
     $pippenger:ident, $scratch_size:ident) => {{
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
            ([point], [scalar]) => {
                let mut jacobian = $sum::default();
                // SAFETY: reads and writes points, and reads the 32 bytes of a scalar.
                unsafe {
                    $from_affine(&mut jacobian, point);
                    $mult(&mut sum, &jacobian, scalar.b.as_ptr(), SCALAR_BITS);
                }
            }
            _ => {
                // A null pointer after the first: the others follow in memory.
                let points_list = [points.as_ptr(), core::ptr::null()];
                let scalars_list = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
                // SAFETY: no more than arithmetic.
                let bytes = unsafe { $scratch_size(points.len()) };
                let mut scratch: Vec<limb_t> = alloc::vec![0; bytes.div_ceil(size_of::<limb_t>())];
                // SAFETY: reads as many points and scalars (32 bytes each) as it is told, which is how many there are;
                // the scratch space is of the size asked for.
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

/// The sum of scalar multiples in G1, for any 256-bit scalars, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`], of the first that is not accepted, else
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
        blst_p1s_mult_pippenger_scratch_sizeof
    );
    Ok(write_g1(from_p1(&sum).to_affine()))
}

/// The sum of scalar multiples in G2, for any 256-bit scalars, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`], of the first that is not accepted, else
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
        blst_p2s_mult_pippenger_scratch_sizeof
    );
    Ok(write_g2(from_p2(&sum).to_affine()))
}

/// Pairs of one Miller loop. More are done in several, their results multiplied.
const CHUNK: usize = 16;

/// The product of Miller loops.
struct Product(blst_fp12);

impl Product {
    /// Multiplies by the Miller loop of these pairs, if all are of the groups.
    fn multiply(&mut self, p: &[blst_p1_affine], q: &[blst_p2_affine]) -> Result<(), Error> {
        debug_assert_eq!(p.len(), q.len());
        if p.is_empty() {
            return Ok(());
        }
        check_g1(p)?;
        check_g2(q)?;
        let (ps, qs) = (
            [p.as_ptr(), core::ptr::null()],
            [q.as_ptr(), core::ptr::null()],
        );
        let (mut loops, before) = (blst_fp12::default(), self.0);
        // SAFETY: reads as many points as it is told, which is how many there are (a null pointer after the first: the
        // others follow in memory), and writes field elements.
        unsafe {
            blst_miller_loop_n(&mut loops, qs.as_ptr(), ps.as_ptr(), p.len());
            blst_fp12_mul(&mut self.0, &before, &loops);
        }
        Ok(())
    }

    /// Is its final exponentiation one?
    fn is_one(&self) -> bool {
        let mut power = blst_fp12::default();
        // SAFETY: reads and writes field elements.
        unsafe {
            blst_final_exp(&mut power, &self.0);
            blst_fp12_is_one(&power)
        }
    }
}

/// Is the product of the pairings of these pairs one?
///
/// # Errors
/// [`Error::FieldElementOutOfRange`], [`Error::NotOnCurve`] or [`Error::NotInSubgroup`], of a pair that is not accepted; of up
/// to sixteen pairs the coordinates come before the subgroups.
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
    product.multiply(&ps[..count], &qs[..count])?;
    Ok(product.is_one())
}

/// Maps a field element to a point of G1.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`].
pub fn map_fp_to_g1(element: &[u8; 48]) -> Result<[u8; G1_LENGTH], Error> {
    let Fp(element) = Fp::from_bytes(element)?;
    let mut point = blst_p1::default();
    // SAFETY: reads one field element (a second one is optional), writes a point.
    unsafe { blst_map_to_g1(&mut point, &element, core::ptr::null::<blst_fp>()) };
    Ok(write_g1(from_p1(&point).to_affine()))
}

/// Maps an element of Fp2, its real part first, to a point of G2.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`].
pub fn map_fp2_to_g2(element: &[u8; 96]) -> Result<[u8; G2_LENGTH], Error> {
    let Fp2(element) = Fp2::from_bytes(element)?;
    let mut point = blst_p2::default();
    // SAFETY: reads one field element (a second one is optional), writes a point.
    unsafe { blst_map_to_g2(&mut point, &element, core::ptr::null()) };
    Ok(write_g2(from_p2(&point).to_affine()))
}
