//! Execution of blocks by revm, by the rules of Osaka. Gas costs nothing.

use arena_kit::Reader;
use revm::bytecode::Bytecode;
use revm::context::{BlockEnv, CfgEnv, TxEnv};
use revm::database::InMemoryDB;
use revm::handler::MainnetContext;
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Address, Bytes, TxKind, U256};
use revm::state::AccountInfo;
use revm::{Context, ExecuteCommitEvm, MainBuilder, MainContext, MainnetEvm};

/// Address of the contract.
const TOKEN: Address = Address::repeat_byte(0xc0);

/// An initial state and transactions.
pub struct Calls {
    database: InMemoryDB,
    transactions: Vec<TxEnv>,
}

/// A state with a contract.
pub fn state(code: &'static [u8]) -> InMemoryDB {
    let code = Bytecode::new_raw(Bytes::from_static(code));
    let mut database = InMemoryDB::default();
    database.insert_account_info(TOKEN, AccountInfo::default().with_code(code));
    database
}

/// Adds an account with Ether.
pub fn fund(database: &mut InMemoryDB, address: Address) {
    database.insert_account_info(address, AccountInfo::from_balance(U256::from(1) << 100));
}

/// An EVM on a copy of a state.
pub fn evm(database: &InMemoryDB, check_nonces: bool) -> MainnetEvm<MainnetContext<InMemoryDB>> {
    let mut config = CfgEnv::new_with_spec(SpecId::OSAKA);
    config.disable_nonce_check = !check_nonces;
    Context::mainnet()
        .with_db(database.clone())
        .with_cfg(config)
        .with_block(BlockEnv {
            gas_limit: u64::MAX,
            basefee: 0,
            ..BlockEnv::default()
        })
        .build_mainnet()
}

/// Reads the contract and the calls of an item.
pub fn calls(reader: &mut Reader) -> Option<Calls> {
    let mut database = state(reader.bytes()?);
    let transactions = reader.until_empty(|reader| {
        let (caller, to) = (Address::new(reader.array()?), Address::new(reader.array()?));
        let data = Bytes::from_static(reader.bytes()?);
        fund(&mut database, caller);
        Some(TxEnv {
            caller,
            kind: TxKind::Call(to),
            value: U256::from(u8::from(data.is_empty())),
            data,
            gas_limit: 200_000,
            ..TxEnv::default()
        })
    })?;
    Some(Calls {
        database,
        transactions,
    })
}

/// Executes the calls without checking nonces, and returns their outputs.
pub fn execute(calls: &Calls) -> Option<Vec<u8>> {
    let mut evm = evm(&calls.database, false);
    let mut out = vec![0; 32 * calls.transactions.len()];
    for (tx, word) in calls.transactions.iter().zip(out.as_chunks_mut::<32>().0) {
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
