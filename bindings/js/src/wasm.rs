//! The exports of the WebAssembly module. One thread runs them, so one state is enough.

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
    // SAFETY: one thread, and no operation calls another export, so this is the only borrow.
    unsafe { &mut *STATE.0.get() }.get_or_insert_default()
}

/// Makes the scratch buffer at least `length` bytes long and answers where it is, aligned to 8 bytes; NULL if there is no
/// memory, and then it is as it was. What it holds is lost.
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
    // SAFETY: the memory lives, and stays where it is, until the next `reserve`, which attaches another; JavaScript runs only
    // between operations, and cannot take it away, since a WebAssembly memory is not detached by its users.
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
