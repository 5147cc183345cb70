//! A tool server with capabilities: an agent gets one tool, lends a weaker one to another node, and revokes it.
//!
//! `cargo run -p lydite-ocapn-net --example tool_server`
use std::sync::atomic::{AtomicU64, Ordering};

use lydite_ocapn_net::{Error, Network, Node, Promise, Ref, object};

#[object]
trait Notes {
    async fn read(&self) -> Result<String, Error>;
    async fn write(&self, text: String) -> Result<String, Error>;
}

/// The tool itself: text that can be read and replaced.
struct Pad(std::sync::Mutex<String>);

impl Pad {
    fn text(&self) -> Result<std::sync::MutexGuard<'_, String>, Error> {
        self.0.lock().map_err(|_| Error::new("the notes are lost"))
    }
}

impl Notes for Pad {
    async fn read(&self) -> Result<String, Error> {
        Ok(self.text()?.clone())
    }

    async fn write(&self, text: String) -> Result<String, Error> {
        self.text()?.clone_from(&text);
        Ok(text)
    }
}

/// A weaker tool in front of another: read-only, for a number of reads. Zero reads left revokes it.
struct ReadOnly {
    notes: Ref<NotesApi>,
    left: std::sync::Arc<AtomicU64>,
}

impl Notes for ReadOnly {
    async fn read(&self) -> Result<String, Error> {
        let one_less = |left: u64| left.checked_sub(1);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        match self.left.fetch_update(set, fetch, one_less) {
            Ok(_) => self.notes.read().await,
            Err(_) => Err(Error::new("no reads left")),
        }
    }

    async fn write(&self, _: String) -> Result<String, Error> {
        Err(Error::new("these notes are read-only"))
    }
}

/// A helper on a third node, which has no access to anything but what it is given.
#[object]
trait Helper {
    async fn try_all(&self, notes: Ref<NotesApi>) -> Vec<String>;
}

struct Curious;

impl Helper for Curious {
    async fn try_all(&self, notes: Ref<NotesApi>) -> Vec<String> {
        let results = [notes.write("mine now"), notes.read(), notes.read()];
        let mut lines = Vec::new();
        for result in results {
            lines.push(
                result
                    .await
                    .unwrap_or_else(|error| format!("refused: {error}")),
            );
        }
        lines
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Returns what the helper got before and after the agent revoked its tool.
pub async fn demonstrate() -> Result<Vec<String>, Failure> {
    let network = Network::default();
    let start = |name| Node::builder().netlayer(network.join(name)?).start();
    let (server, agent, helper) = (start("server")?, start("agent")?, start("helper")?);
    server.publish(b"notes", NotesApi::object(&server, Pad(Default::default())));
    helper.publish(b"helper", HelperApi::object(&helper, Curious));

    // The agent knows the number of one tool. Whoever does not know it cannot find the tool.
    let notes: Promise<Ref<NotesApi>> = agent
        .enliven(&"ocapn://server.memory/s/notes".parse()?)
        .cast();
    notes.write("buy milk").await?;

    let left = std::sync::Arc::new(AtomicU64::new(1));
    let weaker = ReadOnly {
        notes: notes.await?,
        left: left.clone(),
    };
    let weaker = NotesApi::object(&agent, weaker);
    let helper: Promise<Ref<HelperApi>> = agent
        .enliven(&"ocapn://helper.memory/s/helper".parse()?)
        .cast();
    let mut lines = helper.try_all(&weaker).await?;

    // More reads, until the agent revokes them.
    left.store(2, Ordering::Relaxed);
    lines.extend(helper.try_all(&weaker).await?);
    left.store(0, Ordering::Relaxed);
    lines.extend(helper.try_all(&weaker).await?);
    Ok(lines)
}

#[allow(dead_code, clippy::print_stdout)] // A test includes this file.
fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    for line in runtime.block_on(demonstrate())? {
        println!("{line}");
    }
    Ok(())
}
