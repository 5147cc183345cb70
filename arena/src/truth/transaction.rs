//! Transactions of types 2 and 3.

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;

use super::rlp::{self, Rlp};
use super::{Reader, be32, keccak256};

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

/// The fields of a type 2 or 3 transaction that the rows of real blocks use.
pub struct Signed {
    /// The nonce.
    pub nonce: u64,
    /// The gas limit.
    pub gas_limit: u64,
    /// The recipient; zeros for a contract creation.
    pub to: [u8; 20],
    /// The value in wei.
    pub value: BigUint,
    /// The hash that was signed.
    pub signing_hash: [u8; 32],
    /// r || s || y parity.
    pub signature: [u8; 65],
}

impl Signed {
    /// Decodes a raw transaction, which must be canonical.
    pub fn decode(raw: &[u8]) -> Result<Self> {
        let (&kind, body) = raw.split_first().context("empty")?;
        // Number of fields before the signature: nine in type 2; type 3 adds the blob fee and the blob hashes.
        let unsigned = match kind {
            2 => 9,
            3 => 11,
            other => bail!("type {other}: the blocks have 2 and 3 only"),
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
        for index in [0, 1, 2, 3, 4, 6] {
            number(index)?;
        }
        let to = match text(5)? {
            [] => [0; 20],
            bytes => bytes.try_into()?,
        };
        for entry in rlp::members(&fields[8])? {
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
        let parity: u8 = number(unsigned)?.try_into()?;
        ensure!(parity < 2, "y parity {parity}");
        let signature = [
            be32(&number(unsigned + 1)?),
            be32(&number(unsigned + 2)?),
            vec![parity],
        ]
        .concat();
        Ok(Self {
            nonce: number(1)?.try_into()?,
            gas_limit: number(4)?.try_into()?,
            to,
            value: number(6)?,
            signing_hash: keccak256(
                &[&[kind], rlp::list(&encoded[..unsigned]).as_slice()].concat(),
            ),
            signature: signature.as_slice().try_into()?,
        })
    }
}
