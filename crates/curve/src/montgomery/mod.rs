//! Arithmetic modulo a prime of at most 256 bits, in Montgomery form.
//!
//! Layout: four 64-bit words, least significant first. x is stored as `x 2^256 mod p`, always below p. The only
//! multiplication kernel is the sum of N products with a single reduction ([`Kernel::dot`]): each coefficient of an
//! extension field product is such a sum and needs one reduction.
//!
//! Source: \[Mon85\]; word by word with interleaved products (CIOS): \[KAK96\]; sums of products: \[Longa23\] §3.
//! Constant time: no, public data only (although only inversion branches on values).

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::{fmt, marker::PhantomData};

pub(crate) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::Adx;

use crate::{field::Field, lehmer, words};

/// An odd prime and constants derived from it.
pub(crate) trait Modulus: Copy + 'static {
    /// p, little-endian.
    const P: [u64; 4];

    /// The constants that kernels read: p, and `-1/p mod 2^64`.
    const WORDS: [u64; 5] = [
        Self::P[0],
        Self::P[1],
        Self::P[2],
        Self::P[3],
        negative_inverse(Self::P[0]),
    ];
    /// `2^256 mod p`.
    const R: [u64; 4] = power_of_two(256, &Self::P);
    /// `2^512 mod p`.
    const R2: [u64; 4] = power_of_two(512, &Self::P);
    /// `2^768 mod p`.
    const R3: [u64; 4] = power_of_two(768, &Self::P);
    /// Whether p leaves at least two spare bits. Sums of more than one product require them.
    const SPARE: bool = Self::P[3] >> 62 == 0;
}

/// Computes `-1/p mod 2^64` with Newton's iteration.
const fn negative_inverse(p: u64) -> u64 {
    let (mut inverse, mut i) = (p, 0);
    while i < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg()
}

/// Computes `2^n mod p`.
pub(crate) const fn power_of_two(n: usize, p: &[u64; 4]) -> [u64; 4] {
    let (mut x, mut i) = ([1, 0, 0, 0], 0);
    while i < n {
        let top = x[3] >> 63;
        x = [
            x[0] << 1,
            x[1] << 1 | x[0] >> 63,
            x[2] << 1 | x[1] >> 63,
            x[3] << 1 | x[2] >> 63,
        ];
        let (difference, borrow) = words::sub(&x, p);
        if top == 1 || !borrow {
            x = difference;
        }
        i += 1;
    }
    x
}

/// An implementation of the arithmetic.
pub(crate) trait Kernel: Copy + PartialEq + 'static {
    /// `sum a[i] b[i] / 2^256 mod p`, below p.
    ///
    /// Elements must be at most p. N > 1 requires [`Modulus::SPARE`]; N is at most 6.
    fn dot<M: Modulus, const N: usize>(
        a: [&Element<M, Self>; N],
        b: [&Element<M, Self>; N],
    ) -> [u64; 4];

    /// `a + b mod p`, below p.
    fn add<M: Modulus>(a: &Element<M, Self>, b: &Element<M, Self>) -> [u64; 4];

    /// `a - b mod p`, below p.
    fn sub<M: Modulus>(a: &Element<M, Self>, b: &Element<M, Self>) -> [u64; 4];
}

/// An integer modulo p, with arithmetic from the kernel K.
#[repr(transparent)]
pub(crate) struct Element<M, K>([u64; 4], PhantomData<(M, K)>);

impl<M, K> Clone for Element<M, K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, K> Copy for Element<M, K> {}

impl<M, K> PartialEq for Element<M, K> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<M: Modulus, K: Kernel> fmt::Debug for Element<M, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.to_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<M: Modulus, K: Kernel> Element<M, K> {
    #[inline(always)]
    const fn new(words: [u64; 4]) -> Self {
        Self(words, PhantomData)
    }

    /// Converts little-endian words of an integer below p, at compile time.
    pub(crate) const fn constant(words: [u64; 4]) -> Self {
        Self::new(portable::multiply_constants::<M>(&words, &M::R2))
    }

    /// Wraps a value in Montgomery form. It must be below p.
    #[inline(always)]
    pub(crate) const fn from_montgomery(words: [u64; 4]) -> Self {
        Self::new(words)
    }

    /// Reduces a value in Montgomery form that is below 2 p.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn from_montgomery_below_2p(words: [u64; 4]) -> Self {
        let (difference, below) = words::sub(&words, &M::P);
        Self::new(if below { words } else { difference })
    }

    /// Returns the value in Montgomery form.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn to_montgomery(self) -> [u64; 4] {
        self.0
    }

    /// Converts 32 big-endian bytes. Returns `None` if the integer is not below p.
    #[inline]
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let words = crate::words::from_be(bytes);
        let (_, below) = words::sub(&words, &M::P);
        below.then(|| Self::from_words(&words))
    }

    /// Converts 32 big-endian bytes, modulo p.
    #[inline]
    pub(crate) fn from_bytes_reduced(bytes: &[u8; 32]) -> Self {
        // A Montgomery product accepts any factor below 2^256 if the other is below p.
        Self::from_words(&crate::words::from_be(bytes))
    }

    #[inline]
    fn from_words(words: &[u64; 4]) -> Self {
        Self::new(*words).mul(&Self::new(M::R2))
    }

    /// Returns 32 big-endian bytes.
    #[inline]
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        crate::words::to_be(&self.to_words())
    }

    /// Returns the integer as little-endian words.
    #[inline]
    pub(crate) fn to_words(self) -> [u64; 4] {
        self.mul(&Self::new([1, 0, 0, 0])).0
    }

    /// `sum a[i] b[i]` with one reduction. Takes references: a copy of words that were just written would wait for the
    /// stores.
    #[inline(always)]
    pub(crate) fn dot<const N: usize>(a: [&Self; N], b: [&Self; N]) -> Self {
        const { assert!(N == 1 || (N <= 6 && M::SPARE)) };
        Self::new(K::dot(a, b))
    }

    /// `p - self`, which is p for 0. The result may only be passed to [`Self::dot`].
    #[inline(always)]
    pub(crate) fn neg_unreduced(&self) -> Self {
        Self::new(words::sub(&M::P, &self.0).0)
    }
}

impl<M: Modulus, K: Kernel> Field for Element<M, K> {
    const ZERO: Self = Self::new([0; 4]);
    const ONE: Self = Self::new(M::R);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Self::new(K::add(self, other))
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self::new(K::sub(self, other))
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self::ZERO.sub(self)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        Self::dot([self], [other])
    }

    #[inline(always)]
    fn square(&self) -> Self {
        self.mul(self)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        let odd = (self.0[0] & 1).wrapping_neg();
        let p = [M::P[0] & odd, M::P[1] & odd, M::P[2] & odd, M::P[3] & odd];
        let (sum, carry) = words::add(&self.0, &p);
        Self::new([
            sum[0] >> 1 | sum[1] << 63,
            sum[1] >> 1 | sum[2] << 63,
            sum[2] >> 1 | sum[3] << 63,
            sum[3] >> 1 | u64::from(carry) << 63,
        ])
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        if M::SPARE {
            // One reduction for both products.
            Self::new(K::dot([a, &c.neg_unreduced()], [b, d]))
        } else {
            a.mul(b).sub(&c.mul(d))
        }
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self) -> Self {
        if M::SPARE {
            Self::difference_of_products(a, b, c, c)
        } else {
            a.mul(b).sub(&c.square())
        }
    }

    fn invert(&self) -> Self {
        // (x 2^256)^-1 2^768 / 2^256 = x^-1 2^256.
        Self::new(lehmer::invert_vartime(&self.0, &M::P)).mul(&Self::new(M::R3))
    }
}

#[cfg(test)]
mod tests;
