//! Execution of bytecode: state and gas.
#![allow(clippy::unwrap_used)]

use lydite::{bytes::hex, evm::precompile::Fork};
use lydite_alloy::{Program, Status, execute};
use revm::context_interface::result::{HaltReason, OutOfGasError};

/// A counter in storage: returns its value and stores the value plus one. Every run starts from the initial state, at
/// the same gas cost.
#[test]
fn a_program_runs_again_from_the_start() {
    // PUSH0 SLOAD DUP1 PUSH1 1 ADD PUSH0 SSTORE PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
    let code = hex::decode("5f548060010160005560005260205ff3").unwrap();
    let mut program = Program::new(&code, Fork::Osaka);
    let first = program.run(&[], 100_000).unwrap();
    assert_eq!(first.status, Status::Success);
    assert_eq!(first.output, [0; 32]);
    for _ in 0..3 {
        assert_eq!(program.run(&[], 100_000).unwrap(), first);
    }
    // A failed run does not change the state either.
    assert_eq!(
        program.run(&[], 10_000).unwrap().status,
        Status::Halt(HaltReason::OutOfGas(OutOfGasError::Basic))
    );
    assert_eq!(program.run(&[], 100_000).unwrap(), first);
}

/// A CALL of SHA-256 with 200,000 gas: seven pushes, one word of memory, the precompile's 60, and the cost of a CALL in
/// the fork. Before Spurious Dragon, calling an account without code, nonce and balance creates it.
#[test]
fn gas_of_a_call_at_every_fork() {
    let code = hex::decode("60206000600060006000600262030d40f100").unwrap();
    for fork in Fork::ALL {
        let call = match fork {
            Fork::Frontier | Fork::Homestead => 40 + 25_000,
            Fork::TangerineWhistle => 700 + 25_000,
            _ if fork < Fork::Berlin => 700,
            // EIP-2929: a precompile is always warm.
            _ => 100,
        };
        let run = execute(&code, &[], 1_000_000, fork).unwrap();
        assert_eq!(run.status, Status::Success, "{fork}");
        assert_eq!(run.gas_used, 7 * 3 + 3 + 60 + call, "{fork}");
    }
}
