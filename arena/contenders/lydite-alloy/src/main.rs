//! alloy and revm as a contender, with or without Lydite underneath, selected by the argument. Both are the same
//! program. With Lydite, a block's senders and its transactions root are computed by the functions of lydite-alloy that
//! replace alloy's, without Lydite by alloy's.

use std::sync::atomic::{AtomicBool, Ordering};

use alloy_consensus::{TxEnvelope, proofs, transaction::SignerRecoverable};
use alloy_eips::eip2718::Decodable2718;
use arena_kit::{Op, locked_version, op, run};
use revm::bytecode::Bytecode;
use revm::context::{BlockEnv, CfgEnv, TxEnv};
use revm::database::InMemoryDB;
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Address, Bytes, TxKind, U256};
use revm::state::AccountInfo;
use revm::{Context, ExecuteCommitEvm, MainBuilder, MainContext};

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

/// Hash and sender of each transaction.
fn senders(block: &Vec<&'static [u8]>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(52 * block.len());
    for raw in block {
        let tx = TxEnvelope::decode_2718(&mut &**raw).ok()?;
        out.extend_from_slice(tx.tx_hash().as_slice());
        out.extend_from_slice(tx.recover_signer().ok()?.as_slice());
    }
    Some(out)
}

/// The same with the senders in one batch.
fn senders_batch(block: &Vec<&'static [u8]>) -> Option<Vec<u8>> {
    let transactions: Option<Vec<TxEnvelope>> = block
        .iter()
        .map(|raw| TxEnvelope::decode_2718(&mut &**raw).ok())
        .collect();
    let transactions = transactions?;
    let senders = lydite_alloy::recover_signers(&transactions).ok()?;
    let mut out = Vec::with_capacity(52 * block.len());
    for (tx, sender) in transactions.iter().zip(senders) {
        out.extend_from_slice(tx.tx_hash().as_slice());
        out.extend_from_slice(sender.as_slice());
    }
    Some(out)
}

/// An initial state and transactions.
struct Block {
    database: InMemoryDB,
    transactions: Vec<TxEnv>,
}

/// Address of the contract.
const TOKEN: Address = Address::repeat_byte(0xc0);

fn block(reader: &mut arena_kit::Reader) -> Option<Block> {
    let code = Bytecode::new_raw(Bytes::from_static(reader.bytes()?));
    let mut database = InMemoryDB::default();
    database.insert_account_info(TOKEN, AccountInfo::default().with_code(code));
    let mut transactions = Vec::new();
    while !reader.is_empty() {
        let (caller, to) = (Address::new(reader.array()?), Address::new(reader.array()?));
        let data = Bytes::from_static(reader.bytes()?);
        let rich = AccountInfo::from_balance(U256::from(1) << 100);
        database.insert_account_info(caller, rich);
        let value = if data.is_empty() { 1 } else { 0 };
        transactions.push(TxEnv {
            caller,
            kind: TxKind::Call(to),
            value: U256::from(value),
            data,
            gas_limit: 200_000,
            ..TxEnv::default()
        });
    }
    Some(Block {
        database,
        transactions,
    })
}

/// Executes the block by the rules of Osaka; nonces are not checked, and gas costs nothing.
fn execute(block: &Block) -> Option<Vec<u8>> {
    let mut config = CfgEnv::new_with_spec(SpecId::OSAKA);
    config.disable_nonce_check = true;
    let mut evm = Context::mainnet()
        .with_db(block.database.clone())
        .with_cfg(config)
        .with_block(BlockEnv {
            gas_limit: u64::MAX,
            basefee: 0,
            ..BlockEnv::default()
        })
        .build_mainnet();
    let mut out = vec![0; 32 * block.transactions.len()];
    for (tx, word) in block.transactions.iter().zip(out.as_chunks_mut::<32>().0) {
        let result = evm.transact_commit(tx.clone()).ok()?;
        if !result.is_success() {
            return None;
        }
        let output = result.into_output()?;
        if !output.is_empty() {
            *word = output.as_ref().try_into().ok()?;
        }
    }
    Some(out)
}

fn main() {
    let lydite = std::env::args().nth(1).as_deref() == Some("lydite");
    if lydite {
        LYDITE.store(true, Ordering::Relaxed);
        let installed = lydite_alloy::install();
        assert!(installed.consensus && installed.revm, "{installed:?}");
    }
    let ops: Vec<Op> = vec![
        op("alloy_senders", |reader| {
            reader.until_empty(|reader| reader.bytes())
        })
        .call(if lydite { senders_batch } else { senders }),
        op("alloy_transactions_root", |reader| {
            reader.until_empty(|reader| TxEnvelope::decode_2718(&mut reader.bytes()?).ok())
        })
        .call(move |block: &Vec<TxEnvelope>| {
            if lydite {
                lydite_alloy::calculate_transaction_root(block).0
            } else {
                proofs::calculate_transaction_root(block).0
            }
        }),
        op("revm_block", block).call(execute),
    ];
    let name = if lydite { "lydite-alloy" } else { "alloy-revm" };
    let version = |of| locked_version(include_str!("../../Cargo.lock"), of);
    let versions = format!(
        "alloy {}, revm {}",
        version("alloy-consensus"),
        version("revm")
    );
    run(name, versions.leak(), ops);
}
