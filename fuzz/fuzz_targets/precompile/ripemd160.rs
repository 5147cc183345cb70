#![no_main]

lydite_fuzz::precompile_target!(Ripemd160);
