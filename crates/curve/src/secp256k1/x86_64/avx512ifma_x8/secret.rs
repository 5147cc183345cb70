//! `k G` for secret k with the comb of `generator`: eight at a time, one per lane, or a single one spread over the
//! lanes.
//!
//! The additions are incomplete; `generator` explains why this is safe.
//!
//! Constant time: yes. Every look-up reads all entries of its window and selects with arithmetic or with a register
//! permutation, whose time does not depend on the indices.

use core::arch::x86_64::*;

use super::{
    super::super::{
        curve::Secp256k1,
        generator::{CombTable, Digits, ENTRIES, WINDOWS},
    },
    LANES,
    field::Field,
    point::{AffineLanes, JacobianLanes, transpose},
};
use crate::group::Jacobian;
use crate::lanes::load;

/// Returns the lanes whose mask is all ones.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn lanes(masks: &[u64; LANES]) -> __mmask8 {
    _mm512_cmplt_epi64_mask(load(masks), _mm512_setzero_si512())
}

/// Returns entry `indices[lane]` of the window for each lane, reading all entries.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn entries(window: &[[u8; 64]; ENTRIES], indices: &[u64; LANES]) -> AffineLanes {
    // Word w of entries 8 g to 8 g + 7, as a vector for the permutation to index.
    let groups: [[__m512i; LANES]; ENTRIES / LANES] = core::array::from_fn(|group| {
        transpose(core::array::from_fn(|i| {
            let entry: &[u8; 64] = &window[LANES * group + i];
            // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
            unsafe { _mm512_loadu_si512(entry.as_ptr().cast()) }
        }))
    });
    let index = load(indices);
    let upper = _mm512_cmpge_epu64_mask(index, _mm512_set1_epi64(16));
    // The permutation uses the low four bits of an index.
    AffineLanes::from_words(core::array::from_fn(|word| {
        let low = _mm512_permutex2var_epi64(groups[0][word], index, groups[1][word]);
        let high = _mm512_permutex2var_epi64(groups[2][word], index, groups[3][word]);
        _mm512_mask_mov_epi64(low, upper, high)
    }))
}

/// Computes `k G` for each lane. A lane with Z = 0 must be computed in another way.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_generator_x8(
    table: CombTable<'_>,
    digits: &[Digits; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    let entry = |window: usize| {
        let digits: [_; LANES] = core::array::from_fn(|lane| digits[lane].get(window));
        entries(table.window(window), &digits.map(|digit| digit.index))
            .negate_where(lanes(&digits.map(|digit| digit.negative.word())))
    };
    let first = entry(0);
    let mut sum = JacobianLanes {
        x: first.x,
        y: first.y,
        z: Field::splat(&[1, 0, 0, 0]),
    };
    for window in 1..WINDOWS {
        sum = sum.add(&entry(window));
    }
    let negated = lanes(&core::array::from_fn(|lane| digits[lane].negated().word()));
    unload(&sum, negated)
}

/// `mask ? yes : no`, bit by bit.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn select(mask: __m512i, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xca>(mask, yes, no)
}

/// Returns entry `index`, which must be below 32, as a vector. The 32 entries are halved five times: each bit of the
/// index selects between neighbours. The masks pass through [`core::hint::black_box`], so that the compiler cannot turn
/// the selects into masked loads.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn scan(entries: &[[u8; 64]; ENTRIES], index: u64) -> __m512i {
    let mask =
        |bit: u32| _mm512_set1_epi64(core::hint::black_box(-((index >> bit & 1).cast_signed())));
    let load = |i: usize| {
        let entry: &[u8; 64] = &entries[i];
        // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(entry.as_ptr().cast()) }
    };
    let first = mask(0);
    let mut left: [__m512i; ENTRIES / 2] =
        core::array::from_fn(|i| select(first, load(2 * i + 1), load(2 * i)));
    for (bit, width) in [(1, 8), (2, 4), (3, 2), (4, 1)] {
        let mask = mask(bit);
        for i in 0..width {
            left[i] = select(mask, left[2 * i + 1], left[2 * i]);
        }
    }
    left[0]
}

/// Lane l of [`multiply_generator_x1`] handles the windows from `l * WINDOWS_OF_LANE` on.
const WINDOWS_OF_LANE: usize = WINDOWS.div_ceil(LANES);

/// Computes `k G`. If Z is 0, it must be computed in another way.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_generator_x1(table: CombTable<'_>, digits: &Digits) -> Jacobian<Secp256k1> {
    // The entries of the lanes' windows at this step, and the lanes that have one.
    let entry = |step: usize| {
        let mut rows = [_mm512_setzero_si512(); LANES];
        let mut negative = [0; LANES];
        let mut present: __mmask8 = 0;
        for lane in 0..LANES {
            let window = WINDOWS_OF_LANE * lane + step;
            if window < WINDOWS {
                let digit = digits.get(window);
                rows[lane] = scan(table.window(window), digit.index);
                negative[lane] = digit.negative.word();
                present |= 1 << lane;
            }
        }
        let entry = AffineLanes::from_rows(rows).negate_where(lanes(&negative));
        (entry, present)
    };
    let (first, _) = entry(0);
    let mut sum = JacobianLanes {
        x: first.x,
        y: first.y,
        z: Field::splat(&[1, 0, 0, 0]),
    };
    for step in 1..WINDOWS_OF_LANE {
        let (entry, present) = entry(step);
        sum = sum.select(present, &sum.add(&entry));
    }
    sum = sum.add_swapped::<4>().add_swapped::<2>().add_swapped::<1>();
    unload(&sum, lanes(&[digits.negated().word(); LANES]))[0]
}

/// Returns the lanes' points, negated in the lanes of `negated`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn unload(sum: &JacobianLanes, negated: __mmask8) -> [Jacobian<Secp256k1>; LANES] {
    // The sizes after an addition: 5, 1 and 1.
    let x = sum.x.store(3);
    let y = sum.y.negate_where::<2>(negated).store(2);
    let z = sum.z.store(1);
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
