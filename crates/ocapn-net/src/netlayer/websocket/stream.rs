//! A WebSocket as a stream of messages with length framing.
use std::{
    future::Future as _,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::{Sink as _, Stream as _};
use lydite_ocapn::captp::{self, Frames, Framing, Syrup, put_frame};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use crate::netlayer::Stream;

pub type Socket = WebSocketStream<Counted>;

/// Bytes that a connection reads at once.
pub const READ_BUFFER: usize = 16 << 10;
/// Bytes that a connection writes at once.
pub const WRITE_BUFFER: usize = 128 << 10;

/// Length of the header of a control frame. Listeners send no mask, which is 4 bytes of it.
const CONTROL_HEADER: u64 = 2 + 4;

/// The data in what was received, if it is a message.
pub fn data(item: Result<Message, Error>) -> io::Result<Option<Bytes>> {
    match item {
        Ok(Message::Binary(message)) => Ok(Some(message)),
        Ok(Message::Text(_)) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "expected a binary frame, found text",
        )),
        Ok(_) => Ok(None),
        Err(Error::Io(error)) => Err(error),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

/// Counts the bytes that were received, without those of TLS.
pub struct Counted {
    stream: Box<dyn Stream>,
    received: u64,
}

impl Counted {
    pub fn new(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            received: 0,
        }
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.received += (buffer.filled().len() - before) as u64;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Each frame of the WebSocket is one message of the stream, in both directions.
pub struct Messages {
    socket: Socket,
    /// A received message, and the number of its bytes that were read.
    incoming: Vec<u8>,
    read: usize,
    outgoing: Frames<Syrup>,
    /// Received bytes that belong to complete frames. At most [`READ_BUFFER`] bytes too many.
    complete: u64,
    message_time: Duration,
    /// Runs while a frame, or a message in several frames, is incomplete.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Messages {
    pub fn new(socket: Socket, message_time: Duration) -> Self {
        Self {
            complete: socket.get_ref().received,
            socket,
            incoming: Vec::new(),
            read: 0,
            outgoing: Frames::new(Framing::Length, usize::MAX),
            message_time,
            timer: None,
        }
    }

    /// Fails if a message has been incomplete for too long.
    fn check_progress(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.complete == self.socket.get_ref().received {
            self.timer = None;
            return Ok(());
        }
        let sleep = || Box::pin(tokio::time::sleep(self.message_time));
        match self.timer.get_or_insert_with(sleep).as_mut().poll(context) {
            Poll::Ready(()) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "message not complete in time",
            )),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Messages {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.read == this.incoming.len() {
            this.incoming.clear();
            this.incoming.shrink_to(READ_BUFFER);
            this.read = 0;
            let Poll::Ready(item) = Pin::new(&mut this.socket).poll_next(context) else {
                this.check_progress(context)?;
                return Poll::Pending;
            };
            let received = this.socket.get_ref().received;
            match item {
                None => return Poll::Ready(Ok(())),
                Some(Ok(Message::Ping(payload) | Message::Pong(payload))) => {
                    let complete = this.complete + CONTROL_HEADER + payload.len() as u64;
                    this.complete = complete.min(received);
                }
                Some(item) => {
                    if let Some(message) = data(item)? {
                        put_frame(Framing::Length, &message, &mut this.incoming);
                        this.complete = received;
                        this.timer = None;
                    }
                }
            }
        }
        let rest = &this.incoming[this.read..];
        let rest = rest.get(..buffer.remaining()).unwrap_or(rest);
        buffer.put_slice(rest);
        this.read += rest.len();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Messages {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        // The socket's buffer may be full of pongs. Once it is empty, it has room for these bytes, and for the start of
        // a message before them.
        ready!(Pin::new(&mut this.socket).poll_flush(context)).map_err(io::Error::other)?;
        let bytes = bytes.get(..WRITE_BUFFER).unwrap_or(bytes);
        let mut sent = Ok(());
        let framed = this.outgoing.feed(bytes, |message| {
            if sent.is_ok() {
                let message = Message::Binary(message.to_vec().into());
                sent = Pin::new(&mut this.socket).start_send(message);
            }
            Ok::<(), captp::Error>(())
        });
        sent.map_err(io::Error::other)?;
        framed.map_err(io::Error::other)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        flushed.map_err(io::Error::other)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.socket).poll_close(context);
        closed.map_err(io::Error::other)
    }
}
