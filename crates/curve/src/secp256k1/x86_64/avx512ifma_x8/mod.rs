//! Eight points side by side: one a 64-bit lane, AVX-512 IFMA.
//!
//! Layout: a field element of eight lanes is 5 vectors of 52-bit limbs, least significant first ("strict": every limb is
//! below 2^52, so the value is below 2^260). The multiplier reads only the low 52 bits of a limb, so nothing is lazy
//! here: sums and differences carry at once. Values are not reduced below p; the bound of each is given in units of
//! 2^256 ("size"), as sixteen fit.
//!
//! All lanes take the same steps: digits come from a regular recoding (odd, never zero), so there is nothing to skip and
//! no point at infinity to begin with. The formulas are incomplete: where a sum meets its own addend or its opposite, the
//! lane's Z becomes 0 and stays 0, and the caller computes that lane again by the portable way.
//!
//! - `field`, `point`: constant-time.
//! - `public`: `a P + b G` and square roots for recovery and verification. Variable-time.
//! - `secret`: `k G` for secret k, eight of them or one spread over the lanes. Constant-time.
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
