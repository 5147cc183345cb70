//! The portable code compiled for AVX2: four 64-bit products per instruction instead of the baseline's two.

use super::super::{LANES, Lanes, Poseidon1, Poseidon2, portable};

macro_rules! kernels {
    ($($all:ident $one:ident: $kind:ty, $width:literal, $rounds:literal;)*) => {
        $(
            #[target_feature(enable = "avx2")]
            pub(in super::super) fn $all(state: &mut Lanes<$width>) {
                portable::permute::<$kind, $width, $rounds, LANES>(&mut state.0);
            }

            #[target_feature(enable = "avx2")]
            pub(in super::super) fn $one(state: &mut [u32; $width]) {
                portable::permute_one::<$kind, $width, $rounds>(state);
            }
        )*
    };
}

kernels! {
    poseidon1_16 poseidon1_16_one: Poseidon1, 16, 20;
    poseidon1_24 poseidon1_24_one: Poseidon1, 24, 23;
    poseidon2_16 poseidon2_16_one: Poseidon2, 16, 20;
    poseidon2_24 poseidon2_24_one: Poseidon2, 24, 23;
}
