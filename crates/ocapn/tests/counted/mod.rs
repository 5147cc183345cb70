//! A counting allocator, for tests of the memory that decoders and sessions use.
#![allow(dead_code)] // No test uses all of it.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the bytes in use, their maximum, and the allocations.
struct Counted;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        MOST.fetch_max(
            LIVE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`, and `address` is from the system allocator.
        unsafe { System.dealloc(address, layout) }
    }
}

/// The maximum number of bytes in use while `f` runs, beyond those in use before.
pub fn most(f: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    f();
    MOST.load(Relaxed) - before
}

/// The number of bytes in use.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// The number of allocations, of which a reallocation is one, while `f` runs.
pub fn allocations(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Relaxed);
    f();
    ALLOCATIONS.load(Relaxed) - before
}
