//! Generalized XMSS: verification, and keys in files that never sign an epoch twice.

use std::{
    ops::{ControlFlow, Range},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lydite::xmss::{
    Message,
    named::{self, NamedKeyFile, NamedScheme, SCHEMES},
    store::Owner,
};
use pyo3::{exceptions::PyOSError, prelude::*, types::PyBytes};
use zeroize::Zeroizing;

use crate::{
    data::{Data, Items, Secret},
    error::{IntoPython, LyditeError},
    integer::Unsigned,
};

fn scheme(name: &str) -> PyResult<&'static dyn NamedScheme> {
    named::scheme(name).ok_or_else(|| {
        let names = SCHEMES.map(|scheme| scheme.name()).join(", ");
        LyditeError::new_err(format!("unknown scheme {name:?}; expected one of {names}"))
    })
}

/// Whether `signature` is valid for `public_key`, an epoch and a message (32 bytes). Raises DecodeError for a malformed
/// key or signature. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (public_key, epoch, message, signature, *, scheme = "leansig-prod"))]
pub fn xmss_verify(
    py: Python<'_>,
    public_key: Data<'_>,
    epoch: Unsigned<u32>,
    message: Data<'_>,
    signature: Data<'_>,
    scheme: &str,
) -> PyResult<bool> {
    let (scheme, message) = (self::scheme(scheme)?, message.array("message")?);
    py.detach(|| scheme.verify(&public_key, epoch.0, message, &signature))
        .map_err(IntoPython::into_python)
}

/// Batch version of `xmss_verify`, vectorised and on all cores: four sequences of the same length, the epochs ints, the
/// others buffers or two-dimensional arrays of bytes. Malformed items are invalid. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (public_keys, epochs, messages, signatures, *, scheme = "leansig-prod"))]
pub fn xmss_verify_batch(
    py: Python<'_>,
    public_keys: Items<'_>,
    epochs: Vec<Unsigned<u32>>,
    messages: Items<'_>,
    signatures: Items<'_>,
    scheme: &str,
) -> PyResult<Vec<bool>> {
    let scheme = self::scheme(scheme)?;
    let (public_keys, messages, signatures) =
        (public_keys.data()?, messages.data()?, signatures.data()?);
    let count = epochs.len();
    if [&public_keys, &messages, &signatures]
        .iter()
        .any(|items| items.len() != count)
    {
        return Err(LyditeError::new_err(
            "expected four sequences of equal length",
        ));
    }
    let messages: Vec<&Message> = messages
        .iter()
        .map(|message| message.array("message"))
        .collect::<PyResult<_>>()?;
    let claims: Vec<_> = (0..count)
        .map(|i| (&*public_keys[i], epochs[i].0, messages[i], &*signatures[i]))
        .collect();
    Ok(py.detach(|| scheme.verify_batch(&claims)))
}

/// Makes a key for at least `epochs` epochs starting at `first`, and writes it to `path`, readable only by its owner,
/// with the record of its spent epochs in `path` + ".epoch". Returns the public key. `seed` (32 bytes) is for tests;
/// without it the system's randomness is used. Ctrl-C interrupts it. Lets other threads run.
#[pyfunction]
#[pyo3(
    signature = (path, *, first = Unsigned(0), epochs = Unsigned(1), scheme = "leansig-prod", seed = None),
    text_signature = "(path, *, first=0, epochs=1, scheme='leansig-prod', seed=None)"
)]
pub fn xmss_generate<'py>(
    py: Python<'py>,
    path: PathBuf,
    first: Unsigned<u64>,
    epochs: Unsigned<u64>,
    scheme: &str,
    seed: Option<Secret<'_>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let scheme = self::scheme(scheme)?;
    let Unsigned(first) = first;
    let end = first
        .checked_add(epochs.0)
        .ok_or_else(|| LyditeError::new_err("expected first plus epochs below 2^64"))?;
    let mut drawn = Zeroizing::new([0; 32]);
    let seed: &[u8; 32] = match &seed {
        Some(seed) => seed.array("seed")?,
        None => {
            getrandom::fill(&mut drawn[..])
                .map_err(|error| PyOSError::new_err(format!("system randomness: {error}")))?;
            &drawn
        }
    };
    let stopped = Mutex::new(None);
    let observer = |_, _| match Python::attach(|py| py.check_signals()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *lock(&stopped) = Some(error);
            ControlFlow::Break(())
        }
    };
    let made = py.detach(|| scheme.create(&path, seed, first..end, &observer));
    if let Some(error) = lock(&stopped).take() {
        return Err(error);
    }
    match made {
        Ok(public_key) => Ok(PyBytes::new(py, &public_key)),
        Err(error) => Err(match error.downcast::<lydite::xmss::store::StoreError>() {
            Ok(error) => error.into_python(),
            Err(error) => LyditeError::new_err(error.to_string()),
        }),
    }
}

/// Creates the record of a key file at `path` that was made elsewhere (leanSig's SSZ); all epochs below `next` are
/// marked as spent. You must know which epochs the key has signed. Raises FileExistsError if the record exists, and
/// KeyFileError if the key's group or others can read it.
#[pyfunction]
#[pyo3(signature = (path, *, next, scheme = "leansig-prod"))]
pub fn xmss_adopt(
    py: Python<'_>,
    path: PathBuf,
    next: Unsigned<u64>,
    scheme: &str,
) -> PyResult<()> {
    let scheme = self::scheme(scheme)?;
    py.detach(|| scheme.adopt(&path, next.0))
        .map_err(IntoPython::into_python)
}

/// A poisoned lock is safe to use: nothing it protects is changed in several steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A key file open for signing: `XmssKey("key", scheme="leansig-prod").sign(epoch, message)`. No other process can open
/// it in the meantime. The record that spends an epoch is on disk before `sign` returns.
///
/// The key belongs to the process that opened it. In a child made by `os.fork`, by `multiprocessing` with the start
/// method "fork", or by a server that loads its application before it forks, only `scheme`, `public_key` and `active`
/// can be read; all else raises KeyFileError: open the key in the process that signs. KeyFileError is also raised if
/// the record was restored or replaced while the key is open, and for a key file that its group or others can read
/// (run chmod 600).
///
/// Never restore a record from a backup or a snapshot, and never use one key on two machines: that cannot be detected,
/// and two signatures for one epoch reveal the key.
#[pyclass(frozen, module = "lydite")]
pub struct XmssKey {
    file: Mutex<Box<dyn NamedKeyFile>>,
    owner: Owner,
    scheme: &'static str,
    public_key: Vec<u8>,
    active: Range<u64>,
}

impl XmssKey {
    /// Runs `run` on the locked file if this process owns it.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut dyn NamedKeyFile) -> T + Send,
    ) -> PyResult<T> {
        // Before the file is locked: a fork may have copied a mutex that another thread had locked.
        self.owner.check().map_err(IntoPython::into_python)?;
        // Release the interpreter first: another thread may hold the file and wait for the interpreter.
        Ok(py.detach(|| run(&mut **lock(&self.file))))
    }
}

#[pymethods]
impl XmssKey {
    #[new]
    #[pyo3(signature = (path, *, scheme = "leansig-prod"))]
    fn new(path: PathBuf, scheme: &str) -> PyResult<Self> {
        let scheme = self::scheme(scheme)?;
        let file = scheme.open(&path).map_err(IntoPython::into_python)?;
        Ok(Self {
            owner: Owner::current(),
            scheme: scheme.name(),
            public_key: file.public_key().map_err(IntoPython::into_python)?,
            active: file.active(),
            file: Mutex::new(file),
        })
    }

    /// Name of the scheme.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// The public key.
    #[getter]
    fn public_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.public_key)
    }

    /// The range of the key's epochs, as (first, end).
    #[getter]
    fn active(&self) -> (u64, u64) {
        ends(&self.active)
    }

    /// The epochs that can still be signed, as (first, end).
    #[getter]
    fn unspent(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        Ok(ends(&self.with(py, |file| file.unspent())?))
    }

    /// The epochs whose trees are prepared, as (first, end).
    #[getter]
    fn prepared(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        Ok(ends(&self.with(py, |file| file.prepared())?))
    }

    /// Moves the window of prepared epochs up to this one, like signing does, and rewrites the key file.
    fn prepare(&self, py: Python<'_>, epoch: Unsigned<u32>) -> PyResult<()> {
        self.with(py, |file| file.prepare(epoch.0))?
            .map_err(IntoPython::into_python)
    }

    /// Starts a background thread that computes the tree after the window, a few leaves at a time with pauses of this
    /// many seconds, so that moving the window requires no computation.
    #[pyo3(signature = (pause = 0.1))]
    fn prepare_ahead(&self, py: Python<'_>, pause: f64) -> PyResult<()> {
        let pause = Duration::try_from_secs_f64(pause)
            .map_err(|error| LyditeError::new_err(format!("pause: {error}")))?;
        self.with(py, |file| file.prepare_ahead(pause))?
            .map_err(IntoPython::into_python)
    }

    /// Signs a message (32 bytes) for an epoch, and spends it and all earlier ones. Raises KeyFileError for a spent
    /// epoch, and in a process forked from the one that opened the key.
    fn sign<'py>(
        &self,
        py: Python<'py>,
        epoch: Unsigned<u32>,
        message: Data<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let message = message.array("message")?;
        let signature = self.with(py, |file| file.sign(epoch.0, message))?;
        Ok(PyBytes::new(
            py,
            &signature.map_err(IntoPython::into_python)?,
        ))
    }

    // Without the unspent epochs, for which it would have to wait for the lock.
    fn __repr__(&self) -> String {
        let (first, end) = self.active();
        format!("<XmssKey {}, epochs {first} to {end}>", self.scheme)
    }
}

fn ends(range: &Range<u64>) -> (u64, u64) {
    (range.start, range.end)
}
