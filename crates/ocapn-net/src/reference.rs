//! References, promises and resolvers.
use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use lydite_ocapn::session::Ref;

use crate::node::Node;
use crate::{Arguments, Error, Passable};

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
    pub fn call(&self, arguments: Arguments) -> Promise {
        let result = self
            .0
            .node
            .vat(|vat| vat.call(self.0.handle, arguments.payload()));
        Promise(Self::adopt(&self.0.node, result))
    }

    /// Sends a message now, without waiting for a result. There is no sign whether it arrived.
    pub fn send(&self, arguments: Arguments) {
        self.0
            .node
            .vat(|vat| vat.send(self.0.handle, arguments.payload()));
    }

    /// Waits until there is room in the outgoing buffer of the peer.
    pub async fn ready(&self) {
        while self.0.node.vat(|vat| vat.is_congested(self.0.handle)) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    /// Completes when the session of a remote reference has ended. Never completes for local ones.
    pub async fn on_broken(&self) {
        let (node, handle) = (&self.0.node, self.0.handle);
        std::future::poll_fn(|context| node.poll_broken(handle, context.waker())).await;
    }
}

impl PartialEq for Reference {
    /// Whether both are the same handle. Two imports of one object in one session are equal.
    fn eq(&self, other: &Self) -> bool {
        self.0.handle == other.0.handle && self.0.node.is(&other.0.node)
    }
}

impl Eq for Reference {}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.handle)
    }
}

/// The result of a call, or any other promise. It can be used before it settles: calls through it are sent at once. If
/// it is dropped, the result is released.
#[derive(Clone, Debug)]
pub struct Promise(Reference);

impl Promise {
    pub(crate) const fn new(reference: Reference) -> Self {
        Self(reference)
    }

    /// The promise as a reference.
    pub const fn reference(&self) -> &Reference {
        &self.0
    }

    /// Calls the object that the promise will be fulfilled with.
    pub fn call(&self, arguments: Arguments) -> Self {
        self.0.call(arguments)
    }

    /// Sends to the object that the promise will be fulfilled with.
    pub fn send(&self, arguments: Arguments) {
        self.0.send(arguments);
    }

    /// A field of the struct that the promise will be fulfilled with.
    pub fn get(&self, field: &str) -> Self {
        let handle = self.0.handle();
        let part = self.0.node().vat(|vat| vat.get(handle, field));
        Self(Reference::adopt(self.0.node(), part))
    }

    /// An item of the list that the promise will be fulfilled with.
    pub fn index(&self, index: u64) -> Self {
        let handle = self.0.handle();
        let part = self.0.node().vat(|vat| vat.index(handle, index));
        Self(Reference::adopt(self.0.node(), part))
    }

    /// The contents of the tagged value that the promise will be fulfilled with.
    pub fn untag(&self, tag: &str) -> Self {
        let handle = self.0.handle();
        let part = self.0.node().vat(|vat| vat.untag(handle, tag));
        Self(Reference::adopt(self.0.node(), part))
    }
}

impl IntoFuture for Promise {
    type Output = Result<Passable, Error>;
    type IntoFuture = Settled;

    fn into_future(self) -> Settled {
        Settled(self)
    }
}

impl IntoFuture for &Promise {
    type Output = Result<Passable, Error>;
    type IntoFuture = Settled;

    fn into_future(self) -> Settled {
        Settled(self.clone())
    }
}

/// Waits for a [`Promise`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Settled(Promise);

impl Future for Settled {
    type Output = Result<Passable, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reference = &self.0.0;
        reference
            .node()
            .poll_settled(reference.handle(), context.waker())
    }
}

/// Settles a promise, once. If it is dropped before, the promise breaks. As a [`Reference`] it can be passed on.
#[derive(Debug)]
pub struct Resolver(Reference);

impl Resolver {
    pub(crate) const fn new(reference: Reference) -> Self {
        Self(reference)
    }

    /// The resolver as an object that takes `'fulfill value` or `'break reason`.
    pub fn into_reference(self) -> Reference {
        self.0
    }

    /// Fulfils the promise. A promise as the value is followed.
    pub fn fulfil(self, value: impl Into<Passable>) {
        let value = value.into();
        let handle = self.0.handle();
        self.0
            .node()
            .vat(|vat| vat.resolve(handle, Ok(value.payload())));
    }

    /// Breaks the promise.
    pub fn break_with(self, reason: impl Into<Passable>) {
        let reason = reason.into();
        let handle = self.0.handle();
        self.0
            .node()
            .vat(|vat| vat.resolve(handle, Err(reason.payload())));
    }

    /// Settles the promise with a result.
    pub fn settle(self, result: Result<Passable, Error>) {
        match result {
            Ok(value) => self.fulfil(value),
            Err(error) => self.break_with(error.reason()),
        }
    }
}
