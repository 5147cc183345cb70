//! One Keccak-f\[1600\] in the general registers, with BMI1 `andn` and BMI2 `rorx`.
//!
//! If a build enables AVX-512, LLVM vectorises scalar Rust rounds and makes them twice as slow, another reason for
//! assembly. The rounds alternate between `rdi`, the caller's state, and `rsp`. A round has 177 instructions, of which
//! 130 compute; four can start in a cycle. Constant time: no branch or address depends on the lanes.

use super::super::State;
use super::super::portable::ROUND_CONSTANTS;
use super::round::round;

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

/// The instructions of a round.
#[rustfmt::skip]
macro_rules! op {
    (parity $from:literal, $($c:literal $lane:literal),*) => {
        concat!($("xor ", $c, ", [", $from, " + 8*", $lane, "]\n"),*)
    };
    (combine $d:literal, $before:literal, $after:literal) => {
        concat!("rorx ", $d, ", ", $after, ", 63\n", "xor ", $d, ", ", $before, "\n")
    };
    (lane $from:literal, $b:literal, $d:literal, $lane:literal, $rotation:literal) => {
        concat!(
            "mov ", $b, ", [", $from, " + 8*", $lane, "]\n",
            "xor ", $b, ", ", $d, "\n",
            "rorx ", $b, ", ", $b, ", 64-", $rotation, "\n"
        )
    };
    (last_lane $from:literal, $b:literal, $d:literal, $lane:literal, $rotation:literal) => {
        concat!(
            "xor ", $d, ", [", $from, " + 8*", $lane, "]\n",
            "rorx ", $b, ", ", $d, ", 64-", $rotation, "\n"
        )
    };
    (theta $from:literal, $b:literal, $d:literal, $lane:literal) => {
        concat!("xor ", $d, ", [", $from, " + 8*", $lane, "]\n", "mov ", $b, ", ", $d, "\n")
    };
    (chi $to:literal, $lane:literal, $out:literal, $b0:literal, $b1:literal, $b2:literal) => {
        concat!(
            "andn ", $out, ", ", $b1, ", ", $b2, "\n",
            "xor ", $out, ", ", $b0, "\n",
            "mov [", $to, " + 8*", $lane, "], ", $out, "\n"
        )
    };
    (chi_iota $to:literal, $out:literal, $b0:literal, $b1:literal, $b2:literal, $constant:literal) => {
        concat!(
            "andn ", $out, ", ", $b1, ", ", $b2, "\n",
            "xor ", $out, ", ", $b0, "\n",
            "xor ", $out, ", [r15 + ", $constant, "]\n",
            "mov [", $to, "], ", $out, "\n"
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
            round!(op, "rdi", "rsp", "0", "r14", "rax" "rcx" "rdx" "rsi" "r8", "r9" "r10" "r11" "r12" "r13"),
            round!(op, "rsp", "rdi", "8", "r14", "r9" "r10" "r11" "r12" "r13", "rax" "rcx" "rdx" "rsi" "r8"),
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
