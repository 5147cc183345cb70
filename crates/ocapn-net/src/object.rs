//! Local objects.
use std::sync::Arc;

use lydite_ocapn::session::{Connection, Ref};

use crate::node::Node;
use crate::trace::Span;
use crate::{Arguments, Resolver};

/// A message for a local object.
#[derive(Debug)]
pub struct Call {
    /// The node that received it.
    pub node: Node,
    /// A list.
    pub arguments: Arguments,
    /// Settles the result; `None` if the sender does not wait for one.
    pub reply: Option<Resolver>,
    /// The session of the peer that sent it; `None` if the sender is of this node.
    pub session: Option<Connection>,
    pub(crate) span: Span,
    /// While it is held, the call counts for the session.
    pub(crate) held: Option<Arc<()>>,
}

impl Call {
    /// Settles the result, if the sender waits for one.
    pub fn settle(self, result: Result<crate::Passable, crate::Error>) {
        if let Some(reply) = self.reply {
            reply.settle(result);
        }
    }
}

/// An object that can be called by whoever has a reference to it.
pub trait Object: Send + Sync + 'static {
    /// Handles a message. Messages arrive one after the other, in order. The function must not block: to wait for
    /// something, fulfil the reply with a promise, or spawn a task that takes the [`Call`].
    fn call(&self, call: Call);
}

impl<F: Fn(Call) + Send + Sync + 'static> Object for F {
    fn call(&self, call: Call) {
        self(call);
    }
}

/// The objects of a node, each in the slot of its reference.
#[derive(Default)]
pub(crate) struct Objects(Vec<Option<(Ref, Arc<dyn Object>)>>);

impl Objects {
    pub fn insert(&mut self, reference: Ref, object: Arc<dyn Object>) {
        if self.0.len() <= reference.slot() {
            self.0.resize_with(reference.slot() + 1, || None);
        }
        self.0[reference.slot()] = Some((reference, object));
    }

    pub fn get(&self, reference: Ref) -> Option<&Arc<dyn Object>> {
        let (found, object) = self.0.get(reference.slot())?.as_ref()?;
        (*found == reference).then_some(object)
    }

    pub fn remove(&mut self, reference: Ref) -> Option<Arc<dyn Object>> {
        let slot = self.0.get_mut(reference.slot())?;
        let (_, object) = slot.take_if(|(found, _)| *found == reference)?;
        Some(object)
    }
}
