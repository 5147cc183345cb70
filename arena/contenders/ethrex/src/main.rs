//! ethrex as a contender: its precompiles.

use arena_kit::{Op, PRECOMPILES, locked_version, precompile, run};
use ethrex_common::Address;
use ethrex_common::types::Fork;
use ethrex_crypto::NativeCrypto;
use ethrex_levm::precompiles::execute_precompile;

fn call(name: &'static str, number: u64) -> Op {
    let address = Address::from_low_u64_be(number);
    precompile(name, move |input| {
        let mut gas = u64::MAX;
        let crypto = &NativeCrypto;
        execute_precompile(address, input, &mut gas, Fork::Osaka, None, crypto, None).ok()
    })
}

fn main() {
    run(
        "ethrex",
        locked_version(include_str!("../../Cargo.lock"), "ethrex-levm"),
        Vec::from(PRECOMPILES.map(|(name, number)| call(name, number))),
    );
}
