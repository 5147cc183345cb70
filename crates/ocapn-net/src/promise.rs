//! Calls, promises and resolvers.
use std::{
    borrow::Cow,
    fmt,
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use lydite_ocapn::session::{Ref, Vat};

use crate::error::Error;
use crate::passable::{Arguments, Pass, Passable, PassableBuilder};
use crate::reference::Reference;
use crate::shared::{Handle, Shared};
use crate::trace::Span;
use crate::transfer::Transfer;

impl Reference {
    /// Sends a message now. The promise can be awaited, called, and passed on.
    ///
    /// If so much waits to be sent to the peer that a limit is reached, the promise breaks with [`Error::Limit`]. Wait
    /// for [`ready`](Self::ready) before many or large calls.
    pub fn call(&self, arguments: Arguments) -> Promise {
        let shared = self.0.shared();
        Promise::new(shared.call(self.0.get(), arguments.payload()))
    }

    /// Sends a message now, without waiting for a result. There is no sign whether it arrived.
    ///
    /// # Errors
    ///
    /// It was not sent: [`Error::Limit`] if too much waits to be sent (see [`ready`](Self::ready)) or the message is too
    /// long, [`Error::Disconnected`], or the reason for which the promise broke.
    pub fn send(&self, arguments: Arguments) -> Result<(), Error> {
        let sent = self.0.shared().send(self.0.get(), arguments.payload());
        sent.map_err(Error::from)
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
    pub(crate) const fn new(promise: Handle) -> Self {
        Self {
            reference: Reference(promise),
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
        let handle = &self.reference.0;
        let part = handle.shared().vat(|vat| part(vat, handle.get()));
        Self::new(Handle::adopt(handle.shared(), part))
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
        let promise = &self.promise.reference.0;
        let outcome = promise.shared().poll_settled(promise, context.waker());
        if let Poll::Ready(outcome) = outcome {
            let value = outcome.map(Passable).map_err(Error::from);
            return Poll::Ready(value.and_then(|value| T::take(Cow::Owned(value))));
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

/// Settles a promise, once. If it is dropped before, the promise breaks. As a [`Reference`] it can be passed on.
#[derive(Debug)]
pub struct Resolver {
    reference: Reference,
    /// Of the call that it answers.
    span: Span,
}

impl Resolver {
    pub(crate) const fn new(resolver: Handle, span: Span) -> Self {
        Self {
            reference: Reference(resolver),
            span,
        }
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
        let resolver = &self.reference.0;
        let outcome = match outcome {
            Ok(value) => Ok(value.payload()),
            Err(reason) => Err(reason.payload()),
        };
        let shared = resolver.shared();
        shared.vat(|vat| vat.resolve(resolver.get(), outcome));
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

/// Creates a promise and its resolver.
pub(crate) fn promise(shared: &Arc<Shared>) -> (Promise, Resolver) {
    let (promise, resolver) = shared.vat(Vat::promise);
    (
        Promise::new(Handle::adopt(shared, promise)),
        Resolver::new(Handle::adopt(shared, resolver), Span::none()),
    )
}

impl<T> Pass for Promise<T> {
    fn put(&self, to: &mut PassableBuilder) {
        to.push(self.reference());
    }
}

impl<T> Pass for &Promise<T> {
    fn put(&self, to: &mut PassableBuilder) {
        (**self).put(to);
    }
}

impl<T> From<Promise<T>> for Passable {
    fn from(promise: Promise<T>) -> Self {
        Self::new(promise)
    }
}
