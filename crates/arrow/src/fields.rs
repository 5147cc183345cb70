//! The fields of signed transactions as columns.

use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, BinaryArray, ListArray, StructArray, UInt8Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field as ArrowField, Fields};
use lydite_bytes::{Address, B256, U256};
use lydite_evm::tx::{AccessListItemRef, Authorization, Field, TransactionRef};

use crate::{ByteColumn, Failure, RowError, rows};

/// Decodes each signed transaction (an EIP-2718 envelope) to a struct of its fields, named like the columns from which
/// [`TransactionColumns`](crate::TransactionColumns) rebuilds it. A null stays null; an invalid transaction becomes null and
/// is a failure.
///
/// | Fields | Type |
/// |---|---|
/// | `type`, `y_parity` | UInt8 |
/// | `chain_id`, `nonce`, `gas_limit` | UInt64 |
/// | `gas_price`, `max_fee_per_gas`, `max_priority_fee_per_gas`, `max_fee_per_blob_gas`, `value`, `r`, `s` | FixedSizeBinary(32), the big-endian word |
/// | `to` | FixedSizeBinary(20); null if the transaction creates a contract |
/// | `input` | Binary |
/// | `access_list` | List of structs of `address` and `storage_keys` |
/// | `blob_versioned_hashes` | List of FixedSizeBinary(32) |
/// | `authorization_list` | List of structs of `chain_id`, `address`, `nonce`, `y_parity`, `r` and `s` |
///
/// A field that the type of a transaction does not have is null.
pub fn decode_transactions(raw: &ByteColumn) -> (StructArray, Vec<Failure>) {
    decode(raw, i32::MAX as usize)
}

/// [`decode_transactions`] with up to `limit` bytes in the column `input`, which is lower in tests.
fn decode(raw: &ByteColumn, limit: usize) -> (StructArray, Vec<Failure>) {
    let (mut failures, mut input) = (Vec::new(), 0);
    let decoded = (0..raw.len()).map(|row| {
        let decode = |bytes| {
            let transaction = TransactionRef::decode(bytes).map_err(RowError::Transaction)?;
            if input + transaction.data.len() > limit {
                return Err(RowError::Full);
            }
            input += transaction.data.len();
            Ok(transaction)
        };
        let transaction = raw
            .try_get(row)
            .and_then(|bytes| bytes.map(decode).transpose());
        transaction.unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        })
    });
    let decoded = decoded.collect::<Vec<_>>();
    let valid: NullBuffer = decoded.iter().map(Option::is_some).collect();
    (structs(columns(&decoded), Some(valid)), failures)
}

/// Returns the fields of the structs of [`decode_transactions`].
pub fn transaction_fields() -> Fields {
    structs(columns(&[]), None).fields().clone()
}

type Row<'a> = Option<TransactionRef<'a>>;

fn columns(decoded: &[Row<'_>]) -> [(&'static str, ArrayRef); 17] {
    let rows = || decoded.iter().map(Option::as_ref);
    let uint64 = |value: fn(&TransactionRef<'_>) -> Option<u64>| -> ArrayRef {
        Arc::new(UInt64Array::from_iter(rows().map(|one| value(one?))))
    };
    let uint8 = |value: fn(&TransactionRef<'_>) -> u8| -> ArrayRef {
        Arc::new(UInt8Array::from_iter(rows().map(|one| one.map(value))))
    };
    let word = |value: fn(&TransactionRef<'_>) -> [u8; 32]| fixed(rows().map(|one| one.map(value)));
    let fee = |field, value: fn(&TransactionRef<'_>) -> u128| {
        let fees = rows().map(|one| one.filter(|one| one.kind.has(field)).map(value));
        fixed(fees.map(|fee| Some(U256::from(fee?).to_be_bytes())))
    };
    let having = |field| rows().map(move |one| one.filter(|one| one.kind.has(field)));

    let hashes = having(Field::BlobVersionedHashes);
    let hashes = list(
        hashes.map(|one| Some(one?.blob_versioned_hashes.iter())),
        words,
    );
    let access = having(Field::AccessList).map(|one| Some(one?.access_list.iter()));
    let authorizations = having(Field::AuthorizationList);
    let authorizations = authorizations.map(|one| Some(one?.authorization_list.iter()));
    [
        ("type", uint8(|one| one.kind as u8)),
        ("chain_id", uint64(|one| one.chain_id)),
        ("nonce", uint64(|one| Some(one.nonce))),
        ("gas_limit", uint64(|one| Some(one.gas_limit))),
        ("gas_price", fee(Field::GasPrice, |one| one.max_fee_per_gas)),
        (
            "max_fee_per_gas",
            fee(Field::MaxFeePerGas, |one| one.max_fee_per_gas),
        ),
        (
            "max_priority_fee_per_gas",
            fee(Field::MaxPriorityFeePerGas, |one| {
                one.max_priority_fee_per_gas
            }),
        ),
        (
            "max_fee_per_blob_gas",
            fee(Field::MaxFeePerBlobGas, |one| one.max_fee_per_blob_gas),
        ),
        ("to", fixed(rows().map(|one| Some(one?.to?.0)))),
        ("value", word(|one| one.value.to_be_bytes())),
        (
            "input",
            Arc::new(BinaryArray::from_iter(rows().map(|one| Some(one?.data)))),
        ),
        ("access_list", list(access, access_items)),
        ("blob_versioned_hashes", hashes),
        (
            "authorization_list",
            list(authorizations, authorization_items),
        ),
        ("y_parity", uint8(|one| one.signature.recovery_id())),
        ("r", word(|one| *one.signature.r())),
        ("s", word(|one| *one.signature.s())),
    ]
}

fn access_items(items: Vec<AccessListItemRef<'_>>) -> ArrayRef {
    let keys = items.iter().map(|item| Some(item.storage_keys.iter()));
    let items = [
        ("address", addresses(items.iter().map(|item| item.address))),
        ("storage_keys", list(keys, words)),
    ];
    Arc::new(structs(items, None))
}

fn authorization_items(items: Vec<Authorization>) -> ArrayRef {
    let word = |value: fn(&Authorization) -> U256| {
        fixed(items.iter().map(|item| Some(value(item).to_be_bytes())))
    };
    let nonces = items.iter().map(|item| item.nonce);
    let parities = items.iter().map(|item| item.y_parity);
    let items = [
        ("chain_id", word(|item| item.chain_id)),
        ("address", addresses(items.iter().map(|item| item.address))),
        ("nonce", Arc::new(UInt64Array::from_iter_values(nonces))),
        ("y_parity", Arc::new(UInt8Array::from_iter_values(parities))),
        ("r", word(|item| item.r)),
        ("s", word(|item| item.s)),
    ];
    Arc::new(structs(items, None))
}

fn addresses(addresses: impl ExactSizeIterator<Item = Address>) -> ArrayRef {
    fixed(addresses.map(|address| Some(address.0)))
}

fn words(words: Vec<B256>) -> ArrayRef {
    fixed(words.into_iter().map(|word| Some(word.0)))
}

fn fixed<const N: usize>(values: impl ExactSizeIterator<Item = Option<[u8; N]>>) -> ArrayRef {
    Arc::new(rows::fixed(values.map(Ok)).0)
}

/// Returns lists, from the items of each row. A row without a list is null.
fn list<T>(
    rows: impl Iterator<Item = Option<impl Iterator<Item = T>>>,
    items: impl FnOnce(Vec<T>) -> ArrayRef,
) -> ArrayRef {
    let (mut all, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let before = all.len();
        valid.push(row.is_some());
        all.extend(row.into_iter().flatten());
        lengths.push(all.len() - before);
    }
    let items = items(all);
    let field = ArrowField::new("item", items.data_type().clone(), true);
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(
        Arc::new(field),
        offsets,
        items,
        Some(valid.into()),
    ))
}

fn structs<const N: usize>(
    columns: [(&str, ArrayRef); N],
    nulls: Option<NullBuffer>,
) -> StructArray {
    let fields = columns
        .iter()
        .map(|(name, column)| ArrowField::new(*name, column.data_type().clone(), true));
    let fields = fields.collect();
    let columns = columns.map(|(_, column)| column).to_vec();
    StructArray::new(fields, columns, nulls)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use arrow_array::{BinaryViewArray, cast::AsArray};
    use lydite_curve::secp256k1::SecretKey;
    use lydite_evm::tx::TransactionRequest;

    use super::*;

    #[test]
    fn input_up_to_the_limit() {
        let key = SecretKey::from_bytes(&[1; 32]).unwrap();
        let raw = [3, 4, 1].map(|len| {
            let request = TransactionRequest {
                data: vec![7; len].into(),
                ..TransactionRequest::default()
            };
            request.sign(&key).unwrap().encode()
        });
        let array: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(raw));
        let (decoded, failures) = decode(&ByteColumn::try_new(&array).unwrap(), 4);
        let error = RowError::Full;
        assert_eq!(failures, [Failure { row: 1, error }]);
        let input = decoded.column_by_name("input").unwrap().as_binary::<i32>();
        let found: Vec<Option<&[u8]>> = input.iter().collect();
        assert_eq!(found, [Some(&[7; 3][..]), None, Some(&[7])]);
        assert!(decoded.is_null(1));
    }
}
