//! ECDSA over secp256k1. A signature is 65 bytes (r, s, v), a public key 64 bytes (x, y).

use lydite_core::{
    bytes::Address,
    curve::secp256k1::{self, Error, PublicKey, SecretKey, Signature},
};

use crate::{
    memory::{array, array_mut, items, items_mut},
    status::{Failure, LYDITE_ERROR_SIGNATURE, failure, guard, lydite_status},
};

pub fn signature_error(error: Error) -> Failure {
    failure(LYDITE_ERROR_SIGNATURE, error)
}

pub unsafe fn read_secret_key(secret: *const u8) -> Result<SecretKey, Failure> {
    // SAFETY: guaranteed by the caller.
    SecretKey::from_bytes(unsafe { array(secret, "secret_key") }?).map_err(signature_error)
}

/// Recover the address that signed hash (32 bytes). Writes 20 bytes to out.
///
/// signature is 65 bytes: r, s, v. v is 0, 1, 27 or 28; a high s is accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_ecrecover(
    hash: *const u8,
    signature: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let signature = Signature::from_bytes65_any_v(array(signature, "signature")?)
            .map_err(signature_error)?;
        let address = secp256k1::recover_address(array(hash, "hash")?, &signature)
            .map_err(signature_error)?;
        *array_mut(out, "out")? = address.0;
        Ok(())
    })
}

/// Recover the addresses for count hashes and signatures, like lydite_ecrecover.
///
/// Writes 20 bytes per signature to out, and one byte per signature to ok: 1 if the address was recovered. For an
/// invalid signature, all of these bytes are 0, and the other results are unaffected. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_ecrecover_batch(
    hashes: *const u8,
    signatures: *const u8,
    count: usize,
    out: *mut u8,
    ok: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let hashes = items(hashes.cast::<[u8; 32]>(), count, "hashes")?;
        let signatures = items(signatures.cast::<[u8; 65]>(), count, "signatures")?;
        let out = items_mut(out.cast::<[u8; 20]>(), count, "out")?;
        let ok = items_mut(ok, count, "ok")?;
        // A malformed signature is replaced by one with r = 0, whose recovery fails without affecting the others.
        let signatures: Vec<Signature> = signatures
            .iter()
            .map(|bytes| Signature::from_bytes65_any_v(bytes).unwrap_or_default())
            .collect();
        let mut found = vec![Ok(Address::ZERO); count];
        secp256k1::recover_address_batch(hashes, &signatures, &mut found)
            .map_err(signature_error)?;
        for ((out, ok), found) in out.iter_mut().zip(ok).zip(found) {
            *ok = found.is_ok().into();
            *out = found.map_or([0; 20], |address| address.0);
        }
        Ok(())
    })
}

/// Recover the public key that signed hash (32 bytes), from a signature of 65 bytes. Writes 64 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_recover_public_key(
    hash: *const u8,
    signature: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let signature = Signature::from_bytes65_any_v(array(signature, "signature")?)
            .map_err(signature_error)?;
        let key = secp256k1::recover(array(hash, "hash")?, &signature).map_err(signature_error)?;
        *array_mut(out, "out")? = key.to_bytes();
        Ok(())
    })
}

/// Sign hash (32 bytes) with a secret key (32 bytes), in constant time. Writes 65 bytes to out: r, s, v.
///
/// The signature is deterministic (RFC 6979), s is low, and v is 0 or 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_sign(
    secret_key: *const u8,
    hash: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let key = read_secret_key(secret_key)?;
        *array_mut(out, "out")? = key.sign_prehash(array(hash, "hash")?).to_bytes65();
        Ok(())
    })
}

/// Verify a signature (64 bytes: r, s) of hash (32 bytes) with a public key (64 bytes).
///
/// Returns 0 if the signature is valid, and an error otherwise. A high s is accepted, unlike in libsecp256k1: r, n - s
/// is valid too, so a signature is not an identifier. To reject a high s, compare s (big-endian) with n / 2:
/// 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_verify(
    public_key: *const u8,
    hash: *const u8,
    signature: *const u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let key =
            PublicKey::from_bytes(array(public_key, "public_key")?).map_err(signature_error)?;
        let signature = Signature::from_bytes64(array(signature, "signature")?);
        secp256k1::verify(&key, array(hash, "hash")?, &signature).map_err(signature_error)
    })
}

/// Derive the public key of a secret key (32 bytes), in constant time. Writes 64 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_public_key(secret_key: *const u8, out: *mut u8) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? = read_secret_key(secret_key)?.public_key().to_bytes();
        Ok(())
    })
}

/// Compute the address of a public key (64 bytes). Writes 20 bytes to out.
///
/// Does not check that the key is on the curve.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_address_from_public_key(
    public_key: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? = Address::from_public_key(array(public_key, "public_key")?).0;
        Ok(())
    })
}
