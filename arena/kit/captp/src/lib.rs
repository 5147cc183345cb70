//! What Rust contenders share in the family `captp`: texts, their digest, and a client with its server.

use std::net::SocketAddr;
use std::thread;

use arena_kit::{Op, Output, Reader, Sum, op, set_digits, words};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::oneshot::channel;

pub use tokio::sync::oneshot::Sender;

/// Length of a text in bytes.
pub const LENGTH: usize = 32;

/// An operation on one text.
pub fn one<O: Output + 'static>(
    names: &'static str,
    call: impl Fn(&str) -> O + Copy + 'static,
) -> Op {
    op(names, text)
        .change("digits@0", |text, word| set_digits(text, 0, word))
        .call(move |text: &String| call(text))
}

/// An operation on the texts of an item.
pub fn many<O: Output + 'static>(
    names: &'static str,
    call: impl Fn(&[String]) -> O + Copy + 'static,
) -> Op {
    op(names, |reader| reader.until_empty(text))
        .change("digits@0", |texts, word| {
            for (text, word) in texts.iter_mut().zip(words(word)) {
                set_digits(text, 0, word);
            }
        })
        .call(move |texts: &Vec<String>| call(texts))
}

fn text(reader: &mut Reader) -> Option<String> {
    let bytes = reader.take(LENGTH)?;
    Some(std::str::from_utf8(bytes).ok()?.to_owned())
}

/// The results of several calls, in the order of the calls.
pub struct Texts(pub Vec<String>);

impl Output for Texts {
    fn add(&self, sum: &mut Sum) {
        for text in &self.0 {
            text.add(sum);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.0.iter().all(|text| text.write(out))
    }
}

/// The digest of no text.
pub const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The digest after another text: FNV-1a of 64-bit words.
pub fn digest(digest: u64, text: &str) -> u64 {
    let (words, _) = text.as_bytes().as_chunks();
    words.iter().fold(digest, |digest, word| {
        (digest ^ u64::from_le_bytes(*word)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Where a server runs.
#[derive(Clone, Copy)]
pub enum Server {
    /// In the thread and the runtime of its client.
    SameThread,
    /// In another thread with a runtime for it alone.
    OtherThread,
}

/// A client that is connected with its server, and the runtime in which it makes calls.
pub struct Client<C> {
    runtime: LocalRuntime,
    client: C,
}

impl<C> Client<C> {
    /// Starts a server and connects a client with it. `serve` sends the address once it listens, and then serves.
    pub fn start<A: Send + 'static, S: Future<Output = ()> + 'static>(
        server: Server,
        serve: impl FnOnce(Sender<A>) -> S + Send + 'static,
        connect: impl AsyncFnOnce(A) -> C,
    ) -> Self {
        let runtime = runtime();
        let (ready, address) = channel();
        match server {
            Server::SameThread => drop(runtime.spawn_local(serve(ready))),
            Server::OtherThread => {
                drop(thread::spawn(move || {
                    crate::runtime().block_on(serve(ready))
                }));
            }
        }
        let client = runtime.block_on(async {
            let address = address.await.expect("the server has ended");
            connect(address).await
        });
        Self { runtime, client }
    }

    /// Makes calls.
    pub fn run<R>(&self, calls: impl AsyncFnOnce(&C) -> R) -> R {
        self.runtime.block_on(calls(&self.client))
    }
}

fn runtime() -> LocalRuntime {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().build_local(LocalOptions::default());
    runtime.expect("no runtime")
}

/// A listener on the loopback interface, and its address.
pub async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("no port");
    let address = listener.local_addr().expect("no address");
    (listener, address)
}
