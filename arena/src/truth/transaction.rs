//! Transactions: legacy with a chain id, and types 2 and 3.

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;

use super::rlp::{self, Rlp};
use super::{keccak256, secp256k1};
use crate::wire::{Reader, be32};

/// The RLP list of an unsigned EIP-1559 transaction with the given fields.
pub fn unsigned(r: &mut Reader<'_>) -> Result<Vec<u8>> {
    let mut items = Vec::new();
    for width in [8, 8, 16, 16, 8] {
        items.push(rlp::number(&r.le(width)?));
    }
    items.push(rlp::text(r.take(20)?));
    items.push(rlp::number(&BigUint::from_bytes_be(r.take(32)?)));
    items.push(rlp::text(r.lp()?));
    let mut access = Vec::new();
    for _ in 0..r.u32()? {
        let address = rlp::text(r.take(20)?);
        let mut keys = Vec::new();
        for _ in 0..r.u32()? {
            keys.push(rlp::text(r.take(32)?));
        }
        access.push(rlp::list(&[address, rlp::list(&keys)]));
    }
    items.push(rlp::list(&access));
    Ok(rlp::list(&items))
}

/// The fields of a signed transaction that rows of blocks use.
pub struct Signed {
    /// The type.
    pub kind: u8,
    /// The nonce.
    pub nonce: u64,
    /// The gas limit.
    pub gas_limit: u64,
    /// The recipient; zeros for a contract creation.
    pub to: [u8; 20],
    /// The value in wei.
    pub value: BigUint,
    /// The call data.
    pub data: Vec<u8>,
    /// The hash that was signed.
    pub signing_hash: [u8; 32],
    /// r || s || y parity.
    pub signature: [u8; 65],
}

impl Signed {
    /// Decodes a raw transaction, which must be canonical.
    pub fn decode(raw: &[u8]) -> Result<Self> {
        // The list, the position of the nonce, and the number of fields before the signature.
        let (kind, body, nonce, unsigned) = match raw.first().context("empty")? {
            2 => (2, &raw[1..], 1, 9),
            // Two more: the blob fee and the blob hashes.
            3 => (3, &raw[1..], 1, 11),
            0xc0.. => (0, raw, 0, 6),
            other => bail!("unexpected type {other}"),
        };
        let (Rlp::List(mut payload), []) = rlp::item(body)? else {
            bail!("not one list")
        };
        let (mut encoded, mut fields) = (Vec::new(), Vec::new());
        // Each field as its content, and in its original encoding.
        while !payload.is_empty() {
            let (content, rest) = rlp::item(payload)?;
            encoded.push(payload[..payload.len() - rest.len()].to_vec());
            fields.push(content);
            payload = rest;
        }
        ensure!(fields.len() == unsigned + 3, "{} fields", fields.len());
        let text = |index: usize| match &fields[index] {
            Rlp::Text(bytes) => Ok(*bytes),
            Rlp::List(_) => bail!("field {index} is a list"),
        };
        let number = |index: usize| {
            let bytes = text(index)?;
            ensure!(bytes.first() != Some(&0), "field {index}: leading zero");
            ensure!(bytes.len() <= 32, "field {index}: too long");
            Ok(BigUint::from_bytes_be(bytes))
        };
        // One fee in legacy transactions, two in the others.
        let gas_limit = if kind == 0 { 2 } else { 4 };
        let [to, value, data] = [1, 2, 3].map(|after| gas_limit + after);
        for index in (0..=gas_limit).chain([value]) {
            number(index)?;
        }
        let to = match text(to)? {
            [] => [0; 20],
            bytes => bytes.try_into()?,
        };
        let access_list = if kind == 0 {
            Vec::new()
        } else {
            rlp::members(&fields[8])?
        };
        for entry in access_list {
            let members = rlp::members(&entry)?;
            let [Rlp::Text(address), keys @ Rlp::List(_)] = members.as_slice() else {
                bail!("access list: not an address and keys")
            };
            ensure!(address.len() == 20, "access list: address");
            for key in rlp::members(keys)? {
                ensure!(
                    matches!(key, Rlp::Text(bytes) if bytes.len() == 32),
                    "access list: key"
                );
            }
        }
        let mut signed = encoded[..unsigned].to_vec();
        let mut parity = number(unsigned)?;
        if kind == 0 {
            // EIP-155: v is 35 + 2 * chain id + parity.
            ensure!(parity >= BigUint::from(35u8), "v {parity}: no chain id");
            let v = parity - 35u8;
            parity = &v % 2u8;
            let empty = rlp::text(&[]);
            signed.extend([rlp::number(&(v / 2u8)), empty.clone(), empty]);
        }
        let parity: u8 = parity.try_into()?;
        ensure!(parity < 2, "y parity {parity}");
        let mut preimage = rlp::list(&signed);
        if kind != 0 {
            preimage.insert(0, kind);
        }
        let signature = [
            be32(&number(unsigned + 1)?),
            be32(&number(unsigned + 2)?),
            vec![parity],
        ]
        .concat();
        Ok(Self {
            kind,
            nonce: number(nonce)?.try_into()?,
            gas_limit: number(gas_limit)?.try_into()?,
            to,
            value: number(value)?,
            data: text(data)?.to_vec(),
            signing_hash: keccak256(&preimage),
            signature: signature.as_slice().try_into()?,
        })
    }

    /// The account that signed.
    pub fn sender(&self) -> Result<[u8; 20]> {
        let key = secp256k1::recover(&self.signing_hash, &self.signature)?;
        Ok(secp256k1::address(&key))
    }
}
