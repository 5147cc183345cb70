//! Generalized XMSS: verification, and key files that never sign an epoch twice.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lydite_core::xmss::{
    Message,
    named::{self, NamedKeyFile, NamedScheme},
    store::Owner,
};

use crate::{
    hash::decode,
    memory::{Output, array, items, items_mut, one, one_mut, put, release, text},
    status::{
        Failure, LYDITE_ERROR_ARGUMENT, LYDITE_ERROR_KEY_FILE, LYDITE_ERROR_SIGNATURE, failure,
        guard, lydite_status,
    },
};

/// leanSig's production scheme: 46 chains, 2^32 epochs.
pub const LYDITE_XMSS_LEANSIG_PROD: u32 = 0;
/// leanSig's test scheme: 4 chains, 2^8 epochs. Forgeable.
pub const LYDITE_XMSS_LEANSIG_TEST: u32 = 1;
/// The production scheme with 2^8 epochs.
pub const LYDITE_XMSS_LEANSIG_46_8: u32 = 2;
/// The production scheme with 2^10 epochs.
pub const LYDITE_XMSS_LEANSIG_46_10: u32 = 3;
/// The production scheme with 2^18 epochs.
pub const LYDITE_XMSS_LEANSIG_46_18: u32 = 4;
/// hash-sig (2025): Winternitz, 2^18 epochs.
pub const LYDITE_XMSS_HASH_SIG_2025: u32 = 5;
/// leanSig's older scheme: 39 chains of 16, 2^18 epochs.
pub const LYDITE_XMSS_LEANSIG_LEGACY_W4: u32 = 6;
/// leanVM's scheme on BLAKE2s, as in lean-consensus devnets: 42 chains, 2^32 epochs.
pub const LYDITE_XMSS_LEANVM: u32 = 7;

/// Returns the scheme for a LYDITE_XMSS_ constant.
fn named_scheme(number: u32) -> Result<&'static dyn NamedScheme, Failure> {
    let name = match number {
        LYDITE_XMSS_LEANSIG_PROD => "leansig-prod",
        LYDITE_XMSS_LEANSIG_TEST => "leansig-test",
        LYDITE_XMSS_LEANSIG_46_8 => "leansig-46-8",
        LYDITE_XMSS_LEANSIG_46_10 => "leansig-46-10",
        LYDITE_XMSS_LEANSIG_46_18 => "leansig-46-18",
        LYDITE_XMSS_HASH_SIG_2025 => "hash-sig-2025",
        LYDITE_XMSS_LEANSIG_LEGACY_W4 => "leansig-legacy-w4",
        LYDITE_XMSS_LEANVM => "leanvm",
        _ => "",
    };
    named::scheme(name).ok_or_else(|| {
        failure(
            LYDITE_ERROR_ARGUMENT,
            format_args!("scheme: expected a LYDITE_XMSS_ constant, found {number}"),
        )
    })
}

/// Get the sizes of a scheme's public keys and signatures, in bytes. Both are encoded in SSZ.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_sizes(
    scheme: u32,
    public_key: *mut usize,
    signature: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let scheme = named_scheme(scheme)?;
        *one_mut(public_key, "public_key")? = scheme.public_key_length();
        *one_mut(signature, "signature")? = scheme.signature_length();
        Ok(())
    })
}

/// Verify a signature of a message (32 bytes) for an epoch.
///
/// Returns 0 if the signature is valid, and LYDITE_ERROR_SIGNATURE if it is not. If the public key or the signature is
/// malformed, returns LYDITE_ERROR_DECODE, and the message names which of the two. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_verify(
    scheme: u32,
    public_key: *const u8,
    public_key_length: usize,
    epoch: u32,
    message: *const u8,
    signature: *const u8,
    signature_length: usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let public_key = items(public_key, public_key_length, "public_key")?;
        let signature = items(signature, signature_length, "signature")?;
        let valid = named_scheme(scheme)?
            .verify(public_key, epoch, array(message, "message")?, signature)
            .map_err(decode)?;
        if valid {
            Ok(())
        } else {
            Err(failure(
                LYDITE_ERROR_SIGNATURE,
                "invalid signature for this public key, epoch and message",
            ))
        }
    })
}

/// Verify count signatures, several at once, each like lydite_xmss_verify.
///
/// public_keys and signatures contain count items of the scheme's sizes, one after another; epochs contains count
/// numbers, and messages count items of 32 bytes. Writes one byte per signature to valid: 1, or 0 if the signature is
/// invalid, or if it or its public key is malformed. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_verify_batch(
    scheme: u32,
    count: usize,
    public_keys: *const u8,
    epochs: *const u32,
    messages: *const u8,
    signatures: *const u8,
    valid: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let scheme = named_scheme(scheme)?;
        let (key_size, signature_size) = (scheme.public_key_length(), scheme.signature_length());
        let public_keys = rows(public_keys, count, key_size, "public_keys")?;
        let signatures = rows(signatures, count, signature_size, "signatures")?;
        let epochs = items(epochs, count, "epochs")?;
        let messages: &[Message] = items(messages.cast(), count, "messages")?;
        let claims: Vec<_> = public_keys
            .zip(epochs)
            .zip(messages.iter().zip(signatures))
            .map(|((key, &epoch), (message, signature))| (key, epoch, message, signature))
            .collect();
        let valid = items_mut(valid, count, "valid")?;
        for (valid, holds) in valid.iter_mut().zip(scheme.verify_batch(&claims)) {
            *valid = holds.into();
        }
        Ok(())
    })
}

/// Borrows `count` rows of `size` bytes each from the caller. `size` must not be 0.
///
/// # Safety
/// Like [`items`] for `count * size` bytes.
unsafe fn rows<'a>(
    pointer: *const u8,
    count: usize,
    size: usize,
    what: &str,
) -> Result<impl Iterator<Item = &'a [u8]>, Failure> {
    // `items` rejects a product that saturates.
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { items::<u8>(pointer, count.saturating_mul(size), what) }?;
    Ok(bytes.chunks_exact(size))
}

/// A key file open for signing. No other process can open it in the meantime.
///
/// The key belongs to the process that opened it. In a child created by fork, only the public key can be read; all else
/// fails with LYDITE_ERROR_KEY_FILE: open the key after the fork, in the process that signs. The same error is returned
/// if the record of spent epochs was restored or replaced while the key is open.
///
/// Never restore a record from a backup or a snapshot while the key is closed, and never use one key on two machines:
/// neither can be detected, and two signatures for one epoch reveal the key.
pub struct lydite_xmss_key {
    scheme: &'static dyn NamedScheme,
    owner: Owner,
    public_key: Vec<u8>,
    file: Mutex<Box<dyn NamedKeyFile>>,
}

impl lydite_xmss_key {
    /// Locks the file if this process owns it. A forked child fails before it locks, since its copy of the mutex may be
    /// locked forever. A poisoned lock is safe to use: nothing it protects is changed in several steps.
    fn lock(&self) -> Result<MutexGuard<'_, Box<dyn NamedKeyFile>>, Failure> {
        self.owner.check().map_err(key_file)?;
        Ok(self.file.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Intervals of a key's epochs. The end of each interval is exclusive.
#[repr(C)]
pub struct lydite_xmss_epochs {
    /// epochs that the key is active for
    pub active_first: u64,
    pub active_end: u64,
    /// epochs whose trees are prepared
    pub prepared_first: u64,
    pub prepared_end: u64,
    /// epochs that can still be signed
    pub unspent_first: u64,
    pub unspent_end: u64,
}

fn key_file(error: impl std::fmt::Display) -> Failure {
    failure(LYDITE_ERROR_KEY_FILE, error)
}

/// Generate a key from a seed of 32 secret random bytes, and write it to a key file.
///
/// The key is active from epoch first, for at least the given number of epochs. path (UTF-8) must not exist; the new
/// file is readable only by its owner. The record of spent epochs is written to path.epoch, and the public key to
/// public_key. Takes minutes for many epochs. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_generate(
    scheme: u32,
    path: *const u8,
    path_length: usize,
    seed: *const u8,
    first: u64,
    epochs: u64,
    public_key: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let scheme = named_scheme(scheme)?;
        let end = first.checked_add(epochs).ok_or_else(|| {
            failure(
                LYDITE_ERROR_ARGUMENT,
                format_args!(
                    "epochs: expected first + epochs below 2^64, found {first} + {epochs}"
                ),
            )
        })?;
        let out = items_mut(public_key, scheme.public_key_length(), "public_key")?;
        let path = Path::new(text(path, path_length, "path")?);
        let key = scheme
            .create(path, array(seed, "seed")?, first..end, &())
            .map_err(key_file)?;
        out.copy_from_slice(&key);
        Ok(())
    })
}

/// Create the record of spent epochs for a key file that was made elsewhere (leanSig's SSZ).
///
/// path is UTF-8. All epochs below next are marked as spent; the caller must know which epochs the key has signed.
/// Fails with LYDITE_ERROR_KEY_FILE if the key already has a record, or if the file's group or others can read it.
/// Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_adopt(
    scheme: u32,
    path: *const u8,
    path_length: usize,
    next: u64,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let path = Path::new(text(path, path_length, "path")?);
        named_scheme(scheme)?.adopt(path, next).map_err(key_file)
    })
}

/// Open a key file for signing.
///
/// path is UTF-8. The file's group and others must not be able to read it. Release *out with lydite_xmss_key_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_new(
    scheme: u32,
    path: *const u8,
    path_length: usize,
    out: *mut *mut lydite_xmss_key,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        put(out, || {
            let scheme = named_scheme(scheme)?;
            let path = Path::new(text(path, path_length, "path")?);
            let file = scheme.open(path).map_err(key_file)?;
            Ok(lydite_xmss_key {
                scheme,
                owner: Owner::current(),
                public_key: file.public_key().map_err(key_file)?,
                file: Mutex::new(file),
            })
        })
    })
}

/// Close a key file. NULL is allowed. In a forked child, the parent's key stays open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_free(key: *mut lydite_xmss_key) {
    // SAFETY: the caller guarantees that key is NULL or from lydite_xmss_key_new, and is released only once.
    unsafe { release(key) }
}

/// Get the public key. out must have the size that lydite_xmss_sizes reports.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_public_key(
    key: *const lydite_xmss_key,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let public_key = &one(key, "key")?.public_key;
        items_mut(out, public_key.len(), "out")?.copy_from_slice(public_key);
        Ok(())
    })
}

/// Get the epochs of the key. Fails with LYDITE_ERROR_KEY_FILE in a process forked from the one that opened the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_epochs(
    key: *const lydite_xmss_key,
    out: *mut lydite_xmss_epochs,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let file = one(key, "key")?.lock()?;
        let (active, prepared, unspent) = (file.active(), file.prepared(), file.unspent());
        *one_mut(out, "out")? = lydite_xmss_epochs {
            active_first: active.start,
            active_end: active.end,
            prepared_first: prepared.start,
            prepared_end: prepared.end,
            unspent_first: unspent.start,
            unspent_end: unspent.end,
        };
        Ok(())
    })
}

/// Move the window of prepared epochs up to an epoch, and rewrite the key file.
///
/// Signing also moves the window if necessary. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_prepare(
    key: *const lydite_xmss_key,
    epoch: u32,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let mut file = one(key, "key")?.lock()?;
        file.prepare(epoch).map_err(key_file)
    })
}

/// From now on, compute the tree after the window in a background thread, so that moving the window requires no
/// computation.
///
/// The thread computes a few leaves at a time, with a pause of this many nanoseconds in between. Allocates temporarily,
/// and also in that thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_prepare_ahead(
    key: *const lydite_xmss_key,
    pause: u64,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let pause = Duration::from_nanos(pause);
        let mut file = one(key, "key")?.lock()?;
        file.prepare_ahead(pause).map_err(key_file)
    })
}

/// Sign a message (32 bytes) for an epoch, and spend that epoch and all earlier ones.
///
/// The spent epochs are recorded on the disk before the signature is written to out. If out is NULL or too small,
/// nothing is signed. Fails with LYDITE_ERROR_KEY_FILE for a spent epoch, and in a process forked from the one that
/// opened the key. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_sign(
    key: *const lydite_xmss_key,
    epoch: u32,
    message: *const u8,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let key = one(key, "key")?;
        let message = array(message, "message")?;
        let output = Output {
            out,
            capacity,
            written,
        };
        output.fill(key.scheme.signature_length(), |out| {
            let signature = key.lock()?.sign(epoch, message).map_err(key_file)?;
            out.copy_from_slice(&signature);
            Ok(())
        })
    })
}
