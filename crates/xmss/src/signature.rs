//! Public keys and signatures: encoding and verification.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use crate::encoding::Encoding;
use crate::hash::{
    DIGEST_WORDS, Digest, MESSAGE_WORDS, PARAMETER_WORDS, Parameter, RANDOMNESS_WORDS, Randomness,
    TweakHash,
};
use crate::koalabear;
use crate::parallel;
use crate::poseidon::{Backend, LANES, Lanes};
use crate::scheme::{Scheme, lifetime};
use crate::ssz::{Canonical, DecodeError, Reader};
use crate::walk::{ChainWalk, walk};

/// A message to sign: 32 bytes, usually a hash of the content.
pub type Message = [u8; 32];

/// A public key: the root of the tree and the public parameter.
pub struct PublicKey<S> {
    pub(crate) root: Digest,
    pub(crate) parameter: Parameter,
    pub(crate) scheme: PhantomData<S>,
}

impl<S> Clone for PublicKey<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for PublicKey<S> {}
impl<S> PartialEq for PublicKey<S> {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.parameter == other.parameter
    }
}
impl<S> Eq for PublicKey<S> {}
impl<S> fmt::Debug for PublicKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("root", &self.root)
            .field("parameter", &self.parameter)
            .finish_non_exhaustive()
    }
}

impl<S: Scheme> PublicKey<S> {
    /// Length of an encoded key in bytes.
    pub const LENGTH: usize = 4 * (S::Hash::DIGEST + S::Hash::PARAMETER);

    /// Decodes SSZ: root and parameter, each word little-endian.
    ///
    /// # Errors
    ///
    /// A wrong length, or a word that is not a field element.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::read(bytes, Canonical::Required)
    }

    /// Like [`Self::from_bytes`], but reads field elements modulo p, like leanSig c08a3ba. One key then has many
    /// encodings: use it to examine what others accept, not on a network.
    ///
    /// # Errors
    ///
    /// A wrong length.
    pub fn from_bytes_leansig_compatible(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::read(bytes, Canonical::Reduced)
    }

    fn read(bytes: &[u8], canonical: Canonical) -> Result<Self, DecodeError> {
        if bytes.len() != Self::LENGTH {
            return Err(DecodeError::Length {
                length: bytes.len(),
                expected: Self::LENGTH,
            });
        }
        let mut reader = Reader::new(bytes);
        Ok(Self {
            root: reader.words::<S::Hash, DIGEST_WORDS>(S::Hash::DIGEST, canonical)?,
            parameter: reader.words::<S::Hash, _>(S::Hash::PARAMETER, canonical)?,
            scheme: PhantomData,
        })
    }

    /// Encodes to SSZ.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.root[..S::Hash::DIGEST]
            .iter()
            .chain(&self.parameter[..S::Hash::PARAMETER])
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// Root and parameter with each word in Montgomery form, as in the bincode encoding of the 2025 hash-sig.
    pub fn to_montgomery_bytes(&self) -> Vec<u8> {
        self.root[..S::Hash::DIGEST]
            .iter()
            .chain(&self.parameter)
            .flat_map(|&word| koalabear::mul(word, koalabear::R).to_le_bytes())
            .collect()
    }

    /// Whether `signature` is a valid signature of `message` for `epoch` under this key.
    pub fn verify(&self, epoch: u32, message: &Message, signature: &Signature<S>) -> bool {
        self.verify_with(Backend::detect(), epoch, message, signature)
    }

    /// [`Self::verify`] with a specific backend.
    pub(crate) fn verify_with(
        &self,
        backend: Backend,
        epoch: u32,
        message: &Message,
        signature: &Signature<S>,
    ) -> bool {
        if !signature.fits(epoch) {
            return false;
        }
        let mut codeword = vec![0; S::Encoding::CHAINS];
        let hash = S::Hash::message_one(
            backend,
            &self.parameter,
            epoch,
            &signature.randomness,
            &S::Hash::message_words(message),
        );
        if !S::Encoding::encode(&hash, &mut codeword) {
            return false;
        }
        let walks: Vec<_> = signature.walks(&self.parameter, epoch, &codeword).collect();
        let mut ends = vec![Digest::default(); walks.len()];
        walk::<S::Hash>(backend, &walks, |chain, end| ends[chain] = *end);
        let mut node = S::Hash::leaf_one(backend, &self.parameter, epoch, &ends);
        let mut position = epoch;
        for (level, sibling) in (1..).zip(&signature.path) {
            let children = if position & 1 == 0 {
                [&node, sibling]
            } else {
                [sibling, &node]
            };
            position >>= 1;
            node = S::Hash::node_one(backend, &self.parameter, level, position, children);
        }
        node == self.root
    }
}

/// A signature: an authentication path, the randomness of the message hash, and one value per chain.
pub struct Signature<S> {
    /// The siblings on the path from the leaf to just below the root.
    pub(crate) path: Vec<Digest>,
    /// The randomness for which the message has a codeword.
    pub(crate) randomness: Randomness,
    /// Each chain's value at the codeword's digit.
    pub(crate) hashes: Vec<Digest>,
    pub(crate) scheme: PhantomData<S>,
}

impl<S> Clone for Signature<S> {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            randomness: self.randomness,
            hashes: self.hashes.clone(),
            scheme: PhantomData,
        }
    }
}
impl<S> PartialEq for Signature<S> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
            && self.randomness == other.randomness
            && self.hashes == other.hashes
    }
}
impl<S> Eq for Signature<S> {}
impl<S> fmt::Debug for Signature<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signature")
            .field("randomness", &self.randomness)
            .finish_non_exhaustive()
    }
}

impl<S: Scheme> Signature<S> {
    /// Length of an encoded signature in bytes.
    pub const LENGTH: usize = if S::FIXED {
        4 * (S::Hash::DIGEST * (S::Encoding::CHAINS + S::LOG_LIFETIME as usize)
            + S::Hash::RANDOMNESS)
    } else {
        Self::HASHES_OFFSET + 4 * S::Hash::DIGEST * S::Encoding::CHAINS
    };
    /// Offset of the path, after two offsets and the randomness.
    const PATH_OFFSET: usize = 8 + 4 * S::Hash::RANDOMNESS;
    /// Offset of the chains' values.
    const HASHES_OFFSET: usize =
        Self::PATH_OFFSET + 4 + 4 * S::Hash::DIGEST * S::LOG_LIFETIME as usize;

    /// Decodes SSZ: a container of the path, which is itself a container of a list; the randomness; and a list of the
    /// chains' values. If [`Scheme::FIXED`], the chains' values, randomness and path follow one another.
    ///
    /// # Errors
    ///
    /// A wrong length or offset for this scheme, or a word that is not a field element.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::check_length(bytes)?;
        let signature = Self::read(bytes, Canonical::Required)?;
        if signature.hashes.len() != S::Encoding::CHAINS {
            // The lengths of path and hashes are both wrong, but have the right sum.
            return Err(DecodeError::Offset {
                at: 4 + 4 * S::Hash::RANDOMNESS,
                offset: (bytes.len() - 4 * S::Hash::DIGEST * signature.hashes.len()) as u32,
                expected: Self::HASHES_OFFSET as u32,
            });
        }
        Ok(signature)
    }

    /// Like [`Self::from_bytes`], but accepts what leanSig c08a3ba accepts: field elements are read modulo p, and path
    /// and chains may have any length, which verification then rejects. One signature then has many encodings: use it
    /// to examine what others accept, not on a network.
    ///
    /// # Errors
    ///
    /// Invalid offsets, or lists that are not a whole number of digests.
    pub fn from_bytes_leansig_compatible(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::read(bytes, Canonical::Reduced)
    }

    fn read(bytes: &[u8], canonical: Canonical) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        if S::FIXED {
            Self::check_length(bytes)?;
            let chains_end = 4 * S::Hash::DIGEST * S::Encoding::CHAINS;
            return Ok(Self {
                hashes: reader.digests::<S::Hash>(chains_end, canonical)?,
                randomness: reader.words::<S::Hash, _>(S::Hash::RANDOMNESS, canonical)?,
                path: reader.digests::<S::Hash>(Self::LENGTH, canonical)?,
                scheme: PhantomData,
            });
        }
        reader.offset(Self::PATH_OFFSET)?;
        let randomness =
            reader.words::<S::Hash, RANDOMNESS_WORDS>(S::Hash::RANDOMNESS, canonical)?;
        let at = reader.position();
        let hashes_offset = reader.u32()?;
        let hashes_at = hashes_offset as usize;
        if hashes_at < Self::PATH_OFFSET + 4 || hashes_at > bytes.len() {
            return Err(DecodeError::Offset {
                at,
                offset: hashes_offset,
                expected: Self::HASHES_OFFSET as u32,
            });
        }
        reader.offset(4)?;
        let path = reader.digests::<S::Hash>(hashes_at, canonical)?;
        let hashes = reader.digests::<S::Hash>(bytes.len(), canonical)?;
        Ok(Self {
            path,
            randomness,
            hashes,
            scheme: PhantomData,
        })
    }

    fn check_length(bytes: &[u8]) -> Result<(), DecodeError> {
        if bytes.len() == Self::LENGTH {
            return Ok(());
        }
        Err(DecodeError::Length {
            length: bytes.len(),
            expected: Self::LENGTH,
        })
    }

    /// Encodes to SSZ.
    pub fn to_bytes(&self) -> Vec<u8> {
        let digest = |digest: &Digest| {
            let digest = *digest;
            (0..S::Hash::DIGEST).flat_map(move |i| digest[i].to_le_bytes())
        };
        let randomness = self.randomness[..S::Hash::RANDOMNESS]
            .iter()
            .flat_map(|word| word.to_le_bytes());
        let mut bytes = Vec::with_capacity(Self::LENGTH);
        if S::FIXED {
            bytes.extend(self.hashes.iter().flat_map(digest));
            bytes.extend(randomness);
            bytes.extend(self.path.iter().flat_map(digest));
            return bytes;
        }
        let hashes_offset = Self::PATH_OFFSET + 4 + 4 * S::Hash::DIGEST * self.path.len();
        bytes.extend((Self::PATH_OFFSET as u32).to_le_bytes());
        bytes.extend(randomness);
        bytes.extend((hashes_offset as u32).to_le_bytes());
        bytes.extend(4_u32.to_le_bytes());
        bytes.extend(self.path.iter().flat_map(digest));
        bytes.extend(self.hashes.iter().flat_map(digest));
        bytes
    }

    /// Whether the lengths are those of a signature for `epoch`.
    fn fits(&self, epoch: u32) -> bool {
        u64::from(epoch) < lifetime::<S>()
            && self.hashes.len() == S::Encoding::CHAINS
            && self.path.len() == S::LOG_LIFETIME as usize
    }

    /// The walks from the signature's values to the ends of the chains.
    fn walks<'a>(
        &'a self,
        parameter: &'a Parameter,
        epoch: u32,
        codeword: &'a [u8],
    ) -> impl Iterator<Item = ChainWalk<'a>> {
        (0..)
            .zip(&self.hashes)
            .zip(codeword)
            .map(move |((chain, value), &position)| ChainWalk {
                parameter,
                epoch,
                chain,
                position,
                steps: (S::Encoding::BASE - 1) as u8 - position,
                value,
            })
    }
}

/// A signature to verify in a batch.
pub struct Claim<'a, S> {
    /// The signer's public key.
    pub public_key: &'a PublicKey<S>,
    /// The epoch.
    pub epoch: u32,
    /// The signed message.
    pub message: &'a Message,
    /// The signature.
    pub signature: &'a Signature<S>,
}

impl<S> Clone for Claim<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Claim<'_, S> {}

/// Verifies many claims like [`PublicKey::verify`], [`LANES`] at a time, on all cores with the feature `rayon`. Returns
/// whether each is valid. Keys, epochs and messages may all differ.
pub fn verify_batch<S: Scheme>(claims: &[Claim<'_, S>]) -> Vec<bool> {
    verify_batch_with(Backend::detect(), claims)
}

/// [`verify_batch`] with a specific backend.
pub(crate) fn verify_batch_with<S: Scheme>(backend: Backend, claims: &[Claim<'_, S>]) -> Vec<bool> {
    let mut valid = vec![false; claims.len()];
    parallel::for_chunks(&mut valid, LANES, &|group, valid| {
        let start = LANES * group;
        verify_group(backend, &claims[start..start + valid.len()], valid);
    });
    valid
}

/// Verifies at most [`LANES`] claims.
fn verify_group<S: Scheme>(backend: Backend, claims: &[Claim<'_, S>], valid: &mut [bool]) {
    if let ([claim], [valid]) = (claims, &mut *valid) {
        *valid = claim
            .public_key
            .verify_with(backend, claim.epoch, claim.message, claim.signature);
        return;
    }
    let mut parameter = Lanes::<PARAMETER_WORDS>::ZERO;
    let mut randomness = Lanes::<RANDOMNESS_WORDS>::ZERO;
    let mut message = Lanes::<MESSAGE_WORDS>::ZERO;
    let mut epochs = [0; LANES];
    for (l, claim) in claims.iter().enumerate() {
        parameter.set(l, &claim.public_key.parameter);
        randomness.set(l, &claim.signature.randomness);
        message.set(l, &S::Hash::message_words(claim.message));
        epochs[l] = claim.epoch;
    }
    let absorbed = S::Hash::absorb(backend, &parameter, &epochs, &message);
    let hash = S::Hash::message(backend, &absorbed, &randomness);
    let chains = S::Encoding::CHAINS;
    let mut codewords = vec![0; chains * claims.len()];
    let mut walks = Vec::with_capacity(codewords.len());
    let mut owners = Vec::with_capacity(claims.len());
    for ((l, claim), codeword) in claims
        .iter()
        .enumerate()
        .zip(codewords.chunks_exact_mut(chains))
    {
        if claim.signature.fits(claim.epoch) && S::Encoding::encode(&hash.lane(l), codeword) {
            let parameter = &claim.public_key.parameter;
            walks.extend(claim.signature.walks(parameter, claim.epoch, codeword));
            owners.push(l);
        }
    }
    let mut ends = vec![Lanes::<DIGEST_WORDS>::ZERO; chains];
    walk::<S::Hash>(backend, &walks, |index, end| {
        ends[index % chains].set(owners[index / chains], &end[..S::Hash::DIGEST]);
    });
    let mut node = S::Hash::leaf(backend, &parameter, &epochs, &ends);
    let mut positions = epochs;
    for level in 1..=S::LOG_LIFETIME as u8 {
        let mut sibling = Lanes::<DIGEST_WORDS>::ZERO;
        for &l in &owners {
            let digest = &claims[l].signature.path[usize::from(level) - 1];
            sibling.set(l, &digest[..S::Hash::DIGEST]);
        }
        // A node at an odd position is the right one.
        let swap = positions.map(|position| (position & 1).wrapping_neg());
        let (mut left, mut right) = (node, sibling);
        for (left, right) in left.0.iter_mut().zip(&mut right.0).take(S::Hash::DIGEST) {
            for l in 0..LANES {
                let change = (left[l] ^ right[l]) & swap[l];
                left[l] ^= change;
                right[l] ^= change;
            }
        }
        positions = positions.map(|position| position >> 1);
        node = S::Hash::node(backend, &parameter, level, &positions, [&left, &right]);
    }
    for l in owners {
        valid[l] = node.lane(l) == claims[l].public_key.root;
    }
}
