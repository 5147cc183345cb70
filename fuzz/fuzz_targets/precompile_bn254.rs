//! Precompiled contracts of BN254.
#![no_main]

lydite_fuzz::precompile_target!(Bn254Add, Bn254Mul, Bn254Pairing);
