//! What Rust contenders share in the family `captp`: its operations for a [`Peer`], texts, and their digest.

use std::net::SocketAddr;
use std::thread;

use arena_kit::{Op, Output, Reader, Sum, op, set_digits, words};
use futures_util::future::join_all;
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

/// A client with calls over TCP to a server of the same library.
#[allow(async_fn_in_trait)] // All of them run in one thread.
pub trait Peer: Sized + 'static {
    /// What the client needs to connect.
    type Address: Send + 'static;
    /// Whether there are messages without a result.
    const ONEWAY: bool = false;

    /// Sends the address once the server listens, and then serves.
    async fn serve(ready: Sender<Self::Address>);

    /// Connects with the server.
    async fn connect(address: Self::Address) -> Self;

    /// A call that returns its text.
    async fn echo(&self, text: &str) -> Option<String>;

    /// The same for each text. All calls are sent before the first result is awaited.
    async fn echo_many(&self, texts: &[String]) -> Option<Vec<String>> {
        let results = join_all(texts.iter().map(|text| self.echo(text))).await;
        results.into_iter().collect()
    }

    /// Messages without a result, and a call for their digest.
    async fn oneway(&self, _: &[String]) -> Option<u64> {
        None
    }

    /// Calls on the result of the call before, and the digest.
    async fn chain(&self, texts: &[String]) -> Option<u64>;
}

/// All operations that a peer offers, of a client with the server in its thread and of one with another thread's.
pub fn operations<P: Peer>() -> Vec<Op> {
    let same = Client::<P>::start(false);
    let other = Client::<P>::start(true);
    let mut operations = vec![
        one("captp_echo", move |text| {
            same.run(async |peer| peer.echo(text).await)
        }),
        one("captp_echo_2t", move |text| {
            other.run(async |peer| peer.echo(text).await)
        }),
        many("captp_echo_300", move |texts| {
            same.run(async |peer| peer.echo_many(texts).await.map(Texts))
        }),
        many("captp_chain_32", move |texts| {
            same.run(async |peer| peer.chain(texts).await.map(u64::to_le_bytes))
        }),
    ];
    if P::ONEWAY {
        operations.push(many("captp_oneway", move |texts| {
            same.run(async |peer| peer.oneway(texts).await.map(u64::to_le_bytes))
        }));
    }
    operations
}

/// A peer and the runtime in which it makes calls.
struct Client<P> {
    runtime: LocalRuntime,
    peer: P,
}

impl<P: Peer> Client<P> {
    /// Starts a server in this thread and its runtime, or in another thread with a runtime for it alone, and connects
    /// with it. The client stays until the process ends.
    fn start(other_thread: bool) -> &'static Self {
        let runtime = runtime();
        let (ready, address) = channel();
        if other_thread {
            drop(thread::spawn(move || {
                crate::runtime().block_on(P::serve(ready));
            }));
        } else {
            drop(runtime.spawn_local(P::serve(ready)));
        }
        let peer = runtime.block_on(async {
            let address = address.await.expect("the server has ended");
            P::connect(address).await
        });
        Box::leak(Box::new(Self { runtime, peer }))
    }

    /// Makes calls.
    fn run<R>(&self, calls: impl AsyncFnOnce(&P) -> R) -> R {
        self.runtime.block_on(calls(&self.peer))
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
