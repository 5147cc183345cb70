//! ethrex as a contender: its precompiles, and what its crate of types does with a block.

use arena_kit::{Op, PRECOMPILES, Reader, locked_version, op, precompile, run};
use ethrex_common::types::{
    Fork, Log, Receipt, Transaction, TxType, compute_receipts_root_and_logs_bloom,
    compute_transactions_root,
};
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
            1 => TxType::EIP2930,
            2 => TxType::EIP1559,
            3 => TxType::EIP4844,
            4 => TxType::EIP7702,
            _ => return None,
        };
        Some(Receipt::new(kind, success == 1, cumulative_gas_used, logs))
    })
}

fn raw(reader: &mut Reader) -> Option<Vec<&'static [u8]>> {
    reader.until_empty(|reader| reader.bytes())
}

fn transactions(raw: &[&[u8]]) -> Option<Vec<Transaction>> {
    let transactions = raw
        .iter()
        .map(|raw| Transaction::decode_canonical(raw).ok());
    transactions.collect()
}

/// Hash and sender of each transaction.
fn senders(transactions: &[Transaction]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(52 * transactions.len() + 320);
    for transaction in transactions {
        out.extend_from_slice(transaction.hash(&NativeCrypto).as_bytes());
        out.extend_from_slice(transaction.sender(&NativeCrypto).ok()?.as_bytes());
    }
    Some(out)
}

fn receipts_root(receipts: &[Receipt]) -> Vec<u8> {
    let (root, bloom) = compute_receipts_root_and_logs_bloom(receipts, &NativeCrypto);
    [root.as_bytes(), bloom.as_bytes()].concat()
}

/// Raw transactions and receipts of a block.
type Body = (Vec<&'static [u8]>, Vec<Receipt>);

/// Hash and sender of each transaction, both roots, and the bloom filter.
fn body((raw, receipts): &Body) -> Option<Vec<u8>> {
    let transactions = transactions(raw)?;
    let mut out = senders(&transactions)?;
    out.extend_from_slice(compute_transactions_root(&transactions, &NativeCrypto).as_bytes());
    out.extend(receipts_root(receipts));
    Some(out)
}

fn main() {
    let mut ops = Vec::from(PRECOMPILES.map(|(name, number)| call(name, number)));
    ops.push(
        op("block_senders_mainnet", raw).call(|raw: &Vec<&[u8]>| senders(&transactions(raw)?)),
    );
    ops.push(
        op("block_transactions_root_mainnet", |reader| {
            transactions(&raw(reader)?)
        })
        .call(|transactions: &Vec<Transaction>| {
            compute_transactions_root(transactions, &NativeCrypto).0
        }),
    );
    ops.push(
        op("block_receipts_root", receipts).call(|receipts: &Vec<Receipt>| receipts_root(receipts)),
    );
    ops.push(
        op("block_body", |reader| {
            let transactions = raw(&mut Reader::new(reader.bytes()?))?;
            Some((transactions, receipts(reader)?))
        })
        .call(body),
    );
    let version = locked_version(include_str!("../../Cargo.lock"), "ethrex-levm");
    run("ethrex", version, ops);
}
