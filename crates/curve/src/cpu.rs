//! Detection of CPU features that more than one curve uses.

#[cfg(not(any(miri, lydite_backend = "portable", lydite_constant_time_check)))]
cpufeatures::new!(adx, "bmi2", "adx");
#[cfg(not(any(miri, lydite_backend = "portable")))]
cpufeatures::new!(avx512ifma, "avx512f", "avx512ifma");

/// Has the CPU MULX, ADCX and ADOX, and may this build use them?
#[inline]
pub(crate) fn has_adx() -> bool {
    #[cfg(any(miri, lydite_backend = "portable"))]
    return false;
    // Valgrind runs these instructions, and tells the program that the CPU lacks them.
    #[cfg(all(
        lydite_constant_time_check,
        not(any(miri, lydite_backend = "portable"))
    ))]
    return true;
    #[cfg(not(any(miri, lydite_backend = "portable", lydite_constant_time_check)))]
    adx::get()
}

/// Has the CPU AVX-512F and AVX-512IFMA, and may this build use them?
#[inline]
pub(crate) fn has_avx512ifma() -> bool {
    #[cfg(any(miri, lydite_backend = "portable"))]
    return false;
    #[cfg(not(any(miri, lydite_backend = "portable")))]
    avx512ifma::get()
}
