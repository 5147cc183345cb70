//! Schemes chosen by name at run time, for the command line and the bindings to other languages.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
#[cfg(feature = "std")]
use core::time::Duration;
#[cfg(feature = "std")]
use std::path::Path;

#[cfg(feature = "keystore")]
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::key::{GenerateError, Observer, SecretKey, SignError, Signer};
use crate::scheme::{
    HashSig2025, LeanSig46x8, LeanSig46x10, LeanSig46x18, LeanSigLegacyW4, LeanSigProd,
    LeanSigTest, LeanVm, Scheme,
};
use crate::signature::{Claim, Message, PublicKey, Signature, verify_batch};
use crate::ssz::DecodeError;
#[cfg(feature = "keystore")]
use crate::store::keystore::{Kdf, ReservedRange};
#[cfg(feature = "std")]
use crate::store::{KeyFile, StoreError};

/// Whether the public key or the signature could not be decoded, and why. The error message includes both and the
/// position.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// The public key.
    PublicKey(DecodeError),
    /// The signature.
    Signature(DecodeError),
}

impl VerifyError {
    /// [`DecodeError::offset`] within the public key or the signature.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        let (Self::PublicKey(error) | Self::Signature(error)) = self;
        error.offset()
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicKey(error) => write!(f, "public key: {error}"),
            Self::Signature(error) => write!(f, "signature: {error}"),
        }
    }
}

impl core::error::Error for VerifyError {}

/// A [`Scheme`] as a value. Keys and signatures are SSZ-encoded.
pub trait NamedScheme: Send + Sync {
    /// The scheme's name: [`Scheme::NAME`].
    fn name(&self) -> &'static str;

    /// Length of a public key in bytes.
    fn public_key_length(&self) -> usize;

    /// Length of a signature in bytes.
    fn signature_length(&self) -> usize;

    /// Verifies a signature like [`PublicKey::verify`].
    ///
    /// # Errors
    ///
    /// A malformed key or signature.
    fn verify(
        &self,
        public_key: &[u8],
        epoch: u32,
        message: &Message,
        signature: &[u8],
    ) -> Result<bool, VerifyError>;

    /// Like [`Self::verify`], but decodes like leanSig c08a3ba: see [`Signature::from_bytes_leansig_compatible`].
    ///
    /// # Errors
    ///
    /// A key or signature that leanSig does not decode.
    fn verify_leansig_compatible(
        &self,
        public_key: &[u8],
        epoch: u32,
        message: &Message,
        signature: &[u8],
    ) -> Result<bool, VerifyError>;

    /// Verifies many (public key, epoch, message, signature) like [`verify_batch`]. Returns false for malformed ones.
    fn verify_batch(&self, claims: &[(&[u8], u32, &Message, &[u8])]) -> Vec<bool>;

    /// Generates a key like [`SecretKey::from_seed`].
    ///
    /// # Errors
    ///
    /// Those of [`SecretKey::from_seed`].
    fn generate(
        &self,
        seed: &[u8; 32],
        epochs: Range<u64>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn NamedSigner>, GenerateError>;

    /// Decodes a key like [`SecretKey::from_bytes`].
    ///
    /// # Errors
    ///
    /// Those of [`SecretKey::from_bytes`].
    fn decode(&self, bytes: Zeroizing<Vec<u8>>) -> Result<Box<dyn NamedSigner>, DecodeError>;

    /// Generates a key like [`SecretKey::from_seed`] and writes it like [`KeyFile::create`]. Returns the public key.
    ///
    /// # Errors
    ///
    /// Those of both functions.
    #[cfg(feature = "std")]
    fn create(
        &self,
        path: &Path,
        seed: &[u8; 32],
        epochs: Range<u64>,
        observer: &dyn Observer,
    ) -> Result<Vec<u8>, Box<dyn core::error::Error + Send + Sync>> {
        if path.exists() {
            return Err(StoreError::Exists(path.into()).into());
        }
        let key = self.generate(seed, epochs, observer)?;
        key.create(path)?;
        Ok(key.public_key()?)
    }

    /// Creates the record for a key file like [`KeyFile::adopt`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::adopt`].
    #[cfg(feature = "std")]
    fn adopt(&self, path: &Path, next: u64) -> Result<(), StoreError>;

    /// Opens a key file like [`KeyFile::open`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::open`].
    #[cfg(feature = "std")]
    fn open(&self, path: &Path) -> Result<Box<dyn NamedKeyFile>, StoreError>;

    /// Opens a keystore like [`KeyFile::open_keystore`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::open_keystore`].
    #[cfg(feature = "keystore")]
    fn open_keystore(
        &self,
        path: &Path,
        password: &str,
        range: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn NamedKeyFile>, StoreError>;

    /// Creates the record for a keystore like [`KeyFile::adopt_keystore`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::adopt_keystore`].
    #[cfg(feature = "keystore")]
    fn adopt_keystore(
        &self,
        path: &Path,
        password: &str,
        range: Option<&str>,
        next: u64,
        observer: &dyn Observer,
    ) -> Result<(), StoreError>;
}

/// A [`Signer`] of a scheme chosen at run time.
pub trait NamedSigner: Send {
    /// The encoded public key: [`SecretKey::public_key`].
    ///
    /// # Errors
    ///
    /// Those of [`SecretKey::public_key`].
    fn public_key(&self) -> Result<Vec<u8>, DecodeError>;

    /// The public key in Montgomery form: [`PublicKey::to_montgomery_bytes`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::public_key`].
    fn public_key_montgomery(&self) -> Result<Vec<u8>, DecodeError>;

    /// The encoded secret key: [`SecretKey::as_bytes`].
    fn as_bytes(&self) -> &[u8];

    /// The epochs that the key is active for: [`SecretKey::active`].
    fn active(&self) -> Range<u64>;

    /// The epochs that can be signed now: [`SecretKey::prepared`].
    fn prepared(&self) -> Range<u64>;

    /// Adds leaves to the next tree like [`Signer::work`].
    fn work(&mut self, leaves: usize) -> bool;

    /// Signs like [`Signer::sign`]. Returns the encoded signature.
    ///
    /// # Errors
    ///
    /// Those of [`Signer::sign`].
    fn sign(&mut self, epoch: u32, message: &Message) -> Result<Vec<u8>, SignError>;

    /// Writes the key and its record like [`KeyFile::create`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::create`].
    #[cfg(feature = "std")]
    fn create(&self, path: &Path) -> Result<(), StoreError>;

    /// Writes the key as a keystore, with its records, like [`KeyFile::create_keystore`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::create_keystore`].
    #[cfg(feature = "keystore")]
    fn create_keystore(
        &self,
        path: &Path,
        password: &str,
        kdf: Kdf,
        ranges: &[ReservedRange],
        rng: &mut dyn CryptoRng,
    ) -> Result<(), StoreError>;
}

/// A [`KeyFile`] of a scheme chosen at run time.
#[cfg(feature = "std")]
pub trait NamedKeyFile: Send {
    /// The encoded public key: [`SecretKey::public_key`].
    ///
    /// # Errors
    ///
    /// Those of [`SecretKey::public_key`].
    fn public_key(&self) -> Result<Vec<u8>, DecodeError>;

    /// The epochs that the key is active for: [`SecretKey::active`].
    fn active(&self) -> Range<u64>;

    /// The epochs that can be signed now: [`SecretKey::prepared`].
    fn prepared(&self) -> Range<u64>;

    /// The epochs that can still be signed: [`KeyFile::unspent`].
    fn unspent(&self) -> Range<u64>;

    /// Moves the window like [`KeyFile::prepare`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::prepare`].
    fn prepare(&mut self, epoch: u32) -> Result<(), StoreError> {
        self.prepare_with(epoch, &())
    }

    /// Moves the window like [`KeyFile::prepare_with`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::prepare_with`].
    fn prepare_with(&mut self, epoch: u32, observer: &dyn Observer) -> Result<(), StoreError>;

    /// Computes the next tree in the background like [`KeyFile::prepare_ahead`].
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::prepare_ahead`].
    fn prepare_ahead(&mut self, pause: Duration) -> Result<(), StoreError>;

    /// Signs like [`KeyFile::sign`]. Returns the encoded signature.
    ///
    /// # Errors
    ///
    /// Those of [`KeyFile::sign`].
    fn sign(&mut self, epoch: u32, message: &Message) -> Result<Vec<u8>, StoreError>;
}

/// All named schemes, leanSig's production set first.
pub const SCHEMES: [&dyn NamedScheme; 8] = [
    &Named::<LeanSigProd>(PhantomData),
    &Named::<LeanSigTest>(PhantomData),
    &Named::<LeanSig46x8>(PhantomData),
    &Named::<LeanSig46x10>(PhantomData),
    &Named::<LeanSig46x18>(PhantomData),
    &Named::<LeanSigLegacyW4>(PhantomData),
    &Named::<HashSig2025>(PhantomData),
    &Named::<LeanVm>(PhantomData),
];

/// Returns the scheme with this name.
pub fn scheme(name: &str) -> Option<&'static dyn NamedScheme> {
    SCHEMES.into_iter().find(|scheme| scheme.name() == name)
}

struct Named<S>(PhantomData<S>);

impl<S: Scheme> NamedScheme for Named<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn public_key_length(&self) -> usize {
        PublicKey::<S>::LENGTH
    }

    fn signature_length(&self) -> usize {
        Signature::<S>::LENGTH
    }

    fn verify(
        &self,
        public_key: &[u8],
        epoch: u32,
        message: &Message,
        signature: &[u8],
    ) -> Result<bool, VerifyError> {
        let public_key = PublicKey::<S>::from_bytes(public_key).map_err(VerifyError::PublicKey)?;
        let signature = Signature::from_bytes(signature).map_err(VerifyError::Signature)?;
        Ok(public_key.verify(epoch, message, &signature))
    }

    fn verify_leansig_compatible(
        &self,
        public_key: &[u8],
        epoch: u32,
        message: &Message,
        signature: &[u8],
    ) -> Result<bool, VerifyError> {
        let public_key = PublicKey::<S>::from_bytes_leansig_compatible(public_key)
            .map_err(VerifyError::PublicKey)?;
        let signature =
            Signature::from_bytes_leansig_compatible(signature).map_err(VerifyError::Signature)?;
        Ok(public_key.verify(epoch, message, &signature))
    }

    fn verify_batch(&self, claims: &[(&[u8], u32, &Message, &[u8])]) -> Vec<bool> {
        let decoded: Vec<_> = claims
            .iter()
            .map(|(public_key, _, _, signature)| {
                let public_key = PublicKey::<S>::from_bytes(public_key).ok()?;
                Some((public_key, Signature::from_bytes(signature).ok()?))
            })
            .collect();
        let mut places = Vec::with_capacity(claims.len());
        let mut whole = Vec::with_capacity(claims.len());
        for (place, (claim, decoded)) in claims.iter().zip(&decoded).enumerate() {
            if let Some((public_key, signature)) = decoded {
                places.push(place);
                whole.push(Claim {
                    public_key,
                    epoch: claim.1,
                    message: claim.2,
                    signature,
                });
            }
        }
        let mut valid = vec![false; claims.len()];
        for (place, holds) in places.into_iter().zip(verify_batch(&whole)) {
            valid[place] = holds;
        }
        valid
    }

    fn generate(
        &self,
        seed: &[u8; 32],
        epochs: Range<u64>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn NamedSigner>, GenerateError> {
        let key = SecretKey::<S>::from_seed(seed, epochs, observer)?;
        Ok(Box::new(Signer::new(key)))
    }

    fn decode(&self, bytes: Zeroizing<Vec<u8>>) -> Result<Box<dyn NamedSigner>, DecodeError> {
        Ok(Box::new(Signer::new(SecretKey::<S>::from_bytes(bytes)?)))
    }

    #[cfg(feature = "std")]
    fn adopt(&self, path: &Path, next: u64) -> Result<(), StoreError> {
        KeyFile::<S>::adopt(path, next)
    }

    #[cfg(feature = "std")]
    fn open(&self, path: &Path) -> Result<Box<dyn NamedKeyFile>, StoreError> {
        Ok(Box::new(KeyFile::<S>::open(path)?))
    }

    #[cfg(feature = "keystore")]
    fn open_keystore(
        &self,
        path: &Path,
        password: &str,
        range: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn NamedKeyFile>, StoreError> {
        let file = KeyFile::<S>::open_keystore(path, password, range, observer)?;
        Ok(Box::new(file))
    }

    #[cfg(feature = "keystore")]
    fn adopt_keystore(
        &self,
        path: &Path,
        password: &str,
        range: Option<&str>,
        next: u64,
        observer: &dyn Observer,
    ) -> Result<(), StoreError> {
        KeyFile::<S>::adopt_keystore(path, password, range, next, observer)
    }
}

impl<S: Scheme> NamedSigner for Signer<S> {
    fn public_key(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(self.key().public_key()?.to_bytes())
    }

    fn public_key_montgomery(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(self.key().public_key()?.to_montgomery_bytes())
    }

    fn as_bytes(&self) -> &[u8] {
        self.key().as_bytes()
    }

    fn active(&self) -> Range<u64> {
        self.key().active()
    }

    fn prepared(&self) -> Range<u64> {
        self.key().prepared()
    }

    fn work(&mut self, leaves: usize) -> bool {
        self.work(leaves)
    }

    fn sign(&mut self, epoch: u32, message: &Message) -> Result<Vec<u8>, SignError> {
        Ok(self.sign(epoch, message)?.to_bytes())
    }

    #[cfg(feature = "std")]
    fn create(&self, path: &Path) -> Result<(), StoreError> {
        KeyFile::create(path, self.key())
    }

    #[cfg(feature = "keystore")]
    fn create_keystore(
        &self,
        path: &Path,
        password: &str,
        kdf: Kdf,
        ranges: &[ReservedRange],
        rng: &mut dyn CryptoRng,
    ) -> Result<(), StoreError> {
        KeyFile::create_keystore(path, self.key(), password, kdf, ranges, rng)
    }
}

#[cfg(feature = "std")]
impl<S: Scheme> NamedKeyFile for KeyFile<S> {
    fn public_key(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(self.key().public_key()?.to_bytes())
    }

    fn active(&self) -> Range<u64> {
        self.key().active()
    }

    fn prepared(&self) -> Range<u64> {
        self.key().prepared()
    }

    fn unspent(&self) -> Range<u64> {
        self.unspent()
    }

    fn prepare_with(&mut self, epoch: u32, observer: &dyn Observer) -> Result<(), StoreError> {
        self.prepare_with(epoch, observer)
    }

    fn prepare_ahead(&mut self, pause: Duration) -> Result<(), StoreError> {
        self.prepare_ahead(pause)
    }

    fn sign(&mut self, epoch: u32, message: &Message) -> Result<Vec<u8>, StoreError> {
        Ok(self.sign(epoch, message)?.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::key::SecretKey;

    #[test]
    fn every_name_finds_its_scheme() {
        for scheme in SCHEMES {
            assert_eq!(
                super::scheme(scheme.name()).map(|s| s.name()),
                Some(scheme.name())
            );
        }
        assert!(super::scheme("leansig").is_none());
    }

    #[test]
    fn verifies_as_the_types_do() {
        let scheme = scheme("leansig-test").unwrap();
        let mut key = scheme.generate(&[7; 32], 0..256, &()).unwrap();
        let public_key = key.public_key().unwrap();
        let signature = key.sign(3, &[1; 32]).unwrap();
        let same = SecretKey::<LeanSigTest>::from_seed(&[7; 32], 0..256, &()).unwrap();
        assert_eq!(key.as_bytes(), same.as_bytes());
        assert_eq!(signature, same.sign(3, &[1; 32]).unwrap().to_bytes());
        let mut again = scheme
            .decode(Zeroizing::new(key.as_bytes().to_vec()))
            .unwrap();
        assert_eq!(again.sign(3, &[1; 32]).unwrap(), signature);
        assert_eq!(public_key.len(), scheme.public_key_length());
        assert_eq!(signature.len(), scheme.signature_length());
        assert_eq!(
            scheme.verify(&public_key, 3, &[1; 32], &signature),
            Ok(true)
        );
        assert_eq!(
            scheme.verify(&public_key, 4, &[1; 32], &signature),
            Ok(false)
        );
        let length = |length, expected| DecodeError::Length { length, expected };
        for verify in [NamedScheme::verify, NamedScheme::verify_leansig_compatible] {
            assert_eq!(
                verify(scheme, &public_key[1..], 3, &[1; 32], &signature[1..]),
                Err(VerifyError::PublicKey(length(51, 52)))
            );
        }
        assert_eq!(
            scheme.verify(&public_key, 3, &[1; 32], &signature[1..]),
            Err(VerifyError::Signature(length(423, 424)))
        );
        assert_eq!(length(423, 424).offset(), None);
        assert!(matches!(
            scheme.verify_leansig_compatible(&public_key, 3, &[1; 32], &signature[..423]),
            Err(error @ VerifyError::Signature(DecodeError::List { at, .. })) if error.offset() == Some(at)
        ));
        // The same word plus the modulus.
        let mut other = signature.clone();
        let word = u32::from_le_bytes(other[4..8].try_into().unwrap()) + crate::koalabear::MODULUS;
        other[4..8].copy_from_slice(&word.to_le_bytes());
        assert_eq!(
            scheme.verify(&public_key, 3, &[1; 32], &other),
            Err(VerifyError::Signature(DecodeError::NotCanonical { at: 4 }))
        );
        assert_eq!(
            scheme.verify_leansig_compatible(&public_key, 3, &[1; 32], &other),
            Ok(true)
        );
        let good = (&public_key[..], 3, &[1; 32], &signature[..]);
        let claims = [
            good,
            (&public_key[1..], 3, &[1; 32], &signature),
            (&public_key, 3, &[2; 32], &signature),
            (&public_key, 3, &[1; 32], &signature[1..]),
            good,
        ];
        assert_eq!(
            scheme.verify_batch(&claims),
            [true, false, false, false, true]
        );
    }
}
