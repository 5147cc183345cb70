//! The BLS12-381 precompiled contracts, and the KZG point evaluation.
#![no_main]

lydite_fuzz::precompile_target!(
    PointEvaluation,
    Bls12G1Add,
    Bls12G1Msm,
    Bls12G2Add,
    Bls12G2Msm,
    Bls12Pairing,
    Bls12MapFpToG1,
    Bls12MapFp2ToG2
);
