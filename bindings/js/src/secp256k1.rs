//! ECDSA over secp256k1. Signatures are 65 bytes: r, s, v with v 0 or 1 (27 and 28 are accepted too).

use lydite::{
    bytes::Address,
    curve::secp256k1::{self, Error, PublicKey, SecretKey, Signature},
};
use zeroize::{Zeroize, Zeroizing};

use crate::{failure::Failure, scratch::State};

/// Reads the secret key at the start of the scratch buffer, and wipes it there.
pub fn secret_key(state: &mut State) -> Result<SecretKey, Failure> {
    let bytes = Zeroizing::new(state.array(0)?);
    state.input(32)?.zeroize();
    Ok(SecretKey::from_bytes(&bytes)?)
}

/// A public key of 64 bytes, or in SEC 1 form.
fn read_public_key(bytes: &[u8]) -> Result<PublicKey, Error> {
    match bytes.try_into() {
        Ok(bytes) => PublicKey::from_bytes(bytes),
        Err(_) => PublicKey::from_sec1_bytes(bytes),
    }
}

/// Secret key, hash (32 bytes each) → signature.
pub fn sign(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let signature = secret_key(state)?.sign_prehash(&state.array(32)?);
    state.put(&signature.to_bytes65())
}

/// `count` hashes, then `keys` secret keys (one for all, or one per hash) → signatures.
pub fn sign_batch(
    state: &mut State,
    count: usize,
    keys: usize,
    _: usize,
) -> Result<usize, Failure> {
    let input = state.rows(count.saturating_add(keys), 32)?;
    let (hashes, secrets) = input.split_at_mut(32 * count);
    let read = secret_keys(secrets)?;
    let keys: Vec<&SecretKey> = match &*read {
        [key] => vec![key; count],
        keys => keys.iter().collect(),
    };
    let mut signatures = vec![Signature::default(); count];
    secp256k1::sign_prehash_batch(&keys, hashes.as_chunks().0, &mut signatures)?;
    let signatures: Vec<[u8; 65]> = signatures.iter().map(Signature::to_bytes65).collect();
    state.put_owned(signatures.into_flattened())
}

/// Reads secret keys in rows of 32 bytes, and wipes them in the scratch buffer.
fn secret_keys(rows: &mut [u8]) -> Result<Vec<SecretKey>, Error> {
    let keys = rows
        .as_chunks()
        .0
        .iter()
        .map(SecretKey::from_bytes)
        .collect();
    rows.zeroize();
    keys
}

/// Hash, signature (32, 65) → public key (64).
pub fn recover(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let signature = Signature::from_bytes65_any_v(&state.array(32)?)?;
    let key = secp256k1::recover(&state.array(0)?, &signature)?;
    state.put(&key.to_bytes())
}

/// Hash, signature (32, 65) → address (42 characters).
pub fn ecrecover(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let signature = Signature::from_bytes65_any_v(&state.array(32)?)?;
    let address = secp256k1::recover_address(&state.array(0)?, &signature)?;
    state.put(&address.to_checksum_buffer())
}

/// `count` hashes, then `count` signatures → addresses (20 each), then 1 or 0 for each.
pub fn ecrecover_batch(
    state: &mut State,
    count: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let (hashes, signatures) = state.rows(count, 97)?.split_at(32 * count);
    let ((hashes, _), (signatures, _)) = (hashes.as_chunks(), signatures.as_chunks());
    // A malformed signature must recover nothing: r = 0 fails in its lane.
    let signatures: Vec<Signature> = signatures
        .iter()
        .map(|bytes| Signature::from_bytes65_any_v(bytes).unwrap_or_default())
        .collect();
    let mut found = vec![Ok(Address::ZERO); count];
    secp256k1::recover_address_batch(hashes, &signatures, &mut found)?;
    let mut out = Vec::with_capacity(21 * count);
    for found in &found {
        out.extend_from_slice(&found.map_or([0; 20], |address| address.0));
    }
    out.extend(found.iter().map(|found| u8::from(found.is_ok())));
    state.put_owned(out)
}

/// Hash, r and s (32, 64), then a public key of `length` bytes → 1 or 0.
pub fn verify(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let key = read_public_key(state.range(96, length)?)?;
    let signature = Signature::from_bytes64(&state.array(32)?);
    match secp256k1::verify(&key, &state.array(0)?, &signature) {
        Ok(()) => Ok(1),
        Err(Error::Mismatch) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// `count` hashes, `count` r and s, `count` public keys of 64 bytes → 1 or 0 for each; malformed items give 0.
pub fn verify_batch(state: &mut State, count: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let (hashes, rest) = state.rows(count, 160)?.split_at(32 * count);
    let (signatures, keys) = rest.split_at(64 * count);
    let (hashes, _) = hashes.as_chunks::<32>();
    let mut out = vec![0; count];
    let (mut places, mut wanted, mut given, mut read) = (vec![], vec![], vec![], vec![]);
    let rows = signatures
        .as_chunks::<64>()
        .0
        .iter()
        .zip(keys.as_chunks::<64>().0);
    for (i, (rs, key)) in rows.enumerate() {
        if let Ok(key) = PublicKey::from_bytes(key) {
            places.push(i);
            wanted.push(hashes[i]);
            given.push(Signature::from_bytes64(rs));
            read.push(key);
        }
    }
    let mut valid = vec![Ok(()); places.len()];
    secp256k1::verify_batch(&read, &wanted, &given, &mut valid)?;
    for (place, valid) in places.into_iter().zip(valid) {
        out[place] = valid.is_ok().into();
    }
    state.put_owned(out)
}

/// Secret key → public key (64).
pub fn public_key(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let key = secret_key(state)?.public_key();
    state.put(&key.to_bytes())
}

/// `count` secret keys → public keys (64 each).
pub fn public_key_batch(
    state: &mut State,
    count: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let keys = secret_keys(state.rows(count, 32)?)?;
    let Some(first) = keys.first() else {
        return Ok(0);
    };
    let mut public = vec![first.public_key(); keys.len()];
    secp256k1::public_key_batch(&keys, &mut public)?;
    let public: Vec<[u8; 64]> = public.iter().map(PublicKey::to_bytes).collect();
    state.put_owned(public.into_flattened())
}

/// A public key of `length` bytes → another form. 0: 64 bytes; 1: SEC 1, compressed; 2: SEC 1, uncompressed; 3: the
/// address (42 characters).
pub fn public_key_convert(
    state: &mut State,
    length: usize,
    form: usize,
    _: usize,
) -> Result<usize, Failure> {
    let key = read_public_key(state.input(length)?)?;
    match form {
        0 => state.put(&key.to_bytes()),
        1 => state.put(&key.to_sec1_compressed()),
        2 => state.put(&key.to_sec1_uncompressed()),
        _ => state.put(&key.to_address().to_checksum_buffer()),
    }
}

/// Secret key, then a public key of `length` bytes → the shared point, compressed.
pub fn shared_secret(
    state: &mut State,
    length: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let secret = secret_key(state)?;
    let key = read_public_key(state.range(32, length)?)?;
    let shared = secret.diffie_hellman(&key);
    state.put(shared.x())
}
