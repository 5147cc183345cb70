//! The field of secp256k1: integers modulo p = 2^256 - 2^32 - 977. Portable implementation.
//!
//! Layout: five 52-bit limbs, least significant first, `value = sum limbs[i] * 2^(52 i)`. Limbs may exceed 52 bits: in
//! an element of *magnitude* m, limbs `0..=3` are at most `2 m (2^52 - 1)` and limb 4 is at most `2 m (2^48 - 1)`.
//! Additions add magnitudes and do not carry; products reset the magnitude to 1. An element is *normalized* if its
//! value is below p and no limb exceeds its bits. With `debug_assertions`, both properties are tracked and checked.
//!
//! Multiplication folds the columns of the schoolbook product with 2^260 = 0x1000003D10 (mod p) as it sums them, in two
//! interleaved accumulators, so that each carry is delayed into the next column. This is the method of libsecp256k1's
//! `field_5x52_int128` [LIBSECP].
//!
//! Constant time: everything except functions named `_vartime`; `is_*` and `==` return a `bool` that the caller makes
//! public.

use super::{BETA, FieldRepr, MODULUS};
use crate::{
    field::{LazyField, SecretField},
    lehmer,
    mask::Mask,
    safegcd,
};

/// The low 52 bits set.
const M: u64 = (1 << 52) - 1;
/// The low 48 bits set: the bits of the top limb.
const TOP: u64 = (1 << 48) - 1;
/// 2^256 mod p.
const R_MOD_P: u64 = 0x1_0000_03D1;
/// p in limbs.
const P: [u64; 5] = [0xF_FFFE_FFFF_FC2F, M, M, M, TOP];

/// An integer modulo p. The representation is described in the module documentation.
#[derive(Clone, Copy)]
pub(crate) struct FieldElement {
    limbs: [u64; 5],
    #[cfg(debug_assertions)]
    magnitude: u32,
    #[cfg(debug_assertions)]
    normalized: bool,
}

/// Products with a 64x64-bit multiplier. Other targets use those of [`super::words32`].
#[cfg(not(target_pointer_width = "32"))]
mod products {
    use super::{M, R_MOD_P, TOP};

    /// 2^260 mod p.
    const R260_MOD_P: u64 = R_MOD_P << 4;

    #[inline(always)]
    const fn wide(a: u64, b: u64) -> u128 {
        a as u128 * b as u128
    }

    /// Column k of the schoolbook product, with weight 2^(52 k).
    #[inline(always)]
    fn column(a: &[u64; 5], b: &[u64; 5], k: usize) -> u128 {
        match k {
            0 => wide(a[0], b[0]),
            1 => wide(a[0], b[1]) + wide(a[1], b[0]),
            2 => wide(a[0], b[2]) + wide(a[1], b[1]) + wide(a[2], b[0]),
            3 => wide(a[0], b[3]) + wide(a[1], b[2]) + wide(a[2], b[1]) + wide(a[3], b[0]),
            4 => {
                wide(a[0], b[4])
                    + wide(a[1], b[3])
                    + wide(a[2], b[2])
                    + wide(a[3], b[1])
                    + wide(a[4], b[0])
            }
            5 => wide(a[1], b[4]) + wide(a[2], b[3]) + wide(a[3], b[2]) + wide(a[4], b[1]),
            6 => wide(a[2], b[4]) + wide(a[3], b[3]) + wide(a[4], b[2]),
            7 => wide(a[3], b[4]) + wide(a[4], b[3]),
            _ => wide(a[4], b[4]),
        }
    }

    /// Column k of the square: 15 word products in total instead of 25.
    #[inline(always)]
    fn column_of_square(a: &[u64; 5], k: usize) -> u128 {
        match k {
            0 => wide(a[0], a[0]),
            1 => wide(a[0] * 2, a[1]),
            2 => wide(a[0] * 2, a[2]) + wide(a[1], a[1]),
            3 => wide(a[0] * 2, a[3]) + wide(a[1] * 2, a[2]),
            4 => wide(a[0], a[4] * 2) + wide(a[1] * 2, a[3]) + wide(a[2], a[2]),
            5 => wide(a[1], a[4] * 2) + wide(a[2] * 2, a[3]),
            6 => wide(a[2], a[4] * 2) + wide(a[3], a[3]),
            7 => wide(a[3], a[4] * 2),
            _ => wide(a[4], a[4]),
        }
    }

    /// Reduces nine columns to magnitude 1. Each is below 2^116, the last two below 2^115 and 2^107.
    ///
    /// `low` runs through columns 0 to 4 and `high` through 3 to 8. The part of `high` beyond 2^260 is folded into
    /// `low`. Each column is computed where it is added, so that only two accumulators are live at a time.
    #[inline(always)]
    fn reduce(c: impl Fn(usize) -> u128) -> [u64; 5] {
        // Columns 3 and 4 first: their overflow starts the high half.
        let c8 = c(8);
        let mut high = c(3) + wide(c8 as u64, R260_MOD_P);
        let limb3 = high as u64 & M;
        high >>= 52;
        high += c(4) + wide((c8 >> 64) as u64, R260_MOD_P << 12);
        let limb4 = high as u64 & M;
        high >>= 52;
        // Columns 0 and 5. The bits of limb 4 from 2^256 up are moved to column 5, shifted so that one fold handles
        // both.
        high += c(5);
        let folded = ((high as u64 & M) << 4) | (limb4 >> 48);
        let limb4 = limb4 & TOP;
        high >>= 52;
        let mut low = c(0) + wide(folded, R_MOD_P);
        let r0 = low as u64 & M;
        low >>= 52;
        // Columns 1 and 6.
        high += c(6);
        low += c(1) + wide(high as u64 & M, R260_MOD_P);
        high >>= 52;
        let r1 = low as u64 & M;
        low >>= 52;
        // Columns 2 and 7.
        high += c(7);
        low += c(2) + wide(high as u64, R260_MOD_P);
        let r2 = low as u64 & M;
        low >>= 52;
        // The rest of the high half, 64 bits up, goes to column 3.
        low += wide((high >> 64) as u64, R260_MOD_P << 12) + u128::from(limb3);
        let r3 = low as u64 & M;
        let r4 = (low >> 52) as u64 + limb4;
        [r0, r1, r2, r3, r4]
    }

    #[inline(always)]
    pub(super) fn multiply(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
        reduce(|k| column(a, b, k))
    }

    #[inline(always)]
    pub(super) fn square(a: &[u64; 5]) -> [u64; 5] {
        reduce(|k| column_of_square(a, k))
    }

    #[inline(always)]
    pub(super) fn sum_of_products(
        a: &[u64; 5],
        b: &[u64; 5],
        c: &[u64; 5],
        d: &[u64; 5],
    ) -> [u64; 5] {
        reduce(|k| column(a, b, k) + column(c, d, k))
    }

    #[inline(always)]
    pub(super) fn product_plus_square(a: &[u64; 5], b: &[u64; 5], c: &[u64; 5]) -> [u64; 5] {
        reduce(|k| column(a, b, k) + column_of_square(c, k))
    }
}
#[cfg(target_pointer_width = "32")]
use super::words32 as products;

impl FieldElement {
    pub(crate) const ZERO: Self = Self::from_limbs([0; 5]);
    pub(crate) const ONE: Self = Self::from_limbs([1, 0, 0, 0, 0]);

    /// Converts normalized limbs.
    pub(crate) const fn from_limbs(limbs: [u64; 5]) -> Self {
        Self {
            limbs,
            #[cfg(debug_assertions)]
            magnitude: 1,
            #[cfg(debug_assertions)]
            normalized: true,
        }
    }

    /// Converts limbs of at most the given magnitude.
    #[inline(always)]
    pub(in crate::secp256k1) fn with_magnitude(limbs: [u64; 5], magnitude: u32) -> Self {
        let _ = magnitude;
        let element = Self {
            limbs,
            #[cfg(debug_assertions)]
            magnitude,
            #[cfg(debug_assertions)]
            normalized: false,
        };
        element.check();
        element
    }

    /// Asserts the limb bounds that the magnitude implies.
    #[inline(always)]
    fn check(&self) {
        #[cfg(debug_assertions)]
        {
            let m = u64::from(self.magnitude);
            assert!(m <= 64);
            assert!(self.limbs[..4].iter().all(|&limb| limb <= 2 * m * M));
            assert!(self.limbs[4] <= 2 * m * TOP);
        }
    }

    /// Asserts an upper bound on the magnitude.
    #[inline(always)]
    fn check_magnitude(&self, bound: u32) {
        let _ = bound;
        #[cfg(debug_assertions)]
        assert!(
            self.magnitude <= bound,
            "magnitude {} > {bound}",
            self.magnitude
        );
    }

    #[cfg(debug_assertions)]
    fn magnitude(&self) -> u32 {
        self.magnitude
    }

    #[cfg(not(debug_assertions))]
    #[inline(always)]
    fn magnitude(&self) -> u32 {
        0
    }

    #[inline(always)]
    fn check_normalized(&self) {
        #[cfg(debug_assertions)]
        assert!(self.normalized);
    }

    /// Converts four little-endian words below p (not checked in release builds). For tables.
    #[inline(always)]
    pub(crate) const fn from_words(w: [u64; 4]) -> Self {
        Self::from_limbs([
            w[0] & M,
            (w[0] >> 52 | w[1] << 12) & M,
            (w[1] >> 40 | w[2] << 24) & M,
            (w[2] >> 28 | w[3] << 36) & M,
            w[3] >> 16,
        ])
    }

    /// Returns four little-endian words. The element must be normalized.
    #[inline(always)]
    pub(crate) fn to_words(self) -> [u64; 4] {
        self.check_normalized();
        let l = &self.limbs;
        [
            l[0] | l[1] << 52,
            l[1] >> 12 | l[2] << 40,
            l[2] >> 24 | l[3] << 28,
            l[3] >> 36 | l[4] << 16,
        ]
    }

    /// Converts 32 big-endian bytes. Returns `None` if the integer is not below p.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let element = Self::from_words(crate::words::from_be(bytes));
        let l = &element.limbs;
        let overflow = l[4] == TOP && (l[3] & l[2] & l[1]) == M && l[0] >= P[0];
        (!overflow).then_some(element)
    }

    /// Returns 32 big-endian bytes. The element must be normalized.
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        crate::words::to_be(&self.to_words())
    }

    /// `self + other`. The magnitudes add up.
    #[inline(always)]
    pub(crate) fn add(&self, other: &Self) -> Self {
        let (a, b) = (&self.limbs, &other.limbs);
        Self::with_magnitude(
            [
                a[0] + b[0],
                a[1] + b[1],
                a[2] + b[2],
                a[3] + b[3],
                a[4] + b[4],
            ],
            self.magnitude() + other.magnitude(),
        )
    }

    /// `-self`, of magnitude `magnitude + 1`. `self` must have magnitude at most `magnitude`.
    #[inline(always)]
    pub(crate) fn negate(&self, magnitude: u32) -> Self {
        self.check_magnitude(magnitude);
        // Every limb of 2 (m + 1) p is above the same limb of an element of magnitude m.
        let k = 2 * (u64::from(magnitude) + 1);
        let a = &self.limbs;
        Self::with_magnitude(
            [
                P[0] * k - a[0],
                P[1] * k - a[1],
                P[2] * k - a[2],
                P[3] * k - a[3],
                P[4] * k - a[4],
            ],
            magnitude + 1,
        )
    }

    /// `self - other`, of magnitude `magnitude(self) + m + 1`. `other` must have magnitude at most `m`.
    #[inline(always)]
    pub(crate) fn sub(&self, other: &Self, m: u32) -> Self {
        self.add(&other.negate(m))
    }

    /// `k * self`. The magnitude is multiplied by `k`.
    #[inline(always)]
    pub(crate) fn mul_small(&self, k: u32) -> Self {
        let factor = u64::from(k);
        Self::with_magnitude(self.limbs.map(|limb| limb * factor), self.magnitude() * k)
    }

    /// `self / 2`, of magnitude `magnitude / 2 + 1`.
    #[inline(always)]
    pub(crate) fn half(&self) -> Self {
        // Add p if odd, then shift.
        let mask = (self.limbs[0] & 1).wrapping_neg() >> 12;
        let mut t = self.limbs;
        t[0] += P[0] & mask;
        t[1] += mask;
        t[2] += mask;
        t[3] += mask;
        t[4] += mask >> 4;
        Self::with_magnitude(
            [
                (t[0] >> 1) + ((t[1] & 1) << 51),
                (t[1] >> 1) + ((t[2] & 1) << 51),
                (t[2] >> 1) + ((t[3] & 1) << 51),
                (t[3] >> 1) + ((t[4] & 1) << 51),
                t[4] >> 1,
            ],
            (self.magnitude() >> 1) + 1,
        )
    }

    /// The product, of magnitude 1. Both magnitudes must be at most 8.
    #[inline(always)]
    pub(crate) fn mul(&self, other: &Self) -> Self {
        self.check_magnitude(8);
        other.check_magnitude(8);
        Self::with_magnitude(products::multiply(&self.limbs, &other.limbs), 1)
    }

    /// The square, of magnitude 1. The magnitude must be at most 8.
    #[inline(always)]
    pub(crate) fn square(&self) -> Self {
        self.check_magnitude(8);
        Self::with_magnitude(products::square(&self.limbs), 1)
    }

    /// `a * b + c * d` with one reduction. The sum of both products of magnitudes must be at most 64.
    #[inline(always)]
    pub(crate) fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        #[cfg(debug_assertions)]
        assert!(a.magnitude * b.magnitude + c.magnitude * d.magnitude <= 64);
        let sum = products::sum_of_products(&a.limbs, &b.limbs, &c.limbs, &d.limbs);
        Self::with_magnitude(sum, 1)
    }

    #[inline(always)]
    fn carry(limbs: &[u64; 5]) -> [u64; 5] {
        let mut t = *limbs;
        t[0] += (t[4] >> 48) * R_MOD_P;
        t[4] &= TOP;
        for i in 0..4 {
            t[i + 1] += t[i] >> 52;
            t[i] &= M;
        }
        t
    }

    /// Returns the representative below p.
    #[inline(always)]
    pub(crate) fn normalize(&self) -> Self {
        // After one carry the value is below 2^256 + 2^(48 + 16). If it is at least p, fold and carry once more.
        let mut t = Self::carry(&self.limbs);
        let at_least_p =
            u64::from(t[4] == TOP) & u64::from((t[3] & t[2] & t[1]) == M) & u64::from(t[0] >= P[0]);
        t[0] += ((t[4] >> 48) | at_least_p) * R_MOD_P;
        for i in 0..4 {
            t[i + 1] += t[i] >> 52;
            t[i] &= M;
        }
        t[4] &= TOP;
        Self::from_limbs(t)
    }

    /// Whether the value is 0 modulo p, for any magnitude. Computed in constant time; the `bool` is public.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> bool {
        // After one carry, 0 is represented as 0 or p (2 p needs 257 bits and cannot result from one fold).
        let t = Self::carry(&self.limbs);
        let zero = t[0] | t[1] | t[2] | t[3] | t[4];
        let p = (t[0] ^ P[0]) | (t[1] ^ M) | (t[2] ^ M) | (t[3] ^ M) | (t[4] ^ TOP);
        (zero == 0) | (p == 0)
    }

    /// [`Self::is_zero`] in variable time: checking one word rules out most non-zero values.
    #[inline(always)]
    pub(crate) fn is_zero_vartime(&self) -> bool {
        let low = (self.limbs[0] + (self.limbs[4] >> 48) * R_MOD_P) & M;
        (low == 0 || low == P[0]) && self.is_zero()
    }

    /// Whether the normalized value is odd.
    #[inline(always)]
    pub(crate) fn is_odd(&self) -> bool {
        self.check_normalized();
        self.limbs[0] & 1 == 1
    }

    /// Equality modulo p. `self` must have magnitude at most 1.
    #[inline(always)]
    pub(crate) fn equals(&self, other: &Self) -> bool {
        other.sub(self, 1).is_zero()
    }

    /// Returns `yes` if the mask is true, else `no`.
    #[inline(always)]
    pub(crate) fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self {
            limbs: core::array::from_fn(|i| mask.select(yes.limbs[i], no.limbs[i])),
            #[cfg(debug_assertions)]
            magnitude: yes.magnitude.max(no.magnitude),
            #[cfg(debug_assertions)]
            normalized: yes.normalized && no.normalized,
        }
    }

    /// `1 / self`, or 0 for 0. Constant-time. Accepts any magnitude.
    pub(crate) fn invert(&self) -> Self {
        let value = safegcd::to_signed62(&self.normalize().to_words());
        Self::from_words(safegcd::from_signed62(&safegcd::invert(&value, &MODULUS)))
    }

    /// `1 / self`, or 0 for 0. Variable-time. Accepts any magnitude.
    pub(crate) fn invert_vartime(&self) -> Self {
        let value = self.normalize().to_words();
        Self::from_words(lehmer::invert_vartime(&value, &super::P))
    }
}

impl LazyField for FieldElement {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        self.add(other)
    }

    #[inline(always)]
    fn sub(&self, other: &Self, magnitude: u32) -> Self {
        self.sub(other, magnitude)
    }

    #[inline(always)]
    fn negate(&self, magnitude: u32) -> Self {
        self.negate(magnitude)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        self.mul(other)
    }

    #[inline(always)]
    fn square(&self) -> Self {
        self.square()
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        Self::sum_of_products(a, b, &c.negate(1), d)
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let difference = c.sub(b, 1);
        #[cfg(debug_assertions)]
        assert!(d.magnitude == 1 && a.magnitude * difference.magnitude < 64);
        let sum = products::product_plus_square(&a.limbs, &difference.limbs, &d.limbs);
        Self::with_magnitude(sum, 1).negate(1)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        self.half()
    }

    fn invert(&self) -> Self {
        self.invert_vartime()
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.is_zero_vartime()
    }

    #[inline(always)]
    fn triple(&self) -> Self {
        self.mul_small(3)
    }
}

impl SecretField for FieldElement {
    #[inline(always)]
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self::select(mask, yes, no)
    }

    #[inline(always)]
    fn is_zero_mask(&self) -> Mask {
        Mask::from_bit(u64::from(self.is_zero()))
    }
}

impl FieldRepr for FieldElement {
    const BETA: Self = Self::from_words(BETA);

    #[inline(always)]
    fn from_words(words: [u64; 4]) -> Self {
        Self::from_words(words)
    }

    #[inline(always)]
    fn reduced(&self) -> [u64; 4] {
        self.normalize().to_words()
    }
}

impl zeroize::Zeroize for FieldElement {
    fn zeroize(&mut self) {
        self.limbs.zeroize();
    }
}
