//! Connections within a process.
use std::{
    collections::HashMap,
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
};

use lydite_ocapn::session::{Location, Proof};
use tokio::io::DuplexStream;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use super::{Future, Netlayer, Opened};

const TRANSPORT: &str = "memory";
/// Bytes on their way in one direction.
const BUFFER: usize = 64 << 10;

type Nodes = Arc<Mutex<HashMap<String, mpsc::Sender<DuplexStream>>>>;

/// A network within a process.
#[derive(Clone, Default)]
pub struct Network(Nodes);

/// A participant of a [`Network`]: the transport `memory`.
pub struct Memory {
    nodes: Nodes,
    designator: String,
    incoming: AsyncMutex<mpsc::Receiver<DuplexStream>>,
}

impl Network {
    /// Joins the network under a name.
    ///
    /// # Errors
    ///
    /// The name is taken.
    pub fn join(&self, designator: &str) -> io::Result<Memory> {
        let (sender, receiver) = mpsc::channel(16);
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if nodes
            .get(designator)
            .is_some_and(|sender| !sender.is_closed())
        {
            let message = format!("the name {designator} is taken");
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        }
        nodes.insert(designator.into(), sender);
        Ok(Memory {
            nodes: self.0.clone(),
            designator: designator.into(),
            incoming: AsyncMutex::new(receiver),
        })
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network")
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({})", self.designator)
    }
}

fn opened(stream: DuplexStream) -> Opened {
    Opened {
        stream: Box::new(stream),
        proof: Proof::Trusted,
        address: None,
    }
}

impl Netlayer for Memory {
    fn location(&self) -> Location {
        Location {
            transport: TRANSPORT.into(),
            designator: self.designator.clone(),
            hints: None,
        }
    }

    fn dial(&self, location: Location) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move {
            let peer = {
                let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
                nodes.get(&location.designator).cloned()
            };
            let (ours, theirs) = tokio::io::duplex(BUFFER);
            let nobody = || io::Error::new(io::ErrorKind::NotFound, "nobody has this name");
            let peer = peer.ok_or_else(nobody)?;
            peer.send(theirs).await.map_err(|_| nobody())?;
            Ok(opened(ours))
        })
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move {
            let next = self.incoming.lock().await.recv().await;
            next.map(opened)
                .ok_or_else(|| io::ErrorKind::NotConnected.into())
        })
    }
}
