//! The kernels of [`super::super::single`] for AVX-512: eight words of a state per vector.

use lydite_hash::cpu::Avx512;

use super::super::single::kernels;
use super::poseidon1::Numbers;

kernels!("avx512f,avx512bw", Avx512, 8, Numbers::new);
