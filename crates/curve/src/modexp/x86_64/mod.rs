//! x86-64 kernels.

mod adx;
mod avx512ifma;

use alloc::vec::Vec;

use super::{Exponent, limbs::MulKernel, power_in};
pub(super) use adx::Adx;

/// Both kernels. `modexp` uses this only after checking that the CPU has the instructions.
#[derive(Clone, Copy)]
pub(super) struct AdxAndIfma;

impl MulKernel for AdxAndIfma {
    #[inline]
    fn add_multiple(t: &mut [u64], a: &[u64], factor: u64, carry: u64) -> u64 {
        Adx::add_multiple(t, a, factor, carry)
    }

    fn power_by_lanes(base: &[u64], exponent: &Exponent<'_>, modulus: &[u64]) -> Option<Vec<u64>> {
        let field = avx512ifma::Ifma::new(modulus)?;
        Some(power_in::<Self, _>(field, base, exponent))
    }
}
