#![no_main]

lydite_fuzz::precompile_target!(Modexp);
