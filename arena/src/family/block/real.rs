//! Blocks of mainnet, `vectors/blocks`.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use flate2::read::GzDecoder;

use crate::wire::Reader;

/// A block, in the layouts of the rows' items.
pub struct Block {
    /// The header in RLP. It has the roots and the bloom filter that the rows compute.
    #[cfg(test)]
    pub header: &'static [u8],
    /// `lp(raw transaction)` for each transaction.
    pub transactions: &'static [u8],
    /// The senders according to libsecp256k1, 20 bytes each.
    senders: &'static [u8],
    /// The receipts.
    pub receipts: &'static [u8],
}

static BLOCKS: LazyLock<Result<Vec<Block>>> = LazyLock::new(|| {
    let packed = include_bytes!("../../../../vectors/blocks/mainnet.bin.gz");
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes)?;
    let mut reader = Reader(bytes.leak());
    let mut blocks = Vec::new();
    while !reader.0.is_empty() {
        let _header = reader.lp()?;
        blocks.push(Block {
            #[cfg(test)]
            header: _header,
            transactions: reader.lp()?,
            senders: reader.lp()?,
            receipts: reader.lp()?,
        });
    }
    Ok(blocks)
});

static SENDERS: LazyLock<Result<HashMap<&[u8], &[u8]>>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for block in blocks()? {
        let mut transactions = Reader(block.transactions);
        for sender in block.senders.chunks(20) {
            all.insert(transactions.lp()?, sender);
        }
    }
    Ok(all)
});

fn shared<T>(value: &'static Result<T>) -> Result<&'static T> {
    value
        .as_ref()
        .map_err(|error| anyhow::anyhow!("vectors/blocks: {error:#}"))
}

/// All blocks, in the order of their numbers.
pub fn blocks() -> Result<&'static [Block]> {
    shared(&BLOCKS).map(Vec::as_slice)
}

/// The sender of a transaction of these blocks.
pub fn sender(raw: &[u8]) -> Result<[u8; 20]> {
    let sender = shared(&SENDERS)?.get(raw).context("unknown transaction")?;
    Ok((*sender).try_into()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::family::block::output;
    use crate::kernel::Block as Kernel;
    use crate::truth::keccak256;
    use crate::truth::rlp::{self, Rlp};
    use crate::truth::transaction::Signed;

    /// Fields of a header: parent's hash, transactions root, receipts root, bloom filter, number.
    fn fields(header: &[u8]) -> [&[u8]; 5] {
        let (list, []) = rlp::item(header).unwrap() else {
            unreachable!("one list")
        };
        let members = rlp::members(&list).unwrap();
        [0, 4, 5, 6, 8].map(|index| match members[index] {
            Rlp::Text(bytes) => bytes,
            Rlp::List(_) => unreachable!("no field is a list"),
        })
    }

    #[test]
    fn outputs_are_those_of_the_headers() {
        let mut parent = ([0; 32], 0);
        let mut linked = 0;
        for block in blocks().unwrap() {
            let [parent_hash, transactions, receipts, bloom, number] = fields(block.header);
            let number = number.iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
            let root = output(Kernel::TransactionsRoot, block.transactions).unwrap();
            assert_eq!(root, transactions, "{number}");
            let roots = output(Kernel::ReceiptsRoot, block.receipts).unwrap();
            assert_eq!(roots, [receipts, bloom].concat(), "{number}");
            // Headers of consecutive blocks confirm each other.
            if number == parent.1 + 1 {
                assert_eq!(parent_hash, parent.0);
                linked += 1;
            }
            parent = (keccak256(block.header), number);
        }
        assert_eq!((blocks().unwrap().len(), linked), (13, 4));
    }

    #[test]
    fn senders_are_those_that_signed() {
        let mut checked = 0;
        for block in blocks().unwrap() {
            let mut transactions = Reader(block.transactions);
            while !transactions.0.is_empty() {
                let raw = transactions.lp().unwrap();
                // The arena's decoder knows some types only. A few are enough: the file's senders are those of
                // libsecp256k1.
                if let Ok(signed) = Signed::decode(raw)
                    && checked % 50 == 0
                {
                    assert_eq!(sender(raw).unwrap(), signed.sender().unwrap());
                }
                checked += 1;
            }
        }
        assert_eq!(checked, 1686);
    }
}
