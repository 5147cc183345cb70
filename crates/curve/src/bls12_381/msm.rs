//! Sums of scalar multiples.

use alloc::vec::Vec;

use blst::{blst_scalar, blst_scalar_from_be_bytes};
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::Avx512Ifma;

#[cfg(target_arch = "x86_64")]
use super::endomorphism::x_digits;
use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{read_g1, read_g2, write_g1, write_g2},
    groups::Group,
    points::check,
};
use crate::group::Affine;

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

/// The sum of products.
fn msm<G: Group, const LENGTH: usize>(
    pairs: impl IntoIterator<Item = ([u8; LENGTH], [u8; 32])>,
    read: impl Fn(&[u8; LENGTH]) -> Result<Option<Affine<G>>, Error>,
) -> Result<Option<Affine<G>>, Error> {
    let (mut points, mut scalars) = (Vec::new(), Vec::new());
    for (point, scalar) in pairs {
        if let Some(point) = read(&point)? {
            points.push(G::to_affine_point(point));
            scalars.push(read_scalar(&scalar));
        }
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(ifma) = Avx512Ifma::detect() {
        let mut sum = G::Point::default();
        if points.len() <= G::ONE_BY_ONE_UP_TO {
            for (point, scalar) in points.iter().zip(&scalars) {
                let (point, scalar) = (G::from_affine_point(point), x_digits(words(scalar)));
                let multiple = G::multiple_by_lanes(ifma, &point, &scalar);
                sum = G::sum(&sum, &multiple.ok_or(Error::NotInSubgroup)?);
            }
            return Ok(G::from_point(&sum).to_affine());
        }
        check::<G>(&points)?;
        for (points, scalars) in points.chunks(AT_ONCE).zip(scalars.chunks(AT_ONCE)) {
            let terms: Vec<_> = points
                .iter()
                .zip(scalars)
                .flat_map(|(point, scalar)| {
                    G::terms(G::from_affine_point(point), x_digits(words(scalar)))
                })
                .collect();
            sum = G::sum(&sum, &G::sum_by_lanes(ifma, &terms));
        }
        return Ok(G::from_point(&sum).to_affine());
    }
    check::<G>(&points)?;
    let sum = match (&*points, &*scalars) {
        ([], _) => return Ok(None),
        ([point], [scalar]) => G::multiple(point, scalar),
        (points, scalars) => G::sum_of_multiples(points, scalars),
    };
    Ok(G::from_point(&sum).to_affine())
}

/// Computes the sum of scalar multiples in G1. Scalars are any 256-bit integers, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] for the first invalid point, otherwise
/// [`Error::NotInSubgroup`].
pub fn g1_msm(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; 32])>,
) -> Result<[u8; G1_LENGTH], Error> {
    Ok(write_g1(msm(pairs, read_g1)?))
}

/// Computes the sum of scalar multiples in G2. Scalars are any 256-bit integers, big-endian. Allocates.
///
/// # Errors
/// [`Error::FieldElementOutOfRange`] or [`Error::NotOnCurve`] for the first invalid point, otherwise
/// [`Error::NotInSubgroup`].
pub fn g2_msm(
    pairs: impl IntoIterator<Item = ([u8; G2_LENGTH], [u8; 32])>,
) -> Result<[u8; G2_LENGTH], Error> {
    Ok(write_g2(msm(pairs, read_g2)?))
}
