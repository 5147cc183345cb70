//! Output: lines for people, JSON for programs.

use std::io::{self, Write as _};

use anyhow::Result;
use serde_json::Value;

/// The form of the answer.
pub struct Output {
    /// JSON instead of lines.
    pub json: bool,
}

impl Output {
    /// Answers with one text, which is the field `name` in JSON.
    pub fn one(&self, name: &'static str, text: &str) -> Result<()> {
        if self.json {
            self.fields(&[(name, text.into())])
        } else {
            write(&format!("{text}\n"))
        }
    }

    /// Answers with named fields in this order.
    pub fn fields(&self, fields: &[(&'static str, Value)]) -> Result<()> {
        if self.json {
            return write(&format!("{}\n", object(fields)));
        }
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value) in fields {
            let value = match value {
                Value::String(value) => value.clone(),
                other => other.to_string(),
            };
            text.push_str(&format!("{name:width$}  {value}\n"));
        }
        write(&text)
    }
}

/// A JSON object that keeps the order of its fields.
pub fn object(fields: &[(&'static str, Value)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Writes to standard output; an error if nobody reads it, which `println!` would panic about.
pub fn write(text: &str) -> Result<()> {
    write_bytes(text.as_bytes())
}

/// As [`write`], bytes as they are.
pub fn write_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// One line to standard error.
pub fn complain(error: &anyhow::Error) {
    // If standard error is closed too, the exit code has to do.
    let _ = writeln!(io::stderr(), "error: {error:#}");
}

/// Whether the reader of our output has closed it.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
