//! The kernels of [`super::super::single`] for AVX-512: eight words of a state per vector.

use lydite_hash::cpu::Avx512;

use super::super::single::{self, permute};
use super::super::{Poseidon1, Poseidon2};
use super::poseidon1::Numbers;

macro_rules! kernels {
    ($($name:ident: $kind:ty, $width:literal, $rounds:literal, $constants:ident;)*) => {
        $(
            #[target_feature(enable = "avx512f,avx512bw")]
            pub(in super::super) fn $name(state: &mut [u32; $width], evidence: Avx512) {
                permute::<$kind, _, $width, $rounds, { $width / 8 }, { 24 / 8 }>(
                    state,
                    &single::$constants,
                    &Numbers::new(evidence),
                );
            }
        )*
    };
}

kernels! {
    poseidon1_16_one: Poseidon1, 16, 20, POSEIDON1_16;
    poseidon1_24_one: Poseidon1, 24, 23, POSEIDON1_24;
    poseidon2_16_one: Poseidon2, 16, 20, POSEIDON2_16;
    poseidon2_24_one: Poseidon2, 24, 23, POSEIDON2_24;
}
