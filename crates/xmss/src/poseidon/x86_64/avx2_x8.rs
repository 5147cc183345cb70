//! The kernels of [`super::poseidon1`] and [`super::poseidon2`] for AVX2: eight states at a time.

use lydite_hash::cpu::Avx2;

use super::super::{Lanes, Poseidon1};
use super::{poseidon1, poseidon2};

#[target_feature(enable = "avx2")]
pub(in super::super) fn poseidon1_16(state: &mut Lanes<16>, evidence: Avx2) {
    poseidon1::permute::<Poseidon1, _, _, _>(state, &poseidon1::WIDTH_16, evidence);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn poseidon1_24(state: &mut Lanes<24>, evidence: Avx2) {
    poseidon1::permute::<Poseidon1, _, _, _>(state, &poseidon1::WIDTH_24, evidence);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn poseidon2_16(state: &mut Lanes<16>, evidence: Avx2) {
    poseidon2::permute(state, &poseidon2::WIDTH_16, evidence);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn poseidon2_24(state: &mut Lanes<24>, evidence: Avx2) {
    poseidon2::permute(state, &poseidon2::WIDTH_24, evidence);
}
