//! The import of a block: from raw transactions to the roots of its header.

use alloy_consensus::{Transaction, TrieAccount, Typed2718};
use alloy_primitives::{Address, B256};
use arena_kit::Reader;
use revm::ExecuteCommitEvm;
use revm::context::TxEnv;
use revm::database::InMemoryDB;

use crate::block::{self, Functions, Receipt};
use crate::execution;

/// A state and a block's transactions.
pub struct Import {
    state: InMemoryDB,
    transactions: Vec<&'static [u8]>,
}

/// Reads an item.
pub fn read(reader: &mut Reader) -> Option<Import> {
    let mut state = execution::state(reader.bytes()?);
    for _ in 0..u32::from_le_bytes(reader.array()?) {
        execution::fund(&mut state, Address::new(reader.array()?));
    }
    let transactions = reader.until_empty(|reader| reader.bytes())?;
    Some(Import {
        state,
        transactions,
    })
}

/// Hash and sender of each transaction, the transactions root, the receipts root, the block's bloom filter, and the root
/// of the state after the block.
pub fn import(functions: &Functions, block: &Import) -> Option<Vec<u8>> {
    let recovered = (functions.transactions)(&block.transactions)?;
    let mut out = Vec::with_capacity(52 * recovered.len() + 352);
    let mut transactions = Vec::with_capacity(recovered.len());
    let mut receipts = Vec::with_capacity(recovered.len());
    let mut evm = execution::evm(&block.state, true);
    let mut gas_used = 0;
    for transaction in recovered {
        let (transaction, caller) = transaction.into_parts();
        out.extend_from_slice(transaction.tx_hash().as_slice());
        out.extend_from_slice(caller.as_slice());
        let result = evm
            .transact_commit(TxEnv {
                tx_type: transaction.ty(),
                caller,
                gas_limit: transaction.gas_limit(),
                gas_price: transaction.max_fee_per_gas(),
                kind: transaction.kind(),
                value: transaction.value(),
                data: transaction.input().clone(),
                nonce: transaction.nonce(),
                chain_id: transaction.chain_id(),
                gas_priority_fee: transaction.max_priority_fee_per_gas(),
                ..TxEnv::default()
            })
            .ok()?;
        gas_used += result.tx_gas_used();
        receipts.push(Receipt {
            tx_type: transaction.tx_type(),
            success: result.is_success(),
            cumulative_gas_used: gas_used,
            logs: result.into_logs(),
        });
        transactions.push(transaction);
    }
    out.extend_from_slice((functions.transactions_root)(&transactions).as_slice());
    out.extend(block::encode((functions.receipts_root)(&receipts)));
    out.extend_from_slice(state_root(functions, &evm.ctx.journaled_state.database).as_slice());
    Some(out)
}

/// The root of all accounts. Nothing is kept from block to block.
fn state_root(functions: &Functions, state: &InMemoryDB) -> B256 {
    // Accounts that were only touched are empty and do not exist (EIP-161).
    let accounts = state.cache.accounts.iter();
    let accounts = accounts.filter(|(_, account)| !account.info.is_empty());
    let accounts = accounts.map(|(address, account)| {
        let slots = account.storage.iter().filter(|(_, value)| !value.is_zero());
        let slots = slots.map(|(slot, value)| (B256::from(*slot), *value));
        let account = TrieAccount {
            nonce: account.info.nonce,
            balance: account.info.balance,
            storage_root: (functions.storage_root)(slots.collect()),
            code_hash: account.info.code_hash,
        };
        (*address, account)
    });
    (functions.state_root)(accounts.collect())
}
