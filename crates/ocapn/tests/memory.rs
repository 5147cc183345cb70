//! The memory that decoders use is bounded by the length of the input, whatever lengths the input claims.
#![allow(clippy::unwrap_used)]
mod counted;

use counted::most;
use lydite_ocapn::syrup::{self, Limits, Raw, Tape, Value};

/// One test, so that no other test allocates at the same time.
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
        // The factors documented at `Limits`. Deep inputs also need a frame for every open container, one per byte
        // here.
        let deep = start.iter().all(|byte| b"[{<".contains(byte)) && length > 24;
        let factor = |documented: usize| if deep { 64 } else { documented };
        let tape = most(|| {
            let _ = Tape::new().decode_within(input, limits).map(|_| ());
        });
        assert!(tape <= factor(48) * length + 1024, "{start:?}: tape {tape}");
        let tree = most(|| drop(Value::decode_within(input, limits)));
        assert!(tree <= factor(64) * length + 1024, "{start:?}: tree {tree}");
        let lenient = most(|| drop(Value::decode_lenient(input)));
        assert!(
            lenient <= factor(64) * length + 1024,
            "{start:?}: lenient tree {lenient}"
        );
        let raw = most(|| {
            let _ = syrup::decode::<Raw<'_>>(input);
        });
        assert!(raw <= 16 * 1024, "{start:?}: raw {raw}");
    }
}
