//! evm2 as a contender: its precompiles, and programs that call them. With the argument `lydite-evm2`, only the
//! programs, which then call Lydite's precompiles.

use std::cell::RefCell;

use alloy_primitives::{Address, Bytes, TxKind, U256, hex};
use arena_kit::{Held, Op, PRECOMPILES, op, precompile, run};
use evm2::bytecode::Bytecode;
use evm2::env::{BlockEnvExt, TxEnv, TxEnvExt};
use evm2::ethereum::{execute_initial_frame, prepare_initial_frame, warm_base_accounts};
use evm2::evm::{AccountInfo, InMemoryDB};
use evm2::interpreter::{GasTracker, Message};
use evm2::precompile::{PrecompileOutput, PrecompileProvider};
use evm2::precompiles::{
    PrecompileResult, blake2, bls12_381, bn254, hash, identity, kzg_point_evaluation, modexp,
    secp256k1, secp256r1,
};
use evm2::registry::TxRegistry;
use evm2::{BaseEvmTypes, Evm, EvmTypesHost, PrecompileHalt, Precompiles, SpecId};
use lydite::evm::precompile::{Error, Fork, Precompile};

/// Gas of a program, see docs/adding-a-contender.md.
const GAS: u64 = 30_000_000;
/// The account that holds the code, and the one that calls it.
const CODE: Address = Address::repeat_byte(0xc0);
const CALLER: Address = Address::repeat_byte(0xca);

/// The function of evm2's precompile at this address in Osaka. The provider's table calls the same functions, but needs
/// an engine and a message for each call.
fn function(address: u64) -> fn(&[u8], &mut GasTracker) -> PrecompileResult {
    match address {
        0x01 => secp256k1::run,
        0x02 => hash::run_sha256,
        0x03 => hash::run_ripemd160,
        0x04 => identity::run,
        0x05 => modexp::run_osaka,
        0x06 => bn254::add::run_istanbul,
        0x07 => bn254::mul::run_istanbul,
        0x08 => bn254::pair::run_istanbul,
        0x09 => blake2::run,
        0x0a => kzg_point_evaluation::run,
        0x0b => bls12_381::g1_add::run,
        0x0c => bls12_381::g1_msm::run,
        0x0d => bls12_381::g2_add::run,
        0x0e => bls12_381::g2_msm::run,
        0x0f => bls12_381::pairing::run,
        0x10 => bls12_381::map_fp_to_g1::run,
        0x11 => bls12_381::map_fp2_to_g2::run,
        0x100 => secp256r1::run_osaka,
        _ => panic!("no precompile at {address:#x}"),
    }
}

fn call(name: &'static str, address: u64) -> Op {
    let function = function(address);
    precompile(name, move |input| {
        let output = function(input, &mut GasTracker::new(u64::MAX)).ok()?;
        Some(output.into_bytes())
    })
}

/// Lydite's precompiles in place of evm2's.
struct Lydite;

impl Lydite {
    fn at(address: &Address) -> Option<Precompile> {
        Precompile::at_address(&address.0.0.into(), Fork::Osaka)
    }
}

impl<T: EvmTypesHost> PrecompileProvider<T> for Lydite {
    fn addresses(&self) -> Vec<Address> {
        Precompile::ALL
            .map(|precompile| precompile.address().0.into())
            .into()
    }

    fn contains(&self, address: &Address) -> bool {
        Self::at(address).is_some()
    }

    fn execute(
        &mut self,
        _: &mut Evm<'_, T>,
        message: &Message<T>,
        gas: &mut GasTracker,
    ) -> Option<PrecompileResult> {
        let precompile = Self::at(&message.code_address)?;
        let mut out = Vec::new();
        let result = precompile.run(&message.input, gas.remaining(), Fork::Osaka, &mut out);
        Some(match result {
            Ok(used) => gas
                .spend(used)
                .map(|()| PrecompileOutput::new(out.into()))
                .map_err(Into::into),
            Err(Error::OutOfGas) => Err(PrecompileHalt::OutOfGas.into()),
            Err(error) => Err(PrecompileHalt::Other(error.to_string().into()).into()),
        })
    }
}

/// Code in an engine. Like in the contender revm, it is called without a transaction: the addresses that a transaction
/// warms are warmed, nothing is validated, and the changes to the state are discarded.
struct Program {
    evm: Evm<'static, BaseEvmTypes>,
    tx: TxEnv,
}

impl Program {
    fn new(code: &[u8], precompiles: impl PrecompileProvider<BaseEvmTypes> + 'static) -> Self {
        let mut database = InMemoryDB::default();
        let code = Bytecode::new_legacy(Bytes::copy_from_slice(code));
        database.insert_account_info(&CODE, AccountInfo::default().with_code(code));
        let evm = Evm::new(
            SpecId::OSAKA,
            BlockEnvExt::default(),
            TxRegistry::new(),
            database,
            precompiles,
        );
        let tx = TxEnvExt {
            origin: CALLER,
            chain_id: U256::from(evm.version().chain_id),
            ..TxEnvExt::default()
        };
        Self { evm, tx }
    }

    /// Returns the gas used and the output.
    fn run(&mut self, input: &[u8], gas_limit: u64) -> Option<(u64, Bytes)> {
        let Self { evm, tx } = self;
        let (to, input) = (TxKind::Call(CODE), Bytes::copy_from_slice(input));
        let mut gas = GasTracker::new(gas_limit);
        warm_base_accounts(evm, CALLER, to);
        let frame = prepare_initial_frame(evm, CALLER, 0, to, &input, U256::ZERO, &mut gas).ok()?;
        let result = execute_initial_frame(evm, tx, frame, &mut gas, gas_limit, 0);
        evm.state_mut().clear_transaction_state();
        let used = gas_limit - result.gas.remaining();
        result.stop.is_success().then_some((used, result.output))
    }
}

/// The operations on programs, with these precompiles.
fn programs<P: PrecompileProvider<BaseEvmTypes> + 'static>(
    precompiles: impl Fn() -> P + Copy + 'static,
) -> [Op; 2] {
    [
        // Like the report: hexadecimal text, with state and engine created inside the clock.
        op("bytecode_setup", |reader| Some(reader.rest())).call(move |text| {
            let mut program = Program::new(&hex::decode(text).ok()?, precompiles());
            let (gas, _) = program.run(&[], GAS)?;
            Some(gas.to_le_bytes())
        }),
        // The engine is created once per item.
        op("bytecode", move |reader| {
            let program = Program::new(reader.bytes()?, precompiles());
            Some((RefCell::new(program), reader.whole()?))
        })
        .raw()
        .call(|(program, data)| {
            let (_, output) = program.borrow_mut().run(data, 2 * GAS)?;
            Some(Held(output))
        }),
    ]
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let mut ops = Vec::new();
    match name.as_str() {
        "evm2" => {
            ops.extend(PRECOMPILES.map(|(name, address)| call(name, address)));
            ops.extend(programs(|| Precompiles::base(SpecId::OSAKA)));
        }
        "lydite-evm2" => ops.extend(programs(|| Lydite)),
        _ => panic!("expected evm2 or lydite-evm2, found {name:?}"),
    }
    // Set by the build to the version of the checkout.
    let version = option_env!("EVM2_VERSION").unwrap_or("unknown");
    run(name.leak(), version, ops);
}
