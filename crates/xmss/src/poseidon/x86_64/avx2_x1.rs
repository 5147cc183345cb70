//! The portable code for one state, compiled for AVX2: four 64-bit products per instruction instead of the baseline's
//! two.

use super::super::{Poseidon1, Poseidon2, portable};

macro_rules! kernels {
    ($($one:ident: $kind:ty, $width:literal, $rounds:literal;)*) => {
        $(
            #[target_feature(enable = "avx2")]
            pub(in super::super) fn $one(state: &mut [u32; $width]) {
                portable::permute_one::<$kind, $width, $rounds>(state);
            }
        )*
    };
}

kernels! {
    poseidon1_16_one: Poseidon1, 16, 20;
    poseidon1_24_one: Poseidon1, 24, 23;
    poseidon2_16_one: Poseidon2, 16, 20;
    poseidon2_24_one: Poseidon2, 24, 23;
}
