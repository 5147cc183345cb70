//! The exports of the WebAssembly module. Only one thread runs them, so a single state is enough.

use std::cell::UnsafeCell;

use crate::{
    operations,
    scratch::{MIN_SCRATCH, State},
};

struct Single(UnsafeCell<Option<(State, Vec<u64>)>>);

// SAFETY: this module is built without threads.
unsafe impl Sync for Single {}

static STATE: Single = Single(UnsafeCell::new(None));

fn state() -> &'static mut (State, Vec<u64>) {
    // SAFETY: there is one thread, and no operation calls another export, so this is the only borrow.
    unsafe { &mut *STATE.0.get() }.get_or_insert_default()
}

/// Makes the scratch buffer at least `length` bytes long and returns its address, aligned to 8 bytes. Its contents are
/// lost. Returns NULL, and leaves the buffer unchanged, if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: u32) -> *mut u8 {
    let (state, memory) = state();
    let words = (length as usize).max(MIN_SCRATCH).div_ceil(8);
    if memory.len() < words {
        let mut longer = Vec::new();
        if longer.try_reserve_exact(words).is_err() {
            return std::ptr::null_mut();
        }
        longer.resize(words, 0);
        *memory = longer;
    }
    let start = memory.as_mut_ptr().cast();
    // SAFETY: the memory lives, and does not move, until the next `reserve`, which attaches another. JavaScript runs
    // only between operations and cannot take the memory away, because its users cannot detach a WebAssembly memory.
    unsafe { state.attach(start, memory.len() * 8) };
    start
}

macro_rules! export {
    ($($(#[$condition:meta])* $name:ident = $path:path;)*) => {$(
        $(#[$condition])*
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub extern "C" fn $name(a: u32, b: u32, c: u32) -> i32 {
            state().0.run($path, [a, b, c])
        }
    )*};
}
operations!(export);
