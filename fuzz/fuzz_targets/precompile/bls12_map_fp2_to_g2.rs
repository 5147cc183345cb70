#![no_main]

lydite_fuzz::precompile_target!(Bls12MapFp2ToG2);
