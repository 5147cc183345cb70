//! What the clones of a node share: the vat, its objects, and those who wait for promises.
//!
//! Here a message is a payload with handles. `Call`, `Passable`, `Promise` and `Reference` wrap them for users.
use std::{
    collections::VecDeque,
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, Waker},
};

use foldhash::{HashMap, HashMapExt as _};
use lydite_ocapn::session::{
    Cause, Connection, Dial, Event, Limits, Location, Outgoing, Output, Payload, Reason, Ref, Vat,
};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::record::{Input, Numbered, Recorder};
use crate::trace::{self, Span};

/// Most objects that are dropped together.
const FREED: usize = 64;
/// Why sessions end, and connections are not opened.
pub(crate) const STOPPED: &str = "the node stops";

/// A handle of a vat. It is released when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Counted>);

struct Counted {
    shared: Arc<Shared>,
    handle: Ref,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.shared.release(self.handle);
    }
}

impl Handle {
    /// Takes over a handle.
    pub fn adopt(shared: &Arc<Shared>, handle: Ref) -> Self {
        let shared = shared.clone();
        Self(Arc::new(Counted { shared, handle }))
    }

    pub fn get(&self) -> Ref {
        self.0.handle
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    /// Whether there is no clone.
    pub fn is_last(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get() && Arc::ptr_eq(self.shared(), other.shared())
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.get())
    }
}

/// A payload that keeps its handles.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub payload: Payload,
    /// Those of the payload, in its order.
    pub handles: Vec<Handle>,
}

impl Held {
    /// Takes over the handles of a payload.
    fn adopt(shared: &Arc<Shared>, payload: Payload) -> Self {
        let handles = payload.refs().iter();
        Self {
            handles: handles
                .map(|handle| Handle::adopt(shared, *handle))
                .collect(),
            payload,
        }
    }
}

/// Why a promise broke.
#[derive(Clone, Debug)]
pub(crate) struct HeldReason {
    pub cause: Cause,
    pub value: Held,
}

impl HeldReason {
    fn adopt(shared: &Arc<Shared>, reason: Reason) -> Self {
        Self {
            cause: reason.cause,
            value: Held::adopt(shared, reason.value),
        }
    }
}

/// The outcome of a promise.
pub(crate) type HeldOutcome = Result<Held, HeldReason>;

/// A message for an object.
pub(crate) struct Message {
    pub arguments: Held,
    /// The resolver of the result; `None` if the sender does not wait for one.
    pub reply: Option<Handle>,
    /// The session of the peer that sent it; `None` if the sender is of this node.
    pub session: Option<Connection>,
    pub span: Span,
    pub counted: Option<Handling>,
}

/// While it is held, a message of a peer counts as one that is being handled.
#[derive(Debug)]
pub(crate) struct Handling {
    /// The bytes of the arguments of all messages of its session.
    session: Arc<AtomicUsize>,
    /// Those of this message.
    bytes: usize,
}

impl Handling {
    fn new(session: &Arc<AtomicUsize>, bytes: usize) -> Self {
        session.fetch_add(bytes, Ordering::Relaxed);
        let session = session.clone();
        Self { session, bytes }
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        self.session.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Handles the messages for an object.
pub(crate) type Handler = Arc<dyn Fn(&Arc<Shared>, Message) + Send + Sync>;

/// The objects, each in the slot of its handle.
#[derive(Default)]
struct Objects(Vec<Option<(Ref, Handler)>>);

impl Objects {
    fn insert(&mut self, handle: Ref, handler: Handler) {
        if self.0.len() <= handle.slot() {
            self.0.resize_with(handle.slot() + 1, || None);
        }
        self.0[handle.slot()] = Some((handle, handler));
    }

    fn get(&self, handle: Ref) -> Option<&Handler> {
        let (found, handler) = self.0.get(handle.slot())?.as_ref()?;
        (*found == handle).then_some(handler)
    }

    fn remove(&mut self, handle: Ref) -> Option<Handler> {
        let slot = self.0.get_mut(handle.slot())?;
        let (_, handler) = slot.take_if(|(found, _)| *found == handle)?;
        Some(handler)
    }
}

pub(crate) struct Shared {
    state: Mutex<State>,
    /// Held while events are served, so that objects are called one after the other.
    turn: Mutex<()>,
    /// Handles that were dropped while the state was in use.
    dropped: Mutex<Vec<Ref>>,
    pub locations: Vec<Location>,
    /// Whether what is received is recorded.
    pub records: bool,
    /// Most calls of one peer that are being handled, and most bytes of their arguments.
    most_calls: usize,
    most_call_bytes: usize,
    /// Most messages that wait for one object.
    pub most_waiting: usize,
    /// Where tasks are spawned. `None` without netlayers: then there are no tasks.
    pub runtime: Option<tokio::runtime::Handle>,
    start: Instant,
    /// The tasks that accept and open connections. They wait for the netlayer, so that only aborting ends them.
    openers: Mutex<Vec<AbortHandle>>,
}

struct State {
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
    /// The bytes of the arguments of calls that are being handled, for each session. These calls hold a clone.
    calls: HashMap<Connection, Arc<AtomicUsize>>,
    /// The tasks that move the bytes of connections, if they wait.
    tasks: HashMap<Connection, Waker>,
    closing: HashMap<Connection, ()>,
    /// Whether connections are opened no more.
    stopped: bool,
    /// Connections to open.
    dials: VecDeque<(Dial, Location)>,
    /// The task that opens them, if it waits.
    dialer: Option<Waker>,
    recorder: Option<Numbered>,
}

#[derive(Default)]
struct Waiting {
    wakers: Vec<Waker>,
    outcome: Option<HeldOutcome>,
}

#[derive(Default)]
struct Broken {
    /// By number, so that each can be removed.
    wakers: HashMap<u64, Waker>,
    next: u64,
    ended: bool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stop_openers();
    }
}

impl Shared {
    pub fn new(
        vat: Vat,
        locations: Vec<Location>,
        limits: &Limits,
        most_call_bytes: usize,
        runtime: Option<tokio::runtime::Handle>,
        recorder: Option<Recorder>,
    ) -> Arc<Self> {
        Arc::new(Self {
            records: recorder.is_some(),
            state: Mutex::new(State {
                vat,
                objects: Objects::default(),
                promises: HashMap::new(),
                broken: HashMap::new(),
                congested: HashMap::new(),
                woken: Vec::new(),
                spans: HashMap::new(),
                calls: HashMap::new(),
                tasks: HashMap::new(),
                closing: HashMap::new(),
                stopped: false,
                dials: VecDeque::new(),
                dialer: None,
                recorder: recorder.map(Numbered::new),
            }),
            turn: Mutex::new(()),
            dropped: Mutex::new(Vec::new()),
            locations,
            most_calls: limits.answers,
            most_call_bytes,
            most_waiting: limits.queue,
            runtime,
            start: Instant::now(),
            openers: Mutex::default(),
        })
    }

    pub fn add_opener(&self, task: AbortHandle) {
        let openers = self.openers.lock();
        openers.unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn stop_openers(&self) {
        let openers = self.openers.lock();
        let openers = std::mem::take(&mut *openers.unwrap_or_else(PoisonError::into_inner));
        openers.iter().for_each(AbortHandle::abort);
    }

    /// Ends all sessions, and accepts and opens no connections any more.
    pub fn stop(self: &Arc<Self>) {
        self.stop_openers();
        self.with_state(|state| {
            state.stopped = true;
            state.dials.clear();
            state.vat.abort_all(STOPPED);
        });
    }

    /// Milliseconds since the start.
    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The vat has no state that a panic between its calls could leave half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an object.
    pub fn object(self: &Arc<Self>, handler: Handler) -> Handle {
        let handle = self.with_state(|state| {
            let handle = state.vat.object();
            state.objects.insert(handle, handler);
            handle
        });
        Handle::adopt(self, handle)
    }

    /// Sends a message and returns the handle of its result.
    pub fn call(self: &Arc<Self>, target: Ref, arguments: &Payload) -> Handle {
        let span = Span::call(arguments);
        let result = self.vat(|vat| vat.call(target, arguments));
        if !span.is_disabled() {
            self.located(&span, target, Some(result));
            self.state().spans.insert(result, span);
        }
        Handle::adopt(self, result)
    }

    /// Sends a message that has no result.
    pub fn send(self: &Arc<Self>, target: Ref, arguments: &Payload) -> Result<(), HeldReason> {
        let span = Span::call(arguments);
        let sent = self.vat(|vat| vat.send(target, arguments));
        if !span.is_disabled() {
            self.located(&span, target, None);
            span.outcome(match &sent {
                Ok(()) => "sent",
                Err(reason) => trace::broken(reason.cause),
            });
        }
        sent.map_err(|reason| HeldReason::adopt(self, reason))
    }

    fn located(&self, span: &Span, target: Ref, result: Option<Ref>) {
        let state = self.state();
        let to = state.vat.remote(target);
        let answer = result.and_then(|result| state.vat.remote(result));
        drop(state);
        span.sent(to, answer);
    }

    /// Does something with the vat from outside a turn, or from an object.
    pub fn vat<R>(self: &Arc<Self>, act: impl FnOnce(&mut Vat) -> R) -> R {
        self.with_state(|state| act(&mut state.vat))
    }

    fn with_state<R>(self: &Arc<Self>, act: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state();
        let result = act(&mut state);
        if leave(state) || self.has_dropped() {
            self.serve();
        }
        result
    }

    fn dropped(&self) -> MutexGuard<'_, Vec<Ref>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_dropped(&self) -> bool {
        !self.dropped().is_empty()
    }

    /// An input from the network at this time, and what to record of it: its consequences are complete before the next
    /// one.
    pub fn input<'a, R>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut Vat, u64) -> (R, Option<Input<'a>>),
    ) -> R {
        self.input_with(|state, now| act(&mut state.vat, now))
    }

    /// Like [`input`](Self::input), for a connection that was opened. `None`: it should be closed.
    pub fn opened<'a>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut Vat, u64) -> Option<(Connection, Input<'a>)>,
    ) -> Option<Connection> {
        self.input_with(|state, now| match state.stopped {
            true => (None, None),
            false => act(&mut state.vat, now).unzip(),
        })
    }

    fn input_with<'a, R>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut State, u64) -> (R, Option<Input<'a>>),
    ) -> R {
        let now = self.now();
        let result = {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let result = {
                let mut state = self.state();
                let (result, input) = act(&mut state, now);
                if let (Some(input), Some(recorder)) = (input, &mut state.recorder) {
                    recorder.input(input, now);
                }
                result
            };
            self.serve_turn();
            leave(self.state());
            result
        };
        self.serve();
        result
    }

    /// Serves events, unless somebody does.
    fn serve(self: &Arc<Self>) {
        loop {
            if !self.state().vat.has_events() && !self.has_dropped() {
                return;
            }
            let turn = match self.turn.try_lock() {
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
    fn serve_turn(self: &Arc<Self>) {
        let mut freed = Vec::new();
        loop {
            let mut state = self.state();
            let dropped = std::mem::take(&mut *self.dropped());
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
                    let calls = from.and_then(|session| state.calls.get(&session));
                    let bytes = arguments.data().len();
                    let counted = calls.map(|calls| Handling::new(calls, bytes));
                    if let (Some(session), Some(Handling { session: calls, .. })) = (from, &counted)
                    {
                        // One clone is in the table.
                        if Arc::strong_count(calls) > self.most_calls + 1 {
                            state.vat.abort(session, "too many calls are being handled");
                        } else if calls.load(Ordering::Relaxed) > self.most_call_bytes {
                            let reason = "calls with too many bytes are being handled";
                            state.vat.abort(session, reason);
                        }
                    }
                    drop(state);
                    let span = Span::serve(from, &arguments);
                    let message = Message {
                        arguments: Held::adopt(self, arguments),
                        reply: reply.map(|reply| Handle::adopt(self, reply)),
                        session: from,
                        span: span.clone(),
                        counted,
                    };
                    if let Some(handler) = handler {
                        // A panic breaks the reply, which is dropped with the message. It must not end the task of the
                        // connection, or the session would never end. The panic hook has reported it.
                        let handled = AssertUnwindSafe(|| span.enter(|| handler(self, message)));
                        drop(std::panic::catch_unwind(handled));
                    }
                }
                Event::Settled { promise, outcome } => {
                    let span = state.end_span(promise);
                    let ended = trace::outcome(&outcome);
                    let outcome = match outcome {
                        Ok(value) => Ok(Held::adopt(self, value)),
                        Err(reason) => Err(HeldReason::adopt(self, reason)),
                    };
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

    /// Drops a handle. If the state is in use, maybe by this very thread, this is done by whoever serves next.
    fn release(self: &Arc<Self>, handle: Ref) {
        if let Ok(mut state) = self.state.try_lock() {
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
        self.dropped().push(handle);
        match self.state.try_lock() {
            Ok(state) => drop(state),
            Err(TryLockError::Poisoned(_)) => {}
            // The holder serves after that.
            Err(TryLockError::WouldBlock) => return,
        }
        self.serve();
    }

    /// The outcome of a promise. It need not be copied for the last one who can wait for it.
    pub fn poll_settled(self: &Arc<Self>, promise: &Handle, waker: &Waker) -> Poll<HeldOutcome> {
        let (is_last, promise) = (promise.is_last(), promise.get());
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
    pub fn poll_broken(
        self: &Arc<Self>,
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
    pub fn ignore_broken(&self, reference: Ref, registered: u64) {
        let mut state = self.state();
        let waker = state
            .broken
            .get_mut(&reference)
            .and_then(|broken| broken.wakers.remove(&registered));
        drop(state);
        drop(waker);
    }

    /// Registers the task to be woken when the reference may be congested no more.
    pub fn poll_ready(&self, reference: Ref, waker: &Waker) -> Poll<()> {
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

    /// The next connection to open.
    pub fn dial(&self) -> Option<(Dial, Location)> {
        self.state().dials.pop_front()
    }

    /// Like [`dial`](Self::dial). Registers the task to be woken when there is one.
    pub fn poll_dial(&self, waker: &Waker) -> Poll<(Dial, Location)> {
        let mut state = self.state();
        match state.dials.pop_front() {
            Some(dial) => Poll::Ready(dial),
            None => {
                state.dialer = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Moves the bytes to send to `out` if it is empty, and returns whether the connection closes after them. Registers
    /// the task to be woken when there are more.
    pub fn poll_bytes(&self, connection: Connection, out: &mut Outgoing, waker: &Waker) -> bool {
        let mut state = self.state();
        if out.is_empty() {
            state.vat.take_pieces(connection, out);
            if !out.is_empty() {
                if let Some(recorder) = &mut state.recorder {
                    let bytes = out.pieces(0).collect::<Vec<_>>().concat();
                    recorder.input(Input::Sent(connection, &bytes), self.now());
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
    pub fn is_full(&self, connection: Connection) -> bool {
        self.state().vat.is_full(connection)
    }

    /// The connection's task ends.
    pub fn forget(&self, connection: Connection) {
        let mut state = self.state();
        state.tasks.remove(&connection);
        state.closing.remove(&connection);
    }
}

/// Ends a use of the state: passes on the vat's outputs, and wakes who can send more. Returns whether there are events
/// to serve.
fn leave(mut state: MutexGuard<'_, State>) -> bool {
    state.collect_outputs();
    let woken = std::mem::take(&mut state.woken);
    let busy = state.vat.has_events();
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

    /// Wakes those who carry out what the vat wants. The task of a new connection comes for its bytes by itself.
    fn collect_outputs(&mut self) {
        // Any input can settle the promise that others follow.
        self.wake_congested(None);
        while let Some(output) = self.vat.poll_output() {
            match output {
                Output::Bytes(connection) => {
                    if let Some(task) = self.tasks.get(&connection) {
                        task.wake_by_ref();
                    }
                }
                Output::Close(connection) => {
                    self.wake_congested(Some(connection));
                    self.closing.insert(connection, ());
                    if let Some(task) = self.tasks.get(&connection) {
                        task.wake_by_ref();
                    }
                }
                Output::Dial { dial, location } => {
                    if let Some(recorder) = &mut self.recorder {
                        recorder.requested(dial);
                    }
                    if self.stopped {
                        self.vat.dial_failed(dial, STOPPED);
                        continue;
                    }
                    self.dials.push_back((dial, location));
                    self.woken.extend(self.dialer.take());
                }
            }
        }
    }
}
