//! References, promises and resolvers.
use std::{
    borrow::Cow,
    fmt,
    future::{Future, IntoFuture, poll_fn},
    hash,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use lydite_ocapn::session::{Ref, Vat};

use crate::node::Node;
use crate::trace::Span;
use crate::{Arguments, Error, Passable, Transfer};

/// A reference to an object or promise, local or remote. Clones are the same reference; when the last one is dropped,
/// the object is released.
#[derive(Clone)]
pub struct Reference(Arc<Handle>);

struct Handle {
    node: Node,
    handle: Ref,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.node.release(self.handle);
    }
}

impl Reference {
    /// Takes over a handle.
    pub(crate) fn adopt(node: &Node, handle: Ref) -> Self {
        Self(Arc::new(Handle {
            node: node.clone(),
            handle,
        }))
    }

    pub(crate) fn handle(&self) -> Ref {
        self.0.handle
    }

    pub(crate) fn node(&self) -> &Node {
        &self.0.node
    }

    /// Sends a message now. The promise can be awaited, called, and passed on.
    ///
    /// If so much waits to be sent to the peer that a limit is reached, the promise breaks with [`Error::Limit`]. Wait
    /// for [`ready`](Self::ready) before many or large calls.
    pub fn call(&self, arguments: Arguments) -> Promise {
        let result = self.0.node.call(self.0.handle, arguments.payload());
        Promise::new(Self::adopt(&self.0.node, result))
    }

    /// Sends a message now, without waiting for a result. There is no sign whether it arrived.
    ///
    /// # Errors
    ///
    /// It was not sent: [`Error::Limit`] if too much waits to be sent (see [`ready`](Self::ready)) or the message is too
    /// long, [`Error::Disconnected`], or the reason for which the promise broke.
    pub fn send(&self, arguments: Arguments) -> Result<(), Error> {
        self.0.node.send(self.0.handle, arguments.payload())
    }

    /// Waits until there is room for more messages: fewer bytes than
    /// [`outbound_soft`](lydite_ocapn::session::Limits::outbound_soft) wait to be sent to the peer, or half of the
    /// messages that may wait for the promise. Completes at once for local objects and if the session has ended.
    ///
    /// Tasks that wait are woken together, so that each may send one message more than fits.
    pub async fn ready(&self) {
        let (node, handle) = (&self.0.node, self.0.handle);
        poll_fn(|context| node.poll_ready(handle, context.waker())).await;
    }

    /// Completes when the session of a remote reference has ended. Never completes for local ones. Dropping the future
    /// unregisters it.
    pub fn on_broken(&self) -> OnBroken {
        OnBroken {
            reference: self.clone(),
            registered: None,
        }
    }
}

impl PartialEq for Reference {
    /// Whether both are the same handle. Two imports of one object in one session are equal.
    fn eq(&self, other: &Self) -> bool {
        self.0.handle == other.0.handle && self.0.node.is(&other.0.node)
    }
}

impl Eq for Reference {}

impl hash::Hash for Reference {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.handle.hash(state);
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.handle)
    }
}

/// The result of a call, or any other promise. It can be used before it settles: calls through it are sent at once. If
/// it is dropped, the result is released. Awaiting it gives the value as a `T`.
pub struct Promise<T = Passable> {
    reference: Reference,
    deadline: Option<Instant>,
    value: PhantomData<fn() -> T>,
}

impl<T> Promise<T> {
    pub(crate) const fn new(reference: Reference) -> Self {
        Self {
            reference,
            deadline: None,
            value: PhantomData,
        }
    }

    /// The promise as a reference.
    pub const fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Like [`Reference::ready`].
    pub async fn ready(&self) {
        self.reference.ready().await;
    }

    /// Claims that the promise will be fulfilled with a `U`, such as [`Ref<GreeterApi>`](crate::Ref).
    pub fn cast<U>(self) -> Promise<U> {
        Promise {
            reference: self.reference,
            deadline: self.deadline,
            value: PhantomData,
        }
    }

    /// Sets how long to wait, from now. After that, awaiting the promise gives [`Error::Deadline`]. The peer is not
    /// notified, and the call continues there.
    #[must_use]
    pub fn with_deadline(mut self, duration: Duration) -> Self {
        self.deadline = Instant::now().checked_add(duration);
        self
    }
}

impl Promise {
    /// Calls the object that the promise will be fulfilled with.
    pub fn call(&self, arguments: Arguments) -> Self {
        self.reference.call(arguments)
    }

    /// Sends to the object that the promise will be fulfilled with, like [`Reference::send`].
    ///
    /// # Errors
    ///
    /// It was not sent.
    pub fn send(&self, arguments: Arguments) -> Result<(), Error> {
        self.reference.send(arguments)
    }

    fn part(&self, part: impl FnOnce(&mut Vat, Ref) -> Ref) -> Self {
        let node = self.reference.node();
        let handle = node.vat(|vat| part(vat, self.reference.handle()));
        Self::new(Reference::adopt(node, handle))
    }

    /// A field of the struct that the promise will be fulfilled with.
    pub fn get(&self, field: &str) -> Self {
        self.part(|vat, handle| vat.get(handle, field))
    }

    /// An item of the list that the promise will be fulfilled with.
    pub fn index(&self, index: u64) -> Self {
        self.part(|vat, handle| vat.index(handle, index))
    }

    /// The contents of the tagged value that the promise will be fulfilled with.
    pub fn untag(&self, tag: &str) -> Self {
        self.part(|vat, handle| vat.untag(handle, tag))
    }
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Self {
            reference: self.reference.clone(),
            ..*self
        }
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Promise").field(&self.reference).finish()
    }
}

impl<T: Transfer> IntoFuture for Promise<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Settled<T>;

    fn into_future(self) -> Settled<T> {
        let sleep = |deadline: Instant| Box::pin(tokio::time::sleep_until(deadline.into()));
        Settled {
            deadline: self.deadline.map(sleep),
            promise: self,
        }
    }
}

impl<T: Transfer> IntoFuture for &Promise<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Settled<T>;

    fn into_future(self) -> Settled<T> {
        self.clone().into_future()
    }
}

/// Waits for a [`Promise`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Settled<T = Passable> {
    promise: Promise<T>,
    deadline: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<T: Transfer> Future for Settled<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reference = &self.promise.reference;
        let is_last = Arc::strong_count(&reference.0) == 1;
        let outcome = reference
            .node()
            .poll_settled(reference.handle(), is_last, context.waker());
        if let Poll::Ready(outcome) = outcome {
            return Poll::Ready(outcome.and_then(|value| T::take(Cow::Owned(value))));
        }
        match &mut self.deadline {
            Some(deadline) => deadline
                .as_mut()
                .poll(context)
                .map(|()| Err(Error::Deadline)),
            None => Poll::Pending,
        }
    }
}

/// Completes when the session of a reference has ended. See [`Reference::on_broken`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct OnBroken {
    reference: Reference,
    /// Number of the registered waker.
    registered: Option<u64>,
}

impl Future for OnBroken {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (node, handle) = (this.reference.node(), this.reference.handle());
        node.poll_broken(handle, &mut this.registered, context.waker())
    }
}

impl Drop for OnBroken {
    fn drop(&mut self) {
        if let Some(registered) = self.registered {
            let reference = &self.reference;
            reference
                .node()
                .ignore_broken(reference.handle(), registered);
        }
    }
}

/// Settles a promise, once. If it is dropped before, the promise breaks. As a [`Reference`] it can be passed on.
#[derive(Debug)]
pub struct Resolver {
    reference: Reference,
    /// Of the call that it answers.
    span: Span,
}

impl Resolver {
    pub(crate) const fn new(reference: Reference, span: Span) -> Self {
        Self { reference, span }
    }

    /// The resolver as an object that takes `'fulfill value` or `'break reason`.
    pub fn into_reference(self) -> Reference {
        self.reference
    }

    fn resolve(self, outcome: Result<&Passable, &Passable>) {
        self.span.outcome(match outcome {
            Ok(_) => "fulfilled",
            Err(_) => "broken",
        });
        let handle = self.reference.handle();
        let outcome = match outcome {
            Ok(value) => Ok(value.payload()),
            Err(reason) => Err(reason.payload()),
        };
        let node = self.reference.node();
        node.vat(|vat| vat.resolve(handle, outcome));
    }

    /// Fulfils the promise. A promise as the value is followed.
    pub fn fulfil(self, value: impl Into<Passable>) {
        self.resolve(Ok(&value.into()));
    }

    /// Breaks the promise.
    pub fn break_with(self, reason: impl Into<Passable>) {
        self.resolve(Err(&reason.into()));
    }

    /// Settles the promise with a result.
    pub fn settle(self, result: Result<Passable, Error>) {
        match result {
            Ok(value) => self.fulfil(value),
            Err(error) => self.break_with(error.reason()),
        }
    }
}
