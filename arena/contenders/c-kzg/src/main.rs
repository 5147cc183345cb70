//! c-kzg as a contender: the point evaluation of EIP-4844.

use arena_kit::{locked_version, precompile, run};
use c_kzg::{Bytes32, Bytes48, ethereum_kzg_settings};
use sha2::{Digest, Sha256};

/// 4096 and the order of the group, one word each.
const OUTPUT: [u8; 64] = {
    let mut output = [0; 64];
    output[30] = 16;
    let order: [u64; 4] = [
        0x73ed_a753_299d_7d48,
        0x3339_d808_09a1_d805,
        0x53bd_a402_fffe_5bfe,
        0xffff_ffff_0000_0001,
    ];
    let mut at = 0;
    while at < 32 {
        output[32 + at] = order[at / 8].to_be_bytes()[at % 8];
        at += 1;
    }
    output
};

/// The input is versioned hash, z, y, commitment, proof.
fn evaluate(input: &[u8]) -> Option<Vec<u8>> {
    let input: &[u8; 192] = input.try_into().ok()?;
    let commitment = &input[96..144];
    let mut hash: [u8; 32] = Sha256::digest(commitment).into();
    hash[0] = 1;
    if input[..32] != hash {
        return None;
    }
    let valid = ethereum_kzg_settings(0).verify_kzg_proof(
        &Bytes48::from_bytes(commitment).ok()?,
        &Bytes32::from_bytes(&input[32..64]).ok()?,
        &Bytes32::from_bytes(&input[64..96]).ok()?,
        &Bytes48::from_bytes(&input[144..]).ok()?,
    );
    valid.is_ok_and(|valid| valid).then(|| OUTPUT.to_vec())
}

fn main() {
    // Load the trusted setup before any clock runs.
    ethereum_kzg_settings(0);
    let version = locked_version(include_str!("../../Cargo.lock"), "c-kzg");
    run(
        "c-kzg",
        version,
        vec![precompile("precompile_0a", evaluate)],
    );
}
