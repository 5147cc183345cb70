//! The hook by which alloy-primitives hashes: a symbol that the linker resolves.

use core::slice;

use lydite::hash;

/// What `alloy_primitives::keccak256` calls if its feature `native-keccak` is on.
///
/// The linker reports `undefined symbol: native_keccak256` for a program that depends on this crate and does not name it:
/// add `use lydite_alloy as _;` to its root file. Nothing here can do that for it, as rustc passes to the linker only the crates
/// that the program names.
///
/// # Safety
/// `bytes` points to `len` readable bytes, `output` to 32 writable ones.
// SAFETY: the name is that of alloy-primitives, one definition a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn native_keccak256(bytes: *const u8, len: usize, output: *mut u8) {
    #[cfg(test)]
    crate::calls::count(&crate::calls::KECCAK);
    // SAFETY: the caller's promise; alloy-primitives hands over a slice, whose pointer is never null.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) };
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    unsafe { output.cast::<[u8; 32]>().write(hash::keccak256(bytes)) };
}
