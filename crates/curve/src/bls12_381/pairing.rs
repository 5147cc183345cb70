//! The pairing check.

#[cfg(target_arch = "x86_64")]
use alloc::vec::Vec;

use blst::{
    blst_final_exp, blst_fp12, blst_fp12_is_one, blst_fp12_mul, blst_miller_loop_n, blst_p1_affine,
    blst_p2_affine,
};

#[cfg(target_arch = "x86_64")]
use super::x86_64;
use super::{
    Error, G1_LENGTH, G2_LENGTH,
    encoding::{read_g1, read_g2},
    fields::{G1, G2},
    groups::Group,
    points::check,
};
#[cfg(target_arch = "x86_64")]
use lydite_hash::cpu::Avx512Ifma;

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
        check::<G1>(p)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(ifma) = Avx512Ifma::detect() {
            let points = p.iter().map(G1::from_affine_point);
            let pairs: Vec<_> = points.zip(q.iter().map(G2::from_affine_point)).collect();
            let loops = x86_64::miller_loop(ifma, &pairs);
            self.times(&loops.ok_or(Error::NotInSubgroup)?);
            return Ok(());
        }
        check::<G2>(q)?;
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
pub(super) fn final_exponentiation_is_one(f: &blst_fp12) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(ifma) = Avx512Ifma::detect() {
        return x86_64::final_exponentiation_is_one(ifma, f);
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
        let p = read_g1(&p)?.map(G1::to_affine_point);
        let q = read_g2(&q)?.map(G2::to_affine_point);
        match (p, q) {
            (Some(p), Some(q)) => {
                (ps[count], qs[count]) = (p, q);
                count += 1;
            }
            (Some(p), None) => check::<G1>(&[p])?,
            (None, Some(q)) => check::<G2>(&[q])?,
            (None, None) => {}
        }
        if count == CHUNK {
            product.multiply(&ps, &qs)?;
            count = 0;
        }
    }
    if count == 1 && product.0 == blst_fp12::default() {
        // The pairing of two finite points is never one.
        check::<G1>(&ps[..1])?;
        check::<G2>(&qs[..1])?;
        return Ok(false);
    }
    product.multiply(&ps[..count], &qs[..count])?;
    Ok(final_exponentiation_is_one(&product.0))
}
