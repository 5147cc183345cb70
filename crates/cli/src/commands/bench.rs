//! `lydite bench`: the arena's own command.

pub use lydite_arena::cli::{BenchArgs as Arguments, run};
