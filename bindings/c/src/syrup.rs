//! Validation and content ids of Syrup values.

use lydite_core::{hash, ocapn::syrup::Tape};

use crate::{
    hash::decode,
    memory::{array_mut, items},
    status::{guard, lydite_status},
};

/// Check that the bytes are exactly one canonical Syrup value.
///
/// Returns 0, or LYDITE_ERROR_DECODE with the offset of the invalid byte in the message. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_syrup_check(data: *const u8, length: usize) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        Tape::new()
            .decode(items(data, length, "data")?)
            .map(|_| ())
            .map_err(decode)
    })
}

/// Compute the content id of exactly one canonical Syrup value. Writes 32 bytes to out.
///
/// The content id is the SHA-256 hash of the value's bytes. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_syrup_content_id(
    data: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let data = items(data, length, "data")?;
        Tape::new().decode(data).map(|_| ()).map_err(decode)?;
        *array_mut(out, "out")? = hash::sha256(data);
        Ok(())
    })
}
