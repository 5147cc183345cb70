//! Settings of a node.
use std::{fmt, io, sync::Arc, time::Duration};

use lydite_ocapn::captp::{Dialect, Framing};
use lydite_ocapn::session::{Config, Limits, Location, Vat};

use crate::driver::{self, Settings};
use crate::netlayer::Netlayer;
use crate::node::Node;
use crate::record::{Record, Recorder};
use crate::shared::Shared;

impl Node {
    /// Settings without a netlayer.
    pub fn builder() -> Builder {
        Builder {
            netlayers: Vec::new(),
            dialect: Dialect::Endo202608,
            framing: Framing::None,
            limits: Limits::default(),
            call_bytes: 64 << 20,
            connections_per_address: 64,
            fixed_framing: Vec::new(),
            seed: None,
            locations: Vec::new(),
            recorder: None,
        }
    }
}

/// Settings of a [`Node`].
pub struct Builder {
    netlayers: Vec<Arc<dyn Netlayer>>,
    dialect: Dialect,
    framing: Framing,
    limits: Limits,
    call_bytes: usize,
    connections_per_address: usize,
    fixed_framing: Vec<(String, Framing)>,
    seed: Option<[u8; 32]>,
    locations: Vec<Location>,
    recorder: Option<Recorder>,
}

impl Builder {
    /// Adds a netlayer.
    #[must_use]
    pub fn netlayer(mut self, netlayer: impl Netlayer) -> Self {
        let location = netlayer.location();
        if let Some(framing) = netlayer.framing() {
            self.fixed_framing
                .push((location.transport.clone(), framing));
        }
        self.locations.push(location);
        self.netlayers.push(Arc::new(netlayer));
        self
    }

    /// The dialect to write; default: that of Endo 1.1.1. All dialects are read.
    #[must_use]
    pub const fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How to frame messages on connections that this node opens by itself; default: not at all. Others follow the
    /// peer.
    #[must_use]
    pub const fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Bounds on what peers can use. `answers` also bounds the calls of one peer that handlers have not completed: one
    /// more ends the session. `queue` also bounds the messages that wait for a sequential object.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Most bytes in the arguments of the calls of one peer that handlers have not completed; default: 64 MiB. More end
    /// the session: handlers may wait for its next messages, so that it cannot just be read later.
    #[must_use]
    pub const fn call_bytes(mut self, most: usize) -> Self {
        self.call_bytes = most;
        self
    }

    /// Most connections accepted by one netlayer from an IPv4 address or an IPv6 network of 64 bits at a time; default:
    /// 64. One more is closed. Netlayers without such addresses do not bound this. Behind a proxy, all connections come
    /// from its address: raise the limit there.
    #[must_use]
    pub const fn connections_per_address(mut self, most: usize) -> Self {
        self.connections_per_address = most;
        self
    }

    /// The seed of all keys, which otherwise comes from the operating system. For recordings only: whoever knows it can
    /// impersonate the node.
    #[must_use]
    pub const fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A location without a netlayer, for [`replay`](crate::replay).
    #[must_use]
    pub fn location(mut self, location: Location) -> Self {
        self.locations.push(location);
        self
    }

    /// Records what is received and sent.
    #[must_use]
    pub fn record(mut self, recorder: impl FnMut(Record) + Send + 'static) -> Self {
        self.recorder = Some(Box::new(recorder));
        self
    }

    /// Starts the node: it accepts connections on all netlayers.
    ///
    /// # Errors
    ///
    /// The operating system gives no randomness, or there is no tokio runtime for the netlayers.
    pub fn start(self) -> io::Result<Node> {
        let runtime = match self.netlayers.is_empty() {
            true => None,
            false => Some(tokio::runtime::Handle::try_current().map_err(io::Error::other)?),
        };
        let mut seed = [0; 32];
        match self.seed {
            Some(given) => seed = given,
            None => {
                getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?
            }
        }
        let mut config = Config::new(self.locations.clone());
        config.dialect = self.dialect;
        config.framing = self.framing;
        config.fixed_framing = self.fixed_framing;
        config.limits = self.limits.clone();
        let vat = Vat::new(config, seed);
        let shared = Shared::new(
            vat,
            self.locations,
            &self.limits,
            self.call_bytes,
            runtime,
            self.recorder,
        );
        let [dial_time, message_time, close_time] = [
            self.limits.dial_time,
            self.limits.message_time,
            self.limits.close_time,
        ]
        .map(Duration::from_millis);
        driver::start(
            &shared,
            Settings {
                netlayers: self.netlayers,
                most_connections: self.connections_per_address,
                dial_time,
                message_time,
                close_time,
            },
        );
        Ok(Node::from_shared(&shared))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("locations", &self.locations)
            .finish_non_exhaustive()
    }
}
