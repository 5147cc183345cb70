//! A span for each call, with the feature `tracing`. Without it, all of this is empty.
//!
//! Spans have the level `debug` and the target `captp`. `call` lasts from a call until its result settles or is dropped,
//! `serve` from the arrival of a message until its handler has ended. They never contain arguments, which may be secret.
use lydite_ocapn::captp::Target;
use lydite_ocapn::session::{Cause, Connection, Outcome};

/// A session and a position there.
pub(crate) type Remote = (Connection, Target);

/// The value of the field `outcome`.
pub(crate) const fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Ok(_) => "fulfilled",
        Err(reason) => broken(reason.cause),
    }
}

/// The value of the field `outcome` for a promise that broke.
pub(crate) const fn broken(cause: Cause) -> &'static str {
    match cause {
        Cause::Disconnected => "disconnected",
        Cause::Limit => "limit",
        _ => "broken",
    }
}

#[cfg(feature = "tracing")]
mod enabled {
    use lydite_ocapn::session::{Connection, Payload};
    use lydite_ocapn::syrup::{Kind, Reader};
    use tracing::Instrument as _;
    use tracing::field::{Empty, debug};

    use super::Remote;

    /// Bytes of a method's name that are recorded: peers choose it.
    const LONGEST: usize = 64;

    /// The span of one call.
    #[derive(Clone, Debug)]
    pub(crate) struct Span(tracing::Span);

    impl Span {
        /// A message that this node sends.
        pub fn call(arguments: &Payload) -> Self {
            let span = tracing::debug_span!(
                target: "captp", "call",
                session = Empty, position = Empty, answer = Empty, method = Empty, outcome = Empty,
            );
            record_method(&span, arguments);
            Self(span)
        }

        /// A message for an object of this node.
        pub fn serve(session: Option<Connection>, arguments: &Payload) -> Self {
            let span = tracing::debug_span!(
                target: "captp", "serve",
                session = session.map(debug), method = Empty, outcome = Empty,
            );
            record_method(&span, arguments);
            Self(span)
        }

        /// Where the message went, and where its result will be, if that is at a peer.
        pub fn sent(&self, to: Option<Remote>, answer: Option<Remote>) {
            if let Some((session, position)) = to {
                self.0.record("session", debug(session));
                self.0.record("position", debug(position));
            }
            if let Some((_, answer)) = answer {
                self.0.record("answer", debug(answer));
            }
        }

        pub const fn none() -> Self {
            Self(tracing::Span::none())
        }

        pub fn is_disabled(&self) -> bool {
            self.0.is_disabled()
        }

        pub fn outcome(&self, outcome: &str) {
            self.0.record("outcome", outcome);
        }

        pub fn enter<T>(&self, act: impl FnOnce() -> T) -> T {
            self.0.in_scope(act)
        }
    }

    fn record_method(span: &tracing::Span, arguments: &Payload) {
        let mut reader = Reader::new(arguments.data());
        if !span.is_disabled()
            && reader.begin(Kind::List).is_ok()
            && let Ok(method) = reader.symbol()
        {
            let mut end = method.len().min(LONGEST);
            while !method.is_char_boundary(end) {
                end -= 1;
            }
            // `Debug` escapes what could forge a line of a log.
            span.record("method", debug(&method[..end]));
        }
    }

    /// Runs a task within the span.
    pub(crate) fn within<T>(
        span: Span,
        task: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        task.instrument(span.0)
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use lydite_ocapn::session::{Connection, Payload};

    use super::Remote;

    #[derive(Clone, Debug)]
    pub(crate) struct Span;

    impl Span {
        pub const fn call(_: &Payload) -> Self {
            Self
        }

        pub const fn serve(_: Option<Connection>, _: &Payload) -> Self {
            Self
        }

        pub const fn sent(&self, _: Option<Remote>, _: Option<Remote>) {}

        pub const fn none() -> Self {
            Self
        }

        pub const fn is_disabled(&self) -> bool {
            true
        }

        pub const fn outcome(&self, _: &str) {}

        pub fn enter<T>(&self, act: impl FnOnce() -> T) -> T {
            act()
        }
    }

    pub(crate) fn within<T>(
        _: Span,
        task: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        task
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;
