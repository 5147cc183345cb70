//! Storage with stable, generation-checked ids.
use alloc::vec::Vec;
use core::num::NonZeroU32;

/// The index of a slot and the generation of its contents. A stale id finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id {
    pub index: u32,
    generation: NonZeroU32,
}

pub(super) struct Slab<T> {
    slots: Vec<(NonZeroU32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn insert(&mut self, value: T) -> Id {
        match self.free.pop() {
            Some(index) => {
                let slot = &mut self.slots[index as usize];
                slot.1 = Some(value);
                Id {
                    index,
                    generation: slot.0,
                }
            }
            None => {
                let index = self.slots.len() as u32;
                // By a quarter, since doubling would waste more memory than copying takes time.
                if self.slots.len() == self.slots.capacity() {
                    self.slots.reserve_exact((self.slots.len() / 4).max(4));
                }
                let generation = NonZeroU32::MIN;
                self.slots.push((generation, Some(value)));
                Id { index, generation }
            }
        }
    }

    pub fn get(&self, id: Id) -> Option<&T> {
        let slot = self.slots.get(id.index as usize)?;
        (slot.0 == id.generation).then_some(slot.1.as_ref()?)
    }

    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.index as usize)?;
        (slot.0 == id.generation).then_some(slot.1.as_mut()?)
    }

    pub fn remove(&mut self, id: Id) -> Option<T> {
        let slot = self.slots.get_mut(id.index as usize)?;
        if slot.0 != id.generation {
            return None;
        }
        let value = slot.1.take()?;
        self.vacated(id);
        Some(value)
    }

    fn vacated(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id.index as usize) {
            // A slot whose generations are used up stays empty, so that an old id can never match again.
            if let Some(next) = slot.0.checked_add(1) {
                slot.0 = next;
                self.free.push(id.index);
            }
        }
    }

    pub fn ids(&self) -> Vec<Id> {
        let used = |(index, slot): (usize, &(NonZeroU32, Option<T>))| {
            slot.1.as_ref().map(|_| Id {
                index: index as u32,
                generation: slot.0,
            })
        };
        self.slots.iter().enumerate().filter_map(used).collect()
    }
}
