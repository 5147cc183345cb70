//! The `lydite` command.
fn main() {}
