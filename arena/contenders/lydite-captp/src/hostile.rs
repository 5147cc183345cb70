//! Calls of a client while another peer of the server drives a limit: three nodes in one thread.

use std::sync::Mutex;

use arena_kit_captp::runtime;
use lydite_ocapn::session::Limits;
use lydite_ocapn_net::{Node, Promise, Reference, args};
use tokio::runtime::LocalRuntime;

use crate::{Wait, echo, node, publish};

struct Peers {
    runtime: LocalRuntime,
    /// The server, the client and the attacker, which must live.
    _nodes: [Node; 3],
    /// The server's objects, as the client and the attacker refer to them.
    echo: Reference,
    wait: Reference,
    /// As many results as may wait for one promise.
    _waiting: Vec<Promise>,
}

thread_local! {
    static PEERS: Peers = Peers::new();
}

impl Peers {
    fn new() -> Self {
        let runtime = runtime();
        let connected = runtime.block_on(async {
            let server = node("server", Limits::default()).await;
            let (client, attacker) = (
                node("client", Limits::default()).await,
                node("attacker", Limits::default()).await,
            );
            let echo = publish(&server, b"echo", echo(&server));
            let wait = server.object(Wait(Mutex::new(server.promise())));
            let wait = publish(&server, b"wait", wait);
            let echo = client.enliven(&echo).await.ok()?.as_reference()?;
            let wait = attacker.enliven(&wait).await.ok()?.as_reference()?;
            let waiting = (0..Limits::default().listeners).map(|_| wait.call(args![]));
            let waiting = waiting.collect();
            Some(([server, client, attacker], echo, wait, waiting))
        });
        let (nodes, echo, wait, waiting) = connected.expect("no connection");
        Self {
            runtime,
            _nodes: nodes,
            echo,
            wait,
            _waiting: waiting,
        }
    }
}

/// One more result would wait, and is refused.
pub fn echo_hostile(text: &str) -> Option<String> {
    PEERS.with(|peers| {
        peers.runtime.block_on(async {
            let refused = peers.wait.call(args![]);
            let result = peers.echo.call(args![text]).await.ok()?;
            refused.await.err()?;
            Some(result.decode::<&str>().ok()?.to_owned())
        })
    })
}
