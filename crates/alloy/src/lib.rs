#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

#[cfg(feature = "consensus")]
mod block;
#[cfg(feature = "consensus")]
mod consensus;
#[cfg(feature = "consensus")]
mod convert;
#[cfg(feature = "revm")]
mod crypto;
#[cfg(feature = "revm")]
mod execution;
#[cfg(feature = "keccak")]
#[allow(unsafe_code)]
mod keccak;
#[cfg(feature = "consensus")]
mod state;
#[cfg(feature = "consensus")]
mod transactions;

#[cfg(feature = "consensus")]
pub use block::{
    calculate_receipt_root, calculate_transaction_root, calculate_withdrawals_root,
    ordered_trie_root, ordered_trie_root_encoded, ordered_trie_root_with_encoder,
};
#[cfg(feature = "consensus")]
pub use consensus::LyditeProvider;
#[cfg(feature = "consensus")]
pub use convert::{to_envelope, to_transaction};
#[cfg(feature = "revm")]
pub use crypto::LyditeCrypto;
#[cfg(feature = "revm")]
pub use execution::{Error, Execution, Program, Status, execute, spec_id};
#[cfg(feature = "keccak")]
pub use keccak::native_keccak256;
#[cfg(feature = "consensus")]
pub use state::{
    logs_bloom, logs_blooms, receipts_with_bloom, state_root, state_root_ref_unhashed,
    state_root_unhashed, state_root_unsorted, storage_root, storage_root_unhashed,
    storage_root_unsorted,
};
#[cfg(feature = "consensus")]
pub use transactions::{TransactionError, decode_transactions, recover_signers};

/// The hooks that [`install`] could set. The symbol of `keccak` is not included: the linker has already resolved it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Whether [`LyditeProvider`] now recovers senders.
    #[cfg(feature = "consensus")]
    pub consensus: bool,
    /// Whether [`LyditeCrypto`] now computes precompiled contracts.
    #[cfg(feature = "revm")]
    pub revm: bool,
}

/// Makes alloy and revm use Lydite in this process. Each hook can be set only once, and revm's first precompile call
/// sets its hook too, so call this first.
pub fn install() -> Installed {
    Installed {
        #[cfg(feature = "consensus")]
        consensus: consensus::install(),
        #[cfg(feature = "revm")]
        revm: crypto::install(),
    }
}

#[cfg(all(test, feature = "keccak", feature = "consensus", feature = "revm"))]
mod tests;

/// Counts the calls of each hook, for tests.
#[cfg(test)]
mod calls {
    use std::sync::atomic::{AtomicU64, Ordering};

    pub static KECCAK: AtomicU64 = AtomicU64::new(0);
    pub static RECOVER: AtomicU64 = AtomicU64::new(0);
    pub static VERIFY: AtomicU64 = AtomicU64::new(0);
    pub static PRECOMPILE: AtomicU64 = AtomicU64::new(0);

    pub fn count(calls: &AtomicU64) {
        calls.fetch_add(1, Ordering::Relaxed);
    }
}
