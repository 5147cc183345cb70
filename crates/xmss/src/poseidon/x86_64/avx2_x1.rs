//! The kernels of [`super::super::single`] for AVX2: four words of a state per vector.

use lydite_hash::cpu::Avx2;

use super::super::single::kernels;
use super::poseidon1::Numbers;

kernels!("avx2", Avx2, 4, Numbers::new);
