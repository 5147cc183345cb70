//! What Rust contenders share in the family `captp`: its operations for a [`Peer`], texts, and their digest.

mod server;

use std::cell::Cell;
use std::net::SocketAddr;
use std::thread;

use arena_kit::{Bytes, Op, Output, Reader, op, set_digits, words};
use futures_util::future::{join, join_all};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::oneshot::channel;

pub use server::{Counted, Counter, Rounds};

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

/// The digest of no text.
pub const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The digest after another text: FNV-1a of 64-bit words.
pub fn digest(digest: u64, text: &str) -> u64 {
    let (words, _) = text.as_bytes().as_chunks();
    words.iter().fold(digest, |digest, word| {
        (digest ^ u64::from_le_bytes(*word)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Calls that wait for one promise, in `captp_fan_out`.
pub const LISTENERS: u64 = 1000;

/// References that a peer holds at a time, in `captp_gc_storm`.
pub const REFERENCES: u64 = 100_000;

/// References in one result, in `captp_gc_storm`.
pub const REFERENCES_AT_ONCE: u64 = 4000;

/// A client with calls over TCP to a server of the same library.
#[allow(async_fn_in_trait)] // All of them run in one thread.
pub trait Peer: Sized + 'static {
    /// The data that a client needs to connect.
    type Address: Clone + Send + 'static;
    /// Whether there are messages without a result.
    const ONEWAY: bool = false;
    /// Whether there are references.
    const REFERENCES: bool = false;

    /// Sends the address once the server listens, and then serves any number of clients.
    async fn serve(ready: Sender<Self::Address>);

    /// Connects with the server.
    async fn connect(address: Self::Address) -> Self;

    /// Connects with the server, makes a call that returns its text, and disconnects.
    async fn setup(address: Self::Address, text: &str) -> Option<String> {
        Self::connect(address).await.echo(text).await
    }

    /// A call that returns its text.
    async fn echo(&self, text: &str) -> Option<String>;

    /// The same for each text. All calls are sent before the first result is awaited.
    async fn echo_many(&self, texts: &[String]) -> Option<Vec<String>> {
        let results = join_all(texts.iter().map(|text| self.echo(text))).await;
        results.into_iter().collect()
    }

    /// A call that returns its bytes.
    async fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>>;

    /// Messages without a result, and a call for their digest.
    async fn oneway(&self, _: &[String]) -> Option<u64> {
        None
    }

    /// Calls on the result of the call before, and the digest.
    async fn chain(&self, texts: &[String]) -> Option<u64>;

    /// A call that returns the text of this round, once there is one. See [`Rounds`].
    async fn wait(&self, round: u64) -> Option<String>;

    /// A call that sets the text of this round.
    async fn settle(&self, round: u64, text: &str) -> Option<()>;

    /// Many calls that wait for the text of one, all sent before it, and the digest of their results.
    async fn fan_out(&self, round: u64, text: &str) -> Option<u64> {
        let waits = join_all((0..LISTENERS).map(|_| self.wait(round)));
        let (texts, settled) = join(waits, self.settle(round, text)).await;
        settled?;
        let mut texts = texts.into_iter();
        texts.try_fold(START, |state, text| Some(digest(state, &text?)))
    }

    /// Receives references to new objects, holds all of them at a time, and drops them. Returns the sum of the words of
    /// all objects once the server has dropped them. See [`Counter`].
    async fn storm(&self, _text: &str) -> Option<u64> {
        None
    }
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
            same.run(async |peer| peer.echo_many(texts).await)
        }),
        many("captp_chain", move |texts| {
            same.run(async |peer| peer.chain(texts).await.map(u64::to_le_bytes))
        }),
        one("captp_fan_out", move |text| {
            let round = same.rounds.replace(same.rounds.get() + 1);
            same.run(async |peer| peer.fan_out(round, text).await.map(u64::to_le_bytes))
        }),
        one("captp_setup", move |text| {
            let address = same.address.clone();
            same.run(async |_| P::setup(address, text).await)
        }),
        op("captp_blob", Reader::whole)
            .raw()
            .call(move |bytes: &Bytes| same.run(async |peer| peer.blob(bytes).await)),
    ];
    if P::ONEWAY {
        operations.push(many("captp_oneway", move |texts| {
            same.run(async |peer| peer.oneway(texts).await.map(u64::to_le_bytes))
        }));
    }
    if P::REFERENCES {
        operations.push(one("captp_gc_storm", move |text| {
            same.run(async |peer| peer.storm(text).await.map(u64::to_le_bytes))
        }));
    }
    operations
}

/// A peer and the runtime in which it makes calls.
struct Client<P: Peer> {
    runtime: LocalRuntime,
    peer: P,
    address: P::Address,
    /// Rounds of `captp_fan_out` before.
    rounds: Cell<u64>,
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
        let (peer, address) = runtime.block_on(async {
            let address = address.await.expect("the server has ended");
            (P::connect(address.clone()).await, address)
        });
        Box::leak(Box::new(Self {
            runtime,
            peer,
            address,
            rounds: Cell::new(0),
        }))
    }

    /// Makes calls.
    fn run<R>(&self, calls: impl AsyncFnOnce(&P) -> R) -> R {
        self.runtime.block_on(calls(&self.peer))
    }
}

/// A runtime for one thread.
pub fn runtime() -> LocalRuntime {
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
