//! Lydite under [alloy] and [revm], by one line:
//!
//! ```
//! lydite_alloy::install();
//! ```
//!
//! | what then runs on Lydite | feature | hook |
//! |---|---|---|
//! | `alloy_primitives::keccak256`: hashes of transactions, nodes of tries, revm's KECCAK256, CREATE2, … | `keccak` | the symbol `native_keccak256`, from when the program is linked |
//! | senders of alloy-consensus' transactions | `consensus` | `alloy_consensus::crypto::install_default_provider` |
//! | revm's precompiled contracts | `revm` | `revm::precompile::install_crypto` |
//!
//! All three are on by default; with `default-features = false`, what is not asked for is not compiled: no revm for those
//! who have alloy only, and no alloy-consensus for those who have revm only.
//!
//! What the hooks do not reach: `alloy_primitives::Keccak256` (streaming; `Address::to_checksum` uses it), the methods
//! of `alloy_primitives::Signature`, alloy's signers. The symbol is not asked for where something turns on
//! alloy-primitives' `sha3-keccak` or `tiny-keccak`; where something else defines it, the linker says so: leave out
//! `keccak` then.
//!
//! [alloy]: https://docs.rs/alloy
//! [revm]: https://docs.rs/revm
#![deny(unsafe_code)]

#[cfg(feature = "consensus")]
mod consensus;
#[cfg(feature = "revm")]
mod crypto;
#[cfg(feature = "revm")]
mod execution;
#[cfg(feature = "keccak")]
#[allow(unsafe_code)]
mod keccak;

#[cfg(feature = "consensus")]
pub use consensus::LyditeProvider;
#[cfg(feature = "revm")]
pub use crypto::LyditeCrypto;
#[cfg(feature = "revm")]
pub use execution::{Error, Execution, Program, Status, execute, spec_id};
#[cfg(feature = "keccak")]
pub use keccak::native_keccak256;

/// Which hooks [`install`] could take. The symbol of `keccak` is not among them: the linker has taken it already.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Whether senders are recovered by [`LyditeProvider`] from now on.
    #[cfg(feature = "consensus")]
    pub consensus: bool,
    /// Whether precompiled contracts are computed by [`LyditeCrypto`] from now on.
    #[cfg(feature = "revm")]
    pub revm: bool,
}

/// Makes alloy and revm use Lydite in this process. Each hook can be taken once; revm's first precompiled contract takes
/// its hook too, so call this first.
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

/// How often each hook was called, for the tests that prove it is.
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
