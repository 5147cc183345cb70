//! WebSocket, as used by Spritely Goblins and Endo: one binary frame is one message.
mod stream;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{SinkExt as _, StreamExt as _};
use lydite_ocapn::captp::{
    Framing, PublicKey, SecretKey, answer_challenge, challenge, verify_answer,
};
use lydite_ocapn::session::{Limits, Location, Proof};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
#[cfg(feature = "tls")]
use tokio_rustls::rustls::ClientConfig;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{StatusCode, Uri, header::ORIGIN};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{accept_hdr_async_with_config, client_async_with_config};

use super::{Future, Netlayer, Opened, Stream, connect, hint};
use stream::{Counted, Messages, Socket, WRITE_BUFFER, data};

const TRANSPORT: &str = "websocket";
/// URLs to connect to.
const SCHEMES: &str = match cfg!(feature = "tls") {
    true => "a ws: or wss:",
    false => "a ws:",
};
/// Connections that have not completed the handshake.
const HANDSHAKES: usize = 256;

/// The transport `websocket`. The designator is a public key, and locations to connect to need the hint `url`.
///
/// The listener proves that it has the secret key; the dialer proves nothing. A session with an accepted connection is
/// therefore not found under the location that its peer claims. The proof does not protect later messages from those who
/// can change them on their way, and the listener does not encrypt: use it on a trusted network, or with a proxy that
/// terminates TLS, whose address is the [`url`](Self::url). With the feature `tls`, `wss:` URLs are connected to.
///
/// Web pages of any origin may connect, unless [`origins`](Self::origins) restricts them: a connection gives no access
/// to objects whose swiss number the page does not know, and there are no cookies that it could abuse.
///
/// URLs may come from peers. A name is resolved once, and only these addresses are connected to: public ones, and
/// loopback or private ones if this node's listener is bound to an address of that kind.
#[derive(Debug)]
pub struct WebSocket {
    listener: Option<TcpListener>,
    location: Location,
    /// The address that the listener is bound to.
    own: IpAddr,
    reach_private: bool,
    settings: Settings,
    handshakes: Mutex<Handshakes>,
}

/// What each connection needs.
#[derive(Clone, Debug)]
struct Settings {
    key: SecretKey,
    origins: Option<Arc<[String]>>,
    max_message: usize,
    handshake_time: Duration,
    message_time: Duration,
    #[cfg(feature = "tls")]
    tls: Option<Arc<ClientConfig>>,
}

/// Accepted connections that have not completed the handshake.
#[derive(Debug, Default)]
struct Handshakes {
    tasks: JoinSet<io::Result<Opened>>,
    oldest_first: VecDeque<AbortHandle>,
}

impl WebSocket {
    /// Listens on an address such as `127.0.0.1:0`. `secret` is the Ed25519 seed of the key in the designator: 32 random
    /// bytes, to be kept for as long as others should recognise this peer.
    ///
    /// # Errors
    ///
    /// The address cannot be bound.
    pub async fn bind(address: &str, secret: &[u8; 32]) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let mut netlayer = Self::client(secret).url(&format!("ws://{address}"));
        netlayer.listener = Some(listener);
        netlayer.own = address.ip();
        Ok(netlayer)
    }

    /// Connects to others without listening. References to this node's objects can be used by the peers that it connects
    /// to, but not be handed on by them: a third node cannot connect to this one. `secret` is as for
    /// [`bind`](Self::bind).
    pub fn client(secret: &[u8; 32]) -> Self {
        let key = SecretKey::from_bytes(secret);
        let limits = Limits::default();
        Self {
            listener: None,
            location: Location {
                transport: TRANSPORT.into(),
                designator: key.public_key().to_designator(),
                hints: None,
            },
            own: Ipv4Addr::UNSPECIFIED.into(),
            reach_private: false,
            settings: Settings {
                key,
                origins: None,
                max_message: limits.message,
                handshake_time: Duration::from_millis(limits.hello_time),
                message_time: Duration::from_millis(limits.message_time),
                #[cfg(feature = "tls")]
                tls: None,
            },
            handshakes: Mutex::default(),
        }
    }

    /// The URL under which others reach the listener, for example through a proxy; default: `ws://` and its address.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        self.location.hints = Some(vec![("url".into(), url.into())]);
        self
    }

    /// Accepts web pages of these origins (`https://example.org`) only. Connections without an `Origin` header, which
    /// browsers always send, are accepted.
    #[must_use]
    pub fn origins(mut self, origins: &[&str]) -> Self {
        self.settings.origins = Some(origins.iter().map(|origin| (*origin).into()).collect());
        self
    }

    /// Longest message in bytes, in either direction; default: 1 MiB, like that of [`Limits`], which applies too.
    #[must_use]
    pub const fn max_message(mut self, length: usize) -> Self {
        self.settings.max_message = length;
        self
    }

    /// Also connects to loopback and private addresses that peers name. Without this, only if the listener is bound to
    /// one of that kind.
    #[must_use]
    pub const fn reach_private(mut self) -> Self {
        self.reach_private = true;
        self
    }

    /// How to connect to `wss:` URLs; default: certificates have to be valid for the host and trusted by the system.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, config: Arc<ClientConfig>) -> Self {
        self.settings.tls = Some(config);
        self
    }

    /// Connects to one of the addresses that a URL names.
    async fn connect(&self, uri: &Uri) -> io::Result<Box<dyn Stream>> {
        let default_port = match uri.scheme_str() {
            Some("ws") => 80,
            #[cfg(feature = "tls")]
            Some("wss") => 443,
            _ => return Err(invalid(format!("expected {SCHEMES} URL, found `{uri}`"))),
        };
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(default_port);
        let stream = connect(host, port, self.own, self.reach_private).await?;
        #[cfg(feature = "tls")]
        if uri.scheme_str() == Some("wss") {
            return tls::start(self.settings.tls.clone(), host, stream).await;
        }
        Ok(Box::new(stream))
    }

    async fn open(&self, location: Location) -> io::Result<Opened> {
        let key = PublicKey::from_designator(&location.designator);
        let key = key.map_err(|_| {
            let designator = &location.designator;
            invalid(format!(
                "expected a key in base32 as the designator, found `{designator}`"
            ))
        })?;
        let url = hint(&location, "url")?;
        let uri: Uri = url
            .parse()
            .map_err(|_| invalid(format!("expected a URL in the hint `url`, found `{url}`")))?;
        let stream = Counted::new(self.connect(&uri).await?);
        let config = self.settings.config();
        let (mut socket, _) = client_async_with_config(uri, stream, Some(config))
            .await
            .map_err(io::Error::other)?;
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
        send(&mut socket, challenge(&nonce)).await?;
        let answer = receive(&mut socket).await?;
        verify_answer(&answer, &nonce, &key).map_err(|error| {
            let message = format!("the listener does not prove its designator: {}", error.kind);
            io::Error::new(io::ErrorKind::PermissionDenied, message)
        })?;
        Ok(self
            .settings
            .opened(socket, Proof::Verified(location), None))
    }

    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Opened>> {
        let Some(listener) = &self.listener else {
            return Poll::Pending;
        };
        let handshakes = self.handshakes.lock();
        let mut handshakes = handshakes.unwrap_or_else(PoisonError::into_inner);
        loop {
            while let Poll::Ready(Some(done)) = handshakes.tasks.poll_join_next(context) {
                if let Ok(Ok(opened)) = done {
                    return Poll::Ready(Ok(opened));
                }
            }
            match listener.poll_accept(context)? {
                Poll::Ready((stream, _)) => handshakes.start(self.settings.clone(), stream),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Handshakes {
    fn start(&mut self, settings: Settings, stream: TcpStream) {
        self.oldest_first.retain(|task| !task.is_finished());
        if self.oldest_first.len() >= HANDSHAKES
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            oldest.abort();
        }
        let time = settings.handshake_time;
        let handshake = async move { timeout(time, settings.accept(stream)).await? };
        self.oldest_first.push_back(self.tasks.spawn(handshake));
    }
}

impl Settings {
    fn config(&self) -> WebSocketConfig {
        WebSocketConfig::default()
            .read_buffer_size(stream::READ_BUFFER)
            .write_buffer_size(WRITE_BUFFER)
            // One message, and those of `WRITE_BUFFER` bytes with length framing: as frames they have at most three
            // times as many. Once there are more pongs, only the last one is sent.
            .max_write_buffer_size(self.max_message.saturating_add(4 * WRITE_BUFFER))
            .max_message_size(Some(self.max_message))
            .max_frame_size(Some(self.max_message))
    }

    fn opened(&self, socket: Socket, proof: Proof, address: Option<IpAddr>) -> Opened {
        Opened {
            stream: Box::new(Messages::new(socket, self.message_time)),
            proof,
            address,
        }
    }

    /// The listener's side of the handshake.
    async fn accept(self, stream: TcpStream) -> io::Result<Opened> {
        stream.set_nodelay(true)?;
        let address = stream.peer_addr()?.ip();
        // The type of the response is that of the library.
        #[allow(clippy::result_large_err)]
        let check = |request: &Request, response: Response| {
            if self.allows(request) {
                return Ok(response);
            }
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = StatusCode::FORBIDDEN;
            Err(refusal)
        };
        let stream = Counted::new(Box::new(stream));
        let socket = accept_hdr_async_with_config(stream, check, Some(self.config())).await;
        let mut socket = socket.map_err(io::Error::other)?;
        let challenge = receive(&mut socket).await?;
        let answer = answer_challenge(&challenge, &self.key).map_err(io::Error::other)?;
        send(&mut socket, answer).await?;
        Ok(self.opened(socket, Proof::Claimed, Some(address)))
    }

    fn allows(&self, request: &Request) -> bool {
        let Some(origins) = &self.origins else {
            return true;
        };
        let mut found = request.headers().get_all(ORIGIN).iter();
        found.all(|origin| origins.iter().any(|allowed| allowed.as_bytes() == origin))
    }
}

async fn send(socket: &mut Socket, message: Vec<u8>) -> io::Result<()> {
    let sent = socket.send(message.into()).await;
    sent.map_err(io::Error::other)
}

/// The next message.
async fn receive(socket: &mut Socket) -> io::Result<Vec<u8>> {
    loop {
        let Some(item) = socket.next().await else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if let Some(message) = data(item)? {
            return Ok(message.into());
        }
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

impl Netlayer for WebSocket {
    fn location(&self) -> Location {
        self.location.clone()
    }

    /// Inside the node, so that it knows where messages end. The frames contain the messages alone.
    fn framing(&self) -> Option<Framing> {
        Some(Framing::Length)
    }

    fn dial(&self, location: Location) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move { timeout(self.settings.handshake_time, self.open(location)).await? })
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        Box::pin(poll_fn(|context| self.poll_accept(context)))
    }
}
