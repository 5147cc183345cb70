//! One Keccak-f\[1600\] in the general registers, with BMI1 `andn` and BMI2 `rorx`.
//!
//! Written in assembly for two reasons: compilers use 80 moves per round to spill the state (10 % of the time), and if
//! a build enables AVX-512, LLVM vectorises the scalar Rust rounds and makes them twice as slow.
//!
//! Schedule: a round reads the 25 lanes of one buffer and writes those of another, alternating between `rdi`, the
//! caller's state, and `rsp`. Ten registers form two sets of five, whose roles swap every round:
//!
//! | step                         | first set                  | second set                |
//! |------------------------------|----------------------------|---------------------------|
//! | theta, parities              | row 0, then the parities   |                           |
//! | theta, what each column gets | parities                   | their combinations        |
//! | rho, pi, chi of rows 1 to 4  | five lanes of the row      | combinations (read)       |
//! | rho, pi, chi of row 0        | five lanes of the row      | combinations, then row 0  |
//!
//! Row 0 is processed last and stays in registers, where the next round's parities start, so each parity takes four
//! XORs from memory and no load. The fifth and last use of a combination overwrites it, which saves a move. A round has
//! 177 instructions, of which 130 compute; four can start in a cycle.
//!
//! The order of the instructions comes from a search on AMD Zen 3, where others take up to a tenth longer: a parity is
//! completed just before it is used, and a register gets a lane of the next row as soon as it is free. Constant time: no
//! branch or address depends on the lanes.

use super::super::State;
use super::super::portable::ROUND_CONSTANTS;

/// The round constants, ending at a multiple of 256 bytes: the low byte of the pointer is zero at the end.
#[repr(align(256))]
struct Constants([u64; 32]);

static CONSTANTS: Constants = {
    let mut words = [0; 32];
    let mut round = 0;
    while round < 24 {
        words[8 + round] = ROUND_CONSTANTS[round];
        round += 1;
    }
    Constants(words)
};

/// Adds lanes of one row to the parities of their columns.
macro_rules! parities {
    ($from:literal, $($c:literal $lane:literal),*) => {
        concat!($("xor ", $c, ", [", $from, " + 8*", $lane, "]\n"),*)
    };
}

/// Computes the value for column `x`: parity `x - 1` XOR the rotated parity `x + 1`.
macro_rules! combine {
    ($d:literal, $before:literal, $after:literal) => {
        concat!(
            "rorx ", $d, ", ", $after, ", 63\n", "xor ", $d, ", ", $before, "\n"
        )
    };
}

/// End of theta and rho of one lane.
macro_rules! lane {
    ($from:literal, $b:literal, $d:literal, $lane:literal, $rotation:literal) => {
        concat!(
            "mov ", $b, ", [", $from, " + 8*", $lane, "]\n", "xor ", $b, ", ", $d, "\n", "rorx ",
            $b, ", ", $b, ", 64-", $rotation, "\n"
        )
    };
}

/// Like `lane`, for the last use of `d`.
macro_rules! last_lane {
    ($from:literal, $b:literal, $d:literal, $lane:literal, $rotation:literal) => {
        concat!(
            "xor ", $d, ", [", $from, " + 8*", $lane, "]\n", "rorx ", $b, ", ", $d, ", 64-",
            $rotation, "\n"
        )
    };
}

/// Chi of one lane, stored from the register `out`.
macro_rules! chi {
    ($to:literal, $lane:literal, $out:literal, $b0:literal, $b1:literal, $b2:literal) => {
        concat!(
            "andn ", $out, ", ", $b1, ", ", $b2, "\n", "xor ", $out, ", ", $b0, "\n", "mov [", $to,
            " + 8*", $lane, "], ", $out, "\n"
        )
    };
}

/// Chi of the row in `b`, to the lanes `l`, and the next row (`n`) into the same registers.
macro_rules! row {
    ($to:literal, $b0:literal $b1:literal $b2:literal $b3:literal $b4:literal,
     $l0:literal $l1:literal $l2:literal $l3:literal $l4:literal,
     $n0:expr, $n1:expr, $n2:expr, $n3:expr, $n4:expr) => {
        concat!(
            chi!($to, $l4, "r14", $b4, $b0, $b1),
            chi!($to, $l0, "r14", $b0, $b1, $b2),
            chi!($to, $l1, "r14", $b1, $b2, $b3),
            $n1,
            chi!($to, $l2, "r14", $b2, $b3, $b4),
            $n2,
            chi!($to, $l3, "r14", $b3, $b4, $b0),
            $n3,
            $n4,
            $n0
        )
    };
}

/// One round from `from` to `to`. Row 0 is in `p` before and in `q` after it.
macro_rules! round {
    ($from:literal, $to:literal, $constant:literal,
     $p0:literal $p1:literal $p2:literal $p3:literal $p4:literal,
     $q0:literal $q1:literal $q2:literal $q3:literal $q4:literal) => {
        concat!(
            parities!($from, $p0 5, $p1 6, $p2 7, $p3 8, $p4 9),
            parities!($from, $p0 10, $p1 11, $p2 12, $p3 13, $p4 14),
            parities!($from, $p0 15, $p1 16, $p2 17, $p3 18, $p4 19),
            parities!($from, $p1 21, $p4 24),
            combine!($q0, $p4, $p1),
            parities!($from, $p2 22),
            combine!($q3, $p2, $p4),
            parities!($from, $p0 20),
            combine!($q1, $p0, $p2),
            parities!($from, $p3 23),
            combine!($q2, $p1, $p3),
            combine!($q4, $p3, $p0),
            // row 2
            lane!($from, $p0, $q1, 1, 1),
            lane!($from, $p1, $q2, 7, 6),
            lane!($from, $p2, $q3, 13, 25),
            lane!($from, $p3, $q4, 19, 8),
            lane!($from, $p4, $q0, 20, 18),
            row!(
                $to, $p0 $p1 $p2 $p3 $p4, 10 11 12 13 14,
                // row 1
                lane!($from, $p0, $q3, 3, 28),
                lane!($from, $p1, $q4, 9, 20),
                lane!($from, $p2, $q0, 10, 3),
                lane!($from, $p3, $q1, 16, 45),
                lane!($from, $p4, $q2, 22, 61)
            ),
            row!(
                $to, $p0 $p1 $p2 $p3 $p4, 5 6 7 8 9,
                // row 3
                lane!($from, $p0, $q4, 4, 27),
                lane!($from, $p1, $q0, 5, 36),
                lane!($from, $p2, $q1, 11, 10),
                lane!($from, $p3, $q2, 17, 15),
                lane!($from, $p4, $q3, 23, 56)
            ),
            row!(
                $to, $p0 $p1 $p2 $p3 $p4, 15 16 17 18 19,
                // row 4
                lane!($from, $p0, $q2, 2, 62),
                lane!($from, $p1, $q3, 8, 55),
                lane!($from, $p2, $q4, 14, 39),
                lane!($from, $p3, $q0, 15, 41),
                lane!($from, $p4, $q1, 21, 2)
            ),
            row!(
                $to, $p0 $p1 $p2 $p3 $p4, 20 21 22 23 24,
                // row 0
                concat!("xor ", $q0, ", [", $from, "]\n", "mov ", $p0, ", ", $q0, "\n"),
                last_lane!($from, $p1, $q1, 6, 44),
                last_lane!($from, $p2, $q2, 12, 43),
                last_lane!($from, $p3, $q3, 18, 21),
                last_lane!($from, $p4, $q4, 24, 14)
            ),
            // iota
            "andn ", $q0, ", ", $p1, ", ", $p2, "\n",
            "xor ", $q0, ", ", $p0, "\n",
            "xor ", $q0, ", [r15 + ", $constant, "]\n",
            "mov [", $to, "], ", $q0, "\n",
            chi!($to, 1, $q1, $p1, $p2, $p3),
            chi!($to, 2, $q2, $p2, $p3, $p4),
            chi!($to, 3, $q3, $p3, $p4, $p0),
            chi!($to, 4, $q4, $p4, $p0, $p1)
        )
    };
}

/// The 24 rounds.
#[target_feature(enable = "bmi1,bmi2")]
#[rustfmt::skip]
pub(in super::super) fn permute(state: &mut State) {
    // SAFETY: `rdi` addresses the 25 words of `state`, which is borrowed mutably, and every offset from it is below
    // 200. The same offsets from `rsp` are within the 208 bytes reserved here and released below; without `nostack` the
    // compiler keeps no data below `rsp`. `r15` starts at word 8 of `CONSTANTS` and advances by two words until its low
    // byte is zero: the table is aligned to 256 bytes, so this happens after 24 words, at its end. All registers
    // written are declared; flags are declared by default. The function enables the CPU features that the instructions
    // require.
    unsafe {
        core::arch::asm!(
            "sub rsp, 208",
            "mov rax, [rdi]",
            "mov rcx, [rdi + 8]",
            "mov rdx, [rdi + 16]",
            "mov rsi, [rdi + 24]",
            "mov r8, [rdi + 32]",
            ".p2align 5",
            "2:",
            round!("rdi", "rsp", "0", "rax" "rcx" "rdx" "rsi" "r8", "r9" "r10" "r11" "r12" "r13"),
            round!("rsp", "rdi", "8", "r9" "r10" "r11" "r12" "r13", "rax" "rcx" "rdx" "rsi" "r8"),
            "add r15, 16",
            "test r15b, r15b",
            "jnz 2b",
            "add rsp, 208",
            in("rdi") state.as_mut_ptr(),
            inout("r15") CONSTANTS.0[8..].as_ptr() => _,
            out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _, out("r8") _,
            out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("r13") _, out("r14") _,
        );
    }
}
