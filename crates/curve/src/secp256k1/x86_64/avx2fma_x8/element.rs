//! Field elements in eight lanes, in double-precision floating point.
//!
//! Layout: five vectors of signed integers held as `f64`, least significant first: the limbs l of a value v with
//! `v / 2 = sum l[i] * 2^(51 i) (mod p)`. Elements are halved because 2^255 is then easy to fold: the product is `2 a
//! b`, and `2 * 2^255 = R_MOD_P (mod p)`.
//!
//! Invariant: in absolute value, limb 0 is at most `2^50 + 2^34`, limbs 1 to 3 at most `2^50 + 2^4`, and limb 4 at most
//! `2^51 + 2^4`. The upper and the lower part of a product are exact: `fma(a, b, 1.5 * 2^103)` rounds `a b` to a
//! multiple of 2^51, because that is the distance of the numbers between 2^103 and 2^104, and another `fma` computes
//! the rest. Rounding is to nearest, as Rust requires.
//!
//! `docs/internals/eight-lane-field.md` derives the bounds. Source: [EZW18] (products by FMA).

use core::arch::x86_64::__m256d;

/// 2^256 mod p.
pub(super) const R_MOD_P: f64 = 0x1_0000_03d1_u64 as f64;

/// `2^n`, for n in the range of normal numbers.
pub(super) const fn power(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// Bits in a limb. The top limb has one more.
pub(super) const BITS: i32 = 51;
/// Added to a number, rounds it to a multiple of 2^51.
pub(super) const ROUND_51: f64 = 1.5 * power(103);
/// Added to a number, rounds it to a multiple of 2^52.
pub(super) const ROUND_52: f64 = 1.5 * power(104);

/// The limbs of four elements.
pub(super) type Limbs = [__m256d; 5];

/// Eight field elements, one per lane. Only the dispatch uses this type, after checking that the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
#[repr(C, align(64))] // The assembly relies on the layout.
pub(crate) struct Element(pub(super) [Limbs; 2]);

/// The limbs of an element: `[lane / 4][limb][lane % 4]`.
pub(super) type Lanes = [[[f64; 4]; 5]; 2];

impl Element {
    /// Returns the limbs of all lanes.
    #[inline(always)]
    pub(super) fn lanes(&self) -> &Lanes {
        // SAFETY: a vector has the layout of an array of its lanes, at a stricter alignment.
        unsafe { &*(&raw const self.0).cast::<Lanes>() }
    }

    #[cfg(test)]
    pub(super) fn from_lanes(lanes: Lanes) -> Self {
        // SAFETY: a vector has the layout of an array of its lanes.
        Self(unsafe { core::mem::transmute::<Lanes, [Limbs; 2]>(lanes) })
    }
}
