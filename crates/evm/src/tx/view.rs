//! Transactions left in the input. Both hashes are computed from the input bytes: the signed fields are contiguous in
//! the list, so no field is encoded again.
use alloc::vec::Vec;
use core::ops::Range;

use lydite_bytes::{Address, B256, U256};
use lydite_curve::secp256k1::{self, Signature};
use lydite_hash::{Keccak256, keccak256, keccak256_batch};

use super::{
    AccessListItemRef, Authorization, Error, Signable, TransactionType, TxEip1559, TxEip2930,
    TxEip4844, TxEip7702, TxLegacy,
    fields::{Fields, Preimage},
};
use crate::rlp::{self, Buffer, List, Payload, Reader};

/// A signed transaction of any type, borrowed from its envelope. Fields that the type does not have are empty or 0.
#[derive(Clone, Copy, Debug)]
pub struct TransactionRef<'a> {
    /// Type of the envelope.
    pub kind: TransactionType,
    /// Chain id; `None` for a legacy transaction without EIP-155.
    pub chain_id: Option<u64>,
    /// Number of transactions that the sender has sent before.
    pub nonce: u64,
    /// Maximum wei per gas above the base fee. For types 0 and 1: the gas price.
    pub max_priority_fee_per_gas: u128,
    /// Maximum wei per gas. For types 0 and 1: the gas price.
    pub max_fee_per_gas: u128,
    /// Maximum gas.
    pub gas_limit: u64,
    /// Recipient; `None` creates a contract. Types 3 and 4 always have a recipient.
    pub to: Option<Address>,
    /// Wei sent.
    pub value: U256,
    /// Call data, or the code that creates the contract.
    pub data: &'a [u8],
    /// Accounts and storage slots to prewarm (types 1 and up).
    pub access_list: List<'a, AccessListItemRef<'a>>,
    /// Maximum wei per blob gas (type 3).
    pub max_fee_per_blob_gas: u128,
    /// Versioned hash of each blob's commitment (type 3).
    pub blob_versioned_hashes: List<'a, B256>,
    /// Authorizations that set the code of accounts (type 4).
    pub authorization_list: List<'a, Authorization>,
    /// The sender's signature. The recovery id is 0 or 1.
    pub signature: Signature,
    /// The encodings of the fields before the signature.
    fields: &'a [u8],
    /// The whole list, preceded by the type byte unless `detached`.
    envelope: &'a [u8],
    /// The type byte is not directly before the list, as in the network form of a blob transaction.
    detached: bool,
}

/// The data that accompanies a blob transaction on the network (EIP-4844; EIP-7594 for version 1). The counts match
/// each other and the transaction; blobs are not verified against the commitments.
#[derive(Clone, Copy, Debug)]
pub struct BlobSidecar<'a> {
    /// 0: one proof per blob. 1: 128 cell proofs per blob.
    pub version: u8,
    /// 4096 field elements of 32 bytes each.
    pub blobs: List<'a, &'a [u8; 131_072]>,
    /// KZG commitments, one per blob.
    pub commitments: List<'a, &'a [u8; 48]>,
    /// KZG proofs.
    pub proofs: List<'a, &'a [u8; 48]>,
}

impl<'a> TransactionRef<'a> {
    /// Decodes an envelope strictly.
    ///
    /// # Errors
    /// [`Error::Rlp`], [`Error::UnknownType`] or [`Error::InvalidV`] if the envelope is invalid.
    pub fn decode(raw: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(raw);
        match raw.first() {
            Some(0xc0..) | None => Self::decode_list::<TxLegacy>(&mut reader, Some(raw)),
            Some(1) => Self::decode_list::<TxEip2930>(&mut reader, Some(raw)),
            Some(2) => Self::decode_list::<TxEip1559>(&mut reader, Some(raw)),
            Some(3) => Self::decode_list::<TxEip4844>(&mut reader, Some(raw)),
            Some(4) => Self::decode_list::<TxEip7702>(&mut reader, Some(raw)),
            Some(&byte) => Err(Error::UnknownType(byte)),
        }
    }

    /// Decodes an envelope in the form in which transactions are sent to a node: a blob transaction may include its
    /// blobs, in the wrapper of EIP-4844 or of EIP-7594. The hash is that of the transaction without them.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), [`Error::UnknownWrapper`] and [`Error::BlobCount`].
    pub fn decode_pooled(raw: &'a [u8]) -> Result<(Self, Option<BlobSidecar<'a>>), Error> {
        let mut reader = Reader::new(raw);
        let wrapped = raw.first() == Some(&3) && {
            let mut envelope = reader;
            envelope.read::<u8>()?;
            envelope.list()?.rest().first() >= Some(&0xc0)
        };
        if !wrapped {
            return Ok((Self::decode(raw)?, None));
        }
        reader.read::<u8>()?;
        let mut wrapper = reader.list()?;
        reader.finish()?;
        let view = Self::decode_list::<TxEip4844>(&mut wrapper, None)?;
        let version = if wrapper.rest().first() < Some(&0xc0) {
            wrapper.read()?
        } else {
            0
        };
        if version > 1 {
            return Err(Error::UnknownWrapper(version));
        }
        let sidecar = BlobSidecar {
            version,
            blobs: wrapper.read()?,
            commitments: wrapper.read()?,
            proofs: wrapper.read()?,
        };
        wrapper.finish()?;
        let blobs = sidecar.blobs.len();
        let proofs = if version == 0 { blobs } else { 128 * blobs };
        if view.blob_versioned_hashes.len() != blobs
            || sidecar.commitments.len() != blobs
            || sidecar.proofs.len() != proofs
        {
            return Err(Error::BlobCount);
        }
        Ok((view, Some(sidecar)))
    }

    /// Reads the list of a transaction from `reader`. If `whole` is the whole envelope, the reader must be at its
    /// start, and no data may follow the list.
    fn decode_list<T: Fields>(
        reader: &mut Reader<'a>,
        whole: Option<&'a [u8]>,
    ) -> Result<Self, Error> {
        let legacy = T::KIND == TransactionType::Legacy;
        if !legacy && whole.is_some() {
            // The type byte is below 0x80, so it can be read as an integer.
            reader.read::<u8>()?;
        }
        let start = reader.rest();
        let mut list = reader.list()?;
        let envelope = match whole {
            Some(raw) => {
                reader.finish()?;
                raw
            }
            None => &start[..start.len() - reader.rest().len()],
        };
        let mut view = Self {
            kind: T::KIND,
            chain_id: None,
            nonce: 0,
            max_priority_fee_per_gas: 0,
            max_fee_per_gas: 0,
            gas_limit: 0,
            to: None,
            value: U256::ZERO,
            data: &[],
            access_list: List::default(),
            max_fee_per_blob_gas: 0,
            blob_versioned_hashes: List::default(),
            authorization_list: List::default(),
            signature: Signature::default(),
            fields: list.rest(),
            envelope,
            detached: whole.is_none(),
        };
        T::read(&mut list, &mut view)?;
        view.fields = &view.fields[..view.fields.len() - list.rest().len()];
        let recovery_id = if legacy {
            let offset = list.offset();
            let (recovery_id, chain_id) =
                split_v(list.read()?).ok_or(Error::InvalidV { offset })?;
            view.chain_id = chain_id;
            recovery_id
        } else {
            u8::from(list.read::<bool>()?)
        };
        let r = read_integer_bytes(&mut list)?;
        let s = read_integer_bytes(&mut list)?;
        view.signature = Signature::new(r, s, recovery_id);
        list.finish()?;
        Ok(view)
    }

    /// Computes the transaction's hash from the decoded bytes.
    pub fn hash(&self) -> [u8; 32] {
        if !self.detached {
            return keccak256(self.envelope);
        }
        let mut keccak = Keccak256::new();
        keccak.update(&[self.kind as u8]);
        keccak.update(self.envelope);
        keccak.finalize()
    }

    /// Recovers the account that signed.
    ///
    /// # Errors
    /// [`Error::Signature`] if there is no sender or s is above n / 2 (EIP-2).
    pub fn sender(&self) -> Result<Address, Error> {
        Ok(secp256k1::recover_address_low_s(
            &self.signing_hash(),
            &self.signature,
        )?)
    }
}

/// The signed fields, copied from the input.
impl Payload for TransactionRef<'_> {
    #[inline]
    fn payload_len(&self) -> usize {
        self.fields.len()
    }

    #[inline(always)]
    fn encode_payload<B: Buffer>(&self, out: &mut B) {
        out.put_slice(self.fields);
    }
}

impl Signable for TransactionRef<'_> {
    #[inline]
    fn kind(&self) -> TransactionType {
        self.kind
    }

    #[inline]
    fn eip155_chain_id(&self) -> Option<u64> {
        if self.kind == TransactionType::Legacy {
            self.chain_id
        } else {
            None
        }
    }
}

/// Splits a legacy v into recovery id and EIP-155 chain id.
#[inline]
pub(super) fn split_v(v: u128) -> Option<(u8, Option<u64>)> {
    match v {
        27 | 28 => Some((v as u8 - 27, None)),
        35.. => {
            let v = v - 35;
            Some(((v & 1) as u8, Some(u64::try_from(v >> 1).ok()?)))
        }
        _ => None,
    }
}

/// Reads an integer of at most 32 bytes, padded to 32.
#[inline(always)]
fn read_integer_bytes(reader: &mut Reader<'_>) -> Result<[u8; 32], rlp::Error> {
    if let [0xa0, top, ..] = reader.rest()
        && *top != 0
    {
        return reader.read();
    }
    let integer;
    (integer, *reader) = read_short_integer(*reader)?;
    Ok(integer.to_be_bytes())
}

#[cold]
fn read_short_integer(mut reader: Reader<'_>) -> Result<(U256, Reader<'_>), rlp::Error> {
    Ok((reader.read()?, reader))
}

/// Computes the hash of each envelope: decodes strictly like [`TransactionRef::decode`], and hashes in parallel if the
/// CPU has vector kernels. The error of an invalid envelope is stored in `out`; the others are not affected.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
///
/// ```
/// use lydite_evm::tx::{self, Error};
///
/// let mut out = [Ok([0; 32]); 1];
/// tx::hashes(&[&[0x05]], &mut out)?;
/// assert_eq!(out, [Err(Error::UnknownType(5))]);
/// # Ok::<(), Error>(())
/// ```
pub fn hashes(raw: &[&[u8]], out: &mut [Result<[u8; 32], Error>]) -> Result<(), Error> {
    const AT_ONCE: usize = 64;
    if raw.len() != out.len() {
        return Err(Error::Length);
    }
    for (raw, out) in raw.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
        let mut inputs: [&[u8]; AT_ONCE] = [&[]; AT_ONCE];
        let mut valid = 0;
        for (raw, out) in raw.iter().zip(&mut *out) {
            *out = TransactionRef::decode(raw).map(|_| [0; 32]);
            if out.is_ok() {
                inputs[valid] = raw;
                valid += 1;
            }
        }
        let mut hashes = [[0; 32]; AT_ONCE];
        keccak256_batch(&inputs[..valid], &mut hashes[..valid]).map_err(|_| Error::Length)?;
        for (hash, of) in out.iter_mut().flatten().zip(hashes) {
            *hash = of;
        }
    }
    Ok(())
}

/// Number of transactions whose preimages [`senders`] holds at once.
const CHUNK: usize = 256;

/// Recovers the sender of each envelope: decodes, hashes and recovers in batches. The error of an invalid envelope is
/// stored in `out`; the others are not affected.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
///
/// ```
/// use lydite_bytes::Address;
/// use lydite_evm::tx::{self, Error};
///
/// let mut out = [Ok(Address::ZERO); 1];
/// tx::senders(&[&[0x05]], &mut out)?;
/// assert_eq!(out, [Err(Error::UnknownType(5))]);
/// # Ok::<(), Error>(())
/// ```
pub fn senders(raw: &[&[u8]], out: &mut [Result<Address, Error>]) -> Result<(), Error> {
    if raw.len() != out.len() {
        return Err(Error::Length);
    }
    let mut preimages = Vec::new();
    for (raw, out) in raw.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        senders_chunk(raw, out, &mut preimages)?;
    }
    Ok(())
}

fn senders_chunk(
    raw: &[&[u8]],
    out: &mut [Result<Address, Error>],
    preimages: &mut Vec<u8>,
) -> Result<(), Error> {
    preimages.clear();
    let mut valid: Vec<&mut Result<Address, Error>> = Vec::with_capacity(raw.len());
    let mut spans: Vec<Range<usize>> = Vec::with_capacity(raw.len());
    let mut signatures = Vec::with_capacity(raw.len());
    for (raw, out) in raw.iter().zip(out) {
        let view = TransactionRef::decode(raw).and_then(|view| {
            view.signature
                .require_low_s()
                .map(|_| view)
                .map_err(Error::Signature)
        });
        match view {
            Ok(view) => {
                let start = preimages.len();
                rlp::encode_append(&Preimage(&view), preimages);
                spans.push(start..preimages.len());
                signatures.push(view.signature);
                valid.push(out);
            }
            Err(error) => *out = Err(error),
        }
    }
    let inputs: Vec<&[u8]> = spans.into_iter().map(|span| &preimages[span]).collect();
    let mut hashes = alloc::vec![[0; 32]; inputs.len()];
    keccak256_batch(&inputs, &mut hashes).map_err(|_| Error::Length)?;
    let mut addresses = alloc::vec![Ok(Address::ZERO); inputs.len()];
    secp256k1::recover_address_batch(&hashes, &signatures, &mut addresses)?;
    for (out, address) in valid.into_iter().zip(addresses) {
        *out = address.map_err(Error::Signature);
    }
    Ok(())
}
