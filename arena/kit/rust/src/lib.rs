#![doc = include_str!("../README.md")]

mod allocation;
mod operation;
mod output;
mod protocol;
mod reader;

pub use operation::{Op, PRECOMPILES, array, array_reuse, negative, op, precompile, reuse};
pub use output::{Held, Output, Sum};
pub use protocol::{locked_version, run};
pub use reader::Reader;
