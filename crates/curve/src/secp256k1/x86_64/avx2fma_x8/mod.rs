//! Eight public points at a time with AVX2 and FMA, for CPUs without AVX-512 IFMA: two vectors of four
//! double-precision numbers. Variable-time.
//!
//! The group law is that of `group.rs`, over the field of eight lanes. As with AVX-512 IFMA, all lanes take the same
//! steps: digits come from a regular recoding (odd, never zero), so no step is skipped and no sum starts at infinity.
//! If a sum equals its addend or its opposite, the lane's Z becomes 0 and stays 0, and the caller computes that lane
//! again with the scalar code.

mod field;
mod public;
#[cfg(test)]
mod tests;

pub(crate) use public::{lift_x, multiply_add};
