#![no_main]

lydite_fuzz::precompile_target!(P256Verify);
