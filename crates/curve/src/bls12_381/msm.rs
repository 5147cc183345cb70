//! Sums of scalar multiples.

use alloc::vec::Vec;

use blst::{
    blst_p1, blst_p1_from_affine, blst_p1_mult, blst_p1s_mult_pippenger,
    blst_p1s_mult_pippenger_scratch_sizeof, blst_p2, blst_p2_from_affine, blst_p2_mult,
    blst_p2s_mult_pippenger, blst_p2s_mult_pippenger_scratch_sizeof, blst_scalar,
    blst_scalar_from_be_bytes, limb_t,
};
#[cfg(target_arch = "x86_64")]
use blst::{blst_p1_add_or_double, blst_p2_add_or_double};

use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{read_g1, read_g2, write_g1, write_g2},
    points::{check_g1, check_g2, from_p1, from_p2, to_p1_affine, to_p2_affine},
};
#[cfg(target_arch = "x86_64")]
use super::{
    endomorphism::{g1_terms, g2_terms, x_digits},
    x86_64,
};
#[cfg(target_arch = "x86_64")]
use crate::cpu;

/// Converts 32 big-endian bytes to the form that blst's multiplications expect. Values of r and above are allowed: blst
/// reduces them modulo r.
pub(super) fn read_scalar(bytes: &[u8; 32]) -> blst_scalar {
    let mut scalar = blst_scalar::default();
    // SAFETY: `bytes` has the length passed; the output is a valid scalar.
    unsafe { blst_scalar_from_be_bytes(&mut scalar, bytes.as_ptr(), bytes.len()) };
    scalar
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
pub(super) const SCALAR_BITS: usize = 255;

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
