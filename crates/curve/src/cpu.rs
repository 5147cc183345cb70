//! Detection of CPU features that more than one curve uses.

#[cfg(not(any(miri, lydite_backend = "portable", lydite_constant_time_check)))]
cpufeatures::new!(adx, "bmi2", "adx");

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
