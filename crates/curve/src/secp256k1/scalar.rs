//! Integers modulo the group order n of secp256k1.
//!
//! Layout: four 64-bit words, least significant first, always below n. A product is reduced by folding the part above
//! 2^256 with 2^256 - n, which has 129 bits, three times.
//!
//! Constant time: everything except functions named `_vartime`. Comparisons return a `bool` that the caller must handle
//! with care.

use zeroize::Zeroize;

use crate::{
    lehmer,
    mask::Mask,
    safegcd::{self, Modulus},
    words::multiply_add,
};

/// n.
pub(crate) const ORDER: [u64; 4] = [
    0xbfd2_5e8c_d036_4141,
    0xbaae_dce6_af48_a03b,
    0xffff_ffff_ffff_fffe,
    u64::MAX,
];
/// (n - 1) / 2: the largest s that EIP-2 allows.
const HALF: [u64; 4] = [
    0xdfe9_2f46_681b_20a0,
    0x5d57_6e73_57a4_501d,
    u64::MAX,
    0x7fff_ffff_ffff_ffff,
];
/// 2^256 - n, without its top word, which is 1.
const COMPLEMENT: [u64; 2] = [0x402d_a173_2fc9_bebf, 0x4551_2319_50b7_5fc4];

/// n in the form of [`safegcd`].
static MODULUS: Modulus = Modulus {
    value: [
        0x3fd2_5e8c_d036_4141,
        0x2abb_739a_bd22_80ee,
        0x3fff_ffff_ffff_ffeb,
        0x3fff_ffff_ffff_ffff,
        0xff,
    ],
    inverse: 0x34f2_0099_aa77_4ec1,
};

/// An integer in [0, n).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scalar([u64; 4]);

// Unlike in `crate::words`, the carry of a secret is a number: the compiler could branch on a `bool`.

#[inline(always)]
const fn add_carry(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let t = a as u128 + b as u128 + carry as u128;
    (t as u64, (t >> 64) as u64)
}

#[inline(always)]
const fn sub_borrow(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let t = (a as u128).wrapping_sub(b as u128 + borrow as u128);
    (t as u64, (t >> 127) as u64)
}

/// Returns `a - b` and the borrow.
#[inline(always)]
fn sub_words(a: &[u64; 4], b: &[u64; 4]) -> ([u64; 4], u64) {
    let (mut out, mut borrow) = ([0; 4], 0);
    for i in 0..4 {
        (out[i], borrow) = sub_borrow(a[i], b[i], borrow);
    }
    (out, borrow)
}

/// The product of two 256-bit integers.
#[inline(always)]
fn multiply_words(a: &[u64; 4], b: &[u64; 4]) -> [u64; 8] {
    let mut t = [0; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            (t[i + j], carry) = multiply_add(a[i], b[j], t[i + j], carry);
        }
        t[i + 4] = carry;
    }
    t
}

/// Adds `high * (2^256 - n)` to `t`. `t` must have room for the result.
#[inline(always)]
fn fold<const LENGTH: usize>(t: &mut [u64; LENGTH], high: &[u64]) {
    for (i, &h) in high.iter().enumerate() {
        let mut carry;
        (t[i], carry) = multiply_add(h, COMPLEMENT[0], t[i], 0);
        (t[i + 1], carry) = multiply_add(h, COMPLEMENT[1], t[i + 1], carry);
        (t[i + 2], carry) = add_carry(t[i + 2], h, carry);
        for word in &mut t[i + 3..] {
            (*word, carry) = add_carry(*word, 0, carry);
        }
        debug_assert_eq!(carry, 0);
    }
}

impl Scalar {
    #[cfg(test)]
    pub(crate) const ZERO: Self = Self([0; 4]);
    pub(crate) const ONE: Self = Self([1, 0, 0, 0]);

    /// Converts 32 big-endian bytes. Returns `None` unless the integer is in [1, n - 1]. Only this outcome is
    /// variable-time.
    pub(crate) fn from_bytes_nonzero(bytes: &[u8; 32]) -> Option<Self> {
        let (scalar, overflow) = Self::from_bytes_with_overflow(bytes);
        overflow
            .or(scalar.is_zero())
            .not()
            .declassify()
            .then_some(scalar)
    }

    /// Converts 32 big-endian bytes, modulo n.
    pub(crate) fn from_bytes_reduced(bytes: &[u8; 32]) -> Self {
        Self::from_bytes_with_overflow(bytes).0
    }

    /// Converts 32 big-endian bytes, modulo n, and reports whether the integer was n or more.
    pub(crate) fn from_bytes_with_overflow(bytes: &[u8; 32]) -> (Self, Mask) {
        Self::subtract_order(&crate::words::from_be(bytes), 0)
    }

    /// Returns 32 big-endian bytes.
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        crate::words::to_be(&self.0)
    }

    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64; 4] {
        &self.0
    }

    /// Returns `words + carry 2^256 - n` if that is not negative, else `words`. The input must be below 2 n.
    #[inline(always)]
    fn subtract_order(words: &[u64; 4], carry: u64) -> (Self, Mask) {
        let (difference, borrow) = sub_words(words, &ORDER);
        let mask = Mask::from_bit(carry | (borrow ^ 1));
        (
            Self(core::array::from_fn(|i| {
                mask.select(difference[i], words[i])
            })),
            mask,
        )
    }

    #[inline(always)]
    pub(crate) fn add(&self, other: &Self) -> Self {
        let (mut sum, mut carry) = ([0; 4], 0);
        for (i, word) in sum.iter_mut().enumerate() {
            (*word, carry) = add_carry(self.0[i], other.0[i], carry);
        }
        Self::subtract_order(&sum, carry).0
    }

    #[inline(always)]
    pub(crate) fn negate(&self) -> Self {
        // For 0, n - self is n; subtracting n again gives 0.
        Self::subtract_order(&sub_words(&ORDER, &self.0).0, 0).0
    }

    #[inline(always)]
    pub(crate) fn mul(&self, other: &Self) -> Self {
        let t = multiply_words(&self.0, &other.0);
        // Reduce from 512 bits to 386, to 260, and to below 2 n.
        let mut a = [t[0], t[1], t[2], t[3], 0, 0, 0];
        fold(&mut a, &t[4..]);
        let mut b = [a[0], a[1], a[2], a[3], 0, 0];
        fold(&mut b, &a[4..]);
        let mut c = [b[0], b[1], b[2], b[3], 0];
        fold(&mut c, &b[4..5]);
        Self::subtract_order(&[c[0], c[1], c[2], c[3]], c[4]).0
    }

    #[inline(always)]
    pub(crate) fn is_zero(&self) -> Mask {
        Mask::is_zero(self.0[0] | self.0[1] | self.0[2] | self.0[3])
    }

    /// Whether the value is above (n - 1) / 2.
    #[inline(always)]
    pub(crate) fn is_high(&self) -> Mask {
        Mask::from_bit(sub_words(&HALF, &self.0).1)
    }

    #[inline(always)]
    pub(crate) fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self(core::array::from_fn(|i| mask.select(yes.0[i], no.0[i])))
    }

    /// `1 / self`, or 0 for 0. Constant-time.
    pub(crate) fn invert(&self) -> Self {
        Self(safegcd::from_signed62(&safegcd::invert(
            &safegcd::to_signed62(&self.0),
            &MODULUS,
        )))
    }

    /// `1 / self`, or 0 for 0. Variable-time.
    pub(crate) fn invert_vartime(&self) -> Self {
        Self(lehmer::invert_vartime(&self.0, &ORDER))
    }

    /// `round(self * factor / 2^384)`.
    fn multiply_shift_384(&self, factor: &[u64; 4]) -> Self {
        let t = multiply_words(&self.0, factor);
        let (low, carry) = add_carry(t[6], t[5] >> 63, 0);
        Self([low, t[7] + carry, 0, 0])
    }

    /// Returns `(k1, k2)` with `k1 + k2 lambda = self (mod n)` and both below 2^128 in absolute value.
    ///
    /// Source: [GLV01], with the lattice basis (a1, b1), (a2, b2) of [LIBSECP]'s `scalar_impl.h`: a1 = b2 =
    /// 0x3086d221a7d46bcde86c90e49284eb15, b1 = -0xe4437ed6010e88286f547fa90abfe4c3, a2 =
    /// 0x114ca50f7a8e2f3f657c1108d9d44cfd8. The divisions by n are products with round(2^384 b2 / n) and round(-2^384
    /// b1 / n).
    fn split(&self) -> [Self; 2] {
        const G1: [u64; 4] = [
            0xe893_209a_45db_b031,
            0x3daa_8a14_71e8_ca7f,
            0xe86c_90e4_9284_eb15,
            0x3086_d221_a7d4_6bcd,
        ];
        const G2: [u64; 4] = [
            0x1571_b4ae_8ac4_7f71,
            0x2212_08ac_9df5_06c6,
            0x6f54_7fa9_0abf_e4c4,
            0xe443_7ed6_010e_8828,
        ];
        const MINUS_B1: Scalar = Scalar([0x6f54_7fa9_0abf_e4c3, 0xe443_7ed6_010e_8828, 0, 0]);
        const MINUS_B2: Scalar = Scalar([
            0xd765_cda8_3db1_562c,
            0x8a28_0ac5_0774_346d,
            0xffff_ffff_ffff_fffe,
            u64::MAX,
        ]);
        const MINUS_LAMBDA: Scalar = Scalar([
            0xe0cf_c810_b512_83cf,
            0xa880_b9fc_8ec7_39c2,
            0x5ad9_e3fd_77ed_9ba4,
            0xac9c_52b3_3fa3_cf1f,
        ]);
        let c1 = self.multiply_shift_384(&G1);
        let c2 = self.multiply_shift_384(&G2);
        let k2 = c1.mul(&MINUS_B1).add(&c2.mul(&MINUS_B2));
        let k1 = self.add(&k2.mul(&MINUS_LAMBDA));
        [k1, k2]
    }

    /// Returns `(k1, k2)` with `k1 + k2 lambda = self (mod n)`. Variable-time.
    pub(crate) fn split_vartime(&self) -> [Signed128; 2] {
        self.split().map(|k| k.to_signed128_vartime())
    }

    /// Returns `(v1, v2)`, of 129 bits each, with `(2 v1 + 1 - 2^130) + (2 v2 + 1 - 2^130) lambda = self (mod n)`.
    /// Constant-time.
    ///
    /// With v = k + 2^128, the left side is 2 (k1 + k2 lambda) - K for K = (2^129 - 1) (1 + lambda), so (self + K) / 2
    /// is split. Source: [LIBSECP] `ecmult_const_impl.h`.
    pub(crate) fn split_for_digits(&self) -> [[u64; 3]; 2] {
        /// 1/2 modulo n.
        const HALF_OF_ONE: Scalar = Scalar([
            0xdfe9_2f46_681b_20a1,
            0x5d57_6e73_57a4_501d,
            u64::MAX,
            0x7fff_ffff_ffff_ffff,
        ]);
        /// K / 2 modulo n.
        const HALF_OF_K: Scalar = Scalar([
            0x3aca_9034_d766_ed0d,
            0x09a4_e297_6b01_6510,
            0x615e_eb5f_be08_c6b5,
            0xd274_453e_e589_81a7,
        ]);
        self.mul(&HALF_OF_ONE).add(&HALF_OF_K).split().map(|k| {
            let negative = k.is_high();
            // A negative value is not 0, so the negation does not carry out.
            let Self(w) = Self::select(negative, &k.negate(), &k);
            debug_assert_eq!((w[2], w[3]), (0, 0));
            let (low, carry) = add_carry(w[0] ^ negative.word(), negative.word() & 1, 0);
            let (high, _) = add_carry(w[1] ^ negative.word(), 0, carry);
            [low, high, 1 ^ (negative.word() & 1)]
        })
    }

    fn to_signed128_vartime(self) -> Signed128 {
        let negative = self.is_high().declassify();
        let Self(w) = if negative { self.negate() } else { self };
        debug_assert_eq!((w[2], w[3]), (0, 0));
        Signed128 {
            negative,
            magnitude: u128::from(w[0]) | u128::from(w[1]) << 64,
        }
    }

    /// Returns the low and the high half as integers.
    pub(crate) fn halves(&self) -> [Signed128; 2] {
        halves(&self.0).map(|magnitude| Signed128 {
            negative: false,
            magnitude,
        })
    }

    /// Returns odd integers `(k1, k2)` with `k1 + 2^128 k2 = self (mod n)`. Variable-time.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn odd_halves_vartime(&self) -> [Signed128; 2] {
        // n is odd, so either k or n - k is. This makes the low half odd.
        let negated = self.0[0] & 1 == 0;
        let odd = if negated {
            sub_words(&ORDER, &self.0).0
        } else {
            self.0
        };
        let [low, high] = halves(&odd);
        // An even high half takes 2^128 from the low one.
        let taken = high & 1 == 0;
        [
            Signed128 {
                negative: negated != taken,
                magnitude: if taken { low.wrapping_neg() } else { low },
            },
            Signed128 {
                negative: negated,
                magnitude: high | 1,
            },
        ]
    }
}

/// Returns the low and the high half.
fn halves(w: &[u64; 4]) -> [u128; 2] {
    [(w[0], w[1]), (w[2], w[3])].map(|(low, high)| u128::from(low) | u128::from(high) << 64)
}

/// Sign and magnitude of a half-size multiplier.
#[derive(Clone, Copy)]
pub(crate) struct Signed128 {
    pub(crate) negative: bool,
    pub(crate) magnitude: u128,
}

impl Zeroize for Scalar {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
