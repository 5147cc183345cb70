//! Eight points at a time, one per 64-bit lane, with AVX-512 IFMA.
//!
//! Layout: field elements in eight lanes are 5 vectors of 52-bit limbs, least significant first. Limbs are "strict":
//! each is below 2^52, so the value is below 2^260. The multiplier reads only the low 52 bits of a limb, so nothing is
//! lazy here: sums and differences carry immediately. Values are not reduced below p. The bound on each is given in
//! units of 2^256 (its "size"); sizes up to 15 fit.
//!
//! All lanes take the same steps: digits come from a regular recoding (odd, never zero), so no step is skipped and no
//! sum starts at infinity. The formulas are incomplete: if a sum equals its addend or its opposite, the lane's Z
//! becomes 0 and stays 0, and the caller computes that lane again with the scalar code.
//!
//! - `field`, `point`: constant-time.
//! - `public`: `a P + b G` and square roots for recovery and verification. Variable-time.
//! - `secret`: `k G` for secret k, eight at a time or one spread over the lanes. Constant-time.
//!
//! Source: [GK12] (52-bit limbs and fused multiply-add), [JT09] algorithm 6 (regular recoding), dbl-2009-l and
//! madd-2004-hmv of [EFD] for a = 0.

mod field;
mod point;
mod public;
mod secret;

pub(crate) use public::{lift_x, multiply_add};
pub(crate) use secret::{multiply_generator_x1, multiply_generator_x8};

pub(crate) use crate::lanes::LANES;
