//! ethrex as a contender: its precompiles, and the root of a block's receipts.

use arena_kit::{Op, PRECOMPILES, Reader, locked_version, op, precompile, run};
use ethrex_common::types::{Fork, Log, Receipt, TxType, compute_receipts_root_and_logs_bloom};
use ethrex_common::{Address, H256};
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

fn receipts(reader: &mut Reader) -> Option<Vec<Receipt>> {
    reader.until_empty(|reader| {
        let [kind, success] = reader.array()?;
        let cumulative_gas_used = u64::from_le_bytes(reader.array()?);
        let logs = (0..u32::from_le_bytes(reader.array()?)).map(|_| {
            let address = Address::from(reader.array::<20>()?);
            let [topics] = reader.array()?;
            let topics = (0..topics).map(|_| reader.array().map(H256));
            Some(Log {
                address,
                topics: topics.collect::<Option<_>>()?,
                data: reader.bytes()?.into(),
            })
        });
        let logs = logs.collect::<Option<_>>()?;
        let kind = match kind {
            0 => TxType::Legacy,
            2 => TxType::EIP1559,
            _ => return None,
        };
        Some(Receipt::new(kind, success == 1, cumulative_gas_used, logs))
    })
}

fn main() {
    let mut ops = Vec::from(PRECOMPILES.map(|(name, number)| call(name, number)));
    ops.push(
        op("block_receipts_root", receipts).call(|receipts: &Vec<Receipt>| {
            let (root, bloom) = compute_receipts_root_and_logs_bloom(receipts, &NativeCrypto);
            [root.as_bytes(), bloom.as_bytes()].concat()
        }),
    );
    let version = locked_version(include_str!("../../Cargo.lock"), "ethrex-levm");
    run("ethrex", version, ops);
}
