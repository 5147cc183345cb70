//! The field of secp256k1: what its representations share. [`words64`] is the one of the public types.

#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(super) mod saturated;
#[cfg(any(test, target_pointer_width = "32"))]
pub(super) mod words32;
mod words64;

pub(crate) use words64::FieldElement;

use crate::{field::SecretField, safegcd::Modulus};

/// The fastest representations without instructions beyond the target's baseline, for public and for secret values.
#[cfg(target_arch = "aarch64")]
pub(super) use saturated::{Public as PortablePublic, Secret as PortableSecret};
#[cfg(target_pointer_width = "32")]
pub(super) use words32::{Element as PortablePublic, Element as PortableSecret};
#[cfg(not(any(target_arch = "aarch64", target_pointer_width = "32")))]
pub(super) use words64::{FieldElement as PortablePublic, FieldElement as PortableSecret};

/// A representation of the field elements.
pub(crate) trait FieldRepr: SecretField {
    /// beta, a cube root of 1 in the field: (beta x, y) = lambda (x, y).
    const BETA: Self;

    /// Converts four little-endian words. The value must be below p.
    fn from_words(words: [u64; 4]) -> Self;
    /// Returns the value as four little-endian words, below p.
    fn reduced(&self) -> [u64; 4];

    /// `self^(2^n)`, of magnitude 1. n must be at least 1.
    #[inline(always)]
    fn square_times(&self, n: u32) -> Self {
        (0..n).fold(*self, |power, _| power.square())
    }
}

/// beta, as little-endian words.
pub(crate) const BETA: [u64; 4] = [
    0xc139_6c28_7195_01ee,
    0x9cf0_4975_12f5_8995,
    0x6e64_479e_ac34_34e9,
    0x7ae9_6a2b_657c_0710,
];

/// p, as little-endian words.
pub(super) const P: [u64; 4] = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];

/// p in the form of [`safegcd`](crate::safegcd).
pub(super) static MODULUS: Modulus = Modulus {
    value: [
        0x3fff_fffe_ffff_fc2f,
        0x3fff_ffff_ffff_ffff,
        0x3fff_ffff_ffff_ffff,
        0x3fff_ffff_ffff_ffff,
        0xff,
    ],
    inverse: 0x27c7_f6e2_2dda_cacf,
};

/// `a^((p + 1) / 4)`, a square root of a if a is a square: 253 squarings, 13 products.
///
/// The exponent in binary is 223 ones, a zero, 22 ones, 0000 11 00. The chain builds runs of 2, 3, 6, 9, 11, 22, 44,
/// 88, 176, 220 and 223 ones. Source: [LIBSECP] `field_impl.h`.
#[inline(always)]
pub(super) fn square_root_chain<T: Copy>(
    a: T,
    mul: impl Fn(&T, &T) -> T,
    square_times: impl Fn(&T, u32) -> T,
) -> T {
    // `x^(2^n) y`.
    let shift_multiply = |x: &T, n: u32, y: &T| mul(&square_times(x, n), y);
    let x2 = shift_multiply(&a, 1, &a);
    let x3 = shift_multiply(&x2, 1, &a);
    let x6 = shift_multiply(&x3, 3, &x3);
    let x9 = shift_multiply(&x6, 3, &x3);
    let x11 = shift_multiply(&x9, 2, &x2);
    let x22 = shift_multiply(&x11, 11, &x11);
    let x44 = shift_multiply(&x22, 22, &x22);
    let x88 = shift_multiply(&x44, 44, &x44);
    let x176 = shift_multiply(&x88, 88, &x88);
    let x220 = shift_multiply(&x176, 44, &x44);
    let x223 = shift_multiply(&x220, 3, &x3);
    let upper = shift_multiply(&x223, 23, &x22);
    let root = shift_multiply(&upper, 6, &x2);
    square_times(&root, 2)
}
