//! Field elements in four words, multiplied with MULX, ADCX and ADOX.
//!
//! Layout: four 64-bit words, least significant first. Any value below 2^256 represents its residue modulo p = 2^256 -
//! R_MOD_P. Every operation takes and returns such values; only `reduced` brings one below p.
//!
//! The products are shared with secp256r1 (`crate::adx`). The assembly needs 13 registers, all that are available, so
//! they are named explicitly, and the factors of a product stay in memory. It writes registers only.
//!
//! Constant time: [`Secret`], except comparisons and inversion.

use core::arch::asm;

use super::super::field::{BETA, FieldRepr, P};
use crate::{
    adx::{multiply_add_step, product_in_words, square_in_words},
    field::{Field, SecretField},
    lehmer,
    mask::Mask,
};

/// 2^256 mod p.
const R_MOD_P: u64 = 0x1_0000_03d1;

/// A value below 2^256, modulo p. With `SECRET`, arithmetic is constant-time. Only the dispatch uses this type, after
/// checking that the CPU has BMI2 and ADX.
#[derive(Clone, Copy)]
pub(crate) struct Element<const SECRET: bool>([u64; 4]);

pub(crate) type Public = Element<false>;
pub(crate) type Secret = Element<true>;

/// Handles the case that the last sum of the reduction wrapped, which leaves less than 2^66. This is very rare for
/// random values, so for public values a predicted branch is free, while the branch-free instructions would wait for
/// the carry.
macro_rules! wrapped {
    (public, $t0:literal $t1:literal) => {
        concat!("jnc 2f\nadd ", $t0, ", rdx\nadc ", $t1, ", 0\n2:\n")
    };
    (secret, $t0:literal $t1:literal) => {
        concat!(
            "sbb rax, rax\nand rax, rdx\nadd ",
            $t0,
            ", rax\nadc ",
            $t1,
            ", 0\n"
        )
    };
}

/// Reduces eight words to the first four.
macro_rules! reduce {
    ($kind:ident, $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal $t7:literal) => {
        concat!(
            // 512 bits to 289: add the upper half times R_MOD_P to the lower.
            "mov rdx, {fold}\n",
            "xor eax, eax\n",
            multiply_add_step!($t4, $t0, $t1),
            multiply_add_step!($t5, $t1, $t2),
            multiply_add_step!($t6, $t2, $t3),
            "mulx rcx, rax, ", $t7, "\n",
            "adcx ", $t3, ", rax\n",
            "mov eax, 0\n",
            "adox rcx, rax\n",
            "adcx rcx, rax\n",
            // The part above 2^256, at most R_MOD_P, times R_MOD_P is below 2^66.
            "mulx rcx, rax, rcx\n",
            "add ", $t0, ", rax\n",
            "adc ", $t1, ", rcx\n",
            "adc ", $t2, ", 0\n",
            "adc ", $t3, ", 0\n",
            wrapped!($kind, $t0 $t1),
        )
    };
}

/// Returns the words of a product.
macro_rules! product {
    ($kind:ident, $a:expr, $b:expr) => {{
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: the caller has established that the CPU has the instructions (see `Element`). Reads 32 bytes through
        // each of two valid references and writes registers only.
        unsafe {
            asm!(
                product_in_words!(),
                reduce!($kind, "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
                fold = const R_MOD_P,
                in("rsi") $a.as_ptr(),
                in("rdi") $b.as_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r8") r0, out("r9") r1, out("r10") r2, out("r11") r3,
                out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3]
    }};
}

/// Returns the words of a square.
macro_rules! square {
    ($kind:ident, $a:expr) => {{
        let [a0, a1, a2, a3] = $a;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: the caller has established that the CPU has the instructions (see `Element`). Accesses registers
        // only.
        unsafe {
            asm!(
                square_in_words!(),
                reduce!($kind, "rsi" "r9" "r10" "r11" "r12" "r13" "r14" "rdi"),
                fold = const R_MOD_P,
                inout("rsi") a0 => r0, inout("rdi") a1 => _, inout("r8") a2 => _, inout("r15") a3 => _,
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r9") r1, out("r10") r2, out("r11") r3,
                out("r12") _, out("r13") _, out("r14") _,
                options(pure, nomem, nostack),
            );
        }
        [r0, r1, r2, r3]
    }};
}

/// Returns the words of a public sum or difference. A second wrap is very rare for random values and is handled by a
/// predicted branch, so that the lowest word, which a following product reads first, does not wait for the highest.
macro_rules! sum {
    ($first:literal $next:literal, $a:expr, $b:expr) => {{
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (*$a, *$b);
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: accesses registers only.
        unsafe {
            asm!(
                concat!($first, " {a0}, {b0}"),
                concat!($next, " {a1}, {b1}"),
                concat!($next, " {a2}, {b2}"),
                concat!($next, " {a3}, {b3}"),
                "sbb {b0}, {b0}",
                "and {b0}, {fold}",
                concat!($first, " {a0}, {b0}"),
                concat!($next, " {a1}, 0"),
                concat!($next, " {a2}, 0"),
                concat!($next, " {a3}, 0"),
                "jnc 2f",
                concat!($first, " {a0}, {fold}"),
                "2:",
                a0 = inout(reg) a0 => r0, a1 = inout(reg) a1 => r1, a2 = inout(reg) a2 => r2, a3 = inout(reg) a3 => r3,
                b0 = inout(reg) b0 => _, b1 = in(reg) b1, b2 = in(reg) b2, b3 = in(reg) b3,
                fold = in(reg) R_MOD_P,
                options(pure, nomem, nostack),
            );
        }
        [r0, r1, r2, r3]
    }};
}

/// Returns `a + b + carry` and the carry.
#[inline(always)]
fn add_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

/// Returns `a - b - borrow` and the borrow.
#[inline(always)]
fn sub_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}

/// Returns R_MOD_P if the condition holds, else 0.
#[inline(always)]
fn r_mod_p_if(condition: bool) -> u64 {
    let mut mask = u64::from(condition).wrapping_neg();
    // The compiler would turn a mask known to have two values into a branch. The empty `asm!` hides the value.
    // SAFETY: contains no instruction.
    unsafe {
        asm!("/* {} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
    }
    R_MOD_P & mask
}

impl<const SECRET: bool> PartialEq for Element<SECRET> {
    fn eq(&self, other: &Self) -> bool {
        self.reduced() == other.reduced()
    }
}

impl<const SECRET: bool> Field for Element<SECRET> {
    const ZERO: Self = Self([0; 4]);
    const ONE: Self = Self([1, 0, 0, 0]);

    #[inline]
    fn mul(&self, other: &Self) -> Self {
        Self(if SECRET {
            product!(secret, self.0, other.0)
        } else {
            product!(public, self.0, other.0)
        })
    }

    #[inline]
    fn square(&self) -> Self {
        Self(if SECRET {
            square!(secret, self.0)
        } else {
            square!(public, self.0)
        })
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        if !SECRET {
            return Self(sum!("add" "adc", a, b));
        }
        let (r0, carry) = a[0].overflowing_add(b[0]);
        let (r1, carry) = add_carry(a[1], b[1], carry);
        let (r2, carry) = add_carry(a[2], b[2], carry);
        let (r3, carry) = add_carry(a[3], b[3], carry);
        let (r0, carry) = r0.overflowing_add(r_mod_p_if(carry));
        let (r1, carry) = r1.overflowing_add(u64::from(carry));
        let (r2, carry) = r2.overflowing_add(u64::from(carry));
        let (r3, carry) = r3.overflowing_add(u64::from(carry));
        // After a second carry, the rest is less than R_MOD_P.
        Self([r0.wrapping_add(r_mod_p_if(carry)), r1, r2, r3])
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        if !SECRET {
            return Self(sum!("sub" "sbb", a, b));
        }
        let (r0, borrow) = a[0].overflowing_sub(b[0]);
        let (r1, borrow) = sub_borrow(a[1], b[1], borrow);
        let (r2, borrow) = sub_borrow(a[2], b[2], borrow);
        let (r3, borrow) = sub_borrow(a[3], b[3], borrow);
        let (r0, borrow) = r0.overflowing_sub(r_mod_p_if(borrow));
        let (r1, borrow) = r1.overflowing_sub(u64::from(borrow));
        let (r2, borrow) = r2.overflowing_sub(u64::from(borrow));
        let (r3, borrow) = r3.overflowing_sub(u64::from(borrow));
        // After a second borrow, the rest is 2^256 - R_MOD_P or more.
        Self([r0.wrapping_sub(r_mod_p_if(borrow)), r1, r2, r3])
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
        Self([r0, r1, r2, r3])
    }

    fn invert(&self) -> Self {
        Self(lehmer::invert_vartime(&self.reduced(), &P))
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        // Checking one word rules out most non-zero values.
        (self.0[0] == 0 || self.0[0] == P[0]) && (self.0 == [0; 4] || self.0 == P)
    }
}

impl<const SECRET: bool> SecretField for Element<SECRET> {
    #[inline(always)]
    fn select(mask: Mask, yes: &Self, no: &Self) -> Self {
        Self(core::array::from_fn(|i| mask.select(yes.0[i], no.0[i])))
    }

    #[inline(always)]
    fn is_zero_mask(&self) -> Mask {
        let differs = |from: &[u64; 4]| (0..4).fold(0, |any, i| any | (self.0[i] ^ from[i]));
        Mask::is_zero(differs(&[0; 4])).or(Mask::is_zero(differs(&P)))
    }
}

impl<const SECRET: bool> FieldRepr for Element<SECRET> {
    const BETA: Self = Self(BETA);

    #[inline(always)]
    fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn reduced(&self) -> [u64; 4] {
        let (r0, carry) = self.0[0].overflowing_add(R_MOD_P);
        let (r1, carry) = self.0[1].overflowing_add(u64::from(carry));
        let (r2, carry) = self.0[2].overflowing_add(u64::from(carry));
        let (r3, carry) = self.0[3].overflowing_add(u64::from(carry));
        // x + R_MOD_P reaches 2^256 exactly if x >= p.
        let mask = Mask::from_bit(u64::from(carry));
        Self::select(mask, &Self([r0, r1, r2, r3]), self).0
    }

    /// Stays in registers throughout: a round trip through memory would delay each square.
    fn square_times(&self, n: u32) -> Self {
        debug_assert!(n > 0);
        if SECRET {
            return (0..n).fold(*self, |power, _| power.square());
        }
        let [a0, a1, a2, a3] = self.0;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: the caller has established that the CPU has the instructions (see `Element`). Accesses registers and
        // the word that it pushes and pops.
        unsafe {
            asm!(
                "push rcx",
                "3:",
                square_in_words!(),
                reduce!(public, "rsi" "r9" "r10" "r11" "r12" "r13" "r14" "rdi"),
                "mov rdi, r9",
                "mov r8, r10",
                "mov r15, r11",
                "dec qword ptr [rsp]",
                "jnz 3b",
                "pop rcx",
                fold = const R_MOD_P,
                inout("rcx") u64::from(n.max(1)) => _,
                inout("rsi") a0 => r0, inout("rdi") a1 => r1, inout("r8") a2 => r2, inout("r15") a3 => r3,
                out("rax") _, out("rdx") _,
                out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("r13") _, out("r14") _,
                options(pure, nomem),
            );
        }
        Self([r0, r1, r2, r3])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::vec::Vec;

    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::{
        super::super::{
            dispatch::Backend,
            tests::{config, to_big, to_words, words},
        },
        *,
    };

    /// Compares every operation on a and b with integer arithmetic.
    fn check(a: [u64; 4], b: [u64; 4]) {
        check_as::<false>(a, b);
        check_as::<true>(a, b);
    }

    fn check_as<const SECRET: bool>(a: [u64; 4], b: [u64; 4]) {
        let p = to_big(&P);
        let (x, y) = (to_big(&a), to_big(&b));
        let (a, b) = (Element::<SECRET>(a), Element::<SECRET>(b));
        let same = |name: &str, got: Element<SECRET>, expected: BigUint| {
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
        if Backend::detect() == Backend::Portable {
            return;
        }
        let max = [u64::MAX; 4];
        let near = |words: [u64; 4], by: u64| {
            let mut words = words;
            words[0] = words[0].wrapping_sub(by);
            words
        };
        let mut all: Vec<[u64; 4]> = (0..4).map(|i| [i, 0, 0, 0]).collect();
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
        for a in &all {
            for b in &all {
                check(*a, *b);
            }
        }
    }

    /// Products with chosen 512-bit values, so that each fold wraps: `a b = t 2^256 + u` for edge values t, where it
    /// divides.
    #[test]
    fn products_that_wrap() {
        if Backend::detect() == Backend::Portable {
            return;
        }
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
            if Backend::detect() != Backend::Portable {
                check(a, b);
            }
        }
    }
}
