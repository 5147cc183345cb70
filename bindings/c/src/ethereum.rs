//! Transactions, messages and typed data.

use lydite_core::{
    bytes::{Address, B256, Bytes, FixedBytes, U256},
    evm::{
        eip191, eip712,
        tx::{
            self, AccessListItem, Authorization, Field, TransactionRef, TransactionRequest,
            TransactionType,
        },
    },
};

use crate::{
    hash::decode,
    memory::{Output, array, array_mut, items, items_mut, one, one_mut, ragged, text},
    secp256k1::{read_secret_key, signature_error},
    status::{Failure, LYDITE_ERROR_ENCODE, failure, guard, lydite_status},
};

fn tx_error(error: tx::Error) -> Failure {
    match error {
        tx::Error::Signature(error) => signature_error(error),
        error => decode(error),
    }
}

/// The hash of a signed transaction of any type: 32 bytes. What is not a transaction is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_hash(
    raw: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let transaction = TransactionRef::decode(items(raw, length, "raw")?).map_err(tx_error)?;
        *array_mut(out, "out")? = transaction.hash();
        Ok(())
    })
}

/// The sender of a signed transaction of any type: 20 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_sender(
    raw: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let transaction = TransactionRef::decode(items(raw, length, "raw")?).map_err(tx_error)?;
        *array_mut(out, "out")? = transaction.sender().map_err(tx_error)?.0;
        Ok(())
    })
}

/// The senders of count transactions of one buffer, laid out as for lydite_keccak256_batch: 20 bytes each to out, and 1
/// or 0 to ok. One that is not valid gives zeros and 0. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_sender_batch(
    data: *const u8,
    offsets: *const usize,
    count: usize,
    out: *mut u8,
    ok: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let raw = ragged(data, offsets, count)?;
        let out = items_mut(out.cast::<[u8; 20]>(), count, "out")?;
        let ok = items_mut(ok, count, "ok")?;
        let mut found = vec![Ok(Address::ZERO); count];
        tx::senders(&raw, &mut found).map_err(tx_error)?;
        for ((out, ok), found) in out.iter_mut().zip(ok).zip(found) {
            *ok = found.is_ok().into();
            *out = found.map_or([0; 20], |address| address.0);
        }
        Ok(())
    })
}

/// An account and its storage slots that a transaction announces.
#[repr(C)]
pub struct lydite_access_list_item {
    /// 20 bytes
    pub address: [u8; 20],
    /// 32 bytes each
    pub storage_keys: *const u8,
    pub storage_key_count: usize,
}

/// An account's signed consent to run the code of another (EIP-7702). Integers wider than 64 bits are big-endian.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lydite_authorization {
    /// 0 is every chain
    pub chain_id: [u8; 32],
    /// whose code is to be run
    pub address: [u8; 20],
    /// of the consenting account
    pub nonce: u64,
    pub y_parity: u8,
    pub r: [u8; 32],
    pub s: [u8; 32],
}

/// A transaction of any type: all zeros, then what the type has. Integers wider than 64 bits are big-endian. What the type
/// has not must be zero.
#[repr(C)]
pub struct lydite_tx {
    /// 0 (legacy) to 4
    pub type_: u8,
    /// in type 0, 0 is a transaction that any chain takes
    pub chain_id: u64,
    pub nonce: u64,
    /// wei per gas; types 0 and 1
    pub gas_price: [u8; 16],
    /// wei per gas; types 2, 3, 4
    pub max_priority_fee_per_gas: [u8; 16],
    /// wei per gas; types 2, 3, 4
    pub max_fee_per_gas: [u8; 16],
    pub gas_limit: u64,
    /// 20 bytes; NULL creates a contract, in types 0, 1 and 2
    pub to: *const u8,
    /// wei
    pub value: [u8; 32],
    pub data: *const u8,
    pub data_length: usize,
    /// types 1 to 4
    pub access_list: *const lydite_access_list_item,
    pub access_list_length: usize,
    /// wei per gas; type 3
    pub max_fee_per_blob_gas: [u8; 16],
    /// 32 bytes each; type 3
    pub blob_versioned_hashes: *const u8,
    pub blob_versioned_hash_count: usize,
    /// type 4
    pub authorization_list: *const lydite_authorization,
    pub authorization_list_length: usize,
}

/// # Safety
/// The header's contract for everything that the transaction points to.
unsafe fn request(tx: &lydite_tx) -> Result<TransactionRequest, Failure> {
    let kind = TransactionType::try_from(tx.type_)
        .map_err(|_| failure(LYDITE_ERROR_ENCODE, "type: 0 to 4 are known"))?;
    // Before anything is read through a pointer that the type has no use for.
    let lists = [
        (Field::AccessList, tx.access_list_length),
        (Field::BlobVersionedHashes, tx.blob_versioned_hash_count),
        (Field::AuthorizationList, tx.authorization_list_length),
    ];
    for (field, length) in lists {
        if length != 0 && !kind.has(field) {
            return Err(refused(tx::Error::ForeignField(field, kind)));
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        let mut access_list = Vec::new();
        for item in items(tx.access_list, tx.access_list_length, "access_list")? {
            access_list.push(AccessListItem {
                address: Address(item.address),
                storage_keys: words(item.storage_keys, item.storage_key_count, "storage_keys")?,
            });
        }
        let authorizations = items(
            tx.authorization_list,
            tx.authorization_list_length,
            "authorization_list",
        )?;
        Ok(TransactionRequest {
            kind,
            chain_id: (kind != TransactionType::Legacy || tx.chain_id != 0).then_some(tx.chain_id),
            nonce: tx.nonce,
            gas_price: u128::from_be_bytes(tx.gas_price),
            max_priority_fee_per_gas: u128::from_be_bytes(tx.max_priority_fee_per_gas),
            max_fee_per_gas: u128::from_be_bytes(tx.max_fee_per_gas),
            gas_limit: tx.gas_limit,
            to: if tx.to.is_null() {
                None
            } else {
                Some(Address(*array(tx.to, "to")?))
            },
            value: U256::from_be_bytes(tx.value),
            data: Bytes(items(tx.data, tx.data_length, "data")?.to_vec()),
            access_list,
            max_fee_per_blob_gas: u128::from_be_bytes(tx.max_fee_per_blob_gas),
            blob_versioned_hashes: words(
                tx.blob_versioned_hashes,
                tx.blob_versioned_hash_count,
                "blob_versioned_hashes",
            )?,
            authorization_list: authorizations.iter().map(read_authorization).collect(),
        })
    }
}

fn refused(error: tx::Error) -> Failure {
    failure(LYDITE_ERROR_ENCODE, error)
}

/// # Safety
/// As [`items`] of `count` words.
unsafe fn words(pointer: *const u8, count: usize, what: &str) -> Result<Vec<B256>, Failure> {
    // SAFETY: the caller's promise.
    let words = unsafe { items::<[u8; 32]>(pointer.cast(), count, what) }?;
    Ok(words.iter().map(|word| FixedBytes(*word)).collect())
}

pub fn read_authorization(item: &lydite_authorization) -> Authorization {
    Authorization {
        chain_id: U256::from_be_bytes(item.chain_id),
        address: Address(item.address),
        nonce: item.nonce,
        y_parity: item.y_parity,
        r: U256::from_be_bytes(item.r),
        s: U256::from_be_bytes(item.s),
    }
}

/// Signs a transaction with the 32 bytes of secret_key: its envelope, ready to be sent. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_sign(
    transaction: *const lydite_tx,
    secret_key: *const u8,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let transaction = one(transaction, "transaction")?;
        let key = read_secret_key(secret_key)?;
        let signed = request(transaction)?.sign(&key).map_err(refused)?;
        Output {
            out,
            capacity,
            written,
        }
        .copy(&signed.encode())
    })
}

/// Signs chain_id, address and nonce of an authorization with the 32 bytes of the consenting account's secret_key: y_parity,
/// r and s are set. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_authorization_sign(
    authorization: *mut lydite_authorization,
    secret_key: *const u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let item = one_mut(authorization, "authorization")?;
        let unsigned = read_authorization(item);
        let key = read_secret_key(secret_key)?;
        let signed = Authorization::sign(unsigned.chain_id, unsigned.address, unsigned.nonce, &key);
        item.y_parity = signed.y_parity;
        item.r = signed.r.to_be_bytes();
        item.s = signed.s.to_be_bytes();
        Ok(())
    })
}

/// The hash that personal_sign signs (EIP-191, version 0x45): 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hash_message(
    message: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? = eip191::hash_message(items(message, length, "message")?).0;
        Ok(())
    })
}

/// The hash to sign for a typed data document (EIP-712) in JSON: 32 bytes. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hash_typed_data(
    json: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let data = eip712::TypedData::from_json(text(json, length, "json")?).map_err(decode)?;
        *array_mut(out, "out")? = data.signing_hash().0;
        Ok(())
    })
}
