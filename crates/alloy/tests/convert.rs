//! Conversions of transactions from and to alloy-consensus, and their JSON-RPC objects, compared with those of alloy.

#![allow(clippy::unwrap_used, clippy::panic)]

use alloy_consensus::{
    EthereumTxEnvelope, Signed, TxEip4844, TxEip4844Variant, TxEip4844WithSidecar, TxEnvelope,
    transaction::SignerRecoverable,
};
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use lydite::{
    bytes::{Address, B256, Bytes, U256, hex},
    curve::secp256k1::{self, SecretKey, Signature},
    evm::tx::{
        AccessListItem, Authorization, Error, Field, Transaction, TransactionRequest,
        TransactionType,
    },
};
// Defines the symbol for Keccak-256.
use lydite_alloy as _;
use proptest::{collection::vec, prelude::*};
use serde_json::Value;

/// Compares a transaction with what alloy decodes from its encoding.
fn compare(ours: &Transaction) {
    let raw = ours.encode();
    let theirs = TxEnvelope::decode_2718_exact(&raw).unwrap();

    let converted = TxEnvelope::try_from(ours.clone()).unwrap();
    assert_eq!(converted, theirs);
    assert_eq!(converted.encoded_2718(), raw);
    assert_eq!(converted.tx_hash().0, ours.hash());
    assert_eq!(converted.signature_hash().0, ours.signing_hash());
    let sender = converted.recover_signer().ok();
    assert_eq!(sender.map(Address::from), ours.sender().ok());
    assert_eq!(Transaction::try_from(converted).as_ref(), Ok(ours));

    // The envelope without sidecars.
    let converted = EthereumTxEnvelope::<TxEip4844>::try_from(ours.clone()).unwrap();
    assert_eq!(converted.encoded_2718(), raw);
    assert_eq!(&Transaction::from(converted), ours);

    let object = serde_json::to_value(ours).unwrap();
    assert_eq!(object, serde_json::to_value(&theirs).unwrap());
    let read: Transaction = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(&read, ours);
    let read: TxEnvelope = serde_json::from_value(object).unwrap();
    assert_eq!(read, theirs);
}

/// The raw transactions of vectors/tx, which have all types.
#[test]
fn published_transactions() {
    let read = |name: &str| -> Value {
        let path = format!("{}/../../vectors/tx/{name}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    let (blocks, generated) = (read("hoodi_772457_772461.json"), read("generated.json"));
    let generated = generated["transactions"].as_array().unwrap();
    let mut types = [0; 5];
    for transaction in blocks.as_array().unwrap().iter().chain(generated) {
        let raw = hex::decode(transaction["raw"].as_str().unwrap()).unwrap();
        let transaction = Transaction::decode(&raw).unwrap();
        assert_eq!(transaction.encode(), raw);
        compare(&transaction);
        types[transaction.kind() as usize] += 1;
    }
    assert!(types.iter().all(|count| *count > 0), "{types:?}");
}

/// Integers of all lengths.
fn integer(bits: u32) -> impl Strategy<Value = u128> {
    (any::<u128>(), 0..=bits).prop_map(|(integer, bits)| match bits {
        0 => 0,
        bits => integer >> (128 - bits),
    })
}

fn short() -> impl Strategy<Value = u64> {
    integer(64).prop_map(|integer| u64::try_from(integer).unwrap())
}

fn long() -> impl Strategy<Value = U256> {
    (any::<[u64; 4]>(), 0..5_usize).prop_map(|(mut limbs, length)| {
        limbs[length..].fill(0);
        U256::from_limbs(limbs)
    })
}

fn address() -> impl Strategy<Value = Address> {
    any::<[u8; 20]>().prop_map(Address)
}

fn words() -> impl Strategy<Value = Vec<B256>> {
    vec(any::<[u8; 32]>().prop_map(B256::from), 0..4)
}

fn access_list() -> impl Strategy<Value = Vec<AccessListItem>> {
    let item = (address(), words()).prop_map(|(address, storage_keys)| AccessListItem {
        address,
        storage_keys,
    });
    vec(item, 0..4)
}

/// Authorizations with any signature, which need not be valid.
fn authorization_list() -> impl Strategy<Value = Vec<Authorization>> {
    let authorization = (long(), address(), short(), any::<u8>(), long(), long()).prop_map(
        |(chain_id, address, nonce, y_parity, r, s)| Authorization {
            chain_id,
            address,
            nonce,
            y_parity,
            r,
            s,
        },
    );
    vec(authorization, 0..4)
}

fn request() -> impl Strategy<Value = TransactionRequest> {
    let integers = (any::<bool>(), short(), short(), short(), long());
    let fees = [integer(128), integer(128), integer(128), integer(128)];
    let to = prop::option::of(address());
    let lists = (access_list(), words(), authorization_list());
    let data = any::<Vec<u8>>();
    (0..5_u8, integers, fees, to, lists, data).prop_map(
        |(kind, integers, fees, to, lists, data)| {
            let kind = TransactionType::try_from(kind).unwrap();
            fn given<T: Default>(kind: TransactionType, field: Field, value: T) -> T {
                if kind.has(field) { value } else { T::default() }
            }
            let (replayable, chain_id, nonce, gas_limit, value) = integers;
            let can_create = (kind as u8) <= 2;
            let can_replay = kind == TransactionType::Legacy;
            let fee = |field, index: usize| given(kind, field, fees[index]);
            TransactionRequest {
                kind,
                chain_id: (!(can_replay && replayable)).then_some(chain_id),
                nonce,
                gas_limit,
                gas_price: fee(Field::GasPrice, 0),
                max_priority_fee_per_gas: fee(Field::MaxPriorityFeePerGas, 1),
                max_fee_per_gas: fee(Field::MaxFeePerGas, 2),
                max_fee_per_blob_gas: fee(Field::MaxFeePerBlobGas, 3),
                to: to.or((!can_create).then_some(Address::ZERO)),
                value,
                data: Bytes(data),
                access_list: given(kind, Field::AccessList, lists.0),
                blob_versioned_hashes: given(kind, Field::BlobVersionedHashes, lists.1),
                authorization_list: given(kind, Field::AuthorizationList, lists.2),
            }
        },
    )
}

proptest! {
    #[test]
    fn random_transactions(request in request(), key in any::<[u8; 32]>()) {
        let Ok(key) = SecretKey::from_bytes(&key) else { return Ok(()) };
        let transaction = request.sign(&key).unwrap();
        prop_assert_eq!(transaction.sender(), Ok(key.public_key().to_address()));
        compare(&transaction);
    }

    /// Signatures that need not be valid.
    #[test]
    fn random_signatures(
        request in request(),
        r in any::<[u8; 32]>(),
        s in any::<[u8; 32]>(),
        recovery_id in 0..2_u8,
    ) {
        compare(&request.with_signature(Signature::new(r, s, recovery_id)).unwrap());
    }
}

#[test]
fn no_equivalent() {
    let signature = alloy_primitives::Signature::test_signature();
    let variant = TxEip4844Variant::TxEip4844WithSidecar(TxEip4844WithSidecar {
        tx: TxEip4844::default(),
        sidecar: (),
    });
    let blobs = EthereumTxEnvelope::Eip4844(Signed::new_unhashed(variant, signature));
    let error = Transaction::try_from(blobs).unwrap_err();
    assert_eq!(error, Error::Sidecar);
    assert!(error.to_string().contains("expected no sidecar"), "{error}");

    // The x of the nonce point is r + n, which alloy's signature cannot express.
    let signature = Signature::new([1; 32], [1; 32], 2);
    let request = TransactionRequest::default();
    let transaction = request.with_signature(signature).unwrap();
    let error = TxEnvelope::try_from(transaction).unwrap_err();
    assert_eq!(error, Error::Signature(secp256k1::Error::RecoveryId));
}
