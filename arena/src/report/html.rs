//! `report.html`: one self-contained page, rendered in the browser from inline data.

use anyhow::Result;

use super::{gas, html_text};
use crate::result::Report;

/// Template with markup, style and script, and placeholders for the title and the data.
const PAGE: &str = include_str!("page.html");

/// Renders a report as HTML.
pub fn render(report: &Report) -> Result<String> {
    // The page shows medians and intervals; raw batches stay in result.json.
    let mut slim = report.clone();
    for cell in &mut slim.cells {
        cell.batches.clear();
    }
    slim.cells.retain(|cell| !cell.control);
    // Escape `<`, so that no text can end the inline script.
    let data = serde_json::to_string(&slim)?.replace('<', "\\u003c");
    let title = format!("Lydite arena, {}", report.run.started);
    Ok(PAGE
        .replace("@TITLE@", &html_text(&title))
        .replace("@GAS@", &gas::html(report))
        .replace("@DATA@", &data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_takes_our_name_from_the_run() {
        // `--ours` may name any contender; the page contains the name once, for records without `ours`.
        assert_eq!(PAGE.matches("'lydite'").count(), 1);
        assert!(PAGE.contains("find((c) => c.name === OURS)"));
    }
}
