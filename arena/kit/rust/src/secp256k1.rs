//! The rows `secp256k1_*`. A library implements [`Recovery`], and [`Keys`] if it also verifies and derives keys.
//!
//! Hashes have 32 bytes, public keys are x || y, and signatures with a recovery id are r || s || id.

use crate::change::{set_each, words};
use crate::operation::{Op, negative, op};
use crate::output::Output;
use crate::reader::Reader;

/// Signing and recovery of public keys.
pub trait Recovery: Copy + 'static {
    /// A secret key in the form that signing requires.
    type SigningKey: 'static;

    /// Parses a secret key of 32 big-endian bytes; not timed.
    fn signing_key(&self, bytes: &[u8; 32]) -> Option<Self::SigningKey>;

    /// Signs a hash.
    fn sign(&self, key: &Self::SigningKey, hash: &[u8; 32]) -> Option<[u8; 65]>;

    /// Signs a hash and recovers the public key from the signature, without encoding it.
    fn sign_recover(&self, key: &Self::SigningKey, hash: &[u8; 32]) -> Option<[u8; 64]>;

    /// Recovers the public key.
    fn recover(&self, hash: &[u8; 32], signature: &[u8; 65]) -> Option<[u8; 64]>;
}

/// Verification, public keys and key agreement.
pub trait Keys: Recovery {
    /// A secret key in the form that the derivation of its public key requires.
    type SecretKey: 'static;
    /// A parsed public key.
    type PublicKey: 'static;
    /// A parsed signature without a recovery id.
    type Signature: 'static;

    /// Parses a secret key of 32 big-endian bytes, also inside the clock where the row's rule changes the key.
    fn secret_key(&self, bytes: &[u8; 32]) -> Option<Self::SecretKey>;

    /// Parses a public key; not timed.
    fn public_key(&self, bytes: &[u8; 64]) -> Option<Self::PublicKey>;

    /// Parses r || s; not timed.
    fn signature(&self, bytes: &[u8; 64]) -> Option<Self::Signature>;

    /// Whether the signature is valid.
    fn verify(&self, key: &Self::PublicKey, hash: &[u8; 32], signature: &Self::Signature) -> bool;

    /// Derives the public key.
    fn derive(&self, key: &Self::SecretKey) -> Option<[u8; 64]>;

    /// Returns the x coordinate of the shared point.
    fn ecdh(&self, key: &Self::SecretKey, public_key: &Self::PublicKey) -> Option<[u8; 32]>;
}

/// The rows of single signatures and recoveries.
pub fn recovery<P: Recovery>(peer: P) -> Vec<Op> {
    vec![
        op("secp256k1_sign", move |r| key_and_hash(peer, r))
            .change("le@32", |(_, hash), word| set_hash(hash, word))
            .call(move |(key, hash)| peer.sign(key, hash)),
        op("secp256k1_sign_recover", move |r| key_and_hash(peer, r))
            .change("le@32", |(_, hash), word| set_hash(hash, word))
            .call(move |(key, hash)| peer.sign_recover(key, hash)),
        op("secp256k1_recover", signed)
            .change("le@0", |(hash, _), word| set_hash(hash, word))
            .call(move |(hash, signature)| peer.recover(hash, signature)),
        negative("secp256k1_recover", move |item| {
            signed(&mut Reader::new(item))
                .is_some_and(|(hash, signature)| peer.recover(&hash, &signature).is_some())
        }),
    ]
}

/// The rows of single verifications, public keys and key agreements.
pub fn keys<P: Keys>(peer: P) -> Vec<Op> {
    vec![
        op("secp256k1_verify", move |r| to_verify(peer, r))
            .call(move |(key, hash, signature)| [u8::from(peer.verify(key, hash, signature))]),
        op("secp256k1_public_key", move |r| known_key(peer, r))
            .change("be@28", move |(bytes, key), word| {
                set_key(peer, bytes, key, word);
            })
            .call(move |(_, key)| peer.derive(key)),
        op("secp256k1_ecdh", move |r| {
            Some((known_key(peer, r)?, peer.public_key(&r.array()?)?))
        })
        .change("be@28", move |((bytes, key), _), word| {
            set_key(peer, bytes, key, word);
        })
        .call(move |((_, key), public_key)| peer.ecdh(key, public_key)),
    ]
}

/// The rows of batches of a library without batches, as loops. `address` recovers the address of a signature.
pub fn loops<P: Keys>(
    peer: P,
    address: impl Fn(&[u8; 32], &[u8; 65]) -> Option<[u8; 20]> + Copy + 'static,
) -> Vec<Op> {
    vec![
        recover_loop(address),
        verify_batch(peer, Vec::new, move |keys, hashes, signatures, out| {
            let items = keys.iter().zip(hashes).zip(signatures);
            collect(out, items, |((key, hash), signature)| {
                Some([u8::from(peer.verify(key, hash, signature))])
            })
        }),
        sign_batch(peer, Vec::new, move |keys, hashes, out| {
            collect(out, keys.iter().zip(hashes), |(key, hash)| {
                peer.sign(key, hash)
            })
        }),
        public_key_batch(peer, Vec::new, move |keys, out| {
            collect(out, keys.iter(), |key| peer.derive(key))
        }),
    ]
}

/// `secp256k1_recover_batch` of a library without batches, as a loop.
pub fn recover_loop(
    address: impl Fn(&[u8; 32], &[u8; 65]) -> Option<[u8; 20]> + Copy + 'static,
) -> Op {
    recover_batch(Vec::new, move |hashes, signatures, out| {
        let items = hashes.iter().zip(signatures);
        collect(out, items, |(hash, signature)| address(hash, signature))
    })
}

/// Replaces the content of `out` by the results of a call for each item.
#[inline(always)]
fn collect<T, const N: usize>(
    out: &mut Vec<[u8; N]>,
    items: impl Iterator<Item = T>,
    call: impl Fn(T) -> Option<[u8; N]>,
) -> Option<()> {
    out.clear();
    for item in items {
        out.push(call(item)?);
    }
    Some(())
}

/// `secp256k1_recover_batch`: `call` gets hashes and signatures, and writes the addresses to the buffer.
pub fn recover_batch<S: Output + 'static>(
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&[[u8; 32]], &[[u8; 65]], &mut S) -> Option<()> + Copy + 'static,
) -> Op {
    op("secp256k1_recover_batch", |r| {
        Some(unzipped(r.until_empty(signed)?))
    })
    .change("le@0", |(hashes, _), word| set_each(hashes, word))
    .reuse(buffer, move |(hashes, signatures), out| {
        call(hashes, signatures, out)
    })
}

/// `secp256k1_verify_batch`: `call` gets public keys, hashes and signatures, and writes a byte each to the buffer, 1 if
/// valid.
pub fn verify_batch<P: Keys, S: Output + 'static>(
    peer: P,
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&[P::PublicKey], &[[u8; 32]], &[P::Signature], &mut S) -> Option<()> + Copy + 'static,
) -> Op {
    op("secp256k1_verify_batch", move |r| {
        let (mut keys, mut hashes, mut signatures) = (vec![], vec![], vec![]);
        for (key, hash, signature) in r.until_empty(|r| to_verify(peer, r))? {
            keys.push(key);
            hashes.push(hash);
            signatures.push(signature);
        }
        Some((keys, hashes, signatures))
    })
    .reuse(buffer, move |(keys, hashes, signatures), out| {
        call(keys, hashes, signatures, out)
    })
}

/// `secp256k1_sign_batch`: `call` gets keys and hashes, and writes the signatures to the buffer.
pub fn sign_batch<P: Recovery, S: Output + 'static>(
    peer: P,
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&[P::SigningKey], &[[u8; 32]], &mut S) -> Option<()> + Copy + 'static,
) -> Op {
    op("secp256k1_sign_batch", move |r| {
        Some(unzipped(r.until_empty(|r| key_and_hash(peer, r))?))
    })
    .change("le@32", |(_, hashes), word| set_each(hashes, word))
    .reuse(buffer, move |(keys, hashes), out| call(keys, hashes, out))
}

/// `secp256k1_public_key_batch`: `call` gets secret keys, and writes the public keys to the buffer.
pub fn public_key_batch<P: Keys, S: Output + 'static>(
    peer: P,
    buffer: impl Fn() -> S + 'static,
    call: impl Fn(&[P::SecretKey], &mut S) -> Option<()> + Copy + 'static,
) -> Op {
    op("secp256k1_public_key_batch", move |r| {
        Some(unzipped(r.until_empty(|r| known_key(peer, r))?))
    })
    .change("be@28", move |(bytes, keys), word| {
        for ((bytes, key), word) in bytes.iter_mut().zip(keys).zip(words(word)) {
            set_key(peer, bytes, key, word);
        }
    })
    .reuse(buffer, move |(_, keys), out| call(keys, out))
}

fn unzipped<A, B>(pairs: Vec<(A, B)>) -> (Vec<A>, Vec<B>) {
    pairs.into_iter().unzip()
}

fn key_and_hash<P: Recovery>(peer: P, r: &mut Reader) -> Option<(P::SigningKey, [u8; 32])> {
    Some((peer.signing_key(&r.array()?)?, r.array()?))
}

/// Hash and signature.
fn signed(r: &mut Reader) -> Option<([u8; 32], [u8; 65])> {
    Some((r.array()?, r.array()?))
}

/// Public key, hash, signature.
type ToVerify<P> = (<P as Keys>::PublicKey, [u8; 32], <P as Keys>::Signature);

fn to_verify<P: Keys>(peer: P, r: &mut Reader) -> Option<ToVerify<P>> {
    let (hash, signature) = (r.array()?, peer.signature(&r.array()?)?);
    Some((peer.public_key(&r.array()?)?, hash, signature))
}

/// The bytes of a secret key, and the key.
fn known_key<P: Keys>(peer: P, r: &mut Reader) -> Option<([u8; 32], P::SecretKey)> {
    let bytes = r.array()?;
    Some((bytes, peer.secret_key(&bytes)?))
}

/// Sets the first four bytes of a hash.
#[inline(always)]
fn set_hash(hash: &mut [u8; 32], word: u32) {
    hash[..4].copy_from_slice(&word.to_le_bytes());
}

/// Sets the lowest 32 bits of a secret key.
#[inline(always)]
fn set_key<P: Keys>(peer: P, bytes: &mut [u8; 32], key: &mut P::SecretKey, word: u32) {
    bytes[28..].copy_from_slice(&word.to_be_bytes());
    if let Some(changed) = peer.secret_key(bytes) {
        *key = changed;
    }
}
