//! `tcp-testing-only`: TCP without any authentication, as in the OCapN test suite.
use std::io;

use lydite_ocapn::session::{Location, Proof};
use tokio::net::{TcpListener, TcpStream};

use super::{Future, Netlayer, Opened, hint};

/// The transport `tcp-testing-only`. Anyone on the network can read, change and impersonate: for tests only. Locations
/// need the hints `host` and `port`.
#[derive(Debug)]
pub struct Tcp {
    listener: TcpListener,
    location: Location,
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
        Ok(Self {
            listener,
            location: Location {
                transport: "tcp-testing-only".into(),
                designator: designator.into(),
                hints: Some(vec![
                    ("host".into(), address.ip().to_string()),
                    ("port".into(), address.port().to_string()),
                ]),
            },
        })
    }
}

fn opened(stream: TcpStream) -> io::Result<Opened> {
    stream.set_nodelay(true)?;
    Ok(Opened {
        stream: Box::new(stream),
        proof: Proof::Trusted,
    })
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
            opened(TcpStream::connect((host, port)).await?)
        })
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move { opened(self.listener.accept().await?.0) })
    }
}
