//! Conversions between alloy's transactions and Lydite's, by way of their EIP-2718 encoding.

use alloy_consensus::EthereumTxEnvelope;
use alloy_eips::eip2718::{Decodable2718, Eip2718Error, Encodable2718};
use lydite::evm::tx::{self, Transaction};

/// Converts a signed transaction to alloy's type.
///
/// # Errors
/// Alloy's error, if it rejects the encoding.
pub fn to_envelope<Eip4844>(
    transaction: &Transaction,
) -> Result<EthereumTxEnvelope<Eip4844>, Eip2718Error>
where
    EthereumTxEnvelope<Eip4844>: Decodable2718,
{
    EthereumTxEnvelope::decode_2718_exact(&transaction.encode())
}

/// Converts alloy's signed transaction to Lydite's type, which has no blobs.
///
/// ```
/// use alloy_consensus::{SignableTransaction, TxEnvelope, TxLegacy};
/// use alloy_primitives::{Signature, U256};
///
/// let signature = Signature::new(U256::from(1), U256::from(2), false);
/// let envelope = TxEnvelope::from(TxLegacy { nonce: 7, ..Default::default() }.into_signed(signature));
/// let transaction = lydite_alloy::to_transaction(&envelope)?;
/// assert_eq!(lydite_alloy::to_envelope(&transaction).ok(), Some(envelope));
/// # Ok::<(), lydite::evm::tx::Error>(())
/// ```
///
/// # Errors
/// [`tx::Error`], for a transaction that a block cannot contain: with its blobs, or with a signature out of range.
pub fn to_transaction<Eip4844>(
    envelope: &EthereumTxEnvelope<Eip4844>,
) -> Result<Transaction, tx::Error>
where
    EthereumTxEnvelope<Eip4844>: Encodable2718,
{
    Transaction::decode(&envelope.encoded_2718())
}
