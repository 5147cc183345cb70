//! Sums of products with MULX and the two carry chains of ADCX and ADOX, which the compiler does not generate.
//!
//! For each word of the first factors, adds its products with the second factors to six accumulators, then adds the
//! multiple of p that clears the lowest accumulator, which then becomes the highest. Sums and differences are in
//! assembly too, because the compiler breaks up carry chains with a constant. The assembly reads its operands from
//! memory and writes registers only.

use core::arch::asm;

use super::super::{Element, Kernel, Modulus};

/// The kernel for BMI2 and ADX. Each curve's dispatch uses it only after checking that the CPU has them.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Adx;

/// Adds `rdx` times the four words at `$pointer` to five accumulators. `$carries` may add the last carries to a sixth.
macro_rules! add_row {
    ($pointer:literal, $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal, $carries:expr) => {
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

/// Adds the multiple of the modulus at `$modulus` that clears the lowest accumulator.
macro_rules! reduce_row {
    ($modulus:literal, $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal, $carries:expr) => {
        concat!(
            "mov rdx, ", $t0, "\n",
            "imul rdx, [", $modulus, " + 32]\n",
            add_row!($modulus, $t0 $t1 $t2 $t3 $t4, $carries),
        )
    };
}

/// Processes word `$i` of the first factors: products and reduction. The pointers are in registers. The sum stays below
/// 2^320.
macro_rules! narrow_word {
    ($i:literal, [$($a:literal $b:literal),*], $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal) => {
        concat!(
            $(
                "mov rdx, [", $a, " + 8*", $i, "]\n",
                add_row!($b, $t0 $t1 $t2 $t3 $t4, ""),
            )*
            reduce_row!("r13", $t0 $t1 $t2 $t3 $t4, ""),
        )
    };
}

/// Adds the last carries of a row to the sixth accumulator.
macro_rules! sixth {
    ($t5:literal) => {
        concat!("adox ", $t5, ", rax\n", "adcx ", $t5, ", rax\n")
    };
}

/// Processes word `$i` of the first factors. rsi points to the pointers to the first factors, rdi to those to the
/// second.
macro_rules! wide_word {
    ($i:literal, [$($k:literal)*], $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal) => {
        concat!(
            $(
                "mov rdx, [rsi + 8*", $k, "]\n",
                "mov r15, [rdi + 8*", $k, "]\n",
                "mov rdx, [rdx + 8*", $i, "]\n",
                add_row!("r15", $t0 $t1 $t2 $t3 $t4, sixth!($t5)),
            )*
            reduce_row!("r14", $t0 $t1 $t2 $t3 $t4, sixth!($t5)),
        )
    };
}

/// `($t0 to $t3) = ($r0 to $r3, $carry)` minus the modulus if that is not negative.
macro_rules! subtract_modulus {
    ($modulus:literal, $r0:literal $r1:literal $r2:literal $r3:literal, $carry:expr,
     $t0:literal $t1:literal $t2:literal $t3:literal) => {
        concat!(
            "mov ", $t0, ", ", $r0, "\n", "mov ", $t1, ", ", $r1, "\n", "mov ", $t2, ", ", $r2,
            "\n", "mov ", $t3, ", ", $r3, "\n", "sub ", $t0, ", [", $modulus, "]\n", "sbb ", $t1,
            ", [", $modulus, " + 8]\n", "sbb ", $t2, ", [", $modulus, " + 16]\n", "sbb ", $t3,
            ", [", $modulus, " + 24]\n", $carry, "cmovc ", $t0, ", ", $r0, "\n", "cmovc ", $t1,
            ", ", $r1, "\n", "cmovc ", $t2, ", ", $r2, "\n", "cmovc ", $t3, ", ", $r3, "\n",
        )
    };
}

/// One or two products, whose sum fits in five words.
macro_rules! narrow {
    ($modulus:expr, [$($a:literal $b:literal),*], $($register:tt = $pointer:expr),*) => {{
        let modulus: &[u64; 5] = $modulus;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: reads the words of valid references to elements and to the modulus, and writes registers only. The
        // dispatch uses `Adx` only after checking that the CPU has the instructions.
        unsafe {
            asm!(
                "xor r8d, r8d",
                "xor r9d, r9d",
                "xor r10d, r10d",
                "xor r11d, r11d",
                "xor r12d, r12d",
                narrow_word!(0, [$($a $b),*], "r8" "r9" "r10" "r11" "r12"),
                narrow_word!(1, [$($a $b),*], "r9" "r10" "r11" "r12" "r8"),
                narrow_word!(2, [$($a $b),*], "r10" "r11" "r12" "r8" "r9"),
                narrow_word!(3, [$($a $b),*], "r11" "r12" "r8" "r9" "r10"),
                subtract_modulus!("r13", "r12" "r8" "r9" "r10", "", "rax" "rcx" "rdx" "r11"),
                $(in($register) $pointer.0.as_ptr(),)*
                in("r13") modulus.as_ptr(),
                out("rax") r0, out("rcx") r1, out("rdx") r2, out("r11") r3,
                out("r8") _, out("r9") _, out("r10") _, out("r12") _,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3]
    }};
}

/// Several products, whose sum may take six words.
macro_rules! wide {
    ($modulus:expr, $a:ident, $b:ident, [$($k:literal)*], $more:expr) => {{
        let modulus: &[u64; 5] = $modulus;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: reads the words of valid references to elements and to the modulus, and writes registers only. The
        // dispatch uses `Adx` only after checking that the CPU has the instructions.
        unsafe {
            asm!(
                "xor r8d, r8d",
                "xor r9d, r9d",
                "xor r10d, r10d",
                "xor r11d, r11d",
                "xor r12d, r12d",
                "xor r13d, r13d",
                wide_word!(0, [$($k)*], "r8" "r9" "r10" "r11" "r12" "r13"),
                wide_word!(1, [$($k)*], "r9" "r10" "r11" "r12" "r13" "r8"),
                wide_word!(2, [$($k)*], "r10" "r11" "r12" "r13" "r8" "r9"),
                wide_word!(3, [$($k)*], "r11" "r12" "r13" "r8" "r9" "r10"),
                subtract_modulus!("r14", "r12" "r13" "r8" "r9", "sbb r10, 0\n", "rax" "rcx" "rdx" "r15"),
                $more,
                in("rsi") $a.as_ptr(),
                in("rdi") $b.as_ptr(),
                in("r14") modulus.as_ptr(),
                out("rax") r0, out("rcx") r1, out("rdx") r2, out("r15") r3,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("r13") _,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3]
    }};
}

type Factors<'a, M, const N: usize> = [&'a Element<M, Adx>; N];

/// Not inlined because it is long. The sum of six products is below 3 p, so the modulus is subtracted twice.
#[inline(never)]
fn dot6<M: Modulus>(a: &Factors<'_, M, 6>, b: &Factors<'_, M, 6>) -> [u64; 4] {
    wide!(
        &M::WORDS, a, b, [0 1 2 3 4 5],
        concat!(
            "mov r12, rax\n", "mov r13, rcx\n", "mov r8, rdx\n", "mov r9, r15\n",
            subtract_modulus!("r14", "r12" "r13" "r8" "r9", "", "rax" "rcx" "rdx" "r15"),
        )
    )
}

impl Kernel for Adx {
    #[inline(always)]
    fn dot<M: Modulus, const N: usize>(a: Factors<'_, M, N>, b: Factors<'_, M, N>) -> [u64; 4] {
        const { assert!(matches!(N, 1 | 2 | 6)) };
        match (&a[..], &b[..]) {
            ([a], [b]) if M::SPARE => narrow!(&M::WORDS, ["rsi" "rdi"], "rsi" = a, "rdi" = b),
            ([_], [_]) => wide!(&M::WORDS, a, b, [0], ""),
            ([a0, a1], [b0, b1]) => narrow!(
                &M::WORDS, ["rsi" "rdi", "r14" "r15"],
                "rsi" = a0, "rdi" = b0, "r14" = a1, "r15" = b1
            ),
            (a, b) => dot6(&a.as_chunks::<6>().0[0], &b.as_chunks::<6>().0[0]),
        }
    }

    #[inline(always)]
    fn add<M: Modulus>(a: &Element<M, Self>, b: &Element<M, Self>) -> [u64; 4] {
        let modulus: &[u64; 5] = &M::WORDS;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: reads the words of three valid references and writes registers only.
        unsafe {
            asm!(
                "mov {s0}, [{a}]",
                "mov {s1}, [{a} + 8]",
                "mov {s2}, [{a} + 16]",
                "mov {s3}, [{a} + 24]",
                "xor {carry:e}, {carry:e}",
                "add {s0}, [{b}]",
                "adc {s1}, [{b} + 8]",
                "adc {s2}, [{b} + 16]",
                "adc {s3}, [{b} + 24]",
                "adc {carry}, 0",
                subtract_modulus!("{modulus}", "{s0}" "{s1}" "{s2}" "{s3}", "sbb {carry}, 0\n", "{t0}" "{t1}" "{t2}" "{t3}"),
                a = in(reg) a.0.as_ptr(),
                b = in(reg) b.0.as_ptr(),
                modulus = in(reg) modulus.as_ptr(),
                carry = out(reg) _,
                s0 = out(reg) _, s1 = out(reg) _, s2 = out(reg) _, s3 = out(reg) _,
                t0 = out(reg) r0, t1 = out(reg) r1, t2 = out(reg) r2, t3 = out(reg) r3,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3]
    }

    #[inline(always)]
    fn sub<M: Modulus>(a: &Element<M, Self>, b: &Element<M, Self>) -> [u64; 4] {
        let modulus: &[u64; 5] = &M::WORDS;
        let (r0, r1, r2, r3): (u64, u64, u64, u64);
        // SAFETY: reads the words of three valid references and writes registers only.
        unsafe {
            asm!(
                "mov {s0}, [{a}]",
                "mov {s1}, [{a} + 8]",
                "mov {s2}, [{a} + 16]",
                "mov {s3}, [{a} + 24]",
                "sub {s0}, [{b}]",
                "sbb {s1}, [{b} + 8]",
                "sbb {s2}, [{b} + 16]",
                "sbb {s3}, [{b} + 24]",
                "sbb {borrow}, {borrow}",
                // The difference, and p if it borrowed.
                "mov {t0}, [{modulus}]",
                "mov {t1}, [{modulus} + 8]",
                "mov {t2}, [{modulus} + 16]",
                "mov {t3}, [{modulus} + 24]",
                "and {t0}, {borrow}",
                "and {t1}, {borrow}",
                "and {t2}, {borrow}",
                "and {t3}, {borrow}",
                "add {t0}, {s0}",
                "adc {t1}, {s1}",
                "adc {t2}, {s2}",
                "adc {t3}, {s3}",
                a = in(reg) a.0.as_ptr(),
                b = in(reg) b.0.as_ptr(),
                modulus = in(reg) modulus.as_ptr(),
                borrow = out(reg) _,
                s0 = out(reg) _, s1 = out(reg) _, s2 = out(reg) _, s3 = out(reg) _,
                t0 = out(reg) r0, t1 = out(reg) r1, t2 = out(reg) r2, t3 = out(reg) r3,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3]
    }
}
