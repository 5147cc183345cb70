//! Calls of bytecode without a transaction.

use core::{convert::Infallible, fmt};

use lydite::evm::precompile::Fork;
use revm::{
    Context, ExecuteEvm, MainBuilder, MainContext, MainnetEvm,
    bytecode::Bytecode,
    context::{ContextSetters, ContextTr, JournalTr, TxEnv},
    context_interface::result::{EVMError, ExecutionResult, HaltReason},
    database::InMemoryDB,
    handler::{Handler, MainnetContext, MainnetHandler},
    primitives::{Address, Bytes, TxKind, hardfork::SpecId},
    state::AccountInfo,
};

/// The addresses of the code and of its caller.
const CODE: Address = Address::repeat_byte(0xc0);
const CALLER: Address = Address::repeat_byte(0xca);

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Ended with STOP, RETURN or SELFDESTRUCT.
    Success,
    /// Ended with REVERT; the output is the reason.
    Revert,
    /// Failed; all gas is burnt.
    Halt(HaltReason),
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The outcome.
    pub status: Status,
    /// The returned data.
    pub output: Vec<u8>,
    /// Gas used by the code, without refunds and without the intrinsic gas of a transaction.
    pub gas_used: u64,
}

/// The engine failed to run the code.
#[derive(Clone, Debug)]
pub struct Error(EVMError<Infallible>);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine failed to run the code: {:?}", self.0)
    }
}

impl core::error::Error for Error {}

/// Returns revm's identifier of a fork. revm supports Constantinople only with Petersburg's fix, as on mainnet.
#[must_use]
pub fn spec_id(fork: Fork) -> SpecId {
    match fork {
        Fork::Frontier => SpecId::FRONTIER,
        Fork::Homestead => SpecId::HOMESTEAD,
        Fork::TangerineWhistle => SpecId::TANGERINE,
        Fork::SpuriousDragon => SpecId::SPURIOUS_DRAGON,
        Fork::Byzantium => SpecId::BYZANTIUM,
        Fork::Constantinople | Fork::Petersburg => SpecId::PETERSBURG,
        Fork::Istanbul => SpecId::ISTANBUL,
        Fork::Berlin => SpecId::BERLIN,
        Fork::London => SpecId::LONDON,
        Fork::Paris => SpecId::MERGE,
        Fork::Shanghai => SpecId::SHANGHAI,
        Fork::Cancun => SpecId::CANCUN,
        Fork::Prague => SpecId::PRAGUE,
        Fork::Osaka => SpecId::OSAKA,
        _ => SpecId::AMSTERDAM,
    }
}

/// Code loaded into an engine, to be run several times.
pub struct Program {
    evm: MainnetEvm<MainnetContext<InMemoryDB>>,
}

impl Program {
    /// Loads `code` into an engine with an otherwise empty state.
    #[must_use]
    pub fn new(code: &[u8], fork: Fork) -> Self {
        let mut database = InMemoryDB::default();
        let code = Bytecode::new_legacy(Bytes::copy_from_slice(code));
        database.insert_account_info(CODE, AccountInfo::default().with_code(code));
        let evm = Context::mainnet()
            .with_db(database)
            .modify_cfg_chained(|cfg| cfg.set_spec_and_mainnet_gas_params(spec_id(fork)))
            .build_mainnet();
        Self { evm }
    }

    /// Runs the code on `input` with this gas limit. Changes to the state are discarded afterwards.
    ///
    /// # Errors
    /// [`Error`] if the engine fails. A failure of the code is not an error.
    pub fn run(&mut self, input: &[u8], gas_limit: u64) -> Result<Execution, Error> {
        let evm = &mut self.evm;
        evm.ctx.set_tx(TxEnv {
            caller: CALLER,
            kind: TxKind::Call(CODE),
            data: Bytes::copy_from_slice(input),
            gas_limit,
            ..TxEnv::default()
        });
        // A system call has no validation and no transaction gas; it warms the same addresses as a transaction.
        let mut handler = MainnetHandler::default();
        let result = handler
            .load_accounts(evm)
            .and_then(|()| Ok(evm.ctx.journal_mut().load_account(CALLER).map(drop)?))
            .and_then(|()| handler.run_system_call(evm));
        evm.finalize();
        let result = result.map_err(Error)?;
        let gas_used = result.gas().total_gas_spent();
        Ok(match result {
            ExecutionResult::Success { output, .. } => Execution {
                status: Status::Success,
                output: output.into_data().into(),
                gas_used,
            },
            ExecutionResult::Revert { output, .. } => Execution {
                status: Status::Revert,
                output: output.into(),
                gas_used,
            },
            ExecutionResult::Halt { reason, .. } => Execution {
                status: Status::Halt(reason),
                output: Vec::new(),
                gas_used,
            },
        })
    }
}

/// Runs `code` once: [`Program::new`] followed by [`Program::run`].
///
/// ```
/// use lydite::evm::precompile::Fork;
///
/// // SHA-256 of nothing, by a CALL: PUSH1 32 PUSH0 PUSH0 PUSH0 PUSH0 PUSH1 2 GAS CALL, PUSH1 32 PUSH0 RETURN.
/// let code = [
///     0x60, 32, 0x5f, 0x5f, 0x5f, 0x5f, 0x60, 2, 0x5a, 0xf1, 0x60, 32, 0x5f, 0xf3,
/// ];
/// lydite_alloy::install();
/// let run = lydite_alloy::execute(&code, &[], 100_000, Fork::Osaka)?;
/// assert_eq!(run.output[..4], [0xe3, 0xb0, 0xc4, 0x42]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error`] if the engine fails. A failure of the code is not an error.
pub fn execute(code: &[u8], input: &[u8], gas_limit: u64, fork: Fork) -> Result<Execution, Error> {
    Program::new(code, fork).run(input, gas_limit)
}
