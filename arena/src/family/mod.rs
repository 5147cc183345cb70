//! The families of rows. Each decides what the items of its rows are, which outputs are expected, and which malformed
//! items a decoder must reject. The rows are listed in `arena/ops/<family>.toml` ([`crate::ops`]).
//!
//! Items depend on a seed only and are the same on every machine. A *probe* set resembles a row's items (same sizes
//! and magnitudes) but holds other values, which exposes contenders that return cached results.

mod bindings;
mod block;
mod bulk;
mod captp;
mod draw;
mod element;
mod ethereum;
mod mainnet;
pub mod precompiles;
mod secp256k1;
mod syrup;
mod vectors;
mod xmss;

use anyhow::Result;

use crate::kernel::Kernel;
use crate::ops::Op;

pub use element::{Cases, Family, Selection};

/// The family of a row.
pub fn of(op: &Op) -> &dyn Family {
    match &op.kernel {
        Kernel::Ethereum(kernel) => kernel,
        Kernel::Secp256k1(kernel) => kernel,
        Kernel::Syrup(kernel) => kernel,
        Kernel::Precompile(kernel) => kernel,
        Kernel::Program(kernel) => kernel,
        Kernel::Xmss(kernel) => kernel,
        Kernel::Block(kernel) => kernel,
        Kernel::Bindings(kernel) => kernel,
        Kernel::Bulk(kernel) => kernel,
        Kernel::Captp(kernel) => kernel,
    }
}

/// Applies a row's change rule to all elements of an item for a call whose word is `x`.
pub fn change(op: &Op, item: &mut [u8], x: u32) -> Result<()> {
    if op.change.is_some() {
        for (index, region) in of(op).regions(op, item)?.into_iter().enumerate() {
            op.change
                .set(&mut item[region], crate::change::element_word(x, index));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
