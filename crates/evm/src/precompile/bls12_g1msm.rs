//! 0x0c: multi-scalar multiplication in G1 of BLS12-381.
//!
//! Input: one or more pairs, 160 bytes each: a point, and a scalar of 32 bytes. Output: the sum of their products. Gas:
//! 12000 per pair, with a discount for several pairs.
//!
//! Source: \[EIP-2537\].

use alloc::vec::Vec;

use super::{
    Error, Fork, GasUsed,
    bls12_points::{g1, msm_gas},
};

/// Gas of one pair without discount.
const PAIR: u64 = 12000;

/// Returns the gas for this number of pairs.
#[must_use]
pub fn gas(pairs: usize) -> u64 {
    msm_gas(pairs, PAIR, &DISCOUNT)
}

/// Discount in thousandths of the price, for 1 to 128 pairs; the last applies to more pairs.
const DISCOUNT: [u16; 128] = [
    1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677, 673, 669, 665,
    661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627, 625, 623, 621, 619, 617, 615,
    613, 611, 609, 608, 606, 604, 603, 601, 599, 598, 596, 595, 593, 592, 591, 589, 588, 586, 585,
    584, 582, 581, 580, 579, 577, 576, 575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563,
    562, 561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545,
    544, 543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531, 530, 529,
    528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519,
];

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::Padding`], or [`Error::Bls12_381`] for
/// a point that is not in the subgroup.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    g1::msm(input, gas, gas_limit, fork, out)
}
