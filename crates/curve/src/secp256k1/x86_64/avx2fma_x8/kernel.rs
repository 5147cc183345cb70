//! Products and squares of elements, and differences of them, as assembly. The algorithm is that of
//! `docs/internals/eight-lane-field.md`.
//!
//! The compiler orders the additions of a product such that 16 registers do not suffice, and one reduction before the
//! other. A reduction is a long chain of dependent instructions, and the CPU looks ahead by less than its length, so
//! here the instructions of both alternate.
//!
//! The code is short so that a point operation fits in the CPU's cache of decoded instructions: the functions share the
//! reduction and the loops over both vectors that compute columns.
//!
//! A difference has one reduction: columns of the product are added to the negative ones of the subtrahend.
//!
//! Registers: rdi is the address of the result, rsi and rdx are those of the factors, r10 of the columns' initial
//! values, r11 of the columns; r9 is the caller's stack pointer. ymm14 and ymm15 are `round_51` and `split`.
//!
//! Constant time: no address depends on a value, and only the count of vectors is compared.

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
    /// Initial values of the columns of a product, for both vectors.
    product: [Columns; 2],
    /// From which the columns of a subtrahend are subtracted before those of a product are added.
    negative: Columns,
    square: [SquareColumns; 2],
}

/// Numbers added to the columns of a square.
#[derive(Clone, Copy)]
#[repr(C)]
struct SquareColumns {
    /// To columns 1 to 8 before they are doubled.
    halves: [[u64; 4]; 8],
    /// To all after that.
    columns: Columns,
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

/// Returns `factor` times `BIAS`, corrected for this number of products in each column, and the negated constant of the
/// last product's upper part.
const fn corrected(factor: u64, products: [u64; 9]) -> Columns {
    let mut all = [[0; 4]; 10];
    let mut k = 0;
    while k < 9 {
        let below = if k == 0 { 0 } else { products[k - 1] };
        let start = factor.wrapping_mul(BIAS[k]);
        all[k] = [start.wrapping_add(correction(products[k], below)); 4];
        k += 1;
    }
    all[9] = [(-ROUND_51).to_bits(); 4];
    all
}

static CONSTANTS: Constants = {
    let exponent = power(52);
    let [_, halves @ .., _] = corrected(0, [0, 1, 1, 2, 2, 2, 1, 1, 0]);
    let columns = corrected(1, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
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
        carry: [exponent + (POSITIVE >> BITS) as f64; 4],
        top_carry: [exponent + (POSITIVE >> (BITS + 1)) as f64; 4],
        product: [corrected(1, [1, 2, 3, 4, 5, 4, 3, 2, 1]); 2],
        negative: corrected(2, [1, 2, 3, 4, 5, 4, 3, 2, 1]),
        square: [SquareColumns { halves, columns }; 2],
    }
};

/// The vectors of a product before its reduction: columns 0 to 8, and the upper part of the product of the top limbs, a
/// number in floating point.
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

/// The address of limb `$k` of the first or the second factor, or of the initial or the computed value of column `$k`.
macro_rules! at {
    (a $k:tt) => {
        concat!("[rsi + 32 * ", $k, "]")
    };
    (b $k:tt) => {
        concat!("[rdx + 32 * ", $k, "]")
    };
    (initial $k:tt) => {
        concat!("[r10 + 32 * ", $k, "]")
    };
    (column $k:tt) => {
        concat!("[r11 + 32 * ", $k, "]")
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

/// Multiplies ymm8, a limb of the first factor, by `$b`: `$low` becomes the lower part plus `$low_sum`, `$high` the
/// upper part plus `$high_sum`, each with its constant. ymm9 becomes the upper part alone, ymm10 is overwritten.
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
    ($i:tt, $c0:literal $c1:literal $c2:literal $c3:literal $c4:literal $c5:literal, $next:literal) => {
        concat!(
            i!("vmovapd" "ymm8", at!(a $i)),
            multiply!("ymm6", $c0 = $c0, $c1 = $c1),
            multiply!("ymm7", $c1 = $c1, $c2 = $c2),
            multiply!("ymm11", $c2 = $c2, $c3 = $c3),
            multiply!("ymm12", $c3 = $c3, $c4 = $c4),
            multiply!("ymm13", $c4 = $c4, $c5 = at!(initial $next)),
            i!("vmovdqa" at!(column $i), $c0),
        )
    };
}

/// The columns of a product. Six are in registers at a time: column k in ymm0 to ymm5, at k modulo 6. Then rdx is the
/// address of the second factor's next vector.
macro_rules! product {
    () => {
        concat!(
            i!("vmovapd" "ymm6", at!(b 0)),
            i!("vmovapd" "ymm7", at!(b 1)),
            i!("vmovapd" "ymm11", at!(b 2)),
            i!("vmovapd" "ymm12", at!(b 3)),
            i!("vmovapd" "ymm13", at!(b 4)),
            i!("vmovapd" "ymm8", at!(a 0)),
            multiply!("ymm6", "ymm0" = at!(initial 0), "ymm1" = at!(initial 1)),
            multiply!("ymm7", "ymm1" = "ymm1", "ymm2" = at!(initial 2)),
            multiply!("ymm11", "ymm2" = "ymm2", "ymm3" = at!(initial 3)),
            multiply!("ymm12", "ymm3" = "ymm3", "ymm4" = at!(initial 4)),
            multiply!("ymm13", "ymm4" = "ymm4", "ymm5" = at!(initial 5)),
            i!("vmovdqa" at!(column 0), "ymm0"),
            row!(1, "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm0", 6),
            row!(2, "ymm2" "ymm3" "ymm4" "ymm5" "ymm0" "ymm1", 7),
            row!(3, "ymm3" "ymm4" "ymm5" "ymm0" "ymm1" "ymm2", 8),
            i!("vmovapd" "ymm8", at!(a 4)),
            multiply!("ymm6", "ymm4" = "ymm4", "ymm5" = "ymm5"),
            multiply!("ymm7", "ymm5" = "ymm5", "ymm0" = "ymm0"),
            multiply!("ymm11", "ymm0" = "ymm0", "ymm1" = "ymm1"),
            multiply!("ymm12", "ymm1" = "ymm1", "ymm2" = "ymm2"),
            multiply!("ymm13", "ymm2" = "ymm2"),
            i!("vaddpd" "ymm9", "ymm9", at!(initial 9)),
            i!("vmovdqa" at!(column 4), "ymm4"),
            i!("vmovdqa" at!(column 5), "ymm5"),
            i!("vmovdqa" at!(column 6), "ymm0"),
            i!("vmovdqa" at!(column 7), "ymm1"),
            i!("vmovdqa" at!(column 8), "ymm2"),
            i!("vmovapd" at!(column 9), "ymm9"),
            i!("add" "rdx", "160"),
        )
    };
}

/// The address of what is added to column `$k` of a square after it is doubled.
macro_rules! added {
    ($k:tt) => {
        concat!("[r10 + 32 * (8 + ", $k, ")]")
    };
}

/// Completes and stores a column of a square.
macro_rules! store_column {
    ($k:tt, $column:literal) => {
        concat!(
            i!("vpaddq" $column, $column, added!($k)),
            i!("vmovdqa" at!(column $k), $column),
        )
    };
}

/// The columns of a square: 1 to 8 in ymm0 to ymm7, first with the products of two different limbs, each once.
macro_rules! square {
    () => {
        concat!(
            i!("vmovapd" "ymm8", at!(a 0)),
            multiply!(at!(a 1), "ymm0" = at!(initial 0), "ymm1" = at!(initial 1)),
            multiply!(at!(a 2), "ymm1" = "ymm1", "ymm2" = at!(initial 2)),
            multiply!(at!(a 3), "ymm2" = "ymm2", "ymm3" = at!(initial 3)),
            multiply!(at!(a 4), "ymm3" = "ymm3", "ymm4" = at!(initial 4)),
            i!("vmovapd" "ymm8", at!(a 1)),
            multiply!(at!(a 2), "ymm2" = "ymm2", "ymm3" = "ymm3"),
            multiply!(at!(a 3), "ymm3" = "ymm3", "ymm4" = "ymm4"),
            multiply!(at!(a 4), "ymm4" = "ymm4", "ymm5" = at!(initial 5)),
            i!("vmovapd" "ymm8", at!(a 2)),
            multiply!(at!(a 3), "ymm4" = "ymm4", "ymm5" = "ymm5"),
            multiply!(at!(a 4), "ymm5" = "ymm5", "ymm6" = at!(initial 6)),
            i!("vmovapd" "ymm8", at!(a 3)),
            multiply!(at!(a 4), "ymm6" = "ymm6", "ymm7" = at!(initial 7)),
            i!("vpaddq" "ymm0", "ymm0", "ymm0"),
            i!("vpaddq" "ymm1", "ymm1", "ymm1"),
            i!("vpaddq" "ymm2", "ymm2", "ymm2"),
            i!("vpaddq" "ymm3", "ymm3", "ymm3"),
            i!("vpaddq" "ymm4", "ymm4", "ymm4"),
            i!("vpaddq" "ymm5", "ymm5", "ymm5"),
            i!("vpaddq" "ymm6", "ymm6", "ymm6"),
            i!("vpaddq" "ymm7", "ymm7", "ymm7"),
            i!("vmovapd" "ymm8", at!(a 0)),
            multiply!("ymm8", "ymm11" = added!(0), "ymm0" = "ymm0"),
            i!("vmovapd" "ymm8", at!(a 1)),
            multiply!("ymm8", "ymm1" = "ymm1", "ymm2" = "ymm2"),
            i!("vmovapd" "ymm8", at!(a 2)),
            multiply!("ymm8", "ymm3" = "ymm3", "ymm4" = "ymm4"),
            i!("vmovdqa" at!(column 0), "ymm11"),
            store_column!(1, "ymm0"),
            store_column!(2, "ymm1"),
            store_column!(3, "ymm2"),
            i!("vmovapd" "ymm8", at!(a 3)),
            multiply!("ymm8", "ymm5" = "ymm5", "ymm6" = "ymm6"),
            i!("vmovapd" "ymm8", at!(a 4)),
            multiply!("ymm8", "ymm7" = "ymm7"),
            i!("vaddpd" "ymm9", "ymm9", added!(9)),
            store_column!(4, "ymm3"),
            store_column!(5, "ymm4"),
            store_column!(6, "ymm5"),
            store_column!(7, "ymm6"),
            store_column!(8, "ymm7"),
            i!("vmovapd" at!(column 9), "ymm9"),
        )
    };
}

/// Columns of the constant `negative` minus the computed ones.
macro_rules! negate {
    ($subtract:literal $($k:literal)*) => {
        concat!($(
            i!("vmovdqa" "ymm0", c!("negative" $k)),
            i!($subtract "ymm0", "ymm0", at!(column $k)),
            i!("vmovdqa" at!(column $k), "ymm0"),
        )*)
    };
}

/// The address of an entry of the [`Columns`] of a vector, for the reduction.
macro_rules! t {
    (0 $k:tt) => {
        concat!("[rsp + 32 * ", $k, "]")
    };
    (1 $k:tt) => {
        concat!("[rsp + 320 + 32 * ", $k, "]")
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

/// The reduction of both vectors.
macro_rules! reduction {
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

/// Defines a function that executes instructions for both vectors. Their columns follow one another, as do the factors
/// and the initial values, which have `$initial_size` bytes.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident, $instructions:expr, $initial_size:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name() {
            naked_asm!(
                "mov eax, 2",
                "2:",
                $instructions,
                "add rsi, 160",
                "add r10, {initial_size}",
                "add r11, {columns_size}",
                "dec eax",
                "jnz 2b",
                "ret",
                initial_size = const $initial_size,
                columns_size = const size_of::<Columns>(),
            )
        }
    };
}

columns!(
    /// Adds the products to the initial values.
    product_columns, product!(), size_of::<Columns>()
);

columns!(
    /// Adds the squares to the initial values, [`SquareColumns`].
    square_columns, square!(), size_of::<SquareColumns>()
);

/// Subtracts the columns, of which rsp + 8 is the address, from [`Constants::negative`]. They become initial values.
#[unsafe(naked)]
unsafe extern "sysv64" fn negate_columns() {
    naked_asm!(
        "lea r10, [rsp + 8]",
        "mov r11, r10",
        "mov eax, 2",
        "2:",
        negate!("vpsubq" 0 1 2 3 4 5 6 7 8),
        negate!("vsubpd" 9),
        "add r11, {columns_size}",
        "dec eax",
        "jnz 2b",
        "mov r11, r10",
        "ret",
        columns_size = const size_of::<Columns>(),
        constants = sym CONSTANTS,
        negative = const offset_of!(Constants, negative),
    )
}

/// Reduces the columns at rsp and returns from the function that jumped here.
#[unsafe(naked)]
unsafe extern "sysv64" fn reduce() {
    naked_asm!(
        reduction!(),
        "mov rsp, r9",
        "vzeroupper",
        "ret",
        constants = sym CONSTANTS,
        round_51 = const offset_of!(Constants, round_51),
        round_52 = const offset_of!(Constants, round_52),
        round = const offset_of!(Constants, round),
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

/// Defines a function that writes its result to `out`. `$initial` is the constant with the first initial values, and
/// `$first` computes the first columns.
///
/// The compiler copies results that a function returns, so these write them to their place.
macro_rules! function {
    (
        $(#[$doc:meta])*
        $name:ident($($factor:ident),*), $initial:ident $first:ident
        $(, [$($rest:tt)*] $($part:ident)*)?
    ) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The CPU must have AVX2 and FMA. `out` must be valid for writes, the others for reads; they may be equal.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name(
            out: *mut Element,
            $($factor: *const Element),*
        ) {
            naked_asm!(
                "mov r9, rsp",
                "sub rsp, {size}",
                "and rsp, -64",
                "mov r11, rsp",
                "lea r10, [rip + {constants} + {initial}]",
                i!("vmovapd" "ymm14", c!("round_51")),
                i!("vmovapd" "ymm15", c!("split")),
                "call {first}",
                $($($rest)*)?
                "jmp {reduce}",
                size = const size_of::<[Columns; 2]>(),
                constants = sym CONSTANTS,
                initial = const offset_of!(Constants, $initial),
                round_51 = const offset_of!(Constants, round_51),
                split = const offset_of!(Constants, split),
                first = sym $first,
                $($($part = sym $part,)*)?
                reduce = sym reduce,
            )
        }
    };
}

function!(
    /// `a b`
    mul(a, b), product product_columns
);

function!(
    /// `a^2`
    square(a), square square_columns
);

function!(
    /// `c d - a b`
    difference_of_products(a, b, c, d), product product_columns,
    [
        "call {negate_columns}",
        "mov rsi, rcx",
        "mov rdx, r8",
        "call {product_columns}",
    ]
    negate_columns product_columns
);

function!(
    /// `b c - a^2`
    product_minus_square(a, b, c), square square_columns,
    [
        "call {negate_columns}",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "call {product_columns}",
    ]
    negate_columns product_columns
);
