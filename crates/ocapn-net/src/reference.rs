//! References to objects and promises.
use std::{
    fmt,
    future::{Future, poll_fn},
    hash,
    pin::Pin,
    task::{Context, Poll, ready},
};

use lydite_ocapn::session::Cause;

use crate::passable::Passable;
use crate::shared::Handle;

/// A reference to an object or promise, local or remote. Clones are the same reference; when the last one is dropped,
/// the object is released. Two imports of one object in one session are equal.
#[derive(Clone, PartialEq)]
pub struct Reference(pub(crate) Handle);

impl Reference {
    /// Waits until there is room for more messages: fewer bytes than
    /// [`outbound_soft`](lydite_ocapn::session::Limits::outbound_soft) wait to be sent to the peer, or half of the
    /// messages that may wait for the promise. Completes at once for local objects and if the session has ended.
    ///
    /// Tasks that wait are woken together, so that each may send one message more than fits.
    pub async fn ready(&self) {
        let (shared, handle) = (self.0.shared(), self.0.get());
        poll_fn(|context| shared.poll_ready(handle, context.waker())).await;
    }

    /// Completes when the session of a remote reference has ended: for a promise, that of the object that it becomes.
    /// Never completes for local ones and for data. Dropping the future unregisters it, for a promise once that has
    /// settled.
    pub fn on_broken(&self) -> OnBroken {
        OnBroken {
            reference: self.clone(),
            has_settled: false,
            registered: None,
        }
    }
}

impl Eq for Reference {}

impl hash::Hash for Reference {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Completes when the session of a reference has ended. See [`Reference::on_broken`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct OnBroken {
    reference: Reference,
    /// Whether the reference is what the promise has become.
    has_settled: bool,
    /// Number of the registered waker.
    registered: Option<u64>,
}

impl Future for OnBroken {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let promise = &this.reference.0;
        if !this.has_settled && promise.shared().vat(|vat| vat.is_promise(promise.get())) {
            let outcome = ready!(promise.shared().poll_settled(promise, context.waker()));
            match outcome.map(Passable) {
                Err(reason) if reason.cause == Cause::Disconnected => return Poll::Ready(()),
                Err(_) => {}
                Ok(value) => {
                    if let Some(reference) = value.as_reference() {
                        this.reference = reference;
                    }
                }
            }
        }
        this.has_settled = true;
        let handle = &this.reference.0;
        let shared = handle.shared();
        shared.poll_broken(handle.get(), &mut this.registered, context.waker())
    }
}

impl Drop for OnBroken {
    fn drop(&mut self) {
        if let Some(registered) = self.registered {
            let handle = &self.reference.0;
            handle.shared().ignore_broken(handle.get(), registered);
        }
    }
}
