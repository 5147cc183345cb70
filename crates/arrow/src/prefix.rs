//! Hash maps of topics and selectors.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A map by topic or selector.
pub(crate) type PrefixMap<K, V> = HashMap<K, V, BuildHasherDefault<PrefixHasher>>;

/// Uses the first bytes of a topic or selector, which is a hash already. Only those of the signatures given by the user are
/// stored, so the author of a log or call cannot make lookups slower.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrefixHasher(u64);

impl Hasher for PrefixHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        } else if let Some(first) = bytes.first_chunk() {
            // The map uses both the lowest and the highest bits.
            self.0 = u64::from(u32::from_le_bytes(*first)) * 0x1_0000_0001;
        }
    }

    // The length of the slice, which is always the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
