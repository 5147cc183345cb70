//! Field elements in Montgomery form, multiplied with MULX, ADCX and ADOX.
//!
//! Layout: four 64-bit words, least significant first. Any value below 2^256 represents its residue modulo p, which is
//! `x 2^256 mod p`. Every operation takes and returns such values, so sums only have to check the carry; only `reduced`
//! brings a value below p.
//!
//! p = 2^256 - 2^224 + 2^192 + 2^96 - 1, so -1/p = 1 modulo 2^64, and the multiple of p that clears the lowest word m
//! is m p = m (2^256 - 2^224 + 2^192) + 2^96 m - m: one product and two shifts.
//!
//! The products are shared with secp256k1 (`crate::adx`). Variable-time: public data only.

use core::arch::asm;

use super::super::{Coordinate, P};
use crate::{
    adx::{product_in_words, square_in_words},
    field::Field,
    lehmer,
    montgomery::{Adx, Modulus},
    words::{self, add_carry},
};

/// The highest word of p. The others are 2^64 - 1, 2^32 - 1 and 0.
const P3: u64 = P::P[3];

/// A value below 2^256, modulo p. Only the dispatch uses this type, after checking that the CPU has BMI2 and ADX.
#[derive(Clone, Copy)]
pub(crate) struct Element([u64; 4]);

/// Adds the multiple of p that clears `$t0`, which then becomes the highest word. P3 is in rdx.
macro_rules! reduce_word {
    ($t0:literal $t1:literal $t2:literal $t3:literal, $free:literal) => {
        concat!(
            "mulx rcx, rax, ",
            $t0,
            "\n",
            "mov ",
            $free,
            ", ",
            $t0,
            "\n",
            "shl ",
            $free,
            ", 32\n",
            "shr ",
            $t0,
            ", 32\n",
            "add ",
            $t1,
            ", ",
            $free,
            "\n",
            "adc ",
            $t2,
            ", ",
            $t0,
            "\n",
            "adc ",
            $t3,
            ", rax\n",
            "mov ",
            $t0,
            ", 0\n",
            "adc ",
            $t0,
            ", rcx\n",
        )
    };
}

/// Divides eight words by 2^256 modulo p, into the first four. The sum is at most the upper half plus p; if it carries,
/// p is subtracted.
macro_rules! reduce {
    ($t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal $t7:literal, $free:literal) => {
        concat!(
            "mov rdx, {p3}\n",
            reduce_word!($t0 $t1 $t2 $t3, $free),
            reduce_word!($t1 $t2 $t3 $t0, $free),
            reduce_word!($t2 $t3 $t0 $t1, $free),
            reduce_word!($t3 $t0 $t1 $t2, $free),
            "add ", $t0, ", ", $t4, "\n",
            "adc ", $t1, ", ", $t5, "\n",
            "adc ", $t2, ", ", $t6, "\n",
            "adc ", $t3, ", ", $t7, "\n",
            "sbb rax, rax\n",
            "mov ecx, eax\n",
            "and rdx, rax\n",
            "sub ", $t0, ", rax\n",
            "sbb ", $t1, ", rcx\n",
            "sbb ", $t2, ", 0\n",
            "sbb ", $t3, ", rdx\n",
        )
    };
}

/// Returns the words of a sum or difference. If it carries or borrows, p is subtracted or added. If that is not enough,
/// which is very rare for random values, it is done once more.
macro_rules! sum {
    ($first:literal $next:literal, $undo_first:literal $undo_next:literal, $a:expr, $b:expr) => {{
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = ($a, $b);
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: accesses registers only.
        unsafe {
            asm!(
                concat!($first, " {a0}, {b0}"),
                concat!($next, " {a1}, {b1}"),
                concat!($next, " {a2}, {b2}"),
                concat!($next, " {a3}, {b3}"),
                "sbb {b0}, {b0}",
                "mov {b1:e}, {b0:e}",
                "and {p3}, {b0}",
                concat!($undo_first, " {a0}, {b0}"),
                concat!($undo_next, " {a1}, {b1}"),
                concat!($undo_next, " {a2}, 0"),
                concat!($undo_next, " {a3}, {p3}"),
                "adc {b0}, 0",
                "jz 2f",
                concat!($undo_first, " {a0}, {b0}"),
                concat!($undo_next, " {a1}, {b1}"),
                concat!($undo_next, " {a2}, 0"),
                concat!($undo_next, " {a3}, {p3}"),
                "2:",
                a0 = inout(reg) a0 => r0, a1 = inout(reg) a1 => r1, a2 = inout(reg) a2 => r2, a3 = inout(reg) a3 => r3,
                b0 = inout(reg) b0 => _, b1 = inout(reg) b1 => _, b2 = in(reg) b2, b3 = in(reg) b3,
                p3 = inout(reg) P3 => _,
                options(pure, nomem, nostack),
            );
        }
        [r0, r1, r2, r3]
    }};
}

impl Element {
    /// Returns the representative below p.
    #[inline]
    fn reduced(&self) -> [u64; 4] {
        let (difference, borrow) = words::sub(&self.0, &P::P);
        if borrow { self.0 } else { difference }
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.reduced() == other.reduced()
    }
}

impl Coordinate for Element {
    type Kernel = Adx;

    #[inline]
    fn from_montgomery(words: [u64; 4]) -> Self {
        Self(words)
    }
}

impl Field for Element {
    const ZERO: Self = Self([0; 4]);
    const ONE: Self = Self(P::R);

    #[inline]
    fn mul(&self, other: &Self) -> Self {
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has the instructions. Reads 32 bytes
        // through each of two valid references and writes registers only.
        unsafe {
            asm!(
                product_in_words!(),
                reduce!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15", "rsi"),
                p3 = const P3,
                inout("rsi") self.0.as_ptr() => _,
                in("rdi") other.0.as_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r8") r0, out("r9") r1, out("r10") r2, out("r11") r3,
                out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                options(pure, readonly, nostack),
            );
        }
        Self([r0, r1, r2, r3])
    }

    #[inline]
    fn square(&self) -> Self {
        let [a0, a1, a2, a3] = self.0;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has the instructions. Accesses registers
        // only.
        unsafe {
            asm!(
                square_in_words!(),
                reduce!("rsi" "r9" "r10" "r11" "r12" "r13" "r14" "rdi", "r8"),
                p3 = const P3,
                inout("rsi") a0 => r0, inout("rdi") a1 => _, inout("r8") a2 => _, inout("r15") a3 => _,
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r9") r1, out("r10") r2, out("r11") r3,
                out("r12") _, out("r13") _, out("r14") _,
                options(pure, nomem, nostack),
            );
        }
        Self([r0, r1, r2, r3])
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Self(sum!("add" "adc", "sub" "sbb", self.0, other.0))
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self(sum!("sub" "sbb", "add" "adc", self.0, other.0))
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self::ZERO.sub(self)
    }

    #[inline(always)]
    fn half(&self) -> Self {
        // (x + p) / 2 if x is odd.
        let a = &self.0;
        let odd = (a[0] & 1).wrapping_neg();
        let (r0, carry) = a[0].overflowing_add(odd);
        let (r1, carry) = add_carry(a[1], odd >> 32, carry);
        let (r2, carry) = a[2].overflowing_add(u64::from(carry));
        let (r3, carry) = add_carry(a[3], P3 & odd, carry);
        Self([
            r0 >> 1 | r1 << 63,
            r1 >> 1 | r2 << 63,
            r2 >> 1 | r3 << 63,
            r3 >> 1 | u64::from(carry) << 63,
        ])
    }

    fn invert(&self) -> Self {
        // (x 2^256)^-1 2^768 / 2^256 = x^-1 2^256.
        Self(lehmer::invert_vartime(&self.reduced(), &P::P)).mul(&Self(P::R3))
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        // Checking one word rules out most non-zero values.
        (self.0[0] == 0 || self.0[0] == u64::MAX) && (self.0 == [0; 4] || self.0 == P::P)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use lydite_hash::cpu;

    const R: u32 = 256;

    fn big(words: &[u64; 4]) -> BigUint {
        BigUint::from_bytes_be(&crate::words::to_be(words))
    }

    /// Compares every operation on a and b, which represent themselves times 2^-256, with integer arithmetic.
    fn check(a: [u64; 4], b: [u64; 4]) {
        if cpu::Adx::detect().is_none() {
            return;
        }
        let p = &big(&P::P);
        let (x, y) = (&big(&a), &big(&b));
        let (a, b) = (Element(a), Element(b));
        let inverse = (BigUint::from(1u8) << R).modpow(&(p - 2u8), p);
        let same = |name: &str, got: Element, expected: BigUint| {
            assert_eq!(big(&got.reduced()), expected % p, "{name} {x:x} {y:x}");
        };
        same("mul", a.mul(&b), x * y * &inverse);
        same("square", a.square(), x * x * &inverse);
        same("add", a.add(&b), x + y);
        same("sub", a.sub(&b), x + p + p - y);
        same("negate", a.negate(), p + p - x);
        same("half", a.half(), x * ((p + 1u8) >> 1));
        same(
            "invert",
            a.invert(),
            (x * &inverse).modpow(&(p - 2u8), p) << R,
        );
        assert_eq!(a.is_zero(), x % p == BigUint::ZERO);
        assert_eq!(a == b, x % p == y % p);
    }

    #[test]
    fn edges() {
        let mut all: Vec<[u64; 4]> = (0..3).map(|i| [i, 0, 0, 0]).collect();
        // Values near p and near 2^256, and pairs whose sums are just below and above 2^256 + p.
        let near = |words: [u64; 4], by: i64| {
            let mut words = words.map(u128::from);
            words[0] = words[0].wrapping_add_signed(by.into());
            let mut carry = 0i128;
            words.map(|word| {
                let sum = word as i128 + carry;
                carry = sum >> 64;
                sum as u64
            })
        };
        for by in -2..3 {
            all.push(near(P::P, by));
            all.push(near([0, 1 << 32, 0, 1 << 63], by));
        }
        all.extend((1..3).map(|by| near([u64::MAX; 4], -by)));
        all.push([u64::MAX; 4]);
        all.extend((0..4).flat_map(|i| {
            let mut single = [0; 4];
            single[i] = u64::MAX;
            let mut missing = [u64::MAX; 4];
            missing[i] = 0;
            [single, missing]
        }));
        for a in &all {
            for b in &all {
                check(*a, *b);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn operations_are_those_of_integers(a: [u64; 4], b: [u64; 4]) {
            check(a, b);
        }
    }
}
