//! Transactions, messages and typed data.

use lydite::{
    bytes::{Address, B256},
    evm::{
        eip191, eip712,
        tx::{
            self, AccessListItem, Authorization, Field, Signable, TransactionRef,
            TransactionRequest, TransactionType,
        },
    },
};

use crate::{
    abi::text,
    failure::Failure,
    hash::split_by_lengths,
    scratch::State,
    secp256k1::secret_key,
    tape::{Reader, Writer},
};

/// Signed envelope → tape of its fields, in the order in which `ts/transaction.ts` reads them. If `sender` is set, the
/// sender comes last.
pub fn transaction_decode(
    state: &mut State,
    length: usize,
    sender: usize,
    _: usize,
) -> Result<usize, Failure> {
    let tx = TransactionRef::decode(state.input(length)?)?;
    let mut out = Writer::new();
    out.word(tx.kind as usize, usize::from(tx.chain_id.is_some()));
    out.limb(tx.chain_id.unwrap_or_default());
    out.limb(tx.nonce);
    let wide = |value: u128| [value as u64, (value >> 64) as u64];
    out.number(false, &wide(tx.max_fee_per_gas));
    out.number(false, &wide(tx.max_priority_fee_per_gas));
    out.limb(tx.gas_limit);
    out.word(usize::from(tx.to.is_some()), 0);
    if let Some(to) = &tx.to {
        out.address(to);
    }
    out.unsigned(&tx.value);
    out.bytes(tx.data);
    out.word(tx.access_list.len(), 0);
    for item in tx.access_list.iter() {
        out.address(&item.address);
        out.word(item.storage_keys.len(), 0);
        for key in item.storage_keys.iter() {
            out.fixed_bytes(&key.0);
        }
    }
    out.number(false, &wide(tx.max_fee_per_blob_gas));
    out.word(tx.blob_versioned_hashes.len(), 0);
    for hash in tx.blob_versioned_hashes.iter() {
        out.fixed_bytes(&hash.0);
    }
    out.word(tx.authorization_list.len(), 0);
    for item in tx.authorization_list.iter() {
        out.unsigned(&item.chain_id);
        out.address(&item.address);
        out.limb(item.nonce);
        out.word(item.y_parity.into(), 0);
        out.unsigned(&item.r);
        out.unsigned(&item.s);
    }
    out.fixed_bytes(&tx.signature.to_bytes65());
    out.fixed_bytes(&tx.hash().0);
    out.fixed_bytes(&tx.signing_hash().0);
    if sender != 0 {
        out.address(&tx.sender()?);
    }
    state.put_owned(out.finish())
}

/// Signed envelope → its sender (42 characters).
pub fn transaction_sender(
    state: &mut State,
    length: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let sender = TransactionRef::decode(state.input(length)?)?.sender()?;
    state.put(&sender.to_checksum_buffer())
}

/// `count` envelopes → their senders (42 characters each), or spaces for an invalid one.
pub fn transaction_senders(
    state: &mut State,
    length: usize,
    count: usize,
    _: usize,
) -> Result<usize, Failure> {
    let raw = split_by_lengths(state.input(length)?, count)?;
    let mut found = vec![Ok(Address::ZERO); raw.len()];
    tx::senders(&raw, &mut found)?;
    let mut out = Vec::with_capacity(42 * found.len());
    for sender in &found {
        out.extend(sender.map_or([b' '; 42], |address| address.to_checksum_buffer()));
    }
    state.put_owned(out)
}

fn address(reader: &mut Reader<'_>) -> Result<Address, Failure> {
    let bytes = reader.padded(20)?;
    Ok(Address(bytes.try_into().unwrap_or_default()))
}

/// Reads an optional item: a word that is 0 if it is absent, otherwise followed by the item.
fn optional<T>(
    reader: &mut Reader<'_>,
    item: impl Fn(&mut Reader<'_>) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    let (there, _) = reader.word()?;
    (there != 0).then(|| item(reader)).transpose()
}

fn list<T>(
    reader: &mut Reader<'_>,
    item: impl Fn(&mut Reader<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let (count, _) = reader.word()?;
    (0..count).map(|_| item(reader)).collect()
}

fn word(reader: &mut Reader<'_>) -> Result<B256, Failure> {
    let bytes = reader.padded(32)?;
    Ok(B256::from(<[u8; 32]>::try_from(bytes).unwrap_or_default()))
}

fn access_list_item(reader: &mut Reader<'_>) -> Result<AccessListItem, Failure> {
    Ok(AccessListItem {
        address: address(reader)?,
        storage_keys: list(reader, word)?,
    })
}

/// Secret key, then the tape of a transaction (its type and the fields of that type, as written by `ts/transaction.ts`)
/// → its signed envelope.
pub fn transaction_sign(
    state: &mut State,
    length: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let key = secret_key(state)?;
    let input = state.input(length)?;
    let tape = input
        .get(32..)
        .ok_or_else(|| Failure::argument("input is too short"))?;
    let signed = request(&mut Reader::new(tape))?
        .sign(&key)
        .map_err(Failure::encode)?;
    state.put_owned(signed.encode())
}

fn request(r: &mut Reader<'_>) -> Result<TransactionRequest, Failure> {
    let (number, _) = r.word()?;
    let kind = u8::try_from(number)
        .ok()
        .and_then(|number| TransactionType::try_from(number).ok())
        .ok_or_else(|| {
            Failure::encode(format_args!(
                "type: unknown transaction type {number}; expected 0 to 4"
            ))
        })?;
    let mut tx = TransactionRequest {
        kind,
        ..TransactionRequest::default()
    };
    for field in kind.fields() {
        match field {
            Field::ChainId => tx.chain_id = optional(r, |r| r.unsigned("chainId"))?,
            Field::Nonce => tx.nonce = r.unsigned("nonce")?,
            Field::GasPrice => tx.gas_price = r.unsigned("gasPrice")?,
            Field::MaxPriorityFeePerGas => {
                tx.max_priority_fee_per_gas = r.unsigned("maxPriorityFeePerGas")?;
            }
            Field::MaxFeePerGas => tx.max_fee_per_gas = r.unsigned("maxFeePerGas")?,
            Field::GasLimit => tx.gas_limit = r.unsigned("gas")?,
            Field::To => tx.to = optional(r, address)?,
            Field::Value => tx.value = r.unsigned("value")?,
            Field::Data => tx.data = r.bytes()?.into(),
            Field::AccessList => tx.access_list = list(r, access_list_item)?,
            Field::MaxFeePerBlobGas => tx.max_fee_per_blob_gas = r.unsigned("maxFeePerBlobGas")?,
            Field::BlobVersionedHashes => tx.blob_versioned_hashes = list(r, word)?,
            Field::AuthorizationList => tx.authorization_list = list(r, authorization)?,
        }
    }
    Ok(tx)
}

fn authorization(r: &mut Reader<'_>) -> Result<Authorization, Failure> {
    Ok(Authorization {
        chain_id: r.unsigned("authorizationList: chainId")?,
        address: address(r)?,
        nonce: r.unsigned("authorizationList: nonce")?,
        y_parity: u8::try_from(r.unsigned::<u64>("authorizationList: yParity")?).map_err(|_| {
            Failure::encode("authorizationList: yParity: expected an integer from 0 to 255")
        })?,
        r: r.unsigned("authorizationList: r")?,
        s: r.unsigned("authorizationList: s")?,
    })
}

/// Message → the hash that `personal_sign` signs (EIP-191, version 0x45).
pub fn hash_message(
    state: &mut State,
    length: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let hash = eip191::hash_message(state.input(length)?);
    state.put(&hash.0)
}

/// JSON document → the hash to sign, the domain separator, the message hash (32 bytes each), and the text of
/// encodeType.
pub fn typed_data(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let data = eip712::TypedData::from_json(text(state.input(length)?)?)?;
    let mut out = Vec::new();
    for hash in [
        data.signing_hash(),
        data.domain_separator(),
        data.hash_struct(),
    ] {
        out.extend_from_slice(&hash.0);
    }
    out.extend_from_slice(data.encode_type().as_bytes());
    state.put_owned(out)
}
