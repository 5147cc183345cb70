//! Products modulo an odd number of five to eight words, with MULX, ADCX and ADOX.
//!
//! For each word of the first factor, the product with the second factor is added to N + 2 accumulators, then the
//! multiple of the modulus that clears the lowest one, which then becomes the highest. All accumulators are in
//! registers. As few registers are left, what the assembly reads is at fixed offsets from one pointer.

use core::{arch::asm, mem::offset_of};

use super::super::{limbs::negative_inverse_word, short::Product};
use crate::adx::multiply_add_step;

/// The largest number of words.
const MOST: usize = 8;

/// Arithmetic modulo an odd number of N words. x is stored as `x 2^(64 N)`, below the modulus. Only
/// [`Adx`](super::Adx) uses it, after checking that the CPU has BMI2 and ADX.
#[repr(C)]
pub(super) struct Few<const N: usize> {
    /// At offset 0.
    modulus: [u64; MOST],
    /// `-1 / modulus mod 2^64`, at 64.
    inverse: u64,
    /// The first factor, at 72.
    a: *const u64,
    /// A copy of the second factor, at 80.
    b: [u64; MOST],
    /// The sum before the last subtraction, at 144.
    sum: [u64; MOST],
}

const _: () = {
    assert!(offset_of!(Few<8>, inverse) == 64 && offset_of!(Few<8>, a) == 72);
    assert!(offset_of!(Few<8>, b) == 80 && offset_of!(Few<8>, sum) == 144);
};

/// Adds rdx times the words at `rsi + $at` to the accumulators. Both carry flags must be clear.
macro_rules! add_row {
    ($at:literal, [$offset:literal $($offsets:literal)*], [$low:literal $high:literal $($t:literal)*]) => {
        concat!(
            multiply_add_step!(concat!("[rsi + ", $at, " + ", $offset, "]"), $low, $high),
            add_row!($at, [$($offsets)*], [$high $($t)*]),
        )
    };
    ($at:literal, [], [$last:literal $carries:literal]) => {
        concat!(
            "mov eax, 0\n",
            "adcx ", $last, ", rax\n",
            "adox ", $carries, ", rax\n",
            "adcx ", $carries, ", rax\n",
        )
    };
}

/// Processes the words of the first factor at these offsets. The second list has the offsets of all words.
macro_rules! add_words {
    ([], $all:tt, $t:tt) => { "" };
    ([$offset:literal $($offsets:literal)*], $all:tt, [$t0:literal $($t:literal)*]) => {
        concat!(
            "mov rdx, [rsi + 72]\n",
            "mov rdx, [rdx + ", $offset, "]\n",
            "xor eax, eax\n", // clears both flags
            add_row!("80", $all, [$t0 $($t)*]),
            "mov rdx, ", $t0, "\n",
            "imul rdx, [rsi + 64]\n",
            "xor eax, eax\n",
            add_row!("0", $all, [$t0 $($t)*]),
            add_words!([$($offsets)*], $all, [$($t)* $t0]),
        )
    };
}

/// Implements products of N words, given their offsets, N + 2 accumulators, and at the end: those with the result and
/// the carry, the registers where the result is returned, and all others. The compiler reserves rbx, so the code saves
/// and restores it, and returns what it had in rax.
macro_rules! products {
    (
        $n:literal, [$($offset:literal)*], [$($t:literal)*],
        [$($r:literal)*] $carry:literal, [$($returned:tt $out:ident)*], [$($other:tt)*]
    ) => {
        impl Product<$n> for Few<$n> {
            fn new(modulus: &[u64; $n]) -> Self {
                let mut words = [0; MOST];
                words[..$n].copy_from_slice(modulus);
                Self {
                    modulus: words,
                    inverse: negative_inverse_word(modulus[0]),
                    a: core::ptr::null(),
                    b: [0; MOST],
                    sum: [0; MOST],
                }
            }

            #[inline(always)]
            fn multiply(&mut self, a: &[u64; $n], b: &[u64; $n]) -> [u64; $n] {
                $(let $out: u64;)*
                // SAFETY: reads and writes `self` at the offsets of its fields, and reads N words at `a` and at `b`.
                // The CPU has the instructions, see `Few`.
                unsafe {
                    asm!(
                        "movq xmm0, rbx",
                        "mov [rsi + 72], rdx",
                        $(
                            concat!("mov rax, [rcx + ", $offset, "]"),
                            concat!("mov [rsi + 80 + ", $offset, "], rax"),
                        )*
                        $(concat!("xor ", $t, ", ", $t),)*
                        add_words!([$($offset)*], [$($offset)*], [$($t)*]),
                        // The sum is below twice the modulus.
                        $(concat!("mov [rsi + 144 + ", $offset, "], ", $r),)*
                        "xor eax, eax", // clears the carry flag
                        $(concat!("sbb ", $r, ", [rsi + ", $offset, "]"),)*
                        concat!("sbb ", $carry, ", 0"),
                        $(concat!("cmovc ", $r, ", [rsi + 144 + ", $offset, "]"),)*
                        "mov rax, rbx",
                        "movq rbx, xmm0",
                        in("rsi") &raw mut *self, inout("rdx") a.as_ptr() => _, inout("rcx") b.as_ptr() => _,
                        $(out($returned) $out,)* $(out($other) _,)* out("xmm0") _,
                        options(nostack),
                    );
                }
                [$($out),*]
            }
        }
    };
}

products!(
    5, ["0" "8" "16" "24" "32"],
    ["r8" "r9" "r10" "r11" "r12" "r13" "r14"],
    ["r13" "r14" "r8" "r9" "r10"] "r11",
    ["r13" r0 "r14" r1 "r8" r2 "r9" r3 "r10" r4],
    ["rax" "rdi" "r11" "r12" "r15"]
);
products!(
    6, ["0" "8" "16" "24" "32" "40"],
    ["r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"],
    ["r14" "r15" "r8" "r9" "r10" "r11"] "r12",
    ["r14" r0 "r15" r1 "r8" r2 "r9" r3 "r10" r4 "r11" r5],
    ["rax" "rdi" "r12" "r13"]
);
products!(
    7, ["0" "8" "16" "24" "32" "40" "48"],
    ["r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rdi"],
    ["r15" "rdi" "r8" "r9" "r10" "r11" "r12"] "r13",
    ["r15" r0 "rdi" r1 "r8" r2 "r9" r3 "r10" r4 "r11" r5 "r12" r6],
    ["rax" "r13" "r14"]
);
products!(
    8, ["0" "8" "16" "24" "32" "40" "48" "56"],
    ["r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rdi" "rbx"],
    ["rdi" "rbx" "r8" "r9" "r10" "r11" "r12" "r13"] "r14",
    ["rdi" r0 "rax" r1 "r8" r2 "r9" r3 "r10" r4 "r11" r5 "r12" r6 "r13" r7],
    ["r14" "r15"]
);
