//! Syrup.

use lydite_core::{hash, ocapn::syrup::Tape};

use crate::{
    hash::decode,
    memory::{array_mut, items},
    status::{guard, lydite_status},
};

/// Whether the bytes are one whole canonical Syrup value: 0, or LYDITE_ERROR_DECODE with the byte at fault in the text.
/// Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_syrup_check(data: *const u8, length: usize) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        Tape::new()
            .decode(items(data, length, "data")?)
            .map(|_| ())
            .map_err(decode)
    })
}

/// The content id of one whole canonical Syrup value, the SHA-256 of its bytes: 32 bytes. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_syrup_content_id(
    data: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let data = items(data, length, "data")?;
        Tape::new().decode(data).map(|_| ()).map_err(decode)?;
        *array_mut(out, "out")? = hash::sha256(data);
        Ok(())
    })
}
