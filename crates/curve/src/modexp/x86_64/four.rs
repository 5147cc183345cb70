//! Products modulo an odd number of four words, with MULX, ADCX and ADOX.
//!
//! A power is a chain of dependent products, so latency decides. The reduction computes the multiple of the modulus
//! that clears two words at a time, from the inverse of the modulus modulo 2^128: the chain has one long product for two
//! words instead of two.

use core::arch::asm;

use super::super::{limbs::negative_inverse_word, short::Product};
use crate::adx::{multiply_add_step, product_in_words, square_in_words};

/// Arithmetic modulo an odd number of four words. x is stored as `x 2^256`, below the modulus. Only
/// [`Adx`](super::Adx) uses it, after checking that the CPU has BMI2 and ADX.
pub(super) struct Four {
    /// The modulus, then `-1 / modulus mod 2^128`.
    words: [u64; 6],
}

/// rdx and `$q1` = the factors of the modulus that clear the words `$t0` and `$t1`. Clobbers rcx.
macro_rules! factors {
    ($t0:literal $t1:literal, $q1:literal) => {
        concat!(
            "mov rdx, ",
            $t0,
            "\n",
            "mulx ",
            $q1,
            ", rcx, [rsi + 32]\n",
            "imul rdx, [rsi + 40]\n",
            "add ",
            $q1,
            ", rdx\n",
            "mov rdx, ",
            $t1,
            "\n",
            "imul rdx, [rsi + 32]\n",
            "add ",
            $q1,
            ", rdx\n",
            "mov rdx, rcx\n",
        )
    };
}

/// Adds rdx times the modulus to five words, and `$carry` to the last of them. The first one becomes 0, then the carry
/// out of the last. Clobbers rax and rcx.
macro_rules! row {
    ($t0:literal $t1:literal $t2:literal $t3:literal $t4:literal, $carry:literal) => {
        concat!(
            "xor eax, eax\n", // clears both flags
            multiply_add_step!("[rsi]", $t0, $t1),
            multiply_add_step!("[rsi + 8]", $t1, $t2),
            multiply_add_step!("[rsi + 16]", $t2, $t3),
            multiply_add_step!("[rsi + 24]", $t3, $t4),
            "mov eax, 0\n",
            "adcx ",
            $t4,
            ", ",
            $carry,
            "\n",
            "adcx ",
            $t0,
            ", rax\n",
            "adox ",
            $t0,
            ", rax\n",
        )
    };
}

impl Four {
    /// Returns `product / 2^256`.
    #[inline(always)]
    fn reduce(&self, [t0, t1, t2, t3, t4, t5, t6, t7]: [u64; 8]) -> [u64; 4] {
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: reads the words of `self` and writes registers only. The CPU has the instructions, see `Four`.
        unsafe {
            asm!(
                factors!("r8" "r9", "rdi"),
                row!("r8" "r9" "r10" "r11" "r12", "rax"),
                "mov rdx, rdi",
                row!("r9" "r10" "r11" "r12" "r13", "r8"),
                factors!("r10" "r11", "rdi"),
                row!("r10" "r11" "r12" "r13" "r14", "r9"),
                "mov rdx, rdi",
                row!("r11" "r12" "r13" "r14" "r15", "r10"),
                // The result is below twice the modulus.
                "mov rax, r12",
                "mov rcx, r13",
                "mov rdx, r14",
                "mov rdi, r15",
                "sub rax, [rsi]",
                "sbb rcx, [rsi + 8]",
                "sbb rdx, [rsi + 16]",
                "sbb rdi, [rsi + 24]",
                "sbb r11, 0",
                "cmovc rax, r12",
                "cmovc rcx, r13",
                "cmovc rdx, r14",
                "cmovc rdi, r15",
                in("rsi") self.words.as_ptr(),
                out("rax") r0, out("rcx") r1, out("rdx") r2, out("rdi") r3,
                inout("r8") t0 => _, inout("r9") t1 => _, inout("r10") t2 => _, inout("r11") t3 => _,
                inout("r12") t4 => _, inout("r13") t5 => _, inout("r14") t6 => _, inout("r15") t7 => _,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3]
    }
}

impl Product<4> for Four {
    fn new(modulus: &[u64; 4]) -> Self {
        let [m0, m1, m2, m3] = *modulus;
        let low = negative_inverse_word(m0);
        // One more step of Newton's iteration, for the upper word.
        let product = u128::from(m0) * u128::from(low);
        let carry = ((product >> 64) as u64)
            .wrapping_add(m1.wrapping_mul(low))
            .wrapping_add(1);
        let high = carry.wrapping_mul(low);
        Self {
            words: [m0, m1, m2, m3, low, high],
        }
    }

    #[inline(always)]
    fn multiply(&mut self, a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
        let mut t = [0; 8];
        let [t0, t1, t2, t3, t4, t5, t6, t7] = &mut t;
        // SAFETY: reads 32 bytes through each of two valid references and writes registers only. The CPU has the
        // instructions, see `Four`.
        unsafe {
            asm!(
                product_in_words!(),
                in("rsi") a.as_ptr(),
                in("rdi") b.as_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r8") *t0, out("r9") *t1, out("r10") *t2, out("r11") *t3,
                out("r12") *t4, out("r13") *t5, out("r14") *t6, out("r15") *t7,
                options(pure, readonly, nostack),
            );
        }
        self.reduce(t)
    }

    #[inline(always)]
    fn square(&mut self, a: &[u64; 4]) -> [u64; 4] {
        let [a0, a1, a2, a3] = *a;
        let mut t = [0; 8];
        let [t0, t1, t2, t3, t4, t5, t6, t7] = &mut t;
        // SAFETY: accesses registers only. The CPU has the instructions, see `Four`.
        unsafe {
            asm!(
                square_in_words!(),
                inout("rsi") a0 => *t0, inout("rdi") a1 => *t7, inout("r8") a2 => _, inout("r15") a3 => _,
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r9") *t1, out("r10") *t2, out("r11") *t3, out("r12") *t4, out("r13") *t5, out("r14") *t6,
                options(pure, nomem, nostack),
            );
        }
        self.reduce(t)
    }
}
