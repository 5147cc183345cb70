//! Output: text lines, or JSON for programs.

use std::io::{self, Write as _};

use anyhow::Result;
use serde_json::Value;

/// The output format.
pub struct Output {
    /// Print JSON instead of text lines.
    pub json: bool,
}

impl Output {
    /// Prints one text; in JSON as the field `name`.
    pub fn one(&self, name: &'static str, text: &str) -> Result<()> {
        if self.json {
            self.fields(&[(name, text.into())])
        } else {
            write(&format!("{text}\n"))
        }
    }

    /// Prints named fields in this order.
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

/// Returns a JSON object that keeps the order of its fields.
pub fn object(fields: &[(&'static str, Value)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Writes to standard output. Returns an error if the output is closed, where `println!` would panic.
pub fn write(text: &str) -> Result<()> {
    write_bytes(text.as_bytes())
}

/// Like [`write()`], for raw bytes.
pub fn write_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Prints an error and its causes as one line on standard error.
pub fn report(error: &anyhow::Error) {
    // If standard error is closed too, only the exit code reports the error.
    let _ = writeln!(io::stderr(), "error: {}", message(error));
}

/// Returns the messages of an error and its causes, without those with which the message before them already ends.
fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// Whether the error is a closed output.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    // The cause of another error may be a closed connection.
    #[cfg(feature = "bulk")]
    if error.is::<lydite_bulk::Error>() {
        let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
        return causes.any(is_closed);
    }
    error.downcast_ref().is_some_and(is_closed)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::message;

    #[test]
    fn a_repeated_cause_is_shown_once() {
        let of = |outer: &'static str| message(&anyhow!("no field x").context(outer));
        assert_eq!(of("schema error: no field x"), "schema error: no field x");
        assert_eq!(of("table t"), "table t: no field x");
    }
}
