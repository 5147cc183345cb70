//! ethrex as a contender: its precompiles.

use arena_kit::{Op, Output, PRECOMPILES, Sum, locked_version, op, run};
use ethrex_common::types::Fork;
use ethrex_common::{Address, Bytes};
use ethrex_crypto::NativeCrypto;
use ethrex_levm::precompiles::execute_precompile;

/// Whether it succeeds, then the output: two parts.
struct Answer(Option<Bytes>);

impl Answer {
    fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Output for Answer {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.word(u64::from(self.0.is_some()));
        self.bytes().add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.push(u8::from(self.0.is_some()));
        self.bytes().write(out)
    }
}

fn precompile(name: &'static str, number: u64) -> Op {
    let address = Address::from_low_u64_be(number);
    op(
        name,
        |reader| Some(reader.rest()),
        move |input: &&'static [u8]| {
            let mut gas = u64::MAX;
            let crypto = &NativeCrypto;
            execute_precompile(address, input, &mut gas, Fork::Osaka, None, crypto, None)
                .map_or(Answer(None), |output| Answer(Some(output)))
        },
    )
}

fn main() {
    run(
        "ethrex",
        locked_version(include_str!("../../Cargo.lock"), "ethrex-levm"),
        Vec::from(PRECOMPILES.map(|(name, number)| precompile(name, number))),
    );
}
