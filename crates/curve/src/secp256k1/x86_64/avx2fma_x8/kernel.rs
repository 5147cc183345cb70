//! Products and squares of elements, as assembly. The algorithm is that of `docs/internals/eight-lane-field.md`.
//!
//! The compiler orders the additions of a product such that 16 registers do not suffice, and one reduction before the
//! other. A reduction is a long chain of dependent instructions, and the CPU looks ahead by less than its length, so
//! here the instructions of both alternate.
//!
//! On entry, rdi is the address of the result; rsi and rdx are those of the factors. `$v` is the vector: 0 for the
//! first four lanes, 1 for the others. rsp points to [`Columns`] for each.
//!
//! Constant time: no branch, and no address that depends on a value.
#![expect(
    improper_ctypes_definitions,
    reason = "elements are passed by their addresses"
)]

use core::{arch::naked_asm, mem::offset_of};

use super::field::{BITS, Element, R_MOD_P, ROUND, ROUND_51, ROUND_52, power};

/// Added to a column to make it positive.
const POSITIVE: u64 = 1 << 60;

/// The numbers that the instructions read, each in all lanes.
#[repr(C, align(32))]
struct Constants {
    round_51: [f64; 4],
    round_52: [f64; 4],
    round: [f64; 4],
    /// `ROUND_51 + ROUND`, from which an upper part is subtracted.
    split: [f64; 4],
    r: [f64; 4],
    /// 2^-51 and 2^-52.
    down_51: [f64; 4],
    down_52: [f64; 4],
    /// Masks of the bits of a limb, and of the top limb.
    mask: [u64; 4],
    top_mask: [u64; 4],
    /// The exponent of the numbers whose lowest bit is 1.
    exponent: [f64; 4],
    /// The value that a zero has with this exponent and the constants of its column: for a limb, the top limb, the
    /// carry out of the upper half, and the carry out of the top limb.
    limb: [f64; 4],
    top_limb: [f64; 4],
    carry: [f64; 4],
    top_carry: [f64; 4],
    /// Initial values of the columns of a product.
    columns: [[u64; 4]; 9],
    /// Initial values of the columns 1 to 8 of a square, before they are doubled.
    halves: [[u64; 4]; 8],
    /// Added to the columns of a square after they are doubled.
    diagonal: [[u64; 4]; 9],
}

/// The constants that `low` lower and `high` upper parts add to a column, negated.
const fn correction(low: u64, high: u64) -> u64 {
    low.wrapping_mul(ROUND.to_bits())
        .wrapping_add(high.wrapping_mul(ROUND_51.to_bits()))
        .wrapping_neg()
}

/// Added to the columns for the reduction.
///
/// The upper columns: half a limb, so that limbs are rounded, and `POSITIVE`, less the part of it that the carry from
/// the column below has. The lower ones, which the reduction doubles: half of the same, and the corrections of the
/// products that it adds.
const BIAS: [u64; 9] = {
    let mut bias = [0; 9];
    let mut k = 0;
    while k < 9 {
        let carried = if k % 5 == 0 { 0 } else { POSITIVE >> BITS };
        let half = 1 << if k == 4 { BITS } else { BITS - 1 };
        bias[k] = POSITIVE + half - carried;
        if k < 5 {
            let sum = bias[k].wrapping_add(correction(1, if k == 0 { 0 } else { 1 }));
            bias[k] = (sum.cast_signed() / 2).cast_unsigned();
        }
        k += 1;
    }
    bias
};

/// Returns `start`, corrected for this number of products in each column, in all lanes.
const fn corrected(start: [u64; 9], products: [u64; 9]) -> [[u64; 4]; 9] {
    let mut all = [[0; 4]; 9];
    let mut k = 0;
    while k < 9 {
        let below = if k == 0 { 0 } else { products[k - 1] };
        all[k] = [start[k].wrapping_add(correction(products[k], below)); 4];
        k += 1;
    }
    all
}

static CONSTANTS: Constants = {
    let exponent = power(52);
    let [_, halves @ ..] = corrected([0; 9], [0, 1, 1, 2, 2, 2, 1, 1, 0]);
    Constants {
        round_51: [ROUND_51; 4],
        round_52: [ROUND_52; 4],
        round: [ROUND; 4],
        split: [ROUND_51 + ROUND; 4],
        r: [R_MOD_P; 4],
        down_51: [power(-BITS); 4],
        down_52: [power(-BITS - 1); 4],
        mask: [(1 << BITS) - 1; 4],
        top_mask: [(1 << (BITS + 1)) - 1; 4],
        exponent: [exponent; 4],
        limb: [exponent + power(BITS - 1); 4],
        top_limb: [exponent + power(BITS); 4],
        // The upper part that is added next, in units of 2^51, has `ROUND_51` in it.
        carry: [exponent + (POSITIVE >> BITS) as f64 + ROUND; 4],
        top_carry: [exponent + (POSITIVE >> (BITS + 1)) as f64; 4],
        columns: corrected(BIAS, [1, 2, 3, 4, 5, 4, 3, 2, 1]),
        halves,
        diagonal: corrected(BIAS, [1, 0, 1, 0, 1, 0, 1, 0, 1]),
    }
};

/// The vectors of a product before its reduction: columns 0 to 8, and the upper part of the product of the top limbs.
type Columns = [[u64; 4]; 10];

/// An instruction and its operands.
macro_rules! i {
    ($name:literal $first:expr $(, $operand:expr)*) => {
        concat!($name, " ", $first $(, ", ", $operand)*, "\n")
    };
}

/// The address of a constant.
macro_rules! c {
    ($name:literal $($k:literal)?) => {
        concat!("[rip + {constants} + {", $name, "}" $(, " + 32 * ", $k)?, "]")
    };
}

/// The address of limb `$k` of the first factor.
macro_rules! a {
    (0 $k:tt) => {
        concat!("[rsi + 32 * ", $k, "]")
    };
    (1 $k:tt) => {
        concat!("[rsi + 160 + 32 * ", $k, "]")
    };
}

/// The address of limb `$k` of the second factor.
macro_rules! b {
    (0 $k:tt) => {
        concat!("[rdx + 32 * ", $k, "]")
    };
    (1 $k:tt) => {
        concat!("[rdx + 160 + 32 * ", $k, "]")
    };
}

/// The address of limb `$k` of the result.
macro_rules! result {
    (0 $k:tt) => {
        concat!("[rdi + 32 * ", $k, "]")
    };
    (1 $k:tt) => {
        concat!("[rdi + 160 + 32 * ", $k, "]")
    };
}

/// The address of an entry of [`Columns`].
macro_rules! t {
    (0 $k:tt) => {
        concat!("[rsp + 32 * ", $k, "]")
    };
    (1 $k:tt) => {
        concat!("[rsp + 320 + 32 * ", $k, "]")
    };
}

/// Multiplies ymm8, a limb of the first factor, by `$b`: `$low` becomes the lower part plus `$low_sum`, `$high` the
/// upper part plus `$high_sum`, each with its constant. ymm9 becomes the upper part alone, ymm10 is overwritten. ymm14
/// and ymm15 are `round_51` and `split`.
macro_rules! multiply {
    ($b:expr, $low:literal = $low_sum:expr $(, $high:literal = $high_sum:expr)?) => {
        concat!(
            i!("vmovapd" "ymm9", "ymm14"),
            i!("vfmadd231pd" "ymm9", "ymm8", $b),
            i!("vsubpd" "ymm10", "ymm15", "ymm9"),
            i!("vfmadd231pd" "ymm10", "ymm8", $b),
            $(i!("vpaddq" $high, "ymm9", $high_sum),)?
            i!("vpaddq" $low, "ymm10", $low_sum),
        )
    };
}

/// Limb `$i` of the first factor, which is not 0 or 4, times the second, to the columns from `$i`, in `$c0` to `$c5`.
/// The first of them is complete then; the last one, `$next`, is new.
macro_rules! row {
    ($v:tt $i:tt, $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal, $next:literal) => {
        concat!(
            i!("vmovapd" "ymm8", a!($v $i)),
            multiply!("ymm6", $c0 = $c0, $c1 = $c1),
            multiply!("ymm7", $c1 = $c1, $c2 = $c2),
            multiply!("ymm11", $c2 = $c2, $c3 = $c3),
            multiply!("ymm12", $c3 = $c3, $c4 = $c4),
            multiply!("ymm13", $c4 = $c4, $c5 = c!("columns" $next)),
            i!("vmovdqa" t!($v $i), $c0),
        )
    };
}

/// The columns of a product. Six are in registers at a time: column k in ymm0 to ymm5, at k modulo 6.
macro_rules! mul {
    ($v:tt) => {
        concat!(
            i!("vmovapd" "ymm6", b!($v 0)),
            i!("vmovapd" "ymm7", b!($v 1)),
            i!("vmovapd" "ymm11", b!($v 2)),
            i!("vmovapd" "ymm12", b!($v 3)),
            i!("vmovapd" "ymm13", b!($v 4)),
            i!("vmovapd" "ymm8", a!($v 0)),
            multiply!("ymm6", "ymm0" = c!("columns"), "ymm1" = c!("columns" 1)),
            multiply!("ymm7", "ymm1" = "ymm1", "ymm2" = c!("columns" 2)),
            multiply!("ymm11", "ymm2" = "ymm2", "ymm3" = c!("columns" 3)),
            multiply!("ymm12", "ymm3" = "ymm3", "ymm4" = c!("columns" 4)),
            multiply!("ymm13", "ymm4" = "ymm4", "ymm5" = c!("columns" 5)),
            i!("vmovdqa" t!($v 0), "ymm0"),
            row!($v 1, "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm0", 6),
            row!($v 2, "ymm2" "ymm3" "ymm4" "ymm5" "ymm0" "ymm1", 7),
            row!($v 3, "ymm3" "ymm4" "ymm5" "ymm0" "ymm1" "ymm2", 8),
            i!("vmovapd" "ymm8", a!($v 4)),
            multiply!("ymm6", "ymm4" = "ymm4", "ymm5" = "ymm5"),
            multiply!("ymm7", "ymm5" = "ymm5", "ymm0" = "ymm0"),
            multiply!("ymm11", "ymm0" = "ymm0", "ymm1" = "ymm1"),
            multiply!("ymm12", "ymm1" = "ymm1", "ymm2" = "ymm2"),
            multiply!("ymm13", "ymm2" = "ymm2"),
            i!("vmovdqa" t!($v 4), "ymm4"),
            i!("vmovdqa" t!($v 5), "ymm5"),
            i!("vmovdqa" t!($v 6), "ymm0"),
            i!("vmovdqa" t!($v 7), "ymm1"),
            i!("vmovdqa" t!($v 8), "ymm2"),
            i!("vmovapd" t!($v 9), "ymm9"),
        )
    };
}

/// Completes and stores a column of a square.
macro_rules! store_column {
    ($v:tt $k:tt, $column:literal) => {
        concat!(
            i!("vpaddq" $column, $column, c!("diagonal" $k)),
            i!("vmovdqa" t!($v $k), $column),
        )
    };
}

/// The columns of a square: 1 to 8 in ymm0 to ymm7, first with the products of two different limbs, each once.
macro_rules! square {
    ($v:tt) => {
        concat!(
            i!("vmovapd" "ymm8", a!($v 0)),
            multiply!(a!($v 1), "ymm0" = c!("halves"), "ymm1" = c!("halves" 1)),
            multiply!(a!($v 2), "ymm1" = "ymm1", "ymm2" = c!("halves" 2)),
            multiply!(a!($v 3), "ymm2" = "ymm2", "ymm3" = c!("halves" 3)),
            multiply!(a!($v 4), "ymm3" = "ymm3", "ymm4" = c!("halves" 4)),
            i!("vmovapd" "ymm8", a!($v 1)),
            multiply!(a!($v 2), "ymm2" = "ymm2", "ymm3" = "ymm3"),
            multiply!(a!($v 3), "ymm3" = "ymm3", "ymm4" = "ymm4"),
            multiply!(a!($v 4), "ymm4" = "ymm4", "ymm5" = c!("halves" 5)),
            i!("vmovapd" "ymm8", a!($v 2)),
            multiply!(a!($v 3), "ymm4" = "ymm4", "ymm5" = "ymm5"),
            multiply!(a!($v 4), "ymm5" = "ymm5", "ymm6" = c!("halves" 6)),
            i!("vmovapd" "ymm8", a!($v 3)),
            multiply!(a!($v 4), "ymm6" = "ymm6", "ymm7" = c!("halves" 7)),
            i!("vpaddq" "ymm0", "ymm0", "ymm0"),
            i!("vpaddq" "ymm1", "ymm1", "ymm1"),
            i!("vpaddq" "ymm2", "ymm2", "ymm2"),
            i!("vpaddq" "ymm3", "ymm3", "ymm3"),
            i!("vpaddq" "ymm4", "ymm4", "ymm4"),
            i!("vpaddq" "ymm5", "ymm5", "ymm5"),
            i!("vpaddq" "ymm6", "ymm6", "ymm6"),
            i!("vpaddq" "ymm7", "ymm7", "ymm7"),
            i!("vmovapd" "ymm8", a!($v 0)),
            multiply!("ymm8", "ymm11" = c!("diagonal"), "ymm0" = "ymm0"),
            i!("vmovapd" "ymm8", a!($v 1)),
            multiply!("ymm8", "ymm1" = "ymm1", "ymm2" = "ymm2"),
            i!("vmovapd" "ymm8", a!($v 2)),
            multiply!("ymm8", "ymm3" = "ymm3", "ymm4" = "ymm4"),
            i!("vmovdqa" t!($v 0), "ymm11"),
            store_column!($v 1, "ymm0"),
            store_column!($v 2, "ymm1"),
            store_column!($v 3, "ymm2"),
            i!("vmovapd" "ymm8", a!($v 3)),
            multiply!("ymm8", "ymm5" = "ymm5", "ymm6" = "ymm6"),
            i!("vmovapd" "ymm8", a!($v 4)),
            multiply!("ymm8", "ymm7" = "ymm7"),
            store_column!($v 4, "ymm3"),
            store_column!($v 5, "ymm4"),
            store_column!($v 6, "ymm5"),
            store_column!($v 7, "ymm6"),
            store_column!($v 8, "ymm7"),
            i!("vmovapd" t!($v 9), "ymm9"),
        )
    };
}

/// A register of the reduction: limb `$k`, which is first of the upper half, then of the sum, or for 5 and 6 a
/// temporary value.
macro_rules! x {
    (0 $k:tt) => {
        concat!("ymm", $k)
    };
    (1 0) => {
        "ymm7"
    };
    (1 1) => {
        "ymm8"
    };
    (1 2) => {
        "ymm9"
    };
    (1 3) => {
        "ymm10"
    };
    (1 4) => {
        "ymm11"
    };
    (1 5) => {
        "ymm12"
    };
    (1 6) => {
        "ymm13"
    };
}

/// A step of the reduction, for both vectors.
macro_rules! both {
    ($step:ident $($argument:tt)*) => {
        concat!($step!(0 $($argument)*), $step!(1 $($argument)*))
    };
}

/// Converts the lower bits of column `$k`, plus the carry in `$carry`, to a limb.
macro_rules! limb {
    ($v:tt $k:tt $($carry:tt)?) => {
        concat!(
            i!("vpand" x!($v $k), x!($v $k), c!("mask")),
            $(i!("vpaddq" x!($v $k), x!($v $k), x!($v $carry)),)?
            i!("vpor" x!($v $k), x!($v $k), c!("exponent")),
            i!("vsubpd" x!($v $k), x!($v $k), c!("limb")),
        )
    };
}

/// Limb 4 of the upper half, and columns 7 and 8 for limbs 2 and 3, of which the latter has the carry of the former.
macro_rules! upper_4 {
    ($v:tt) => {
        concat!(
            i!("vmovdqa" x!($v 2), t!($v 7)),
            i!("vpsrlq" x!($v 4), x!($v 2), 51),
            i!("vpaddq" x!($v 3), x!($v 4), t!($v 8)),
            i!("vpsrlq" x!($v 4), x!($v 3), 51),
            i!("vpor" x!($v 4), x!($v 4), c!("exponent")),
            i!("vsubpd" x!($v 4), x!($v 4), c!("carry")),
            i!("vmovapd" x!($v 5), t!($v 9)),
            i!("vfmadd231pd" x!($v 4), x!($v 5), c!("down_51")),
        )
    };
}

/// Limb `$k` of the upper half with the carry of the column below, `$column`, which is loaded for limb `$below`.
macro_rules! upper {
    ($v:tt $k:tt $below:tt $column:tt) => {
        concat!(
            i!("vmovdqa" x!($v $below), t!($v $column)),
            i!("vpsrlq" x!($v 5), x!($v $below), 51),
            limb!($v $k 5),
        )
    };
}

/// `R_MOD_P` times limb 4 of the upper half: the part above the top limb replaces entry 9, the rest is limb 4 of the
/// sum.
macro_rules! fold_4 {
    ($v:tt) => {
        concat!(
            i!("vmovapd" x!($v 5), x!($v 4)),
            i!("vfmadd213pd" x!($v 5), "ymm14", c!("round_52")),
            i!("vsubpd" x!($v 6), x!($v 5), c!("round_52")),
            i!("vfmsub213pd" x!($v 4), "ymm14", x!($v 6)),
            i!("vaddpd" x!($v 4), x!($v 4), c!("round")),
            i!("vmovapd" t!($v 9), x!($v 6)),
        )
    };
}

/// `R_MOD_P` times limb `$k` of the upper half: the lower part plus twice column `$k` is limb `$k` of the sum, the
/// upper part is added to limb `$next`.
macro_rules! fold {
    ($v:tt $k:tt $next:tt) => {
        concat!(
            i!("vmovapd" x!($v 5), x!($v $k)),
            i!("vfmadd213pd" x!($v 5), "ymm14", c!("round_51")),
            i!("vsubpd" x!($v 6), "ymm15", x!($v 5)),
            i!("vfmadd132pd" x!($v $k), x!($v 6), "ymm14"),
            i!("vpaddq" x!($v $next), x!($v $next), x!($v 5)),
            i!("vpaddq" x!($v $k), x!($v $k), t!($v $k)),
            i!("vpaddq" x!($v $k), x!($v $k), t!($v $k)),
        )
    };
}

/// Completes limb 4 of the sum. Register 5 receives the part above the top limb.
macro_rules! above {
    ($v:tt) => {
        concat!(
            i!("vpaddq" x!($v 4), x!($v 4), t!($v 4)),
            i!("vpaddq" x!($v 4), x!($v 4), t!($v 4)),
            i!("vpsrlq" x!($v 5), x!($v 3), 51),
            i!("vpaddq" x!($v 4), x!($v 4), x!($v 5)),
            i!("vpsrlq" x!($v 5), x!($v 4), 52),
            i!("vpor" x!($v 5), x!($v 5), c!("exponent")),
            i!("vsubpd" x!($v 5), x!($v 5), c!("top_carry")),
            i!("vmovapd" x!($v 6), t!($v 9)),
            i!("vfmadd231pd" x!($v 5), x!($v 6), c!("down_52")),
        )
    };
}

macro_rules! result_4 {
    ($v:tt) => {
        concat!(
            i!("vpand" x!($v 4), x!($v 4), c!("top_mask")),
            i!("vpor" x!($v 4), x!($v 4), c!("exponent")),
            i!("vsubpd" x!($v 4), x!($v 4), c!("top_limb")),
            i!("vmovapd" result!($v 4), x!($v 4)),
        )
    };
}

/// `R_MOD_P` times the part above the top limb: register 4 receives the upper part, register 5 the lower.
macro_rules! fold_above {
    ($v:tt) => {
        concat!(
            i!("vmovapd" x!($v 4), x!($v 5)),
            i!("vfmadd213pd" x!($v 4), "ymm14", c!("round_51")),
            i!("vsubpd" x!($v 4), x!($v 4), c!("round_51")),
            i!("vfmsub213pd" x!($v 5), "ymm14", x!($v 4)),
        )
    };
}

/// Limb `$k`, which is 2 or 3, of the result, with the carry of the limb below.
macro_rules! result_middle {
    ($v:tt $k:tt $below:tt) => {
        concat!(
            i!("vpsrlq" x!($v 6), x!($v $below), 51),
            limb!($v $k 6),
            i!("vmovapd" result!($v $k), x!($v $k)),
        )
    };
}

macro_rules! result_1 {
    ($v:tt) => {
        concat!(
            i!("vpsrlq" x!($v 6), x!($v 0), 51),
            limb!($v 1 6),
            i!("vfmadd231pd" x!($v 1), x!($v 4), c!("down_51")),
            i!("vmovapd" result!($v 1), x!($v 1)),
        )
    };
}

macro_rules! result_0 {
    ($v:tt) => {
        concat!(
            limb!($v 0),
            i!("vaddpd" x!($v 0), x!($v 0), x!($v 5)),
            i!("vmovapd" result!($v 0), x!($v 0)),
        )
    };
}

/// The reduction of both vectors. ymm15 is `split`.
macro_rules! reduce {
    () => {
        concat!(
            i!("vmovapd" "ymm14", c!("r")),
            both!(upper_4),
            both!(limb 3),
            both!(upper 2 1 6),
            both!(fold_4),
            both!(upper 1 0 5),
            both!(limb 0),
            both!(fold 3 4),
            both!(fold 2 3),
            both!(fold 1 2),
            both!(fold 0 1),
            both!(above),
            both!(result_4),
            both!(fold_above),
            both!(result_middle 3 2),
            both!(result_middle 2 1),
            both!(result_1),
            both!(result_0),
        )
    };
}

/// Defines a function that reduces the columns of `$columns`. The last arguments are the constants that only it reads.
///
/// The function is naked so that the result is written to its place, without a copy.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident($($factor:ident),*), $columns:ident, $($constant:ident),*) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The CPU must have AVX2 and FMA.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name($($factor: &Element),*) -> Element {
            naked_asm!(
                // The ABI returns the result's address.
                "mov rax, rdi",
                "mov rcx, rsp",
                "sub rsp, {size}",
                "and rsp, -64",
                i!("vmovapd" "ymm14", c!("round_51")),
                i!("vmovapd" "ymm15", c!("split")),
                both!($columns),
                reduce!(),
                "mov rsp, rcx",
                "vzeroupper",
                "ret",
                size = const size_of::<[Columns; 2]>(),
                $($constant = const offset_of!(Constants, $constant),)*
                constants = sym CONSTANTS,
                round_51 = const offset_of!(Constants, round_51),
                round_52 = const offset_of!(Constants, round_52),
                round = const offset_of!(Constants, round),
                split = const offset_of!(Constants, split),
                r = const offset_of!(Constants, r),
                down_51 = const offset_of!(Constants, down_51),
                down_52 = const offset_of!(Constants, down_52),
                mask = const offset_of!(Constants, mask),
                top_mask = const offset_of!(Constants, top_mask),
                exponent = const offset_of!(Constants, exponent),
                limb = const offset_of!(Constants, limb),
                top_limb = const offset_of!(Constants, top_limb),
                carry = const offset_of!(Constants, carry),
                top_carry = const offset_of!(Constants, top_carry),
            )
        }
    };
}

function!(
    /// Returns `a b`.
    mul(a, b),
    mul,
    columns
);

function!(
    /// Returns the square of a.
    square(a),
    square,
    halves,
    diagonal
);
