//! revm as a contender: its precompiles, and programs that call them.

use std::cell::RefCell;
use std::convert::Infallible;

use arena_kit::{Held, Op, PRECOMPILES, locked_version, op, precompile, run};
use revm::bytecode::Bytecode;
use revm::context::{ContextSetters, ContextTr, JournalTr, TxEnv};
use revm::context_interface::result::{EVMError, ExecutionResult};
use revm::database::InMemoryDB;
use revm::handler::{Handler, MainnetContext, MainnetHandler};
use revm::precompile::{Precompiles, u64_to_address};
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Address, Bytes, TxKind, hex};
use revm::state::AccountInfo;
use revm::{Context, ExecuteEvm, MainBuilder, MainContext, MainnetEvm};

/// Gas of a program, see docs/adding-a-contender.md.
const GAS: u64 = 30_000_000;
/// The account that holds the code, and the one that calls it.
const CODE: Address = Address::repeat_byte(0xc0);
const CALLER: Address = Address::repeat_byte(0xca);

fn call(name: &'static str, address: u64) -> Op {
    let found = Precompiles::osaka().get(&u64_to_address(address));
    precompile(name, move |input| {
        let output = found?.execute(input, u64::MAX, 0).ok()?;
        output.is_success().then_some(output.bytes)
    })
}

/// Code in an engine. The steps are the same as in `lydite_alloy::Program`, a call without a transaction, so that the
/// rows compare the cost of the precompiles and not of entering the engine.
struct Program(MainnetEvm<MainnetContext<InMemoryDB>>);

impl Program {
    fn new(code: &[u8]) -> Self {
        let mut database = InMemoryDB::default();
        let code = Bytecode::new_legacy(Bytes::copy_from_slice(code));
        database.insert_account_info(CODE, AccountInfo::default().with_code(code));
        let evm = Context::mainnet()
            .with_db(database)
            .modify_cfg_chained(|cfg| cfg.set_spec_and_mainnet_gas_params(SpecId::OSAKA))
            .build_mainnet();
        Self(evm)
    }

    fn run(&mut self, input: &[u8], gas_limit: u64) -> Option<ExecutionResult> {
        let evm = &mut self.0;
        evm.ctx.set_tx(TxEnv {
            caller: CALLER,
            kind: TxKind::Call(CODE),
            data: Bytes::copy_from_slice(input),
            gas_limit,
            ..TxEnv::default()
        });
        let mut handler = MainnetHandler::default();
        let result: Result<_, EVMError<Infallible>> = handler
            .load_accounts(evm)
            .and_then(|()| Ok(evm.ctx.journal_mut().load_account(CALLER).map(drop)?))
            .and_then(|()| handler.run_system_call(evm));
        evm.finalize();
        result.ok().filter(ExecutionResult::is_success)
    }
}

fn main() {
    let mut ops = Vec::from(PRECOMPILES.map(|(name, address)| call(name, address)));
    ops.extend([
        // Like the report: hexadecimal text, with state and engine created inside the clock.
        op("bytecode_setup", |reader| Some(reader.rest())).call(|text| {
            let result = Program::new(&hex::decode(text).ok()?).run(&[], GAS)?;
            Some(result.gas().total_gas_spent().to_le_bytes())
        }),
        // The engine is created once per item.
        op("bytecode", |reader| {
            let program = Program::new(reader.bytes()?);
            Some((RefCell::new(program), reader.whole()?))
        })
        .raw()
        .call(|(program, data)| {
            let result = program.borrow_mut().run(data, 2 * GAS)?;
            result.into_output().map(Held)
        }),
    ]);
    run(
        "revm",
        locked_version(include_str!("../../Cargo.lock"), "revm"),
        ops,
    );
}
