//! The field of secp256k1 for machines whose widest product has 64 bits: 32-bit targets and WebAssembly, where a
//! 128-bit product takes four multiplications and their carries.
//!
//! Layout: nine 29-bit limbs, `value = sum limbs[i] * 2^(29 i)` modulo p = 2^256 - 2^32 - 977. Limbs are signed, so
//! that differences need no borrows. Every operation takes and returns *carried* limbs: from -2^17 to 2^29 + 2^17, the
//! top one up to 2^24 + 2^17. A column of the schoolbook product, at most nine limb products, is then below 2^61.2, and
//! the sum of three columns fits in 63 bits. Columns are folded with 2^261 = 2^37 + 31264 (mod p) as they are summed,
//! in two interleaved accumulators. This is the method of libsecp256k1's `field_10x26` [LIBSECP], whose ten limbs take
//! 100 limb products; nine take 81.
//!
//! Constant time: everything except comparisons and inversion.

use super::{BETA, FieldRepr, P};
use crate::{
    field::{Field, SecretField},
    lehmer,
    mask::Mask,
};

/// The low 29 bits set.
const M: i64 = (1 << 29) - 1;
/// The low 24 bits set: the bits of the top limb.
const TOP: i64 = (1 << 24) - 1;
/// 2^256 mod p, in two limbs.
const R_MOD_P: [i64; 2] = [977, 8];

type Nine = [i64; 9];

/// An integer modulo p. The representation is described in the module documentation.
#[derive(Clone, Copy)]
pub(crate) struct Element(Nine);

/// Column k of the product.
#[inline(always)]
fn column(a: &Nine, b: &Nine, k: usize) -> i64 {
    let mut sum = 0;
    let mut i = k.saturating_sub(8);
    while i <= k && i <= 8 {
        sum += a[i] * b[k - i];
        i += 1;
    }
    sum
}

/// Column k of the square.
#[inline(always)]
fn column_of_square(a: &Nine, doubled: &Nine, k: usize) -> i64 {
    let mut sum = 0;
    let mut i = k.saturating_sub(8);
    while 2 * i < k {
        sum += doubled[i] * a[k - i];
        i += 1;
    }
    if k.is_multiple_of(2) {
        sum += a[k / 2] * a[k / 2];
    }
    sum
}

#[inline(always)]
fn product_of(a: &Nine, b: &Nine) -> Nine {
    reduce(|k| column(a, b, k))
}

#[inline(always)]
fn square_of(a: &Nine) -> Nine {
    let doubled = a.map(|limb| limb * 2);
    reduce(|k| column_of_square(a, &doubled, k))
}

/// Carries 17 columns of at most 62.8 bits and a sign. `high` runs through columns 8 to 16 and `low` through 0 to 7;
/// each low column gets the folded part of `high` nine columns above it.
#[inline(always)]
fn reduce(c: impl Fn(usize) -> i64) -> Nine {
    let mut r = [0; 9];
    let mut high = c(8);
    let top = high & M;
    high >>= 29;
    let mut low = 0;
    macro_rules! fold {
        ($($k:literal)*) => {$(
            high += c($k + 9);
            let folded = high & M;
            high >>= 29;
            low += c($k) + folded * (R_MOD_P[0] << 5);
            r[$k] = low & M;
            low >>= 29;
            low += folded * (R_MOD_P[1] << 5);
        )*};
    }
    fold!(0 1 2 3 4 5 6 7);
    // Column 8: the rest of `high` is below 2^21.
    low += high * (R_MOD_P[0] << 5) + top;
    r[8] = low & TOP;
    low >>= 24;
    low += high * (R_MOD_P[1] << 10);
    // The part above 2^256 is below 2^35.
    let mut carry = r[0] + low * R_MOD_P[0];
    r[0] = carry & M;
    carry >>= 29;
    carry += r[1] + low * R_MOD_P[1];
    r[1] = carry & M;
    r[2] += carry >> 29;
    r
}

/// Carries the sum of a few elements.
#[inline(always)]
fn carry(t: &Nine) -> Nine {
    let above = t[8] >> 24;
    [
        (t[0] & M) + above * R_MOD_P[0],
        (t[1] & M) + (t[0] >> 29) + above * R_MOD_P[1],
        (t[2] & M) + (t[1] >> 29),
        (t[3] & M) + (t[2] >> 29),
        (t[4] & M) + (t[3] >> 29),
        (t[5] & M) + (t[4] >> 29),
        (t[6] & M) + (t[5] >> 29),
        (t[7] & M) + (t[6] >> 29),
        (t[8] & TOP) + (t[7] >> 29),
    ]
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.reduced() == other.reduced()
    }
}

impl Field for Element {
    const ZERO: Self = Self([0; 9]);
    const ONE: Self = Self([1, 0, 0, 0, 0, 0, 0, 0, 0]);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Self(carry(&core::array::from_fn(|i| self.0[i] + other.0[i])))
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self(carry(&core::array::from_fn(|i| self.0[i] - other.0[i])))
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self(carry(&self.0.map(|limb| -limb)))
    }

    fn mul(&self, other: &Self) -> Self {
        Self(product_of(&self.0, &other.0))
    }

    fn square(&self) -> Self {
        Self(square_of(&self.0))
    }

    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let (a, b, c, d) = (a.0, b.0, c.0, d.0);
        Self(reduce(|k| column(&a, &b, k) - column(&c, &d, k)))
    }

    #[inline(always)]
    fn double_point([x, y, z]: [&mut Self; 3]) -> bool {
        let (e, yy) = (x.three_halves_of_square(), y.square());
        x.multiply(&yy);
        let t = e.square_minus(x, &Self::ZERO);
        z.multiply(y);
        y.become_product_minus_square(&e, &t, &yy);
        true
    }

    #[inline(always)]
    fn add_point(
        [x, y, z]: [&mut Self; 3],
        [x2, y2]: [&Self; 2],
        scaled: Option<&Self>,
    ) -> Option<Self> {
        let scaled = scaled.unwrap_or(&*z);
        let mut zz = scaled.square();
        let (mut h, mut r) = (*x, *y);
        h.subtract_from_product(x2, &zz);
        zz.multiply(scaled);
        let mut hh = h.square();
        r.subtract_from_product(y2, &zz);
        x.multiply(&hh);
        hh.multiply(&h);
        y.multiply(&hh);
        let t = r.square_minus(x, &hh);
        z.multiply(&h);
        y.subtract_from_product(&r, &t);
        Some(h)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        // Add p if odd, then shift.
        let odd = -(self.0[0] & 1);
        let mut t = self.0;
        t[0] -= R_MOD_P[0] & odd;
        t[1] -= R_MOD_P[1] & odd;
        t[8] += (TOP + 1) & odd;
        let above = |i: usize| t.get(i + 1).map_or(0, |limb| (limb & 1) << 28);
        Self(core::array::from_fn(|i| (t[i] >> 1) + above(i)))
    }

    fn invert(&self) -> Self {
        Self::from_words(lehmer::invert_vartime(&self.reduced(), &P))
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        // The value is 0, p, or, for a difference, -p. Checking one limb rules out most others.
        let low = self.0[0] & M;
        (low == 0 || low == (-R_MOD_P[0] & M) || low == R_MOD_P[0]) && self.reduced() == [0; 4]
    }
}

impl SecretField for Element {
    #[inline(always)]
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self(core::array::from_fn(|i| {
            mask.select(yes.0[i] as u64, no.0[i] as u64) as i64
        }))
    }

    #[inline(always)]
    fn is_zero_mask(&self) -> Mask {
        let words = self.reduced();
        Mask::is_zero(words[0] | words[1] | words[2] | words[3])
    }
}

impl FieldRepr for Element {
    const BETA: Self = Self::from_words(BETA);

    #[inline(always)]
    fn from_words(words: [u64; 4]) -> Self {
        Self::from_words(words)
    }

    /// The loop keeps the power in locals from one square to the next.
    fn square_times(&self, n: u32) -> Self {
        let mut power = self.0;
        for _ in 0..n {
            power = square_of(&power);
        }
        Self(power)
    }

    fn reduced(&self) -> [u64; 4] {
        let mut t = self.0;
        // The first pass folds the part above 2^256; the second folds its carry, at most 1, or corrects a value below
        // 0.
        for _ in 0..2 {
            let above = t[8] >> 24;
            t[8] &= TOP;
            t[0] += above * R_MOD_P[0];
            t[1] += above * R_MOD_P[1];
            for i in 0..8 {
                t[i + 1] += t[i] >> 29;
                t[i] &= M;
            }
        }
        let t = t.map(|limb| limb as u64);
        let words = [
            t[0] | t[1] << 29 | t[2] << 58,
            t[2] >> 6 | t[3] << 23 | t[4] << 52,
            t[4] >> 12 | t[5] << 17 | t[6] << 46,
            t[6] >> 18 | t[7] << 11 | t[8] << 40,
        ];
        // x - p = x + (2^256 - p) - 2^256, and x + (2^256 - p) reaches 2^256 exactly if x >= p.
        let (mut less, mut carry) = ([0; 4], P[0].wrapping_neg());
        for (less, word) in less.iter_mut().zip(words) {
            let overflow;
            (*less, overflow) = word.overflowing_add(carry);
            carry = u64::from(overflow);
        }
        let mask = Mask::from_bit(carry);
        core::array::from_fn(|i| mask.select(less[i], words[i]))
    }
}

impl Element {
    /// Converts four little-endian words below 2^256.
    const fn from_words(w: [u64; 4]) -> Self {
        const M: u64 = self::M as u64;
        Self([
            (w[0] & M) as i64,
            (w[0] >> 29 & M) as i64,
            ((w[0] >> 58 | w[1] << 6) & M) as i64,
            (w[1] >> 23 & M) as i64,
            ((w[1] >> 52 | w[2] << 12) & M) as i64,
            (w[2] >> 17 & M) as i64,
            ((w[2] >> 46 | w[3] << 18) & M) as i64,
            (w[3] >> 11 & M) as i64,
            (w[3] >> 40) as i64,
        ])
    }

    // Steps of the group law. They work in place: copying a result loads as a vector limbs that were stored one by one,
    // and has to wait for all stores. They are few and not inlined: doubling and addition together must fit in the
    // cache of decoded instructions.

    /// `3/2 self^2`
    #[inline(never)]
    fn three_halves_of_square(&self) -> Self {
        let a = self.0;
        let doubled = a.map(|limb| limb * 2);
        Self(reduce(|k| 3 * column_of_square(&a, &doubled, k))).half()
    }

    /// `self *= by`.
    #[inline(never)]
    fn multiply(&mut self, by: &Self) {
        self.0 = product_of(&self.0, &by.0);
    }

    /// `self = a b - self`.
    #[inline(never)]
    fn subtract_from_product(&mut self, a: &Self, b: &Self) {
        let (a, b, c) = (a.0, b.0, self.0);
        self.0 = reduce(|k| column(&a, &b, k) - c.get(k).unwrap_or(&0));
    }

    /// `s = self^2 - 2 s - other`. Returns the old `s` minus the new one, uncarried.
    #[inline(never)]
    fn square_minus(&self, s: &mut Self, other: &Self) -> Self {
        let (a, b, c) = (self.0, s.0, other.0);
        let doubled = a.map(|limb| limb * 2);
        let less: Nine = core::array::from_fn(|i| 2 * b[i] + c[i]);
        s.0 = reduce(|k| column_of_square(&a, &doubled, k) - less.get(k).unwrap_or(&0));
        Self(core::array::from_fn(|i| b[i] - s.0[i]))
    }

    /// `self = a b - c^2`.
    #[inline(never)]
    fn become_product_minus_square(&mut self, a: &Self, b: &Self, c: &Self) {
        let (a, b, c) = (a.0, b.0, c.0);
        let doubled = c.map(|limb| limb * 2);
        self.0 = reduce(|k| column(&a, &b, k) - column_of_square(&c, &doubled, k));
    }

    /// Converts the limbs of a [`super::FieldElement`] of magnitude at most 64.
    #[inline(always)]
    fn from_limbs52(limbs: &[u64; 5]) -> Self {
        let [a, b, c, d, e] = limbs.map(|limb| limb as i64);
        let low = |limb: i64, bits: u32| limb & ((1 << bits) - 1);
        Self(carry(&[
            a & M,
            (a >> 29) + (low(b, 6) << 23),
            b >> 6 & M,
            (b >> 35) + (low(c, 12) << 17),
            c >> 12 & M,
            (c >> 41) + (low(d, 18) << 11),
            d >> 18 & M,
            (d >> 47) + (low(e, 24) << 5),
            e >> 24,
        ]))
    }

    /// Returns the limbs of a normalized [`super::FieldElement`].
    #[inline(always)]
    fn to_limbs52(self) -> [u64; 5] {
        const M: u64 = (1 << 52) - 1;
        let w = self.reduced();
        [
            w[0] & M,
            (w[0] >> 52 | w[1] << 12) & M,
            (w[1] >> 40 | w[2] << 24) & M,
            (w[2] >> 28 | w[3] << 36) & M,
            w[3] >> 16,
        ]
    }
}

// Products for [`super::words64`]. They are rarely used when the group law runs on the representation above.

/// The product. Both magnitudes must be at most 8.
pub(in crate::secp256k1) fn multiply(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let [a, b] = [a, b].map(Element::from_limbs52);
    a.mul(&b).to_limbs52()
}

/// The square. The magnitude must be at most 8.
pub(in crate::secp256k1) fn square(a: &[u64; 5]) -> [u64; 5] {
    Element::from_limbs52(a).square().to_limbs52()
}

/// `a b + c d`. The sum of both products of magnitudes must be at most 64.
pub(in crate::secp256k1) fn sum_of_products(
    a: &[u64; 5],
    b: &[u64; 5],
    c: &[u64; 5],
    d: &[u64; 5],
) -> [u64; 5] {
    let [a, b, c, d] = [a, b, c, d].map(Element::from_limbs52);
    Element::difference_of_products(&a, &b, &c, &d.negate()).to_limbs52()
}

/// `a b + c^2`. The sum of both products of magnitudes must be at most 64.
pub(in crate::secp256k1) fn product_plus_square(
    a: &[u64; 5],
    b: &[u64; 5],
    c: &[u64; 5],
) -> [u64; 5] {
    sum_of_products(a, b, c, c)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::{
        super::super::tests::{config, to_big, to_words, words},
        *,
    };

    fn difference(a: &Element, b: &Element) -> Element {
        Element(core::array::from_fn(|i| a.0[i] - b.0[i]))
    }

    proptest! {
        #![proptest_config(config())]

        /// Compares every operation with integer arithmetic, including on extreme limbs: those of differences, carried
        /// once.
        #[test]
        fn operations_are_those_of_integers(a in words(P), b in words(P), c in words(P), d in words(P)) {
            let p = to_big(&P);
            let numbers = [a, b, c, d].map(|words| to_big(&words) % &p);
            let reduced = [0, 1, 2, 3].map(|i| Element::from_words(to_words(&numbers[i])));
            let zero = Element::ZERO;
            let shifted = reduced.map(|x| zero.sub(&zero.sub(&x)));
            for [a, b, c, d] in [reduced, shifted] {
                let [x, y, z, w] = &numbers;
                let same = |name: &str, got: Element, expected: BigUint| {
                    prop_assert_eq!(got.reduced(), to_words(&(expected % &p)), "{}", name);
                    prop_assert!(got.0[..8].iter().all(|limb| (-1 << 17..=(1 << 29) + (1 << 17)).contains(limb)));
                    prop_assert!((-1 << 17..=(1 << 24) + (1 << 17)).contains(&got.0[8]));
                    Ok(())
                };
                same("itself", a, x.clone())?;
                same("add", a.add(&b), x + y)?;
                same("sub", a.sub(&b), x + &p - y)?;
                same("negate", a.negate(), &p - x)?;
                same("half", a.half(), x * ((&p + 1u8) >> 1))?;
                same("mul", a.mul(&b), x * y)?;
                same("square", a.square(), x * x)?;
                same("difference", Element::difference_of_products(&a, &b, &c, &d), x * y + &p * &p - z * w)?;
                let in_place = |step: &dyn Fn(&mut Element)| {
                    let mut value = d;
                    step(&mut value);
                    value
                };
                same("in place", in_place(&|d| d.multiply(&a)), x * w)?;
                same("less itself", in_place(&|d| d.subtract_from_product(&a, &b)), x * y + &p - w)?;
                same("line", in_place(&|d| d.become_product_minus_square(&a, &b, &c)), x * y + &p * &p - z * z)?;
                let two = &p - 2u8;
                same("x", in_place(&|d| _ = a.square_minus(d, &c)), x * x + &two * w + &p - z)?;
                let three_halves = x * x * 3u8 * ((&p + 1u8) >> 1);
                same("slope", a.three_halves_of_square(), three_halves)?;
                same("square_times", a.square_times(3), x.modpow(&8u8.into(), &p))?;
                prop_assert!(a.sub(&a).is_zero() && a.sub(&a).is_zero_mask().declassify());
                prop_assert_eq!(a.sub(&b).is_zero(), x == y);
                let p = Element::from_words(P);
                for zero in [difference(&a, &a), difference(&p, &zero), difference(&zero, &p)] {
                    prop_assert!(Field::is_zero(&zero));
                }
                prop_assert_eq!(a == b, x == y);
            }
            let inverse = numbers[0].modpow(&(&p - 2u8), &p);
            prop_assert_eq!(shifted[0].invert().reduced(), to_words(&inverse));
        }

        /// The largest columns that limbs within the bounds can produce.
        #[test]
        fn products_of_the_largest_limbs(signs in any::<[u16; 4]>()) {
            let p = to_big(&P);
            let element = |signs: u16| -> Nine {
                core::array::from_fn(|i| {
                    let top = if i == 8 { 1 << 24 } else { 1 << 29 };
                    if signs >> i & 1 == 1 { top + (1 << 17) } else { -1 << 17 }
                })
            };
            // As integers, plus a multiple of p that makes them positive.
            let big = |limbs: &Nine| {
                let zero = &p << 64u32;
                let up: BigUint = (0..9).map(|i| BigUint::from(limbs[i].max(0) as u64) << (29 * i)).sum();
                let down: BigUint = (0..9).map(|i| BigUint::from((-limbs[i]).max(0) as u64) << (29 * i)).sum();
                (zero + up - down) % &p
            };
            let limbs = signs.map(element);
            let [x, y, z, w] = [0, 1, 2, 3].map(|i| big(&limbs[i]));
            let [a, b, c, d] = limbs.map(Element);
            prop_assert_eq!(a.reduced(), to_words(&x));
            prop_assert_eq!(a.mul(&b).reduced(), to_words(&(&x * &y % &p)));
            prop_assert_eq!(a.square().reduced(), to_words(&(&x * &x % &p)));
            prop_assert_eq!(
                Element::difference_of_products(&a, &b, &c, &d).reduced(),
                to_words(&((&x * &y + &p * &p - &z * &w) % &p))
            );
            let mut less = d;
            less.subtract_from_product(&a, &b);
            prop_assert_eq!(less.reduced(), to_words(&((&x * &y + &p - &w) % &p)));
            let slope = a.three_halves_of_square().reduced();
            prop_assert_eq!(slope, to_words(&(&x * &x * 3u8 * ((&p + 1u8) >> 1) % &p)));
            let mut s = c;
            let t = a.square_minus(&mut s, &d);
            prop_assert_eq!(s.reduced(), to_words(&((&x * &x + &p * 3u8 - &z * 2u8 - &w) % &p)));
            prop_assert_eq!(t.0, difference(&c, &s).0);
            let t = difference(&b, &c);
            let t_value = big(&t.0);
            let mut line = a;
            line.become_product_minus_square(&a, &t, &d);
            prop_assert_eq!(line.reduced(), to_words(&((x * t_value + &p * &p - &w * &w) % &p)));
        }
    }
}
