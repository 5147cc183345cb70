//! Netlayers: how connections are opened.
mod memory;
mod tcp;
#[cfg(unix)]
mod unix;
#[cfg(feature = "websocket")]
mod websocket;

use std::{io, net::IpAddr, pin::Pin};

use lydite_ocapn::captp::{Framing, may_reach};
use lydite_ocapn::session::{Location, Proof};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};

pub use memory::{Memory, Network};
pub use tcp::Tcp;
#[cfg(unix)]
pub use unix::Unix;
#[cfg(feature = "websocket")]
pub use websocket::WebSocket;

/// A boxed future.
pub type Future<'a, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// A stream of bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for T {}

/// A connection that was just opened.
pub struct Opened {
    /// Its bytes.
    pub stream: Box<dyn Stream>,
    /// What the netlayer knows about the location of the peer.
    pub proof: Proof,
    /// The address from which it was accepted, if known:
    /// [`connections_per_address`](crate::Builder::connections_per_address) applies to it.
    pub address: Option<IpAddr>,
}

/// Opens connections of one transport. It must keep bytes in order and let nobody but the two participants insert any.
pub trait Netlayer: Send + Sync + 'static {
    /// Where others can connect to. The transport also selects the netlayer for connections to others.
    fn location(&self) -> Location;

    /// How messages are framed in its streams, if peers cannot choose that.
    fn framing(&self) -> Option<Framing> {
        None
    }

    /// Opens a connection. The location may come from a peer: a netlayer for untrusted networks has to decide where it
    /// connects to.
    ///
    /// # Errors
    ///
    /// The peer cannot be reached, or the hints are not valid.
    fn dial(&self, location: Location) -> Future<'_, io::Result<Opened>>;

    /// Waits for the next connection that a peer opens.
    ///
    /// # Errors
    ///
    /// No further connections can be accepted.
    fn accept(&self) -> Future<'_, io::Result<Opened>>;
}

/// Connects to a host, which a peer may have named. Resolves the name once, and skips the addresses that
/// [`may_reach`] refuses, given `own`, the address that this node's listener is bound to.
async fn connect(host: &str, port: u16, own: IpAddr, reach_private: bool) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in lookup_host((host, port)).await? {
        if !may_reach(address.ip(), own, reach_private) {
            let message = format!("the address {} is not reachable by policy", address.ip());
            failure = io::Error::new(io::ErrorKind::PermissionDenied, message);
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The hint of this name.
fn hint<'a>(location: &'a Location, name: &str) -> io::Result<&'a str> {
    let hints = location.hints.iter().flatten();
    let mut found = hints
        .filter(|(key, _)| key == name)
        .map(|(_, value)| value.as_str());
    found.next().ok_or_else(|| {
        let message = format!("expected the hint `{name}` in the location, found none");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}
