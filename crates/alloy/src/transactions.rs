//! Transactions of a block: decoding, hashes and senders in batches.

use std::{error, fmt};

use alloy_consensus::{
    EthereumTxEnvelope, SignableTransaction, Signed,
    crypto::RecoveryError,
    transaction::{Recovered, RlpEcdsaEncodableTx},
};
use alloy_eips::eip2718::{Decodable2718, Eip2718Error};
use alloy_primitives::{Address, B256, Signature};
use lydite::{curve::secp256k1, evm::tx, hash::keccak256_batch};

/// Why [`decode_transactions`] rejects a block.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum TransactionError {
    /// An envelope is invalid.
    Envelope {
        /// Index of the transaction.
        index: usize,
        /// Alloy's error.
        error: Eip2718Error,
    },
    /// A signature has no valid public key or a high s (EIP-2).
    Signature {
        /// Index of the transaction.
        index: usize,
    },
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Envelope { index, error } => write!(f, "transaction {index}: {error}"),
            Self::Signature { index } => write!(f, "transaction {index}: invalid signature"),
        }
    }
}

impl error::Error for TransactionError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Envelope { error, .. } => Some(error),
            Self::Signature { .. } => None,
        }
    }
}

/// Decodes the EIP-2718 envelopes of a block's transactions and recovers their senders, like `decode_2718_exact` and
/// `try_into_recovered` for each of them. The hashes are computed too, so that `tx_hash` returns at once.
///
/// Runs on one core. To use more, split a block into chunks of 64 transactions or more: the results do not depend on the
/// chunks.
///
/// # Errors
///
/// [`TransactionError::Envelope`] for the first invalid envelope. If all envelopes are valid,
/// [`TransactionError::Signature`] for the first invalid signature.
pub fn decode_transactions<Eip4844, R>(
    raw: &[R],
) -> Result<Vec<Recovered<EthereumTxEnvelope<Eip4844>>>, TransactionError>
where
    EthereumTxEnvelope<Eip4844>: Decodable2718,
    Eip4844: RlpEcdsaEncodableTx + SignableTransaction<Signature>,
    R: AsRef<[u8]>,
{
    let raw: Vec<&[u8]> = raw.iter().map(AsRef::as_ref).collect();
    let decode = |(index, raw): (usize, &&[u8])| {
        EthereumTxEnvelope::decode_2718_exact(raw)
            .map_err(|error| TransactionError::Envelope { index, error })
    };
    let transactions: Vec<_> = raw
        .iter()
        .enumerate()
        .map(decode)
        .collect::<Result<_, _>>()?;
    let mut hashes = vec![Err(tx::Error::Length); raw.len()];
    let mut senders = vec![Err(tx::Error::Length); raw.len()];
    // These fail only if the lengths differ.
    let _ = tx::hashes(&raw, &mut hashes);
    let _ = tx::senders(&raw, &mut senders);

    let mut recovered = Vec::with_capacity(raw.len());
    let results = hashes.into_iter().zip(senders);
    for (index, (transaction, (hash, sender))) in transactions.into_iter().zip(results).enumerate()
    {
        // Alloy also accepts encodings that a block does not contain, such as a transaction with its blobs. For these,
        // alloy computes the hash when it is needed.
        let transaction = match hash {
            Ok(hash) => with_hash(transaction, B256::new(hash.0)),
            Err(_) => transaction,
        };
        let sender = match sender {
            Ok(sender) => Some(Address::new(sender.0)),
            Err(_) => recover_signers(std::slice::from_ref(&transaction))
                .ok()
                .and_then(|senders| senders.first().copied()),
        };
        let sender = sender.ok_or(TransactionError::Signature { index })?;
        recovered.push(Recovered::new_unchecked(transaction, sender));
    }
    Ok(recovered)
}

fn with_hash<Eip4844>(
    transaction: EthereumTxEnvelope<Eip4844>,
    hash: B256,
) -> EthereumTxEnvelope<Eip4844> {
    fn signed<T>(transaction: Signed<T>, hash: B256) -> Signed<T> {
        let signature = *transaction.signature();
        Signed::new_unchecked(transaction.strip_signature(), signature, hash)
    }
    use EthereumTxEnvelope::{Eip1559, Eip2930, Eip4844, Eip7702, Legacy};
    match transaction {
        Legacy(transaction) => Legacy(signed(transaction, hash)),
        Eip2930(transaction) => Eip2930(signed(transaction, hash)),
        Eip1559(transaction) => Eip1559(signed(transaction, hash)),
        Eip4844(transaction) => Eip4844(signed(transaction, hash)),
        Eip7702(transaction) => Eip7702(signed(transaction, hash)),
    }
}

/// Recovers the senders of transactions in one batch, in their order. Rejects high s (EIP-2), like `recover_signer`.
///
/// # Errors
///
/// [`RecoveryError`] if a signature has no valid public key or a high s. To find the transaction, recover one by one.
pub fn recover_signers<Eip4844>(
    transactions: &[EthereumTxEnvelope<Eip4844>],
) -> Result<Vec<Address>, RecoveryError>
where
    Eip4844: RlpEcdsaEncodableTx + SignableTransaction<Signature>,
{
    /// Transactions whose signed bytes are held at once.
    const CHUNK: usize = 256;
    let mut out = Vec::with_capacity(transactions.len());
    let mut preimages = Vec::new();
    for transactions in transactions.chunks(CHUNK) {
        preimages.clear();
        let mut spans = Vec::with_capacity(transactions.len());
        let mut signatures = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            let start = preimages.len();
            encode_for_signing(transaction, &mut preimages);
            spans.push(start..preimages.len());
            let signature = transaction.signature().as_bytes();
            let signature = secp256k1::Signature::from_bytes65_v27(&signature)
                .map_err(|_| RecoveryError::new())?;
            signatures.push(signature);
        }
        let preimages: Vec<&[u8]> = spans.into_iter().map(|span| &preimages[span]).collect();
        let mut hashes = vec![[0; 32]; transactions.len()];
        let mut senders = vec![Err(secp256k1::Error::Length); transactions.len()];
        // These fail only if the lengths differ.
        let _ = keccak256_batch(&preimages, &mut hashes);
        let _ = secp256k1::recover_address_low_s_batch(&hashes, &signatures, &mut senders);
        for sender in senders {
            let sender = sender.map_err(|_| RecoveryError::new())?;
            out.push(Address::new(sender.0));
        }
    }
    Ok(out)
}

/// Appends the bytes whose hash is signed.
fn encode_for_signing<Eip4844: SignableTransaction<Signature>>(
    transaction: &EthereumTxEnvelope<Eip4844>,
    out: &mut Vec<u8>,
) {
    use EthereumTxEnvelope::{Eip1559, Eip2930, Eip4844, Eip7702, Legacy};
    match transaction {
        Legacy(transaction) => transaction.tx().encode_for_signing(out),
        Eip2930(transaction) => transaction.tx().encode_for_signing(out),
        Eip1559(transaction) => transaction.tx().encode_for_signing(out),
        Eip4844(transaction) => transaction.tx().encode_for_signing(out),
        Eip7702(transaction) => transaction.tx().encode_for_signing(out),
    }
}
