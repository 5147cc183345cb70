//! Local objects.
use std::sync::Arc;

use lydite_ocapn::session::Connection;

use crate::error::Error;
use crate::node::Node;
use crate::passable::{Arguments, Passable};
use crate::promise::Resolver;
use crate::shared::{Handling, Message, Shared};
use crate::trace::Span;

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
    pub(crate) counted: Option<Handling>,
}

impl Call {
    pub(crate) fn new(shared: &Arc<Shared>, message: Message) -> Self {
        let span = message.span;
        let resolver = |reply| Resolver::new(reply, span.clone());
        Self {
            node: Node::from_shared(shared),
            arguments: Passable(message.arguments),
            reply: message.reply.map(resolver),
            session: message.session,
            span,
            counted: message.counted,
        }
    }

    /// Settles the result, if the sender waits for one.
    pub fn settle(self, result: Result<Passable, Error>) {
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
