//! CPU features that several curves use.

use lydite_hash::cpu::{ADX, AVX512IFMA, has};

/// Whether the CPU has MULX, ADCX and ADOX and this process may use them.
#[inline]
pub(crate) fn has_adx() -> bool {
    has(ADX)
}

/// Whether the CPU has AVX-512F and AVX-512IFMA and this process may use them.
#[inline]
pub(crate) fn has_avx512ifma() -> bool {
    has(AVX512IFMA)
}
