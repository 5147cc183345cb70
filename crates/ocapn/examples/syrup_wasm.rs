//! The codec as a WebAssembly module without std: `.ci/wasm` builds it, asserts its size and runs it under Node.
//!
//! A host writes a message where `syrup_allocate` says and calls the others with that address and length. A result is an
//! address in the upper half and a length in the lower, to be given back to `syrup_free`; 0 is an error.
#![cfg_attr(target_os = "unknown", no_std)]
extern crate alloc;

use alloc::{boxed::Box, vec, vec::Vec};
use core::{ptr, slice};

use lydite_ocapn::syrup::{self, Raw, Value};

/// Room for `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn syrup_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0; length].into_boxed_slice()).cast()
}

/// Gives back what `syrup_allocate` or a result was.
///
/// # Safety
///
/// Address and length are those given, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syrup_free(address: *mut u8, length: usize) {
    // SAFETY: it was a boxed slice of this length, by the caller's contract.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(address, length)) });
}

/// The canonical encoding of what a lenient decoder reads.
///
/// # Safety
///
/// `length` bytes at `input` are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syrup_canonical(input: *const u8, length: usize) -> u64 {
    // SAFETY: the caller's contract.
    let input = unsafe { slice::from_raw_parts(input, length) };
    answer(Value::decode_lenient(input).and_then(|value| syrup::encode(&value)))
}

/// The content id, 32 bytes, of one whole canonical value.
///
/// # Safety
///
/// As [`syrup_canonical`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syrup_content_id(input: *const u8, length: usize) -> u64 {
    // SAFETY: the caller's contract.
    let input = unsafe { slice::from_raw_parts(input, length) };
    // Of bytes that are canonical, as a raw value: `syrup::content_id` of a tree would be a third encoder in the module.
    answer(syrup::decode::<Raw<'_>>(input).map(|raw| raw.content_id().to_vec()))
}

fn answer(result: Result<Vec<u8>, syrup::Error>) -> u64 {
    let Ok(bytes) = result else { return 0 };
    let bytes = bytes.into_boxed_slice();
    let length = bytes.len() as u64;
    (Box::into_raw(bytes).cast::<u8>() as usize as u64) << 32 | length
}

/// What std would bring: memory that is taken from the end and starts anew when all has been given back, and panics.
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

    // SAFETY: the module has one thread.
    unsafe impl Sync for Bump {}

    #[global_allocator]
    static MEMORY: Bump = Bump {
        start: Cell::new(0),
        next: Cell::new(0),
        live: Cell::new(0),
    };

    const PAGE: usize = 1 << 16;

    // SAFETY: blocks lie behind one another in memory that this module has grown for itself, and are used anew only when
    // none is live.
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
