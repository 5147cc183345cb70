//! A reference that passes from one peer to another: three nodes in one thread.

use arena_kit_captp::runtime;
use lydite_ocapn_net::{Node, Reference, args};
use tokio::runtime::LocalRuntime;

use crate::{echo, limits, node, publish};

struct Peers {
    runtime: LocalRuntime,
    /// The exporter, the gifter and the receiver, which must live.
    _nodes: [Node; 3],
    /// The gifter's object, which returns a reference to the exporter's, as the receiver refers to it.
    introduce: Reference,
}

thread_local! {
    static PEERS: Peers = Peers::new();
}

impl Peers {
    fn new() -> Self {
        let runtime = runtime();
        let connected = runtime.block_on(async {
            let (exporter, gifter, receiver) = (
                node("exporter", limits()).await,
                node("gifter", limits()).await,
                node("receiver", limits()).await,
            );
            let echo = publish(&exporter, b"echo", echo(&exporter));
            let echo = gifter.enliven(&echo).await.ok()?.as_reference()?;
            let introduce = gifter.function(move |_| Ok(echo.clone().into()));
            let introduce = publish(&gifter, b"introduce", introduce);
            let introduce = receiver.enliven(&introduce).await.ok()?.as_reference()?;
            Some(([exporter, gifter, receiver], introduce))
        });
        let (nodes, introduce) = connected.expect("no connection");
        Self {
            runtime,
            _nodes: nodes,
            introduce,
        }
    }
}

/// The receiver gets a new gift in each call, and withdraws it.
pub fn handoff(text: &str) -> Option<String> {
    PEERS.with(|peers| {
        peers.runtime.block_on(async {
            let echo = peers.introduce.call(args![]).await.ok()?.as_reference()?;
            let result = echo.call(args![text]).await.ok()?;
            Some(result.decode::<&str>().ok()?.to_owned())
        })
    })
}
