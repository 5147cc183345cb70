//! capnp-rpc as a contender.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use arena_kit::{locked_version, run};
use arena_kit_captp::{
    Counted, Counter, Peer, REFERENCES, REFERENCES_AT_ONCE, Rounds, START, Sender, digest, listen,
    operations,
};
use capnp::Error;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, new_client, twoparty::VatNetwork};
use futures_util::AsyncReadExt as _;
use futures_util::io::{BufReader, BufWriter};
use tokio::net::TcpStream;
use tokio_util::compat::TokioAsyncReadCompatExt as _;

capnp::generated_code!(mod objects_capnp);
use objects_capnp::{counted, link, objects};

struct Objects {
    log: Cell<u64>,
    rounds: Rounds,
    counter: Arc<Counter>,
}

impl objects::Server for Objects {
    async fn echo(
        self: Rc<Self>,
        params: objects::EchoParams,
        mut results: objects::EchoResults,
    ) -> Result<(), Error> {
        results.get().set_text(params.get()?.get_text()?);
        Ok(())
    }

    async fn log(
        self: Rc<Self>,
        params: objects::LogParams,
        _: objects::LogResults,
    ) -> Result<(), Error> {
        let text = params.get()?.get_text()?.to_str()?;
        self.log.set(digest(self.log.get(), text));
        Ok(())
    }

    async fn digest(
        self: Rc<Self>,
        _: objects::DigestParams,
        mut results: objects::DigestResults,
    ) -> Result<(), Error> {
        results.get().set_digest(self.log.replace(START));
        Ok(())
    }

    async fn link(
        self: Rc<Self>,
        _: objects::LinkParams,
        mut results: objects::LinkResults,
    ) -> Result<(), Error> {
        results.get().set_link(new_client(Link(START)));
        Ok(())
    }

    async fn blob(
        self: Rc<Self>,
        params: objects::BlobParams,
        mut results: objects::BlobResults,
    ) -> Result<(), Error> {
        results.get().set_bytes(params.get()?.get_bytes()?);
        Ok(())
    }

    async fn wait(
        self: Rc<Self>,
        params: objects::WaitParams,
        mut results: objects::WaitResults,
    ) -> Result<(), Error> {
        let text = self.rounds.wait(params.get()?.get_round()).await;
        results.get().set_text(text.unwrap_or_default());
        Ok(())
    }

    async fn settle(
        self: Rc<Self>,
        params: objects::SettleParams,
        _: objects::SettleResults,
    ) -> Result<(), Error> {
        let params = params.get()?;
        let text = params.get_text()?.to_string()?;
        self.rounds.settle(params.get_round(), text);
        Ok(())
    }

    async fn create(
        self: Rc<Self>,
        params: objects::CreateParams,
        mut results: objects::CreateResults,
    ) -> Result<(), Error> {
        let params = params.get()?;
        let text = params.get_text()?.to_str()?;
        let mut objects = results.get().init_objects(params.get_count());
        for index in 0..params.get_count() {
            let number = params.get_first() + u64::from(index);
            let object: counted::Client = new_client(Object(self.counter.count(text, number)));
            objects.set(index, object.client.hook);
        }
        Ok(())
    }

    async fn dropped(
        self: Rc<Self>,
        _: objects::DroppedParams,
        mut results: objects::DroppedResults,
    ) -> Result<(), Error> {
        results.get().set_sum(self.counter.dropped().await);
        Ok(())
    }
}

struct Object(Counted);

impl counted::Server for Object {
    async fn word(
        self: Rc<Self>,
        _: counted::WordParams,
        mut results: counted::WordResults,
    ) -> Result<(), Error> {
        results.get().set_word(self.0.word());
        Ok(())
    }
}

/// An object that returns a new one, for the digest after a text.
struct Link(u64);

impl link::Server for Link {
    async fn next(
        self: Rc<Self>,
        params: link::NextParams,
        mut results: link::NextResults,
    ) -> Result<(), Error> {
        let text = params.get()?.get_text()?.to_str()?;
        results
            .get()
            .set_link(new_client(Link(digest(self.0, text))));
        Ok(())
    }

    async fn digest(
        self: Rc<Self>,
        _: link::DigestParams,
        mut results: link::DigestResults,
    ) -> Result<(), Error> {
        results.get().set_digest(self.0);
        Ok(())
    }
}

/// The server's objects, as the client refers to them.
struct References {
    objects: objects::Client,
    link: link::Client,
}

fn network(stream: TcpStream, side: Side) -> Box<VatNetwork<impl futures_util::AsyncRead + Unpin>> {
    stream.set_nodelay(true).expect("no option");
    let (reader, writer) = stream.compat().split();
    let (reader, writer) = (BufReader::new(reader), BufWriter::new(writer));
    Box::new(VatNetwork::new(reader, writer, side, Default::default()))
}

async fn echo(objects: &objects::Client, text: &str) -> Option<String> {
    let mut request = objects.echo_request();
    request.get().set_text(text);
    let response = request.send().promise.await.ok()?;
    response.get().ok()?.get_text().ok()?.to_string().ok()
}

impl Peer for References {
    type Address = SocketAddr;
    const ONEWAY: bool = true;
    const REFERENCES: bool = true;

    async fn serve(ready: Sender<SocketAddr>) {
        let (listener, address) = listen().await;
        assert!(ready.send(address).is_ok());
        let objects: objects::Client = new_client(Objects {
            log: Cell::new(START),
            rounds: Rounds::default(),
            counter: Arc::default(),
        });
        loop {
            let (stream, _) = listener.accept().await.expect("no connection");
            let bootstrap = objects.client.clone();
            // It ends when the client disconnects.
            tokio::task::spawn_local(RpcSystem::new(
                network(stream, Side::Server),
                Some(bootstrap),
            ));
        }
    }

    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("no connection");
        let mut system = RpcSystem::new(network(stream, Side::Client), None);
        let objects: objects::Client = system.bootstrap(Side::Server);
        tokio::task::spawn_local(system);
        let response = objects
            .link_request()
            .send()
            .promise
            .await
            .expect("no link");
        let link = response.get().and_then(|results| results.get_link());
        Self {
            objects,
            link: link.expect("no link"),
        }
    }

    async fn setup(address: SocketAddr, text: &str) -> Option<String> {
        let stream = TcpStream::connect(address).await.ok()?;
        let mut system = RpcSystem::new(network(stream, Side::Client), None);
        let objects: objects::Client = system.bootstrap(Side::Server);
        let disconnector = system.get_disconnector();
        tokio::task::spawn_local(system);
        let result = echo(&objects, text).await;
        disconnector.await.ok()?;
        result
    }

    async fn echo(&self, text: &str) -> Option<String> {
        echo(&self.objects, text).await
    }

    async fn echo_many(&self, texts: &[String]) -> Option<Vec<String>> {
        let calls = texts.iter().map(|text| {
            let mut request = self.objects.echo_request();
            request.get().set_text(text);
            request.send().promise
        });
        let mut results = Vec::with_capacity(texts.len());
        for call in calls.collect::<Vec<_>>() {
            let response = call.await.ok()?;
            results.push(response.get().ok()?.get_text().ok()?.to_string().ok()?);
        }
        Some(results)
    }

    /// A call is cancelled when its promise is dropped, so all are kept until the last one has returned.
    async fn oneway(&self, texts: &[String]) -> Option<u64> {
        let calls = texts.iter().map(|text| {
            let mut request = self.objects.log_request();
            request.get().set_text(text);
            request.send()
        });
        let calls: Vec<_> = calls.collect();
        let response = self.objects.digest_request().send().promise.await.ok()?;
        drop(calls);
        Some(response.get().ok()?.get_digest())
    }

    async fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut request = self.objects.blob_request();
        request.get().set_bytes(bytes);
        let response = request.send().promise.await.ok()?;
        Some(response.get().ok()?.get_bytes().ok()?.to_vec())
    }

    async fn wait(&self, round: u64) -> Option<String> {
        let mut request = self.objects.wait_request();
        request.get().set_round(round);
        let response = request.send().promise.await.ok()?;
        response.get().ok()?.get_text().ok()?.to_string().ok()
    }

    async fn settle(&self, round: u64, text: &str) -> Option<()> {
        let mut request = self.objects.settle_request();
        request.get().set_round(round);
        request.get().set_text(text);
        request.send().promise.await.ok().map(drop)
    }

    async fn storm(&self, text: &str) -> Option<u64> {
        let firsts = (0..REFERENCES).step_by(REFERENCES_AT_ONCE as usize);
        let calls = firsts.map(|first| {
            let mut request = self.objects.create_request();
            request.get().set_text(text);
            request.get().set_first(first);
            request.get().set_count(REFERENCES_AT_ONCE as u32);
            request.send().promise
        });
        let mut objects: Vec<counted::Client> = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            let response = call.await.ok()?;
            for object in response.get().ok()?.get_objects().ok()? {
                objects.push(object.ok()?);
            }
        }
        drop(objects);
        let call = self.objects.dropped_request().send().promise;
        Some(call.await.ok()?.get().ok()?.get_sum())
    }

    async fn chain(&self, texts: &[String]) -> Option<u64> {
        let mut link = self.link.clone();
        for text in texts {
            let mut request = link.next_request();
            request.get().set_text(text);
            link = request.send().pipeline.get_link();
        }
        let response = link.digest_request().send().promise.await.ok()?;
        Some(response.get().ok()?.get_digest())
    }
}

fn main() {
    run(
        "capnp-rpc",
        locked_version(include_str!("../../Cargo.lock"), "capnp-rpc"),
        operations::<References>(),
    );
}
