//! ECDSA over secp256k1. Signatures are 65 bytes: r, s, v with v 0 or 1 (27 and 28 are accepted too).

use lydite::{
    bytes::Address,
    curve::secp256k1::{self, Error, PublicKey, SecretKey, Signature},
};
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    data::{Data, Secret},
    error::{IntoPython, SignatureError},
    hash::to_bytes,
};

fn read_signature(data: &Data<'_>) -> PyResult<Signature> {
    Signature::from_bytes65_any_v(data.array("signature")?).map_err(IntoPython::into_python)
}

pub fn secret_key(data: &Secret<'_>) -> PyResult<SecretKey> {
    SecretKey::from_bytes(data.array("secret key")?).map_err(IntoPython::into_python)
}

fn read_public_key(data: &Data<'_>) -> PyResult<PublicKey> {
    match data.len() {
        64 => PublicKey::from_bytes(data.array("public key")?),
        _ => PublicKey::from_sec1_bytes(data),
    }
    .map_err(IntoPython::into_python)
}

/// The address that signed `hash` (32 bytes): 20 bytes. High s is accepted, like in the precompile ECRECOVER.
#[pyfunction]
#[pyo3(signature = (hash, signature, /))]
pub fn ecrecover<'py>(
    py: Python<'py>,
    hash: Data<'_>,
    signature: Data<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = secp256k1::recover_address(hash.array("hash")?, &read_signature(&signature)?);
    Ok(to_bytes(py, &found.map_err(IntoPython::into_python)?))
}

/// The signers of a batch of hashes: buffers of 32 n and 65 n bytes in, `(addresses, ok)` of 20 n and n bytes out. An
/// invalid signature has ok 0 and the zero address, and does not affect the others. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (hashes, signatures, /))]
pub fn ecrecover_batch<'py>(
    py: Python<'py>,
    hashes: Data<'_>,
    signatures: Data<'_>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let hashes = hashes.rows::<32>("hashes")?;
    let signatures = signatures.rows::<65>("signatures")?;
    if hashes.len() != signatures.len() {
        return Err(Error::Length.into_python());
    }
    let (addresses, ok) = py
        .detach(|| {
            // A malformed signature must recover nothing: r = 0 fails in its lane.
            let signatures: Vec<Signature> = signatures
                .iter()
                .map(|bytes| Signature::from_bytes65_any_v(bytes).unwrap_or_default())
                .collect();
            let mut found = vec![Ok(Address::ZERO); hashes.len()];
            secp256k1::recover_address_batch(hashes, &signatures, &mut found)?;
            let addresses: Vec<[u8; 20]> = found
                .iter()
                .map(|address| address.map_or([0; 20], |a| a.0))
                .collect();
            let ok: Vec<u8> = found.iter().map(|address| address.is_ok().into()).collect();
            Ok((addresses, ok))
        })
        .map_err(|error: Error| error.into_python())?;
    Ok((
        PyBytes::new(py, addresses.as_flattened()),
        PyBytes::new(py, &ok),
    ))
}

/// The public key that signed `hash`: 64 bytes, x and y.
#[pyfunction]
#[pyo3(signature = (hash, signature, /))]
pub fn recover_public_key<'py>(
    py: Python<'py>,
    hash: Data<'_>,
    signature: Data<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = secp256k1::recover(hash.array("hash")?, &read_signature(&signature)?);
    Ok(PyBytes::new(
        py,
        &found.map_err(IntoPython::into_python)?.to_bytes(),
    ))
}

/// Whether `signature` (65 bytes, or 64 without v) of `hash` is valid for `public_key`. Raises for a malformed key or
/// signature. A high s is accepted, unlike in libsecp256k1 and coincurve: r, n - s is valid too. To reject it, also
/// require `int.from_bytes(signature[32:64], "big") <= n // 2`, which is
/// 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0.
#[pyfunction]
#[pyo3(signature = (public_key, hash, signature, /))]
pub fn verify(public_key: Data<'_>, hash: Data<'_>, signature: Data<'_>) -> PyResult<bool> {
    let key = read_public_key(&public_key)?;
    let signature = match signature.len() {
        64 => Signature::from_bytes64(signature.array("signature")?),
        _ => read_signature(&signature)?,
    };
    match secp256k1::verify(&key, hash.array("hash")?, &signature) {
        Ok(()) => Ok(true),
        Err(Error::Mismatch) => Ok(false),
        Err(error) => Err(SignatureError::new_err(error.to_string())),
    }
}

/// Signs `hash` with `secret_key`, 32 bytes each: deterministic (RFC 6979), low s, constant-time.
#[pyfunction]
#[pyo3(signature = (hash, secret_key, /))]
pub fn sign<'py>(
    py: Python<'py>,
    hash: Data<'_>,
    secret_key: Secret<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let signature = crate::secp256k1::secret_key(&secret_key)?.sign_prehash(hash.array("hash")?);
    Ok(PyBytes::new(py, &signature.to_bytes65()))
}

/// The public key of a secret key: 64 bytes, x and y. Constant time.
#[pyfunction]
#[pyo3(signature = (secret_key, /))]
pub fn public_key<'py>(py: Python<'py>, secret_key: Secret<'_>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(
        py,
        &crate::secp256k1::secret_key(&secret_key)?
            .public_key()
            .to_bytes(),
    ))
}

/// A public key (64 bytes, or SEC 1 in 33 or 65) in SEC 1: 33 bytes, or 65 with `compressed=False`.
#[pyfunction]
#[pyo3(signature = (public_key, /, *, compressed = true))]
pub fn public_key_to_sec1<'py>(
    py: Python<'py>,
    public_key: Data<'_>,
    compressed: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let key = read_public_key(&public_key)?;
    Ok(if compressed {
        PyBytes::new(py, &key.to_sec1_compressed())
    } else {
        PyBytes::new(py, &key.to_sec1_uncompressed())
    })
}

/// The address of a public key (64 bytes, or SEC 1 in 33 or 65): 20 bytes.
#[pyfunction]
#[pyo3(signature = (public_key, /))]
pub fn public_key_to_address<'py>(
    py: Python<'py>,
    public_key: Data<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(to_bytes(py, &read_public_key(&public_key)?.to_address()))
}
