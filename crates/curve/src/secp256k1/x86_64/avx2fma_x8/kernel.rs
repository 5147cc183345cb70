//! Products and squares of elements, as assembly.
//!
//! The compiler orders the additions of a product such that 16 registers do not suffice, and one reduction before the
//! other. A reduction is a long chain of dependent instructions, and the CPU looks ahead by less than its length, so
//! here the instructions of both alternate.
//!
//! The algorithm is that of `docs/internals/eight-lane-field.md`. Constant time: no branch, and no address that depends
//! on a value.
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
    /// What a number has with this exponent, and with the constants of a column, if its value is 0: a limb, the top
    /// limb, the carry out of the upper half, and the carry out of the top limb.
    limb: [f64; 4],
    top_limb: [f64; 4],
    carry: [f64; 4],
    top_carry: [f64; 4],
    /// Initial values of the columns of a product.
    columns: [[u64; 4]; 9],
    /// Initial values of the columns 1 to 8 of a square, before they are doubled.
    halves: [[u64; 4]; 8],
    /// What the columns of a square have in addition.
    diagonal: [[u64; 4]; 9],
}

/// The constants that `low` lower and `high` upper parts add to a column, negated.
const fn correction(low: u64, high: u64) -> u64 {
    low.wrapping_mul(ROUND.to_bits())
        .wrapping_add(high.wrapping_mul(ROUND_51.to_bits()))
        .wrapping_neg()
}

/// What the reduction requires the columns to have added.
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

/// The address of a constant.
macro_rules! c {
    ($name:literal) => {
        concat!("[rip + {constants} + {", $name, "}]")
    };
    ($name:literal $k:literal) => {
        concat!("[rip + {constants} + {", $name, "} + 32 * ", $k, "]")
    };
}

/// Multiplies `$a` by `$b`: `$low` becomes the lower part plus `$low_sum`, `$high` the upper part plus `$high_sum`,
/// each with its constant. `$upper` and `$lower` are clobbered. ymm14 and ymm15 are `round_51` and `split`.
macro_rules! step {
    (
        $a:literal * $b:expr,
        $upper:literal $lower:literal,
        $low:literal = $low_sum:expr
        $(, $high:literal = $high_sum:expr)?
    ) => {
        concat!(
            "vmovapd ", $upper, ", ymm14\n",
            "vfmadd231pd ", $upper, ", ", $a, ", ", $b, "\n",
            "vsubpd ", $lower, ", ymm15, ", $upper, "\n",
            "vfmadd231pd ", $lower, ", ", $a, ", ", $b, "\n",
            $("vpaddq ", $high, ", ", $upper, ", ", $high_sum, "\n",)?
            "vpaddq ", $low, ", ", $lower, ", ", $low_sum, "\n",
        )
    };
}

/// Loads the limbs of b.
macro_rules! load_b {
    ($b:literal) => {
        concat!(
            "vmovapd ymm9, [rdx + ",
            $b,
            "]\n",
            "vmovapd ymm10, [rdx + ",
            $b,
            " + 32]\n",
            "vmovapd ymm11, [rdx + ",
            $b,
            " + 64]\n",
            "vmovapd ymm12, [rdx + ",
            $b,
            " + 96]\n",
            "vmovapd ymm13, [rdx + ",
            $b,
            " + 128]\n",
        )
    };
}

/// Limb 0 of a times b.
macro_rules! row_0 {
    ($a:literal, $t:literal) => {
        concat!(
            "vmovapd ymm6, [rsi + ", $a, "]\n",
            step!("ymm6" * "ymm9", "ymm7" "ymm8", "ymm0" = c!("columns"), "ymm1" = c!("columns" 1)),
            step!("ymm6" * "ymm10", "ymm7" "ymm8", "ymm1" = "ymm1", "ymm2" = c!("columns" 2)),
            step!("ymm6" * "ymm11", "ymm7" "ymm8", "ymm2" = "ymm2", "ymm3" = c!("columns" 3)),
            step!("ymm6" * "ymm12", "ymm7" "ymm8", "ymm3" = "ymm3", "ymm4" = c!("columns" 4)),
            step!("ymm6" * "ymm13", "ymm7" "ymm8", "ymm4" = "ymm4", "ymm5" = c!("columns" 5)),
            "vmovdqa [rsp + ", $t, "], ymm0\n",
        )
    };
}

/// Limb `$i` of a, which is not 0 or 4, times b, to the columns from `$i`. The first of them is complete then.
macro_rules! row {
    (
        $i:literal, $next:literal, $a:literal, $t:literal,
        $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal
    ) => {
        concat!(
            "vmovapd ymm6, [rsi + ", $a, " + 32 * ", $i, "]\n",
            step!("ymm6" * "ymm9", "ymm7" "ymm8", $c0 = $c0, $c1 = $c1),
            step!("ymm6" * "ymm10", "ymm7" "ymm8", $c1 = $c1, $c2 = $c2),
            step!("ymm6" * "ymm11", "ymm7" "ymm8", $c2 = $c2, $c3 = $c3),
            step!("ymm6" * "ymm12", "ymm7" "ymm8", $c3 = $c3, $c4 = $c4),
            step!("ymm6" * "ymm13", "ymm7" "ymm8", $c4 = $c4, $c5 = c!("columns" $next)),
            "vmovdqa [rsp + ", $t, " + 32 * ", $i, "], ", $c0, "\n",
        )
    };
}

/// Limb 4 of a times b. Afterwards, all columns are complete.
macro_rules! row_4 {
    ($a:literal, $t:literal) => {
        concat!(
            "vmovapd ymm6, [rsi + ", $a, " + 128]\n",
            step!("ymm6" * "ymm9", "ymm7" "ymm8", "ymm4" = "ymm4", "ymm5" = "ymm5"),
            step!("ymm6" * "ymm10", "ymm7" "ymm8", "ymm5" = "ymm5", "ymm0" = "ymm0"),
            step!("ymm6" * "ymm11", "ymm7" "ymm8", "ymm0" = "ymm0", "ymm1" = "ymm1"),
            step!("ymm6" * "ymm12", "ymm7" "ymm8", "ymm1" = "ymm1", "ymm2" = "ymm2"),
            step!("ymm6" * "ymm13", "ymm7" "ymm8", "ymm2" = "ymm2"),
            "vmovdqa [rsp + ", $t, " + 128], ymm4\n",
            "vmovdqa [rsp + ", $t, " + 160], ymm5\n",
            "vmovdqa [rsp + ", $t, " + 192], ymm0\n",
            "vmovdqa [rsp + ", $t, " + 224], ymm1\n",
            "vmovdqa [rsp + ", $t, " + 256], ymm2\n",
            "vmovapd [rsp + ", $t, " + 288], ymm7\n",
        )
    };
}

/// Limb `$i` of a times the limb `$j` above it, to a square's halved columns.
macro_rules! pair {
    ($a:literal, $j:literal, $low:literal = $low_sum:expr, $high:literal = $high_sum:expr) => {
        step!(
            "ymm10" * concat!("[rsi + ", $a, " + 32 * ", $j, "]"),
            "ymm8" "ymm9",
            $low = $low_sum,
            $high = $high_sum
        )
    };
}

/// The products of two different limbs of a: the columns 1 to 8 in ymm0 to ymm7.
macro_rules! pairs {
    ($a:literal) => {
        concat!(
            "vmovapd ymm10, [rsi + ", $a, "]\n",
            pair!($a, 1, "ymm0" = c!("halves"), "ymm1" = c!("halves" 1)),
            pair!($a, 2, "ymm1" = "ymm1", "ymm2" = c!("halves" 2)),
            pair!($a, 3, "ymm2" = "ymm2", "ymm3" = c!("halves" 3)),
            pair!($a, 4, "ymm3" = "ymm3", "ymm4" = c!("halves" 4)),
            "vmovapd ymm10, [rsi + ", $a, " + 32]\n",
            pair!($a, 2, "ymm2" = "ymm2", "ymm3" = "ymm3"),
            pair!($a, 3, "ymm3" = "ymm3", "ymm4" = "ymm4"),
            pair!($a, 4, "ymm4" = "ymm4", "ymm5" = c!("halves" 5)),
            "vmovapd ymm10, [rsi + ", $a, " + 64]\n",
            pair!($a, 3, "ymm4" = "ymm4", "ymm5" = "ymm5"),
            pair!($a, 4, "ymm5" = "ymm5", "ymm6" = c!("halves" 6)),
            "vmovapd ymm10, [rsi + ", $a, " + 96]\n",
            pair!($a, 4, "ymm6" = "ymm6", "ymm7" = c!("halves" 7)),
            "vpaddq ymm0, ymm0, ymm0\n",
            "vpaddq ymm1, ymm1, ymm1\n",
            "vpaddq ymm2, ymm2, ymm2\n",
            "vpaddq ymm3, ymm3, ymm3\n",
            "vpaddq ymm4, ymm4, ymm4\n",
            "vpaddq ymm5, ymm5, ymm5\n",
            "vpaddq ymm6, ymm6, ymm6\n",
            "vpaddq ymm7, ymm7, ymm7\n",
        )
    };
}

/// Completes and stores a column of a square.
macro_rules! store_column {
    ($t:literal, $k:literal, $column:literal) => {
        concat!(
            "vpaddq ", $column, ", ", $column, ", ", c!("diagonal" $k), "\n",
            "vmovdqa [rsp + ", $t, " + 32 * ", $k, "], ", $column, "\n",
        )
    };
}

/// The squares of the limbs of a. Afterwards, all columns are complete.
macro_rules! squares {
    ($a:literal, $t:literal) => {
        concat!(
            "vmovapd ymm10, [rsi + ", $a, "]\n",
            step!("ymm10" * "ymm10", "ymm8" "ymm9", "ymm11" = c!("diagonal"), "ymm0" = "ymm0"),
            "vmovapd ymm10, [rsi + ", $a, " + 32]\n",
            step!("ymm10" * "ymm10", "ymm8" "ymm9", "ymm1" = "ymm1", "ymm2" = "ymm2"),
            "vmovapd ymm10, [rsi + ", $a, " + 64]\n",
            step!("ymm10" * "ymm10", "ymm8" "ymm9", "ymm3" = "ymm3", "ymm4" = "ymm4"),
            "vmovdqa [rsp + ", $t, "], ymm11\n",
            store_column!($t, 1, "ymm0"),
            store_column!($t, 2, "ymm1"),
            store_column!($t, 3, "ymm2"),
            "vmovapd ymm10, [rsi + ", $a, " + 96]\n",
            step!("ymm10" * "ymm10", "ymm8" "ymm9", "ymm5" = "ymm5", "ymm6" = "ymm6"),
            "vmovapd ymm10, [rsi + ", $a, " + 128]\n",
            step!("ymm10" * "ymm10", "ymm8" "ymm9", "ymm7" = "ymm7"),
            store_column!($t, 4, "ymm3"),
            store_column!($t, 5, "ymm4"),
            store_column!($t, 6, "ymm5"),
            store_column!($t, 7, "ymm6"),
            store_column!($t, 8, "ymm7"),
            "vmovapd [rsp + ", $t, " + 288], ymm8\n",
        )
    };
}

/// Converts the lower bits of a column, plus a carry, to a limb.
macro_rules! limb {
    ($x:literal $(, $carry:literal)?) => {
        concat!(
            "vpand ", $x, ", ", $x, ", ", c!("mask"), "\n",
            $("vpaddq ", $x, ", ", $x, ", ", $carry, "\n",)?
            "vpor ", $x, ", ", $x, ", ", c!("exponent"), "\n",
            "vsubpd ", $x, ", ", $x, ", ", c!("limb"), "\n",
        )
    };
}

/// Replaces the limb in `$h` of the upper half by the sum of twice column `$k` and the lower part of `R_MOD_P $h`, and
/// adds the upper part to `$next`.
macro_rules! fold {
    ($h:literal, $next:literal, $t:literal, $k:literal, $x5:literal $x6:literal) => {
        concat!(
            "vmovapd ",
            $x5,
            ", ",
            $h,
            "\n",
            "vfmadd213pd ",
            $x5,
            ", ymm14, ",
            c!("round_51"),
            "\n",
            "vsubpd ",
            $x6,
            ", ymm15, ",
            $x5,
            "\n",
            "vfmadd132pd ",
            $h,
            ", ",
            $x6,
            ", ymm14\n",
            "vpaddq ",
            $next,
            ", ",
            $next,
            ", ",
            $x5,
            "\n",
            "vpaddq ",
            $h,
            ", ",
            $h,
            ", [rsp + ",
            $t,
            " + 32 * ",
            $k,
            "]\n",
            "vpaddq ",
            $h,
            ", ",
            $h,
            ", [rsp + ",
            $t,
            " + 32 * ",
            $k,
            "]\n",
        )
    };
}

/// A step of the reduction, for both vectors. `$step` takes the address of the columns, that of the result, and seven
/// registers.
macro_rules! both {
    ($step:ident) => {
        concat!(
            $step!(0, 0, "ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6"),
            $step!(320, 160, "ymm7" "ymm8" "ymm9" "ymm10" "ymm11" "ymm12" "ymm13"),
        )
    };
}

/// Column 8 with the carry of column 7, to x3; limb 4 of the upper half, to x4; column 7, to x0.
macro_rules! upper_4 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vmovdqa ",
            $x0,
            ", [rsp + ",
            $t,
            " + 224]\n",
            "vpsrlq ",
            $x4,
            ", ",
            $x0,
            ", 51\n",
            "vpaddq ",
            $x3,
            ", ",
            $x4,
            ", [rsp + ",
            $t,
            " + 256]\n",
            "vpsrlq ",
            $x4,
            ", ",
            $x3,
            ", 51\n",
            "vpor ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("exponent"),
            "\n",
            "vsubpd ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("carry"),
            "\n",
            "vmovapd ",
            $x5,
            ", [rsp + ",
            $t,
            " + 288]\n",
            "vfmadd231pd ",
            $x4,
            ", ",
            $x5,
            ", ",
            c!("down_51"),
            "\n",
        )
    };
}

macro_rules! upper_3 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        limb!($x3)
    };
}

macro_rules! upper_2 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vmovdqa ",
            $x1,
            ", [rsp + ",
            $t,
            " + 192]\n",
            "vpsrlq ",
            $x5,
            ", ",
            $x1,
            ", 51\n",
            limb!($x0, $x5),
        )
    };
}

/// `R_MOD_P` times limb 4: what is above the top limb, to memory; the rest, to x4.
macro_rules! fold_4 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vmovapd ",
            $x5,
            ", ",
            $x4,
            "\n",
            "vfmadd213pd ",
            $x5,
            ", ymm14, ",
            c!("round_52"),
            "\n",
            "vsubpd ",
            $x6,
            ", ",
            $x5,
            ", ",
            c!("round_52"),
            "\n",
            "vfmsub213pd ",
            $x4,
            ", ymm14, ",
            $x6,
            "\n",
            "vaddpd ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("round"),
            "\n",
            "vmovapd [rsp + ",
            $t,
            " + 288], ",
            $x6,
            "\n",
        )
    };
}

macro_rules! upper_1 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vmovdqa ",
            $x2,
            ", [rsp + ",
            $t,
            " + 160]\n",
            "vpsrlq ",
            $x5,
            ", ",
            $x2,
            ", 51\n",
            limb!($x1, $x5),
        )
    };
}

macro_rules! upper_0 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        limb!($x2)
    };
}

macro_rules! fold_3 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        fold!($x3, $x4, $t, 3, $x5 $x6)
    };
}

macro_rules! fold_2 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        fold!($x0, $x3, $t, 2, $x5 $x6)
    };
}

macro_rules! fold_1 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        fold!($x1, $x0, $t, 1, $x5 $x6)
    };
}

macro_rules! fold_0 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        fold!($x2, $x1, $t, 0, $x5 $x6)
    };
}

/// Completes sum 4, in x4. What is above the top limb goes to x5.
macro_rules! above {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vpaddq ",
            $x4,
            ", ",
            $x4,
            ", [rsp + ",
            $t,
            " + 128]\n",
            "vpaddq ",
            $x4,
            ", ",
            $x4,
            ", [rsp + ",
            $t,
            " + 128]\n",
            "vpsrlq ",
            $x5,
            ", ",
            $x3,
            ", 51\n",
            "vpaddq ",
            $x4,
            ", ",
            $x4,
            ", ",
            $x5,
            "\n",
            "vpsrlq ",
            $x5,
            ", ",
            $x4,
            ", 52\n",
            "vpor ",
            $x5,
            ", ",
            $x5,
            ", ",
            c!("exponent"),
            "\n",
            "vsubpd ",
            $x5,
            ", ",
            $x5,
            ", ",
            c!("top_carry"),
            "\n",
            "vmovapd ",
            $x6,
            ", [rsp + ",
            $t,
            " + 288]\n",
            "vfmadd231pd ",
            $x5,
            ", ",
            $x6,
            ", ",
            c!("down_52"),
            "\n",
        )
    };
}

macro_rules! result_4 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vpand ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("top_mask"),
            "\n",
            "vpor ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("exponent"),
            "\n",
            "vsubpd ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("top_limb"),
            "\n",
            "vmovapd [rdi + ",
            $out,
            " + 128], ",
            $x4,
            "\n",
        )
    };
}

/// `R_MOD_P` times what is above the top limb: the upper part, to x4; the lower, to x5.
macro_rules! fold_above {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vmovapd ",
            $x4,
            ", ",
            $x5,
            "\n",
            "vfmadd213pd ",
            $x4,
            ", ymm14, ",
            c!("round_51"),
            "\n",
            "vsubpd ",
            $x4,
            ", ",
            $x4,
            ", ",
            c!("round_51"),
            "\n",
            "vfmsub213pd ",
            $x5,
            ", ymm14, ",
            $x4,
            "\n",
        )
    };
}

macro_rules! result_3 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vpsrlq ",
            $x6,
            ", ",
            $x0,
            ", 51\n",
            limb!($x3, $x6),
            "vmovapd [rdi + ",
            $out,
            " + 96], ",
            $x3,
            "\n",
        )
    };
}

macro_rules! result_2 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vpsrlq ",
            $x6,
            ", ",
            $x1,
            ", 51\n",
            limb!($x0, $x6),
            "vmovapd [rdi + ",
            $out,
            " + 64], ",
            $x0,
            "\n",
        )
    };
}

macro_rules! result_1 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            "vpsrlq ",
            $x6,
            ", ",
            $x2,
            ", 51\n",
            limb!($x1, $x6),
            "vfmadd231pd ",
            $x1,
            ", ",
            $x4,
            ", ",
            c!("down_51"),
            "\n",
            "vmovapd [rdi + ",
            $out,
            " + 32], ",
            $x1,
            "\n",
        )
    };
}

macro_rules! result_0 {
    ($t:literal, $out:literal, $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal $x6:literal) => {
        concat!(
            limb!($x2),
            "vaddpd ",
            $x2,
            ", ",
            $x2,
            ", ",
            $x5,
            "\n",
            "vmovapd [rdi + ",
            $out,
            "], ",
            $x2,
            "\n",
        )
    };
}

/// Before the products. Afterwards, rsp points to ten columns for each vector.
macro_rules! enter {
    () => {
        concat!(
            "mov rax, rdi\n",
            "mov rcx, rsp\n",
            "sub rsp, 640\n",
            "and rsp, -64\n",
            "vmovapd ymm14, ",
            c!("round_51"),
            "\n",
            "vmovapd ymm15, ",
            c!("split"),
            "\n",
        )
    };
}

/// The reduction, after the products.
macro_rules! leave {
    () => {
        concat!(
            "vmovapd ymm14, ",
            c!("r"),
            "\n",
            both!(upper_4),
            both!(upper_3),
            both!(upper_2),
            both!(fold_4),
            both!(upper_1),
            both!(upper_0),
            both!(fold_3),
            both!(fold_2),
            both!(fold_1),
            both!(fold_0),
            both!(above),
            both!(result_4),
            both!(fold_above),
            both!(result_3),
            both!(result_2),
            both!(result_1),
            both!(result_0),
            "mov rsp, rcx\n",
            "vzeroupper\n",
            "ret\n",
        )
    };
}

/// Defines a function that returns an element. The last arguments are the constants that only `$text` reads.
///
/// On entry, rdi is the address of the result, rsi and rdx those of the arguments.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident($($argument:ident),*), $text:expr, $($constant:ident),*) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The CPU must have AVX2 and FMA.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name($($argument: &Element),*) -> Element {
            naked_asm!(
                enter!(),
                $text,
                leave!(),
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

/// The products of a vector.
macro_rules! mul {
    ($a:literal, $t:literal) => {
        concat!(
            load_b!($a),
            row_0!($a, $t),
            row!(1, 6, $a, $t, "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm0"),
            row!(2, 7, $a, $t, "ymm2" "ymm3" "ymm4" "ymm5" "ymm0" "ymm1"),
            row!(3, 8, $a, $t, "ymm3" "ymm4" "ymm5" "ymm0" "ymm1" "ymm2"),
            row_4!($a, $t),
        )
    };
}

/// The squares of a vector.
macro_rules! square {
    ($a:literal, $t:literal) => {
        concat!(pairs!($a), squares!($a, $t))
    };
}

function!(
    /// Returns `a b`.
    mul(a, b),
    concat!(mul!(0, 0), mul!(160, 320)),
    columns
);

function!(
    /// Returns the square of a.
    square(a),
    concat!(square!(0, 0), square!(160, 320)),
    halves,
    diagonal
);
