//! The tasks that move bytes and time.
use std::{
    cell::Cell,
    future::poll_fn,
    io,
    net::{IpAddr, Ipv6Addr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use foldhash::{HashMap, HashMapExt as _};
use lydite_ocapn::session::{Connection, Output};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::time::Sleep;

use crate::netlayer::{Netlayer, Opened, Stream};
use crate::node::{Input, Node};

/// How often deadlines are checked.
const TICK: Duration = Duration::from_millis(250);
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

thread_local! {
    /// The read buffer of all connections of a thread, so that idle ones need no memory for it. Empty during use.
    static READ: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Starts the tasks of a node.
pub(crate) fn start(node: &Node) {
    let Some(runtime) = &node.inner().runtime else {
        return;
    };
    for (index, netlayer) in node.inner().netlayers.iter().enumerate() {
        let task = runtime.spawn(accept(node.downgrade(), index, netlayer.clone()));
        node.inner().add_acceptor(task.abort_handle());
    }
    let node = node.downgrade();
    runtime.spawn(async move {
        loop {
            tokio::time::sleep(TICK).await;
            let Some(node) = node.upgrade().map(Node::from_inner) else {
                return;
            };
            let now = node.now();
            node.input(|vat| vat.tick(now));
        }
    });
}

/// Accepts connections until the node is dropped or the netlayer fails.
async fn accept(
    node: std::sync::Weak<crate::node::Inner>,
    index: usize,
    netlayer: Arc<dyn Netlayer>,
) {
    // Addresses with open connections. Each connection holds a clone, and the map holds one.
    let mut addresses: HashMap<IpAddr, Arc<()>> = HashMap::new();
    loop {
        let opened = match netlayer.accept().await {
            Ok(opened) => opened,
            // The listener is gone.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => return,
            // Others, such as too many open files, may pass.
            Err(_) => {
                tokio::time::sleep(TICK).await;
                continue;
            }
        };
        let Some(node) = node.upgrade().map(Node::from_inner) else {
            return;
        };
        if node.is_stopped() {
            return;
        }
        addresses.retain(|_, held| Arc::strong_count(held) > 1);
        let held = opened.address.map(|address| {
            let held = addresses.entry(network_of(address));
            held.or_default().clone()
        });
        let most = node.inner().most_connections;
        if held
            .as_ref()
            .is_some_and(|held| Arc::strong_count(held) > most + 1)
        {
            continue;
        }
        let now = node.now();
        let connection = node.input_recorded(|vat| {
            let proof = opened.proof;
            let connection = vat.accepted(index, proof.clone(), now);
            (connection, connection.map(|it| Input::Accepted(it, proof)))
        });
        if let Some(connection) = connection {
            tokio::spawn(async move {
                serve(node, connection, opened.stream).await;
                drop(held);
            });
        }
    }
}

/// The address, or the network of an IPv6 address, since a host can use all of its addresses.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

/// Carries out what no task of a connection does. Without a runtime, [`replay`](crate::replay) does that.
pub(crate) fn carry_out(node: &Node) {
    let Some(runtime) = &node.inner().runtime else {
        return;
    };
    while let Some(output) = node.output() {
        if let Output::Dial { dial, location } = output {
            let layers = node.inner().netlayers.iter();
            let mut suitable =
                layers.filter(|layer| layer.location().transport == location.transport);
            let netlayer = suitable.next().cloned();
            let node = node.clone();
            runtime.spawn(async move {
                let opened = match netlayer {
                    Some(netlayer) => {
                        let time = node.inner().dial_time;
                        let opened = tokio::time::timeout(time, netlayer.dial(location)).await;
                        opened.unwrap_or_else(|_| {
                            let kind = io::ErrorKind::TimedOut;
                            Err(io::Error::new(kind, "no connection in time"))
                        })
                    }
                    None => Err(io::Error::new(
                        io::ErrorKind::Unsupported,
                        format!("no netlayer for the transport {}", location.transport),
                    )),
                };
                dialed(&node, dial, opened);
            });
        }
        // The tasks of connections poll for bytes by themselves.
    }
}

fn dialed(node: &Node, dial: lydite_ocapn::session::Dial, opened: io::Result<Opened>) {
    let now = node.now();
    match opened {
        Ok(opened) => {
            let connection = node.input_recorded(|vat| {
                let proof = opened.proof;
                let connection = vat.dialed(dial, proof.clone(), now);
                (
                    connection,
                    connection.map(|it| Input::Dialed(dial, it, proof)),
                )
            });
            if let Some(connection) = connection {
                tokio::spawn(serve(node.clone(), connection, opened.stream));
            }
        }
        Err(error) => node.input_recorded(|vat| {
            vat.dial_failed(dial, &error.to_string());
            ((), Some(Input::DialFailed(dial)))
        }),
    }
}

/// Moves the bytes of a connection until it is closed.
async fn serve(node: Node, connection: Connection, stream: Box<dyn Stream>) {
    let mut pump = Pump {
        node: &node,
        connection,
        stream,
        out: Vec::new(),
        written: 0,
        closing: false,
        late: None,
    };
    let result = poll_fn(|context| pump.poll(context)).await;
    let reason = match result {
        Ok(()) => "closed by the peer".to_owned(),
        Err(error) => error.to_string(),
    };
    node.input_recorded(|vat| {
        vat.closed(connection, &reason);
        ((), Some(Input::Closed(connection)))
    });
    node.forget(connection);
}

/// Reads and writes at the same time: a peer that does not read must not keep us from reading, or both could wait for
/// each other. Only if far too much waits to be sent, nothing is read until the peer has read or its time has passed.
struct Pump<'a> {
    node: &'a Node,
    connection: Connection,
    stream: Box<dyn Stream>,
    out: Vec<u8>,
    written: usize,
    closing: bool,
    /// While bytes cannot be written: when to give up.
    late: Option<Pin<Box<Sleep>>>,
}

impl Pump<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut read = READ.take();
        read.resize(CHUNK, 0);
        let result = self.poll_with(context, &mut read);
        READ.set(read);
        result
    }

    fn poll_with(&mut self, context: &mut Context<'_>, read: &mut [u8]) -> Poll<io::Result<()>> {
        loop {
            // Ready to write the consequences of what was read.
            if self.poll_write(context)?.is_ready() {
                return Poll::Ready(Ok(()));
            }
            if self.is_late(context) {
                let error = io::Error::new(io::ErrorKind::TimedOut, "the peer does not read");
                return Poll::Ready(Err(error));
            }
            if self.closing || self.node.is_full(self.connection) {
                return Poll::Pending;
            }
            let mut buffer = ReadBuf::new(read);
            let read = Pin::new(&mut self.stream).poll_read(context, &mut buffer)?;
            if read.is_pending() {
                return Poll::Pending;
            }
            let bytes = buffer.filled();
            if bytes.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let (node, connection, now) = (self.node, self.connection, self.node.now());
            node.input_recorded(|vat| {
                vat.received(connection, bytes, now);
                ((), Some(Input::Received(connection, bytes)))
            });
        }
    }

    /// Whether bytes could not be written for too long.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        if self.out.is_empty() && !self.closing {
            return false;
        }
        let (closing, inner) = (self.closing, self.node.inner());
        let late = self.late.get_or_insert_with(|| {
            let time = if closing {
                inner.close_time
            } else {
                inner.message_time
            };
            Box::pin(tokio::time::sleep(time))
        });
        late.as_mut().poll(context).is_ready()
    }

    /// Writes what there is. Ready when the connection is to be closed and everything was written.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let before = self.closing;
            self.closing = self
                .node
                .poll_bytes(self.connection, &mut self.out, context.waker());
            if self.closing != before {
                self.late = None;
            }
            if self.out.is_empty() {
                if !self.closing {
                    let _ = Pin::new(&mut self.stream).poll_flush(context)?;
                    return Poll::Pending;
                }
                return Pin::new(&mut self.stream).poll_shutdown(context);
            }
            while self.written < self.out.len() {
                let bytes = &self.out[self.written..];
                match Pin::new(&mut self.stream).poll_write(context, bytes)? {
                    Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(written) => {
                        self.written += written;
                        self.late = None;
                    }
                    Poll::Pending => return Poll::Pending,
                }
            }
            self.out.clear();
            self.written = 0;
        }
    }
}
