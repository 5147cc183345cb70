//! The EVM's precompiled contracts.

use lydite::evm::precompile::{Error, Fork, Precompile};

use crate::{
    failure::{Code, Failure},
    scratch::State,
};

/// Gas limit (8 bytes), then the input, for a contract number and a fork (index) → gas used (8 bytes) and the output.
pub fn run(state: &mut State, length: usize, number: usize, fork: usize) -> Result<usize, Failure> {
    let refused = |error: Error| match error {
        Error::NotBuilt => Failure::new(Code::Unsupported, error),
        _ => Failure::new(Code::Precompile, error),
    };
    let fork = *Fork::ALL
        .get(fork)
        .ok_or_else(|| Failure::argument("unknown fork"))?;
    let limit = u64::from_le_bytes(state.array(0)?);
    let input = state.range(8, length)?;
    let precompile = u16::try_from(number)
        .ok()
        .and_then(|number| Precompile::at(number, fork))
        .ok_or_else(|| refused(Error::NotActive))?;
    let mut output = Vec::new();
    let used = precompile
        .run(input, limit, fork, &mut output)
        .map_err(refused)?;
    state.put_owned([&used.to_le_bytes(), &*output].concat())
}
