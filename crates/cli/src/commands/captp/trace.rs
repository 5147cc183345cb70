//! `lydite captp trace`

use std::io::Cursor;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use lydite::ocapn::captp::{Frames, Framing, Syrup};
use lydite::ocapn::syrup::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, tcp};
use tokio_tungstenite::tungstenite::protocol::frame::{FrameHeader, coding::OpCode};

use super::net::run;
use crate::commands::syrup::to_json;
use crate::{Answer, output, output::Output};

/// Most bytes of a message that is printed.
const MESSAGE: usize = 16 << 20;
/// Most bytes of the request or response that opens a WebSocket.
const HEAD: usize = 64 << 10;

/// Forward connections unchanged and print the messages of both directions, over tcp-testing-only or WebSocket
#[derive(Args)]
pub struct Trace {
    /// Address to listen on
    #[arg(long)]
    listen: String,
    /// Address to forward to
    #[arg(long)]
    dial: String,
}

pub fn trace(arguments: &Trace, _: &Output) -> Result<Answer> {
    run(async {
        let listener = TcpListener::bind(&arguments.listen).await;
        let listener =
            listener.with_context(|| format!("cannot listen on {}", arguments.listen))?;
        eprintln!("listening on {}", listener.local_addr()?);
        for connection in 0.. {
            let (near, _) = listener.accept().await?;
            let far = match TcpStream::connect(&arguments.dial).await {
                Ok(far) => far,
                Err(error) => {
                    let address = &arguments.dial;
                    eprintln!("{connection} cannot connect to {address}: {error}");
                    continue;
                }
            };
            let (near_read, near_write) = near.into_split();
            let (far_read, far_write) = far.into_split();
            tokio::spawn(forward(connection, '>', near_read, far_write));
            tokio::spawn(forward(connection, '<', far_read, near_write));
        }
        bail!("too many connections")
    })
}

/// Copies bytes, and prints the messages in them as far as they can be read.
async fn forward(
    connection: u64,
    direction: char,
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
) {
    let mut messages: Option<Messages> = None;
    let mut bytes = vec![0; 64 << 10];
    let mut readable = true;
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let piece = &bytes[..length];
        if to.write_all(piece).await.is_err() {
            return;
        }
        if !readable {
            continue;
        }
        let messages = messages.get_or_insert_with(|| Messages::starting_with(piece[0]));
        let printed = messages.feed(piece, |message| {
            let text = match Value::decode(message) {
                Ok(value) => to_json(&value).to_string(),
                Err(error) => format!("{error}: {}", message.escape_ascii()),
            };
            // The reader of the trace may have gone; the connection goes on.
            let _: Result<()> = output::write(&format!("{connection} {direction} {text}\n"));
        });
        if let Err(error) = printed {
            eprintln!("{connection} {direction} not CapTP: {error}");
            readable = false;
        }
    }
}

/// Finds the messages in the bytes of one direction.
enum Messages {
    Stream(Box<Frames<Syrup>>),
    WebSocket(WebSocket),
}

impl Messages {
    /// A WebSocket starts with `GET` or `HTTP`, a framed message with its length.
    fn starting_with(first: u8) -> Self {
        match first {
            b'G' | b'H' => Self::WebSocket(WebSocket::default()),
            b'0'..=b'9' => Self::Stream(Box::new(Frames::new(Framing::Length, MESSAGE))),
            _ => Self::Stream(Box::new(Frames::new(Framing::None, MESSAGE))),
        }
    }

    fn feed(&mut self, piece: &[u8], mut each: impl FnMut(&[u8])) -> Result<()> {
        match self {
            Self::Stream(frames) => frames.feed(piece, |message| {
                each(message);
                Ok(())
            }),
            Self::WebSocket(frames) => frames.feed(piece, each),
        }
    }
}

/// Messages in the frames of a WebSocket.
#[derive(Default)]
struct WebSocket {
    /// Whether the head, which is HTTP, has ended.
    is_open: bool,
    /// Bytes of the head or of a frame that is not complete.
    unread: Vec<u8>,
    /// The frames so far of a message.
    message: Vec<u8>,
}

impl WebSocket {
    fn feed(&mut self, piece: &[u8], mut each: impl FnMut(&[u8])) -> Result<()> {
        const END: &[u8] = b"\r\n\r\n";
        self.unread.extend_from_slice(piece);
        if !self.is_open {
            let Some(end) = self.unread.windows(END.len()).position(|at| at == END) else {
                ensure!(self.unread.len() <= HEAD, "HTTP without an end");
                return Ok(());
            };
            self.unread.drain(..end + END.len());
            self.is_open = true;
        }
        let mut start = 0;
        loop {
            let mut rest = Cursor::new(&self.unread[start..]);
            let Some((header, length)) = FrameHeader::parse(&mut rest)? else {
                break;
            };
            let payload = start + rest.position() as usize;
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let fits = self.message.len().checked_add(length);
            ensure!(
                fits.is_some_and(|length| length <= MESSAGE),
                "a message above 16 MiB"
            );
            let Some(bytes) = self.unread.get(payload..payload + length) else {
                break;
            };
            start = payload + length;
            // Control frames may come between those of a message.
            if matches!(header.opcode, OpCode::Data(_)) {
                let mask = header.mask.unwrap_or_default().into_iter().cycle();
                self.message
                    .extend(bytes.iter().zip(mask).map(|(byte, mask)| byte ^ mask));
                if header.is_final {
                    each(&self.message);
                    self.message.clear();
                }
            }
        }
        self.unread.drain(..start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A masked message in two frames with a ping between them, fed in pieces of every length.
    #[test]
    fn frames_of_a_websocket() {
        let mask = [1, 2, 3, 4];
        let masked = |text: &[u8]| -> Vec<u8> {
            let mask = mask.iter().cycle();
            text.iter()
                .zip(mask)
                .map(|(byte, mask)| byte ^ mask)
                .collect()
        };
        let frame = |first: u8, text: &[u8]| {
            [&[first, 0x80 | text.len() as u8][..], &mask, &masked(text)].concat()
        };
        let stream = [
            &b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..],
            &frame(0x02, b"3\"c"),
            &frame(0x89, b"ping"),
            &frame(0x80, b"at"),
            // A server does not mask.
            b"\x82\x011",
        ]
        .concat();
        for size in 1..=stream.len() {
            let mut messages = Messages::starting_with(stream[0]);
            let mut found = Vec::new();
            for piece in stream.chunks(size) {
                messages
                    .feed(piece, |message| found.push(message.to_vec()))
                    .unwrap();
            }
            assert_eq!(found, [&b"3\"cat"[..], b"1"], "{size}");
        }
    }

    #[test]
    fn long_messages_and_heads_are_refused() {
        let mut messages = Messages::starting_with(b'H');
        messages.feed(b"HTTP/1.1 101\r\n\r\n", |_| ()).unwrap();
        let long = [&[0x82, 127][..], &u64::MAX.to_be_bytes()].concat();
        let error = messages.feed(&long, |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "a message above 16 MiB");
        let mut messages = Messages::starting_with(b'G');
        messages.feed(&[b'G'; HEAD], |_| ()).unwrap();
        assert!(messages.feed(b"G", |_| ()).is_err());
    }
}
