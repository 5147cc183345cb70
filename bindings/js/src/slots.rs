//! Tables of objects.

use crate::failure::{Code, Failure};

/// Objects that JavaScript refers to by number.
pub struct Slots<T>(Vec<Option<T>>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Slots<T> {
    pub fn add(&mut self, item: T) -> usize {
        let free = self.0.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[index] = Some(item);
        index
    }

    pub fn get(&mut self, index: usize) -> Result<&mut T, Failure> {
        self.0
            .get_mut(index)
            .and_then(Option::as_mut)
            .ok_or_else(|| Failure::new(Code::Argument, "object was freed"))
    }

    /// The number of the first object that `is_it` accepts.
    #[cfg(feature = "captp")]
    pub fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        self.0
            .iter()
            .position(|slot| slot.as_ref().is_some_and(&is_it))
    }

    pub fn free(&mut self, index: usize) -> Result<usize, Failure> {
        match self.0.get_mut(index) {
            Some(slot) => *slot = None,
            None => return Err(Failure::argument("unknown object")),
        }
        Ok(0)
    }
}
