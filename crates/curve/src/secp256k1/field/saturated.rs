//! Field elements in four full words, for targets with carry flags.
//!
//! Layout: four 64-bit words, least significant first. Any value below 2^256 represents its residue modulo p = 2^256 -
//! R_MOD_P. Every operation takes and returns such values; only `reduced` brings one below p.
//!
//! Constant time, if the kernel is: everything except comparisons and inversion.

use core::marker::PhantomData;

use super::{BETA, FieldRepr, P};
use crate::{
    field::{Field, SecretField},
    lehmer,
    mask::Mask,
    words::add_carry,
};

/// 2^256 mod p.
pub(in crate::secp256k1) const R_MOD_P: u64 = 0x1_0000_03d1;

pub(in crate::secp256k1) type Words = [u64; 4];

/// An implementation of the arithmetic.
pub(crate) trait Kernel: Copy {
    fn mul(a: &Words, b: &Words) -> Words;

    fn square(a: &Words) -> Words;

    /// `a^(2^n)`. n must be at least 1.
    fn square_times(a: &Words, n: u32) -> Words;

    fn add(a: &Words, b: &Words) -> Words;

    fn sub(a: &Words, b: &Words) -> Words;
}

/// A value below 2^256, modulo p, with arithmetic from the kernel K.
#[derive(Clone, Copy)]
pub(crate) struct Element<K>(Words, PhantomData<K>);

/// Returns R_MOD_P if the condition holds, else 0. With `SECRET`, constant-time.
#[inline(always)]
pub(in crate::secp256k1) fn r_mod_p_if<const SECRET: bool>(condition: bool) -> u64 {
    if !SECRET {
        return if condition { R_MOD_P } else { 0 };
    }
    let mask = u64::from(condition).wrapping_neg();
    // The compiler would turn a mask known to have two values into a branch. The empty `asm!`, which Miri does not
    // support, hides the value.
    #[cfg(not(miri))]
    let mask = {
        let mut mask = mask;
        // SAFETY: contains no instruction.
        unsafe {
            core::arch::asm!("/* {} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
        }
        mask
    };
    R_MOD_P & mask
}

/// `a + b`. With `SECRET`, constant-time.
#[inline(always)]
pub(in crate::secp256k1) fn add<const SECRET: bool>(a: &Words, b: &Words) -> Words {
    let (r0, carry) = a[0].overflowing_add(b[0]);
    let (r1, carry) = add_carry(a[1], b[1], carry);
    let (r2, carry) = add_carry(a[2], b[2], carry);
    let (r3, carry) = add_carry(a[3], b[3], carry);
    let (r0, carry) = r0.overflowing_add(r_mod_p_if::<SECRET>(carry));
    let (r1, carry) = r1.overflowing_add(u64::from(carry));
    let (r2, carry) = r2.overflowing_add(u64::from(carry));
    let (r3, carry) = r3.overflowing_add(u64::from(carry));
    // After a second carry, the rest is less than R_MOD_P.
    [r0.wrapping_add(r_mod_p_if::<SECRET>(carry)), r1, r2, r3]
}

impl<K: Kernel> Element<K> {
    #[inline(always)]
    const fn new(words: Words) -> Self {
        Self(words, PhantomData)
    }
}

impl<K: Kernel> PartialEq for Element<K> {
    fn eq(&self, other: &Self) -> bool {
        self.reduced() == other.reduced()
    }
}

impl<K: Kernel> Field for Element<K> {
    const ZERO: Self = Self::new([0; 4]);
    const ONE: Self = Self::new([1, 0, 0, 0]);

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        Self::new(K::mul(&self.0, &other.0))
    }

    #[inline(always)]
    fn square(&self) -> Self {
        Self::new(K::square(&self.0))
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Self::new(K::add(&self.0, &other.0))
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self::new(K::sub(&self.0, &other.0))
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self::ZERO.sub(self)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        let a = &self.0;
        // For odd x, x / 2 = (x + p) / 2 = (x - 1) / 2 + 2^255 - (R_MOD_P - 1) / 2, which does not borrow beyond 2^255.
        let odd = a[0] << 63;
        let (r0, borrow) =
            (a[0] >> 1 | a[1] << 63).overflowing_sub((R_MOD_P / 2) & (a[0] & 1).wrapping_neg());
        let (r1, borrow) = (a[1] >> 1 | a[2] << 63).overflowing_sub(u64::from(borrow));
        let (r2, borrow) = (a[2] >> 1 | a[3] << 63).overflowing_sub(u64::from(borrow));
        let r3 = (a[3] >> 1 | odd).wrapping_sub(u64::from(borrow));
        Self::new([r0, r1, r2, r3])
    }

    fn invert(&self) -> Self {
        Self::new(lehmer::invert_vartime(&self.reduced(), &P))
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        // Checking one word rules out most non-zero values.
        (self.0[0] == 0 || self.0[0] == P[0]) && (self.0 == [0; 4] || self.0 == P)
    }
}

impl<K: Kernel> SecretField for Element<K> {
    #[inline(always)]
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self::new(core::array::from_fn(|i| mask.select(yes.0[i], no.0[i])))
    }

    #[inline(always)]
    fn is_zero_mask(&self) -> Mask {
        let differs = |from: &Words| (0..4).fold(0, |any, i| any | (self.0[i] ^ from[i]));
        Mask::is_zero(differs(&[0; 4])).or(Mask::is_zero(differs(&P)))
    }
}

impl<K: Kernel> FieldRepr for Element<K> {
    const BETA: Self = Self::new(BETA);

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        Self::new(words)
    }

    #[inline(always)]
    fn reduced(&self) -> Words {
        let (r0, carry) = self.0[0].overflowing_add(R_MOD_P);
        let (r1, carry) = self.0[1].overflowing_add(u64::from(carry));
        let (r2, carry) = self.0[2].overflowing_add(u64::from(carry));
        let (r3, carry) = self.0[3].overflowing_add(u64::from(carry));
        // x + R_MOD_P reaches 2^256 exactly if x >= p.
        let mask = Mask::from_bit(u64::from(carry));
        Self::select(mask, &Self::new([r0, r1, r2, r3]), self).0
    }

    #[inline(always)]
    fn square_times(&self, n: u32) -> Self {
        debug_assert!(n > 0);
        Self::new(K::square_times(&self.0, n))
    }
}

/// A kernel in safe Rust, which compiles to chains of `ADCS` on AArch64.
#[cfg(any(test, target_arch = "aarch64"))]
mod portable {
    use super::{Element, Kernel, R_MOD_P, Words, add, add_carry, r_mod_p_if};

    /// With `SECRET`, constant-time.
    #[derive(Clone, Copy)]
    pub(crate) struct Portable<const SECRET: bool>;

    pub(crate) type Public = Element<Portable<false>>;
    pub(crate) type Secret = Element<Portable<true>>;

    impl<const SECRET: bool> Kernel for Portable<SECRET> {
        #[inline(always)]
        fn mul(a: &Words, b: &Words) -> Words {
            reduce::<SECRET>(&multiply(a, b))
        }

        #[inline(always)]
        fn square(a: &Words) -> Words {
            reduce::<SECRET>(&square(a))
        }

        fn square_times(a: &Words, n: u32) -> Words {
            (0..n).fold(*a, |power, _| reduce::<SECRET>(&square(&power)))
        }

        #[inline(always)]
        fn add(a: &Words, b: &Words) -> Words {
            add::<SECRET>(a, b)
        }

        /// `a - b = a + !b + 1`, where no carry means a borrow: the compiler generates no `SBCS`.
        #[inline(always)]
        fn sub(a: &Words, b: &Words) -> Words {
            let (r0, borrow) = a[0].overflowing_sub(b[0]);
            let (r1, carry) = add_carry(a[1], !b[1], !borrow);
            let (r2, carry) = add_carry(a[2], !b[2], carry);
            let (r3, carry) = add_carry(a[3], !b[3], carry);
            let (r0, borrow) = r0.overflowing_sub(r_mod_p_if::<SECRET>(!carry));
            let (r1, carry) = add_carry(r1, !0, !borrow);
            let (r2, carry) = add_carry(r2, !0, carry);
            let (r3, carry) = add_carry(r3, !0, carry);
            // After a second borrow, the rest is 2^256 - R_MOD_P or more.
            [r0.wrapping_sub(r_mod_p_if::<SECRET>(!carry)), r1, r2, r3]
        }
    }

    /// R_MOD_P; marks the branch as unlikely.
    #[cold]
    fn rare_fold() -> u64 {
        R_MOD_P
    }

    /// The low and the high word of `a b`.
    #[inline(always)]
    fn wide(a: u64, b: u64) -> (u64, u64) {
        let product = u128::from(a) * u128::from(b);
        (product as u64, (product >> 64) as u64)
    }

    /// `t + a b`. All low words are added first, then all high words: two chains without a word for the carries.
    #[inline(always)]
    fn add_row(t: Words, a: u64, b: &Words) -> [u64; 5] {
        let ((l0, h0), (l1, h1)) = (wide(a, b[0]), wide(a, b[1]));
        let ((l2, h2), (l3, h3)) = (wide(a, b[2]), wide(a, b[3]));
        let (t0, carry) = t[0].overflowing_add(l0);
        let (t1, carry) = add_carry(t[1], l1, carry);
        let (t2, carry) = add_carry(t[2], l2, carry);
        let (t3, carry) = add_carry(t[3], l3, carry);
        let t4 = u64::from(carry);
        let (t1, carry) = t1.overflowing_add(h0);
        let (t2, carry) = add_carry(t2, h1, carry);
        let (t3, carry) = add_carry(t3, h2, carry);
        let (t4, _) = add_carry(t4, h3, carry);
        [t0, t1, t2, t3, t4]
    }

    #[inline(always)]
    fn multiply(a: &Words, b: &Words) -> [u64; 8] {
        let [t0, t1, t2, t3, t4] = add_row([0; 4], a[0], b);
        let [t1, t2, t3, t4, t5] = add_row([t1, t2, t3, t4], a[1], b);
        let [t2, t3, t4, t5, t6] = add_row([t2, t3, t4, t5], a[2], b);
        let [t3, t4, t5, t6, t7] = add_row([t3, t4, t5, t6], a[3], b);
        [t0, t1, t2, t3, t4, t5, t6, t7]
    }

    #[inline(always)]
    fn square(a: &Words) -> [u64; 8] {
        // The products of different words,
        let ((t1, h1), (l2, h2), (l3, h3)) = (wide(a[0], a[1]), wide(a[0], a[2]), wide(a[0], a[3]));
        let (t2, carry) = l2.overflowing_add(h1);
        let (t3, carry) = add_carry(l3, h2, carry);
        let t4 = h3 + u64::from(carry);
        let ((l3, h3), (l4, h4)) = (wide(a[1], a[2]), wide(a[1], a[3]));
        let (t3, carry) = t3.overflowing_add(l3);
        let (t4, carry) = add_carry(t4, l4, carry);
        let t5 = u64::from(carry);
        let (t4, carry) = t4.overflowing_add(h3);
        let (t5, _) = add_carry(t5, h4, carry);
        let (l5, h5) = wide(a[2], a[3]);
        let (t5, carry) = t5.overflowing_add(l5);
        let t6 = h5 + u64::from(carry);
        // doubled,
        let (t1, carry) = t1.overflowing_add(t1);
        let (t2, carry) = add_carry(t2, t2, carry);
        let (t3, carry) = add_carry(t3, t3, carry);
        let (t4, carry) = add_carry(t4, t4, carry);
        let (t5, carry) = add_carry(t5, t5, carry);
        let (t6, carry) = add_carry(t6, t6, carry);
        let t7 = u64::from(carry);
        // and the squares.
        let ((t0, h0), (l1, h1)) = (wide(a[0], a[0]), wide(a[1], a[1]));
        let ((l2, h2), (l3, h3)) = (wide(a[2], a[2]), wide(a[3], a[3]));
        let (t1, carry) = t1.overflowing_add(h0);
        let (t2, carry) = add_carry(t2, l1, carry);
        let (t3, carry) = add_carry(t3, h1, carry);
        let (t4, carry) = add_carry(t4, l2, carry);
        let (t5, carry) = add_carry(t5, h2, carry);
        let (t6, carry) = add_carry(t6, l3, carry);
        let (t7, _) = add_carry(t7, h3, carry);
        [t0, t1, t2, t3, t4, t5, t6, t7]
    }

    #[inline(always)]
    fn reduce<const SECRET: bool>(t: &[u64; 8]) -> Words {
        // 512 bits to 289: add the upper half times R_MOD_P to the lower.
        let [t0, t1, t2, t3, t4, t5, t6, t7] = *t;
        let [t0, t1, t2, t3, t4] = add_row([t0, t1, t2, t3], R_MOD_P, &[t4, t5, t6, t7]);
        // The part above 2^256, at most R_MOD_P, times R_MOD_P is below 2^66.
        let (low, high) = wide(t4, R_MOD_P);
        let (t0, carry) = t0.overflowing_add(low);
        let (t1, carry) = add_carry(t1, high, carry);
        let (t2, carry) = add_carry(t2, 0, carry);
        let (t3, carry) = add_carry(t3, 0, carry);
        // If this wraps, less than 2^66 is left.
        if SECRET {
            let (t0, carry) = t0.overflowing_add(r_mod_p_if::<true>(carry));
            [t0, t1 + u64::from(carry), t2, t3]
        } else if carry {
            let (t0, carry) = t0.overflowing_add(rare_fold());
            [t0, t1 + u64::from(carry), t2, t3]
        } else {
            [t0, t1, t2, t3]
        }
    }
}
#[cfg(any(test, target_arch = "aarch64"))]
pub(crate) use portable::{Public, Secret};

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::vec::Vec;

    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::{
        super::super::tests::{config, to_big, to_words, words},
        *,
    };
    #[cfg(target_arch = "x86_64")]
    use crate::secp256k1::{dispatch::Backend, x86_64::adx};

    /// Compares every operation on a and b with integer arithmetic, with each kernel.
    fn check(a: Words, b: Words) {
        check_with::<portable::Portable<false>>(a, b);
        check_with::<portable::Portable<true>>(a, b);
        #[cfg(target_arch = "x86_64")]
        if Backend::detect() != Backend::Portable {
            check_with::<adx::Adx<false>>(a, b);
            check_with::<adx::Adx<true>>(a, b);
        }
    }

    fn check_with<K: Kernel>(a: Words, b: Words) {
        let p = to_big(&P);
        let (x, y) = (to_big(&a), to_big(&b));
        let (a, b) = (Element::<K>::new(a), Element::<K>::new(b));
        let same = |name: &str, got: Element<K>, expected: BigUint| {
            assert_eq!(
                got.reduced(),
                to_words(&(expected % &p)),
                "{name} {x:x} {y:x}"
            );
        };
        same("mul", a.mul(&b), &x * &y);
        same("square", a.square(), &x * &x);
        same("square_times", a.square_times(3), x.modpow(&8u8.into(), &p));
        same("add", a.add(&b), &x + &y);
        same("sub", a.sub(&b), &x + &p + &p - &y);
        same("half", a.half(), &x * ((&p + 1u8) >> 1));
        same("negate", a.negate(), &p + &p - &x);
        same("reduced", a, x.clone());
    }

    #[test]
    fn edges() {
        let max = [u64::MAX; 4];
        let near = |words: Words, by: u64| {
            let mut words = words;
            words[0] = words[0].wrapping_sub(by);
            words
        };
        let mut all: Vec<Words> = (0..4).map(|i| [i, 0, 0, 0]).collect();
        all.extend((0..4).flat_map(|i| [near(max, i), near(P, i), near(P, i.wrapping_neg())]));
        // Values near R_MOD_P and 2^255, and multiples of R_MOD_P^-1, for which the two folds carry.
        all.extend((0..3).flat_map(|i| [[R_MOD_P - i, 0, 0, 0], [R_MOD_P + i, 0, 0, 0]]));
        all.extend((0..4).flat_map(|i| {
            let mut single = [0; 4];
            single[i] = u64::MAX;
            let mut missing = max;
            missing[i] = 0;
            let mut top = [0; 4];
            top[i] = 1 << 63;
            [single, missing, top]
        }));
        for a in all.iter().step_by(if cfg!(miri) { 12 } else { 1 }) {
            for b in all.iter().step_by(if cfg!(miri) { 7 } else { 1 }) {
                check(*a, *b);
            }
        }
    }

    /// Products with chosen 512-bit values, so that each fold wraps: `a b = t 2^256 + u` for edge values t, where it
    /// divides.
    #[cfg(not(miri))] // takes minutes
    #[test]
    fn products_that_wrap() {
        let one = BigUint::from(1u8);
        let modulus = &one << 256;
        let (mut first, mut second) = (0, 0);
        for i in 1u64..4000 {
            // The upper half h of the product is floor(a b / 2^256). With a close to 2^256, h is about b - 1 and the
            // low half is the complement of a multiple of b; sometimes both are all ones.
            let a = &modulus - i;
            for b in [
                &modulus - 1u8,
                &modulus - i,
                &modulus - R_MOD_P * i,
                &modulus / i,
            ] {
                let product = &a * &b;
                let fold = BigUint::from(R_MOD_P);
                let once = (&product >> 256) * &fold + (&product % &modulus);
                let twice = (&once >> 256) * &fold + (&once % &modulus);
                first += u32::from(&once >> 256 != BigUint::ZERO);
                second += u32::from(&twice >> 256 != BigUint::ZERO);
                check(to_words(&a), to_words(&b));
            }
        }
        // The rare last wrap must occur too, not only the usual one.
        assert!(first > 0 && second > 0, "{first} {second}");
    }

    proptest! {
        #![proptest_config(config())]
        #[test]
        fn operations_are_those_of_integers(a in words(P), b in words(P)) {
            check(a, b);
        }
    }
}
