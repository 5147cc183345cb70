//! The memory of idle sessions.
#![allow(clippy::unwrap_used, clippy::panic)]
mod counted;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use counted::live;
use lydite_ocapn::captp::Locator;
use lydite_ocapn::session::{Config, Event, Limits, Location, Output, Proof, Vat};
use lydite_ocapn_net::{Node, Tcp};

/// A client without a node, whose memory would count too. It fetches an object, drops it, and leaves its connection
/// open.
fn connect(locator: &Locator, name: String) -> TcpStream {
    let (_, port) = locator
        .hints
        .iter()
        .find(|(name, _)| name == "port")
        .unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    let location = Location {
        transport: locator.transport.clone(),
        designator: name,
        hints: None,
    };
    let mut vat = Vat::new(Config::new(vec![location]), [7; 32]);
    let promise = vat.enliven(&locator.sturdyref().unwrap());
    vat.listen(promise);
    let mut connection = None;
    let (mut bytes, mut settled) = (vec![], false);
    loop {
        while let Some(output) = vat.poll_output() {
            match output {
                Output::Dial { dial, .. } => connection = vat.dialed(dial, Proof::Trusted, 0),
                Output::Bytes(connection) => {
                    bytes.clear();
                    vat.take_bytes(connection, &mut bytes);
                    stream.write_all(&bytes).unwrap();
                }
                Output::Close(_) => panic!("the session ended"),
            }
        }
        if settled {
            return stream;
        }
        bytes.resize(4096, 0);
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "the server closed the connection");
        vat.received(connection.unwrap(), &bytes[..read], 0);
        while let Some(event) = vat.poll_event() {
            if let Event::Settled { outcome, .. } = event {
                vat.drop_payload(outcome.unwrap());
                vat.drop_ref(promise);
                settled = true;
            }
        }
    }
}

#[test]
fn ten_thousand_idle_sessions_need_64_mib() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(idle());
}

async fn idle() {
    const SESSIONS: usize = 256;
    let limits = Limits {
        connections: 2 * SESSIONS,
        ..Limits::default()
    };
    let tcp = Tcp::bind("127.0.0.1:0", "server").await.unwrap();
    let server = Node::builder()
        .netlayer(tcp)
        .limits(limits)
        .connections_per_address(2 * SESSIONS)
        .start()
        .unwrap();
    server.publish(b"object", server.function(|_| Ok(().into())));
    let locator = server.locator(b"object").unwrap();
    let mut clients = Vec::with_capacity(SESSIONS + 1);
    // The first one includes what all of them share.
    clients.push(connect(&locator, "first".into()));
    let before = live();
    for index in 0..SESSIONS {
        clients.push(connect(&locator, format!("client {index}")));
    }
    while server.stats().exports > 0 {
        tokio::task::yield_now().await;
    }
    let each = (live() - before) / SESSIONS;
    assert_eq!(server.stats().connections, SESSIONS + 1);
    assert!(each <= (64 << 20) / 10_000, "{each} bytes a session");
}
