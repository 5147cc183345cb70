//! Signed transactions of every type, split into columns and rebuilt.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, ListArray,
    RecordBatch, StringArray, StructArray, UInt8Array, UInt64Array, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use lydite_arrow::{
    ByteColumn, ColumnMap, Error, Role, RowError, TransactionColumns, decode_transactions,
    transaction_fields,
};
use lydite_bytes::{Address, B256, Bytes, U256};
use lydite_curve::secp256k1::SecretKey;
use lydite_evm::tx::{
    AccessListItem, Authorization, Transaction, TransactionRequest, TransactionType,
};

/// Transactions of every type; legacy ones with and without EIP-155.
fn requests() -> Vec<TransactionRequest> {
    let kinds = [
        TransactionType::Legacy,
        TransactionType::Legacy,
        TransactionType::Eip2930,
        TransactionType::Eip1559,
        TransactionType::Eip4844,
        TransactionType::Eip7702,
    ];
    let requests = (0u8..24).map(|n| {
        let kind = kinds[usize::from(n) % kinds.len()];
        let mut request = TransactionRequest {
            kind,
            chain_id: (n % 6 != 1).then_some(1 + u64::from(n) * 1000),
            nonce: u64::from(n),
            gas_limit: 21_000 << n,
            to: (n % 6 > 2 || n % 4 > 0).then_some(Address([n; 20])),
            value: U256::MAX.wrapping_shr(u32::from(n) * 10),
            data: Bytes::from(&[n; 300][..usize::from(n) * 7]),
            ..TransactionRequest::default()
        };
        let fee = u128::MAX >> (n * 4);
        if kind.fields().contains(&lydite_evm::tx::Field::GasPrice) {
            request.gas_price = fee;
        } else {
            (request.max_fee_per_gas, request.max_priority_fee_per_gas) = (fee, fee / 2);
        }
        if kind != TransactionType::Legacy {
            let item = |i: u8| AccessListItem {
                address: Address([i; 20]),
                storage_keys: vec![B256::from([i; 32]); usize::from(i)],
            };
            request.access_list = (0..n % 4).map(item).collect();
        }
        if kind == TransactionType::Eip4844 {
            request.max_fee_per_blob_gas = fee / 3;
            request.blob_versioned_hashes = vec![B256::from([1; 32]); 1 + usize::from(n % 3)];
        }
        if kind == TransactionType::Eip7702 {
            request.authorization_list = vec![Authorization {
                chain_id: U256::from(u64::from(n)),
                address: Address([9; 20]),
                nonce: 7,
                y_parity: n % 2,
                r: U256::from(8u64),
                s: U256::MAX,
            }];
        }
        request
    });
    requests.collect()
}

fn list(lengths: impl IntoIterator<Item = usize>, items: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(field, offsets, items, None))
}

fn structs(members: Vec<(&str, ArrayRef)>) -> ArrayRef {
    let members = members.into_iter().map(|(name, array)| {
        let field = Field::new(name, array.data_type().clone(), true);
        (Arc::new(field), array)
    });
    Arc::new(StructArray::from(members.collect::<Vec<_>>()))
}

fn fixed<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> ArrayRef {
    let values = values.map(Some);
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, N as i32).unwrap())
}

fn text(values: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from(values.collect::<Vec<_>>()))
}

/// Big-endian bytes without leading zeros, like hypersync.
fn short(values: impl Iterator<Item = U256>) -> ArrayRef {
    let values = values.map(|value| value.to_be_bytes()[32 - value.byte_len()..].to_vec());
    Arc::new(BinaryArray::from_iter_values(values.collect::<Vec<_>>()))
}

/// Splits transactions into columns. v is complete, or a parity.
fn columns(requests: &[TransactionRequest], signed: &[Transaction], parity: bool) -> RecordBatch {
    let all = || requests.iter();
    let signatures = || signed.iter().map(Transaction::signature);
    let v = all().zip(signatures()).map(|(request, signature)| {
        let parity = u64::from(signature.recovery_id());
        match (request.kind, request.chain_id) {
            (TransactionType::Legacy, None) => 27 + parity,
            (TransactionType::Legacy, Some(chain_id)) => 35 + 2 * chain_id + parity,
            _ => parity,
        }
    });
    let v: ArrayRef = if parity {
        let parities = signatures().map(|signature| Some(signature.recovery_id() == 1));
        Arc::new(BooleanArray::from_iter(parities))
    } else {
        Arc::new(UInt64Array::from_iter_values(v))
    };
    let access = || all().flat_map(|request| &request.access_list);
    let keys = access().flat_map(|item| item.storage_keys.iter().map(|key| key.0));
    let keys = list(access().map(|item| item.storage_keys.len()), fixed(keys));
    let access = structs(vec![
        ("address", fixed(access().map(|item| item.address.0))),
        ("storage_keys", keys),
    ]);
    let blobs = all().flat_map(|request| request.blob_versioned_hashes.iter().map(|hash| hash.0));
    let blobs = fixed(blobs);
    let authorizations = || all().flat_map(|request| &request.authorization_list);
    let authorization = structs(vec![
        (
            "chain_id",
            text(authorizations().map(|one| one.chain_id.to_string())),
        ),
        ("address", fixed(authorizations().map(|one| one.address.0))),
        (
            "nonce",
            text(authorizations().map(|one| one.nonce.to_string())),
        ),
        (
            "y_parity",
            text(authorizations().map(|one| one.y_parity.to_string())),
        ),
        ("r", short(authorizations().map(|one| one.r))),
        ("s", short(authorizations().map(|one| one.s))),
    ]);
    let fee =
        |fee: fn(&TransactionRequest) -> u128| short(all().map(move |one| U256::from(fee(one))));
    let to = all().map(|request| request.to.map(|to| to.0.to_vec()));
    RecordBatch::try_from_iter([
        (
            "type",
            Arc::new(UInt8Array::from_iter_values(
                all().map(|one| one.kind as u8),
            )) as ArrayRef,
        ),
        (
            "chain_id",
            Arc::new(UInt64Array::from_iter(all().map(|one| one.chain_id))),
        ),
        (
            "nonce",
            Arc::new(UInt64Array::from_iter_values(all().map(|one| one.nonce))),
        ),
        (
            "gas_limit",
            text(all().map(|one| format!("{:#x}", one.gas_limit))),
        ),
        ("gas_price", fee(|one| one.gas_price)),
        ("max_fee_per_gas", fee(|one| one.max_fee_per_gas)),
        (
            "max_priority_fee_per_gas",
            fee(|one| one.max_priority_fee_per_gas),
        ),
        ("max_fee_per_blob_gas", fee(|one| one.max_fee_per_blob_gas)),
        ("to", Arc::new(BinaryArray::from_iter(to))),
        ("value", text(all().map(|one| one.value.to_string()))),
        (
            "input",
            Arc::new(BinaryArray::from_iter_values(all().map(|one| &one.data.0))),
        ),
        (
            "access_list",
            list(all().map(|one| one.access_list.len()), access),
        ),
        (
            "blob_versioned_hashes",
            list(all().map(|one| one.blob_versioned_hashes.len()), blobs),
        ),
        (
            "authorization_list",
            list(all().map(|one| one.authorization_list.len()), authorization),
        ),
        ("v", v),
        (
            "r",
            short(signatures().map(|one| U256::from_be_bytes(*one.r()))),
        ),
        ("s", fixed(signatures().map(|one| *one.s()))),
        (
            "transaction_hash",
            fixed(signed.iter().map(|one| one.hash().0)),
        ),
    ])
    .unwrap()
}

fn signed(requests: &[TransactionRequest]) -> Vec<Transaction> {
    let key = SecretKey::from_bytes(&[0x46; 32]).unwrap();
    let signed = requests
        .iter()
        .map(|request| request.clone().sign(&key).unwrap());
    signed.collect()
}

type Rebuilt = (Vec<Option<Vec<u8>>>, Vec<(usize, RowError)>);

fn rebuild(batch: &RecordBatch) -> Rebuilt {
    let columns = TransactionColumns::from_batch(batch, &ColumnMap::default()).unwrap();
    let (raw, failures) = columns.rebuild();
    let rows = (0..columns.len()).map(|row| raw.get(row).map(<[u8]>::to_vec));
    let failures = failures
        .into_iter()
        .map(|failure| (failure.row, failure.error));
    (rows.collect(), failures.collect())
}

/// Replaces a column, or removes it.
fn with(batch: &RecordBatch, name: &str, array: Option<ArrayRef>) -> RecordBatch {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    let mut columns = Vec::new();
    for (field, column) in fields {
        match &array {
            _ if field.name() != name => columns.push((field.name().as_str(), column.clone())),
            Some(array) => columns.push((name, array.clone())),
            None => {}
        }
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn every_type() {
    let requests = requests();
    let signed = signed(&requests);
    let expected: Vec<_> = signed.iter().map(|one| Some(one.encode())).collect();
    for parity in [false, true] {
        let batch = columns(&requests, &signed, parity);
        assert_eq!(rebuild(&batch), (expected.clone(), vec![]), "{parity}");
        for (from, to) in [(5, 24), (7, 9), (3, 3)] {
            let found = rebuild(&batch.slice(from, to - from));
            assert_eq!(found, (expected[from..to].to_vec(), vec![]));
        }
    }
    // Without hashes, a chain id means EIP-155.
    let batch = with(
        &columns(&requests, &signed, false),
        "transaction_hash",
        None,
    );
    assert_eq!(rebuild(&batch), (expected, vec![]));
}

/// With a chain id and a parity, a legacy transaction can be signed either way.
#[test]
fn the_hash_decides_about_eip_155() {
    let mut requests: Vec<_> = requests()
        .into_iter()
        .filter(|one| one.kind == TransactionType::Legacy)
        .collect();
    let signed = signed(&requests);
    requests
        .iter_mut()
        .for_each(|one| one.chain_id = one.chain_id.or(Some(1)));
    let expected: Vec<_> = signed.iter().map(|one| Some(one.encode())).collect();
    assert_eq!(
        rebuild(&columns(&requests, &signed, true)),
        (expected, vec![])
    );
}

#[test]
fn incomplete_and_invalid_rows() {
    let requests = requests();
    let signed = signed(&requests);
    let batch = columns(&requests, &signed, false);
    let expected: Vec<_> = signed.iter().map(|one| Some(one.encode())).collect();
    let assert_fails = |batch: &RecordBatch, fails: &dyn Fn(usize) -> Option<RowError>| {
        let (found, failures) = rebuild(batch);
        let rows = (0..24).filter_map(|row| Some((row, fails(row)?)));
        assert_eq!(failures, rows.collect::<Vec<_>>());
        for row in 0..24 {
            let expected = expected[row].clone().filter(|_| fails(row).is_none());
            assert_eq!(found[row], expected);
        }
    };
    assert_fails(&with(&batch, "access_list", None), &|row| {
        (!requests[row].access_list.is_empty()).then_some(RowError::Hash)
    });
    let types = new_null_array(&DataType::Null, 24);
    assert_fails(&with(&batch, "type", Some(types)), &|row| match row % 6 {
        0 | 1 => None,
        // A parity of a typed transaction is that of a legacy one too, with another hash.
        _ => Some(RowError::Hash),
    });
    let types: ArrayRef = Arc::new(UInt8Array::from(vec![126; 24]));
    assert_fails(&with(&batch, "type", Some(types)), &|_| {
        Some(RowError::Unsigned(126))
    });
    let values: ArrayRef = Arc::new(Decimal128Array::from(vec![-1; 24]));
    let values =
        Decimal128Array::from(values.to_data()).with_data_type(DataType::Decimal128(38, 0));
    let values = Some(Arc::new(values) as ArrayRef);
    assert_fails(&with(&batch, "value", values), &|_| {
        Some(RowError::Field(Role::Value))
    });
    let to = Some(fixed((0..24).map(|_| [0; 19])));
    assert_fails(&with(&batch, "to", to), &|_| {
        Some(RowError::Field(Role::To))
    });
    let to: Option<ArrayRef> = Some(text((0..24).map(|_| "0xno".into())));
    assert_fails(&with(&batch, "to", to), &|_| Some(RowError::Hexadecimal));
    let nonces: ArrayRef = new_null_array(&DataType::UInt64, 24);
    assert_fails(&with(&batch, "nonce", Some(nonces)), &|_| {
        Some(RowError::Field(Role::Nonce))
    });
    let v: ArrayRef = Arc::new(UInt64Array::from(vec![29; 24]));
    assert_fails(&with(&batch, "v", Some(v)), &|_| {
        Some(RowError::Field(Role::V))
    });
    let hash = new_null_array(&DataType::FixedSizeBinary(32), 24);
    assert_fails(&with(&batch, "transaction_hash", Some(hash)), &|_| {
        Some(RowError::Hash)
    });
}

/// Without hashes, a field that the type of a transaction needs is not taken as zero or empty.
#[test]
fn fields_that_no_hash_checks() {
    let requests = requests();
    let signed = signed(&requests);
    let expected: Vec<_> = signed.iter().map(|one| Some(one.encode())).collect();
    let assert_fails = |batch: &RecordBatch, name: &str, role, types: &[usize]| {
        let column = batch.column_by_name(name).unwrap();
        let nulls = new_null_array(column.data_type(), 24);
        let nothing = new_null_array(&DataType::Null, 24);
        for array in [Some(nulls), Some(nothing), None] {
            // Without a column of types or access lists, there must be one of hashes.
            if array.is_none() && matches!(role, Role::Type | Role::AccessList) {
                continue;
            }
            let (found, failures) = rebuild(&with(batch, name, array));
            let fails = |row: usize| types.contains(&(row % 6));
            let rows = (0..24).filter(|row| fails(*row));
            let error = RowError::Field(role);
            assert_eq!(
                failures,
                rows.map(|row| (row, error.clone())).collect::<Vec<_>>()
            );
            for row in (0..24).filter(|row| !fails(*row)) {
                assert_eq!(found[row], expected[row], "{name} in row {row}");
            }
        }
    };
    for (name, role, types) in [
        ("type", Role::Type, &[0, 1, 2, 3, 4, 5][..]),
        ("gas_price", Role::GasPrice, &[0, 1, 2]),
        ("max_fee_per_gas", Role::MaxFeePerGas, &[3, 4, 5]),
        (
            "max_priority_fee_per_gas",
            Role::MaxPriorityFeePerGas,
            &[3, 4, 5],
        ),
        ("max_fee_per_blob_gas", Role::MaxFeePerBlobGas, &[4]),
        ("access_list", Role::AccessList, &[2, 3, 4, 5]),
        ("blob_versioned_hashes", Role::BlobVersionedHashes, &[4]),
        ("authorization_list", Role::AuthorizationList, &[5]),
        ("chain_id", Role::ChainId, &[2, 3, 4, 5]),
    ] {
        let batch = columns(&requests, &signed, false);
        assert_fails(&with(&batch, "transaction_hash", None), name, role, types);
    }
    // With a parity only, the chain id is also that of a legacy transaction; null means that it has no chain id.
    let batch = with(&columns(&requests, &signed, true), "transaction_hash", None);
    let (found, failures) = rebuild(&batch);
    assert_eq!((found, failures), (expected, vec![]));
    let (_, failures) = rebuild(&with(&batch, "chain_id", None));
    assert_eq!(failures.len(), 24);
}

#[test]
fn missing_columns_and_wrong_types() {
    let requests = requests();
    let batch = columns(&requests, &signed(&requests), false);
    let error = |batch: &RecordBatch| {
        TransactionColumns::from_batch(batch, &ColumnMap::default()).unwrap_err()
    };
    for role in [
        Role::R,
        Role::S,
        Role::V,
        Role::Nonce,
        Role::GasLimit,
        Role::To,
        Role::Value,
        Role::Input,
    ] {
        let without = with(&batch, role.names()[0], None);
        assert_eq!(error(&without), Error::MissingRole(role));
    }
    let without = with(&with(&batch, "transaction_hash", None), "access_list", None);
    assert_eq!(error(&without), Error::MissingRole(Role::TransactionHash));
    let without = with(&with(&batch, "transaction_hash", None), "type", None);
    assert_eq!(error(&without), Error::MissingRole(Role::Type));
    let doubles = new_null_array(&DataType::Float64, 24);
    let wrong = with(&batch, "value", Some(doubles.clone()));
    assert_eq!(error(&wrong), Error::NotIntegers(DataType::Float64));
    let wrong = with(&batch, "access_list", Some(doubles));
    assert_eq!(
        error(&wrong),
        Error::NotList(Role::AccessList, DataType::Float64)
    );
    let empty = RecordBatch::new_empty(Arc::new(Schema::empty()));
    assert_eq!(error(&empty), Error::MissingRole(Role::R));
}

#[test]
fn decoded_fields_are_those_that_were_signed() {
    let requests = requests();
    let signed = signed(&requests);
    let raw: Vec<_> = signed.iter().map(Transaction::encode).collect();
    let array: ArrayRef = Arc::new(BinaryArray::from_iter_values(&raw));
    let (decoded, failures) = decode_transactions(&ByteColumn::try_new(&array).unwrap());
    assert_eq!(
        (failures, decoded.fields()),
        (vec![], &transaction_fields())
    );
    let expected = raw.iter().cloned().map(Some).collect();
    assert_eq!(
        rebuild(&RecordBatch::from(decoded.clone())),
        (expected, vec![])
    );
    for (row, request) in requests.iter().enumerate() {
        let value = |name: &str| decoded.column_by_name(name).unwrap().clone();
        let lists = [
            (
                "gas_price",
                TransactionType::Legacy,
                TransactionType::Eip2930,
            ),
            (
                "access_list",
                TransactionType::Eip2930,
                TransactionType::Eip7702,
            ),
            (
                "max_fee_per_gas",
                TransactionType::Eip1559,
                TransactionType::Eip7702,
            ),
            (
                "max_fee_per_blob_gas",
                TransactionType::Eip4844,
                TransactionType::Eip4844,
            ),
            (
                "authorization_list",
                TransactionType::Eip7702,
                TransactionType::Eip7702,
            ),
        ];
        for (name, first, last) in lists {
            let has = (first as u8..=last as u8).contains(&(request.kind as u8));
            assert_eq!(value(name).is_valid(row), has, "{name} in row {row}");
        }
        assert_eq!(value("to").is_valid(row), request.to.is_some());
    }

    let array: ArrayRef = Arc::new(StringArray::from(vec![None, Some("0x05"), Some("0y")]));
    let (decoded, failures) = decode_transactions(&ByteColumn::try_new(&array).unwrap());
    assert_eq!((decoded.len(), decoded.null_count()), (3, 3));
    let failures: Vec<_> = failures
        .iter()
        .map(|one| (one.row, one.error.to_string()))
        .collect();
    let expected = [
        "byte 0: unknown transaction type 0x05",
        "expected hexadecimal text",
    ];
    assert_eq!(failures, [(1, expected[0].into()), (2, expected[1].into())]);
}
