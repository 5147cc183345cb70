//! Senders and hashes of signed transactions.

use arrow_array::FixedSizeBinaryArray;
use lydite_bytes::{Address, B256};
use lydite_evm::tx;

use crate::{ByteColumn, Failure, RowError, rows};

/// Recovers the sender of each signed transaction (an EIP-2718 envelope) in batches. A null stays null; an invalid
/// transaction becomes null and is a failure. The result is a FixedSizeBinary(20).
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Array, ArrayRef, StringArray};
/// use lydite_arrow::{ByteColumn, senders};
///
/// let raw: ArrayRef = Arc::new(StringArray::from(vec![None, Some("0x05")]));
/// let (senders, failures) = senders(&ByteColumn::try_new(&raw)?);
/// assert_eq!(senders.null_count(), 2);
/// assert_eq!((failures.len(), failures[0].row), (1, 1));
/// assert_eq!(failures[0].error.to_string(), "byte 0: unknown transaction type 0x05");
/// # Ok::<(), lydite_arrow::Error>(())
/// ```
pub fn senders(raw: &ByteColumn) -> (FixedSizeBinaryArray, Vec<Failure>) {
    collect(raw, Address::ZERO, tx::senders, |address| address.0)
}

/// Computes the hash of each signed transaction (an EIP-2718 envelope) in batches. A null stays null; an invalid
/// transaction becomes null and is a failure. The result is a FixedSizeBinary(32).
pub fn hashes(raw: &ByteColumn) -> (FixedSizeBinaryArray, Vec<Failure>) {
    collect(raw, B256::ZERO, tx::hashes, |hash| hash.0)
}

fn collect<T: Copy, const N: usize>(
    raw: &ByteColumn,
    initial: T,
    batch: impl Fn(&[&[u8]], &mut [Result<T, tx::Error>]) -> Result<(), tx::Error>,
    bytes: impl Fn(T) -> [u8; N],
) -> (FixedSizeBinaryArray, Vec<Failure>) {
    let (rows, transactions): (Vec<usize>, Vec<&[u8]>) = (0..raw.len())
        .filter_map(|row| Some((row, raw.get(row)?)))
        .unzip();
    let mut results = vec![Ok(initial); rows.len()];
    if let Err(error) = batch(&transactions, &mut results) {
        // Not reached: the lengths are equal.
        results.fill(Err(error));
    }

    let mut results = rows.into_iter().zip(results).peekable();
    rows::fixed((0..raw.len()).map(|row| {
        let result = results.next_if(|(at, _)| *at == row);
        match result {
            Some((_, result)) => Ok(Some(bytes(result.map_err(RowError::Transaction)?))),
            None if raw.is_invalid(row) => Err(RowError::Hexadecimal),
            None => Ok(None),
        }
    }))
}
