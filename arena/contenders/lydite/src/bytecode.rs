//! Programs that run on revm with our precompiles.

use std::cell::RefCell;

use arena_kit::{Op, op};
use lydite::bytes::hex;
use lydite::evm::precompile::Fork;
use lydite_alloy::{Execution, Program, Status, execute};

/// Gas of a program, see docs/adding-a-contender.md.
const GAS: u64 = 30_000_000;

fn succeeded(run: &Execution) -> bool {
    run.status == Status::Success
}

pub fn ops() -> Vec<Op> {
    lydite_alloy::install();
    vec![
        op("bytecode_setup", |reader| Some(reader.rest())).call(|text| {
            let code = hex::decode(text).ok()?;
            let run = execute(&code, &[], GAS, Fork::Osaka).ok()?;
            succeeded(&run).then(|| run.gas_used.to_le_bytes())
        }),
        op("bytecode", |reader| {
            let program = Program::new(reader.bytes()?, Fork::Osaka);
            Some((RefCell::new(program), reader.whole()?))
        })
        .raw()
        .call(|(program, data)| {
            let run = program.borrow_mut().run(data, 2 * GAS).ok()?;
            succeeded(&run).then_some(run.output)
        }),
    ]
}
