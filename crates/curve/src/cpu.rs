//! Detection of CPU features that several curves use.

#[cfg(not(any(miri, lydite_backend = "portable", lydite_constant_time_check)))]
cpufeatures::new!(adx, "bmi2", "adx");
#[cfg(not(any(miri, lydite_backend = "portable")))]
cpufeatures::new!(avx512ifma, "avx512f", "avx512ifma");

/// Whether the CPU has MULX, ADCX and ADOX and this build may use them.
#[inline]
pub(crate) fn has_adx() -> bool {
    #[cfg(any(miri, lydite_backend = "portable"))]
    return false;
    // Valgrind can execute these instructions, but its CPUID does not report them.
    #[cfg(all(
        lydite_constant_time_check,
        not(any(miri, lydite_backend = "portable"))
    ))]
    return true;
    #[cfg(not(any(miri, lydite_backend = "portable", lydite_constant_time_check)))]
    adx::get()
}

/// Whether the CPU has AVX-512F and AVX-512IFMA and this build may use them.
#[inline]
pub(crate) fn has_avx512ifma() -> bool {
    #[cfg(any(miri, lydite_backend = "portable"))]
    return false;
    #[cfg(not(any(miri, lydite_backend = "portable")))]
    avx512ifma::get()
}
