//! Batch operations. A batch costs less than separate calls because its items share inversions and, with AVX2, eight
//! points are computed at a time.
//!
//! Items are independent: each has the same result as on its own. With the feature `rayon`, `parallel` offers the same
//! functions on all cores.

use core::{borrow::Borrow, ops::Range};

use lydite_bytes::Address;
use lydite_hash::keccak256_batch;
use zeroize::Zeroize;

use super::{
    Error, PublicKey, SecretKey, Signature, dispatch::Backend, field::FieldElement, scalar::Scalar,
    signature::x_beyond_order,
};
use crate::{
    field::invert_all,
    group::{Affine, Jacobian},
};

/// Number of items that share an inversion.
pub(super) const CHUNK: usize = 64;

pub(super) fn same_length<const N: usize>(lengths: [usize; N]) -> Result<(), Error> {
    if lengths.iter().all(|&length| length == lengths[0]) {
        Ok(())
    } else {
        Err(Error::Length)
    }
}

/// Runs an operation on the items of each chunk. Fails if the slices differ in length.
fn each_chunk<const N: usize>(
    lengths: [usize; N],
    mut run: impl FnMut(Backend, Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    same_length(lengths)?;
    let backend = Backend::detect();
    (0..lengths[0])
        .step_by(CHUNK)
        .try_for_each(|start| run(backend, start..lengths[0].min(start + CHUNK)))
}

/// [`SecretKey::public_key`] for each key. Constant-time.
///
/// ```
/// use lydite_curve::secp256k1::{PublicKey, SecretKey, public_key_batch};
///
/// let keys = [SecretKey::from_bytes(&[0x46; 32])?, SecretKey::from_bytes(&[0x47; 32])?];
/// let mut public_keys = [PublicKey::GENERATOR; 2];
/// public_key_batch(&keys, &mut public_keys)?;
/// assert_eq!(public_keys[1], keys[1].public_key());
/// # Ok::<(), lydite_curve::secp256k1::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn public_key_batch<K: Borrow<SecretKey>>(
    keys: &[K],
    out: &mut [PublicKey],
) -> Result<(), Error> {
    each_chunk([keys.len(), out.len()], |backend, items| {
        let mut k = [Scalar::ONE; CHUNK];
        for (k, key) in k.iter_mut().zip(&keys[items.clone()]) {
            *k = key.borrow().0;
        }
        let points = multiply_generator_chunk::<CHUNK>(backend, &k[..items.len()]);
        k.zeroize();
        for (out, point) in out[items].iter_mut().zip(points) {
            *out = PublicKey(point);
        }
        Ok(())
    })
}

/// [`SecretKey::sign_prehash`] for each key and hash: many keys, or one key repeated. Constant-time.
///
/// ```
/// use lydite_curve::secp256k1::{SecretKey, Signature, sign_prehash_batch};
///
/// let key = SecretKey::from_bytes(&[0x46; 32])?;
/// let hashes = [[0x11; 32], [0x12; 32], [0x13; 32]];
/// let mut signatures = [Signature::default(); 3];
/// sign_prehash_batch(&[&key; 3], &hashes, &mut signatures)?;
/// assert_eq!(signatures[2], key.sign_prehash(&hashes[2]));
/// # Ok::<(), lydite_curve::secp256k1::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn sign_prehash_batch<K: Borrow<SecretKey>>(
    keys: &[K],
    hashes: &[[u8; 32]],
    out: &mut [Signature],
) -> Result<(), Error> {
    each_chunk([keys.len(), hashes.len(), out.len()], |backend, items| {
        let (keys, hashes) = (&keys[items.clone()], &hashes[items.clone()]);
        sign_chunk::<CHUNK>(backend, keys, hashes, &mut out[items]);
        Ok(())
    })
}

/// [`verify`](super::verify) for each public key, hash and signature. Variable-time.
///
/// ```
/// use lydite_curve::secp256k1::{Error, SecretKey, verify_batch};
///
/// let key = SecretKey::from_bytes(&[0x46; 32])?;
/// let hashes = [[0x11; 32], [0x12; 32]];
/// let signature = key.sign_prehash(&hashes[0]);
/// let mut valid = [Ok(()); 2];
/// verify_batch(&[key.public_key(); 2], &hashes, &[signature; 2], &mut valid)?;
/// assert_eq!(valid, [Ok(()), Err(Error::Mismatch)]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn verify_batch(
    public_keys: &[PublicKey],
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<(), Error>],
) -> Result<(), Error> {
    let lengths = [public_keys.len(), hashes.len(), signatures.len(), out.len()];
    each_chunk(lengths, |backend, items| {
        verify_chunk::<CHUNK>(
            backend,
            &public_keys[items.clone()],
            &hashes[items.clone()],
            &signatures[items.clone()],
            &mut out[items],
        );
        Ok(())
    })
}

/// [`recover`](super::recover) for each hash and signature. The error of an invalid item is stored in `out`; the other
/// items are not affected. Variable-time.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn recover_batch(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<PublicKey, Error>],
) -> Result<(), Error> {
    let lengths = [hashes.len(), signatures.len(), out.len()];
    each_chunk(lengths, |backend, items| {
        let (hashes, signatures) = (&hashes[items.clone()], &signatures[items.clone()]);
        recover_chunk::<CHUNK>(backend, hashes, signatures, &mut out[items]);
        Ok(())
    })
}

/// [`recover_address`](super::recover_address) for each hash and signature. The error of an invalid item is stored in
/// `out`; the other items are not affected. Variable-time.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn recover_address_batch(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<Address, Error>],
) -> Result<(), Error> {
    let lengths = [hashes.len(), signatures.len(), out.len()];
    each_chunk(lengths, |backend, items| {
        let (hashes, signatures) = (&hashes[items.clone()], &signatures[items.clone()]);
        let mut keys = [Err(Error::Length); CHUNK];
        let keys = &mut keys[..items.len()];
        recover_chunk::<CHUNK>(backend, hashes, signatures, keys);
        // Failed items are hashed as zeros and their hash is ignored.
        let encoded = core::array::from_fn::<_, CHUNK, _>(|i| match keys.get(i) {
            Some(Ok(key)) => key.to_bytes(),
            _ => [0; 64],
        });
        let inputs = encoded.each_ref().map(|key| key.as_slice());
        let mut digests = [[0; 32]; CHUNK];
        let count = keys.len();
        keccak256_batch(&inputs[..count], &mut digests[..count]).map_err(|_| Error::Length)?;
        for ((out, key), digest) in out[items].iter_mut().zip(keys).zip(&digests) {
            *out = key.map(|_| {
                let mut address = [0; 20];
                address.copy_from_slice(&digest[12..]);
                Address(address)
            });
        }
        Ok(())
    })
}

/// [`recover_address_low_s`](super::recover_address_low_s) for each hash and signature: the rule for transactions since
/// Homestead. The error of an invalid item is stored in `out`; the other items are not affected. Variable-time.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn recover_address_low_s_batch(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<Address, Error>],
) -> Result<(), Error> {
    recover_address_batch(hashes, signatures, out)?;
    for (out, signature) in out.iter_mut().zip(signatures) {
        if let Err(error) = signature.require_low_s() {
            *out = Err(error);
        }
    }
    Ok(())
}

/// Computes `k G` for up to `CHUNK` multipliers in [1, n - 1], normalized, with one inversion modulo p. Constant-time.
fn multiply_generator_chunk<const CHUNK: usize>(
    backend: Backend,
    k: &[Scalar],
) -> [Affine<super::curve::Secp256k1>; CHUNK] {
    let mut products = [Jacobian::INFINITY; CHUNK];
    backend.multiply_generator(k, &mut products[..k.len()]);
    let mut inverses = [FieldElement::ONE; CHUNK];
    for (inverse, product) in inverses.iter_mut().zip(&products[..k.len()]) {
        *inverse = product.z;
    }
    invert_all::<_, CHUNK>(
        &mut inverses[..k.len()],
        &FieldElement::ONE,
        FieldElement::mul,
        FieldElement::invert,
    );
    let points = core::array::from_fn(|i| products[i].to_affine_with(&inverses[i]).normalize());
    inverses.zeroize();
    products.zeroize();
    points
}

/// Signs up to `CHUNK` hashes, with one inversion modulo n and one modulo p.
fn sign_chunk<const CHUNK: usize>(
    backend: Backend,
    keys: &[impl Borrow<SecretKey>],
    hashes: &[[u8; 32]],
    out: &mut [Signature],
) {
    let count = keys.len();
    let mut nonces = [Scalar::ONE; CHUNK];
    for ((nonce, key), hash) in nonces.iter_mut().zip(keys).zip(hashes) {
        *nonce = key
            .borrow()
            .nonces(&Scalar::from_bytes_reduced(hash))
            .next_nonce();
    }
    let points = multiply_generator_chunk::<CHUNK>(backend, &nonces[..count]);
    invert_all::<_, CHUNK>(
        &mut nonces[..count],
        &Scalar::ONE,
        Scalar::mul,
        Scalar::invert,
    );
    for (i, out) in out.iter_mut().enumerate() {
        let z = Scalar::from_bytes_reduced(&hashes[i]);
        let key = keys[i].borrow();
        *out = key
            .signature(&z, &points[i], &nonces[i])
            .unwrap_or_else(|| key.sign_prehash(&hashes[i]));
    }
    nonces.zeroize();
}

/// Verifies up to `CHUNK` signatures, with one inversion modulo n.
///
/// r must equal the x coordinate of z / s G + r / s Q modulo n. Failed items are dropped: the remaining ones are kept
/// at the front of the arrays, and `index` holds their original positions.
pub(super) fn verify_chunk<const CHUNK: usize>(
    backend: Backend,
    public_keys: &[PublicKey],
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<(), Error>],
) {
    let (mut index, mut count) = ([0; CHUNK], 0);
    let mut r = [Scalar::ONE; CHUNK];
    let mut inverses = [Scalar::ONE; CHUNK];
    for (i, signature) in signatures.iter().enumerate() {
        match signature.scalars() {
            Ok(item) => {
                index[count] = i;
                (r[count], inverses[count]) = item;
                count += 1;
            }
            Err(error) => out[i] = Err(error),
        }
    }
    invert_all::<_, CHUNK>(
        &mut inverses[..count],
        &Scalar::ONE,
        Scalar::mul,
        Scalar::invert_vartime,
    );
    let mut points = [PublicKey::GENERATOR.0; CHUNK];
    let mut factors = [(Scalar::ONE, Scalar::ONE); CHUNK];
    for i in 0..count {
        let z = Scalar::from_bytes_reduced(&hashes[index[i]]);
        points[i] = public_keys[index[i]].0;
        factors[i] = (r[i].mul(&inverses[i]), z.mul(&inverses[i]));
    }
    let mut sums = [Jacobian::INFINITY; CHUNK];
    backend.multiply_add(&points[..count], &factors[..count], &mut sums[..count]);
    for ((sum, r), &index) in sums[..count].iter().zip(&r).zip(&index) {
        // Check X / Z^2 = r or r + n without a division.
        let zz = sum.z.square();
        let has_x = |x: Option<FieldElement>| x.is_some_and(|x| x.mul(&zz).equals(&sum.x));
        let matches = !sum.is_infinity()
            && (has_x(FieldElement::from_bytes(&signatures[index].r)) || has_x(x_beyond_order(r)));
        out[index] = if matches {
            Ok(())
        } else {
            Err(Error::Mismatch)
        };
    }
}

/// Recovers up to `CHUNK` keys, with one inversion modulo n and one modulo p.
///
/// Q = r^-1 (s R - z G), where R is the nonce point. Failed items are dropped: the remaining ones are kept at the front
/// of the arrays, and `index` holds their original positions.
pub(super) fn recover_chunk<const CHUNK: usize>(
    backend: Backend,
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<PublicKey, Error>],
) {
    debug_assert!(
        hashes.len() <= CHUNK && signatures.len() == hashes.len() && out.len() >= hashes.len()
    );
    let (mut index, mut count) = ([0; CHUNK], 0);
    let mut nonces = [(FieldElement::ONE, false); CHUNK];
    let mut inverses = [Scalar::ONE; CHUNK];
    let mut s = [Scalar::ONE; CHUNK];
    for (i, signature) in signatures.iter().enumerate() {
        let parsed = signature
            .scalars()
            .and_then(|(r, s)| Ok((signature.nonce_x(&r)?, r, s)));
        match parsed {
            Ok(item) => {
                index[count] = i;
                (nonces[count], inverses[count], s[count]) = item;
                count += 1;
            }
            Err(error) => out[i] = Err(error),
        }
    }
    let mut lifted = [None; CHUNK];
    backend.lift_x(&nonces[..count], &mut lifted[..count]);

    let mut points = [PublicKey::GENERATOR.0; CHUNK];
    let parsed = core::mem::take(&mut count);
    for from in 0..parsed {
        let Some(point) = lifted[from] else {
            out[index[from]] = Err(Error::NoSuchPoint);
            continue;
        };
        points[count] = point;
        (index[count], inverses[count], s[count]) = (index[from], inverses[from], s[from]);
        count += 1;
    }
    if count == 0 {
        return;
    }
    invert_all::<_, CHUNK>(
        &mut inverses[..count],
        &Scalar::ONE,
        Scalar::mul,
        Scalar::invert_vartime,
    );
    let mut factors = [(Scalar::ONE, Scalar::ONE); CHUNK];
    for (i, factor) in factors[..count].iter_mut().enumerate() {
        let minus_z = Scalar::from_bytes_reduced(&hashes[index[i]]).negate();
        *factor = (s[i].mul(&inverses[i]), minus_z.mul(&inverses[i]));
    }
    let mut sums = [Jacobian::INFINITY; CHUNK];
    backend.multiply_add(&points[..count], &factors[..count], &mut sums[..count]);

    let mut z_inverses = [FieldElement::ONE; CHUNK];
    for (z, sum) in z_inverses
        .iter_mut()
        .zip(&sums[..count])
        .filter(|(_, sum)| !sum.is_infinity())
    {
        *z = sum.z;
    }
    invert_all::<_, CHUNK>(
        &mut z_inverses[..count],
        &FieldElement::ONE,
        FieldElement::mul,
        FieldElement::invert_vartime,
    );
    for ((sum, z_inverse), index) in sums[..count].iter().zip(&z_inverses).zip(index) {
        out[index] = if sum.is_infinity() {
            Err(Error::Infinity)
        } else {
            Ok(PublicKey(sum.to_affine_with(z_inverse).normalize()))
        };
    }
}
