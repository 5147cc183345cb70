//! Precompiled contracts on bytes and integers, secp256k1 and P-256.
#![no_main]

lydite_fuzz::precompile_target!(
    EcRecover, Sha256, Ripemd160, Identity, Modexp, Blake2F, P256Verify
);
