//! Measures single calls over TCP, one after the other: the smallest, the median and the 99th percentile, in
//! microseconds. Next to them, the exchange of 64 bytes without a protocol, and calls while another peer of the server
//! drives a limit: `cargo run --release -p lydite-ocapn-net --example latency [CALLS]`.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lydite_ocapn::captp::Locator;
use lydite_ocapn::session::Limits;
use lydite_ocapn_net::{Call, Node, Reference, Tcp, args};
use tokio::runtime::{Builder, Runtime};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A text of 32 bytes, like the arena's.
const TEXT: &str = "an argument of thirty-two bytes.";
/// Calls before the measurement.
const WARM_UP: usize = 1_000;

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

async fn node(name: &str) -> Result<Node> {
    let tcp = Tcp::bind("127.0.0.1:0", name).await?;
    Ok(Node::builder().netlayer(tcp).start()?)
}

/// Prints the distribution of durations.
fn print(name: &str, mut durations: Vec<Duration>) {
    durations.sort();
    let at = |percent: usize| durations[durations.len() * percent / 100].as_secs_f64() * 1e6;
    println!("{name:32} {:9.1} {:9.1} {:9.1}", at(0), at(50), at(99));
}

/// Exchanges messages of 64 bytes on blocking sockets, between two threads.
fn exchanges(count: usize) -> Result<Vec<Duration>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    thread::spawn(move || {
        let mut message = [0; 64];
        // Until the client is gone.
        while server.read_exact(&mut message).is_ok() && server.write_all(&message).is_ok() {}
    });
    let mut message = [0; 64];
    let exchanges = (0..WARM_UP + count).map(|_| {
        let start = Instant::now();
        client.write_all(&message)?;
        client.read_exact(&mut message)?;
        Ok(start.elapsed())
    });
    Ok(exchanges.skip(WARM_UP).collect::<io::Result<_>>()?)
}

/// Serves an object that returns its argument, and one whose results wait forever, and sends their locators.
fn serve(locators: &mpsc::Sender<[Locator; 2]>) -> Result<()> {
    runtime()?.block_on(async {
        let server = node("server").await?;
        let (never, _resolver) = server.promise();
        let echo = server.function(|arguments| arguments.item(0));
        let wait = server.object(move |call: Call| call.settle(Ok(never.clone().into())));
        let publish = |swiss: &[u8], object: Reference| {
            server.publish(swiss, object);
            server.locator(swiss).ok_or("no locator")
        };
        locators.send([publish(b"echo", echo)?, publish(b"wait", wait)?])?;
        std::future::pending().await
    })
}

/// Calls the object one call at a time.
fn calls(locator: &Locator, count: usize) -> Result<Vec<Duration>> {
    runtime()?.block_on(async {
        let client = node("client").await?;
        let echo = client.enliven(locator).await?.as_reference();
        let echo = echo.ok_or("expected an object")?;
        let mut durations = Vec::with_capacity(count);
        for index in 0..WARM_UP + count {
            let start = Instant::now();
            echo.call(args![TEXT]).await?;
            if index >= WARM_UP {
                durations.push(start.elapsed());
            }
        }
        Ok(durations)
    })
}

/// Lets as many results wait as the server allows, and asks for one more, again and again. Returns how often it was
/// refused.
fn attack(locator: &Locator, stop: &AtomicBool) -> Result<usize> {
    runtime()?.block_on(async {
        let attacker = node("attacker").await?;
        let wait = attacker.enliven(locator).await?.as_reference();
        let wait = wait.ok_or("expected an object")?;
        let listeners = 0..Limits::default().listeners;
        let _waiting: Vec<_> = listeners.map(|_| wait.call(args![])).collect();
        let mut refused = 0;
        while !stop.load(Relaxed) {
            refused += usize::from(wait.call(args![]).await.is_err());
        }
        Ok(refused)
    })
}

fn main() -> Result<()> {
    let count = std::env::args()
        .nth(1)
        .map_or(Ok(20_000), |text| text.parse())?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || serve(&sender));
    let [echo, wait] = receiver.recv()?;

    println!(
        "{:32} {:>9} {:>9} {:>9}",
        "microseconds", "smallest", "median", "99 %"
    );
    print("64 bytes and back, TCP", exchanges(count)?);
    print("call", calls(&echo, count)?);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let attacker = thread::spawn(move || attack(&wait, &stopped));
    // Until the limit is reached.
    thread::sleep(Duration::from_millis(200));
    print("call next to a hostile peer", calls(&echo, count)?);
    stop.store(true, Relaxed);
    let refused = attacker.join().map_err(|_| "the hostile peer panicked")??;
    println!("{refused} calls of the hostile peer were refused");
    Ok(())
}
