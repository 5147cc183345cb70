//! Generalized XMSS.

use lydite::xmss::{
    HashSig2025, LeanSig46x8, LeanSig46x10, LeanSig46x18, LeanSigLegacyW4, LeanSigProd,
    LeanSigTest, PublicKey, Scheme, SecretKey, SignError, Signature, Signer,
};
use zeroize::{Zeroize, Zeroizing};

use crate::{failure::Failure, scratch::State};

/// A key of any scheme.
pub trait Key {
    fn public_key(&self) -> Result<Vec<u8>, Failure>;
    /// First and end of the epochs, and of those that are prepared.
    fn epochs(&self) -> [u64; 4];
    fn to_bytes(&self) -> Vec<u8>;
    fn prepare(&mut self, leaves: usize) -> bool;
    fn sign(&mut self, epoch: u32, message: &[u8; 32]) -> Result<Vec<u8>, SignError>;
}

impl<S: Scheme> Key for Signer<S> {
    fn public_key(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.key().public_key()?.to_bytes())
    }

    fn epochs(&self) -> [u64; 4] {
        let (active, prepared) = (self.key().active(), self.key().prepared());
        [active.start, active.end, prepared.start, prepared.end]
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.key().as_bytes().to_vec()
    }

    fn prepare(&mut self, leaves: usize) -> bool {
        self.work(leaves)
    }

    fn sign(&mut self, epoch: u32, message: &[u8; 32]) -> Result<Vec<u8>, SignError> {
        Signer::sign(self, epoch, message).map(|signature| signature.to_bytes())
    }
}

/// Something to do in the scheme of a number.
trait Run {
    type Output;
    fn run<S: Scheme>(self) -> Result<Self::Output, Failure>;
}

/// The schemes in the order of `SCHEMES` in `ts/xmss.ts`.
fn in_scheme<R: Run>(scheme: usize, task: R) -> Result<R::Output, Failure> {
    match scheme {
        0 => task.run::<LeanSigProd>(),
        1 => task.run::<LeanSigTest>(),
        2 => task.run::<LeanSig46x8>(),
        3 => task.run::<LeanSig46x10>(),
        4 => task.run::<LeanSig46x18>(),
        5 => task.run::<LeanSigLegacyW4>(),
        6 => task.run::<HashSig2025>(),
        _ => Err(Failure::argument("no such scheme")),
    }
}

struct Verify<'a> {
    epoch: u32,
    message: [u8; 32],
    key: &'a [u8],
    signature: &'a [u8],
}

impl Run for Verify<'_> {
    type Output = usize;

    fn run<S: Scheme>(self) -> Result<usize, Failure> {
        let key = PublicKey::<S>::from_bytes(self.key)?;
        let signature = Signature::from_bytes(self.signature)?;
        Ok(key.verify(self.epoch, &self.message, &signature).into())
    }
}

/// Epoch (4 bytes), message (32), public key of `key` bytes, signature, in a scheme, to 1 or 0.
pub fn verify(
    state: &mut State,
    length: usize,
    key: usize,
    scheme: usize,
) -> Result<usize, Failure> {
    let epoch = u32::from_le_bytes(state.array(0)?);
    let message = state.array(4)?;
    let parts = state
        .input(length)?
        .get(36..)
        .and_then(|rest| rest.split_at_checked(key));
    let (key, signature) = parts.ok_or_else(|| Failure::argument("input too short"))?;
    in_scheme(
        scheme,
        Verify {
            epoch,
            message,
            key,
            signature,
        },
    )
}

struct FromSeed {
    seed: Zeroizing<[u8; 32]>,
    start: u64,
    end: u64,
}

impl Run for FromSeed {
    type Output = Box<dyn Key>;

    fn run<S: Scheme>(self) -> Result<Self::Output, Failure> {
        let key = SecretKey::<S>::from_seed(&self.seed, self.start..self.end, &())?;
        Ok(Box::new(Signer::new(key)))
    }
}

/// Seed (32 bytes), first and end of the epochs (8 each), in a scheme, to the number of a key.
pub fn key_from_seed(
    state: &mut State,
    scheme: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let task = FromSeed {
        seed: Zeroizing::new(state.array(0)?),
        start: u64::from_le_bytes(state.array(32)?),
        end: u64::from_le_bytes(state.array(40)?),
    };
    state.input(32)?.zeroize();
    let key = in_scheme(scheme, task)?;
    Ok(state.keys.add(key))
}

struct FromBytes(Zeroizing<Vec<u8>>);

impl Run for FromBytes {
    type Output = Box<dyn Key>;

    fn run<S: Scheme>(self) -> Result<Self::Output, Failure> {
        Ok(Box::new(Signer::new(SecretKey::<S>::from_bytes(self.0)?)))
    }
}

/// A key's SSZ encoding to its number.
pub fn key_from_bytes(
    state: &mut State,
    length: usize,
    scheme: usize,
    _: usize,
) -> Result<usize, Failure> {
    let input = state.input(length)?;
    let bytes = Zeroizing::new(input.to_vec());
    input.zeroize();
    let key = in_scheme(scheme, FromBytes(bytes))?;
    Ok(state.keys.add(key))
}

/// A key to its SSZ encoding.
pub fn key_to_bytes(
    state: &mut State,
    number: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let bytes = state.keys.get(number)?.to_bytes();
    state.give(bytes)
}

pub fn key_free(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    state.keys.free(number)
}

/// A key to its epochs (four numbers of 8 bytes), then its public key.
pub fn key_info(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let key = state.keys.get(number)?;
    let mut out = key.epochs().map(u64::to_le_bytes).concat();
    out.extend(key.public_key()?);
    state.put(&out)
}

/// Adds leaves to a key's next tree: whether it lacks any.
pub fn key_prepare(
    state: &mut State,
    number: usize,
    leaves: usize,
    _: usize,
) -> Result<usize, Failure> {
    Ok(state.keys.get(number)?.prepare(leaves).into())
}

/// Message (32 bytes), with a key, at an epoch, to the signature.
pub fn sign(state: &mut State, number: usize, epoch: usize, _: usize) -> Result<usize, Failure> {
    let message = state.array(0)?;
    let epoch = u32::try_from(epoch).map_err(Failure::argument)?;
    let signature = state.keys.get(number)?.sign(epoch, &message)?;
    state.give(signature)
}
