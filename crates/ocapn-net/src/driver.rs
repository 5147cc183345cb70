//! The tasks that move bytes and time.
use std::{
    cell::Cell,
    future::poll_fn,
    io::{self, IoSlice},
    net::{IpAddr, Ipv6Addr},
    pin::{Pin, pin},
    sync::{Arc, Weak},
    task::{Context, Poll, ready},
    time::Duration,
};

use foldhash::{HashMap, HashMapExt as _};
use lydite_ocapn::session::{Connection, Dial, Location, Outgoing};
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, ReadBuf};
use tokio::task::JoinSet;
use tokio::time::Sleep;

use crate::netlayer::{Netlayer, Opened, Stream};
use crate::record::Input;
use crate::shared::{STOPPED, Shared};

/// How often deadlines are checked.
const TICK: Duration = Duration::from_millis(250);
/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// Pieces written at once.
const PIECES: usize = 16;

thread_local! {
    /// The read buffer of all connections of a thread, so that idle ones need no memory for it. Empty during use.
    static READ: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// What the tasks need to know.
pub(crate) struct Settings {
    pub netlayers: Vec<Arc<dyn Netlayer>>,
    /// Most connections accepted from one address.
    pub most_connections: usize,
    /// Time for the netlayer to open a connection.
    pub dial_time: Duration,
    /// Time for which a peer may read nothing.
    pub message_time: Duration,
    /// Time to send the last bytes on a connection.
    pub close_time: Duration,
}

/// Starts the tasks of a node. Without a runtime there are none, and [`replay`](crate::replay()) does their work.
pub(crate) fn start(shared: &Arc<Shared>, settings: Settings) {
    let Some(runtime) = &shared.runtime else {
        return;
    };
    let settings = Arc::new(settings);
    for index in 0..settings.netlayers.len() {
        let task = runtime.spawn(accept(Arc::downgrade(shared), index, settings.clone()));
        shared.add_opener(task.abort_handle());
    }
    let task = runtime.spawn(dial(Dialer(Arc::downgrade(shared)), settings));
    shared.add_opener(task.abort_handle());
    runtime.spawn(tick(Arc::downgrade(shared)));
}

/// Reports the time until the node is dropped.
async fn tick(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(TICK).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        shared.input(|vat, now| {
            let any = vat.deadline().is_some_and(|deadline| deadline <= now);
            vat.tick(now);
            ((), any.then_some(Input::Deadlines))
        });
    }
}

/// Accepts connections until the node is dropped or the netlayer fails.
async fn accept(shared: Weak<Shared>, index: usize, settings: Arc<Settings>) {
    let netlayer = &settings.netlayers[index];
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
        let Some(shared) = shared.upgrade() else {
            return;
        };
        addresses.retain(|_, held| Arc::strong_count(held) > 1);
        let held = opened.address.map(|address| {
            let held = addresses.entry(network_of(address));
            held.or_default().clone()
        });
        let most = settings.most_connections;
        if held
            .as_ref()
            .is_some_and(|held| Arc::strong_count(held) > most + 1)
        {
            continue;
        }
        let connection = shared.opened(|vat, now| {
            let connection = vat.accepted(index, opened.proof.clone(), now)?;
            Some((connection, Input::Accepted(connection, opened.proof)))
        });
        if let Some(connection) = connection {
            let (stream, settings) = (opened.stream, settings.clone());
            tokio::spawn(Pump::new(shared, connection, stream, held, settings));
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

/// The node for which a task opens connections. When the task is dropped, maybe by the end of the runtime, it stops.
struct Dialer(Weak<Shared>);

impl Drop for Dialer {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.stop();
        }
    }
}

/// Opens the connections that the vat asks for, until the node stops or is dropped.
async fn dial(dialer: Dialer, settings: Arc<Settings>) {
    let mut tasks = JoinSet::new();
    loop {
        let next = poll_fn(|context| match dialer.0.upgrade() {
            Some(shared) => shared.poll_dial(context.waker()).map(Some),
            None => Poll::Ready(None),
        });
        let (Some((dial, location)), Some(shared)) = (next.await, dialer.0.upgrade()) else {
            return;
        };
        while tasks.try_join_next().is_some() {}
        let opening = Opening {
            shared,
            dial,
            ended: false,
        };
        let settings = settings.clone();
        tasks.spawn(async move {
            let result = open(location, &settings).await;
            opening.finish(result, settings);
        });
    }
}

/// A connection that is being opened.
struct Opening {
    shared: Arc<Shared>,
    dial: Dial,
    /// Whether the vat knows the outcome. If not, what waits for it breaks when this is dropped.
    ended: bool,
}

impl Opening {
    fn finish(mut self, result: io::Result<Opened>, settings: Arc<Settings>) {
        let dial = self.dial;
        let opened = match result {
            Ok(opened) => opened,
            Err(error) => {
                self.ended = true;
                return self.shared.input(|vat, _| {
                    vat.dial_failed(dial, &error.to_string());
                    ((), Some(Input::DialFailed(dial)))
                });
            }
        };
        let connection = self.shared.opened(|vat, now| {
            let connection = vat.dialed(dial, opened.proof.clone(), now)?;
            Some((connection, Input::Dialed(dial, connection, opened.proof)))
        });
        // Otherwise it is not needed any more, or the node has stopped.
        if let Some(connection) = connection {
            self.ended = true;
            let shared = self.shared.clone();
            tokio::spawn(Pump::new(shared, connection, opened.stream, None, settings));
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.vat(|vat| vat.dial_failed(self.dial, STOPPED));
        }
    }
}

async fn open(location: Location, settings: &Settings) -> io::Result<Opened> {
    let transport = &location.transport;
    let mut netlayers = settings.netlayers.iter();
    let Some(netlayer) = netlayers.find(|layer| layer.location().transport == *transport) else {
        let message = format!("no netlayer for the transport {transport}");
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    };
    let opened = tokio::time::timeout(settings.dial_time, netlayer.dial(location)).await;
    opened.unwrap_or_else(|_| {
        let kind = io::ErrorKind::TimedOut;
        Err(io::Error::new(kind, "no connection in time"))
    })
}

/// Moves the bytes of a connection until it is closed.
///
/// Reads and writes at the same time: a peer that does not read must not keep us from reading, or both could wait for
/// each other. Only if far too much waits to be sent, nothing is read until the peer has read or its time has passed.
struct Pump {
    shared: Arc<Shared>,
    settings: Arc<Settings>,
    connection: Connection,
    /// Whether the vat knows that the connection is closed.
    ended: bool,
    stream: Box<dyn Stream>,
    /// Counts the connection for its address.
    _held: Option<Arc<()>>,
    /// The start of a long message, onto whose end to read the rest. Not used while bytes are recorded.
    incomplete: Option<Vec<u8>>,
    out: Outgoing,
    written: usize,
    closing: bool,
    /// While bytes cannot be written or flushed: when to give up.
    late: Option<Pin<Box<Sleep>>>,
}

impl Future for Pump {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut read = READ.take();
        read.resize(CHUNK, 0);
        let mut result = self.poll_with(context, &mut read);
        READ.set(read);
        // A netlayer may respond to what was read by itself, like WebSocket to pings.
        if result.is_pending()
            && let Err(error) = self.check_progress(context)
        {
            result = Poll::Ready(Err(error));
        }
        let reason = match ready!(result) {
            Ok(()) => "closed by the peer".to_owned(),
            Err(error) => error.to_string(),
        };
        self.ended = true;
        self.shared.input(|vat, _| {
            vat.closed(self.connection, &reason);
            ((), Some(Input::Closed(self.connection)))
        });
        Poll::Ready(())
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        // Not recorded: the recorder may have panicked, and must not do so again now.
        if !self.ended {
            self.shared.vat(|vat| vat.closed(self.connection, STOPPED));
        }
        self.shared.forget(self.connection);
    }
}

impl Pump {
    fn new(
        shared: Arc<Shared>,
        connection: Connection,
        stream: Box<dyn Stream>,
        held: Option<Arc<()>>,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            shared,
            settings,
            connection,
            ended: false,
            stream,
            _held: held,
            incomplete: None,
            out: Outgoing::default(),
            written: 0,
            closing: false,
            late: None,
        }
    }

    fn poll_with(&mut self, context: &mut Context<'_>, read: &mut [u8]) -> Poll<io::Result<()>> {
        loop {
            // Ready to write the consequences of what was read.
            if self.poll_write(context)?.is_ready() {
                return Poll::Ready(Ok(()));
            }
            self.check_progress(context)?;
            if self.closing || self.shared.is_full(self.connection) {
                return Poll::Pending;
            }
            let connection = self.connection;
            if let Some(message) = &mut self.incomplete {
                let reading = pin!(self.stream.read_buf(message));
                let Poll::Ready(length) = reading.poll(context)? else {
                    return Poll::Pending;
                };
                if length == 0 {
                    return Poll::Ready(Ok(()));
                }
                let message = self.incomplete.take().unwrap_or_default();
                self.incomplete = self.shared.input(|vat, now| {
                    vat.received_in(connection, message, now);
                    (vat.take_incomplete(connection), None)
                });
                continue;
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
            let records = self.shared.records;
            self.incomplete = self.shared.input(|vat, now| {
                vat.received(connection, bytes, now);
                let incomplete = (!records).then(|| vat.take_incomplete(connection));
                (
                    incomplete.flatten(),
                    Some(Input::Received(connection, bytes)),
                )
            });
        }
    }

    /// Flushes, and fails if bytes could not be written or flushed for too long.
    fn check_progress(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let time = if self.closing {
            self.settings.close_time
        } else if self.out.is_empty() && Pin::new(&mut self.stream).poll_flush(context)?.is_ready()
        {
            self.late = None;
            return Ok(());
        } else {
            self.settings.message_time
        };
        let late = self
            .late
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        match late.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the peer does not read",
            )),
            Poll::Pending => Ok(()),
        }
    }

    /// Writes what there is. Ready when the connection is to be closed and everything was written.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let before = self.closing;
            self.closing = self
                .shared
                .poll_bytes(self.connection, &mut self.out, context.waker());
            if self.closing != before {
                self.late = None;
            }
            if self.out.is_empty() {
                if !self.closing {
                    return Poll::Pending;
                }
                return Pin::new(&mut self.stream).poll_shutdown(context);
            }
            while self.written < self.out.len() {
                match write(&mut *self.stream, context, &self.out, self.written)? {
                    Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(written) => {
                        self.written += written;
                        if !self.closing {
                            self.late = None;
                        }
                    }
                    Poll::Pending => return Poll::Pending,
                }
            }
            self.out.clear();
            self.written = 0;
        }
    }
}

/// Writes some of the bytes after the first `written`.
fn write(
    stream: &mut dyn Stream,
    context: &mut Context<'_>,
    out: &Outgoing,
    written: usize,
) -> Poll<io::Result<usize>> {
    let mut slices = [IoSlice::new(&[]); PIECES];
    let mut count = 0;
    for (slice, piece) in slices.iter_mut().zip(out.pieces(written)) {
        *slice = IoSlice::new(piece);
        count += 1;
    }
    match &slices[..count] {
        [bytes] => Pin::new(stream).poll_write(context, bytes),
        slices => Pin::new(stream).poll_write_vectored(context, slices),
    }
}
