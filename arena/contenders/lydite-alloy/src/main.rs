//! alloy and revm as a contender, with or without Lydite underneath, and reth's functions, selected by the argument. All
//! are the same program. With Lydite, the transactions of a block, its roots and its bloom filter are computed by the
//! functions of lydite-alloy that replace alloy's, without Lydite by alloy's or reth's.

mod block;
mod execution;
mod import;

use std::sync::atomic::{AtomicBool, Ordering};

use alloy_consensus::TxEnvelope;
use alloy_eips::eip2718::Decodable2718;
use arena_kit::{Op, Reader, locked_version, op, run};
use block::{Functions, Receipt};
use import::Import;

/// Whether hashes are computed by Lydite. The other two hooks depend on whether `install` is called.
static LYDITE: AtomicBool = AtomicBool::new(false);

/// The symbol that lydite-alloy defines for its users, with a switch to the default implementation of alloy-primitives.
///
/// # Safety
/// `bytes` points to `len` readable bytes, `output` to 32 writable ones.
// SAFETY: no other crate of this program defines this symbol.
#[unsafe(no_mangle)]
unsafe extern "C" fn native_keccak256(bytes: *const u8, len: usize, output: *mut u8) {
    // SAFETY: the caller guarantees `len` readable bytes at `bytes`.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, len) };
    let hash = if LYDITE.load(Ordering::Relaxed) {
        lydite::hash::keccak256(bytes)
    } else {
        keccak_asm::Keccak256::digest(bytes).into()
    };
    // SAFETY: the caller guarantees 32 writable bytes at `output`; an array of bytes has no alignment requirement.
    unsafe { output.cast::<[u8; 32]>().write(hash) };
}

fn raw(reader: &mut Reader) -> Option<Vec<&'static [u8]>> {
    reader.until_empty(|reader| reader.bytes())
}

fn transactions(reader: &mut Reader) -> Option<Vec<TxEnvelope>> {
    reader.until_empty(|reader| TxEnvelope::decode_2718(&mut reader.bytes()?).ok())
}

/// Hash and sender of each transaction.
fn senders(functions: &Functions, raw: &[&[u8]]) -> Option<Vec<u8>> {
    let (out, _) = recover(functions, raw)?;
    Some(out)
}

/// Hash and sender of each transaction, and the transactions.
fn recover(functions: &Functions, raw: &[&[u8]]) -> Option<(Vec<u8>, Vec<TxEnvelope>)> {
    let mut out = Vec::with_capacity(52 * raw.len() + 320);
    let mut transactions = Vec::with_capacity(raw.len());
    for recovered in (functions.transactions)(raw)? {
        let (transaction, sender) = recovered.into_parts();
        out.extend_from_slice(transaction.tx_hash().as_slice());
        out.extend_from_slice(sender.as_slice());
        transactions.push(transaction);
    }
    Some((out, transactions))
}

/// Raw transactions and receipts of a block.
type Body = (Vec<&'static [u8]>, Vec<Receipt>);

/// Hash and sender of each transaction, both roots, and the bloom filter.
fn body(functions: &Functions, (transactions, receipts): &Body) -> Option<Vec<u8>> {
    let (mut out, transactions) = recover(functions, transactions)?;
    out.extend_from_slice((functions.transactions_root)(&transactions).as_slice());
    out.extend(block::encode((functions.receipts_root)(receipts)));
    Some(out)
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let functions = match name.as_str() {
        "lydite-alloy" => &block::LYDITE,
        "alloy-revm" => &block::ALLOY,
        "reth" => &block::RETH,
        _ => panic!("expected lydite-alloy, alloy-revm or reth, found {name:?}"),
    };
    if name == "lydite-alloy" {
        LYDITE.store(true, Ordering::Relaxed);
        let installed = lydite_alloy::install();
        assert!(installed.consensus && installed.revm, "{installed:?}");
    }
    let mut ops: Vec<Op> = vec![
        op("block_senders block_senders_mainnet", raw)
            .call(move |raw: &Vec<&[u8]>| senders(functions, raw)),
        op(
            "block_transactions_root block_transactions_root_mainnet",
            transactions,
        )
        .call(move |block: &Vec<TxEnvelope>| (functions.transactions_root)(block).0),
        op("block_receipts_root", block::receipts).call(move |receipts: &Vec<Receipt>| {
            Some(block::encode((functions.receipts_root)(receipts)))
        }),
        op("block_body", |reader| {
            let transactions = raw(&mut Reader::new(reader.bytes()?))?;
            Some((transactions, block::receipts(reader)?))
        })
        .call(move |block: &Body| body(functions, block)),
    ];
    let version = |of| locked_version(include_str!("../../Cargo.lock"), of);
    if name == "reth" {
        return run("reth", version("reth-primitives-traits"), ops);
    }
    ops.push(op("block_execution", execution::calls).call(execution::execute));
    ops.push(
        op("block_import", import::read)
            .call(move |block: &Import| import::import(functions, block)),
    );
    let versions = format!(
        "alloy {}, revm {}",
        version("alloy-consensus"),
        version("revm")
    );
    run(name.leak(), versions.leak(), ops);
}
