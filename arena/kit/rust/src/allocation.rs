//! The system allocator with counters that only run during `alloc` batches, so a timed batch only pays for a predicted
//! branch.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

static COUNTING: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
/// Bytes currently allocated, minus those at the start.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

#[global_allocator]
static ALLOCATOR: Counted = Counted;

struct Counted;

#[inline(always)]
fn count(bytes: usize) {
    if COUNTING.load(Relaxed) {
        BYTES.fetch_add(bytes as u64, Relaxed);
        CALLS.fetch_add(1, Relaxed);
    }
}

#[inline(always)]
fn live(change: i64) {
    if COUNTING.load(Relaxed) {
        let live = LIVE.fetch_add(change, Relaxed) + change;
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every method passes its arguments unchanged to `System` and returns its result; the counters do not allocate.
unsafe impl GlobalAlloc for Counted {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        live(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`, which is also that of `System`.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        live(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc_zeroed`, which is also that of `System`.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size.saturating_sub(layout.size()));
        live(new_size as i64 - layout.size() as i64);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::realloc`; the pointer came from `System`, which
        // makes all allocations.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        live(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`; the pointer came from `System`, which
        // makes all allocations.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Allocations made by some work. A reallocation counts as one allocation of the bytes it grew by.
pub(crate) struct Counts {
    pub bytes: u64,
    pub calls: u64,
    /// Peak number of bytes held at a time.
    pub peak: u64,
}

/// Runs `work` and counts its allocations.
pub(crate) fn counted(work: impl FnOnce()) -> Counts {
    BYTES.store(0, Relaxed);
    CALLS.store(0, Relaxed);
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    work();
    COUNTING.store(false, Relaxed);
    Counts {
        bytes: BYTES.load(Relaxed),
        calls: CALLS.load(Relaxed),
        peak: PEAK.load(Relaxed).max(0) as u64,
    }
}
