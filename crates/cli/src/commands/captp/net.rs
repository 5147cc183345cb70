//! `lydite captp serve`, `call` and `replay`

use std::{
    fs::{self, File},
    io::Write as _,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::{Args, ValueEnum};
use lydite::bytes::hex;
use lydite::ocapn::captp::{Dialect, Framing, Locator};
use lydite::ocapn::syrup::Value;
use lydite_ocapn_net::{Netlayer as _, Node, Passable, Recording, Tcp, WebSocket, suite};
use serde_json::json;

use super::inspect::FramingName;
use crate::commands::syrup::{from_json, to_json};
use crate::{Answer, output, output::Output};

/// Serve objects until stopped, over tcp-testing-only (for tests: it authenticates nobody) or WebSocket
#[derive(Args)]
pub struct Serve {
    /// The objects of the OCapN test suite
    #[arg(long, required = true)]
    suite: bool,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:22045")]
    listen: String,
    /// Name within tcp-testing-only (default: random)
    #[arg(long)]
    designator: Option<String>,
    /// Use WebSocket, with a random key as the designator
    #[arg(long, conflicts_with = "designator")]
    websocket: bool,
    #[command(flatten)]
    wire: Wire,
    /// Write what is received and sent to this file, for `replay`, with the seed of the keys
    #[arg(long)]
    record: Option<String>,
}

/// Call the object that a sturdyref names, over tcp-testing-only or WebSocket
#[derive(Args)]
pub struct Call {
    /// ocapn://designator.tcp-testing-only/s/swiss?host=…&port=… or ocapn://designator.websocket/s/swiss?url=…
    sturdyref: String,
    /// The method, and its arguments in JSON, as for `lydite syrup encode`; a first argument that is a word is a symbol
    #[arg(value_names = ["METHOD", "ARGUMENTS"])]
    arguments: Vec<String>,
    #[command(flatten)]
    wire: Wire,
}

/// Feed what `serve --suite --record` received to a new node, and check that it sends the same bytes
#[derive(Args)]
pub struct Replay {
    /// The recording
    file: String,
    /// Most bytes to feed at a time (default: as many as were received at a time)
    #[arg(long)]
    pieces: Option<usize>,
}

#[derive(Args)]
struct Wire {
    /// The dialect to write; all are read
    #[arg(long, value_enum, default_value = "endo")]
    dialect: DialectName,
    /// How to frame messages on TCP connections that this side opens; others follow the peer
    #[arg(long, value_enum, default_value = "none")]
    framing: FramingName,
}

#[derive(Clone, Copy, ValueEnum)]
enum DialectName {
    /// Endo 1.1.1, and the test suite since February 2026
    Endo,
    /// The test suite at commit 6c146dc
    Suite,
    /// The draft of 2026-07-16
    Draft,
}

impl Wire {
    async fn node(
        &self,
        listen: &str,
        websocket: bool,
        designator: Option<&str>,
        record: Option<&str>,
    ) -> Result<Node> {
        let mut random = [0; 32];
        getrandom::fill(&mut random)?;
        let failed = || format!("cannot listen on {listen}");
        let (builder, location, fixed) = if websocket {
            let netlayer = WebSocket::bind(listen, &random)
                .await
                .with_context(failed)?;
            let (location, fixed) = (netlayer.location(), netlayer.framing());
            (Node::builder().netlayer(netlayer), location, fixed)
        } else {
            let designator = designator.map_or_else(|| hex::encode(random), str::to_owned);
            let netlayer = Tcp::bind(listen, &designator).await.with_context(failed)?;
            let location = netlayer.location();
            // The transport is for tests, which are run in private networks too.
            let builder = Node::builder().netlayer(netlayer.reach_private());
            (builder, location, None)
        };
        let dialect = match self.dialect {
            DialectName::Endo => Dialect::Endo202608,
            DialectName::Suite => Dialect::Suite202602,
            DialectName::Draft => Dialect::Draft202607,
        };
        let framing = Framing::from(self.framing);
        let mut builder = builder.dialect(dialect).framing(framing);
        if let Some(path) = record {
            let mut file = File::create(path).with_context(|| format!("cannot create {path}"))?;
            let mut seed = [0; 32];
            getrandom::fill(&mut seed)?;
            let recording = Recording {
                dialect,
                framing: fixed.unwrap_or(framing),
                seed,
                location,
                records: Vec::new(),
            };
            write!(file, "{recording}")?;
            builder = builder.seed(seed).record(move |record| {
                // At once, so that whoever is killed leaves whole lines.
                let line = format!("{record}\n");
                if let Err(error) = file.write_all(line.as_bytes()) {
                    eprintln!("cannot record: {error}");
                }
            });
        }
        Ok(builder.start()?)
    }
}

pub(super) fn run(task: impl Future<Output = Result<Answer>>) -> Result<Answer> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(task)
}

pub fn serve(arguments: &Serve, output: &Output) -> Result<Answer> {
    run(async {
        let (designator, record) = (arguments.designator.as_deref(), arguments.record.as_deref());
        let node = arguments
            .wire
            .node(&arguments.listen, arguments.websocket, designator, record)
            .await?;
        if arguments.suite {
            suite::publish(&node);
        }
        let locator = node.locator(b"").context("no location")?;
        output.fields(&[("locator", locator.to_string().into())])?;
        std::future::pending().await
    })
}

/// Whether an argument that is not JSON is the name of a method, rather than JSON with a mistake.
fn is_word(text: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "-_!?*>".contains(c);
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(part)
}

pub fn call(arguments: &Call, _: &Output) -> Result<Answer> {
    let locator: Locator = arguments.sturdyref.parse().context("not a locator")?;
    let values = arguments.arguments.iter().enumerate().map(|(index, text)| {
        let json = match serde_json::from_str(text) {
            Err(_) if index == 0 && is_word(text) => json!({ "symbol": text }),
            json => json.with_context(|| format!("not JSON: {text}"))?,
        };
        from_json(&json)
    });
    let values: Vec<Value> = values.collect::<Result<_>>()?;
    run(async {
        let websocket = locator.transport == "websocket";
        // Its own location is of the same kind, for handoffs to it.
        let listen = "127.0.0.1:0";
        let node = arguments.wire.node(listen, websocket, None, None).await?;
        let values = Passable::list(|list| {
            for value in values {
                list.push(value);
            }
        });
        let result = node.enliven(&locator).call(values).await?;
        output::write(&format!("{}\n", to_json(&result.value()?)))?;
        node.shutdown();
        Ok(Answer::Yes)
    })
}

pub fn replay(arguments: &Replay, output: &Output) -> Result<Answer> {
    let path = &arguments.file;
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let recording: Recording = text.parse().map_err(|error: String| anyhow!(error))?;
    let node = recording.builder().start()?;
    suite::publish(&node);
    let pieces = arguments.pieces.unwrap_or(usize::MAX);
    let sent = lydite_ocapn_net::replay(&node, &recording.records, pieces);
    let expected = recording.sent();
    ensure!(!expected.is_empty(), "nothing was sent in this recording");
    let mut same = true;
    for (number, found) in &sent {
        let expected = expected.get(number).map_or(&[][..], Vec::as_slice);
        if found != expected {
            let pairs = found.iter().zip(expected);
            let offset = pairs
                .take_while(|(found, expected)| found == expected)
                .count();
            eprintln!("connection {number}: other bytes from byte {offset} on");
            same = false;
        }
    }
    same &= expected.keys().all(|number| sent.contains_key(number));
    let bytes: usize = expected.values().map(Vec::len).sum();
    output.fields(&[
        ("connections", expected.len().into()),
        ("bytes", bytes.into()),
        ("same", same.into()),
    ])?;
    Ok(if same { Answer::Yes } else { Answer::No })
}
