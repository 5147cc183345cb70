//! Maps from positions, which are dense as a rule.
use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};

/// Slots that are kept when they are not needed, so that a session does not allocate with every burst of calls.
const KEPT: usize = 256;

/// A map from positions. Positions that ascend with few gaps are found in one step. Peers choose positions too: those
/// that compete for a slot are in a tree, so that no choice makes an access slow or takes more memory.
pub(super) struct Table<T> {
    /// An entry at the position p is in the slot p modulo their number, a power of two, unless the slot is taken.
    slots: Vec<Option<(u64, T)>>,
    #[expect(
        clippy::box_collection,
        reason = "most sessions need none of their maps"
    )]
    others: Option<Box<BTreeMap<u64, T>>>,
    len: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            others: None,
            len: 0,
        }
    }
}

impl<T> Table<T> {
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The slot of a position.
    const fn slot(&self, position: u64) -> usize {
        // Without slots, the result is out of bounds.
        position as usize & self.slots.len().wrapping_sub(1)
    }

    pub fn get(&self, position: u64) -> Option<&T> {
        match self.slots.get(self.slot(position)) {
            Some(Some((found, value))) if *found == position => Some(value),
            _ => self.others.as_ref()?.get(&position),
        }
    }

    pub fn get_mut(&mut self, position: u64) -> Option<&mut T> {
        let slot = self.slot(position);
        match self.slots.get_mut(slot) {
            Some(Some((found, value))) if *found == position => Some(value),
            _ => self.others.as_mut()?.get_mut(&position),
        }
    }

    /// Adds an entry at a position that has none.
    pub fn insert(&mut self, position: u64, value: T) {
        debug_assert!(self.get(position).is_none());
        let is_taken = !matches!(self.slots.get(self.slot(position)), Some(None));
        if is_taken && self.len >= self.slots.len() / 2 {
            self.resize((2 * self.slots.len()).max(2));
        }
        self.len += 1;
        self.put(position, value);
    }

    fn put(&mut self, position: u64, value: T) {
        let slot = self.slot(position);
        match self.slots.get_mut(slot) {
            Some(free @ None) => *free = Some((position, value)),
            _ => {
                let others = self.others.get_or_insert_default();
                others.insert(position, value);
            }
        }
    }

    pub fn remove(&mut self, position: u64) -> Option<T> {
        let slot = self.slot(position);
        let entry = self.slots.get_mut(slot);
        let taken = entry.and_then(|entry| entry.take_if(|(found, _)| *found == position));
        let value = match taken {
            Some((_, value)) => value,
            None => self.others.as_mut()?.remove(&position)?,
        };
        self.len -= 1;
        if self.slots.len() > KEPT && self.len < self.slots.len() / 8 {
            self.resize(self.slots.len() / 2);
        }
        Some(value)
    }

    fn resize(&mut self, slots: usize) {
        let mut empty = Vec::new();
        empty.resize_with(slots, || None);
        let slots = core::mem::replace(&mut self.slots, empty);
        let others = self.others.take().into_iter().flat_map(|others| *others);
        for (position, value) in slots.into_iter().flatten().chain(others) {
            self.put(position, value);
        }
    }

    /// The entries in the order of their positions.
    pub fn into_entries(self) -> Vec<(u64, T)> {
        let mut entries: Vec<_> = self
            .slots
            .into_iter()
            .flatten()
            .chain(self.others.into_iter().flat_map(|others| *others))
            .collect();
        entries.sort_unstable_by_key(|(position, _)| *position);
        entries
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, vec::Vec};

    use super::super::tests::world::Random;
    use super::{KEPT, Table};

    /// The same as a map from the standard library, with dense positions, those of one slot, and any.
    #[test]
    fn like_a_map() {
        for (seed, stride) in [(1, 1), (2, 1 << 20), (3, 0x9e37_79b9_7f4a_7c15_u64)] {
            let mut random = Random::new(seed);
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            let mut next = 0u64;
            for step in 0..20_000 {
                // Grows, shrinks, and grows again.
                let grows = step / 5_000 % 2 == 0;
                if random.below(8) < if grows { 5 } else { 3 } {
                    next += 1;
                    let position = next.wrapping_mul(stride);
                    table.insert(position, step);
                    map.insert(position, step);
                } else {
                    let position =
                        (next - random.below(1_000).min(next as usize) as u64).wrapping_mul(stride);
                    assert_eq!(table.get(position), map.get(&position));
                    assert_eq!(table.get_mut(position), map.get_mut(&position));
                    assert_eq!(table.remove(position), map.remove(&position));
                }
                assert_eq!(table.len(), map.len());
                assert!(table.slots.len() <= KEPT.max(8 * (map.len() + 1)));
            }
            let others = table.others.as_ref().map_or(0, |others| others.len());
            assert!(stride != 1 || others < table.len() / 4 + 1);
            assert_eq!(table.into_entries(), map.into_iter().collect::<Vec<_>>());
        }
    }
}
