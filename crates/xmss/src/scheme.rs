//! The parts of a scheme, and the instances.

use crate::blake2s::{Blake2sHash, Blake2sPrf};
use crate::encoding::{Aborting, Encoding, PinnedTargetSum, Radix, TargetSum, Winternitz};
use crate::hash::{Poseidon1Hash, Poseidon2Hash, TweakHash};
use crate::prf::{Prf, Shake};

/// A Generalized XMSS signature scheme: a Merkle tree over one-time keys, one per epoch \[DKKW25\].
///
/// The tree of height [`Scheme::LOG_LIFETIME`] is split in the middle: bottom trees of 2^(height / 2) epochs, and a top tree
/// over their roots.
pub trait Scheme: Sized + Send + Sync + 'static {
    /// The hash for chains, trees and messages.
    type Hash: TweakHash;
    /// The function that generates chain starts and the randomness of messages.
    type Prf: Prf;
    /// The encoding of messages into codewords.
    type Encoding: Encoding;
    /// Base-2 logarithm of the number of epochs: even, from 8 to 32.
    const LOG_LIFETIME: u32;
    /// Whether an encoded signature is a container of fields of fixed size: chains' values, randomness, path.
    const FIXED: bool = false;
    /// Name used on the command line and in key files.
    const NAME: &'static str;
}

/// Number of epochs.
pub(crate) const fn lifetime<S: Scheme>() -> u64 {
    const { assert!(S::LOG_LIFETIME.is_multiple_of(2) && S::LOG_LIFETIME >= 8 && S::LOG_LIFETIME <= 32) };
    1 << S::LOG_LIFETIME
}

/// Number of epochs in a bottom tree, and of bottom trees in a full top tree.
pub(crate) const fn tree_leaves<S: Scheme>() -> u64 {
    1 << (S::LOG_LIFETIME / 2)
}

macro_rules! schemes {
    ($($(#[$doc:meta])* $type:ident = $name:literal, $log:literal, $hash:ty, $encoding:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $type {}

            impl Scheme for $type {
                type Hash = $hash;
                type Prf = Shake;
                type Encoding = $encoding;
                const LOG_LIFETIME: u32 = $log;
                const NAME: &'static str = $name;
            }
        )*
    };
}

schemes! {
    /// leanSig c08a3ba, `SIGAbortingTargetSumLifetime32Dim46Base8`: 46 chains of 8, 2^32 epochs.
    LeanSigProd = "leansig-prod", 32, Poseidon1Hash<8, 7, 46>, TargetSum<Aborting<46>, 200>;
    /// leanSig c08a3ba's set for tests: 4 chains of 8, 2^8 epochs. Forgeable: not for production.
    LeanSigTest = "leansig-test", 8, Poseidon1Hash<8, 7, 4>, TargetSum<Aborting<4>, 6>;
    /// [`LeanSigProd`] over a tree of 2^8 epochs.
    LeanSig46x8 = "leansig-46-8", 8, Poseidon1Hash<8, 7, 46>, TargetSum<Aborting<46>, 200>;
    /// [`LeanSigProd`] over a tree of 2^10 epochs.
    LeanSig46x10 = "leansig-46-10", 10, Poseidon1Hash<8, 7, 46>, TargetSum<Aborting<46>, 200>;
    /// [`LeanSigProd`] over a tree of 2^18 epochs.
    LeanSig46x18 = "leansig-46-18", 18, Poseidon1Hash<8, 7, 46>, TargetSum<Aborting<46>, 200>;
    /// leanSig c08a3ba's older `SIGTargetSumLifetime18W4NoOff`: 39 chains of 16, 2^18 epochs.
    LeanSigLegacyW4 = "leansig-legacy-w4", 18, Poseidon1Hash<7, 6, 39>, TargetSum<Radix<39, 4>, 293>;
    /// hash-sig e66a485 (2025), `SIGWinternitzLifetime18W8`: Winternitz, 22 chains of 256, Poseidon2, 2^18 epochs.
    HashSig2025 = "hash-sig-2025", 18, Poseidon2Hash<7, 5, 20>, Winternitz<Radix<20, 8>, 2>;
}

/// leanVM's set on BLAKE2s, which lean-consensus devnets run: 42 chains of 8, nodes of 16 bytes, 2^32 epochs \[LEANVM\],
/// \[XMSS-SPEC\]. A key follows from its seed and its first and last epoch.
///
/// The encoding of a secret key is Lydite's own; leanVM defines none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeanVm {}

impl Scheme for LeanVm {
    type Hash = Blake2sHash;
    type Prf = Blake2sPrf;
    type Encoding = PinnedTargetSum;
    const LOG_LIFETIME: u32 = 32;
    const FIXED: bool = true;
    const NAME: &'static str = "leanvm";
}
