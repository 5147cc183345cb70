//! Generalized XMSS: verification, and keys in files that never sign an epoch twice.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lydite_core::xmss::{
    DecodeError, Message,
    named::{self, NamedKeyFile, NamedScheme},
    store::Owner,
};

use crate::{
    hash::decode,
    memory::{Output, array, give, items, items_mut, one, one_mut, release, text},
    status::{
        Failure, LYDITE_ERROR_ARGUMENT, LYDITE_ERROR_KEY_FILE, LYDITE_ERROR_SIGNATURE, failure,
        guard, lydite_status,
    },
};

/// leanSig's production scheme: 46 chains, 2^32 epochs.
pub const LYDITE_XMSS_LEANSIG_PROD: u32 = 0;
/// leanSig's scheme for tests, 4 chains, 2^8 epochs. Forgeable.
pub const LYDITE_XMSS_LEANSIG_TEST: u32 = 1;
/// The production scheme over 2^8 epochs.
pub const LYDITE_XMSS_LEANSIG_46_8: u32 = 2;
/// The production scheme over 2^10 epochs.
pub const LYDITE_XMSS_LEANSIG_46_10: u32 = 3;
/// The production scheme over 2^18 epochs.
pub const LYDITE_XMSS_LEANSIG_46_18: u32 = 4;
/// hash-sig of 2025: Winternitz, 2^18 epochs.
pub const LYDITE_XMSS_HASH_SIG_2025: u32 = 5;
/// leanSig's signatures of 39 chains of 16, 2^18 epochs.
pub const LYDITE_XMSS_LEANSIG_LEGACY_W4: u32 = 6;

/// The scheme of a LYDITE_XMSS_ constant.
fn named_scheme(number: u32) -> Result<&'static dyn NamedScheme, Failure> {
    let name = match number {
        LYDITE_XMSS_LEANSIG_PROD => "leansig-prod",
        LYDITE_XMSS_LEANSIG_TEST => "leansig-test",
        LYDITE_XMSS_LEANSIG_46_8 => "leansig-46-8",
        LYDITE_XMSS_LEANSIG_46_10 => "leansig-46-10",
        LYDITE_XMSS_LEANSIG_46_18 => "leansig-46-18",
        LYDITE_XMSS_HASH_SIG_2025 => "hash-sig-2025",
        LYDITE_XMSS_LEANSIG_LEGACY_W4 => "leansig-legacy-w4",
        _ => "",
    };
    named::scheme(name).ok_or_else(|| failure(LYDITE_ERROR_ARGUMENT, "no such scheme"))
}

/// The sizes of a scheme's public keys and signatures, in bytes. Keys and signatures are in SSZ.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_sizes(
    scheme: u32,
    public_key: *mut usize,
    signature: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let scheme = named_scheme(scheme)?;
        *one_mut(public_key, "public_key")? = scheme.public_key_length();
        *one_mut(signature, "signature")? = scheme.signature_length();
        Ok(())
    })
}

/// Whether the signature is one of the public key for an epoch and a message of 32 bytes: 0, or LYDITE_ERROR_SIGNATURE;
/// LYDITE_ERROR_DECODE for a key or signature that is malformed, and the text says which. Allocates while it runs.
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
    // SAFETY: the header's contract.
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
                "signature is not valid for this key, epoch and message",
            ))
        }
    })
}

/// lydite_xmss_verify of count signatures, several at once: public keys and signatures of the sizes of the scheme behind
/// one another, an epoch each, messages of 32 bytes; 1 or 0 each to valid. What is malformed is not valid. Allocates while
/// it runs.
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
    // SAFETY: the header's contract.
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

/// `count` rows of `size` bytes, which is not 0.
///
/// # Safety
/// As [`items`].
unsafe fn rows<'a>(
    pointer: *const u8,
    count: usize,
    size: usize,
    what: &str,
) -> Result<impl Iterator<Item = &'a [u8]>, Failure> {
    // Too long is an error there.
    // SAFETY: the caller's promise.
    let bytes = unsafe { items::<u8>(pointer, count.saturating_mul(size), what) }?;
    Ok(bytes.chunks_exact(size))
}

/// A key file open for signing. No other process can open it meanwhile.
///
/// It belongs to the process that opened it: in a child made by fork, signing and preparing are LYDITE_ERROR_KEY_FILE. Open
/// the key in the process that signs, after the fork. The same error is returned if the record of spent epochs was restored
/// or replaced while the key is open. Never restore a record from a backup or a snapshot while the key is closed, and never
/// use one key on two machines: that cannot be detected, and two signatures for one epoch reveal the key.
pub struct lydite_xmss_key {
    scheme: &'static dyn NamedScheme,
    owner: Owner,
    file: Mutex<Box<dyn NamedKeyFile>>,
}

impl lydite_xmss_key {
    /// What a thread that panicked left is whole: nothing is changed in steps.
    fn lock(&self) -> MutexGuard<'_, Box<dyn NamedKeyFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, for its owner. A forked child fails before it locks, since its copy of the mutex may be locked for ever.
    fn lock_owned(&self) -> Result<MutexGuard<'_, Box<dyn NamedKeyFile>>, Failure> {
        self.owner.check().map_err(key_file)?;
        Ok(self.lock())
    }
}

/// Epochs of a key, each interval without its end.
#[repr(C)]
pub struct lydite_xmss_epochs {
    /// those that the key is for
    pub active_first: u64,
    pub active_end: u64,
    /// those whose trees are at hand
    pub prepared_first: u64,
    pub prepared_end: u64,
    /// those that can still be signed
    pub unspent_first: u64,
    pub unspent_end: u64,
}

fn key_file(error: impl std::fmt::Display) -> Failure {
    failure(LYDITE_ERROR_KEY_FILE, error)
}

/// Makes a key from a seed of 32 secret random bytes, for at least epochs epochs from first on, and writes it to the file
/// path (UTF-8), which must not exist, readable by its owner only, with the record of its spent epochs in path.epoch.
/// public_key is set. Takes minutes for many epochs, and allocates while it runs.
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
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let scheme = named_scheme(scheme)?;
        let end = first
            .checked_add(epochs)
            .ok_or_else(|| failure(LYDITE_ERROR_ARGUMENT, "epochs: too many"))?;
        let out = items_mut(public_key, scheme.public_key_length(), "public_key")?;
        let path = Path::new(text(path, path_length, "path")?);
        let key = scheme
            .create(path, array(seed, "seed")?, first..end, &())
            .map_err(key_file)?;
        out.copy_from_slice(&key);
        Ok(())
    })
}

/// Creates the record of the key file path (UTF-8), made elsewhere (leanSig's SSZ), by which all epochs below next are spent.
/// The caller must know which epochs the key has signed. A key that has its record, or that its group or others can read, is
/// LYDITE_ERROR_KEY_FILE. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_adopt(
    scheme: u32,
    path: *const u8,
    path_length: usize,
    next: u64,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let path = Path::new(text(path, path_length, "path")?);
        named_scheme(scheme)?.adopt(path, next).map_err(key_file)
    })
}

/// Opens the key file path (UTF-8), which its group and others must not be able to read. *out is to be released with
/// lydite_xmss_key_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_new(
    scheme: u32,
    path: *const u8,
    path_length: usize,
    out: *mut *mut lydite_xmss_key,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        give(out, || {
            let scheme = named_scheme(scheme)?;
            let path = Path::new(text(path, path_length, "path")?);
            let file = Mutex::new(scheme.open(path).map_err(key_file)?);
            let owner = Owner::current();
            Ok(lydite_xmss_key {
                scheme,
                owner,
                file,
            })
        })
    })
}

/// Closes a key file. NULL is allowed. In a forked child this leaves the parent's key open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_free(key: *mut lydite_xmss_key) {
    // SAFETY: made by lydite_xmss_key_new and released once, as the caller promises.
    unsafe { release(key) }
}

/// The public key, of the size of the scheme. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_public_key(
    key: *const lydite_xmss_key,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let key = one(key, "key")?;
        let public_key = key.lock().public_key();
        let public_key = public_key.map_err(|error: DecodeError| key_file(error))?;
        items_mut(out, public_key.len(), "out")?.copy_from_slice(&public_key);
        Ok(())
    })
}

/// The epochs of the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_epochs(
    key: *const lydite_xmss_key,
    out: *mut lydite_xmss_epochs,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let file = one(key, "key")?.lock();
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

/// Moves the window of prepared epochs up to this one, which signing does too, and writes the key anew. Allocates while it
/// runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_prepare(
    key: *const lydite_xmss_key,
    epoch: u32,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let mut file = one(key, "key")?.lock_owned()?;
        file.prepare(epoch).map_err(key_file)
    })
}

/// From now on makes the tree after the window in a thread of its own, a few leaves at a time with a pause of so many
/// nanoseconds in between, so that the window moves without computing. Allocates while it runs, and in that thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_prepare_ahead(
    key: *const lydite_xmss_key,
    pause: u64,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let pause = Duration::from_nanos(pause);
        let mut file = one(key, "key")?.lock_owned()?;
        file.prepare_ahead(pause).map_err(key_file)
    })
}

/// Signs a message of 32 bytes for an epoch, and spends it and all before it: that is on the disk before the signature is in
/// out. LYDITE_ERROR_KEY_FILE for a spent epoch, and in a process forked from the one that opened the key. With out NULL or
/// too small nothing is signed. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_xmss_key_sign(
    key: *const lydite_xmss_key,
    epoch: u32,
    message: *const u8,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let key = one(key, "key")?;
        let message = array(message, "message")?;
        let output = Output {
            out,
            capacity,
            written,
        };
        output.fill(key.scheme.signature_length(), |out| {
            let signature = key.lock_owned()?.sign(epoch, message).map_err(key_file)?;
            out.copy_from_slice(&signature);
            Ok(())
        })
    })
}
