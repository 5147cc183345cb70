//! The tables of operations in `docs/adding-a-contender.md`, generated from the catalogue.

use crate::ops::{Op, catalogue, notes};

/// The operations of all families, with the layouts of their items and outputs.
pub fn tables() -> String {
    let mut text = String::new();
    for (family, notes) in notes() {
        text.push_str(&format!("\n### Family `{family}`\n"));
        if !notes.is_empty() {
            text.push_str(&format!("\n{notes}\n"));
        }
        text.push_str("\n| operation | item | output | change |\n|---|---|---|---|\n");
        let ops = catalogue().iter();
        let ops: Vec<&Op> = ops
            .filter(|op| op.family == family && !op.on_request)
            .collect();
        for rows in operations(&ops) {
            text.push_str(&line(&rows));
        }
        let decoders = distinct(ops.iter().filter_map(|op| op.negative.as_ref()));
        if !decoders.is_empty() {
            text.push_str(&format!("\nMalformed input: {}.\n", code(&decoders)));
        }
    }
    text
}

/// The rows by kernel; kernels with the same operation and layouts are one.
fn operations<'a>(ops: &[&'a Op]) -> Vec<Vec<&'a Op>> {
    let mut groups: Vec<Vec<&Op>> = Vec::new();
    for op in ops {
        let same = |other: &Op| {
            other.kernel == op.kernel
                || other.call == op.call
                    && other.item_layout == op.item_layout
                    && other.output_layout == op.output_layout
        };
        match groups.iter_mut().find(|group| same(group[0])) {
            Some(group) => group.push(op),
            None => groups.push(vec![op]),
        }
    }
    groups
}

fn line(rows: &[&Op]) -> String {
    let mut elements = distinct(rows.iter().map(|op| op.ops_per_call));
    elements.sort_unstable();
    let times: Vec<String> = elements.iter().map(|count| format!("×{count}")).collect();
    let times = match elements[..] {
        [1] => String::new(),
        _ => format!(" {}", times.join(", ")),
    };
    let changes = rows.iter().filter(|op| op.change.is_some());
    let changes = distinct(changes.map(|op| op.change.to_string()));
    format!(
        "| {}{times} | {} | {} | {} |\n",
        code(&distinct(rows.iter().map(|op| &op.call))),
        cell(&rows[0].item_layout),
        cell(&rows[0].output_layout),
        code(&changes),
    )
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn code<T: std::fmt::Display>(names: &[T]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The values in the order of their first occurrence.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut known, value| {
        if !known.contains(&value) {
            known.push(value);
        }
        known
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_layout() {
        let ops = catalogue().iter().filter(|op| !op.on_request);
        for op in ops.clone() {
            let known = !op.item_layout.is_empty() && !op.output_layout.is_empty();
            assert!(known, "{}: no item or output", op.id);
        }
        // Rows that run on request use operations of other rows.
        for op in catalogue().iter().filter(|op| op.on_request) {
            assert!(ops.clone().any(|other| other.call == op.call), "{}", op.id);
        }
    }
}
