//! revm as a contender: its precompiles, and programs that call them.

use arena_kit::{Held, Op, PRECOMPILES, locked_version, op, precompile, run};
use revm::bytecode::Bytecode;
use revm::context::{BlockEnv, CfgEnv, TxEnv};
use revm::database::{BENCH_CALLER, BENCH_TARGET, BenchmarkDB};
use revm::precompile::{Precompiles, u64_to_address};
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Bytes, TxKind, hex};
use revm::{Context, ExecuteEvm, MainBuilder, MainContext};

/// Gas of a program, as docs/adding-a-contender.md has it, and what a transaction without call data costs besides.
const GAS: u64 = 30_000_000;
const INTRINSIC: u64 = 21_000;

fn call(name: &'static str, address: u64) -> Op {
    let found = Precompiles::osaka().get(&u64_to_address(address));
    precompile(name, move |input| {
        let output = found?.execute(input, u64::MAX, 0).ok()?;
        output.is_success().then_some(output.bytes)
    })
}

fn transaction(gas: u64, data: Bytes) -> TxEnv {
    let mut tx = TxEnv::default();
    tx.caller = BENCH_CALLER;
    tx.kind = TxKind::Call(BENCH_TARGET);
    tx.gas_limit = gas;
    tx.data = data;
    tx
}

/// Osaka, without the cap on a transaction's gas; nonces do not count.
fn config() -> CfgEnv {
    let mut config = CfgEnv::new_with_spec(SpecId::OSAKA);
    config.tx_gas_limit_cap = Some(u64::MAX);
    config.disable_nonce_check = true;
    config
}

fn block() -> BlockEnv {
    BlockEnv {
        gas_limit: u64::MAX,
        basefee: 0,
        ..BlockEnv::default()
    }
}

/// The report's way: hexadecimal text, state and engine inside the clock.
fn from_scratch(text: &[u8]) -> Option<[u8; 8]> {
    let code = Bytecode::new_raw(hex::decode(text).ok()?.into());
    let mut evm = Context::mainnet()
        .with_db(BenchmarkDB::new_bytecode(code))
        .with_cfg(config())
        .with_block(block())
        .build_mainnet();
    let result = evm
        .transact_one(transaction(GAS + INTRINSIC, Bytes::new()))
        .ok()?;
    let used = result.gas().total_gas_spent() - INTRINSIC;
    result.is_success().then(|| used.to_le_bytes())
}

/// A program and its call data; the engine is made once for each item.
struct Program<E> {
    evm: std::cell::RefCell<E>,
    data: Bytes,
}

fn main() {
    let mut ops = Vec::from(PRECOMPILES.map(|(name, address)| call(name, address)));
    ops.extend([
        op(
            "bytecode_setup",
            |reader| Some(reader.rest()),
            |text: &&'static [u8]| from_scratch(text),
        ),
        op(
            "bytecode",
            |reader| {
                let code = Bytecode::new_raw(Bytes::copy_from_slice(reader.bytes()?));
                let data = Bytes::copy_from_slice(reader.rest());
                let evm = Context::mainnet()
                    .with_db(BenchmarkDB::new_bytecode(code))
                    .with_cfg(config())
                    .with_block(block())
                    .build_mainnet();
                Some(Program {
                    evm: evm.into(),
                    data,
                })
            },
            |program: &Program<_>| {
                let mut evm = program.evm.borrow_mut();
                let result = evm
                    .transact(transaction(2 * GAS, program.data.clone()))
                    .ok()?;
                result.result.into_output().map(Held)
            },
        ),
    ]);
    run(
        "revm",
        locked_version(include_str!("../../Cargo.lock"), "revm"),
        ops,
    );
}
