#![allow(clippy::unwrap_used, clippy::panic)]
use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::str::FromStr;

use lydite_bytes::{Address, B256, Bytes, U256, hex};
use lydite_curve::secp256k1::{self, SecretKey, Signature};
use lydite_hash::keccak256;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::rlp::{self, ErrorKind, Header, Payload};

fn vectors(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn hoodi() -> Value {
    vectors(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/tx/hoodi_772457_772461.json"
    )))
}

fn generated() -> Value {
    vectors(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/tx/generated.json"
    )))
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

fn address(value: &Value) -> Address {
    Address::from_hex(value.as_str().unwrap()).unwrap()
}

/// Cases of both files, as (raw, hash, sender).
fn cases() -> Vec<(Vec<u8>, Vec<u8>, Address)> {
    let (hoodi, generated) = (hoodi(), generated());
    let all = hoodi
        .as_array()
        .unwrap()
        .iter()
        .chain(generated["transactions"].as_array().unwrap());
    all.map(|case| {
        (
            bytes(&case["raw"]),
            bytes(&case["hash"]),
            address(&case["sender"]),
        )
    })
    .collect()
}

#[test]
fn vectors_hash_recover_and_encode() {
    let cases = cases();
    assert_eq!(cases.len(), 130 + 58);
    for (raw, hash, sender) in &cases {
        let view = TransactionRef::decode(raw).unwrap();
        assert_eq!(view.hash(), hash[..]);
        assert_eq!(view.sender(), Ok(*sender));
        let owned = Transaction::decode(raw).unwrap();
        assert_eq!(owned.encode(), *raw);
        assert_eq!(owned.encoded_len(), raw.len());
        assert_eq!(owned.hash(), hash[..]);
        assert_eq!(owned.signing_hash(), view.signing_hash());
        assert_eq!(owned.sender(), Ok(*sender));
        assert_eq!(
            (owned.kind(), owned.signature()),
            (view.kind, &view.signature)
        );
        let mut buffer = vec![0; raw.len()];
        assert_eq!(owned.encode_into(&mut buffer), Ok(raw.len()));
        assert_eq!(buffer, *raw);
        let short = rlp::Error {
            kind: ErrorKind::BufferTooSmall,
            offset: raw.len(),
        };
        assert_eq!(owned.encode_into(&mut buffer[1..]), Err(short));
        assert_eq!(
            TransactionRef::decode_pooled(raw).unwrap().0.hash(),
            hash[..]
        );
    }
    // Batches of more than one chunk, with invalid envelopes among valid ones.
    let raws: Vec<&[u8]> = cases
        .iter()
        .flat_map(|(raw, ..)| [&raw[..], &raw[1..]])
        .collect();
    let mut out = vec![Err(Error::Length); raws.len()];
    senders(&raws, &mut out).unwrap();
    for (pair, (_, _, sender)) in out.chunks(2).zip(&cases) {
        assert_eq!(pair[0], Ok(*sender));
        assert!(pair[1].is_err());
    }
    assert_eq!(senders(&raws, &mut out[1..]), Err(Error::Length));
    assert_eq!(senders(&[], &mut []), Ok(()));
    let mut out = vec![Err(Error::Length); raws.len()];
    hashes(&raws, &mut out).unwrap();
    for (pair, raw) in out.chunks(2).zip(raws.iter().step_by(2)) {
        assert_eq!(pair[0], Ok(keccak256(raw).into()));
        assert!(pair[1].is_err());
    }
    assert_eq!(hashes(&raws, &mut out[1..]), Err(Error::Length));
    assert_eq!(hashes(&[], &mut []), Ok(()));
}

#[test]
fn generated_fields_and_signatures() {
    let generated = generated();
    let mut kinds = [0; 5];
    for case in generated["transactions"].as_array().unwrap() {
        let raw = bytes(&case["raw"]);
        let view = TransactionRef::decode(&raw).unwrap();
        let name = case["name"].as_str().unwrap();
        let number = |key: &str| U256::from_str(case[key].as_str().unwrap()).unwrap();
        kinds[view.kind as usize] += 1;
        assert_eq!(view.kind as u64, case["type"].as_u64().unwrap(), "{name}");
        assert_eq!(
            view.signing_hash(),
            bytes(&case["signing_hash"])[..],
            "{name}"
        );
        let chain_id = case["chain_id"]
            .as_str()
            .map(|text| text.parse::<u64>().unwrap());
        assert_eq!(view.chain_id, chain_id, "{name}");
        assert_eq!(U256::from(view.nonce), number("nonce"), "{name}");
        assert_eq!(U256::from(view.gas_limit), number("gas_limit"), "{name}");
        assert_eq!(
            U256::from(view.max_fee_per_gas),
            number("max_fee_per_gas"),
            "{name}"
        );
        assert_eq!(
            U256::from(view.max_priority_fee_per_gas),
            number("max_priority_fee_per_gas"),
            "{name}"
        );
        assert_eq!(view.value, number("value"), "{name}");
        assert_eq!(
            view.to,
            case["to"].as_str().map(|to| Address::from_hex(to).unwrap()),
            "{name}"
        );
        assert_eq!(
            view.data.len() as u64,
            case["data_len"].as_u64().unwrap(),
            "{name}"
        );
        let list: Vec<AccessListItem> = view.access_list.to_vec();
        let expected: Vec<AccessListItem> = case["access_list"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let keys = item[1].as_array().unwrap().iter();
                let storage_keys = keys
                    .map(|key| B256::from_str(key.as_str().unwrap()).unwrap())
                    .collect();
                AccessListItem {
                    address: address(&item[0]),
                    storage_keys,
                }
            })
            .collect();
        assert_eq!(list, expected, "{name}");
        if view.kind == TransactionType::Eip4844 {
            assert_eq!(
                U256::from(view.max_fee_per_blob_gas),
                number("max_fee_per_blob_gas"),
                "{name}"
            );
            let expected: Vec<Vec<u8>> = case["blob_versioned_hashes"]
                .as_array()
                .unwrap()
                .iter()
                .map(bytes)
                .collect();
            assert_eq!(
                view.blob_versioned_hashes
                    .iter()
                    .map(|hash| hash.to_vec())
                    .collect::<Vec<_>>(),
                expected
            );
        }
        if view.kind == TransactionType::Eip7702 {
            let authorities: Vec<Address> = view
                .authorization_list
                .iter()
                .map(|a| a.authority().unwrap())
                .collect();
            let expected: Vec<Address> = case["authorities"]
                .as_array()
                .unwrap()
                .iter()
                .map(address)
                .collect();
            assert_eq!(authorities, expected, "{name}");
        }
        // RFC 6979 is deterministic: the same key produces the same bytes.
        let key = SecretKey::from_bytes(&bytes(&case["private_key"]).try_into().unwrap()).unwrap();
        let signed = match Transaction::from(view) {
            Transaction::Legacy(signed) => signed.transaction.sign(&key).into(),
            Transaction::Eip2930(signed) => signed.transaction.sign(&key).into(),
            Transaction::Eip1559(signed) => signed.transaction.sign(&key).into(),
            Transaction::Eip4844(signed) => signed.transaction.sign(&key).into(),
            Transaction::Eip7702(signed) => Transaction::from(signed.transaction.sign(&key)),
        };
        assert_eq!(signed.encode(), raw, "{name}");
        assert_eq!(view.sign(&key).encode(), raw, "{name}");
        let request = request_of(&view);
        assert_eq!(request.clone().sign(&key), Ok(signed), "{name}");
        refusals(&request, &key);
    }
    assert_eq!(kinds, [13, 10, 19, 8, 8]);
}

/// Copies the fields of a view to a request.
fn request_of(view: &TransactionRef<'_>) -> TransactionRequest {
    let mut request = TransactionRequest {
        kind: view.kind,
        ..TransactionRequest::default()
    };
    for field in view.kind.fields() {
        match field {
            Field::ChainId => request.chain_id = view.chain_id,
            Field::Nonce => request.nonce = view.nonce,
            Field::GasPrice => request.gas_price = view.max_fee_per_gas,
            Field::MaxPriorityFeePerGas => {
                request.max_priority_fee_per_gas = view.max_priority_fee_per_gas;
            }
            Field::MaxFeePerGas => request.max_fee_per_gas = view.max_fee_per_gas,
            Field::GasLimit => request.gas_limit = view.gas_limit,
            Field::To => request.to = view.to,
            Field::Value => request.value = view.value,
            Field::Data => request.data = view.data.into(),
            Field::AccessList => request.access_list = view.access_list.to_vec(),
            Field::MaxFeePerBlobGas => request.max_fee_per_blob_gas = view.max_fee_per_blob_gas,
            Field::BlobVersionedHashes => {
                request.blob_versioned_hashes = view.blob_versioned_hashes.to_vec();
            }
            Field::AuthorizationList => {
                request.authorization_list = view.authorization_list.to_vec();
            }
        }
    }
    request
}

/// A request is rejected with a field that its type does not have, and without one that it requires.
fn refusals(request: &TransactionRequest, key: &SecretKey) {
    let kind = request.kind;
    let changed = |change: fn(&mut TransactionRequest)| {
        let mut request = request.clone();
        change(&mut request);
        request.sign(key).map(|_| ())
    };
    let mut foreign = 0;
    for &field in Field::ALL {
        let given = changed(match field {
            Field::GasPrice => |request| request.gas_price = 1,
            Field::MaxPriorityFeePerGas => |request| request.max_priority_fee_per_gas = 1,
            Field::MaxFeePerGas => |request| request.max_fee_per_gas = 1,
            Field::AccessList => |request| request.access_list = vec![AccessListItem::default()],
            Field::MaxFeePerBlobGas => |request| request.max_fee_per_blob_gas = 1,
            Field::BlobVersionedHashes => {
                |request| request.blob_versioned_hashes = vec![B256::ZERO]
            }
            Field::AuthorizationList => {
                |request| request.authorization_list = vec![Authorization::default()]
            }
            _ => |_| {},
        });
        let expected = if kind.has(field) {
            Ok(())
        } else {
            foreign += 1;
            Err(Error::ForeignField(field, kind))
        };
        assert_eq!(given, expected, "{field:?} in {kind:?}");
    }
    assert_eq!(foreign, [6, 5, 4, 2, 3][kind as usize]);
    let without = |needed, field| {
        if needed {
            Err(Error::MissingField(field))
        } else {
            Ok(())
        }
    };
    let typed = kind != TransactionType::Legacy;
    let no_chain = changed(|request| request.chain_id = None);
    assert_eq!(no_chain, without(typed, Field::ChainId));
    let creates = changed(|request| request.to = None);
    let calls_only = matches!(kind, TransactionType::Eip4844 | TransactionType::Eip7702);
    assert_eq!(creates, without(calls_only, Field::To));
}

/// `vectors/eth-ops`: the transaction used in both reports.
#[test]
fn the_reports_transaction() {
    let ops = vectors(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/eth-ops/vectors.json"
    )));
    let transfer = TxEip1559 {
        chain_id: 1,
        nonce: 42,
        max_priority_fee_per_gas: 2_000_000_000,
        max_fee_per_gas: 100_000_000_000,
        gas_limit: 21_000,
        to: Some(Address::from_hex("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266").unwrap()),
        value: U256::from(1_000_000_000_000_000_000u64),
        ..TxEip1559::default()
    };
    let expected = &ops["rlp_encode_eip1559_tx"]["expected"];
    assert_eq!(transfer.encode_for_signing(), bytes(&expected["with_type"]));
    assert_eq!(rlp::encode(&transfer), bytes(&expected["list_only"]));
    assert_eq!(
        transfer.signing_hash(),
        bytes(&ops["tx_hash_eip1559"]["expected"])[..]
    );
    assert_eq!(
        keccak256(&transfer.encode_for_signing()),
        transfer.signing_hash()
    );
    let mut buffer = [0; 50];
    assert_eq!(transfer.encode_for_signing_into(&mut buffer), Ok(50));
    assert_eq!(buffer[..], transfer.encode_for_signing());
    assert_eq!(rlp::decode(&buffer[1..]), Ok(transfer));
}

#[test]
fn signatures_without_a_sender() {
    let raw = bytes(&generated()["high_s"]);
    let mut out = [Ok(Address::ZERO)];
    let high = Err(Error::Signature(secp256k1::Error::HighS));
    assert_eq!(TransactionRef::decode(&raw).unwrap().sender(), high);
    assert_eq!(Transaction::decode(&raw).unwrap().sender(), high);
    senders(&[&raw], &mut out).unwrap();
    assert_eq!(out[0], high);
    let order = *b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xba\xae\xdc\xe6\xaf\x48\xa0\x3b\xbf\xd2\x5e\x8c\xd0\x36\x41\x41";
    let one = *B256::from(U256::ONE.to_be_bytes());
    for (r, s, error) in [
        ([0; 32], one, secp256k1::Error::ROutOfRange),
        (order, one, secp256k1::Error::ROutOfRange),
        (one, [0; 32], secp256k1::Error::SOutOfRange),
    ] {
        let signature = Signature::new(r, s, 0);
        let signed = Signed {
            transaction: TxEip1559::default(),
            signature,
        };
        let raw = signed.encode();
        assert_eq!(signed.sender(), Err(Error::Signature(error)));
        assert_eq!(
            TransactionRef::decode(&raw).unwrap().sender(),
            Err(Error::Signature(error))
        );
        senders(&[&raw], &mut out).unwrap();
        assert_eq!(out[0], Err(Error::Signature(error)));
    }
}

#[test]
fn authorizations() {
    let key = SecretKey::from_bytes(&[7; 32]).unwrap();
    let authorization = Authorization::sign(U256::MAX, Address([5; 20]), u64::MAX, &key);
    assert_eq!(authorization.authority(), Ok(key.public_key().to_address()));
    assert_eq!(rlp::decode(&rlp::encode(&authorization)), Ok(authorization));
    let odd = Authorization {
        y_parity: 2,
        ..authorization
    };
    assert_eq!(
        odd.authority(),
        Err(Error::Signature(secp256k1::Error::RecoveryId))
    );
    let zero = Authorization {
        r: U256::ZERO,
        ..authorization
    };
    assert_eq!(
        zero.authority(),
        Err(Error::Signature(secp256k1::Error::ROutOfRange))
    );
}

#[test]
fn hostile_envelopes() {
    let rlp = |kind, offset| Error::Rlp(rlp::Error { kind, offset });
    let v = |v: u128| {
        let mut raw = Vec::new();
        let fields = (0u8, 0u8, 0u8, "", 0u8, "");
        let signature = (v, 1u8, 1u8);
        Header {
            list: true,
            payload_len: fields.payload_len() + signature.payload_len(),
        }
        .encode(&mut raw);
        fields.encode_payload(&mut raw);
        signature.encode_payload(&mut raw);
        TransactionRef::decode(&raw).map(|view| (view.chain_id, view.signature.recovery_id()))
    };
    assert_eq!(v(27), Ok((None, 0)));
    assert_eq!(v(28), Ok((None, 1)));
    assert_eq!(v(35), Ok((Some(0), 0)));
    assert_eq!(v(38), Ok((Some(1), 1)));
    for bad in [0, 1, 26, 29, 34] {
        assert_eq!(v(bad), Err(Error::InvalidV { offset: 7 }));
    }
    // The chain id (v - 35) / 2 must not wrap at 2^64.
    let last = 35 + 2 * u128::from(u64::MAX);
    assert_eq!(v(last), Ok((Some(u64::MAX), 0)));
    assert_eq!(v(last + 1), Ok((Some(u64::MAX), 1)));
    for bad in [
        35 + (1 << 65),
        36 + (1 << 65),
        37 + (1 << 65),
        35 + (1 << 66),
        u128::MAX,
    ] {
        assert_eq!(v(bad), Err(Error::InvalidV { offset: 7 }), "{bad}");
    }
    assert_eq!(
        Error::InvalidV { offset: 7 }.to_string(),
        "byte 7: expected v 27, 28, or at least 35 with a chain id below 2^64"
    );

    assert_eq!(
        TransactionRef::decode(&[]).unwrap_err(),
        rlp(ErrorKind::UnexpectedEnd, 0)
    );
    for byte in [0x00, 0x05, 0x7f, 0x80, 0xb9, 0xbf] {
        assert_eq!(
            TransactionRef::decode(&[byte, 0xc0]).unwrap_err(),
            Error::UnknownType(byte)
        );
    }
    for kind in 1..=4 {
        assert_eq!(
            TransactionRef::decode(&[kind]).unwrap_err(),
            rlp(ErrorKind::UnexpectedEnd, 1)
        );
        assert_eq!(
            TransactionRef::decode(&[kind, 0x80]).unwrap_err(),
            rlp(ErrorKind::ExpectedList, 1)
        );
        assert_eq!(
            TransactionRef::decode(&[kind, 0xc1, 0xc0]).unwrap_err(),
            rlp(ErrorKind::ExpectedString, 2)
        );
    }
    assert_eq!(
        TransactionRef::decode(&[0xff; 9]).unwrap_err(),
        rlp(ErrorKind::UnexpectedEnd, 0)
    );

    // A fee of 2^128 is rejected with an error that mentions the limit; the largest fee below it is accepted.
    let fee = |gas_price: U256| {
        let mut raw = Vec::new();
        let fields = (0u8, gas_price, 0u8, "", 0u8, "");
        let signature = (27u8, 1u8, 1u8);
        Header {
            list: true,
            payload_len: fields.payload_len() + signature.payload_len(),
        }
        .encode(&mut raw);
        fields.encode_payload(&mut raw);
        signature.encode_payload(&mut raw);
        TransactionRef::decode(&raw).map(|view| view.max_fee_per_gas)
    };
    assert_eq!(fee(U256::from(u128::MAX)), Ok(u128::MAX));
    let error = fee(U256::ONE << 128).unwrap_err();
    assert_eq!(error, rlp(ErrorKind::IntegerTooLarge { bits: 128 }, 2));
    assert_eq!(
        error.to_string(),
        "byte 2: expected an integer of at most 128 bits, found a larger one"
    );

    for (raw, ..) in cases() {
        let step = raw.len() / 300 + 1;
        for end in (0..raw.len()).step_by(step) {
            assert!(TransactionRef::decode(&raw[..end]).is_err());
            assert!(TransactionRef::decode_pooled(&raw[..end]).is_err());
        }
        let longer = [&raw[..], &[0]].concat();
        assert_eq!(
            TransactionRef::decode(&longer).unwrap_err(),
            rlp(ErrorKind::TrailingBytes, raw.len())
        );
    }

    // The parity of a typed transaction is 0 or 1; blob and set-code transactions have a recipient.
    let transaction = TxEip1559::default();
    let signature = Signature::new([1; 32], [1; 32], 2);
    let raw = Signed {
        transaction,
        signature,
    }
    .encode();
    assert_eq!(
        TransactionRef::decode(&raw).unwrap_err(),
        rlp(ErrorKind::InvalidBool, raw.len() - 67)
    );
    let fields = (0u8, 0u8, 0u8, 0u8, 0u8, "");
    for kind in [3, 4] {
        let raw = [&[kind], &rlp::encode(&fields)[..]].concat();
        assert_eq!(
            TransactionRef::decode(&raw).unwrap_err(),
            rlp(ErrorKind::WrongLength, 7)
        );
    }
}

/// Wraps a type 3 transaction with these numbers of blobs, commitments and proofs.
fn wrap(
    raw: &[u8],
    version: Option<u8>,
    blobs: usize,
    commitments: usize,
    proofs: usize,
) -> Vec<u8> {
    let sidecar = (
        vec![[7; 131_072]; blobs],
        vec![[8; 48]; commitments],
        vec![[9; 48]; proofs],
    );
    let mut payload = raw[1..].to_vec();
    if let Some(version) = version {
        rlp::encode_append(&version, &mut payload);
    }
    sidecar.encode_payload(&mut payload);
    let mut wrapped = vec![3];
    Header {
        list: true,
        payload_len: payload.len(),
    }
    .encode(&mut wrapped);
    wrapped.extend(payload);
    wrapped
}

#[test]
fn pooled_blob_transactions() {
    let generated = generated();
    for case in generated["transactions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["type"] == 3)
    {
        let raw = bytes(&case["raw"]);
        let n = case["blob_versioned_hashes"].as_array().unwrap().len();
        for (version, proofs) in [(None, n), (Some(1), 128 * n)] {
            let wrapped = wrap(&raw, version, n, n, proofs);
            let (view, sidecar) = TransactionRef::decode_pooled(&wrapped).unwrap();
            let sidecar = sidecar.unwrap();
            assert_eq!(view.hash(), bytes(&case["hash"])[..]);
            assert_eq!(view.sender(), Ok(address(&case["sender"])));
            assert_eq!(Transaction::from(view).encode(), raw);
            assert_eq!(sidecar.version, version.unwrap_or(0));
            assert_eq!(sidecar.blobs.len(), n);
            assert_eq!(sidecar.commitments.iter().next(), Some(&[8; 48]));
            assert_eq!(sidecar.proofs.len(), proofs);
            assert!(TransactionRef::decode(&wrapped).is_err());
            assert!(TransactionRef::decode_pooled(&wrapped[..wrapped.len() - 1]).is_err());
            for (blobs, commitments, proofs) in
                [(n - 1, n, proofs), (n, n - 1, proofs), (n, n, proofs - 1)]
            {
                let wrapped = wrap(&raw, version, blobs, commitments, proofs);
                assert_eq!(
                    TransactionRef::decode_pooled(&wrapped).unwrap_err(),
                    Error::BlobCount
                );
            }
        }
        for version in [0, 2] {
            let unknown = wrap(&raw, Some(version), n, n, n);
            assert_eq!(
                TransactionRef::decode_pooled(&unknown).unwrap_err(),
                Error::UnknownWrapper(version)
            );
        }
    }
}

fn access_lists() -> impl Strategy<Value = Vec<AccessListItem>> {
    let keys = proptest::collection::vec(any::<[u8; 32]>().prop_map(B256::from), 0..4);
    let item = (any::<[u8; 20]>(), keys).prop_map(|(address, storage_keys)| AccessListItem {
        address: Address(address),
        storage_keys,
    });
    proptest::collection::vec(item, 0..4)
}

proptest! {
    #[test]
    fn signed_transactions_come_back(
        chain_id in any::<u64>(),
        nonce in any::<u64>(),
        fees in any::<[u128; 3]>(),
        shift in 0u32..128,
        gas_limit in any::<u64>(),
        to in any::<Option<[u8; 20]>>(),
        value in any::<[u64; 4]>(),
        data in proptest::collection::vec(any::<u8>(), 0..300),
        access_list in access_lists(),
        hashes in proptest::collection::vec(any::<[u8; 32]>(), 0..4),
        signature in (any::<[u8; 32]>(), any::<[u8; 32]>(), 0u8..2),
    ) {
        let [max_priority_fee_per_gas, max_fee_per_gas, max_fee_per_blob_gas] = fees.map(|fee| fee >> shift);
        let (value, data) = (U256::from_limbs(value) >> (2 * shift), Bytes(data));
        let (to, account) = (to.map(Address), Address(to.unwrap_or_default()));
        let (r, s, recovery_id) = signature;
        let signature = Signature::new(r, s, recovery_id);
        let authorization = Authorization {
            chain_id: value, address: account, nonce, y_parity: r[0], r: U256::from_be_bytes(r), s: U256::from_be_bytes(s),
        };
        let all = [
            Transaction::Legacy(Signed { signature, transaction: TxLegacy {
                chain_id: to.map(|_| chain_id), nonce, gas_price: max_fee_per_gas, gas_limit, to, value, data: data.clone(),
            } }),
            Transaction::Eip2930(Signed { signature, transaction: TxEip2930 {
                chain_id, nonce, gas_price: max_fee_per_gas, gas_limit, to, value, data: data.clone(),
                access_list: access_list.clone(),
            } }),
            Transaction::Eip1559(Signed { signature, transaction: TxEip1559 {
                chain_id, nonce, max_priority_fee_per_gas, max_fee_per_gas, gas_limit, to, value, data: data.clone(),
                access_list: access_list.clone(),
            } }),
            Transaction::Eip4844(Signed { signature, transaction: TxEip4844 {
                chain_id, nonce, max_priority_fee_per_gas, max_fee_per_gas, gas_limit, to: account, value,
                data: data.clone(), access_list: access_list.clone(), max_fee_per_blob_gas,
                blob_versioned_hashes: hashes.iter().map(|hash| B256::from(*hash)).collect(),
            } }),
            Transaction::Eip7702(Signed { signature, transaction: TxEip7702 {
                chain_id, nonce, max_priority_fee_per_gas, max_fee_per_gas, gas_limit, to: account, value, data,
                access_list, authorization_list: vec![authorization; hashes.len()],
            } }),
        ];
        for transaction in all {
            let raw = transaction.encode();
            prop_assert_eq!(transaction.encoded_len(), raw.len());
            let view = TransactionRef::decode(&raw).unwrap();
            prop_assert_eq!(view.hash(), keccak256(&raw));
            prop_assert_eq!(transaction.hash(), keccak256(&raw));
            prop_assert_eq!(view.signing_hash(), transaction.signing_hash());
            prop_assert_eq!(Transaction::from(view), transaction);
        }
    }

    /// Changed bytes do not cause a panic, and input that is still accepted is canonical.
    #[test]
    fn mutations(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), pick in any::<prop::sample::Index>()) {
        let mut raw = pick.get(&short_cases()).clone();
        for (index, byte) in changes {
            let index = index.index(raw.len());
            raw[index] = byte;
        }
        if let Ok(view) = TransactionRef::decode(&raw) {
            prop_assert_eq!(view.hash(), keccak256(&raw));
            let _ = view.sender();
            prop_assert_eq!(Transaction::from(view).encode(), raw);
        } else {
            prop_assert!(TransactionRef::decode_pooled(&raw).is_err());
        }
    }
}

/// Raw transactions below 1 kB.
fn short_cases() -> Vec<Vec<u8>> {
    cases()
        .into_iter()
        .map(|(raw, ..)| raw)
        .filter(|raw| raw.len() < 1000)
        .collect()
}

#[test]
fn every_byte_changed_in_headers() {
    for raw in short_cases().iter().step_by(9) {
        for index in 0..raw.len().min(60) {
            for byte in 0..=255 {
                let mut changed = raw.clone();
                changed[index] = byte;
                if let Ok(transaction) = Transaction::decode(&changed) {
                    assert_eq!(transaction.encode(), changed);
                }
            }
        }
    }
}

#[test]
fn errors_are_told() {
    let texts: Vec<String> = [
        Error::UnknownType(0x7f),
        Error::UnknownWrapper(2),
        Error::BlobCount,
        Error::Signature(secp256k1::Error::HighS),
        Error::MissingField(Field::To),
        Error::MissingField(Field::ChainId),
        Error::ForeignField(Field::AccessList, TransactionType::Legacy),
        Error::Length,
    ]
    .map(|error| error.to_string())
    .into();
    assert_eq!(
        texts,
        [
            "byte 0: unknown transaction type 0x7f",
            "unknown blob wrapper version 2; expected 1",
            "numbers of blobs, commitments, proofs and versioned hashes do not match",
            "signature: s is above n / 2 (EIP-2)",
            "to: missing; this transaction type cannot create a contract",
            "chain_id: missing",
            "access_list: not a field of transaction type 0",
            "batch: expected slices of equal length",
        ]
    );
}
