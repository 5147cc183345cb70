//! Run one precompiled contract at two forks: EIP-7883 made modular exponentiation more expensive in Osaka.

use std::error::Error;

use lydite::bytes::{U256, hex};
use lydite::evm::precompile::{Fork, Precompile};

fn main() -> Result<(), Box<dyn Error>> {
    // Lengths of base, exponent and modulus (32 bytes each), then 3 to the power of 2^255 modulo 2^256 - 1.
    let mut input = Vec::new();
    for word in [
        U256::from(32u64),
        U256::from(32u64),
        U256::from(32u64),
        U256::from(3u64),
        U256::ONE << 255,
        U256::MAX,
    ] {
        input.extend_from_slice(&word.to_be_bytes());
    }
    for fork in [Fork::Berlin, Fork::Osaka] {
        let mut output = Vec::new();
        let gas = Precompile::Modexp.run(&input, 1_000_000, fork, &mut output)?;
        println!("{fork:?}: {gas} gas, {}", hex::encode_prefixed(output));
    }
    Ok(())
}
