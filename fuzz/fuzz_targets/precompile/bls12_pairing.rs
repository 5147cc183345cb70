#![no_main]

lydite_fuzz::precompile_target!(Bls12Pairing);
