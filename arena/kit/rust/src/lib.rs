#![doc = include_str!("../README.md")]

mod allocation;
mod change;
pub mod hex;
pub mod integers;
mod operation;
mod output;
mod protocol;
mod reader;
pub mod secp256k1;
mod steps;
pub mod xmss;

pub use change::{Raw, digits, set_digits, set_each, set_low, set_upper_half, words};
pub use operation::{
    Items, Op, PRECOMPILES, View, array, modexp_lengths, negative, op, precompile,
};
pub use output::{Held, Output, Sum};
pub use protocol::{locked_version, run};
pub use reader::{Bytes, Reader};
pub use steps::step;
