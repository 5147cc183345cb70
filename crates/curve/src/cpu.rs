//! Detection of CPU features that more than one curve uses.

#[cfg(not(any(miri, lydite_backend = "portable")))]
cpufeatures::new!(adx, "bmi2", "adx");

/// Has the CPU MULX, ADCX and ADOX, and may this build use them?
#[inline]
pub(crate) fn has_adx() -> bool {
    #[cfg(any(miri, lydite_backend = "portable"))]
    return false;
    #[cfg(not(any(miri, lydite_backend = "portable")))]
    adx::get()
}
