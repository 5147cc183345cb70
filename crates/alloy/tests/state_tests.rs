//! A sample of Ethereum's state tests on revm with all hooks installed: senders, hashes, precompiles, tries.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;

use alloy_consensus::{
    Transaction, TrieAccount, TxEnvelope, Typed2718, proofs, transaction::SignerRecoverable,
};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::{
    Context, ExecuteEvm, MainBuilder, MainContext,
    bytecode::Bytecode,
    context::{BlockEnv, TxEnv},
    database::InMemoryDB,
    primitives::{eip4844::BLOB_BASE_FEE_UPDATE_FRACTION_CANCUN, hardfork::SpecId},
    state::AccountInfo,
};
use serde_json::Value;

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn number(value: &Value) -> U256 {
    text(value).parse().expect("a number")
}

fn bytes(value: &Value) -> Bytes {
    text(value).parse().expect("hex")
}

#[derive(Clone, Default)]
struct Account {
    balance: U256,
    nonce: u64,
    code: Bytes,
    storage: BTreeMap<U256, U256>,
}

type State = BTreeMap<Address, Account>;

fn read_state(pre: &Value) -> State {
    let accounts = pre.as_object().expect("accounts").iter();
    let account = |account: &Value| Account {
        balance: number(&account["balance"]),
        nonce: number(&account["nonce"]).to(),
        code: bytes(&account["code"]),
        storage: account["storage"]
            .as_object()
            .expect("slots")
            .iter()
            .map(|(slot, value)| (slot.parse().unwrap(), number(value)))
            .collect(),
    };
    accounts
        .map(|(address, value)| (address.parse().unwrap(), account(value)))
        .collect()
}

fn root(state: &State) -> B256 {
    proofs::state_root_unhashed(state.iter().map(|(address, account)| {
        let slots = account.storage.iter().filter(|(_, value)| !value.is_zero());
        let slots = slots.map(|(slot, value)| (B256::from(*slot), *value));
        let account = TrieAccount {
            nonce: account.nonce,
            balance: account.balance,
            storage_root: proofs::storage_root_unhashed(slots),
            code_hash: keccak256(&account.code),
        };
        (*address, account)
    }))
}

fn database(state: &State) -> InMemoryDB {
    let mut database = InMemoryDB::default();
    for (address, account) in state {
        let info = AccountInfo::default()
            .with_balance(account.balance)
            .with_nonce(account.nonce)
            .with_code(Bytecode::new_raw(account.code.clone()));
        database.insert_account_info(*address, info);
        for (slot, value) in &account.storage {
            database
                .insert_account_storage(*address, *slot, *value)
                .unwrap();
        }
    }
    database
}

fn block(env: &Value) -> BlockEnv {
    let mut block = BlockEnv {
        number: number(&env["Number"]),
        beneficiary: text(&env["Coinbase"]).parse().unwrap(),
        timestamp: number(&env["Timestamp"]),
        gas_limit: number(&env["GasLimit"]).saturating_to(),
        basefee: number(&env["BaseFee"]).to(),
        prevrandao: Some(number(&env["Random"]).into()),
        ..BlockEnv::default()
    };
    let excess = env.get("ExcessBlobGas").map_or(U256::ZERO, number);
    block.set_blob_excess_gas_and_price(excess.to(), BLOB_BASE_FEE_UPDATE_FRACTION_CANCUN);
    block
}

/// Decodes a signed transaction; `None` if it is invalid or has no sender.
fn transaction(raw: &Bytes) -> Option<TxEnv> {
    let envelope = TxEnvelope::decode_2718(&mut &raw[..]).ok()?;
    Some(TxEnv {
        tx_type: envelope.ty(),
        caller: envelope.recover_signer().ok()?,
        gas_limit: envelope.gas_limit(),
        gas_price: envelope.max_fee_per_gas(),
        kind: envelope.kind(),
        value: envelope.value(),
        data: envelope.input().clone(),
        nonce: envelope.nonce(),
        chain_id: envelope.chain_id(),
        access_list: envelope.access_list().cloned().unwrap_or_default(),
        gas_priority_fee: envelope.max_priority_fee_per_gas(),
        blob_hashes: envelope
            .blob_versioned_hashes()
            .unwrap_or_default()
            .to_vec(),
        max_fee_per_blob_gas: envelope.max_fee_per_blob_gas().unwrap_or_default(),
        ..TxEnv::default()
    })
}

/// Returns the logs hash and the state after a transaction; `None` if the transaction is invalid.
fn execute(state: &State, env: &Value, raw: &Bytes) -> Option<(B256, State)> {
    let mut evm = Context::mainnet()
        .with_db(database(state))
        .with_block(block(env))
        .modify_cfg_chained(|cfg| {
            cfg.set_spec_and_mainnet_gas_params(SpecId::CANCUN);
            cfg.set_max_blobs_per_tx(6);
        })
        .build_mainnet();
    let outcome = evm.transact(transaction(raw)?).ok()?;
    let mut after = state.clone();
    for (address, account) in outcome.state {
        if !account.is_touched() {
            continue;
        }
        if account.is_selfdestructed() || account.is_empty() {
            after.remove(&address);
            continue;
        }
        let entry = after.entry(address).or_default();
        entry.balance = account.info.balance;
        entry.nonce = account.info.nonce;
        if account.is_created() {
            entry.storage.clear();
        }
        if let Some(code) = &account.info.code {
            entry.code = code.original_bytes();
        }
        for (slot, value) in &account.storage {
            entry.storage.insert(*slot, value.present_value());
        }
    }
    let logs = outcome.result.logs().to_vec();
    Some((keccak256(alloy_rlp::encode(logs)), after))
}

#[test]
fn sample_of_state_tests() {
    let installed = lydite_alloy::install();
    assert!(installed.consensus && installed.revm);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/state-tests/sample.json"
    );
    let tests: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for test in &tests {
        let before = read_state(&test["pre"]);
        for (i, case) in test["cases"].as_array().unwrap().iter().enumerate() {
            let name = format!("{}, transaction {i}", text(&test["name"]));
            let outcome = execute(&before, &test["env"], &bytes(&case["transaction"]));
            assert_eq!(
                outcome.is_none(),
                case["invalid"].as_bool().unwrap(),
                "{name}"
            );
            let after = match outcome {
                Some((logs, after)) => {
                    valid += 1;
                    assert_eq!(logs.to_string(), text(&case["logs"]), "{name}: logs");
                    after
                }
                None => {
                    invalid += 1;
                    before.clone()
                }
            };
            assert_eq!(
                root(&after).to_string(),
                text(&case["root"]),
                "{name}: root"
            );
        }
    }
    assert_eq!((valid, invalid), (421, 16));
}
