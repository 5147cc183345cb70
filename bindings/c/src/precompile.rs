//! The EVM's precompiled contracts.

use lydite_core::evm::precompile::{Error, Fork, Precompile};

use crate::{
    memory::{Output, items, one_mut},
    status::{LYDITE_ERROR_ARGUMENT, LYDITE_ERROR_PRECOMPILE, failure, guard, lydite_status},
};

/// Run a precompiled contract with gas_limit gas, under the rules of a fork.
///
/// number is the last two bytes of the contract's address. The forks are 0 Frontier, 1 Homestead, 2 Tangerine Whistle,
/// 3 Spurious Dragon, 4 Byzantium, 5 Constantinople, 6 Petersburg, 7 Istanbul, 8 Berlin, 9 London, 10 Paris,
/// 11 Shanghai, 12 Cancun, 13 Prague, 14 Osaka, 15 Amsterdam.
///
/// Sets *gas_used, to gas_limit if the call fails. The output is at most 256 bytes long, except that the output of
/// identity (4) is as long as the input, and the output of modexp (5) as long as its modulus. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_precompile(
    number: u16,
    fork: u32,
    input: *const u8,
    length: usize,
    gas_limit: u64,
    gas_used: *mut u64,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let fork = usize::try_from(fork)
            .ok()
            .and_then(|index| Fork::ALL.get(index).copied());
        let fork = fork.ok_or_else(|| {
            failure(
                LYDITE_ERROR_ARGUMENT,
                "fork: expected 0 (Frontier) to 15 (Amsterdam)",
            )
        })?;
        let input = items(input, length, "input")?;
        let gas_used = one_mut(gas_used, "gas_used")?;
        *gas_used = gas_limit;
        let refused = |error: Error| failure(LYDITE_ERROR_PRECOMPILE, error);
        let precompile = Precompile::at(number, fork).ok_or_else(|| refused(Error::NotActive))?;
        let mut output = Vec::with_capacity(256);
        *gas_used = precompile
            .run(input, gas_limit, fork, &mut output)
            .map_err(refused)?;
        Output {
            out,
            capacity,
            written,
        }
        .copy(&output)
    })
}
