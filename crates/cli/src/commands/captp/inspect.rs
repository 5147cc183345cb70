//! `lydite captp inspect`

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use lydite::ocapn::captp::{self, Dialect, Frames, Framing, Operation, Syrup};
use lydite::ocapn::syrup::Value;
use serde_json::{Value as Json, json};

use crate::commands::syrup::{Source, to_json};
use crate::{Answer, output, output::Output};

/// Print the messages that one side of a connection sent; exit code 1 if one of them is not an operation
#[derive(Args)]
pub struct Inspect {
    #[command(flatten)]
    source: Source,
    /// How messages are framed
    #[arg(long, value_enum, default_value = "none")]
    framing: FramingName,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum FramingName {
    /// Consecutive values without framing
    None,
    /// Each message preceded by its length and a colon
    Length,
}

impl From<FramingName> for Framing {
    fn from(name: FramingName) -> Self {
        match name {
            FramingName::None => Self::None,
            FramingName::Length => Self::Length,
        }
    }
}

pub fn inspect(arguments: &Inspect, output: &Output) -> Result<Answer> {
    let stream = arguments.source.read()?;
    let framing = Framing::from(arguments.framing);
    // All of the stream is in memory already.
    let mut frames = Frames::<Syrup>::new(framing, usize::MAX);
    let mut answer = Answer::Yes;
    frames
        .feed(&stream, |message| {
            let offset = message.as_ptr().addr() - stream.as_ptr().addr();
            let decoded = Dialect::ALL.map(|dialect| Operation::decode::<Syrup>(message, dialect));
            let dialects = Dialect::ALL
                .iter()
                .zip(&decoded)
                .filter(|(_, decoded)| decoded.is_ok());
            let dialects: Vec<String> = dialects.map(|(dialect, _)| dialect.to_string()).collect();
            let mut remarks = vec![];
            match decoded.iter().flatten().next() {
                Some(Operation::StartSession(start)) => {
                    remarks.push(match start.verify::<Syrup>() {
                        Ok(()) => "signature valid".to_owned(),
                        Err(error) => error.kind.to_string(),
                    })
                }
                Some(_) => {}
                None => {
                    answer = Answer::No;
                    // The error in the dialect of the draft.
                    remarks.extend(
                        decoded[1]
                            .as_ref()
                            .err()
                            .map(|error| format!("not an operation: {error}")),
                    );
                }
            }
            let value = Value::decode(message).context(format!("message at byte {offset}"))?;
            show(
                output,
                offset,
                message.len(),
                &dialects,
                &remarks,
                to_json(&value),
            )
            .map_err(Stop::from)
        })
        .map_err(|stop| stop.0)?;
    match frames.pending() {
        0 => Ok(answer),
        pending => bail!("unexpected end of the stream, {pending} bytes into a message"),
    }
}

/// Shows one message: a line of JSON, or readable text.
fn show(
    output: &Output,
    offset: usize,
    length: usize,
    dialects: &[String],
    remarks: &[String],
    value: Json,
) -> Result<()> {
    if output.json {
        return output.fields(&[
            ("offset", offset.into()),
            ("length", length.into()),
            ("dialects", json!(dialects)),
            ("remarks", json!(remarks)),
            ("message", value),
        ]);
    }
    let dialects = dialects.join(", ");
    let mut text = format!("byte {offset}, {length} bytes");
    for part in [&dialects]
        .into_iter()
        .chain(remarks)
        .filter(|part| !part.is_empty())
    {
        text.push_str("; ");
        text.push_str(part);
    }
    output::write(&format!("{text}\n  {value}\n"))
}

/// The reason why output stopped.
struct Stop(anyhow::Error);

impl From<captp::Error> for Stop {
    fn from(error: captp::Error) -> Self {
        Self(anyhow::Error::new(error).context("not a stream of CapTP messages"))
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self(error)
    }
}
