//! Sums of products by MULX, with the two carry chains of ADCX and ADOX, which cannot be had from the compiler.
//!
//! For each word of the first factors, their products with the second factors are added to six accumulators, then the
//! multiple of p that clears the lowest one, which becomes the highest. The assembly reads its operands from memory and
//! touches nothing but registers.

use core::arch::asm;

use super::super::{Element, Kernel, Modulus};

/// BMI2 and ADX. Only the dispatch of each curve names it, where the CPU has them.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Adx;

/// Adds `rdx` times four words behind `$pointer` to five accumulators and, if told how, the last carries to a sixth.
macro_rules! add_row {
    ($pointer:expr, $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal, $carries:expr) => {
        concat!(
            "xor eax, eax\n", // clears both flags
            "mulx rcx, rax, [",
            $pointer,
            "]\n",
            "adcx ",
            $t0,
            ", rax\n",
            "adox ",
            $t1,
            ", rcx\n",
            "mulx rcx, rax, [",
            $pointer,
            " + 8]\n",
            "adcx ",
            $t1,
            ", rax\n",
            "adox ",
            $t2,
            ", rcx\n",
            "mulx rcx, rax, [",
            $pointer,
            " + 16]\n",
            "adcx ",
            $t2,
            ", rax\n",
            "adox ",
            $t3,
            ", rcx\n",
            "mulx rcx, rax, [",
            $pointer,
            " + 24]\n",
            "adcx ",
            $t3,
            ", rax\n",
            "adox ",
            $t4,
            ", rcx\n",
            "mov eax, 0\n",
            "adcx ",
            $t4,
            ", rax\n",
            $carries,
        )
    };
}

/// The last carries of a row, into the sixth accumulator: not needed where the sum cannot pass 2^320.
macro_rules! sixth {
    ($t5:literal) => {
        concat!("adox ", $t5, ", rax\n", "adcx ", $t5, ", rax\n")
    };
}

/// One word of the first factors: products and reduction. With `wide`, the sum may pass 2^320.
macro_rules! word {
    ($i:literal, [$($k:literal)*], $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal, wide) => {
        word!($i, [$($k)*], $t0 $t1 $t2 $t3 $t4, sixth!($t5))
    };
    ($i:literal, [$($k:literal)*], $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal, narrow) => {
        word!($i, [$($k)*], $t0 $t1 $t2 $t3 $t4, "")
    };
    ($i:literal, [$($k:literal)*], $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal, $carries:expr) => {
        concat!(
            $(
                "mov rdx, [rsi + 32*", $k, " + 8*", $i, "]\n",
                add_row!(concat!("rdi + 32*", $k), $t0 $t1 $t2 $t3 $t4, $carries),
            )*
            "mov rdx, ", $t0, "\n",
            "imul rdx, [r14 + 32]\n",
            add_row!("r14", $t0 $t1 $t2 $t3 $t4, $carries),
        )
    };
}

macro_rules! dot {
    ($a:ident, $b:ident, $modulus:expr, [$($k:literal)*], $width:ident) => {{
        let modulus: &[u64; 5] = $modulus;
        let (r0, r1, r2, r3, carry): (u64, u64, u64, u64, u64);
        // SAFETY: reads the words behind references to so many elements and to the modulus, writes registers only; the
        // CPU has the instructions, or nobody would have named `Adx`.
        unsafe {
            asm!(
                "xor r8d, r8d",
                "xor r9d, r9d",
                "xor r10d, r10d",
                "xor r11d, r11d",
                "xor r12d, r12d",
                "xor r13d, r13d",
                word!(0, [$($k)*], "r8" "r9" "r10" "r11" "r12" "r13", $width),
                word!(1, [$($k)*], "r9" "r10" "r11" "r12" "r13" "r8", $width),
                word!(2, [$($k)*], "r10" "r11" "r12" "r13" "r8" "r9", $width),
                word!(3, [$($k)*], "r11" "r12" "r13" "r8" "r9" "r10", $width),
                in("rsi") $a.as_ptr(),
                in("rdi") $b.as_ptr(),
                in("r14") modulus.as_ptr(),
                out("rax") _, out("rcx") _, out("rdx") _,
                out("r12") r0, out("r13") r1, out("r8") r2, out("r9") r3, out("r10") carry,
                out("r11") _,
                options(pure, readonly, nostack),
            );
        }
        ([r0, r1, r2, r3], carry != 0)
    }};
}

#[inline(never)]
fn dot6<M: Modulus>(a: &[Element<M, Adx>; 6], b: &[Element<M, Adx>; 6]) -> ([u64; 4], bool) {
    dot!(a, b, &M::WORDS, [0 1 2 3 4 5], wide)
}

impl Kernel for Adx {
    #[inline(always)]
    fn dot<M: Modulus, const N: usize>(
        a: &[Element<M, Self>; N],
        b: &[Element<M, Self>; N],
    ) -> ([u64; 4], bool) {
        const { assert!(matches!(N, 1 | 2 | 6)) };
        match N {
            1 if M::SPARE => dot!(a, b, &M::WORDS, [0], narrow),
            1 => dot!(a, b, &M::WORDS, [0], wide),
            2 => dot!(a, b, &M::WORDS, [0 1], narrow),
            6 => {
                let (a, b) = (a.as_chunks::<6>().0, b.as_chunks::<6>().0);
                dot6(&a[0], &b[0])
            }
            _ => unreachable!(),
        }
    }
}
