//! `k G` for eight secret k with the comb of `generator`, over any field of eight lanes.
//!
//! The additions are incomplete; `generator` explains why this is safe.
//!
//! Constant time: yes, if the field is. Every look-up reads all entries of its window and selects with masks.

use core::arch::x86_64::*;

use super::{
    super::{
        curve::Secp256k1,
        generator::{CombTable, Digits, ENTRIES, WINDOWS},
    },
    field_x8::{CurveX8, FieldX8, negate_where},
};
use crate::{
    group::{Affine, Jacobian},
    lanes::LANES,
};

/// Returns entry `index` as words of x and y, by reading all entries.
#[inline]
#[target_feature(enable = "avx2")]
fn scan(entries: &[[u8; 64]; ENTRIES], index: u64) -> [[u64; 4]; 2] {
    // The compiler must not know that the index selects one entry.
    let index = _mm256_set1_epi64x(core::hint::black_box(index).cast_signed());
    let mut found = [_mm256_setzero_si256(); 2];
    for (i, entry) in entries.iter().enumerate() {
        let here = _mm256_cmpeq_epi64(index, _mm256_set1_epi64x(i as i64));
        for (found, half) in found.iter_mut().zip(entry.as_chunks::<32>().0) {
            // SAFETY: the reference is valid for reads of 32 bytes, and the load needs no alignment.
            let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            *found = _mm256_or_si256(*found, _mm256_and_si256(half, here));
        }
    }
    // SAFETY: a vector has the layout of an array of its lanes.
    unsafe { core::mem::transmute::<[__m256i; 2], [[u64; 4]; 2]>(found) }
}

/// Returns for each lane the multiple of G that is its digit in the window.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn entry<F: FieldX8>(
    table: CombTable<'_>,
    digits: &[Digits; LANES],
    window: usize,
) -> Affine<CurveX8<F>> {
    let (mut x, mut y, mut negative) = ([[0; 4]; LANES], [[0; 4]; LANES], [0; LANES]);
    for lane in 0..LANES {
        let digit = digits[lane].get(window);
        // SAFETY: the caller has checked that the CPU has AVX2.
        [x[lane], y[lane]] = unsafe { scan(table.window(window), digit.index) };
        negative[lane] = digit.negative.word();
    }
    let (x, y) = (F::load(&x), F::load(&y));
    negate_where(Affine { x, y }, negative)
}

/// Computes `k G` for each lane. A lane with Z = 0 must be computed in another way.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
pub(super) unsafe fn multiply_generator<F: FieldX8>(
    table: CombTable<'_>,
    digits: &[Digits; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    // SAFETY: the caller has checked that the CPU has AVX2.
    let entry = |window| unsafe { entry::<F>(table, digits, window) };
    let mut sum: Jacobian<CurveX8<F>> = entry(0).into();
    for window in 1..WINDOWS {
        sum.add_assign_incomplete(&entry(window), None);
    }
    let negated = digits.each_ref().map(|digits| digits.negated().word());
    let (x, y, z) = (
        sum.x.store(6),
        sum.y.negate_where(negated).store(4),
        sum.z.store(1),
    );
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
