//! Checks that each hook runs our code, by counting its calls.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU64, Ordering};

use alloy_consensus::{TxEnvelope, crypto::secp256k1, proofs, transaction::SignerRecoverable};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{Signature, U256, keccak256};
use lydite::{bytes::hex, evm::precompile::Fork};

use crate::{Installed, Status, calls, execute, install};

fn calls_of(counter: &AtomicU64, run: impl FnOnce()) -> u64 {
    let before = counter.load(Ordering::Relaxed);
    run();
    counter.load(Ordering::Relaxed) - before
}

// A single test, because the counters are shared by the process.
#[test]
fn every_hook_runs_our_code() {
    let both = Installed {
        consensus: true,
        revm: true,
    };
    assert_eq!(install(), both);
    let neither = Installed {
        consensus: false,
        revm: false,
    };
    assert_eq!(install(), neither, "each hook once");

    let once = calls_of(&calls::KECCAK, || {
        assert_eq!(keccak256(b"")[..4], [0xc5, 0xd2, 0x46, 0x01]);
    });
    assert_eq!(once, 1, "keccak256");

    // The first transaction of vectors/tx.
    let raw = hex::decode(
        "02f86f83088bb082027b843b9aca0084b3dcc26482520894f944a4f7a4ffa792363b23459f24aaf85dd8dc178080c001a0345b658e49cabd19\
         7451b390aa2571ae4fed6b74c1c818ba0d4eeca6f757e753a0680a06b178aa731e9b24ac434572f2f9deb7783b24327a2b179de4e1c7b7ae66",
    )
    .unwrap();
    let tx = TxEnvelope::decode_2718(&mut raw.as_slice()).unwrap();
    let hashed = calls_of(&calls::KECCAK, || {
        assert_eq!(tx.tx_hash()[..4], [0x2d, 0xef, 0xf9, 0x79]);
    });
    assert_eq!(hashed, 1, "hash of a transaction");
    let nodes = calls_of(&calls::KECCAK, || {
        proofs::calculate_transaction_root(&[tx.clone(), tx.clone()]);
    });
    // Two leaves of more than 32 bytes, the branch, and the node above it.
    assert!(nodes >= 3, "nodes of a trie: {nodes}");

    let recovered = calls_of(&calls::RECOVER, || {
        let sender = tx.recover_signer().unwrap();
        assert_eq!(
            sender.to_string(),
            "0xf944A4F7a4FFA792363b23459F24Aaf85DD8dC17"
        );
    });
    assert_eq!(recovered, 1, "sender");

    // The public key of the key 1 is the generator.
    let secret = lydite::curve::secp256k1::SecretKey::from_bytes(&U256::ONE.to_be_bytes()).unwrap();
    let key = secret.public_key();
    let hash = keccak256(b"hash");
    let signature = Signature::from_raw_array(&secret.sign_prehash(&hash.0).to_bytes65()).unwrap();
    let verified = calls_of(&calls::VERIFY, || {
        let signer =
            secp256k1::verify_and_compute_signer(&key.to_sec1_uncompressed(), &signature, hash);
        assert_eq!(signer.unwrap().0.0, key.to_address().0);
    });
    assert_eq!(verified, 1, "verification");

    // ECRECOVER with a CALL on the call data:
    // CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY, PUSH1 32 PUSH0 CALLDATASIZE PUSH0 PUSH0 PUSH1 1 GAS CALL, PUSH1 32 PUSH0 RETURN.
    let code = [
        0x36, 0x5f, 0x5f, 0x37, 0x60, 32, 0x5f, 0x36, 0x5f, 0x5f, 0x60, 1, 0x5a, 0xf1, 0x60, 32,
        0x5f, 0xf3,
    ];
    let v = U256::from(27 + u64::from(signature.v()));
    let input = [
        hash.0,
        v.to_be_bytes(),
        signature.r().to_be_bytes(),
        signature.s().to_be_bytes(),
    ];
    let precompiled = calls_of(&calls::PRECOMPILE, || {
        let run = execute(&code, input.as_flattened(), 100_000, Fork::Osaka).unwrap();
        assert_eq!(
            (run.status, &run.output[12..]),
            (Status::Success, &key.to_address().0[..])
        );
    });
    assert_eq!(precompiled, 1, "precompiled contract");

    // KECCAK256 of no bytes: PUSH0 PUSH0 KECCAK256 STOP.
    let hashed = calls_of(&calls::KECCAK, || {
        execute(&[0x5f, 0x5f, 0x20, 0x00], &[], 100_000, Fork::Osaka).unwrap();
    });
    assert!(hashed >= 1, "the opcode KECCAK256");
}
