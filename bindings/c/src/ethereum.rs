//! Transactions, messages and typed data.

use lydite_core::{
    bytes::{Address, Bytes, U256},
    evm::{
        eip191, eip712,
        tx::{self, Signable, TransactionRef, TxEip1559},
    },
};

use crate::{
    hash::decode,
    memory::{Output, array, array_mut, items, items_mut, ragged, text},
    secp256k1::{secret_key, signature_error},
    status::{Failure, LYDITE_ERROR_ARGUMENT, failure, guard, lydite_status},
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

/// A transaction of type 2 (EIP-1559) without an access list. Integers wider than 64 bits are big-endian.
#[repr(C)]
pub struct lydite_tx_eip1559 {
    pub chain_id: u64,
    pub nonce: u64,
    /// wei per gas
    pub max_priority_fee_per_gas: [u8; 16],
    /// wei per gas
    pub max_fee_per_gas: [u8; 16],
    pub gas_limit: u64,
    /// 20 bytes, or NULL to create a contract
    pub to: *const u8,
    /// wei
    pub value: [u8; 32],
    pub data: *const u8,
    pub data_length: usize,
}

/// Signs a transaction with the 32 bytes of secret_key: its envelope, ready to be sent. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_tx_eip1559_sign(
    transaction: *const lydite_tx_eip1559,
    secret_key_: *const u8,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let [fields] = items(transaction, 1, "transaction")? else {
            return Err(failure(LYDITE_ERROR_ARGUMENT, "transaction"));
        };
        let to = if fields.to.is_null() {
            None
        } else {
            Some(Address(*array(fields.to, "to")?))
        };
        let transaction = TxEip1559 {
            chain_id: fields.chain_id,
            nonce: fields.nonce,
            max_priority_fee_per_gas: u128::from_be_bytes(fields.max_priority_fee_per_gas),
            max_fee_per_gas: u128::from_be_bytes(fields.max_fee_per_gas),
            gas_limit: fields.gas_limit,
            to,
            value: U256::from_be_bytes(fields.value),
            data: Bytes(items(fields.data, fields.data_length, "data")?.to_vec()),
            access_list: Vec::new(),
        };
        let signed = transaction.sign(&secret_key(secret_key_)?);
        Output {
            out,
            capacity,
            written,
        }
        .copy(&signed.encode())
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
