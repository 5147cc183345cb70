//! The node: a vat, its objects, and those who wait for promises.
use std::{
    collections::VecDeque,
    fmt, io,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use foldhash::{HashMap, HashMapExt as _};
use lydite_ocapn::captp::{Dialect, Framing, Locator, Peer, Sturdyref};
use lydite_ocapn::session::{
    Config, Connection, Event, Limits, Location, Outcome, Output, Payload, Proof, Ref, Stats, Vat,
};
use tokio::time::Instant;

use crate::netlayer::Netlayer;
use crate::object::{Call, Object, Objects};
use crate::record::{Record, Recorder};
use crate::trace::{self, Span};
use crate::{Arguments, Error, Passable, Promise, Reference, Resolver, driver};

/// Most objects that are dropped together.
const FREED: usize = 64;

/// A participant: it holds the sessions with all peers. Clones are the same node.
///
/// It must be started within a tokio runtime with its network and timers enabled.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

pub(crate) struct Inner {
    state: Mutex<State>,
    /// Held while events are served, so that objects are called one after the other.
    turn: Mutex<()>,
    /// Handles that were dropped while the state was in use.
    dropped: Mutex<Vec<Ref>>,
    pub netlayers: Vec<Arc<dyn Netlayer>>,
    locations: Vec<Location>,
    /// Most calls of one peer that are being handled.
    most_calls: usize,
    /// Most messages that wait for one object.
    pub most_waiting: usize,
    /// Most connections accepted from one address.
    pub most_connections: usize,
    /// Time for the netlayer to open a connection.
    pub dial_time: Duration,
    /// Time for which a peer may read nothing, and time to send the last bytes on a connection.
    pub message_time: Duration,
    pub close_time: Duration,
    /// Where tasks are spawned. `None` without netlayers: then there are no tasks.
    pub runtime: Option<tokio::runtime::Handle>,
    start: Instant,
    stopped: AtomicBool,
    /// The tasks that accept connections. They wait for the netlayer, so that only aborting ends them.
    acceptors: Mutex<Vec<tokio::task::AbortHandle>>,
}

impl Inner {
    pub fn add_acceptor(&self, task: tokio::task::AbortHandle) {
        let acceptors = self.acceptors.lock();
        acceptors.unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn stop_accepting(&self) {
        let acceptors = self.acceptors.lock();
        for task in acceptors.unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop_accepting();
    }
}

pub(crate) struct State {
    vat: Vat,
    objects: Objects,
    promises: HashMap<Ref, Waiting>,
    broken: HashMap<Ref, Broken>,
    /// Tasks that wait until less waits to be sent on a connection, or (`None`) for a promise.
    congested: HashMap<Option<Connection>, Vec<Waker>>,
    /// Those of them to wake when the state is not in use.
    woken: Vec<Waker>,
    /// Of calls whose result has not settled.
    spans: HashMap<Ref, Span>,
    /// One for each session; the calls that are being handled hold a clone.
    calls: HashMap<Connection, Arc<()>>,
    /// The tasks that move the bytes of connections, if they wait.
    tasks: HashMap<Connection, Waker>,
    closing: HashMap<Connection, ()>,
    outputs: VecDeque<Output>,
    recorder: Option<Recording>,
}

#[derive(Default)]
struct Waiting {
    wakers: Vec<Waker>,
    outcome: Option<Result<Passable, Error>>,
}

#[derive(Default)]
struct Broken {
    /// By number, so that each can be removed.
    wakers: HashMap<u64, Waker>,
    next: u64,
    ended: bool,
}

/// What is needed to number the connections and requests of a recording.
struct Recording {
    recorder: Recorder,
    connections: Vec<Connection>,
    dials: Vec<lydite_ocapn::session::Dial>,
}

/// Settings of a [`Node`].
pub struct Builder {
    netlayers: Vec<Arc<dyn Netlayer>>,
    dialect: Dialect,
    framing: Framing,
    limits: Limits,
    connections_per_address: usize,
    fixed_framing: Vec<(String, Framing)>,
    seed: Option<[u8; 32]>,
    locations: Vec<Location>,
    recorder: Option<Recorder>,
}

impl Builder {
    /// Adds a netlayer.
    #[must_use]
    pub fn netlayer(mut self, netlayer: impl Netlayer) -> Self {
        let location = netlayer.location();
        if let Some(framing) = netlayer.framing() {
            self.fixed_framing
                .push((location.transport.clone(), framing));
        }
        self.locations.push(location);
        self.netlayers.push(Arc::new(netlayer));
        self
    }

    /// The dialect to write; default: that of Endo 1.1.1. All dialects are read.
    #[must_use]
    pub const fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How to frame messages on connections that this node opens by itself; default: not at all. Others follow the
    /// peer.
    #[must_use]
    pub const fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Bounds on what peers can use. `answers` also bounds the calls of one peer that handlers have not completed: one
    /// more ends the session. `queue` also bounds the messages that wait for a sequential object.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Most connections accepted by one netlayer from an IPv4 address or an IPv6 network of 64 bits at a time; default:
    /// 64. One more is closed. Netlayers without such addresses do not bound this. Behind a proxy, all connections come
    /// from its address: raise the limit there.
    #[must_use]
    pub const fn connections_per_address(mut self, most: usize) -> Self {
        self.connections_per_address = most;
        self
    }

    /// The seed of all keys, which otherwise comes from the operating system. For recordings only: whoever knows it can
    /// impersonate the node.
    #[must_use]
    pub const fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A location without a netlayer, for [`replay`](crate::replay).
    #[must_use]
    pub fn location(mut self, location: Location) -> Self {
        self.locations.push(location);
        self
    }

    /// Records what is received and sent.
    #[must_use]
    pub fn record(mut self, recorder: impl FnMut(Record) + Send + 'static) -> Self {
        self.recorder = Some(Box::new(recorder));
        self
    }

    /// Starts the node: it accepts connections on all netlayers.
    ///
    /// # Errors
    ///
    /// The operating system gives no randomness, or there is no tokio runtime for the netlayers.
    pub fn start(self) -> io::Result<Node> {
        let runtime = match self.netlayers.is_empty() {
            true => None,
            false => Some(tokio::runtime::Handle::try_current().map_err(io::Error::other)?),
        };
        let mut seed = [0; 32];
        match self.seed {
            Some(given) => seed = given,
            None => {
                getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?
            }
        }
        let mut config = Config::new(self.locations.clone());
        config.dialect = self.dialect;
        config.framing = self.framing;
        config.fixed_framing = self.fixed_framing;
        let (most_calls, most_waiting) = (self.limits.answers, self.limits.queue);
        let [dial_time, message_time, close_time] = [
            self.limits.dial_time,
            self.limits.message_time,
            self.limits.close_time,
        ]
        .map(Duration::from_millis);
        config.limits = self.limits;
        let node = Node(Arc::new(Inner {
            state: Mutex::new(State {
                vat: Vat::new(config, seed),
                objects: Objects::default(),
                promises: HashMap::new(),
                broken: HashMap::new(),
                congested: HashMap::new(),
                woken: Vec::new(),
                spans: HashMap::new(),
                calls: HashMap::new(),
                tasks: HashMap::new(),
                closing: HashMap::new(),
                outputs: VecDeque::new(),
                recorder: self.recorder.map(|recorder| Recording {
                    recorder,
                    connections: Vec::new(),
                    dials: Vec::new(),
                }),
            }),
            turn: Mutex::new(()),
            dropped: Mutex::new(Vec::new()),
            netlayers: self.netlayers,
            locations: self.locations,
            most_calls,
            most_waiting,
            most_connections: self.connections_per_address,
            dial_time,
            message_time,
            close_time,
            runtime,
            start: Instant::now(),
            stopped: AtomicBool::new(false),
            acceptors: Mutex::default(),
        }));
        driver::start(&node);
        Ok(node)
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("locations", &self.locations)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("locations", &self.0.locations)
            .finish_non_exhaustive()
    }
}

impl Node {
    /// Settings without a netlayer.
    pub fn builder() -> Builder {
        Builder {
            netlayers: Vec::new(),
            dialect: Dialect::Endo202608,
            framing: Framing::None,
            limits: Limits::default(),
            connections_per_address: 64,
            fixed_framing: Vec::new(),
            seed: None,
            locations: Vec::new(),
            recorder: None,
        }
    }

    /// The locator of a published object, at the first netlayer.
    pub fn locator(&self, swiss: &[u8]) -> Option<Locator> {
        Some(self.0.locations.first()?.locator(swiss))
    }

    /// Creates an object.
    pub fn object(&self, object: impl Object) -> Reference {
        let handle = self.with_objects(|state| {
            let handle = state.vat.object();
            state.objects.insert(handle, Arc::new(object));
            handle
        });
        Reference::adopt(self, handle)
    }

    /// Creates an object that answers each message at once.
    pub fn function(
        &self,
        function: impl Fn(&Arguments) -> Result<Passable, Error> + Send + Sync + 'static,
    ) -> Reference {
        self.object(move |call: Call| {
            let result = function(&call.arguments);
            call.settle(result);
        })
    }

    /// Creates an object that answers each message by a task. Tasks start in the order of the messages.
    pub fn async_function<F, T>(&self, function: F) -> Reference
    where
        F: Fn(Arguments) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Passable, Error>> + Send + 'static,
    {
        self.object(move |call: Call| {
            let task = function(call.arguments);
            let (reply, held) = (call.reply, call.held);
            call.node.start_task(trace::within(call.span, async move {
                let _held = held;
                let result = task.await;
                if let Some(reply) = reply {
                    reply.settle(result);
                }
            }));
        })
    }

    /// Runs a task up to its first wait now, so that tasks start in the order of the calls, and the rest in the
    /// background. Without a runtime it is dropped instead of waiting.
    ///
    /// A handler that does not wait needs no task of the runtime. One that waits is polled twice at its start. This
    /// loses no wake-up: of a future's wakers only that of the last poll counts, and the second poll always comes.
    pub(crate) fn start_task(&self, task: impl Future<Output = ()> + Send + 'static) {
        let runtime = self.0.runtime.clone();
        let runtime = runtime.or_else(|| tokio::runtime::Handle::try_current().ok());
        let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
        let mut task = Box::pin(task);
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let (Poll::Pending, Some(runtime)) = (polled, &runtime) {
            runtime.spawn(task);
        }
    }

    /// Sends a message and returns the handle of its result.
    pub(crate) fn call(&self, target: Ref, arguments: &Payload) -> Ref {
        let span = Span::call(arguments);
        let result = self.vat(|vat| vat.call(target, arguments));
        if !span.is_disabled() {
            self.located(&span, target, Some(result));
            self.state().spans.insert(result, span);
        }
        result
    }

    /// Sends a message that has no result.
    pub(crate) fn send(&self, target: Ref, arguments: &Payload) -> Result<(), Error> {
        let span = Span::call(arguments);
        let sent = self.vat(|vat| vat.send(target, arguments));
        if !span.is_disabled() {
            self.located(&span, target, None);
            span.outcome(match &sent {
                Ok(()) => "sent",
                Err(reason) => trace::broken(reason.cause),
            });
        }
        sent.map_err(|reason| Error::from_reason(self, reason))
    }

    fn located(&self, span: &Span, target: Ref, result: Option<Ref>) {
        let state = self.state();
        let to = state.vat.remote(target);
        let answer = result.and_then(|result| state.vat.remote(result));
        drop(state);
        span.sent(to, answer);
    }

    /// Creates a promise and its resolver.
    pub fn promise(&self) -> (Promise, Resolver) {
        let (promise, resolver) = self.vat(Vat::promise);
        (
            Promise::new(Reference::adopt(self, promise)),
            Resolver::new(Reference::adopt(self, resolver), Span::none()),
        )
    }

    /// Makes an object available to whoever knows the swiss number.
    pub fn publish(&self, swiss: &[u8], object: impl Into<Reference>) {
        let object = object.into();
        self.vat(|vat| vat.publish(swiss, object.handle()));
    }

    /// Withdraws the object with this swiss number.
    pub fn unpublish(&self, swiss: &[u8]) {
        self.vat(|vat| vat.unpublish(swiss));
    }

    /// A promise for the object that a sturdyref names, or for the bootstrap object if there is no swiss number. Opens
    /// a session with its peer if there is none.
    pub fn enliven(&self, locator: &Locator) -> Promise {
        match locator.sturdyref() {
            Some(sturdyref) => self.enliven_sturdyref(&sturdyref),
            None => self.connect(&locator.peer()),
        }
    }

    /// Like [`enliven`](Self::enliven).
    pub fn enliven_sturdyref(&self, sturdyref: &Sturdyref<'_>) -> Promise {
        let handle = self.vat(|vat| vat.enliven(sturdyref));
        Promise::new(Reference::adopt(self, handle))
    }

    /// A promise for the bootstrap object of a peer.
    pub fn connect(&self, peer: &Peer<'_>) -> Promise {
        let handle = self.vat(|vat| vat.connect(peer));
        Promise::new(Reference::adopt(self, handle))
    }

    /// The sizes of all tables.
    pub fn stats(&self) -> Stats {
        self.vat(|vat| vat.stats())
    }

    /// Ends all sessions and stops accepting connections.
    pub fn shutdown(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
        self.0.stop_accepting();
        let connections: Vec<Connection> = self.state().tasks.keys().copied().collect();
        for connection in connections {
            self.vat(|vat| vat.abort(connection, "the node stops"));
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn downgrade(&self) -> std::sync::Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    pub(crate) const fn from_inner(inner: Arc<Inner>) -> Self {
        Self(inner)
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn now(&self) -> u64 {
        self.0.start.elapsed().as_millis() as u64
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The vat has no state that a panic between its calls could leave half changed.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the vat from outside a turn, or from an object.
    pub(crate) fn vat<R>(&self, act: impl FnOnce(&mut Vat) -> R) -> R {
        self.with_objects(|state| act(&mut state.vat))
    }

    fn with_objects<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state();
        let result = act(&mut state);
        if leave(state) || self.has_dropped() {
            self.serve();
            driver::carry_out(self);
        }
        result
    }

    fn has_dropped(&self) -> bool {
        let dropped = self.0.dropped.lock();
        !dropped.unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// An input from the network: its consequences are complete before the next one.
    pub(crate) fn input<R>(&self, act: impl FnOnce(&mut Vat) -> R) -> R {
        self.input_recorded(|vat| (act(vat), None))
    }

    pub(crate) fn input_recorded<'a, R>(
        &self,
        act: impl FnOnce(&mut Vat) -> (R, Option<Input<'a>>),
    ) -> R {
        let result = {
            let _turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let result = {
                let mut state = self.state();
                let (result, input) = act(&mut state.vat);
                if let (Some(input), Some(recording)) = (input, &mut state.recorder) {
                    recording.input(input);
                }
                result
            };
            self.serve_turn();
            leave(self.state());
            result
        };
        self.serve();
        driver::carry_out(self);
        result
    }

    /// Serves events, unless somebody does.
    fn serve(&self) {
        loop {
            if !self.state().vat.has_events() && !self.has_dropped() {
                return;
            }
            let turn = match self.0.turn.try_lock() {
                Ok(turn) => turn,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                // Whoever holds it comes here after that.
                Err(TryLockError::WouldBlock) => return,
            };
            self.serve_turn();
            leave(self.state());
            drop(turn);
        }
    }

    /// Serves all events. The turn is held.
    fn serve_turn(&self) {
        let mut freed = Vec::new();
        loop {
            let mut state = self.state();
            let dropped = {
                let mut dropped = self
                    .0
                    .dropped
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *dropped)
            };
            let mut unanswered = Vec::new();
            for handle in dropped {
                unanswered.extend(state.drop_handle(handle));
            }
            // A subscriber may use the node.
            if !unanswered.is_empty() {
                drop(state);
                unanswered.iter().for_each(|span| span.outcome("dropped"));
                drop(unanswered);
                state = self.state();
            }
            let mut event = state.vat.poll_event();
            // A peer can release many objects at once.
            while let Some(Event::Dropped(object)) = event {
                freed.extend(state.objects.remove(object));
                if freed.len() == FREED {
                    break;
                }
                event = state.vat.poll_event();
            }
            if !freed.is_empty() {
                // Dropping an object may use the state.
                drop(state);
                freed.clear();
                state = self.state();
            }
            let Some(event) = event else {
                return;
            };
            match event {
                Event::Call {
                    object,
                    arguments,
                    reply,
                    from,
                } => {
                    let handler = state.objects.get(object).cloned();
                    let held = from.and_then(|session| state.calls.get(&session).cloned());
                    // One clone is in the table.
                    if let (Some(session), Some(held)) = (from, &held)
                        && Arc::strong_count(held) > self.0.most_calls + 1
                    {
                        state.vat.abort(session, "too many calls are being handled");
                    }
                    drop(state);
                    let span = Span::serve(from, &arguments);
                    let reply = reply.map(|reply| Reference::adopt(self, reply));
                    let call = Call {
                        node: self.clone(),
                        arguments: Passable::adopt(self, arguments),
                        reply: reply.map(|reply| Resolver::new(reply, span.clone())),
                        session: from,
                        span: span.clone(),
                        held,
                    };
                    if let Some(handler) = handler {
                        // A panic breaks the reply, which is dropped with the call. It must not end the task of the
                        // connection, or the session would never end. The panic hook has reported it.
                        let handled = AssertUnwindSafe(|| span.enter(|| handler.call(call)));
                        drop(std::panic::catch_unwind(handled));
                    }
                }
                Event::Settled { promise, outcome } => {
                    let span = state.end_span(promise);
                    let ended = trace::outcome(&outcome);
                    let outcome = self.adopt(outcome);
                    let wakers = match state.promises.get_mut(&promise) {
                        Some(waiting) => {
                            waiting.outcome = Some(outcome);
                            std::mem::take(&mut waiting.wakers)
                        }
                        None => {
                            // Dropping the outcome uses the state.
                            drop(state);
                            drop(outcome);
                            continue;
                        }
                    };
                    drop(state);
                    if let Some(span) = span {
                        span.outcome(ended);
                    }
                    wakers.into_iter().for_each(Waker::wake);
                }
                Event::Broken(reference) => {
                    // The handle may have been dropped meanwhile.
                    let Some(broken) = state.broken.get_mut(&reference) else {
                        continue;
                    };
                    broken.ended = true;
                    let wakers = std::mem::take(&mut broken.wakers);
                    drop(state);
                    wakers.into_values().for_each(Waker::wake);
                }
                // Its object is among those dropped above.
                Event::Dropped(_) => {}
                Event::Down(connection, _) => {
                    state.calls.remove(&connection);
                }
                Event::Up(connection) => {
                    state.calls.insert(connection, Arc::default());
                }
            }
        }
    }

    fn adopt(&self, outcome: Outcome) -> Result<Passable, Error> {
        match outcome {
            Ok(value) => Ok(Passable::adopt(self, value)),
            Err(reason) => Err(Error::from_reason(self, reason)),
        }
    }

    /// Drops a handle. If the state is in use, maybe by this very thread, this is done by whoever serves next.
    pub(crate) fn release(&self, handle: Ref) {
        if let Ok(mut state) = self.0.state.try_lock() {
            let unanswered = state.drop_handle(handle);
            let busy = leave(state);
            if let Some(span) = unanswered {
                span.outcome("dropped");
            }
            if busy || self.has_dropped() {
                self.serve();
            }
            return;
        }
        let mut dropped = self
            .0
            .dropped
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        dropped.push(handle);
        drop(dropped);
        match self.0.state.try_lock() {
            Ok(state) => drop(state),
            Err(TryLockError::Poisoned(_)) => {}
            // The holder serves after that.
            Err(TryLockError::WouldBlock) => return,
        }
        self.serve();
    }

    /// The outcome of a promise. It need not be copied for the last one who can wait for it.
    pub(crate) fn poll_settled(
        &self,
        promise: Ref,
        is_last: bool,
        waker: &Waker,
    ) -> Poll<Result<Passable, Error>> {
        let mut listen = false;
        let mut state = self.state();
        state.promises.entry(promise).or_insert_with(|| {
            listen = true;
            Waiting::default()
        });
        if listen {
            drop(state);
            // If the promise has settled, this sets the outcome.
            self.vat(|vat| vat.listen(promise));
            state = self.state();
        }
        let waiting = state.promises.entry(promise).or_default();
        if !is_last && let Some(outcome) = &waiting.outcome {
            return Poll::Ready(outcome.clone());
        }
        if let Some(outcome) = waiting.outcome.take() {
            // Whoever receives the promise again listens again.
            state.promises.remove(&promise);
            return Poll::Ready(outcome);
        }
        if !waiting.wakers.iter().any(|known| known.will_wake(waker)) {
            waiting.wakers.push(waker.clone());
        }
        Poll::Pending
    }

    /// Registers the waker under a number, or replaces the one with that number.
    pub(crate) fn poll_broken(
        &self,
        reference: Ref,
        registered: &mut Option<u64>,
        waker: &Waker,
    ) -> Poll<()> {
        let mut watch = false;
        let mut state = self.state();
        let broken = state.broken.entry(reference).or_insert_with(|| {
            watch = true;
            Broken::default()
        });
        if broken.ended {
            return Poll::Ready(());
        }
        let number = *registered.get_or_insert_with(|| {
            broken.next += 1;
            broken.next
        });
        broken.wakers.insert(number, waker.clone());
        drop(state);
        if watch {
            self.vat(|vat| vat.watch(reference));
        }
        Poll::Pending
    }

    /// Removes a waker.
    pub(crate) fn ignore_broken(&self, reference: Ref, registered: u64) {
        let mut state = self.state();
        let waker = state
            .broken
            .get_mut(&reference)
            .and_then(|broken| broken.wakers.remove(&registered));
        drop(state);
        drop(waker);
    }

    /// Registers the task to be woken when the reference may be congested no more.
    pub(crate) fn poll_ready(&self, reference: Ref, waker: &Waker) -> Poll<()> {
        let mut state = self.state();
        if !state.vat.is_congested(reference) {
            return Poll::Ready(());
        }
        let connection = state.vat.remote(reference);
        let key = connection.map(|(connection, _)| connection);
        let wakers = state.congested.entry(key).or_default();
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        Poll::Pending
    }

    /// What the driver has to do.
    pub(crate) fn output(&self) -> Option<Output> {
        self.state().outputs.pop_front()
    }

    /// Moves the bytes to send to `out` if it is empty, and returns whether the connection closes after them. Registers
    /// the task to be woken when there are more.
    pub(crate) fn poll_bytes(
        &self,
        connection: Connection,
        out: &mut Vec<u8>,
        waker: &Waker,
    ) -> bool {
        let mut state = self.state();
        if out.is_empty() {
            state.vat.take_bytes(connection, out);
            if !out.is_empty() {
                if let Some(recording) = &mut state.recorder {
                    recording.input(Input::Sent(connection, out));
                }
                state.wake_congested(Some(connection));
            }
        }
        state.tasks.insert(connection, waker.clone());
        let closing = state.closing.contains_key(&connection);
        let woken = std::mem::take(&mut state.woken);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        closing
    }

    /// Whether nothing should be read from the connection.
    pub(crate) fn is_full(&self, connection: Connection) -> bool {
        self.state().vat.is_full(connection)
    }

    /// The connection's task ends.
    pub(crate) fn forget(&self, connection: Connection) {
        let mut state = self.state();
        state.tasks.remove(&connection);
        state.closing.remove(&connection);
    }
}

/// Ends a use of the state: passes on the vat's outputs, and wakes who can send more. Returns whether there is
/// something to serve or to carry out.
fn leave(mut state: MutexGuard<'_, State>) -> bool {
    state.collect_outputs();
    let woken = std::mem::take(&mut state.woken);
    let busy = state.vat.has_events() || !state.outputs.is_empty();
    drop(state);
    woken.into_iter().for_each(Waker::wake);
    busy
}

impl State {
    /// Drops a handle. Returns the span of a call that nobody waits for any more.
    fn drop_handle(&mut self, handle: Ref) -> Option<Span> {
        self.vat.drop_ref(handle);
        if self.vat.is_held(handle) {
            return None;
        }
        if !self.promises.is_empty() {
            self.promises.remove(&handle);
        }
        if !self.broken.is_empty() {
            self.broken.remove(&handle);
        }
        self.end_span(handle)
    }

    fn end_span(&mut self, result: Ref) -> Option<Span> {
        // Without a subscriber there are none, and this costs nothing.
        if self.spans.is_empty() {
            return None;
        }
        self.spans.remove(&result)
    }

    fn wake_congested(&mut self, connection: Option<Connection>) {
        if self.congested.is_empty() {
            return;
        }
        let wakers = self.congested.remove(&connection);
        self.woken.extend(wakers.into_iter().flatten());
    }

    /// Wakes those who carry out what the vat wants.
    fn collect_outputs(&mut self) {
        // Any input can settle the promise that others follow.
        self.wake_congested(None);
        while let Some(output) = self.vat.poll_output() {
            match &output {
                Output::Bytes(connection) => {
                    if let Some(task) = self.tasks.get(connection) {
                        task.wake_by_ref();
                        continue;
                    }
                }
                Output::Close(connection) => {
                    self.wake_congested(Some(*connection));
                    self.closing.insert(*connection, ());
                    if let Some(task) = self.tasks.get(connection) {
                        task.wake_by_ref();
                        continue;
                    }
                }
                Output::Dial { dial, .. } => {
                    if let Some(recording) = &mut self.recorder {
                        recording.dials.push(*dial);
                    }
                }
            }
            self.outputs.push_back(output);
        }
    }
}

/// What is recorded.
pub(crate) enum Input<'a> {
    Accepted(Connection, Proof),
    Dialed(lydite_ocapn::session::Dial, Connection, Proof),
    DialFailed(lydite_ocapn::session::Dial),
    Received(Connection, &'a [u8]),
    Sent(Connection, &'a [u8]),
    Closed(Connection),
}

impl Recording {
    fn input(&mut self, input: Input<'_>) {
        let number = |connection: Connection| {
            let mut known = self.connections.iter();
            known.position(|known| *known == connection)
        };
        let dial = |dial| self.dials.iter().position(|known| *known == dial);
        let record = match input {
            Input::Accepted(connection, proof) => {
                self.connections.push(connection);
                Some(Record::Accepted(proof))
            }
            Input::Dialed(request, connection, proof) => {
                let request = dial(request);
                self.connections.push(connection);
                request.map(|request| Record::Dialed(request, proof))
            }
            Input::DialFailed(request) => dial(request).map(Record::DialFailed),
            Input::Received(connection, bytes) => {
                number(connection).map(|number| Record::Received(number, bytes.into()))
            }
            Input::Sent(connection, bytes) => {
                number(connection).map(|number| Record::Sent(number, bytes.into()))
            }
            Input::Closed(connection) => number(connection).map(Record::Closed),
        };
        if let Some(record) = record {
            (self.recorder)(record);
        }
    }
}
