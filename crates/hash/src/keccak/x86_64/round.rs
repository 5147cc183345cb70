//! One round of Keccak-f\[1600\] as assembly text, for states that are in memory: the schedule of `bmi2` and `avx2_x4`.
//!
//! Written in assembly, because compilers use 80 moves per round to spill the state of general registers.
//!
//! A round reads the 25 lanes of one buffer and writes those of another, and the next round the other way round. Ten
//! registers form two sets of five, whose roles swap every round:
//!
//! | step                         | first set                  | second set                |
//! |------------------------------|----------------------------|---------------------------|
//! | theta, parities              | row 0, then the parities   |                           |
//! | theta, what each column gets | parities                   | their combinations        |
//! | rho, pi, chi of rows 1 to 4  | five lanes of the row      | combinations (read)       |
//! | rho, pi, chi of row 0        | five lanes of the row      | combinations, then row 0  |
//!
//! Row 0 is processed last and stays in registers, where the next round's parities start, so each parity takes four
//! XORs from memory and no load. The fifth and last use of a combination overwrites it.
//!
//! The order of the instructions comes from a search on AMD Zen 3, where others take up to 11 % longer for one state and
//! 6 % for four: a parity is completed just before it is used, and a register gets a lane of the next row as soon as it
//! is free.

/// Chi of the row in `b`, to the lanes `l` through `t`, and the next row (`n`) into the same registers.
macro_rules! row {
    ($op:ident, $to:literal, $t:literal, $b0:literal $b1:literal $b2:literal $b3:literal $b4:literal,
     $l0:literal $l1:literal $l2:literal $l3:literal $l4:literal,
     $n0:expr, $n1:expr, $n2:expr, $n3:expr, $n4:expr) => {
        concat!(
            $op!(chi $to, $l4, $t, $b4, $b0, $b1),
            $op!(chi $to, $l0, $t, $b0, $b1, $b2),
            $op!(chi $to, $l1, $t, $b1, $b2, $b3),
            $n1,
            $op!(chi $to, $l2, $t, $b2, $b3, $b4),
            $n2,
            $op!(chi $to, $l3, $t, $b3, $b4, $b0),
            $n3,
            $n4,
            $n0
        )
    };
}

/// One round from `from` to `to`. Row 0 is in `p` before and in `q` after it; `t` is overwritten. `op` is the macro of
/// the instructions:
///
/// - `parity from, c lane, …`: adds each lane to the parity `c`;
/// - `combine d, before, after`: what column x gets, from the parities x - 1 and x + 1;
/// - `lane from, b, d, lane, rotation`: end of theta and rho of one lane; `last_lane` is for the last use of `d`;
/// - `theta from, b, d, lane`: end of theta of a lane that is not rotated, the last use of `d`;
/// - `chi to, lane, out, b0, b1, b2`: chi of one lane, through `out`; `chi_iota` is for lane 0.
macro_rules! round {
    ($op:ident, $from:literal, $to:literal, $constant:literal, $t:literal,
     $p0:literal $p1:literal $p2:literal $p3:literal $p4:literal,
     $q0:literal $q1:literal $q2:literal $q3:literal $q4:literal) => {
        concat!(
            $op!(parity $from, $p0 5, $p1 6, $p2 7, $p3 8, $p4 9),
            $op!(parity $from, $p0 10, $p1 11, $p2 12, $p3 13, $p4 14),
            $op!(parity $from, $p0 15, $p1 16, $p2 17, $p3 18, $p4 19),
            $op!(parity $from, $p1 21, $p4 24),
            $op!(combine $q0, $p4, $p1),
            $op!(parity $from, $p2 22),
            $op!(combine $q3, $p2, $p4),
            $op!(parity $from, $p0 20),
            $op!(combine $q1, $p0, $p2),
            $op!(parity $from, $p3 23),
            $op!(combine $q2, $p1, $p3),
            $op!(combine $q4, $p3, $p0),
            // row 2
            $op!(lane $from, $p0, $q1, 1, 1),
            $op!(lane $from, $p1, $q2, 7, 6),
            $op!(lane $from, $p2, $q3, 13, 25),
            $op!(lane $from, $p3, $q4, 19, 8),
            $op!(lane $from, $p4, $q0, 20, 18),
            $crate::keccak::x86_64::round::row!(
                $op, $to, $t, $p0 $p1 $p2 $p3 $p4, 10 11 12 13 14,
                // row 1
                $op!(lane $from, $p0, $q3, 3, 28),
                $op!(lane $from, $p1, $q4, 9, 20),
                $op!(lane $from, $p2, $q0, 10, 3),
                $op!(lane $from, $p3, $q1, 16, 45),
                $op!(lane $from, $p4, $q2, 22, 61)
            ),
            $crate::keccak::x86_64::round::row!(
                $op, $to, $t, $p0 $p1 $p2 $p3 $p4, 5 6 7 8 9,
                // row 3
                $op!(lane $from, $p0, $q4, 4, 27),
                $op!(lane $from, $p1, $q0, 5, 36),
                $op!(lane $from, $p2, $q1, 11, 10),
                $op!(lane $from, $p3, $q2, 17, 15),
                $op!(lane $from, $p4, $q3, 23, 56)
            ),
            $crate::keccak::x86_64::round::row!(
                $op, $to, $t, $p0 $p1 $p2 $p3 $p4, 15 16 17 18 19,
                // row 4
                $op!(lane $from, $p0, $q2, 2, 62),
                $op!(lane $from, $p1, $q3, 8, 55),
                $op!(lane $from, $p2, $q4, 14, 39),
                $op!(lane $from, $p3, $q0, 15, 41),
                $op!(lane $from, $p4, $q1, 21, 2)
            ),
            $crate::keccak::x86_64::round::row!(
                $op, $to, $t, $p0 $p1 $p2 $p3 $p4, 20 21 22 23 24,
                // row 0
                $op!(theta $from, $p0, $q0, 0),
                $op!(last_lane $from, $p1, $q1, 6, 44),
                $op!(last_lane $from, $p2, $q2, 12, 43),
                $op!(last_lane $from, $p3, $q3, 18, 21),
                $op!(last_lane $from, $p4, $q4, 24, 14)
            ),
            $op!(chi_iota $to, $q0, $p0, $p1, $p2, $constant),
            $op!(chi $to, 1, $q1, $p1, $p2, $p3),
            $op!(chi $to, 2, $q2, $p2, $p3, $p4),
            $op!(chi $to, 3, $q3, $p3, $p4, $p0),
            $op!(chi $to, 4, $q4, $p4, $p0, $p1)
        )
    };
}

pub(super) use {round, row};
