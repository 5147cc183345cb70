//! ECDSA over secp256k1. A signature is 65 bytes: r, s, v; public keys are 64: x, y.

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
    // SAFETY: the caller's promise.
    SecretKey::from_bytes(unsafe { array(secret, "secret_key") }?).map_err(signature_error)
}

/// The address that signed the 32 bytes of hash: 20 bytes. v is 0 or 1, or 27 or 28; a high s is accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_ecrecover(
    hash: *const u8,
    signature: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let signature = Signature::from_bytes65_any_v(array(signature, "signature")?)
            .map_err(signature_error)?;
        let address = secp256k1::recover_address(array(hash, "hash")?, &signature)
            .map_err(signature_error)?;
        *array_mut(out, "out")? = address.0;
        Ok(())
    })
}

/// lydite_ecrecover of count hashes and signatures: 20 bytes each to out and 1 or 0 to ok. A signature that is not valid
/// gives zeros and 0, and disturbs no other. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_ecrecover_batch(
    hashes: *const u8,
    signatures: *const u8,
    count: usize,
    out: *mut u8,
    ok: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let hashes = items(hashes.cast::<[u8; 32]>(), count, "hashes")?;
        let signatures = items(signatures.cast::<[u8; 65]>(), count, "signatures")?;
        let out = items_mut(out.cast::<[u8; 20]>(), count, "out")?;
        let ok = items_mut(ok, count, "ok")?;
        // What cannot be read as a signature recovers nothing either: r = 0 fails in its lane.
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

/// The public key that signed the 32 bytes of hash: 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_recover_public_key(
    hash: *const u8,
    signature: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let signature = Signature::from_bytes65_any_v(array(signature, "signature")?)
            .map_err(signature_error)?;
        let key = secp256k1::recover(array(hash, "hash")?, &signature).map_err(signature_error)?;
        *array_mut(out, "out")? = key.to_bytes();
        Ok(())
    })
}

/// Signs the 32 bytes of hash with the 32 bytes of secret_key: deterministic (RFC 6979), low s, v 0 or 1, constant time.
/// 65 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_sign(
    secret_key: *const u8,
    hash: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let key = read_secret_key(secret_key)?;
        *array_mut(out, "out")? = key.sign_prehash(array(hash, "hash")?).to_bytes65();
        Ok(())
    })
}

/// Verifies the 64 bytes r, s with a public key of 64 bytes: 0 if they are one of its signatures of hash, else an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_verify(
    public_key: *const u8,
    hash: *const u8,
    signature: *const u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let key =
            PublicKey::from_bytes(array(public_key, "public_key")?).map_err(signature_error)?;
        let signature = Signature::from_bytes64(array(signature, "signature")?);
        secp256k1::verify(&key, array(hash, "hash")?, &signature).map_err(signature_error)
    })
}

/// The public key of a secret key, in constant time: 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_public_key(secret_key: *const u8, out: *mut u8) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? = read_secret_key(secret_key)?.public_key().to_bytes();
        Ok(())
    })
}

/// The address of a public key: 20 bytes. The key is not checked to be on the curve.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_address_from_public_key(
    public_key: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? = Address::from_public_key(array(public_key, "public_key")?).0;
        Ok(())
    })
}
