//! Poseidon and Poseidon2 over KoalaBear, widths 16 and 24, S-box x^3 \[POSEIDON\], \[POSEIDON2\].
//!
//! The kernels permute [`LANES`] independent states at once, stored by columns: element `i` of state `l` is
//! `state.0[i][l]`. Inputs and outputs are integers below p = 2^31 - 2^24 + 1. Larger inputs give wrong results
//! but no other harm. Constant time: no branch or address depends on an element.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod constants;
mod dispatch;
mod portable;
mod reference;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod single;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use dispatch::Backend;

use crate::koalabear;
use tables::{
    Columns, POSEIDON1_16, POSEIDON1_24, POSEIDON2_16, POSEIDON2_24, Specification, Tables,
};

/// Number of states that a kernel permutes at once.
pub const LANES: usize = 16;

/// `N` elements of each of [`LANES`] states: element `i` of state `l` is `.0[i][l]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes<const N: usize>(pub [[u32; LANES]; N]);

impl<const N: usize> Lanes<N> {
    /// All elements zero.
    pub const ZERO: Self = Self([[0; LANES]; N]);

    /// The same elements in every lane.
    #[inline]
    pub fn splat(elements: &[u32; N]) -> Self {
        Self(elements.map(|element| [element; LANES]))
    }

    /// The elements of lane `l`, which must be below [`LANES`].
    #[inline]
    pub fn lane(&self, l: usize) -> [u32; N] {
        core::array::from_fn(|i| self.0[i][l])
    }

    /// Stores the first elements in lane `l`, which must be below [`LANES`].
    #[inline]
    pub fn set(&mut self, l: usize, elements: &[u32]) {
        for (column, element) in self.0.iter_mut().zip(elements) {
            column[l] = *element;
        }
    }
}

impl<const N: usize> zeroize::Zeroize for Lanes<N> {
    fn zeroize(&mut self) {
        self.0.as_flattened_mut().zeroize();
    }
}

/// The parameters of a permutation of `W` elements with `P` partial rounds.
pub(crate) trait Permutation<const W: usize, const P: usize> {
    const SPECIFICATION: Specification<W, P>;
    const TABLES: &'static Tables<W, P>;
    const COLUMNS: &'static Columns<W, P>;
    /// Whether the linear layer of full rounds is circulant with 31-bit coefficients. Otherwise they are small.
    const DENSE: bool;

    /// The linear layer of full rounds, if its coefficients are small.
    fn small_layer<const L: usize>(state: &mut [[u32; L]; W]);
}

/// Poseidon.
pub enum Poseidon1 {}
/// Poseidon2.
pub enum Poseidon2 {}

impl Permutation<16, 20> for Poseidon1 {
    const SPECIFICATION: Specification<16, 20> = POSEIDON1_16;
    const TABLES: &'static Tables<16, 20> = &Tables::new(&POSEIDON1_16, false, 2);
    const COLUMNS: &'static Columns<16, 20> = &Columns::new(Self::TABLES);
    const DENSE: bool = false;

    #[inline(always)]
    fn small_layer<const L: usize>(state: &mut [[u32; L]; 16]) {
        portable::circulant_layer(&constants::MDS_16, state);
    }
}

impl Permutation<24, 23> for Poseidon1 {
    const SPECIFICATION: Specification<24, 23> = POSEIDON1_24;
    const TABLES: &'static Tables<24, 23> = &Tables::new(&POSEIDON1_24, true, 1);
    const COLUMNS: &'static Columns<24, 23> = &Columns::new(Self::TABLES);
    const DENSE: bool = true;

    fn small_layer<const L: usize>(_: &mut [[u32; L]; 24]) {}
}

impl Permutation<16, 20> for Poseidon2 {
    const SPECIFICATION: Specification<16, 20> = POSEIDON2_16;
    const TABLES: &'static Tables<16, 20> = &Tables::new(&POSEIDON2_16, false, 1);
    const COLUMNS: &'static Columns<16, 20> = &Columns::new(Self::TABLES);
    const DENSE: bool = false;

    #[inline(always)]
    fn small_layer<const L: usize>(state: &mut [[u32; L]; 16]) {
        portable::poseidon2_layer(state);
    }
}

impl Permutation<24, 23> for Poseidon2 {
    const SPECIFICATION: Specification<24, 23> = POSEIDON2_24;
    const TABLES: &'static Tables<24, 23> = &Tables::new(&POSEIDON2_24, false, 1);
    const COLUMNS: &'static Columns<24, 23> = &Columns::new(Self::TABLES);
    const DENSE: bool = false;

    #[inline(always)]
    fn small_layer<const L: usize>(state: &mut [[u32; L]; 24]) {
        portable::poseidon2_layer(state);
    }
}

/// The initial capacity of a leaf's sponge, for digests of `digest` elements and `chains` chains: the first nine
/// elements of the compression of the lengths 5 (parameter), 2 (tweak), `chains` and `digest`, as one integer in base
/// p.
pub(crate) const fn leaf_capacity<K: Permutation<24, 23>>(
    digest: usize,
    chains: usize,
) -> [u32; 9] {
    let mut integer = (5_u128 << 96) | (2 << 64) | (chains as u128) << 32 | digest as u128;
    let mut input = [0; 24];
    let mut i = 0;
    while i < 24 {
        input[i] = (integer % koalabear::MODULUS as u128) as u32;
        integer /= koalabear::MODULUS as u128;
        i += 1;
    }
    let permuted = reference::permute(&K::SPECIFICATION, input);
    let mut capacity = [0; 9];
    i = 0;
    while i < 9 {
        capacity[i] = koalabear::add(permuted[i], input[i]);
        i += 1;
    }
    capacity
}
