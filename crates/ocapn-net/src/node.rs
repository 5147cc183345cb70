//! The node: what programs create, publish and look up.
use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use lydite_ocapn::captp::{Locator, Peer, Sturdyref};
use lydite_ocapn::session::Stats;

use crate::error::Error;
use crate::object::{Call, Object};
use crate::passable::{Arguments, Passable};
use crate::promise::{Promise, Resolver, promise};
use crate::reference::Reference;
use crate::shared::{Handle, Shared};
use crate::trace;

/// A participant: it holds the sessions with all peers. Clones are the same node.
///
/// It must be started within a tokio runtime with its network and timers enabled. When that ends, it is
/// [shut down](Self::shutdown).
#[derive(Clone)]
pub struct Node(Arc<Shared>);

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("locations", &self.0.locations)
            .finish_non_exhaustive()
    }
}

impl Node {
    pub(crate) fn from_shared(shared: &Arc<Shared>) -> Self {
        Self(shared.clone())
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.0
    }

    /// The locator of a published object, at the first netlayer.
    pub fn locator(&self, swiss: &[u8]) -> Option<Locator> {
        Some(self.0.locations.first()?.locator(swiss))
    }

    /// Creates an object.
    pub fn object(&self, object: impl Object) -> Reference {
        let handler = move |shared: &Arc<Shared>, message| object.call(Call::new(shared, message));
        Reference(self.0.object(Arc::new(handler)))
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
            let (reply, counted) = (call.reply, call.counted);
            call.node.start_task(trace::within(call.span, async move {
                let _counted = counted;
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

    /// Creates a promise and its resolver.
    pub fn promise(&self) -> (Promise, Resolver) {
        promise(&self.0)
    }

    /// Makes an object available to whoever knows the swiss number.
    pub fn publish(&self, swiss: &[u8], object: impl Into<Reference>) {
        let object = object.into();
        self.0.vat(|vat| vat.publish(swiss, object.0.get()));
    }

    /// Withdraws the object with this swiss number.
    pub fn unpublish(&self, swiss: &[u8]) {
        self.0.vat(|vat| vat.unpublish(swiss));
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
        let handle = self.0.vat(|vat| vat.enliven(sturdyref));
        Promise::new(Handle::adopt(&self.0, handle))
    }

    /// A promise for the bootstrap object of a peer.
    pub fn connect(&self, peer: &Peer<'_>) -> Promise {
        let handle = self.0.vat(|vat| vat.connect(peer));
        Promise::new(Handle::adopt(&self.0, handle))
    }

    /// The sizes of all tables.
    pub fn stats(&self) -> Stats {
        self.0.vat(|vat| vat.stats())
    }

    /// Ends all sessions, and accepts and opens no further connections: what waits for one breaks.
    pub fn shutdown(&self) {
        self.0.stop();
    }
}
