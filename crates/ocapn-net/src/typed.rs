//! Typed references: what [`object`](macro@crate::object) generates code for.
use std::{borrow::Cow, fmt, hash, marker::PhantomData};

use lydite_ocapn::session::Connection;
use lydite_ocapn::syrup;

use crate::error::Error;
use crate::node::Node;
use crate::object::Call;
use crate::passable::{self, Passable, PassableBuilder};
use crate::promise::Promise;
use crate::reference::{OnBroken, Reference};
use crate::trace;
use crate::transfer::Transfer;

mod sequence;

impl<A> passable::Pass for Ref<A> {
    fn put(&self, to: &mut PassableBuilder) {
        to.push(&self.reference);
    }
}

impl<A: 'static> Transfer for Ref<A> {
    fn put(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        self.reference.put(to)
    }

    fn take(value: Cow<'_, Passable>) -> Result<Self, Error> {
        Reference::take(value).map(Self::cast)
    }
}

/// The result of an `async` method that returns nothing: it is complete. Any value is accepted from peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done;

impl Transfer for Done {
    fn put(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        to.push(Passable::from(()));
        Ok(())
    }

    fn take(_: Cow<'_, Passable>) -> Result<Self, Error> {
        Ok(Self)
    }
}

/// What can be passed for a parameter of type `T`: a `T`, a `&T`, `&str` for `String`, and for a reference also a
/// promise for one, which need not have settled.
pub trait Give<T> {
    /// Appends the value.
    ///
    /// # Errors
    ///
    /// The value has no encoding.
    fn give(&self, to: &mut PassableBuilder) -> Result<(), Error>;
}

impl<T: Transfer> Give<T> for T {
    fn give(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        self.put(to)
    }
}

impl<T: Transfer> Give<T> for &T {
    fn give(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        (*self).put(to)
    }
}

impl Give<String> for &str {
    fn give(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        to.push(*self);
        Ok(())
    }
}

impl<A: 'static> Give<Ref<A>> for Promise<Ref<A>> {
    fn give(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        self.reference().put(to)
    }
}

impl<A: 'static> Give<Ref<A>> for &Promise<Ref<A>> {
    fn give(&self, to: &mut PassableBuilder) -> Result<(), Error> {
        self.reference().put(to)
    }
}

/// A reference to an object with the methods of `A`, the marker that [`object`](macro@crate::object) generates.
///
/// The type is a claim of the program: nothing in CapTP checks that the object has these methods. A call of a method
/// that it does not have breaks.
pub struct Ref<A> {
    reference: Reference,
    api: PhantomData<fn() -> A>,
}

impl<A> Ref<A> {
    /// Claims that an object has the methods of `A`.
    pub const fn cast(reference: Reference) -> Self {
        Self {
            reference,
            api: PhantomData,
        }
    }

    /// The untyped reference.
    pub const fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Like [`Reference::ready`].
    pub async fn ready(&self) {
        self.reference.ready().await;
    }

    /// Like [`Reference::on_broken`].
    pub fn on_broken(&self) -> OnBroken {
        self.reference.on_broken()
    }
}

impl<A> From<Ref<A>> for Reference {
    fn from(typed: Ref<A>) -> Self {
        typed.reference
    }
}

impl<A> Clone for Ref<A> {
    fn clone(&self) -> Self {
        Self::cast(self.reference.clone())
    }
}

impl<A> PartialEq for Ref<A> {
    fn eq(&self, other: &Self) -> bool {
        self.reference == other.reference
    }
}

impl<A> Eq for Ref<A> {}

impl<A> hash::Hash for Ref<A> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.reference.hash(state);
    }
}

impl<A> fmt::Debug for Ref<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)
    }
}

/// A target for the methods of `A`: a [`Ref`], or a [`Promise`] for one.
pub trait Target<A> {
    /// The untyped reference.
    fn target(&self) -> &Reference;
}

impl<A> Target<A> for Ref<A> {
    fn target(&self) -> &Reference {
        &self.reference
    }
}

impl<A> Target<A> for Promise<Ref<A>> {
    fn target(&self) -> &Reference {
        self.reference()
    }
}

/// The circumstances of a call, for methods whose first parameter is a `&Context`.
#[derive(Clone, Debug)]
pub struct Context {
    node: Node,
    session: Option<Connection>,
}

impl Context {
    /// The node of the object. It creates others.
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// The session of the peer that called, for limits on what one peer can use; `None` if the caller is of this node.
    /// It does not say who the peer is: what a caller may do depends on the references that it holds.
    pub const fn session(&self) -> Option<Connection> {
        self.session
    }
}

/// Functions for generated code.
#[doc(hidden)]
pub mod generated {
    pub use super::sequence::Sequence;
    use super::*;
    use crate::promise::promise;

    /// Builds `[method argument…]`.
    fn message(
        method: &str,
        put: impl FnOnce(&mut PassableBuilder) -> Result<(), Error>,
    ) -> Result<Passable, Error> {
        let mut result = Ok(());
        let message = Passable::list(|list| {
            list.push(syrup::Symbol(method));
            result = put(list);
        });
        result.map(|()| message)
    }

    /// Calls a method. If an argument has no encoding, nothing is sent and the promise is broken.
    pub fn call<T>(
        target: &Reference,
        method: &str,
        put: impl FnOnce(&mut PassableBuilder) -> Result<(), Error>,
    ) -> Promise<T> {
        match message(method, put) {
            Ok(message) => target.call(message).cast(),
            Err(error) => {
                let (promise, resolver) = promise(target.0.shared());
                resolver.settle(Err(error));
                promise.cast()
            }
        }
    }

    /// Calls a method that has no result.
    pub fn send(
        target: &Reference,
        method: &str,
        put: impl FnOnce(&mut PassableBuilder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        target.send(message(method, put)?)
    }

    /// A call that was received, before its arguments are decoded.
    #[derive(Debug)]
    pub struct Invocation {
        object: &'static str,
        method: Passable,
        arguments: Vec<Passable>,
        call: Call,
    }

    impl Invocation {
        /// Splits the arguments. A call without a method is answered at once.
        pub fn new(object: &'static str, call: Call) -> Option<Self> {
            let mut items = call.arguments.items();
            if items.first().and_then(Passable::as_symbol).is_none() {
                let message = format!("{object}: expected a symbol as the first argument");
                call.settle(Err(Error::new(&message)));
                return None;
            }
            Some(Self {
                object,
                method: items.remove(0),
                arguments: items,
                call,
            })
        }

        /// The method's symbol.
        pub fn method(&self) -> &str {
            self.method.as_symbol().unwrap_or_default()
        }

        fn error(&self, what: &str) -> Error {
            Error::new(&format!("{}.{}: {what}", self.object, self.method()))
        }

        /// Checks the number of arguments.
        pub fn arity(&self, expected: usize) -> Result<(), Error> {
            match self.arguments.len() {
                found if found == expected => Ok(()),
                found => Err(self.error(&format!("expected {expected} arguments, found {found}"))),
            }
        }

        /// Decodes an argument.
        pub fn argument<T: Transfer>(&self, index: usize, name: &str) -> Result<T, Error> {
            let argument = self.arguments.get(index).ok_or(Error::Missing(index))?;
            T::take(Cow::Borrowed(argument))
                .map_err(|error| self.error(&format!("argument {index} (`{name}`): {error}")))
        }

        /// The circumstances of the call.
        pub fn context(&self) -> Context {
            Context {
                node: self.call.node.clone(),
                session: self.call.session,
            }
        }

        /// Settles a call of a method without a result.
        pub fn done(self) {
            self.call.settle(Ok(().into()));
        }

        /// Answers a call of a method that the object does not have.
        pub fn unknown(self) {
            let error = self.error("no such method");
            self.fail(error);
        }

        /// Answers with an error.
        pub fn fail(self, error: Error) {
            self.call.settle(Err(error));
        }

        /// Answers with the result of a future, which starts now.
        pub fn run<T: Transfer>(
            self,
            result: impl Future<Output = Result<T, Error>> + Send + 'static,
        ) {
            let node = self.call.node.clone();
            node.start_task(self.task(result));
        }

        /// Answers with the result of a future, which starts when those before it in the sequence have ended. If too
        /// many wait, the call breaks; without a result, the session of the caller ends.
        pub fn run_after<T: Transfer>(
            self,
            sequence: &Sequence,
            result: impl Future<Output = Result<T, Error>> + Send + 'static,
        ) {
            let (node, session) = (self.call.node.clone(), self.call.session);
            if !sequence.is_full(&node) {
                return sequence.start(&node, self.task(result));
            }
            let error = self.error("too many messages wait for this object");
            if let (None, Some(session)) = (&self.call.reply, session) {
                node.shared()
                    .vat(|vat| vat.abort(session, &error.to_string()));
            }
            self.fail(error);
        }

        fn task<T: Transfer>(
            self,
            result: impl Future<Output = Result<T, Error>> + Send + 'static,
        ) -> impl Future<Output = ()> + Send + 'static {
            let (reply, counted) = (self.call.reply, self.call.counted);
            trace::within(self.call.span, async move {
                let _counted = counted;
                let result = result.await.and_then(|value| {
                    let mut builder = PassableBuilder::default();
                    value.put(&mut builder)?;
                    Ok(builder.finish())
                });
                if let Some(reply) = reply {
                    reply.settle(result);
                }
            })
        }
    }
}
