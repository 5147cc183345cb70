//! 0x0e: multi-scalar multiplication in G2 of BLS12-381.
//!
//! Input: one or more pairs, 288 bytes each: a point, and a scalar of 32 bytes. Output: the sum of their products. Gas:
//! 22500 per pair, with a discount for several pairs.
//!
//! Source: \[EIP-2537\].

use alloc::vec::Vec;

use super::{
    Error, Fork, GasUsed,
    bls12_points::{g2, msm_gas},
};

/// Gas of one pair without discount.
const PAIR: u64 = 22500;

/// Returns the gas for this number of pairs.
#[must_use]
pub fn gas(pairs: usize) -> u64 {
    msm_gas(pairs, PAIR, &DISCOUNT)
}

/// Discount in thousandths of the price, for 1 to 128 pairs; the last applies to more pairs.
const DISCOUNT: [u16; 128] = [
    1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717, 711, 704,
    699, 693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646, 643, 640, 637, 634, 632,
    629, 627, 624, 622, 620, 618, 615, 613, 611, 609, 607, 606, 604, 602, 600, 598, 597, 595, 593,
    592, 590, 589, 587, 586, 584, 583, 582, 580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568,
    567, 566, 565, 563, 562, 561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549,
    548, 547, 546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535, 534,
    533, 532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524,
];

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::Padding`], or [`Error::Bls12_381`] for
/// a point that is not in the subgroup.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    g2::msm(input, gas, gas_limit, fork, out)
}
