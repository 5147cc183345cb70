#![allow(clippy::unwrap_used, clippy::panic)]
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use lydite_ocapn::captp::{Dialect, Operation, PublicKey, StartSession};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, coding::Data, coding::OpCode};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};

use super::*;
use crate::tests::{node, run};
use crate::{Node, Record, Tcp, args, suite};

async fn bind(secret: u8) -> WebSocket {
    WebSocket::bind("127.0.0.1:0", &[secret; 32]).await.unwrap()
}

fn url(websocket: &WebSocket) -> String {
    hint(&websocket.location, "url").unwrap().to_owned()
}

/// A connection that holds few bytes that are not read.
async fn tcp(url: &str) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let address = url.trim_start_matches("ws://").parse().unwrap();
    socket.connect(address).await.unwrap()
}

/// A connection that has passed the handshake, as another implementation makes it.
async fn raw(websocket: &str) -> Raw {
    let request = websocket.into_client_request().unwrap();
    let stream = tcp(websocket).await;
    let (mut socket, _) = tokio_tungstenite::client_async(request, stream)
        .await
        .unwrap();
    socket.send(challenge(&[7; 32]).into()).await.unwrap();
    let answer = socket.next().await.unwrap().unwrap();
    assert!(answer.into_data().starts_with(b"<17'desc:sig-envelope"));
    socket
}

type Raw = tokio_tungstenite::WebSocketStream<TcpStream>;

/// The hello of a peer with this key and designator.
fn hello(designator: &str) -> Vec<u8> {
    let location = Location {
        transport: TRANSPORT.into(),
        designator: designator.into(),
        hints: None,
    };
    let key = SecretKey::from_bytes(&[9; 32]);
    let start = StartSession::sign::<lydite_ocapn::captp::Syrup>(&key, location.peer()).unwrap();
    let mut message = Vec::new();
    let operation = Operation::StartSession(start);
    operation
        .encode::<lydite_ocapn::captp::Syrup, _>(Dialect::Endo202608, &mut message)
        .unwrap();
    message
}

/// All messages until the listener closes.
async fn until_closed(socket: &mut Raw) -> Vec<String> {
    let mut messages = Vec::new();
    while let Some(Ok(message)) = socket.next().await {
        if let Message::Binary(message) = message {
            messages.push(message.escape_ascii().to_string());
        }
    }
    messages
}

#[test]
fn an_impostor_is_refused() {
    run(async {
        let (bob, mallory) = (bind(1).await, bind(2).await);
        let claimed = Location {
            hints: mallory.location.hints.clone(),
            ..bob.location.clone()
        };
        let alice = node(bind(3).await);
        let _mallory = node(mallory);
        let error = alice.connect(&claimed.peer()).await.unwrap_err();
        let expected = "the listener does not prove its designator: signature is not valid";
        assert!(error.to_string().contains(expected), "{error}");
    });
}

/// Claims the location of somebody else in its hello.
struct Liar(WebSocket, Location);

impl Netlayer for Liar {
    fn location(&self) -> Location {
        self.1.clone()
    }

    fn framing(&self) -> Option<Framing> {
        self.0.framing()
    }

    fn dial(&self, location: Location) -> Future<'_, io::Result<Opened>> {
        self.0.dial(location)
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        self.0.accept()
    }
}

#[test]
fn a_dialer_cannot_take_the_place_of_another() {
    run(async {
        let bob = bind(1).await;
        let location = bob.location.clone();
        let alice = node(bind(3).await);
        let mallory = Liar(bind(2).await, location.clone());
        let mallory = Node::builder().netlayer(mallory).start().unwrap();
        let echo = mallory.enliven(&alice.locator(suite::swiss::ECHO).unwrap());
        echo.call(args![1u64]).await.unwrap();
        // Bob is found all the same.
        let bob = node(bob);
        let echo = alice.enliven(&bob.locator(suite::swiss::ECHO).unwrap());
        assert_eq!(echo.call(args![2u64]).await.unwrap().data(), b"[2+]");
        assert_eq!(alice.stats().connections, 2);
        assert_eq!(bob.stats().connections, 1);
    });
}

#[test]
fn frames_are_messages() {
    run(async {
        let websocket = bind(1).await;
        let url = url(&websocket);
        let _bob = node(websocket);
        let own = PublicKey([9; 32]).to_designator();
        let whole = hello(&own);

        // Half a message, two messages, and none.
        let two = b"<10'op:deliver<11'desc:export0+>[]ff>".repeat(2);
        for frame in [&two[..two.len() / 4], &two, b""] {
            let mut socket = raw(&url).await;
            socket.send(whole.clone().into()).await.unwrap();
            let data: Vec<u8> = frame.into();
            socket.send(data.into()).await.unwrap();
            let messages = until_closed(&mut socket).await;
            assert_eq!(messages.len(), 2, "{messages:?}");
            assert!(messages[1].contains("op:abort"), "{messages:?}");
        }
        // A message in two fragments is one message.
        let mut socket = raw(&url).await;
        let (first, rest) = whole.split_at(100);
        for (part, opcode, last) in [(first, Data::Binary, false), (rest, Data::Continue, true)] {
            let frame = Frame::message(part.to_vec(), OpCode::Data(opcode), last);
            socket.send(Message::Frame(frame)).await.unwrap();
        }
        let answer = socket.next().await.unwrap().unwrap().into_data();
        assert!(answer.starts_with(b"<16'op:start-session"));
    });
}

#[test]
fn text_and_long_frames_close_the_connection() {
    run(async {
        let websocket = bind(1).await.max_message(1000);
        let url = url(&websocket);
        let bob = node(websocket);
        let designator = PublicKey([9; 32]).to_designator();
        for frame in [Message::from("<8'op:abort0\">"), vec![b'['; 1001].into()] {
            let mut socket = raw(&url).await;
            socket.send(hello(&designator).into()).await.unwrap();
            socket.next().await.unwrap().unwrap();
            socket.send(frame).await.unwrap();
            assert_eq!(until_closed(&mut socket).await, [""; 0]);
        }
        while bob.stats().connections > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn nothing_but_a_challenge_is_signed() {
    run(async {
        let websocket = bind(1).await;
        let url = url(&websocket);
        let _bob = node(websocket);
        let handoff = b"<17'desc:handoff-give>";
        let short = b"<14'init:peer-auth31:1234567890123456789012345678901>";
        for first in [&hello("x")[..], handoff, short, &[0; 32], b""] {
            let request = url.as_str().into_client_request().unwrap();
            let stream = tcp(&url).await;
            let (mut socket, _) = tokio_tungstenite::client_async(request, stream)
                .await
                .unwrap();
            socket.send(first.to_vec().into()).await.unwrap();
            assert_eq!(until_closed(&mut socket).await, [""; 0]);
        }
    });
}

#[test]
fn the_silent_and_the_slow_do_not_block_others() {
    run(async {
        let mut websocket = bind(1).await;
        websocket.settings.handshake_time = Duration::from_millis(1500);
        websocket.settings.message_time = Duration::from_millis(200);
        let url = url(&websocket);
        let bob = node(websocket);

        // More than may be in their handshake: the oldest is closed.
        let mut silent = Vec::new();
        for _ in 0..HANDSHAKES + 10 {
            silent.push(tcp(&url).await);
        }
        let mut oldest = silent.remove(0);
        assert!(matches!(oldest.read(&mut [0]).await, Ok(0) | Err(_)));
        let alice = node(bind(2).await);
        let echo = alice.enliven(&bob.locator(suite::swiss::ECHO).unwrap());
        assert_eq!(echo.call(args![1u64]).await.unwrap().data(), b"[1+]");
        // The others are closed in time.
        for mut stream in silent {
            assert!(matches!(stream.read(&mut [0]).await, Ok(0) | Err(_)));
        }

        // An idle connection stays, with pings too; one in the middle of a message does not, with pings either.
        let designator = PublicKey([9; 32]).to_designator();
        let mut idle = raw(&url).await;
        idle.send(hello(&designator).into()).await.unwrap();
        idle.next().await.unwrap().unwrap();
        let mut slow = raw(&url).await;
        slow.send(hello(&designator).into()).await.unwrap();
        slow.next().await.unwrap().unwrap();
        // The first fragment of a message, with a mask of zeros.
        let fragment = b"\x02\x81\0\0\0\0<";
        slow.get_mut().write_all(fragment).await.unwrap();
        let pings = async {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                idle.send(Message::Ping(vec![1; 100].into())).await.unwrap();
                // It may be closed by now.
                let _ = slow.send(Message::Ping(vec![1; 100].into())).await;
            }
            until_closed(&mut slow).await
        };
        assert_eq!(pings.await, [""; 0]);
        let call = b"<10'op:deliver<11'desc:export0+>[5'fetch1:x]0+f>";
        idle.send(call.to_vec().into()).await.unwrap();
        let mut pongs = 0;
        let listen = b"<9'op:listen<11'desc:answer0+><18'desc:import-object0+>t>";
        idle.send(listen.to_vec().into()).await.unwrap();
        loop {
            match idle.next().await.unwrap().unwrap() {
                Message::Pong(_) => pongs += 1,
                message => {
                    let message = message.into_data().escape_ascii().to_string();
                    assert!(message.contains("no object"), "{message}");
                    break;
                }
            }
        }
        assert_eq!(pongs, 5);
    });
}

/// Pings, each with a mask of zeros.
fn pings(number: usize) -> Vec<u8> {
    [&b"\x89\xfd\0\0\0\0"[..], &[7; 125]]
        .concat()
        .repeat(number)
}

#[test]
fn pings_whose_pongs_are_not_read() {
    run(async {
        let (patient, hasty) = (bind(1).await, bind(2).await);
        let [patient_url, hasty_url] = [&patient, &hasty].map(url);
        let _patient = node(patient);
        let hasty = Node::builder().netlayer(hasty).limits(Limits {
            message_time: 500,
            ..Limits::default()
        });
        let hasty = hasty.start().unwrap();
        let own = PublicKey([9; 32]).to_designator();

        // 38 MB of pongs. Those that the buffers do not hold are dropped, and the session goes on.
        let mut peer = raw(&patient_url).await;
        peer.send(hello(&own).into()).await.unwrap();
        peer.next().await.unwrap().unwrap();
        for _ in 0..3000 {
            peer.get_mut().write_all(&pings(100)).await.unwrap();
        }
        let call = b"<10'op:deliver<11'desc:export0+>[5'fetch1:x]0+<18'desc:import-object0+>>";
        peer.send(call.to_vec().into()).await.unwrap();
        let mut pongs = 0;
        while let Message::Pong(_) = peer.next().await.unwrap().unwrap() {
            pongs += 1;
        }
        assert!(pongs < 150_000, "{pongs}");

        // A third as many, but the time is limited, whether the peer goes on or not.
        let mut closed = Vec::new();
        for goes_on in [false, true] {
            let mut peer = raw(&hasty_url).await;
            peer.send(hello(&own).into()).await.unwrap();
            peer.next().await.unwrap().unwrap();
            for _ in 0..1000 {
                // It may be closed by now.
                let _ = peer.get_mut().write_all(&pings(100)).await;
            }
            closed.push(tokio::spawn(async move {
                while goes_on && peer.get_mut().write_all(&pings(1)).await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                peer
            }));
        }
        while hasty.stats().connections > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

#[test]
fn the_framing_inside_the_node_is_not_used_elsewhere() {
    run(async {
        let (sender, records) = std::sync::mpsc::channel();
        let tcp = async |name| Tcp::bind("127.0.0.1:0", name).await.unwrap();
        let carol = Node::builder().netlayer(tcp("carol").await);
        let carol = carol.record(move |record| sender.send(record).unwrap());
        let carol = carol.start().unwrap();
        suite::publish(&carol);
        let both = async |secret, name| {
            let builder = Node::builder().netlayer(bind(secret).await);
            builder.netlayer(tcp(name).await).start().unwrap()
        };
        let (alice, bob) = (both(1, "alice").await, both(2, "bob").await);
        // Bob hands an object of Carol to Alice: she connects to Carol because a WebSocket said so.
        let echo = bob.enliven(&carol.locator(suite::swiss::ECHO).unwrap());
        let echo = echo.await.unwrap().as_reference().unwrap();
        bob.publish(b"gift", bob.function(move |_| Ok(echo.clone().into())));
        let gift = alice.enliven(&bob.locator(b"gift").unwrap()).call(args![]);
        // A call before the handoff is complete could still go through Bob.
        let gift = gift.await.unwrap().as_reference().unwrap();
        assert_eq!(gift.call(args![1u64]).await.unwrap().data(), b"[1+]");
        let received = |record| match record {
            Record::Received(connection, bytes) => Some((connection, bytes)),
            _ => None,
        };
        let received: Vec<_> = records.try_iter().filter_map(received).collect();
        for dialer in 0..2 {
            let first = received
                .iter()
                .find(|(connection, _)| *connection == dialer);
            assert!(first.unwrap().1.starts_with(b"<16'op:start-session"));
        }
    });
}

#[test]
fn origins_can_be_restricted() {
    run(async {
        let websocket = bind(1).await.origins(&["https://good.example"]);
        let url = url(&websocket);
        let _bob = node(websocket);
        for (origin, accepted) in [
            (None, true),
            (Some("https://good.example"), true),
            (Some("https://evil.example"), false),
            (Some("null"), false),
        ] {
            let mut request = url.as_str().into_client_request().unwrap();
            if let Some(origin) = origin {
                let headers = request.headers_mut();
                headers.insert("origin", origin.parse().unwrap());
            }
            let stream = tcp(&url).await;
            let result = tokio_tungstenite::client_async(request, stream).await;
            assert_eq!(result.is_ok(), accepted, "{origin:?}");
        }
    });
}

#[test]
fn locations_that_are_not_valid_or_not_allowed() {
    run(async {
        let alice = bind(1).await;
        let designator = &alice.location.designator;
        for (designator, url, expected) in [
            ("x", "ws://127.0.0.1:1", "expected a key in base32"),
            (designator, "http://127.0.0.1:1", "expected a ws:"),
            (designator, "", "expected a URL in the hint"),
            (designator, "ws://10.1.2.3:1", "not reachable by policy"),
            (
                designator,
                "ws://169.254.169.254",
                "not reachable by policy",
            ),
            (designator, "ws://[fe80::1]:1", "not reachable by policy"),
        ] {
            let location = Location {
                transport: TRANSPORT.into(),
                designator: designator.into(),
                hints: Some(vec![("url".into(), url.into())]),
            };
            let error = alice.dial(location).await.err().unwrap();
            assert!(error.to_string().contains(expected), "{url}: {error}");
        }
    });
}

#[cfg(feature = "tls")]
mod tls {
    use tokio::io::copy_bidirectional;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
    use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto::ring::default_provider};

    use super::*;

    fn certificate() -> CertificateDer<'static> {
        let pem = include_bytes!("../../../vectors/captp/localhost.pem");
        CertificateDer::from_pem_slice(pem).unwrap()
    }

    /// Starts a proxy that terminates TLS. Returns its port.
    async fn proxy(websocket: &WebSocket) -> u16 {
        let key = include_bytes!("../../../vectors/captp/localhost-key.pem");
        let key = PrivateKeyDer::from_pem_slice(key).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = url(websocket);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, url) = (acceptor.clone(), url.clone());
                tokio::spawn(async move {
                    if let Ok(mut outside) = acceptor.accept(stream).await {
                        let _ = copy_bidirectional(&mut outside, &mut tcp(&url).await).await;
                    }
                });
            }
        });
        port
    }

    #[test]
    fn certificates_have_to_be_trusted() {
        run(async {
            for host in ["localhost", "127.0.0.1"] {
                let bob = bind(1).await;
                let port = proxy(&bob).await;
                let bob = node(bob.url(&format!("wss://{host}:{port}")));
                let locator = bob.locator(suite::swiss::ECHO).unwrap();

                let mut roots = RootCertStore::empty();
                roots.add(certificate()).unwrap();
                let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
                    .with_safe_default_protocol_versions()
                    .unwrap()
                    .with_root_certificates(roots)
                    .with_no_client_auth();
                let alice = WebSocket::client(&[2; 32]).reach_private();
                let alice = node(alice.tls(Arc::new(config)));
                let text = "x".repeat(500_000);
                let echoed = alice.enliven(&locator).call(args![&*text]).await.unwrap();
                let echoed = echoed.item(0).unwrap();
                assert!(echoed.decode::<&str>().unwrap() == text);

                let carol = node(WebSocket::client(&[3; 32]).reach_private());
                let error = carol.enliven(&locator).await.unwrap_err();
                assert!(error.to_string().contains("certificate"), "{error}");
            }
        });
    }
}
