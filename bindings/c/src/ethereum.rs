//! Transactions, authorizations, messages and typed data.

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
    memory::{Output, array, array_mut, items, items_mut, one, one_mut, split_at_offsets, text},
    secp256k1::{read_secret_key, signature_error},
    status::{Failure, LYDITE_ERROR_ENCODE, failure, guard, lydite_status},
};

fn tx_error(error: tx::Error) -> Failure {
    match error {
        tx::Error::Signature(error) => signature_error(error),
        error => decode(error),
    }
}

/// Compute the hash of a signed transaction of any type. Writes 32 bytes to out. Fails if raw is not a transaction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_hash(
    raw: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let transaction = TransactionRef::decode(items(raw, length, "raw")?).map_err(tx_error)?;
        *array_mut(out, "out")? = transaction.hash().0;
        Ok(())
    })
}

/// Recover the sender of a signed transaction of any type. Writes 20 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_sender(
    raw: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let transaction = TransactionRef::decode(items(raw, length, "raw")?).map_err(tx_error)?;
        *array_mut(out, "out")? = transaction.sender().map_err(tx_error)?.0;
        Ok(())
    })
}

/// Recover the senders of count transactions of one buffer, laid out as for lydite_keccak256_batch.
///
/// Writes 20 bytes per transaction to out, and one byte per transaction to ok: 1 if the sender was recovered. For an
/// invalid transaction, all of these bytes are 0. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_sender_batch(
    data: *const u8,
    offsets: *const usize,
    count: usize,
    out: *mut u8,
    ok: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let raw = split_at_offsets(data, offsets, count)?;
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

/// An entry of a transaction's access list: an account and its storage keys.
#[repr(C)]
pub struct lydite_access_list_item {
    /// 20 bytes
    pub address: [u8; 20],
    /// 32 bytes each
    pub storage_keys: *const u8,
    pub storage_key_count: usize,
}

/// An account's signed permission to run another account's code (EIP-7702). Integers wider than 64 bits are big-endian.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lydite_authorization {
    /// 0 for any chain
    pub chain_id: [u8; 32],
    /// the account whose code is run
    pub address: [u8; 20],
    /// nonce of the signing account
    pub nonce: u64,
    pub y_parity: u8,
    pub r: [u8; 32],
    pub s: [u8; 32],
}

/// A transaction of any type. Initialize it with zeros, then set the fields of its type.
///
/// Fields that the type does not have must be zero. Integers wider than 64 bits are big-endian.
#[repr(C)]
pub struct lydite_tx {
    /// 0 (legacy) to 4
    pub type_: u8,
    /// type 0: 0 for a transaction that is valid on any chain
    pub chain_id: u64,
    pub nonce: u64,
    /// wei per gas; types 0 and 1
    pub gas_price: [u8; 16],
    /// wei per gas; types 2, 3, 4
    pub max_priority_fee_per_gas: [u8; 16],
    /// wei per gas; types 2, 3, 4
    pub max_fee_per_gas: [u8; 16],
    pub gas_limit: u64,
    /// 20 bytes, or NULL to create a contract (types 0, 1 and 2)
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
/// All pointers in the transaction must satisfy the header's contract.
unsafe fn request(tx: &lydite_tx) -> Result<TransactionRequest, Failure> {
    let kind = TransactionType::try_from(tx.type_).map_err(|_| {
        failure(
            LYDITE_ERROR_ENCODE,
            format_args!("type_: expected 0 to 4, found {}", tx.type_),
        )
    })?;
    // Check this first, so that nothing is read through a pointer that the type does not use.
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
    // SAFETY: guaranteed by the caller.
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
/// Like [`items`] for `count` words of 32 bytes.
unsafe fn words(pointer: *const u8, count: usize, what: &str) -> Result<Vec<B256>, Failure> {
    // SAFETY: guaranteed by the caller.
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

/// Sign a transaction with a secret key (32 bytes).
///
/// Writes the encoded transaction, ready to be sent. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_sign(
    transaction: *const lydite_tx,
    secret_key: *const u8,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
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

/// Sign the chain_id, address and nonce of an authorization, and set its y_parity, r and s.
///
/// secret_key (32 bytes) belongs to the account that grants the permission. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_authorization_sign(
    authorization: *mut lydite_authorization,
    secret_key: *const u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
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

/// Compute the hash that personal_sign signs (EIP-191, version 0x45). Writes 32 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hash_message(
    message: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? = eip191::hash_message(items(message, length, "message")?).0;
        Ok(())
    })
}

/// Compute the hash to sign for a typed data document (EIP-712) in JSON. Writes 32 bytes to out. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hash_typed_data(
    json: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let data = eip712::TypedData::from_json(text(json, length, "json")?).map_err(decode)?;
        *array_mut(out, "out")? = data.signing_hash().0;
        Ok(())
    })
}
