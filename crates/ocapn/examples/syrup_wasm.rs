//! The codec as a WebAssembly module without std. `.ci/wasm` builds it, checks its size and runs it under Node.
//!
//! The host writes a message to memory from `syrup_allocate` and calls the other functions with its address and length.
//! A result has an address in the upper half and a length in the lower half, and must be freed with `syrup_free`. 0 is
//! an error.
#![cfg_attr(target_os = "unknown", no_std)]
extern crate alloc;

use alloc::{boxed::Box, vec, vec::Vec};
use core::{ptr, slice};

use lydite_ocapn::syrup::{self, Raw, Value};

/// Allocates `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn syrup_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0; length].into_boxed_slice()).cast()
}

/// Frees memory returned by `syrup_allocate`, or a result.
///
/// # Safety
///
/// Address and length must be those returned, and may be freed only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syrup_free(address: *mut u8, length: usize) {
    // SAFETY: the caller guarantees that this is a boxed slice of this length, returned by this module and not yet
    // freed.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(address, length)) });
}

/// Decodes leniently and returns the canonical encoding.
///
/// # Safety
///
/// `length` bytes at `input` must be readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syrup_canonical(input: *const u8, length: usize) -> u64 {
    // SAFETY: the caller guarantees that `length` bytes at `input` are readable.
    let input = unsafe { slice::from_raw_parts(input, length) };
    answer(Value::decode_lenient(input).and_then(|value| syrup::encode(&value)))
}

/// Returns the content id, 32 bytes, of exactly one canonical value.
///
/// # Safety
///
/// Like [`syrup_canonical`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syrup_content_id(input: *const u8, length: usize) -> u64 {
    // SAFETY: the caller guarantees that `length` bytes at `input` are readable.
    let input = unsafe { slice::from_raw_parts(input, length) };
    // A raw value is hashed, since `syrup::content_id` of a tree would add a third encoder to the module.
    answer(syrup::decode::<Raw<'_>>(input).map(|raw| raw.content_id().to_vec()))
}

fn answer(result: Result<Vec<u8>, syrup::Error>) -> u64 {
    let Ok(bytes) = result else { return 0 };
    let bytes = bytes.into_boxed_slice();
    let length = bytes.len() as u64;
    (Box::into_raw(bytes).cast::<u8>() as usize as u64) << 32 | length
}

/// Replaces std: a bump allocator that starts over when all memory has been freed, and a panic handler.
#[cfg(target_os = "unknown")]
mod system {
    use core::alloc::{GlobalAlloc, Layout};
    use core::arch::wasm32;
    use core::cell::Cell;

    struct Bump {
        start: Cell<usize>,
        next: Cell<usize>,
        live: Cell<usize>,
    }

    // SAFETY: the module has only one thread.
    unsafe impl Sync for Bump {}

    #[global_allocator]
    static MEMORY: Bump = Bump {
        start: Cell::new(0),
        next: Cell::new(0),
        live: Cell::new(0),
    };

    const PAGE: usize = 1 << 16;

    // SAFETY: blocks are disjoint parts of memory that only this module has grown, and that memory is reused only when
    // no block is live.
    unsafe impl GlobalAlloc for Bump {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if self.start.get() == 0 {
                self.start.set(wasm32::memory_size(0) * PAGE);
                self.next.set(self.start.get());
            }
            let address = self.next.get().next_multiple_of(layout.align());
            let Some(end) = address.checked_add(layout.size()) else {
                return core::ptr::null_mut();
            };
            let room = wasm32::memory_size(0) * PAGE;
            if end > room && wasm32::memory_grow(0, (end - room).div_ceil(PAGE)) == usize::MAX {
                return core::ptr::null_mut();
            }
            self.next.set(end);
            self.live.set(self.live.get() + 1);
            address as *mut u8
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
            self.live.set(self.live.get() - 1);
            if self.live.get() == 0 {
                self.next.set(self.start.get());
            }
        }
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        wasm32::unreachable()
    }
}
