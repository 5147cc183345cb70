//! Which instructions compute Keccak: found once at run time, chosen once per hash or batch.

use super::{State, portable};

/// A way to compute Keccak on this CPU. Every backend gives the same digests.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Safe Rust for every target.
    Portable,
}

impl Backend {
    /// The fastest backend of this CPU.
    #[inline]
    pub fn detect() -> Self {
        Self::Portable
    }

    /// Every backend this CPU can run, the slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Portable].into_iter()
    }

    /// One Keccak-f\[1600\].
    #[inline]
    pub(super) fn permute(self, state: &mut State) {
        match self {
            Self::Portable => portable::permute(state),
        }
    }
}
