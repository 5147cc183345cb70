//! A tool server with capabilities: an agent gets one tool, lends a weaker one to another node, and revokes it. Run it
//! with `cargo run -p lydite-ocapn-net --example tool_server`.
mod notes;

use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering::Relaxed};

use lydite_ocapn_net::{Error, Network, Node, Promise, Ref, object};
use notes::{NotesApi, NotesCalls as _, Pad, ReadOnly, SECOND};

/// A helper on a third node, which has no access to anything but what it is given.
#[object]
trait Helper {
    async fn try_all(&self, notes: Ref<NotesApi>) -> Vec<String>;
}

struct Curious;
impl Helper for Curious {
    async fn try_all(&self, notes: Ref<NotesApi>) -> Vec<String> {
        let refused = |error: Error| format!("refused: {error}");
        let calls = (notes.write("mine now"), notes.read(), notes.read());
        let results = [calls.0.await, calls.1.await, calls.2.await];
        results.map(|result| result.unwrap_or_else(refused)).into()
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Returns what the helper got before and after the agent revoked its tool.
pub async fn demonstrate() -> Result<Vec<String>, Failure> {
    let network = Network::default();
    let start = |name| Node::builder().netlayer(network.join(name)?).start();
    let (server, agent, helper) = (start("server")?, start("agent")?, start("helper")?);
    server.publish(b"notes", NotesApi::object(&server, Pad::default()));
    helper.publish(b"helper", HelperApi::object(&helper, Curious));

    // The agent knows the number of one tool. Whoever does not know it cannot find the tool.
    let tool = "ocapn://server.memory/s/notes".parse()?;
    let notes: Promise<Ref<NotesApi>> = agent.enliven(&tool).cast();
    notes.write("buy milk").await?;
    let (notes, rate) = (notes.await?, Arc::new(AtomicUsize::new(0)));
    let weaker = NotesApi::object(&agent, ReadOnly(notes, rate.clone(), Vec::new().into()));
    let helper = agent.enliven(&"ocapn://helper.memory/s/helper".parse()?);
    let helper: Promise<Ref<HelperApi>> = helper.cast();
    let mut lines = Vec::new();
    // One read a second, then two, until the agent revokes the tool.
    for reads in [1, 2, 0] {
        rate.store(reads, Relaxed);
        lines.extend(helper.try_all(&weaker).await?);
        tokio::time::sleep(SECOND).await;
    }
    Ok(lines)
}

#[allow(dead_code, clippy::print_stdout)] // A test includes this file.
fn main() -> Result<(), Failure> {
    let lines = tokio::runtime::Runtime::new()?.block_on(demonstrate())?;
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}
