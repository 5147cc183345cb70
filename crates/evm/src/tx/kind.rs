//! The types of transactions.
#[cfg(feature = "serde")]
use super::quantity::Quantity;
use crate::rlp::Buffer;

/// Type of an EIP-2718 envelope.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "Quantity<u8>", try_from = "Quantity<u8>")
)]
#[repr(u8)]
pub enum TransactionType {
    /// The type before EIP-2718, without a type byte.
    #[default]
    Legacy = 0,
    /// With an access list.
    Eip2930 = 1,
    /// With a priority fee.
    Eip1559 = 2,
    /// With blobs.
    Eip4844 = 3,
    /// With authorizations.
    Eip7702 = 4,
}

impl TransactionType {
    /// Appends the type byte, if there is one.
    #[inline]
    pub(super) fn put<B: Buffer>(self, out: &mut B) {
        out.put(&[self as u8], self.prefix_len());
    }

    /// Returns the number of bytes before the list.
    #[inline]
    pub(super) const fn prefix_len(self) -> usize {
        match self {
            Self::Legacy => 0,
            _ => 1,
        }
    }
}
