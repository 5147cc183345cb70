//! evmone as a contender: the precompiles of a checkout that the user has built, gas included.

use arena_kit::{PRECOMPILES, precompile, run};

// `evmone.cpp`.
unsafe extern "C" {
    fn arena_evmone_analyze(address: usize, input: *const u8, size: usize) -> usize;
    fn arena_evmone_execute(
        address: usize,
        input: *const u8,
        size: usize,
        output: *mut u8,
        capacity: usize,
    ) -> usize;
}

/// Calls the precompile at an address of [`PRECOMPILES`].
fn call(address: usize, input: &[u8]) -> Option<Vec<u8>> {
    // SAFETY: `address` is in the table. The call reads `input.len()` bytes of the input.
    let capacity = unsafe { arena_evmone_analyze(address, input.as_ptr(), input.len()) };
    if capacity == usize::MAX {
        return None;
    }
    let mut output = Vec::with_capacity(capacity);
    // SAFETY: as above. The call writes at most `capacity` bytes.
    let size = unsafe {
        arena_evmone_execute(
            address,
            input.as_ptr(),
            input.len(),
            output.as_mut_ptr(),
            capacity,
        )
    };
    if size == usize::MAX {
        return None;
    }
    // SAFETY: the call has written the first `size` bytes, which are at most `capacity`.
    unsafe { output.set_len(size) };
    Some(output)
}

fn main() {
    let operations = PRECOMPILES.map(|(name, address)| {
        let address = usize::try_from(address).expect("addresses of precompiles are small");
        precompile(name, move |input| call(address, input))
    });
    // Set by the build to the version of the checkout.
    let version = option_env!("EVMONE_VERSION").unwrap_or("unknown");
    run("evmone", version, operations.into());
}
