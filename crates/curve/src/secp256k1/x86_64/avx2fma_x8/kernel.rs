//! Products and squares of elements, and their differences with elements, as assembly. The algorithm and its bounds
//! are those of `docs/internals/eight-lane-field.md`.
//!
//! The compiler orders the additions of a product such that 16 registers do not suffice.
//!
//! A reduction is a chain of dependent instructions that is longer than the CPU looks ahead, so there the instructions
//! of both vectors alternate. Those of the columns depend less on one another: a loop computes one vector after the
//! other.
//!
//! The code is short so that a point operation fits in the CPU's cache of decoded instructions: all functions share the
//! reduction.
//!
//! Registers: rdi is the address of the result, rsi, rdx, and rcx are those of the operands, r11 that of the columns;
//! r9 is the caller's stack pointer, and eax counts vectors. ymm15 is `round_51`.
//!
//! Constant time: no address depends on a value, and only the count of vectors is compared.

use core::{arch::naked_asm, mem::offset_of};

use super::element::{BITS, Element, R_MOD_P, ROUND_51, ROUND_52, power};

/// The numbers that the instructions read, each in all lanes.
#[repr(C, align(32))]
struct Constants {
    /// [`ROUND_51`], and more than the sum of a column's products may be below -2^102.
    round_51: [f64; 4],
    round_52: [f64; 4],
    r: [f64; 4],
    /// `R_MOD_P * 2^-52`
    r_down_52: [f64; 4],
    /// 2^-51 and 2^-52.
    down_51: [f64; 4],
    down_52: [f64; 4],
    two: [f64; 4],
}

static CONSTANTS: Constants = Constants {
    round_51: [ROUND_51 + power(90); 4],
    round_52: [ROUND_52; 4],
    r: [R_MOD_P; 4],
    r_down_52: [R_MOD_P * power(-BITS - 1); 4],
    down_51: [power(-BITS); 4],
    down_52: [power(-BITS - 1); 4],
    two: [2.0; 4],
};

/// Columns 0 to 5 of a vector, and limbs 1 to 4 of its folded columns, 6 to 9.
type Columns = [[f64; 4]; 10];

/// An instruction and its operands.
macro_rules! i {
    ($name:literal $first:expr $(, $operand:expr)*) => {
        concat!($name, " ", $first $(, ", ", $operand)*, "\n")
    };
}

/// The address of a constant.
macro_rules! c {
    ($name:literal) => {
        concat!("[rip + {constants} + {", $name, "}]")
    };
}

/// An address in vector `$v`: of limb `$k` of an operand or the result, of column `$k`, or of limb `$k` of the folded
/// columns.
macro_rules! at {
    (a $v:tt $k:tt) => {
        concat!("[rsi + 160 * ", $v, " + 32 * ", $k, "]")
    };
    (b $v:tt $k:tt) => {
        concat!("[rdx + 160 * ", $v, " + 32 * ", $k, "]")
    };
    (c $v:tt $k:tt) => {
        concat!("[rcx + 160 * ", $v, " + 32 * ", $k, "]")
    };
    (result $v:tt $k:tt) => {
        concat!("[rdi + 160 * ", $v, " + 32 * ", $k, "]")
    };
    (column $v:tt $k:tt) => {
        concat!("[r11 + 320 * ", $v, " + 32 * ", $k, "]")
    };
    (folded $v:tt $k:tt) => {
        concat!("[r11 + 320 * ", $v, " + 32 * (5 + ", $k, ")]")
    };
}

/// The register of the upper part of column `$k`: the sum of its products, rounded to a multiple of 2^51, plus
/// `round_51`.
macro_rules! upper {
    (0) => {
        "ymm0"
    };
    (1) => {
        "ymm1"
    };
    (2) => {
        "ymm2"
    };
    (3) => {
        "ymm3"
    };
    (4) => {
        "ymm4"
    };
    (5) => {
        "ymm0"
    };
    (6) => {
        "ymm1"
    };
    (7) => {
        "ymm2"
    };
    (8) => {
        "ymm3"
    };
}

/// The register of the lower part of column `$k`: the rests of its products, and the upper part of the column below.
macro_rules! lower {
    (0) => {
        "ymm5"
    };
    (1) => {
        "ymm6"
    };
    (2) => {
        "ymm7"
    };
    (3) => {
        "ymm8"
    };
    (4) => {
        "ymm9"
    };
    (5) => {
        "ymm10"
    };
    (6) => {
        "ymm11"
    };
    (7) => {
        "ymm5"
    };
    (8) => {
        "ymm6"
    };
    (9) => {
        "ymm7"
    };
}

/// Begins column `$k` with ymm14, a limb of the first factor, times `$b`.
macro_rules! first {
    ($k:tt, $b:expr) => {
        concat!(
            i!("vmovapd" upper!($k), "ymm15"),
            i!("vfmadd231pd" upper!($k), "ymm14", $b),
            i!("vsubpd" lower!($k), "ymm15", upper!($k)),
            i!("vfmadd231pd" lower!($k), "ymm14", $b),
        )
    };
}

/// Adds ymm14 times `$b` to column `$k`, whose upper part was carried.
macro_rules! again {
    ($k:tt, $b:expr) => {
        concat!(
            i!("vmovapd" upper!($k), "ymm15"),
            i!("vfmadd231pd" upper!($k), "ymm14", $b),
            i!("vsubpd" "ymm13", "ymm15", upper!($k)),
            i!("vfmadd231pd" "ymm13", "ymm14", $b),
            i!("vaddpd" lower!($k), lower!($k), "ymm13"),
        )
    };
}

/// Adds ymm14 times `$b` to column `$k`.
macro_rules! next {
    ($k:tt, $b:expr) => {
        concat!(
            i!("vmovapd" "ymm13", upper!($k)),
            i!("vfmadd231pd" upper!($k), "ymm14", $b),
            i!("vsubpd" "ymm13", "ymm13", upper!($k)),
            i!("vfmadd231pd" "ymm13", "ymm14", $b),
            i!("vaddpd" lower!($k), lower!($k), "ymm13"),
        )
    };
}

/// Carries the upper part of column `$k` to column `$above`.
macro_rules! carry {
    ($k:tt $above:tt) => {
        concat!(
            i!("vsubpd" upper!($k), upper!($k), "ymm15"),
            i!("vfmadd231pd" lower!($above), upper!($k), "ymm12"),
        )
    };
}

/// Column 9 is the upper part of column 8.
macro_rules! carry_8 {
    () => {
        concat!(
            i!("vsubpd" upper!(8), upper!(8), "ymm15"),
            i!("vmulpd" lower!(9), upper!(8), "ymm12"),
        )
    };
}

/// Folds column `$k`: multiplies it by `r`. The part of the product above its limb is added to the next limb, in the
/// register of `$above`; for column 9, whose limb has 52 bits, to column 5.
macro_rules! fold {
    (9 5) => {
        fold!(9, c!("round_52"), 5, c!("down_52"))
    };
    ($k:tt $above:tt) => {
        fold!($k, "ymm15", $above, "ymm12")
    };
    ($k:tt, $round:expr, $above:tt, $down:expr) => {
        concat!(
            i!("vmovapd" "ymm13", $round),
            i!("vfmadd231pd" "ymm13", lower!($k), c!("r")),
            i!("vsubpd" "ymm13", "ymm13", $round),
            i!("vfmsub132pd" lower!($k), "ymm13", c!("r")),
            i!("vfmadd231pd" lower!($above), "ymm13", $down),
        )
    };
}

/// Stores column `$k`, or the limb of the folded columns that is in its register.
macro_rules! store {
    ($k:tt, $place:ident $at:tt) => {
        i!("vmovapd" at!($place 0 $at), lower!($k))
    };
}

/// Carries the upper part of column `$k` to column `$above`, which is complete then, and is stored.
macro_rules! last_carry {
    ($k:tt $above:tt) => {
        concat!(carry!($k $above), store!($above, column $above))
    };
}

/// The columns of a product, highest first. Columns 6 to 9 are folded.
macro_rules! product {
    () => {
        concat!(
            i!("vmovapd" "ymm14", at!(a 0 4)),
            first!(8, at!(b 0 4)),
            first!(7, at!(b 0 3)),
            first!(6, at!(b 0 2)),
            first!(5, at!(b 0 1)),
            first!(4, at!(b 0 0)),
            carry_8!(),
            i!("vmovapd" "ymm14", at!(a 0 3)),
            next!(7, at!(b 0 4)),
            next!(6, at!(b 0 3)),
            next!(5, at!(b 0 2)),
            next!(4, at!(b 0 1)),
            first!(3, at!(b 0 0)),
            carry!(7 8),
            carry!(6 7),
            carry!(5 6),
            carry!(4 5),
            fold!(9 5),
            fold!(8 9),
            store!(9, folded 4),
            i!("vmovapd" "ymm14", at!(a 0 2)),
            again!(6, at!(b 0 4)),
            again!(5, at!(b 0 3)),
            again!(4, at!(b 0 2)),
            next!(3, at!(b 0 1)),
            first!(2, at!(b 0 0)),
            carry!(6 7),
            fold!(7 8),
            store!(8, folded 3),
            i!("vmovapd" "ymm14", at!(a 0 1)),
            next!(5, at!(b 0 4)),
            next!(4, at!(b 0 3)),
            next!(3, at!(b 0 2)),
            next!(2, at!(b 0 1)),
            first!(1, at!(b 0 0)),
            carry!(5 6),
            carry!(4 5),
            fold!(6 7),
            store!(7, folded 2),
            i!("vmovapd" "ymm14", at!(a 0 0)),
            again!(4, at!(b 0 4)),
            next!(3, at!(b 0 3)),
            next!(2, at!(b 0 2)),
            next!(1, at!(b 0 1)),
            first!(0, at!(b 0 0)),
            store!(6, folded 1),
            last_carry!(4 5),
            last_carry!(3 4),
            last_carry!(2 3),
            last_carry!(1 2),
            last_carry!(0 1),
            store!(0, column 0),
            i!("add" "rdx", "160"),
        )
    };
}

/// The same for a square. A limb is doubled for its products by other limbs.
macro_rules! square {
    () => {
        concat!(
            i!("vmovapd" "ymm14", at!(a 0 4)),
            first!(8, "ymm14"),
            i!("vaddpd" "ymm14", "ymm14", "ymm14"),
            first!(7, at!(a 0 3)),
            first!(6, at!(a 0 2)),
            first!(5, at!(a 0 1)),
            first!(4, at!(a 0 0)),
            carry_8!(),
            carry!(7 8),
            carry!(6 7),
            carry!(5 6),
            carry!(4 5),
            i!("vmovapd" "ymm14", at!(a 0 3)),
            again!(6, "ymm14"),
            i!("vaddpd" "ymm14", "ymm14", "ymm14"),
            again!(5, at!(a 0 2)),
            again!(4, at!(a 0 1)),
            first!(3, at!(a 0 0)),
            fold!(9 5),
            fold!(8 9),
            store!(9, folded 4),
            carry!(6 7),
            carry!(5 6),
            i!("vmovapd" "ymm14", at!(a 0 2)),
            next!(4, "ymm14"),
            i!("vaddpd" "ymm14", "ymm14", "ymm14"),
            next!(3, at!(a 0 1)),
            first!(2, at!(a 0 0)),
            fold!(7 8),
            store!(8, folded 3),
            fold!(6 7),
            store!(7, folded 2),
            store!(6, folded 1),
            last_carry!(4 5),
            last_carry!(3 4),
            i!("vmovapd" "ymm14", at!(a 0 1)),
            next!(2, "ymm14"),
            i!("vaddpd" "ymm14", "ymm14", "ymm14"),
            first!(1, at!(a 0 0)),
            i!("vmovapd" "ymm14", at!(a 0 0)),
            first!(0, "ymm14"),
            last_carry!(2 3),
            last_carry!(1 2),
            last_carry!(0 1),
            store!(0, column 0),
        )
    };
}

/// The register of limb `$k` of the sum, or for 5 and 6 of a temporary value.
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

/// A step for both vectors.
macro_rules! both {
    ($step:ident $($argument:tt)*) => {
        concat!($step!(0 $($argument)*), $step!(1 $($argument)*))
    };
}

/// The limbs of the folded columns, after column 5 is folded too.
macro_rules! fold_5 {
    ($v:tt) => {
        concat!(
            i!("vmovapd" x!($v 0), at!(column $v 5)),
            i!("vmovapd" x!($v 5), "ymm15"),
            i!("vfmadd231pd" x!($v 5), x!($v 0), c!("r")),
            i!("vmovapd" x!($v 4), at!(folded $v 4)),
            i!("vmovapd" x!($v 3), at!(folded $v 3)),
            i!("vmovapd" x!($v 2), at!(folded $v 2)),
            i!("vmovapd" x!($v 1), at!(folded $v 1)),
            i!("vsubpd" x!($v 5), x!($v 5), "ymm15"),
            i!("vfmsub132pd" x!($v 0), x!($v 5), c!("r")),
            i!("vfmadd231pd" x!($v 1), x!($v 5), c!("down_51")),
        )
    };
}

/// Adds twice column `$k` to limb `$k`, and carries to `$above`, times `$down`. `$round` rounds the sum to the carry.
/// The sum may be too large to be exact, but the rest is exact.
macro_rules! add_high {
    ($v:tt $k:tt, $round:expr, $above:tt $down:literal) => {
        concat!(
            i!("vmovapd" x!($v 5), at!(column $v $k)),
            i!("vmovapd" x!($v 6), x!($v $k)),
            i!("vfmadd231pd" x!($v 6), x!($v 5), "ymm14"),
            i!("vaddpd" x!($v 6), x!($v 6), $round),
            i!("vsubpd" x!($v 6), x!($v 6), $round),
            i!("vfmsub132pd" x!($v 5), x!($v 6), "ymm14"),
            i!("vaddpd" x!($v $k), x!($v $k), x!($v 5)),
            i!("vfmadd231pd" x!($v $above), x!($v 6), c!($down)),
        )
    };
}

/// The same for columns 0 and 1, for which the sum is exact.
macro_rules! add_low {
    ($v:tt $k:tt $above:tt) => {
        concat!(
            i!("vfmadd231pd" x!($v $k), "ymm14", at!(column $v $k)),
            i!("vaddpd" x!($v 5), x!($v $k), "ymm15"),
            i!("vsubpd" x!($v 5), x!($v 5), "ymm15"),
            i!("vsubpd" x!($v $k), x!($v $k), x!($v 5)),
            i!("vfmadd231pd" x!($v $above), x!($v 5), c!("down_51")),
        )
    };
}

macro_rules! write_result {
    ($v:tt) => {
        concat!(
            i!("vmovapd" at!(result $v 4), x!($v 4)),
            i!("vmovapd" at!(result $v 3), x!($v 3)),
            i!("vmovapd" at!(result $v 2), x!($v 2)),
            i!("vmovapd" at!(result $v 1), x!($v 1)),
            i!("vmovapd" at!(result $v 0), x!($v 0)),
        )
    };
}

/// Subtracts the third operand.
macro_rules! subtract {
    ($v:tt) => {
        concat!(
            i!("vsubpd" x!($v 0), x!($v 0), at!(c $v 0)),
            i!("vsubpd" x!($v 1), x!($v 1), at!(c $v 1)),
            i!("vsubpd" x!($v 2), x!($v 2), at!(c $v 2)),
            i!("vsubpd" x!($v 3), x!($v 3), at!(c $v 3)),
            i!("vsubpd" x!($v 4), x!($v 4), at!(c $v 4)),
        )
    };
}

/// Subtracts twice the second operand.
macro_rules! subtract_twice {
    ($v:tt) => {
        concat!(
            i!("vfnmadd231pd" x!($v 0), "ymm14", at!(b $v 0)),
            i!("vfnmadd231pd" x!($v 1), "ymm14", at!(b $v 1)),
            i!("vfnmadd231pd" x!($v 2), "ymm14", at!(b $v 2)),
            i!("vfnmadd231pd" x!($v 3), "ymm14", at!(b $v 3)),
            i!("vfnmadd231pd" x!($v 4), "ymm14", at!(b $v 4)),
        )
    };
}

/// Defines a function that computes the columns of both vectors.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident, $instructions:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name() {
            naked_asm!(
                i!("vmovapd" "ymm12", c!("down_51")),
                i!("vmovapd" "ymm15", c!("round_51")),
                "mov eax, 2",
                "2:",
                $instructions,
                "add rsi, 160",
                "add r11, {size}",
                "dec eax",
                "jnz 2b",
                "lea r11, [rsp + 8]",
                "ret",
                size = const size_of::<Columns>(),
                constants = sym CONSTANTS,
                round_51 = const offset_of!(Constants, round_51),
                round_52 = const offset_of!(Constants, round_52),
                r = const offset_of!(Constants, r),
                down_51 = const offset_of!(Constants, down_51),
                down_52 = const offset_of!(Constants, down_52),
            )
        }
    };
}

columns!(
    /// Of products.
    product_columns, product!()
);

columns!(
    /// Of squares.
    square_columns, square!()
);

/// Folds the upper columns.
#[unsafe(naked)]
unsafe extern "sysv64" fn fold() {
    naked_asm!(
        i!("vmovapd" "ymm14", c!("two")),
        both!(fold_5),
        "ret",
        constants = sym CONSTANTS,
        r = const offset_of!(Constants, r),
        down_51 = const offset_of!(Constants, down_51),
        two = const offset_of!(Constants, two),
    )
}

/// Adds the lower columns, writes the result, and returns from the function that jumped here.
#[unsafe(naked)]
unsafe extern "sysv64" fn finish() {
    naked_asm!(
        both!(add_high 4, c!("round_52"), 0 "r_down_52"),
        both!(add_high 3, "ymm15", 4 "down_51"),
        both!(add_high 2, "ymm15", 3 "down_51"),
        both!(add_low 1 2),
        both!(add_low 0 1),
        both!(write_result),
        "mov rsp, r9",
        "vzeroupper",
        "ret",
        constants = sym CONSTANTS,
        round_52 = const offset_of!(Constants, round_52),
        r_down_52 = const offset_of!(Constants, r_down_52),
        down_51 = const offset_of!(Constants, down_51),
    )
}

/// Defines a function that writes its result to `out`. `$columns` computes the columns of a product or a square, and
/// `$rest` changes the limbs of the folded columns.
///
/// The compiler copies results that a function returns, so these write them to their place.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident($($operand:ident),*), $columns:ident $($rest:expr)?) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The CPU must have AVX2 and FMA. `out` must be valid for writes, the others for reads; they may be equal.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $name(
            out: *mut Element,
            $($operand: *const Element),*
        ) {
            naked_asm!(
                "mov r9, rsp",
                "sub rsp, {size}",
                "and rsp, -64",
                "mov r11, rsp",
                "call {columns}",
                "call {fold}",
                $($rest,)?
                "jmp {finish}",
                size = const size_of::<[Columns; 2]>(),
                columns = sym $columns,
                fold = sym fold,
                finish = sym finish,
            )
        }
    };
}

function!(
    /// `a b`
    mul(a, b), product_columns
);

function!(
    /// `a^2`
    square(a), square_columns
);

function!(
    /// `a b - c`
    mul_sub(a, b, c), product_columns both!(subtract)
);

function!(
    /// `a^2 - 2 b`
    square_minus_twice(a, b), square_columns both!(subtract_twice)
);
