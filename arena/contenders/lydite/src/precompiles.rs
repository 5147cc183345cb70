//! The precompiles of Osaka.

use arena_kit::{Op, Reader, op, precompile};
use lydite::evm::precompile::{Fork, Precompile};

/// Gas limit above the cost of any row.
const GAS: u64 = u64::MAX;

pub fn ops() -> Vec<Op> {
    let mut ops: Vec<Op> = Precompile::ALL.into_iter().map(fresh).collect();
    let hashes = [
        ("precompile_02_into", Precompile::Sha256),
        ("precompile_03_into", Precompile::Ripemd160),
        ("precompile_04_into", Precompile::Identity),
    ];
    ops.extend(hashes.map(|(name, precompile)| {
        op(name, Reader::whole).raw().reuse(
            || Vec::with_capacity(1 << 16),
            move |input, out| {
                let gas = precompile.run(input, GAS, Fork::Osaka, out);
                [u8::from(gas.is_ok())]
            },
        )
    }));
    ops
}

/// A precompile row whose output is a new vector.
fn fresh(which: Precompile) -> Op {
    let name = format!("precompile_{:02x}", which.number()).leak();
    precompile(name, move |input| {
        let mut out = Vec::new();
        let gas = which.run(input, GAS, Fork::Osaka, &mut out);
        gas.ok().map(|_| out)
    })
}
