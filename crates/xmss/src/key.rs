//! Secret keys: generation, signing, and the window of epochs they are prepared for.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{ControlFlow, Range};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use chacha20::ChaCha12Rng;
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use crate::encoding::Encoding;
use crate::hash::{DIGEST_WORDS, Digest, Parameter, TweakHash};
use crate::layout::{Layout, PARAMETER_AT, Tree, covered, trees};
use crate::parallel;
use crate::poseidon::{Backend, LANES, Lanes};
use crate::prf::{Prf, PrfKey};
use crate::scheme::{Scheme, lifetime, tree_leaves};
use crate::signature::{Message, PublicKey, Signature};
use crate::ssz::{Canonical, DecodeError, Reader};
use crate::tree::{BottomTree, layer_above, pad_pairs};
use crate::walk::{ChainWalk, walk};
use crate::wipe::wipe_stack;

/// Why key generation failed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerateError {
    /// The requested range of epochs is empty or exceeds the scheme's lifetime.
    Epochs {
        /// The requested epochs.
        epochs: Range<u64>,
        /// The scheme's number of epochs.
        lifetime: u64,
    },
    /// The observer returned [`ControlFlow::Break`].
    Cancelled,
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epochs { epochs, lifetime } => write!(
                f,
                "expected a non-empty range of epochs within 0..{lifetime}, found {}..{}",
                epochs.start, epochs.end
            ),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl core::error::Error for GenerateError {}

/// Why signing failed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignError {
    /// The epoch is outside the key's active range.
    NotActive {
        /// The epoch.
        epoch: u32,
        /// The key's active epochs.
        active: Range<u64>,
    },
    /// The key is active for this epoch, but its trees do not cover it: see [`SecretKey::prepare`].
    NotPrepared {
        /// The epoch.
        epoch: u32,
        /// The epochs that the trees cover.
        prepared: Range<u64>,
    },
    /// No counter gave a codeword for the message. This is less likely than a hardware failure.
    NoCodeword {
        /// Number of counters tried.
        tries: u64,
    },
    /// A node of the key is damaged.
    Damaged(DecodeError),
    /// The signature does not verify: the key is damaged, or the computation was faulty. Key files check this.
    Faulty,
    /// The observer returned [`ControlFlow::Break`]. The key is unchanged.
    Cancelled,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotActive { epoch, active } => write!(
                f,
                "epoch {epoch} is outside the key's active epochs {}..{}",
                active.start, active.end
            ),
            Self::NotPrepared { epoch, prepared } => write!(
                f,
                "epoch {epoch} is outside the key's prepared epochs {}..{}",
                prepared.start, prepared.end
            ),
            Self::NoCodeword { tries } => write!(f, "no codeword found after {tries} tries"),
            Self::Damaged(error) => write!(f, "the key is damaged: {error}"),
            Self::Faulty => f.write_str(
                "the new signature is not valid: the key is damaged or the computation was faulty",
            ),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl core::error::Error for SignError {}

/// A progress callback, which can cancel by returning [`ControlFlow::Break`]. Called from all worker threads.
pub trait Observer: Sync {
    /// Reports that `done` of `total` leaves are complete.
    fn leaves(&self, done: u64, total: u64) -> ControlFlow<()>;
}

/// Never cancels.
impl Observer for () {
    fn leaves(&self, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(u64, u64) -> ControlFlow<()> + Sync> Observer for F {
    fn leaves(&self, done: u64, total: u64) -> ControlFlow<()> {
        self(done, total)
    }
}

/// Counts groups of leaves for an observer.
struct Progress<'a, O: Observer + ?Sized> {
    observer: &'a O,
    /// Number of groups of [`LANES`] leaves, at most 2^28, so it fits in a word of any target.
    groups: AtomicUsize,
    total: u64,
    cancelled: AtomicBool,
}

impl<'a, O: Observer + ?Sized> Progress<'a, O> {
    fn new(observer: &'a O, total: u64) -> Self {
        Self {
            observer,
            groups: AtomicUsize::new(0),
            total,
            cancelled: AtomicBool::new(false),
        }
    }

    /// Called before each group. Returns whether to compute it.
    fn step(&self) -> bool {
        if self.is_cancelled() {
            return false;
        }
        let done = self.groups.fetch_add(1, Ordering::Relaxed) as u64 * LANES as u64;
        if self.observer.leaves(done, self.total).is_break() {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        !self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// A secret key, kept in its SSZ encoding. Loading one reads the header but not the nodes, so `B` may be a mapped file.
///
/// A key is active for an interval of epochs and prepared for two of its bottom trees, the left and the right one.
/// Advancing drops the left tree and adds the one after the right. Only the PRF key is secret. If the bytes are
/// [`Zeroizing`], it is wiped when the key is dropped.
///
/// **This type does not record which epochs were signed.** Two signatures for one epoch reveal the key: use
/// `store::KeyFile` (feature `std`), or keep a durable record.
pub struct SecretKey<S, B = Zeroizing<Vec<u8>>> {
    bytes: B,
    layout: Layout,
    canonical: Canonical,
    scheme: PhantomData<S>,
}

impl<S: Scheme, B> fmt::Debug for SecretKey<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey")
            .field("scheme", &S::NAME)
            .field("active", &self.layout.active)
            .field("left_index", &self.layout.left_index)
            .finish_non_exhaustive()
    }
}

impl<S: Scheme> SecretKey<S> {
    /// Generates a key for at least these epochs from a random number generator. Draws the same words in the same order
    /// as the reference implementation.
    ///
    /// The epochs are widened to whole bottom trees, at least two, unless the scheme derives all of a key from its seed
    /// (as [`LeanVm`](crate::LeanVm) does). All leaves are computed. Memory holds two bottom trees and one per thread.
    ///
    /// # Errors
    ///
    /// [`GenerateError::Epochs`] if the range is empty or exceeds the lifetime; [`GenerateError::Cancelled`].
    pub fn generate<O: Observer + ?Sized>(
        rng: &mut (impl CryptoRng + ?Sized),
        epochs: Range<u64>,
        observer: &O,
    ) -> Result<Self, GenerateError> {
        Self::check_epochs(&epochs)?;
        let made = Self::draw(rng, &epochs, observer);
        wipe_stack();
        made
    }

    #[inline(never)]
    fn draw<O: Observer + ?Sized>(
        rng: &mut (impl CryptoRng + ?Sized),
        epochs: &Range<u64>,
        observer: &O,
    ) -> Result<Self, GenerateError> {
        let mut key = Zeroizing::new([0; 32]);
        if S::Prf::DERIVES_ALL {
            rng.fill_bytes(&mut *key);
            return Self::derive(&key, epochs, observer);
        }
        let parameter: Parameter = core::array::from_fn(|_| S::Hash::draw(rng));
        for byte in key.iter_mut() {
            *byte = rng.next_u32() as u8;
        }
        let leaves = tree_leaves::<S>();
        let trees = trees::<S>(epochs);
        let epochs = trees.start * leaves..trees.end * leaves;
        Self::from_parts(&parameter, &key, epochs, observer, |_, _| {
            let mut pad = [0; DIGEST_WORDS];
            for word in &mut pad[..S::Hash::DIGEST] {
                *word = S::Hash::draw(rng);
            }
            pad
        })
    }

    /// Computes a key from its PRF key, from which all follows.
    fn derive<O: Observer + ?Sized>(
        key: &PrfKey,
        epochs: &Range<u64>,
        observer: &O,
    ) -> Result<Self, GenerateError> {
        let parameter = S::Prf::parameter(key);
        Self::from_parts(
            &parameter,
            key,
            epochs.clone(),
            observer,
            |level, position| S::Prf::filler(key, &parameter, level, position),
        )
    }

    /// Like [`Self::generate`], from a seed: the same seed and epochs give the same key. The seed is the PRF key if that
    /// determines all of a key ([`LeanVm`](crate::LeanVm)); otherwise the generator is ChaCha12, currently `StdRng` of the rand
    /// crate.
    ///
    /// # Errors
    ///
    /// Those of [`Self::generate`].
    pub fn from_seed<O: Observer + ?Sized>(
        seed: &[u8; 32],
        epochs: Range<u64>,
        observer: &O,
    ) -> Result<Self, GenerateError> {
        let made = Self::from_seed_unwiped(seed, epochs, observer);
        wipe_stack();
        made
    }

    #[inline(never)]
    fn from_seed_unwiped<O: Observer + ?Sized>(
        seed: &[u8; 32],
        epochs: Range<u64>,
        observer: &O,
    ) -> Result<Self, GenerateError> {
        if S::Prf::DERIVES_ALL {
            Self::check_epochs(&epochs)?;
            return Self::derive(seed, &epochs, observer);
        }
        Self::generate(&mut ChaCha12Rng::from_seed(*seed), epochs, observer)
    }

    fn check_epochs(epochs: &Range<u64>) -> Result<(), GenerateError> {
        if epochs.is_empty() || epochs.end > lifetime::<S>() {
            return Err(GenerateError::Epochs {
                epochs: epochs.clone(),
                lifetime: lifetime::<S>(),
            });
        }
        Ok(())
    }

    fn from_parts<O: Observer + ?Sized>(
        parameter: &Parameter,
        key: &PrfKey,
        active: Range<u64>,
        observer: &O,
        mut pad: impl FnMut(u8, u32) -> Digest,
    ) -> Result<Self, GenerateError> {
        let trees = trees::<S>(&active);
        let count = (trees.end - trees.start) as usize;
        let progress = Progress::new(observer, active.end - active.start);
        let tree = |index: usize| {
            let index = (trees.start + index as u64) as u32;
            let mut tree = BottomTree::<S>::new(key, parameter, index, &active);
            tree.work(tree.missing(), || progress.step());
            let layers = tree.layers();
            wipe_stack();
            layers
        };
        let layout = Layout::new::<S>(active.clone(), trees.start);
        let mut bytes = Zeroizing::new(vec![0; layout.length()]);
        bytes[..32].copy_from_slice(key);
        for (bytes, word) in bytes[PARAMETER_AT..]
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip(&parameter[..S::Hash::PARAMETER])
        {
            *bytes = word.to_le_bytes();
        }
        layout.write_frame::<S>(&mut bytes);
        let mut roots = Vec::with_capacity(count);
        for (part, layers) in [&layout.left, &layout.right]
            .into_iter()
            .zip(parallel::collect(2, &tree))
        {
            write_layers::<S>(part, &active, &mut bytes, &layers);
            roots.extend(root(&layers));
        }
        roots.extend(parallel::collect(count - 2, &|index| {
            // After cancellation the placeholders made here are discarded.
            if progress.is_cancelled() {
                [0; DIGEST_WORDS]
            } else {
                root(&tree(2 + index)).unwrap_or([0; DIGEST_WORDS])
            }
        }));
        if progress.is_cancelled() {
            return Err(GenerateError::Cancelled);
        }
        // The top tree. Each layer is padded to whole pairs, also the root's, before the next is computed.
        let backend = Backend::detect();
        let lanes = Lanes::splat(parameter);
        let mut above = roots;
        let mut above_start = trees.start;
        for (i, (layer, level)) in layout
            .top
            .layers
            .iter()
            .zip(layout.top.lowest..)
            .enumerate()
        {
            let mut nodes = vec![[0; DIGEST_WORDS]; layer.count];
            nodes[(above_start - layer.start) as usize..][..above.len()].copy_from_slice(&above);
            let pad = |position: u64| pad(level as u8, position as u32);
            if i + 1 < layout.top.layers.len() {
                above = layer_above::<S>(
                    backend,
                    &lanes,
                    level,
                    layer.start,
                    &active,
                    &mut nodes,
                    pad,
                );
                above_start = layer.start / 2;
            } else {
                pad_pairs(level, layer.start, &active, &mut nodes, pad);
            }
            layout.top.write_nodes::<S>(&mut bytes, i, 0, &nodes);
        }
        Ok(Self {
            bytes,
            layout,
            canonical: Canonical::Required,
            scheme: PhantomData,
        })
    }

    /// Installs a finished tree: the right tree becomes the left one, and the new tree the right one.
    ///
    /// # Errors
    ///
    /// Returns the tree if it is incomplete or is not the one after the right tree.
    pub fn advance(&mut self, next: NextTree<S>) -> Result<(), NextTree<S>> {
        if next.0.missing() > 0 || u64::from(next.0.index) != self.layout.left_index + 2 {
            return Err(next);
        }
        self.put(next.0);
        wipe_stack();
        Ok(())
    }

    /// Prepares the key for an epoch, computing up to two trees at once if necessary. To do that step by step, see
    /// [`Self::next_tree`].
    ///
    /// # Errors
    ///
    /// [`SignError::NotActive`] for an epoch outside the key's active range; [`SignError::NotPrepared`] for an epoch
    /// before the window, which never moves back.
    pub fn prepare(&mut self, epoch: u32) -> Result<(), SignError> {
        self.prepare_with(epoch, &())
    }

    /// Like [`Self::prepare`], with an observer that is notified of leaves.
    ///
    /// # Errors
    ///
    /// Those of [`Self::prepare`], and [`SignError::Cancelled`].
    pub fn prepare_with<O: Observer + ?Sized>(
        &mut self,
        epoch: u32,
        observer: &O,
    ) -> Result<(), SignError> {
        self.prepare_from(epoch, &mut None, observer)
    }

    /// Like [`Self::prepare_with`], with an unfinished tree, which is used if it is one of those needed.
    pub(crate) fn prepare_from<O: Observer + ?Sized>(
        &mut self,
        epoch: u32,
        next: &mut Option<NextTree<S>>,
        observer: &O,
    ) -> Result<(), SignError> {
        self.check_active(epoch)?;
        let tree = u64::from(epoch) / tree_leaves::<S>();
        let Some(ahead) = tree.checked_sub(self.layout.left_index) else {
            return Err(self.not_prepared(epoch));
        };
        // Do not compute trees that would be dropped again.
        let count = ahead.saturating_sub(1).min(2);
        let due = tree + 1 - count..=tree;
        let begun = next.as_ref().map(|next| next.0.index);
        let mut trees: Vec<_> = due
            .map(|index| {
                let begun = next.take_if(|next| u64::from(next.0.index) == index);
                begun.map_or_else(|| self.tree(index), |next| next.0)
            })
            .collect();
        let missing = trees.iter().map(BottomTree::missing).sum::<usize>();
        let progress = Progress::new(observer, missing as u64);
        for i in 0..trees.len() {
            let tree = &mut trees[i];
            let done = tree.done;
            tree.work(tree.missing(), || progress.step());
            wipe_stack();
            if progress.is_cancelled() {
                // Return the tree that was begun, with the leaves that it had.
                trees[i].done = done;
                let mut trees = trees.into_iter();
                *next = next
                    .take()
                    .or_else(|| trees.find(|tree| Some(tree.index) == begun).map(NextTree));
                return Err(SignError::Cancelled);
            }
        }
        for tree in trees {
            self.put(tree);
        }
        wipe_stack();
        Ok(())
    }

    /// Installs a finished tree as the right one. The previous right one becomes the left.
    fn put(&mut self, tree: BottomTree<S>) {
        let bytes = &mut self.bytes;
        let layout = Layout::new::<S>(self.layout.active.clone(), u64::from(tree.index) - 1);
        // Both bottom trees have the same length, and the frames are rewritten.
        bytes.copy_within(
            self.layout.right.at..self.layout.right.end,
            self.layout.left.at,
        );
        bytes[layout.right.at..layout.right.end].fill(0);
        layout.write_frame::<S>(bytes);
        write_layers::<S>(&layout.right, &layout.active, bytes, &tree.layers());
        self.layout = layout;
    }
}

/// Writes a bottom tree where the bytes of its nodes are zero: a short key leaves most of them so.
fn write_layers<S: Scheme>(
    part: &Tree,
    active: &Range<u64>,
    bytes: &mut [u8],
    layers: &[Vec<Digest>],
) {
    for ((i, nodes), level) in layers.iter().enumerate().zip(0..) {
        let first = part.layers[i].start;
        let covered = covered(active, level);
        // With the siblings, and within the layer.
        let index = |position: u64| (position.saturating_sub(first) as usize).min(nodes.len());
        let written = index(covered.start & !1)..index(covered.end.next_multiple_of(2));
        part.write_nodes::<S>(bytes, i, written.start, &nodes[written]);
    }
}

fn root(layers: &[Vec<Digest>]) -> Option<Digest> {
    layers.last()?.first().copied()
}

impl<S: Scheme, B: AsRef<[u8]>> SecretKey<S, B> {
    /// Decodes SSZ. Reads and checks the header and the frames of the trees. Nodes are checked when they are used.
    ///
    /// # Errors
    ///
    /// Returns an error if anything except the nodes differs from a key of this scheme.
    pub fn from_bytes(bytes: B) -> Result<Self, DecodeError> {
        Self::read(bytes, Canonical::Required)
    }

    /// Like [`Self::from_bytes`], but reads field elements modulo p, like leanSig c08a3ba.
    ///
    /// # Errors
    ///
    /// Those of [`Self::from_bytes`].
    pub fn from_bytes_leansig_compatible(bytes: B) -> Result<Self, DecodeError> {
        Self::read(bytes, Canonical::Reduced)
    }

    fn read(bytes: B, canonical: Canonical) -> Result<Self, DecodeError> {
        let layout = Layout::read::<S>(bytes.as_ref())?;
        let key = Self {
            bytes,
            layout,
            canonical,
            scheme: PhantomData,
        };
        key.parameter()?;
        Ok(key)
    }

    #[cfg(feature = "std")]
    pub(crate) fn bytes(&self) -> &B {
        &self.bytes
    }

    /// Moves the key's bytes elsewhere, unchanged.
    #[cfg(feature = "keystore")]
    pub(crate) fn map_bytes<C>(self, f: impl FnOnce(B) -> C) -> SecretKey<S, C> {
        SecretKey {
            bytes: f(self.bytes),
            layout: self.layout,
            canonical: self.canonical,
            scheme: PhantomData,
        }
    }

    /// The SSZ encoding.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Copies the key into owned memory.
    pub fn to_owned(&self) -> SecretKey<S> {
        SecretKey {
            bytes: Zeroizing::new(self.bytes.as_ref().to_vec()),
            layout: self.layout.clone(),
            canonical: self.canonical,
            scheme: PhantomData,
        }
    }

    /// Checks every node, which loading does not.
    ///
    /// # Errors
    ///
    /// The first word that is not a field element. Does not check that the nodes are hashes of one another.
    pub fn check_nodes(&self) -> Result<(), DecodeError> {
        let bytes = self.bytes.as_ref();
        for tree in [&self.layout.top, &self.layout.left, &self.layout.right] {
            for (i, layer) in tree.layers.iter().enumerate() {
                for position in (layer.start..).take(layer.count) {
                    tree.node::<S>(bytes, i, position, self.canonical)?;
                }
            }
        }
        Ok(())
    }

    /// The epochs that the key is active for.
    pub fn active(&self) -> Range<u64> {
        self.layout.active.clone()
    }

    /// The epochs that can be signed now.
    pub fn prepared(&self) -> Range<u64> {
        let leaves = tree_leaves::<S>();
        let (start, end) = (
            self.layout.left_index * leaves,
            (self.layout.left_index + 2) * leaves,
        );
        start.max(self.layout.active.start)..end.min(self.layout.active.end)
    }

    /// The public key.
    ///
    /// # Errors
    ///
    /// The root or the parameter is damaged.
    pub fn public_key(&self) -> Result<PublicKey<S>, DecodeError> {
        Ok(PublicKey {
            root: self
                .layout
                .top
                .root::<S>(self.bytes.as_ref(), self.canonical)?,
            parameter: self.parameter()?,
            scheme: PhantomData,
        })
    }

    fn parameter(&self) -> Result<Parameter, DecodeError> {
        let mut reader = Reader::new(self.bytes.as_ref());
        reader.seek(PARAMETER_AT);
        reader.words::<S::Hash, _>(S::Hash::PARAMETER, self.canonical)
    }

    pub(crate) fn prf_key(&self) -> Zeroizing<PrfKey> {
        let mut key = Zeroizing::new([0; 32]);
        // The layout was read from these bytes, so they are long enough.
        if let Some(bytes) = self.bytes.as_ref().first_chunk() {
            *key = *bytes;
        }
        key
    }

    /// Returns the tree after the right one, still without leaves, or `None` if the key's epochs end with the right
    /// tree. Another thread can compute it while this key signs.
    pub fn next_tree(&self) -> Option<NextTree<S>> {
        let index = self.layout.left_index + 2;
        (index < self.layout.trees.end).then(|| NextTree(self.tree(index)))
    }

    /// Creates a bottom tree without leaves.
    fn tree(&self, index: u64) -> BottomTree<S> {
        // The parameter was validated when the key was loaded.
        let parameter = self.parameter().unwrap_or_default();
        let tree = BottomTree::new(
            &self.prf_key(),
            &parameter,
            index as u32,
            &self.layout.active,
        );
        wipe_stack();
        tree
    }

    fn check_active(&self, epoch: u32) -> Result<(), SignError> {
        let active = self.active();
        if active.contains(&u64::from(epoch)) {
            Ok(())
        } else {
            Err(SignError::NotActive { epoch, active })
        }
    }

    fn not_prepared(&self, epoch: u32) -> SignError {
        SignError::NotPrepared {
            epoch,
            prepared: self.prepared(),
        }
    }

    /// Signs a message for an epoch. Deterministic: it uses the lowest counter for which the message has a codeword.
    ///
    /// **Never sign two messages for one epoch**: see [`SecretKey`].
    ///
    /// The time depends on that counter, and thus on randomness derived from the secret key, the epoch and the message,
    /// like in the reference implementation. This reveals only that the hashes for lower counters had no codeword.
    ///
    /// # Errors
    ///
    /// [`SignError::NotActive`], [`SignError::NotPrepared`], [`SignError::NoCodeword`], [`SignError::Damaged`].
    pub fn sign(&self, epoch: u32, message: &Message) -> Result<Signature<S>, SignError> {
        self.sign_with(Backend::detect(), epoch, message)
    }

    /// Like [`Self::sign`], but verifies the signature before returning it, so that a damaged key or a fault in the
    /// computation reveals nothing. A faulty signature may reveal more of the key than a correct one, and its epoch
    /// must not be signed again.
    #[cfg(feature = "std")]
    pub(crate) fn sign_verified(
        &self,
        epoch: u32,
        message: &Message,
    ) -> Result<Signature<S>, SignError> {
        let public_key = self.public_key().map_err(SignError::Damaged)?;
        let signature = self.sign(epoch, message)?;
        if public_key.verify(epoch, message, &signature) {
            Ok(signature)
        } else {
            Err(SignError::Faulty)
        }
    }

    /// [`Self::sign`] with a specific backend.
    pub(crate) fn sign_with(
        &self,
        backend: Backend,
        epoch: u32,
        message: &Message,
    ) -> Result<Signature<S>, SignError> {
        let signed = self.sign_unwiped(backend, epoch, message);
        wipe_stack();
        signed
    }

    #[inline(never)]
    fn sign_unwiped(
        &self,
        backend: Backend,
        epoch: u32,
        message: &Message,
    ) -> Result<Signature<S>, SignError> {
        self.check_active(epoch)?;
        if !self.prepared().contains(&u64::from(epoch)) {
            return Err(self.not_prepared(epoch));
        }
        let bytes = self.bytes.as_ref();
        let parameter = self.parameter().map_err(SignError::Damaged)?;
        let key = self.prf_key();
        let tree = u64::from(epoch) / tree_leaves::<S>();
        let bottom = if tree == self.layout.left_index {
            &self.layout.left
        } else {
            &self.layout.right
        };
        let mut path = Vec::with_capacity(S::LOG_LIFETIME as usize);
        bottom
            .path::<S>(bytes, u64::from(epoch), self.canonical, &mut path)
            .and_then(|()| {
                self.layout
                    .top
                    .path::<S>(bytes, tree, self.canonical, &mut path)
            })
            .map_err(SignError::Damaged)?;

        // Find the lowest counter with a codeword.
        let lanes = Lanes::splat(&parameter);
        let message_words = Lanes::splat(&S::Hash::message_words(message));
        let absorbed = S::Hash::absorb(backend, &lanes, &[epoch; LANES], &message_words);
        let mut trials = S::Prf::trials(&key, &parameter, epoch, message);
        let mut codeword = vec![0; S::Encoding::CHAINS];
        let mut found = None;
        let mut first = 0;
        while found.is_none() && first < S::Encoding::TRIES {
            let randomness = S::Prf::randomness::<S::Hash>(&mut trials, first);
            let hash = S::Hash::message(backend, &absorbed, &randomness);
            // Which counters give no codeword is not secret, and the randomness of the one that does is published.
            #[cfg(lydite_constant_time_check)]
            {
                lydite_hash::memcheck::set_defined(&hash);
                lydite_hash::memcheck::set_defined(&randomness);
            }
            found = (0..LANES)
                .take_while(|&l| first + (l as u64) < S::Encoding::TRIES)
                .find(|&l| S::Encoding::encode(&hash.lane(l), &mut codeword))
                .map(|l| randomness.lane(l));
            first += LANES as u64;
        }
        let Some(randomness) = found else {
            return Err(SignError::NoCodeword {
                tries: S::Encoding::TRIES,
            });
        };

        // Walk each chain from its start to the codeword's digit.
        let groups = S::Encoding::CHAINS.div_ceil(LANES);
        let mut starts = Zeroizing::new(vec![Lanes::ZERO; groups]);
        // The last group may have chains that the scheme does not.
        let chains = (0..groups).map(|g| core::array::from_fn(|l| (LANES * g + l) as u8));
        S::Prf::starts::<S::Hash>(&key, &parameter, &[epoch; LANES], chains, &mut starts);
        let mut values = Zeroizing::new(vec![Digest::default(); S::Encoding::CHAINS]);
        for (chain, value) in values.iter_mut().enumerate() {
            *value = starts[chain / LANES].lane(chain % LANES);
        }
        let walks: Vec<_> = (0..)
            .zip(&codeword)
            .zip(&*values)
            .map(|((chain, &steps), value)| ChainWalk {
                parameter: &parameter,
                epoch,
                chain,
                position: 0,
                steps,
                value,
            })
            .collect();
        let mut hashes = vec![Digest::default(); S::Encoding::CHAINS];
        walk::<S::Hash>(backend, &walks, |chain, end| hashes[chain] = *end);
        // A signature is published.
        #[cfg(lydite_constant_time_check)]
        {
            lydite_hash::memcheck::set_defined(&path[..]);
            lydite_hash::memcheck::set_defined(&hashes[..]);
        }
        Ok(Signature {
            path,
            randomness,
            hashes,
            scheme: PhantomData,
        })
    }
}

/// The bottom tree after a key's right one, while it is being computed.
pub struct NextTree<S: Scheme>(BottomTree<S>);

impl<S: Scheme> NextTree<S> {
    /// Number of leaves still missing.
    pub fn missing(&self) -> usize {
        self.0.missing()
    }

    /// Computes this many leaves, rounded up to groups of [`LANES`]. A group takes as long as a single leaf.
    pub fn work(&mut self, leaves: usize) {
        self.0.work(leaves.min(self.0.missing()), || true);
    }
}

impl<S: Scheme> fmt::Debug for NextTree<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextTree")
            .field("index", &self.0.index)
            .field("missing", &self.0.missing())
            .finish_non_exhaustive()
    }
}

/// A key that prepares itself: the next tree is computed a few leaves at a time, and the window moves when necessary.
pub struct Signer<S: Scheme> {
    key: SecretKey<S>,
    next: Option<NextTree<S>>,
}

impl<S: Scheme> Signer<S> {
    /// Creates a signer with this key.
    pub fn new(key: SecretKey<S>) -> Self {
        let next = key.next_tree();
        Self { key, next }
    }

    /// The key.
    pub fn key(&self) -> &SecretKey<S> {
        &self.key
    }

    /// Adds leaves to the next tree, like [`NextTree::work`]. Returns whether any are still missing. [`Self::sign`]
    /// does this too, so call this only to use idle time.
    pub fn work(&mut self, leaves: usize) -> bool {
        self.next.as_mut().is_some_and(|next| {
            next.work(leaves);
            next.missing() > 0
        })
    }

    #[cfg(test)]
    pub(crate) fn missing(&self) -> Option<usize> {
        self.next.as_ref().map(NextTree::missing)
    }

    /// Signs, moving the window first if the epoch is after it. That takes no computation if the next tree is complete;
    /// otherwise the missing leaves are computed.
    ///
    /// If the next tree lacks more leaves than the window has epochs left, each signature adds an even share of them.
    /// When signing every epoch from the start of a window, one signature in [`LANES`] takes as long as computing that
    /// many leaves at once. None takes longer, and none takes that long if [`Self::work`] was called in time. A signer
    /// that starts late in a window has fewer signatures to spread the leaves over; at the last epoch it computes the
    /// whole tree.
    ///
    /// # Errors
    ///
    /// Those of [`SecretKey::sign`].
    pub fn sign(&mut self, epoch: u32, message: &Message) -> Result<Signature<S>, SignError> {
        if u64::from(epoch) >= self.key.prepared().end {
            self.key.prepare_from(epoch, &mut self.next, &())?;
            self.next = self.key.next_tree();
        }
        let signature = self.key.sign(epoch, message)?;
        let left = self.key.prepared().end - u64::from(epoch) - 1;
        if let Some(next) = &mut self.next {
            let share = next.missing() as u64 / (left + 1);
            next.work(share as usize);
        }
        Ok(signature)
    }
}
