#![no_main]

lydite_fuzz::precompile_target!(Bn254Add);
