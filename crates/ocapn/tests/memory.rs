//! Decoders take memory in proportion to what they are given, whatever it claims.
#![allow(clippy::unwrap_used)]
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lydite_ocapn::syrup::{self, Limits, Raw, Tape, Value};

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
fn most(f: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    f();
    MOST.load(Relaxed) - before
}

/// One test, so that no other allocates meanwhile.
#[test]
fn memory_is_a_multiple_of_the_input() {
    const LENGTH: usize = 1 << 20;
    let limits = Limits {
        depth: usize::MAX,
        values: usize::MAX,
    };
    let filled = |open: &str, item: &str, close: &str| {
        [open, &item.repeat(LENGTH / item.len()), close]
            .concat()
            .into_bytes()
    };
    let inputs = [
        filled("[", "t", "]"),
        filled("[", "1+", "]"),
        filled("[", "[]", "]"),
        filled("[", "<t>", "]"),
        filled("[", "{tf}", "]"),
        filled("[", "#t$", "]"),
        filled("[", "0\"", "]"),
        filled("[", "23\"aaaaaaaaaaaaaaaaaaaaaaa", "]"),
        filled("[", "30000000000000000000+", "]"),
        filled("[", "t", ""),
        filled("", "[", ""),
        filled("", "{", ""),
        filled("", "<", ""),
        b"18446744073709551615:a".to_vec(),
        b"[4294967296\"a".to_vec(),
        b"[99999999999999999999999:a".to_vec(),
    ];
    for input in &inputs {
        let (start, length) = (&input[..input.len().min(24)], input.len());
        // Nodes of 16 bytes, and half of them once more where they grow; frames of what is open.
        let tape = most(|| {
            let _ = Tape::new().decode_within(input, limits).map(|_| ());
        });
        assert!(tape <= 200 * length + 1024, "{start:?}: tape {tape}");
        let tree = most(|| drop(Value::decode_within(input, limits)));
        assert!(tree <= 130 * length + 1024, "{start:?}: tree {tree}");
        let lenient = most(|| drop(Value::decode_lenient(input)));
        assert!(
            lenient <= 160 * length + 1024,
            "{start:?}: lenient tree {lenient}"
        );
        let raw = most(|| {
            let _ = syrup::decode::<Raw<'_>>(input);
        });
        assert!(raw <= 16 * 1024, "{start:?}: raw {raw}");
    }
}
