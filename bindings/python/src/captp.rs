//! CapTP sessions without sockets, for `lydite.captp`: the state machine, which asyncio drives.
//!
//! No lock is held while Python code runs, so that handles can be dropped at any time.

use std::cell::RefCell;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lydite::ocapn::{
    captp::{self, Dialect, Framing, Locator, PublicKey, SecretKey},
    session::{self, Cause, Config, Event, Limits, Location, Output, Payload, Proof},
    syrup::{self, Value},
};
use pyo3::{
    exceptions::PyOSError,
    prelude::*,
    types::{PyBytes, PyDict, PyString, PyTuple},
};

use crate::{
    data::{Data, Secret},
    error::{DecodeError, EncodeError, IntoPython, LyditeError},
    syrup::{Record, from_value, to_value},
};

/// Labels of the records that stand for references. Data with these labels would become references of the sender.
const REFERENCES: [&str; 6] = [
    "desc:ref",
    "desc:import-object",
    "desc:import-promise",
    "desc:export",
    "desc:answer",
    "desc:sig-envelope",
];

/// Adds the types to the module.
pub fn add_types(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.setattr("Connection", py.get_type::<Connection>())?;
    module.setattr("Dial", py.get_type::<Dial>())?;
    module.setattr("Handle", py.get_type::<Handle>())?;
    module.setattr("Key", py.get_type::<Key>())?;
    module.setattr("PeerKey", py.get_type::<PeerKey>())?;
    module.setattr("Vat", py.get_type::<Vat>())?;
    module.setattr("may_reach", wrap_pyfunction!(may_reach, module)?)
}

type Shared = Arc<Mutex<session::Vat>>;

fn lock(vat: &Shared) -> MutexGuard<'_, session::Vat> {
    // The vat has no state that a panic between its calls could leave half changed.
    vat.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A handle of an object or promise, which is released when it is dropped.
#[pyclass(frozen, module = "lydite._native")]
pub struct Handle {
    vat: Shared,
    handle: session::Ref,
}

impl Drop for Handle {
    fn drop(&mut self) {
        lock(&self.vat).drop_ref(self.handle);
    }
}

#[pymethods]
impl Handle {
    /// What it refers to.
    #[getter]
    fn key(&self) -> Key {
        Key(self.handle)
    }
}

/// Identifies an object or promise without keeping it.
#[pyclass(frozen, eq, hash, module = "lydite._native")]
#[derive(PartialEq, Eq, Hash)]
pub struct Key(session::Ref);

/// A connection.
#[pyclass(frozen, eq, hash, module = "lydite._native")]
#[derive(PartialEq, Eq, Hash)]
pub struct Connection(session::Connection);

/// A request to open a connection.
#[pyclass(frozen, module = "lydite._native")]
pub struct Dial {
    dial: session::Dial,
    location: Location,
}

#[pymethods]
impl Dial {
    /// How to connect.
    #[getter]
    fn transport(&self) -> &str {
        &self.location.transport
    }

    /// The peer's name within the transport.
    #[getter]
    fn designator(&self) -> &str {
        &self.location.designator
    }

    /// Connection hints.
    #[getter]
    fn hints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hints = PyDict::new(py);
        for (name, value) in self.location.hints.iter().flatten() {
            hints.set_item(name, value)?;
        }
        Ok(hints)
    }
}

/// The key of a listener on the transport `websocket`: `PeerKey(secret)`, 32 secret bytes.
#[pyclass(frozen, module = "lydite._native")]
pub struct PeerKey(SecretKey);

#[pymethods]
impl PeerKey {
    #[new]
    #[pyo3(signature = (secret, /))]
    fn new(secret: Secret<'_>) -> PyResult<Self> {
        Ok(Self(SecretKey::from_bytes(secret.array("secret")?)))
    }

    /// The designator of its location.
    #[getter]
    fn designator(&self) -> String {
        self.0.public_key().to_designator()
    }

    /// The answer to a dialer's first frame.
    fn answer<'py>(&self, py: Python<'py>, challenge: Data<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let answer = captp::answer_challenge(&challenge, &self.0);
        Ok(PyBytes::new(py, &answer.map_err(IntoPython::into_python)?))
    }

    /// The first frame of a dialer: 32 random bytes, to be used once.
    #[staticmethod]
    fn challenge<'py>(py: Python<'py>, nonce: Data<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let challenge = captp::challenge(nonce.array("nonce")?);
        Ok(PyBytes::new(py, &challenge))
    }

    /// Raises SignatureError or DecodeError unless this is the answer to the challenge, by the key in the designator.
    #[staticmethod]
    fn verify(designator: &str, nonce: Data<'_>, answer: Data<'_>) -> PyResult<()> {
        let key = PublicKey::from_designator(designator).map_err(IntoPython::into_python)?;
        captp::verify_answer(&answer, nonce.array("nonce")?, &key).map_err(IntoPython::into_python)
    }
}

/// Whether to connect to an address because a peer named it, if the own listener is bound to `own`. `private`: also to
/// private and loopback addresses.
#[pyfunction]
#[pyo3(signature = (address, own, /, *, private))]
fn may_reach(address: IpAddr, own: IpAddr, private: bool) -> bool {
    captp::may_reach(address, own, private)
}

fn framing(name: &str) -> PyResult<Framing> {
    match name {
        "none" => Ok(Framing::None),
        "length" => Ok(Framing::Length),
        _ => Err(LyditeError::new_err(format!(
            "framing: expected 'none' or 'length', found '{name}'"
        ))),
    }
}

fn dialect(name: &str) -> PyResult<Dialect> {
    let mut dialects = Dialect::ALL.into_iter();
    let named = dialects.find(|dialect| dialect.to_string() == name);
    named.ok_or_else(|| {
        let names = Dialect::ALL.map(|dialect| format!("'{dialect}'"));
        let names = names.join(", ");
        LyditeError::new_err(format!("dialect: expected one of {names}, found '{name}'"))
    })
}

/// Sets the limit of this name.
fn set_limit(limits: &mut Limits, name: &str, value: u64) -> PyResult<()> {
    let out_of_range = || LyditeError::new_err(format!("limits: {name} is out of range"));
    macro_rules! by_name {
        ($($field:ident)*) => {
            match name {
                $(stringify!($field) => {
                    limits.$field = value.try_into().map_err(|_| out_of_range())?;
                })*
                _ => return Err(LyditeError::new_err(format!("limits: unknown name {name}"))),
            }
        };
    }
    by_name!(
        message references unidentified hello_time dial_time crossed_time duplicate_time message_time close_time
        connections exports imports answers queue queue_bytes values listeners session_listeners gifts withdrawals
        gift_time gift_id handoffs signatures outbound_soft outbound_hard location_part
    );
    Ok(())
}

/// Transport, designator, hints, and the framing if it is fixed.
type Listener = (String, String, Vec<(String, String)>, Option<String>);

/// All sessions of one participant. Times are in milliseconds. `wrap` makes a Python object of a handle; `unwrap`
/// returns the handle of an object that is not data, or raises TypeError.
#[pyclass(frozen, module = "lydite._native")]
pub struct Vat {
    vat: Shared,
    locations: Vec<Location>,
    /// The limit on answers, which also bounds the calls of one peer that are being handled.
    #[pyo3(get)]
    answers: usize,
}

impl Vat {
    fn lock(&self) -> MutexGuard<'_, session::Vat> {
        lock(&self.vat)
    }

    /// Takes over a handle.
    fn adopt(&self, handle: session::Ref) -> Handle {
        Handle {
            vat: self.vat.clone(),
            handle,
        }
    }

    fn own(&self, handle: &Handle) -> PyResult<session::Ref> {
        if Arc::ptr_eq(&self.vat, &handle.vat) {
            Ok(handle.handle)
        } else {
            Err(LyditeError::new_err(
                "the reference belongs to another node",
            ))
        }
    }

    /// The Python object of a payload, whose handles it takes over.
    fn to_python<'py>(
        &self,
        py: Python<'py>,
        payload: &Payload,
        wrap: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // All handles have an owner before anything can fail.
        let handles: Vec<Handle> = payload.refs().iter().map(|it| self.adopt(*it)).collect();
        let objects = handles
            .into_iter()
            .map(|handle| wrap.call1((handle,)))
            .collect::<PyResult<Vec<_>>>()?;
        let tree = payload.decode().map_err(IntoPython::into_python)?;
        from_value(py, &tree, payload.data(), &|record| {
            let Value::Symbol(label) = &record.label else {
                return Ok(None);
            };
            Ok(match (label.as_str(), record.fields.as_slice()) {
                ("void" | "null", []) => Some(py.None().into_bound(py)),
                ("desc:ref", [Value::Integer(index)]) => {
                    let index = u64::try_from(index)
                        .ok()
                        .and_then(|it| usize::try_from(it).ok());
                    index.and_then(|index| objects.get(index)).cloned()
                }
                _ => None,
            })
        })
    }

    /// Calls `act` with the payload of a Python object.
    fn with_payload<'py, T>(
        &self,
        object: &Bound<'py, PyAny>,
        unwrap: &Bound<'py, PyAny>,
        act: impl FnOnce(&mut session::Vat, &Payload) -> T,
    ) -> PyResult<T> {
        // Kept until the message holds the references.
        let handles: RefCell<Vec<Py<Handle>>> = RefCell::default();
        let tree = to_value(object, 0, &|object| {
            if let Ok(record) = object.cast::<Record>() {
                return match record.get().symbol(object.py()) {
                    Some(label) if REFERENCES.contains(&label.as_str()) => Err(
                        EncodeError::new_err(format!("data cannot have the label {label}")),
                    ),
                    _ => Ok(None),
                };
            }
            if object.is_none() {
                return Ok(Some(record("void", Vec::new())));
            }
            let handle = unwrap.call1((object,))?.extract::<Py<Handle>>()?;
            self.own(handle.get())?;
            let mut handles = handles.borrow_mut();
            let index = handles.len() as u64;
            handles.push(handle);
            Ok(Some(record("desc:ref", vec![Value::from(index)])))
        })?;
        let handles = handles.into_inner();
        let references: Vec<_> = handles.iter().map(|handle| handle.get().handle).collect();
        let payload = Payload::from_tree(&tree, &references).map_err(|error| match error.kind {
            syrup::ErrorKind::WrongType => EncodeError::new_err(
                "expected keys, labels and members of sets to be neither containers nor references",
            ),
            other => EncodeError::new_err(other.to_string()),
        })?;
        let result = act(&mut self.lock(), &payload);
        Ok(result)
    }
}

fn record(label: &str, fields: Vec<Value>) -> Value {
    Value::Record(Box::new(syrup::Record {
        label: Value::symbol(label),
        fields,
    }))
}

/// What became of a promise that broke.
const fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::Disconnected => "disconnected",
        Cause::Limit => "limit",
        _ => "broken",
    }
}

/// A value of a peer that has no form in Python, or another error.
fn only_decoding(py: Python<'_>, error: PyErr) -> PyResult<String> {
    if error.is_instance_of::<DecodeError>(py) {
        Ok(error.value(py).to_string())
    } else {
        Err(error)
    }
}

#[pymethods]
impl Vat {
    #[new]
    #[pyo3(signature = (listeners, *, dialect = "endo-2026-08", framing = "none", limits = None))]
    fn new(
        listeners: Vec<Listener>,
        dialect: &str,
        framing: &str,
        limits: Option<Vec<(String, u64)>>,
    ) -> PyResult<Self> {
        let mut config = Config::new(Vec::new());
        config.dialect = self::dialect(dialect)?;
        config.framing = self::framing(framing)?;
        for (name, value) in limits.into_iter().flatten() {
            set_limit(&mut config.limits, &name, value)?;
        }
        for (transport, designator, hints, fixed) in listeners {
            if let Some(fixed) = fixed {
                let fixed = self::framing(&fixed)?;
                config.fixed_framing.push((transport.clone(), fixed));
            }
            config.locations.push(Location {
                transport,
                designator,
                hints: (!hints.is_empty()).then_some(hints),
            });
        }
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(|error| PyOSError::new_err(format!("system randomness: {error}")))?;
        Ok(Self {
            locations: config.locations.clone(),
            answers: config.limits.answers,
            vat: Arc::new(Mutex::new(session::Vat::new(config, seed))),
        })
    }

    /// Registers a connection to the listener with this index. `trusted`: the netlayer trusts what the peer claims.
    /// None: it should be closed.
    fn accepted(&self, listener: usize, trusted: bool, now: u64) -> Option<Connection> {
        let proof = if trusted {
            Proof::Trusted
        } else {
            Proof::Claimed
        };
        self.lock().accepted(listener, proof, now).map(Connection)
    }

    /// Registers a connection that was requested. `verified`: the netlayer has authenticated the peer. None: it should
    /// be closed.
    fn dialed(&self, dial: &Dial, verified: bool, now: u64) -> Option<Connection> {
        let proof = if verified {
            Proof::Verified(dial.location.clone())
        } else {
            Proof::Trusted
        };
        self.lock().dialed(dial.dial, proof, now).map(Connection)
    }

    /// Reports that a connection could not be opened.
    fn dial_failed(&self, dial: &Dial, reason: &str) {
        self.lock().dial_failed(dial.dial, reason);
    }

    /// Processes bytes that arrived.
    fn received(&self, connection: &Connection, data: Data<'_>, now: u64) {
        self.lock().received(connection.0, &data, now);
    }

    /// Whether so much waits to be sent on a connection that nothing should be read from it.
    fn is_full(&self, connection: &Connection) -> bool {
        self.lock().is_full(connection.0)
    }

    /// Reports that a connection is closed.
    fn closed(&self, connection: &Connection, reason: &str) {
        self.lock().closed(connection.0, reason);
    }

    /// Ends a session.
    fn abort(&self, connection: &Connection, reason: &str) {
        self.lock().abort(connection.0, reason);
    }

    /// Applies deadlines.
    fn tick(&self, now: u64) {
        self.lock().tick(now);
    }

    /// When to call `tick`.
    fn deadline(&self) -> Option<u64> {
        self.lock().deadline()
    }

    /// What to do next: ("bytes", connection), ("close", connection) or ("dial", dial).
    fn poll_output<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let output = self.lock().poll_output();
        let Some(output) = output else {
            return Ok(None);
        };
        Some(match output {
            Output::Bytes(connection) => ("bytes", Connection(connection)).into_pyobject(py),
            Output::Close(connection) => ("close", Connection(connection)).into_pyobject(py),
            Output::Dial { dial, location } => ("dial", Dial { dial, location }).into_pyobject(py),
        })
        .transpose()
    }

    /// The bytes to send on a connection.
    fn take_bytes<'py>(&self, py: Python<'py>, connection: &Connection) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        self.lock().take_bytes(connection.0, &mut bytes);
        PyBytes::new(py, &bytes)
    }

    /// The next event: ("call", key, arguments, reply or None, connection or None), ("settled", key, outcome, value or
    /// reason) with the outcome "fulfilled", "broken", "disconnected" or "limit", ("broken", key), ("dropped", key),
    /// ("up", connection) or ("down", connection, reason).
    fn poll_event<'py>(
        &self,
        py: Python<'py>,
        wrap: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            let event = self.lock().poll_event();
            let Some(event) = event else {
                return Ok(None);
            };
            let event = match event {
                Event::Call {
                    object,
                    arguments,
                    reply,
                    from,
                } => {
                    let reply = reply.map(|reply| self.adopt(reply));
                    match self.to_python(py, &arguments, wrap) {
                        Ok(arguments) => {
                            let from = from.map(Connection);
                            ("call", Key(object), arguments, reply, from).into_pyobject(py)
                        }
                        Err(error) => {
                            let reason = Payload::error(&only_decoding(py, error)?);
                            if let Some(reply) = reply {
                                self.lock().resolve(reply.handle, Err(&reason));
                            }
                            continue;
                        }
                    }
                }
                Event::Settled { promise, outcome } => {
                    let (cause, payload) = match outcome {
                        Ok(value) => (None, value),
                        Err(reason) => (Some(reason.cause), reason.value),
                    };
                    let (cause, value) = match self.to_python(py, &payload, wrap) {
                        Ok(value) => (cause, value),
                        Err(error) => {
                            let reason = Payload::error(&only_decoding(py, error)?);
                            let reason = self.to_python(py, &reason, wrap)?;
                            (Some(Cause::Application), reason)
                        }
                    };
                    let outcome = cause.map_or("fulfilled", name);
                    ("settled", Key(promise), outcome, value).into_pyobject(py)
                }
                Event::Broken(reference) => ("broken", Key(reference)).into_pyobject(py),
                Event::Dropped(object) => ("dropped", Key(object)).into_pyobject(py),
                Event::Up(connection) => ("up", Connection(connection)).into_pyobject(py),
                Event::Down(connection, reason) => {
                    ("down", Connection(connection), reason).into_pyobject(py)
                }
            };
            return event.map(Some);
        }
    }

    /// A new object.
    fn object(&self) -> Handle {
        let object = self.lock().object();
        self.adopt(object)
    }

    /// Another handle. None if nothing refers to the object any more.
    fn handle(&self, key: &Key) -> Option<Handle> {
        let mut vat = self.lock();
        vat.clone_ref(key.0);
        let is_held = vat.is_held(key.0);
        drop(vat);
        is_held.then(|| self.adopt(key.0))
    }

    /// A new promise and its resolver.
    fn promise(&self) -> (Handle, Handle) {
        let (promise, resolver) = self.lock().promise();
        (self.adopt(promise), self.adopt(resolver))
    }

    /// Settles the promise of a resolver.
    #[pyo3(signature = (resolver, value, unwrap, *, fulfill))]
    fn resolve<'py>(
        &self,
        resolver: &Handle,
        value: &Bound<'py, PyAny>,
        unwrap: &Bound<'py, PyAny>,
        fulfill: bool,
    ) -> PyResult<()> {
        let resolver = self.own(resolver)?;
        self.with_payload(value, unwrap, |vat, payload| {
            vat.resolve(resolver, if fulfill { Ok(payload) } else { Err(payload) });
        })
    }

    /// Makes an object available under a swiss number.
    fn publish(&self, swiss: Data<'_>, object: &Handle) -> PyResult<()> {
        let object = self.own(object)?;
        self.lock().publish(&swiss, object);
        Ok(())
    }

    /// Withdraws the object with this swiss number.
    fn unpublish(&self, swiss: Data<'_>) {
        self.lock().unpublish(&swiss);
    }

    /// The sturdyref of this swiss number, or without one the locator of the participant, at the first listener.
    fn locator(&self, swiss: Data<'_>) -> Option<String> {
        Some(self.locations.first()?.locator(&swiss).to_string())
    }

    /// A promise for the object that a sturdyref names, or for the bootstrap object of a peer.
    fn enliven(&self, locator: &str) -> PyResult<Handle> {
        let locator: Locator = locator.parse().map_err(IntoPython::into_python)?;
        let mut vat = self.lock();
        let promise = match locator.sturdyref() {
            Some(sturdyref) => vat.enliven(&sturdyref),
            None => vat.connect(&locator.peer()),
        };
        drop(vat);
        Ok(self.adopt(promise))
    }

    /// Sends a message: a tuple or list. The result is a promise.
    fn call<'py>(
        &self,
        target: &Handle,
        arguments: &Bound<'py, PyAny>,
        unwrap: &Bound<'py, PyAny>,
    ) -> PyResult<Handle> {
        let target = self.own(target)?;
        let result = self.with_payload(arguments, unwrap, |vat, payload| vat.call(target, payload));
        Ok(self.adopt(result?))
    }

    /// Sends a message whose result nobody needs. Returns the outcome, like that of a "settled" event, and the reason if
    /// it was not sent.
    fn send<'py>(
        &self,
        target: &Handle,
        arguments: &Bound<'py, PyAny>,
        wrap: &Bound<'py, PyAny>,
        unwrap: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
        let target = self.own(target)?;
        let sent = self.with_payload(arguments, unwrap, |vat, payload| vat.send(target, payload));
        match sent? {
            Ok(()) => Ok(None),
            Err(reason) => {
                let value = self.to_python(arguments.py(), &reason.value, wrap)?;
                Ok(Some((name(reason.cause), value)))
            }
        }
    }

    /// A promise for a field of the struct that a promise is fulfilled with.
    fn field(&self, promise: &Handle, name: &str) -> PyResult<Handle> {
        let promise = self.own(promise)?;
        let part = self.lock().get(promise, name);
        Ok(self.adopt(part))
    }

    /// A promise for an item of the list that a promise is fulfilled with.
    fn item(&self, promise: &Handle, index: u64) -> PyResult<Handle> {
        let promise = self.own(promise)?;
        let part = self.lock().index(promise, index);
        Ok(self.adopt(part))
    }

    /// Requests one "settled" event.
    fn listen(&self, promise: &Handle) -> PyResult<()> {
        let promise = self.own(promise)?;
        self.lock().listen(promise);
        Ok(())
    }

    /// Requests a "broken" event for the end of the session of a reference.
    fn watch(&self, reference: &Handle) -> PyResult<()> {
        let reference = self.own(reference)?;
        self.lock().watch(reference);
        Ok(())
    }

    /// The connection through which messages to the reference are sent. None for local objects, and for promises that
    /// have not settled.
    fn connection(&self, reference: &Handle) -> PyResult<Option<Connection>> {
        let reference = self.own(reference)?;
        let remote = self.lock().remote(reference);
        Ok(remote.map(|(connection, _)| Connection(connection)))
    }

    /// Whether so much waits to be sent, or for the promise, that the caller should wait.
    fn is_congested(&self, reference: &Handle) -> PyResult<bool> {
        let reference = self.own(reference)?;
        Ok(self.lock().is_congested(reference))
    }

    /// The sizes of all tables.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.lock().stats();
        let sizes = PyDict::new(py);
        for (name, size) in [
            ("nodes", stats.nodes),
            ("connections", stats.connections),
            ("exports", stats.exports),
            ("imports", stats.imports),
            ("questions", stats.questions),
            ("answers", stats.answers),
            ("gifts", stats.gifts),
            ("dials", stats.dials),
            ("queued", stats.queued),
            ("outbound", stats.outbound),
        ] {
            sizes.set_item(PyString::intern(py, name), size)?;
        }
        Ok(sizes)
    }
}
