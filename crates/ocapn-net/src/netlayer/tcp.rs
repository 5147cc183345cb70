//! `tcp-testing-only`: TCP without any authentication, as in the OCapN test suite.
use std::future::pending;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use lydite_ocapn::session::{Location, Proof};
use tokio::net::{TcpListener, TcpStream};

use super::{Future, Netlayer, Opened, connect, hint};

/// The transport `tcp-testing-only`. Anyone on the network can read, change and impersonate: for tests only. Locations
/// to connect to need the hints `host` and `port`.
///
/// Hosts may come from peers. A name is resolved once, and only these addresses are connected to: public ones, and
/// loopback or private ones if this node's listener is bound to an address of that kind.
#[derive(Debug)]
pub struct Tcp {
    listener: Option<TcpListener>,
    location: Location,
    /// The address that the listener is bound to.
    own: IpAddr,
    reach_private: bool,
}

impl Tcp {
    /// Listens on an address such as `127.0.0.1:0`. The designator may be any text that differs from those of others.
    ///
    /// # Errors
    ///
    /// The address cannot be bound.
    pub async fn bind(address: &str, designator: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let mut netlayer = Self::client(designator);
        netlayer.location.hints = Some(vec![
            ("host".into(), address.ip().to_string()),
            ("port".into(), address.port().to_string()),
        ]);
        netlayer.listener = Some(listener);
        netlayer.own = address.ip();
        Ok(netlayer)
    }

    /// Connects to others without listening. References to this node's objects can be used by the peers that it connects
    /// to, but not be handed on by them: a third node cannot connect to this one.
    pub fn client(designator: &str) -> Self {
        Self {
            listener: None,
            location: Location {
                transport: "tcp-testing-only".into(),
                designator: designator.into(),
                hints: None,
            },
            own: Ipv4Addr::UNSPECIFIED.into(),
            reach_private: false,
        }
    }

    /// Also connects to loopback and private addresses that peers name. Without this, only if the listener is bound to
    /// one of that kind.
    #[must_use]
    pub const fn reach_private(mut self) -> Self {
        self.reach_private = true;
        self
    }
}

fn opened(stream: TcpStream, address: Option<IpAddr>) -> Opened {
    Opened {
        stream: Box::new(stream),
        proof: Proof::Trusted,
        address,
    }
}

impl Netlayer for Tcp {
    fn location(&self) -> Location {
        self.location.clone()
    }

    fn dial(&self, location: Location) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move {
            let (host, port) = (hint(&location, "host")?, hint(&location, "port")?);
            let invalid = |_| {
                let message = format!("expected a port in the hint `port`, found `{port}`");
                io::Error::new(io::ErrorKind::InvalidInput, message)
            };
            let port: u16 = port.parse().map_err(invalid)?;
            let stream = connect(host, port, self.own, self.reach_private).await?;
            Ok(opened(stream, None))
        })
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move {
            let Some(listener) = &self.listener else {
                return pending().await;
            };
            let (stream, address) = listener.accept().await?;
            stream.set_nodelay(true)?;
            Ok(opened(stream, Some(address.ip())))
        })
    }
}
