//! The floor of calls over TCP: messages of 64 bytes on blocking sockets, without a protocol.

use std::cell::RefCell;
use std::io::{Read as _, Result, Write as _};
use std::net::{TcpListener, TcpStream};

use arena_kit::{Bytes, Reader, op, run};
use arena_kit_captp::{LENGTH, many, one};

/// A message: the text, and zeros in place of a header.
const MESSAGE: usize = 64;

/// Bytes at once of a long message, which fit into the buffers of a socket.
const CHUNK: usize = 64 << 10;

/// Both ends of a connection.
struct Connection {
    client: TcpStream,
    server: TcpStream,
    /// Messages at one end.
    buffer: Vec<u8>,
}

fn listen() -> Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0")
}

fn connect(listener: &TcpListener) -> Result<(TcpStream, TcpStream)> {
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    Ok((client, server))
}

thread_local! {
    static LISTENER: TcpListener = listen().expect("no port");
    static SAME: RefCell<Connection> = RefCell::new({
        let (client, server) = LISTENER.with(connect).expect("no connection");
        Connection { client, server, buffer: Vec::new() }
    });
    static OTHER: RefCell<TcpStream> = RefCell::new({
        let (client, server) = LISTENER.with(connect).expect("no connection");
        std::thread::spawn(move || serve(server));
        client
    });
}

/// Returns each message until the client is gone.
fn serve(mut server: TcpStream) -> Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        server.read_exact(&mut message)?;
        server.write_all(&message)?;
    }
}

fn message(text: &str) -> [u8; MESSAGE] {
    let mut message = [0; MESSAGE];
    message[..LENGTH].copy_from_slice(text.as_bytes());
    message
}

fn result(message: &[u8]) -> Option<String> {
    Some(std::str::from_utf8(&message[..LENGTH]).ok()?.to_owned())
}

impl Connection {
    /// Sends the messages to the server and back.
    fn exchange(&mut self) -> Result<()> {
        for chunk in self.buffer.chunks_mut(CHUNK) {
            self.client.write_all(chunk)?;
            self.server.read_exact(chunk)?;
        }
        for chunk in self.buffer.chunks_mut(CHUNK) {
            self.server.write_all(chunk)?;
            self.client.read_exact(chunk)?;
        }
        Ok(())
    }
}

fn echo(text: &str) -> Option<String> {
    SAME.with_borrow_mut(|connection| {
        connection.buffer.clear();
        connection.buffer.extend(message(text));
        connection.exchange().ok()?;
        result(&connection.buffer)
    })
}

fn echo_other(text: &str) -> Option<String> {
    OTHER.with_borrow_mut(|client| {
        let mut message = message(text);
        client.write_all(&message).ok()?;
        client.read_exact(&mut message).ok()?;
        result(&message)
    })
}

/// All messages at once.
fn echo_many(texts: &[String]) -> Option<Vec<String>> {
    SAME.with_borrow_mut(|connection| {
        connection.buffer.clear();
        for text in texts {
            connection.buffer.extend(message(text));
        }
        connection.exchange().ok()?;
        let messages = connection.buffer.chunks(MESSAGE);
        messages.map(result).collect()
    })
}

fn setup(text: &str) -> Option<String> {
    let (client, server) = LISTENER.with(connect).ok()?;
    let mut connection = Connection {
        client,
        server,
        buffer: message(text).to_vec(),
    };
    connection.exchange().ok()?;
    result(&connection.buffer)
}

fn blob(bytes: &Bytes) -> Option<Vec<u8>> {
    SAME.with_borrow_mut(|connection| {
        connection.buffer.clear();
        connection.buffer.extend_from_slice(bytes);
        connection.exchange().ok()?;
        Some(connection.buffer.clone())
    })
}

fn main() {
    // Connect before the first batch.
    SAME.with_borrow(|_| ());
    OTHER.with_borrow(|_| ());
    run(
        "tcp-floor",
        env!("CARGO_PKG_VERSION"),
        vec![
            one("captp_echo", echo),
            one("captp_echo_2t", echo_other),
            many("captp_echo_300", echo_many),
            one("captp_setup", setup),
            op("captp_blob", Reader::whole).raw().call(blob),
        ],
    );
}
