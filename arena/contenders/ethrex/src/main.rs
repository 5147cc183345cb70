//! ethrex as a contender: its precompiles.

use arena_kit::{Op, Output, Sum, locked_version, op, run};
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
        vec![
            precompile("precompile_01", 0x01),
            precompile("precompile_02", 0x02),
            precompile("precompile_03", 0x03),
            precompile("precompile_04", 0x04),
            precompile("precompile_05", 0x05),
            precompile("precompile_06", 0x06),
            precompile("precompile_07", 0x07),
            precompile("precompile_08", 0x08),
            precompile("precompile_09", 0x09),
            precompile("precompile_0a", 0x0a),
            precompile("precompile_0b", 0x0b),
            precompile("precompile_0c", 0x0c),
            precompile("precompile_0d", 0x0d),
            precompile("precompile_0e", 0x0e),
            precompile("precompile_0f", 0x0f),
            precompile("precompile_10", 0x10),
            precompile("precompile_11", 0x11),
            precompile("precompile_100", 0x100),
        ],
    );
}
