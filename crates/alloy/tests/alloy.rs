//! Compares our hooks with alloy's implementation. No provider is installed in this process, and alloy's streaming hash
//! never uses the symbol, so both implementations are available.
#![allow(clippy::unwrap_used)]

use alloy_consensus::{
    TxEnvelope,
    crypto::{CryptoProvider, secp256k1},
    transaction::SignerRecoverable,
};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{Address, B256, Keccak256, Signature, U256, keccak256};
use lydite::{bytes::hex, curve::secp256k1::SecretKey, evm::tx::Transaction};
use lydite_alloy::LyditeProvider;
use proptest::prelude::*;

fn read(name: &str) -> serde_json::Value {
    let path = format!("{}/vectors/tx/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Recovers a signer from alloy's signature with our provider, in place of alloy-consensus' k256.
fn recover(signature: &Signature, hash: B256) -> Option<Address> {
    let mut bytes = [0; 65];
    bytes[..32].copy_from_slice(&signature.r().to_be_bytes::<32>());
    bytes[32..64].copy_from_slice(&signature.s().to_be_bytes::<32>());
    bytes[64] = u8::from(signature.v());
    LyditeProvider
        .recover_signer_unchecked(&bytes, &hash.0)
        .ok()
}

#[test]
fn transactions_of_all_types() {
    let generated = read("generated");
    let blocks = read("hoodi_772457_772461");
    let all = generated["transactions"].as_array().unwrap().iter();
    let mut types = [0; 5];
    for vector in all.chain(blocks.as_array().unwrap()) {
        let raw = hex::decode(vector["raw"].as_str().unwrap()).unwrap();
        let tx = TxEnvelope::decode_2718(&mut raw.as_slice()).unwrap();
        types[usize::from(tx.tx_type() as u8)] += 1;
        assert_eq!(tx.tx_hash().to_string(), vector["hash"].as_str().unwrap());
        let ours = Transaction::decode(&raw).unwrap();
        assert_eq!(lydite_alloy::to_transaction(&tx).unwrap(), ours);
        assert_eq!(lydite_alloy::to_envelope(&ours).ok().as_ref(), Some(&tx));
        let theirs = tx.recover_signer().ok();
        assert_eq!(
            theirs.map(|a| a.to_string()).as_deref(),
            vector["sender"].as_str()
        );
        if theirs.is_some() {
            assert_eq!(recover(tx.signature(), tx.signature_hash()), theirs);
        }
    }
    assert!(types.iter().all(|&count| count > 0), "{types:?}");
}

proptest! {
    #[test]
    fn hashes(message in prop::collection::vec(any::<u8>(), 0..600), from in 0_usize..64) {
        let message = &message[from.min(message.len())..];
        let mut streaming = Keccak256::new();
        streaming.update(message);
        prop_assert_eq!(keccak256(message), streaming.finalize());
    }

    /// Random signatures, most of which recover some key, including high s and out-of-range r or s.
    #[test]
    fn recovered(
        r in any::<[u8; 32]>(),
        s in any::<[u8; 32]>(),
        edge in 0_usize..12,
        odd in any::<bool>(),
        hash in any::<[u8; 32]>(),
    ) {
        let order = U256::from_str_radix(
            "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16).unwrap();
        let edges = [U256::ZERO, U256::ONE, order - U256::ONE, order, U256::MAX];
        let number = |bytes, at: usize| edges.get(at).copied().unwrap_or(U256::from_be_bytes(bytes));
        let hash = B256::new(hash);
        for (r, s) in [
            (number(r, edge), U256::from_be_bytes(s)),
            (U256::from_be_bytes(r), number(s, edge)),
        ] {
            let signature = Signature::new(r, s, odd);
            prop_assert_eq!(
                recover(&signature, hash),
                secp256k1::recover_signer_unchecked(&signature, hash).ok()
            );
        }
    }

    #[test]
    fn verified(
        key in any::<[u8; 32]>(),
        hash in any::<[u8; 32]>(),
        high in any::<bool>(),
        flipped in prop::option::of(0_usize..129 * 8),
    ) {
        let Ok(secret) = SecretKey::from_bytes(&key) else { return Ok(()) };
        let mut public = secret.public_key().to_sec1_uncompressed();
        let mut signature: [u8; 64] = secret.sign_prehash(&hash).to_bytes65()[..64].try_into().unwrap();
        if high {
            let order = U256::from_str_radix(
                "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16).unwrap();
            let s = order - U256::from_be_slice(&signature[32..]);
            signature[32..].copy_from_slice(&s.to_be_bytes::<32>());
        }
        if let Some(bit) = flipped {
            match bit / 8 {
                byte @ 0..65 => public[byte] ^= 1 << (bit % 8),
                byte => signature[byte - 65] ^= 1 << (bit % 8),
            }
        }
        let (r, s) = signature.split_at(32);
        let theirs = secp256k1::verify_and_compute_signer_unchecked(
            &public,
            &Signature::new(U256::from_be_slice(r), U256::from_be_slice(s), false),
            B256::new(hash),
        );
        let ours = LyditeProvider.verify_and_compute_signer_unchecked(&public, &signature, &hash);
        prop_assert_eq!(ours.ok(), theirs.ok());
    }
}
