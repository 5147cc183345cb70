//! Transactions, messages and typed data.

use lydite_core::{
    bytes::{Address, B256, Bytes, FixedBytes, U256},
    curve::secp256k1::SecretKey,
    evm::{
        eip191, eip712,
        tx::{
            self, AccessListItem, Authorization, Signable, Transaction, TransactionRef, TxEip1559,
            TxEip2930, TxEip4844, TxEip7702, TxLegacy,
        },
    },
};

use crate::{
    hash::decode,
    memory::{Output, array, array_mut, items, items_mut, ragged, text},
    secp256k1::{secret_key, signature_error},
    status::{Failure, LYDITE_ERROR_ARGUMENT, LYDITE_ERROR_ENCODE, failure, guard, lydite_status},
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

/// A transaction of type 1 to 4: the fields that all of these have, the recipient as the type wants it, and its own fields.
macro_rules! typed {
    ($type:ident, $tx:ident, $to:expr, $access_list:expr, $($name:ident: $value:expr),+) => {
        $type {
            chain_id: $tx.chain_id,
            nonce: $tx.nonce,
            gas_limit: $tx.gas_limit,
            to: $to,
            value: U256::from_be_bytes($tx.value),
            data: Bytes(items($tx.data, $tx.data_length, "data")?.to_vec()),
            access_list: $access_list,
            $($name: $value),+
        }
    };
}

fn wrong(reason: &str) -> Failure {
    failure(LYDITE_ERROR_ENCODE, reason)
}

/// # Safety
/// The header's contract for everything that the transaction points to.
unsafe fn sign(tx: &lydite_tx, key: &SecretKey) -> Result<Transaction, Failure> {
    // SAFETY: the caller's promise.
    unsafe {
        let kind = tx.type_;
        let zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let foreign = [
            (kind > 1 && !zeros(&tx.gas_price), "gas_price"),
            (
                kind < 2 && !zeros(&tx.max_priority_fee_per_gas),
                "max_priority_fee_per_gas",
            ),
            (kind < 2 && !zeros(&tx.max_fee_per_gas), "max_fee_per_gas"),
            (kind == 0 && tx.access_list_length != 0, "access_list"),
            (
                kind != 3 && !zeros(&tx.max_fee_per_blob_gas),
                "max_fee_per_blob_gas",
            ),
            (
                kind != 3 && tx.blob_versioned_hash_count != 0,
                "blob_versioned_hashes",
            ),
            (
                kind != 4 && tx.authorization_list_length != 0,
                "authorization_list",
            ),
        ];
        if let Some((_, name)) = foreign.iter().find(|(found, _)| *found) {
            return Err(wrong(&format!("{name}: not a field of type {kind}")));
        }
        let to = if tx.to.is_null() {
            None
        } else {
            Some(Address(*array(tx.to, "to")?))
        };
        let to_someone = || to.ok_or_else(|| wrong("to: this type creates no contract"));
        let mut access_list = Vec::new();
        for item in items(tx.access_list, tx.access_list_length, "access_list")? {
            access_list.push(AccessListItem {
                address: Address(item.address),
                storage_keys: words(item.storage_keys, item.storage_key_count, "storage_keys")?,
            });
        }
        let gas_price = u128::from_be_bytes(tx.gas_price);
        let max_priority_fee_per_gas = u128::from_be_bytes(tx.max_priority_fee_per_gas);
        let max_fee_per_gas = u128::from_be_bytes(tx.max_fee_per_gas);
        Ok(match kind {
            0 => TxLegacy {
                chain_id: (tx.chain_id != 0).then_some(tx.chain_id),
                nonce: tx.nonce,
                gas_price,
                gas_limit: tx.gas_limit,
                to,
                value: U256::from_be_bytes(tx.value),
                data: Bytes(items(tx.data, tx.data_length, "data")?.to_vec()),
            }
            .sign(key)
            .into(),
            1 => typed!(TxEip2930, tx, to, access_list, gas_price: gas_price)
                .sign(key)
                .into(),
            2 => typed!(
                TxEip1559, tx, to, access_list,
                max_priority_fee_per_gas: max_priority_fee_per_gas,
                max_fee_per_gas: max_fee_per_gas
            )
            .sign(key)
            .into(),
            3 => typed!(
                TxEip4844, tx, to_someone()?, access_list,
                max_priority_fee_per_gas: max_priority_fee_per_gas,
                max_fee_per_gas: max_fee_per_gas,
                max_fee_per_blob_gas: u128::from_be_bytes(tx.max_fee_per_blob_gas),
                blob_versioned_hashes: words(
                    tx.blob_versioned_hashes,
                    tx.blob_versioned_hash_count,
                    "blob_versioned_hashes",
                )?
            )
            .sign(key)
            .into(),
            4 => {
                let list = tx.authorization_list;
                let list = items(list, tx.authorization_list_length, "authorization_list")?;
                typed!(
                    TxEip7702, tx, to_someone()?, access_list,
                    max_priority_fee_per_gas: max_priority_fee_per_gas,
                    max_fee_per_gas: max_fee_per_gas,
                    authorization_list: list.iter().map(authorization).collect()
                )
                .sign(key)
                .into()
            }
            _ => return Err(wrong("type: 0 to 4 are known")),
        })
    }
}

/// # Safety
/// As [`items`] of `count` words.
unsafe fn words(pointer: *const u8, count: usize, what: &str) -> Result<Vec<B256>, Failure> {
    // SAFETY: the caller's promise.
    let words = unsafe { items::<[u8; 32]>(pointer.cast(), count, what) }?;
    Ok(words.iter().map(|word| FixedBytes(*word)).collect())
}

pub fn authorization(item: &lydite_authorization) -> Authorization {
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
    secret_key_: *const u8,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let [transaction] = items(transaction, 1, "transaction")? else {
            return Err(failure(LYDITE_ERROR_ARGUMENT, "transaction"));
        };
        let signed = sign(transaction, &secret_key(secret_key_)?)?;
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
    authorization_: *mut lydite_authorization,
    secret_key_: *const u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let [item] = items_mut(authorization_, 1, "authorization")? else {
            return Err(failure(LYDITE_ERROR_ARGUMENT, "authorization"));
        };
        let unsigned = authorization(item);
        let key = secret_key(secret_key_)?;
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
