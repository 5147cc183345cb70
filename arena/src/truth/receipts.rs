//! Receipts of a block: their root and bloom filter. Source: Yellow Paper, section 4.3.1; EIP-2718.

use anyhow::Result;

use super::{keccak256, rlp, trie};
use crate::wire::Reader;

/// A transaction's receipt.
pub struct Receipt {
    /// Type of the transaction.
    pub kind: u8,
    /// Whether it succeeded.
    pub success: bool,
    /// Gas used in the block up to and including the transaction.
    pub gas: u64,
    /// Its logs.
    pub logs: Vec<Log>,
}

/// A log.
pub struct Log {
    /// The contract.
    pub address: [u8; 20],
    /// Up to four topics.
    pub topics: Vec<[u8; 32]>,
    /// The data.
    pub data: Vec<u8>,
}

/// Reads the receipts of an item.
pub fn read(reader: &mut Reader<'_>) -> Result<Vec<Receipt>> {
    let mut receipts = Vec::new();
    while !reader.0.is_empty() {
        let [kind, success] = *reader.array()?;
        let gas = reader.u64()?;
        let logs = (0..reader.u32()?).map(|_| {
            let address = *reader.array()?;
            let [topics] = *reader.array()?;
            let topics = (0..topics).map(|_| Ok(*reader.array()?));
            Ok(Log {
                address,
                topics: topics.collect::<Result<_>>()?,
                data: reader.lp()?.to_vec(),
            })
        });
        receipts.push(Receipt {
            kind,
            success: success == 1,
            gas,
            logs: logs.collect::<Result<_>>()?,
        });
    }
    Ok(receipts)
}

/// The receipts root, and the bloom filter of the block.
pub fn roots(receipts: &[Receipt]) -> Vec<u8> {
    let encoded: Vec<Vec<u8>> = receipts.iter().map(encode).collect();
    let bloom = bloom(receipts.iter().flat_map(|receipt| &receipt.logs));
    [&trie::ordered_root(&encoded)[..], &bloom].concat()
}

fn encode(receipt: &Receipt) -> Vec<u8> {
    let logs = receipt.logs.iter().map(|log| {
        let topics: Vec<Vec<u8>> = log.topics.iter().map(|topic| rlp::text(topic)).collect();
        rlp::list(&[
            rlp::text(&log.address),
            rlp::list(&topics),
            rlp::text(&log.data),
        ])
    });
    let body = rlp::list(&[
        rlp::number(&u8::from(receipt.success).into()),
        rlp::number(&receipt.gas.into()),
        rlp::text(&bloom(&receipt.logs)),
        rlp::list(&logs.collect::<Vec<_>>()),
    ]);
    match receipt.kind {
        0 => body,
        kind => [vec![kind], body].concat(),
    }
}

fn bloom<'a>(logs: impl IntoIterator<Item = &'a Log>) -> [u8; 256] {
    let mut bloom = [0; 256];
    for log in logs {
        let topics = log.topics.iter().map(|topic| &topic[..]);
        for entry in std::iter::once(&log.address[..]).chain(topics) {
            let hash = keccak256(entry);
            for pair in hash[..6].chunks(2) {
                let bit = (usize::from(pair[0]) << 8 | usize::from(pair[1])) & 2047;
                bloom[255 - bit / 8] |= 1 << (bit % 8);
            }
        }
    }
    bloom
}
