//! The functions for a whole block: alloy's, those of lydite-alloy that replace them, and reth's.

use alloy_consensus::transaction::{Recovered, SignerRecoverable};
use alloy_consensus::{EthereumReceipt, TrieAccount, TxEnvelope, TxReceipt, TxType, proofs};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{Address, B256, Bloom, Log, U256};
use arena_kit::Reader;
use reth_primitives_traits::transaction::{recover::try_recover_signers, signed::RecoveryError};

pub type Receipt = EthereumReceipt<TxType>;

/// Functions for a whole block.
pub struct Functions {
    /// Decodes transactions and computes their hashes and senders.
    pub transactions: fn(&[&[u8]]) -> Option<Vec<Recovered<TxEnvelope>>>,
    /// The transactions root.
    pub transactions_root: fn(&[TxEnvelope]) -> B256,
    /// The receipts root and the block's bloom filter.
    pub receipts_root: fn(&[Receipt]) -> (B256, Bloom),
    /// The root of an account's storage.
    pub storage_root: fn(Vec<(B256, U256)>) -> B256,
    /// The state root.
    pub state_root: fn(Vec<(Address, TrieAccount)>) -> B256,
}

/// alloy's.
pub static ALLOY: Functions = Functions {
    transactions: |raw| {
        let mut buffer = Vec::new();
        let recovered = raw.iter().map(|raw| {
            let transaction = TxEnvelope::decode_2718_exact(raw).ok()?;
            transaction.tx_hash();
            transaction.try_into_recovered_with_buf(&mut buffer).ok()
        });
        recovered.collect()
    },
    transactions_root: proofs::calculate_transaction_root,
    receipts_root: |receipts| {
        let with_bloom: Vec<_> = receipts.iter().map(TxReceipt::with_bloom_ref).collect();
        let bloom = union(with_bloom.iter().map(|receipt| &receipt.logs_bloom));
        (proofs::calculate_receipt_root(&with_bloom), bloom)
    },
    storage_root: proofs::storage_root_unhashed,
    state_root: proofs::state_root_unhashed,
};

/// reth's, which hands the roots on to alloy.
pub static RETH: Functions = Functions {
    transactions: |raw| {
        let transactions = try_recover_signers(raw.iter(), |raw: &&[u8]| {
            TxEnvelope::decode_2718_exact(raw).map_err(RecoveryError::from_source)
        });
        transactions.ok()
    },
    transactions_root: reth_primitives_traits::proofs::calculate_transaction_root,
    ..ALLOY
};

/// Lydite's.
pub static LYDITE: Functions = Functions {
    transactions: |raw| lydite_alloy::decode_transactions(raw).ok(),
    transactions_root: lydite_alloy::calculate_transaction_root,
    receipts_root: |receipts| {
        let with_bloom = lydite_alloy::receipts_with_bloom(receipts);
        let bloom = union(with_bloom.iter().map(|receipt| &receipt.logs_bloom));
        (lydite_alloy::calculate_receipt_root(&with_bloom), bloom)
    },
    storage_root: lydite_alloy::storage_root_unhashed,
    state_root: lydite_alloy::state_root_unhashed,
};

fn union<'a>(blooms: impl Iterator<Item = &'a Bloom>) -> Bloom {
    blooms.fold(Bloom::ZERO, |union, bloom| union | *bloom)
}

/// Root and bloom filter as an output.
pub fn encode((root, bloom): (B256, Bloom)) -> Vec<u8> {
    [root.as_slice(), bloom.as_slice()].concat()
}

/// Reads the receipts of an item.
pub fn receipts(reader: &mut Reader) -> Option<Vec<Receipt>> {
    reader.until_empty(|reader| {
        let [kind, success] = reader.array()?;
        let cumulative_gas_used = u64::from_le_bytes(reader.array()?);
        let logs = (0..u32::from_le_bytes(reader.array()?)).map(|_| {
            let address = Address::new(reader.array()?);
            let [topics] = reader.array()?;
            let topics = (0..topics).map(|_| reader.array().map(B256::new));
            let topics = topics.collect::<Option<_>>()?;
            Log::new(address, topics, reader.bytes()?.into())
        });
        Some(Receipt {
            tx_type: TxType::try_from(kind).ok()?,
            success: success == 1,
            cumulative_gas_used,
            logs: logs.collect::<Option<_>>()?,
        })
    })
}
