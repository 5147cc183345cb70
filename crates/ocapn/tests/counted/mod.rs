//! An allocator that counts, for tests of what decoders take.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the bytes in use, and the most of them at a time.
struct Counted;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: what is asked for is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(
            LIVE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(address, layout) }
    }
}

/// The most bytes in use at a time while `f` runs, beyond those before.
pub fn most(f: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    f();
    MOST.load(Relaxed) - before
}
