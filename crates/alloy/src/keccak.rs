//! The hook that alloy-primitives uses for hashing: a symbol that the linker resolves.

use core::slice;

use lydite::hash;

/// The function that `alloy_primitives::keccak256` calls if its feature `native-keccak` is on.
///
/// If a program depends on this crate but does not reference it, the linker reports `undefined symbol:
/// native_keccak256`: add `use lydite_alloy as _;` to the program's root file. This crate cannot do that, because rustc
/// passes only those crates to the linker that the program references.
///
/// # Safety
/// `bytes` must point to `len` readable bytes, `output` to 32 writable bytes.
// SAFETY: alloy-primitives declares the symbol, and this is its only definition in a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn native_keccak256(bytes: *const u8, len: usize, output: *mut u8) {
    #[cfg(test)]
    crate::calls::count(&crate::calls::KECCAK);
    // SAFETY: guaranteed by the caller; alloy-primitives passes a slice, whose pointer is never null.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) };
    // SAFETY: guaranteed by the caller; a byte array needs no alignment.
    unsafe { output.cast::<[u8; 32]>().write(hash::keccak256(bytes)) };
}
