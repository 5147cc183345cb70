//! Fp with MULX and the two carry chains of ADCX and ADOX, in blst's form.
//!
//! The kernel is a sum of products with one reduction, as in `montgomery`. For each word of the first factors, it adds
//! the products with the second factors to seven accumulators, then the multiple of p that clears the lowest one, which
//! then becomes the highest.
//!
//! An element is below p. A factor may be a sum that is not reduced: one below n p has size n. As 2^384 is above 9.8 p,
//! a sum of products whose sizes add up to at most 9 is below 2 p before the last subtraction, and no accumulator
//! overflows if the sizes of the second factors add up to at most 8.
//!
//! Reduced sums, differences and halves are in assembly too, because the compiler breaks up their carry chains.

use core::arch::asm;

use zeroize::Zeroize;

use super::super::super::fields::{self, ONE, R3, invert};
use crate::{
    adx::multiply_add_step,
    field::Field,
    words::{add_carry, sub_borrow},
};

/// An integer, least significant word first.
pub(super) type Words = [u64; 6];

pub(super) const P: Words = {
    let p = fields::P;
    [p[5], p[4], p[3], p[2], p[1], p[0]]
};
/// -1 / p mod 2^64.
pub(super) const INVERSE: u64 = 0x89f3_fffc_fffc_fffd;

/// Read by the assembly.
#[repr(C)]
struct Constants {
    p: Words,
    inverse: u64,
}

static CONSTANTS: Constants = Constants {
    p: P,
    inverse: INVERSE,
};

/// Adds `rdx` times the six words at `$pointer` to seven accumulators. r15 must be 0. Both carry flags must be clear, and
/// are clear after it.
macro_rules! add_row {
    ($pointer:literal, [$t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal]) => {
        concat!(
            multiply_add_step!(concat!("[", $pointer, "]"), $t0, $t1),
            multiply_add_step!(concat!("[", $pointer, " + 8]"), $t1, $t2),
            multiply_add_step!(concat!("[", $pointer, " + 16]"), $t2, $t3),
            multiply_add_step!(concat!("[", $pointer, " + 24]"), $t3, $t4),
            multiply_add_step!(concat!("[", $pointer, " + 32]"), $t4, $t5),
            multiply_add_step!(concat!("[", $pointer, " + 40]"), $t5, $t6),
            "adcx ",
            $t6,
            ", r15\n",
        )
    };
}

/// Adds the multiple of p that clears the lowest accumulator.
macro_rules! reduce_row {
    ([$t0:literal $($t:literal)*]) => {
        concat!(
            "mov rdx, ", $t0, "\n",
            "imul rdx, [rip + {constants} + 48]\n",
            "xor eax, eax\n", // clears both carry flags
            add_row!("rip + {constants}", [$t0 $($t)*]),
        )
    };
}

/// Processes word `$i` of the first factors. rsi points to pairs of pointers to the factors.
macro_rules! word {
    ($i:literal, [$($k:literal)*], $t:tt) => {
        concat!(
            $(
                "mov rdx, [rsi + 16*", $k, "]\n",
                "mov rdi, [rsi + 16*", $k, " + 8]\n",
                "mov rdx, [rdx + 8*", $i, "]\n",
                add_row!("rdi", $t),
            )*
            reduce_row!($t),
        )
    };
}

/// (rax, rcx, rdx, rsi, rdi, r13) = (r14, r8, ..., r12), less p if that is not negative.
macro_rules! subtract_p {
    () => {
        concat!(
            "mov rax, r14\n",
            "mov rcx, r8\n",
            "mov rdx, r9\n",
            "mov rsi, r10\n",
            "mov rdi, r11\n",
            "mov r13, r12\n",
            "sub rax, [rip + {constants}]\n",
            "sbb rcx, [rip + {constants} + 8]\n",
            "sbb rdx, [rip + {constants} + 16]\n",
            "sbb rsi, [rip + {constants} + 24]\n",
            "sbb rdi, [rip + {constants} + 32]\n",
            "sbb r13, [rip + {constants} + 40]\n",
            "cmovc rax, r14\n",
            "cmovc rcx, r8\n",
            "cmovc rdx, r9\n",
            "cmovc rsi, r10\n",
            "cmovc rdi, r11\n",
            "cmovc r13, r12\n",
        )
    };
}

/// Runs assembly that reads what `rsi` and `rdi` point to, and ends with [`subtract_p`].
macro_rules! compute {
    ($rsi:expr, $rdi:expr, $($code:expr),* $(,)?) => {{
        let (r0, r1, r2, r3, r4, r5): (u64, u64, u64, u64, u64, u64);
        // SAFETY: reads the words of valid references and of a static, and writes registers only. The dispatch uses
        // this module only after checking that the CPU has the instructions.
        unsafe {
            asm!(
                $($code,)*
                constants = sym CONSTANTS,
                inout("rsi") $rsi => r3, inout("rdi") $rdi => r4,
                out("rax") r0, out("rcx") r1, out("rdx") r2, out("r13") r5,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("r14") _, out("r15") _,
                options(pure, readonly, nostack),
            );
        }
        [r0, r1, r2, r3, r4, r5]
    }};
}

/// A sum of products, given the indices of the pairs of factors.
macro_rules! sum_of_products {
    ($factors:expr, [$($k:literal)*]) => {
        compute!(
            $factors.as_ptr(),
            0_u64,
            "xor r8d, r8d",
            "xor r9d, r9d",
            "xor r10d, r10d",
            "xor r11d, r11d",
            "xor r12d, r12d",
            "xor r13d, r13d",
            "xor r14d, r14d",
            "xor r15d, r15d", // also clears both carry flags
            word!(0, [$($k)*], ["r8" "r9" "r10" "r11" "r12" "r13" "r14"]),
            word!(1, [$($k)*], ["r9" "r10" "r11" "r12" "r13" "r14" "r8"]),
            word!(2, [$($k)*], ["r10" "r11" "r12" "r13" "r14" "r8" "r9"]),
            word!(3, [$($k)*], ["r11" "r12" "r13" "r14" "r8" "r9" "r10"]),
            word!(4, [$($k)*], ["r12" "r13" "r14" "r8" "r9" "r10" "r11"]),
            word!(5, [$($k)*], ["r13" "r14" "r8" "r9" "r10" "r11" "r12"]),
            subtract_p!(),
        )
    };
}

/// Processes word `$i` of the first of two factors.
macro_rules! word_of_one {
    ($i:literal, $t:tt) => {
        concat!(
            "mov rdx, [rsi + 8*",
            $i,
            "]\n",
            add_row!("rdi", $t),
            reduce_row!($t),
        )
    };
}

/// The product of two elements or sums.
macro_rules! product {
    ($a:expr, $b:expr) => {
        compute!(
            $a.as_ptr(),
            $b.as_ptr(),
            "xor r15d, r15d",
            "mov rdx, [rsi]",
            "mulx r9, r8, [rdi]",
            "mulx r10, rax, [rdi + 8]",
            "add r9, rax",
            "mulx r11, rax, [rdi + 16]",
            "adc r10, rax",
            "mulx r12, rax, [rdi + 24]",
            "adc r11, rax",
            "mulx r13, rax, [rdi + 32]",
            "adc r12, rax",
            "mulx r14, rax, [rdi + 40]",
            "adc r13, rax",
            "adc r14, 0",
            reduce_row!(["r8" "r9" "r10" "r11" "r12" "r13" "r14"]),
            word_of_one!(1, ["r9" "r10" "r11" "r12" "r13" "r14" "r8"]),
            word_of_one!(2, ["r10" "r11" "r12" "r13" "r14" "r8" "r9"]),
            word_of_one!(3, ["r11" "r12" "r13" "r14" "r8" "r9" "r10"]),
            word_of_one!(4, ["r12" "r13" "r14" "r8" "r9" "r10" "r11"]),
            word_of_one!(5, ["r13" "r14" "r8" "r9" "r10" "r11" "r12"]),
            subtract_p!(),
        )
    };
}

/// Adds the products of the word at `$word` with itself, with twice the next word, and with words of twice the element.
macro_rules! square_row {
    (
        $word:literal $next:literal,
        [$t0:literal $t1:literal $t2:literal],
        $([$twice:literal $low:literal $high:literal])*
    ) => {
        concat!(
            "mov rdx, [rsi + ", $word, "]\n",
            multiply_add_step!("rdx", $t0, $t1),
            "mov rax, [rsi + ", $next, "]\n",
            "lea rax, [rax + rax]\n",
            multiply_add_step!("rax", $t1, $t2),
            $(multiply_add_step!(concat!("[rdi + ", $twice, "]"), $low, $high),)*
        )
    };
}

/// The square of an element, or of a sum below 2^383: for each word, the products with itself and with twice the words
/// above.
macro_rules! square {
    ($a:expr) => {{
        let a: &Words = $a;
        // Words 2 to 5 of 2 a. A row starts with twice a word, without the bit from the word below.
        let twice: [u64; 4] = core::array::from_fn(|i| a[i + 2] << 1 | a[i + 1] >> 63);
        compute!(
            a.as_ptr(),
            twice.as_ptr(),
            "xor r15d, r15d",
            "mov rdx, [rsi]",
            "mulx r9, r8, rdx",
            "mov rax, [rsi + 8]",
            "lea rax, [rax + rax]",
            "mulx r10, rax, rax",
            "add r9, rax",
            "mulx r11, rax, [rdi]",
            "adc r10, rax",
            "mulx r12, rax, [rdi + 8]",
            "adc r11, rax",
            "mulx r13, rax, [rdi + 16]",
            "adc r12, rax",
            "mulx r14, rax, [rdi + 24]",
            "adc r13, rax",
            "adc r14, 0",
            reduce_row!(["r8" "r9" "r10" "r11" "r12" "r13" "r14"]),
            square_row!(8 16, ["r10" "r11" "r12"], [8 "r12" "r13"] [16 "r13" "r14"] [24 "r14" "r8"]),
            "adcx r8, r15",
            reduce_row!(["r9" "r10" "r11" "r12" "r13" "r14" "r8"]),
            square_row!(16 24, ["r12" "r13" "r14"], [16 "r14" "r8"] [24 "r8" "r9"]),
            "adcx r9, r15",
            reduce_row!(["r10" "r11" "r12" "r13" "r14" "r8" "r9"]),
            square_row!(24 32, ["r14" "r8" "r9"], [24 "r9" "r10"]),
            "adcx r10, r15",
            reduce_row!(["r11" "r12" "r13" "r14" "r8" "r9" "r10"]),
            square_row!(32 40, ["r9" "r10" "r11"],),
            "adcx r11, r15",
            reduce_row!(["r12" "r13" "r14" "r8" "r9" "r10" "r11"]),
            "mov rdx, [rsi + 40]",
            multiply_add_step!("rdx", "r11", "r12"),
            "adcx r12, r15",
            reduce_row!(["r13" "r14" "r8" "r9" "r10" "r11" "r12"]),
            subtract_p!(),
        )
    }};
}

// Not inlined because they are long.

#[inline(never)]
pub(super) fn dot1(a: &Words, b: &Words) -> Words {
    product!(a, b)
}

#[inline(never)]
pub(super) fn dot2(factors: [[&Words; 2]; 2]) -> Words {
    sum_of_products!(factors, [0 1])
}

#[inline(never)]
pub(super) fn dot3(factors: [[&Words; 2]; 3]) -> Words {
    sum_of_products!(factors, [0 1 2])
}

#[inline(never)]
pub(super) fn dot4(factors: [[&Words; 2]; 4]) -> Words {
    sum_of_products!(factors, [0 1 2 3])
}

#[inline(never)]
pub(super) fn dot6(factors: [[&Words; 2]; 6]) -> Words {
    sum_of_products!(factors, [0 1 2 3 4 5])
}

#[inline(never)]
fn multiply(a: &mut Words, b: &Words) {
    *a = product!(a, b);
}

#[inline(never)]
fn square(a: &Words) -> Words {
    square!(a)
}

#[inline(never)]
fn square_times(a: &mut Words, n: usize) {
    for _ in 0..n {
        *a = square!(&*a);
    }
}

/// `a + b`, reduced.
#[inline(always)]
fn add(a: &Words, b: &Words) -> Words {
    compute!(
        a.as_ptr(),
        b.as_ptr(),
        "mov r14, [rsi]",
        "mov r8, [rsi + 8]",
        "mov r9, [rsi + 16]",
        "mov r10, [rsi + 24]",
        "mov r11, [rsi + 32]",
        "mov r12, [rsi + 40]",
        "add r14, [rdi]",
        "adc r8, [rdi + 8]",
        "adc r9, [rdi + 16]",
        "adc r10, [rdi + 24]",
        "adc r11, [rdi + 32]",
        "adc r12, [rdi + 40]",
        subtract_p!(),
    )
}

/// (rsi, rdi, r10, r11, r12, r14) = p if all bits of r15 are set, 0 if none is.
macro_rules! masked_p {
    () => {
        concat!(
            "mov rsi, [rip + {constants}]\n",
            "mov rdi, [rip + {constants} + 8]\n",
            "mov r10, [rip + {constants} + 16]\n",
            "mov r11, [rip + {constants} + 24]\n",
            "mov r12, [rip + {constants} + 32]\n",
            "mov r14, [rip + {constants} + 40]\n",
            "and rsi, r15\n",
            "and rdi, r15\n",
            "and r10, r15\n",
            "and r11, r15\n",
            "and r12, r15\n",
            "and r14, r15\n",
        )
    };
}

/// `a - b`, reduced.
#[inline(always)]
fn subtract(a: &Words, b: &Words) -> Words {
    compute!(
        a.as_ptr(),
        b.as_ptr(),
        "mov rax, [rsi]",
        "mov rcx, [rsi + 8]",
        "mov rdx, [rsi + 16]",
        "mov r8, [rsi + 24]",
        "mov r9, [rsi + 32]",
        "mov r13, [rsi + 40]",
        "sub rax, [rdi]",
        "sbb rcx, [rdi + 8]",
        "sbb rdx, [rdi + 16]",
        "sbb r8, [rdi + 24]",
        "sbb r9, [rdi + 32]",
        "sbb r13, [rdi + 40]",
        "sbb r15, r15", // all bits, if it borrowed
        masked_p!(),
        "add rax, rsi",
        "adc rcx, rdi",
        "adc rdx, r10",
        "adc r8, r11",
        "adc r9, r12",
        "adc r13, r14",
        "mov rsi, r8",
        "mov rdi, r9",
    )
}

/// `a / 2`, reduced.
#[inline(always)]
fn half(a: &Words) -> Words {
    compute!(
        a.as_ptr(),
        a.as_ptr(),
        "mov rax, [rsi]",
        "mov rcx, [rsi + 8]",
        "mov rdx, [rsi + 16]",
        "mov r8, [rsi + 24]",
        "mov r9, [rsi + 32]",
        "mov r13, [rsi + 40]",
        "mov r15d, eax",
        "and r15d, 1",
        "neg r15", // all bits, if it is odd
        masked_p!(),
        "add rax, rsi",
        "adc rcx, rdi",
        "adc rdx, r10",
        "adc r8, r11",
        "adc r9, r12",
        "adc r13, r14",
        "shr r13, 1",
        "rcr r9, 1",
        "rcr r8, 1",
        "rcr rdx, 1",
        "rcr rcx, 1",
        "rcr rax, 1",
        "mov rsi, r8",
        "mov rdi, r9",
    )
}

/// `a + b`, not reduced.
#[inline(always)]
pub(super) fn sum(a: &Words, b: &Words) -> Words {
    let (mut sum, mut carry) = ([0; 6], false);
    for (i, out) in sum.iter_mut().enumerate() {
        (*out, carry) = add_carry(a[i], b[i], carry);
    }
    sum
}

/// Returns `a - b` and the borrow.
#[inline(always)]
pub(super) const fn difference(a: &Words, b: &Words) -> (Words, bool) {
    let (mut difference, mut borrow, mut i) = ([0; 6], false, 0);
    while i < 6 {
        (difference[i], borrow) = sub_borrow(a[i], b[i], borrow);
        i += 1;
    }
    (difference, borrow)
}

/// `p - a`.
#[inline(always)]
pub(super) fn negated(a: &Words) -> Words {
    difference(&P, a).0
}

/// An integer modulo p.
#[derive(Clone, Copy, PartialEq, Zeroize)]
#[repr(transparent)]
pub(in super::super::super) struct Fp(pub(super) Words);

impl Fp {
    /// Takes `2^384 x mod p` for x.
    pub(super) const fn from_montgomery(words: Words) -> Self {
        Self(words)
    }

    pub(super) const fn to_montgomery(self) -> Words {
        self.0
    }

    /// Squares n times.
    pub(super) fn square_times(&mut self, n: usize) {
        square_times(&mut self.0, n);
    }

    pub(super) fn multiply(&mut self, other: &Self) {
        multiply(&mut self.0, &other.0);
    }
}

impl Field for Fp {
    const ZERO: Self = Self([0; 6]);
    const ONE: Self = Self(ONE);

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        Self(add(&self.0, &other.0))
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self(subtract(&self.0, &other.0))
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self::ZERO.sub(self)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        Self(dot1(&self.0, &other.0))
    }

    #[inline(always)]
    fn square(&self) -> Self {
        Self(square(&self.0))
    }

    #[inline(always)]
    fn half(&self) -> Self {
        Self(half(&self.0))
    }

    #[inline(always)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        Self(dot2([[&a.0, &b.0], [&negated(&c.0), &d.0]]))
    }

    #[inline(always)]
    fn product_minus_square(a: &Self, b: &Self, c: &Self) -> Self {
        Self::difference_of_products(a, b, c, c)
    }

    fn invert(&self) -> Self {
        Self(invert(&self.0)).mul(&Self(R3))
    }
}
