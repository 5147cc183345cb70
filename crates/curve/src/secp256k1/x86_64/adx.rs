//! The kernel of [`saturated`](super::super::field::saturated) elements with MULX, ADCX and ADOX.
//!
//! The products are shared with secp256r1 (`crate::adx`). The assembly needs 13 registers, all that are available, so
//! they are named explicitly, and the factors of a product stay in memory. It writes registers only.
//!
//! Constant time: [`Secret`].

use core::arch::asm;

use super::super::field::saturated::{self, Element, Kernel, R_MOD_P, Words, r_mod_p_if};
use crate::{
    adx::{multiply_add_step, product_in_words, square_in_words},
    words::sub_borrow,
};

/// With `SECRET`, arithmetic is constant-time. Only the dispatch uses this type, after checking that the CPU has BMI2
/// and ADX.
#[derive(Clone, Copy)]
pub(crate) struct Adx<const SECRET: bool>;

pub(crate) type Public = Element<Adx<false>>;
pub(crate) type Secret = Element<Adx<true>>;

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
        // SAFETY: the caller has established that the CPU has the instructions (see `Adx`). Reads 32 bytes through
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
        // SAFETY: the caller has established that the CPU has the instructions (see `Adx`). Accesses registers
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

impl<const SECRET: bool> Kernel for Adx<SECRET> {
    #[inline]
    fn mul(a: &Words, b: &Words) -> Words {
        if SECRET {
            product!(secret, a, b)
        } else {
            product!(public, a, b)
        }
    }

    #[inline]
    fn square(a: &Words) -> Words {
        if SECRET {
            square!(secret, *a)
        } else {
            square!(public, *a)
        }
    }

    #[inline(always)]
    fn add(a: &Words, b: &Words) -> Words {
        if SECRET {
            saturated::add::<true>(a, b)
        } else {
            sum!("add" "adc", a, b)
        }
    }

    #[inline(always)]
    fn sub(a: &Words, b: &Words) -> Words {
        if !SECRET {
            return sum!("sub" "sbb", a, b);
        }
        let (r0, borrow) = a[0].overflowing_sub(b[0]);
        let (r1, borrow) = sub_borrow(a[1], b[1], borrow);
        let (r2, borrow) = sub_borrow(a[2], b[2], borrow);
        let (r3, borrow) = sub_borrow(a[3], b[3], borrow);
        let (r0, borrow) = r0.overflowing_sub(r_mod_p_if::<true>(borrow));
        let (r1, borrow) = r1.overflowing_sub(u64::from(borrow));
        let (r2, borrow) = r2.overflowing_sub(u64::from(borrow));
        let (r3, borrow) = r3.overflowing_sub(u64::from(borrow));
        // After a second borrow, the rest is 2^256 - R_MOD_P or more.
        [r0.wrapping_sub(r_mod_p_if::<true>(borrow)), r1, r2, r3]
    }

    /// Stays in registers throughout: a round trip through memory would delay each square.
    fn square_times(a: &Words, n: u32) -> Words {
        if SECRET {
            return (0..n).fold(*a, |power, _| Self::square(&power));
        }
        let [a0, a1, a2, a3] = *a;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: the caller has established that the CPU has the instructions (see `Adx`). Accesses registers and
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
        [r0, r1, r2, r3]
    }
}
