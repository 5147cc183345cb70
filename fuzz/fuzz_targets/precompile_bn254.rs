//! The BN254 precompiled contracts.
#![no_main]

lydite_fuzz::precompile_target!(Bn254Add, Bn254Mul, Bn254Pairing);
