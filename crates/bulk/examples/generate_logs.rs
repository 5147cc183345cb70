//! Writes a file of logs in cryo's schema: `generate_logs FILE ROWS`. The shares of events are those of mainnet blocks
//! 18,426,253 to 18,426,303; addresses and amounts are drawn anew.

use std::{env, fs::File, sync::Arc};

use arrow_array::{
    ArrayRef, RecordBatch, UInt32Array, UInt64Array,
    builder::{LargeBinaryBuilder, UInt32Builder},
};
use lydite_evm::abi::event_topic;
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};

const HOLDERS: u64 = 1_000_000;
const TOKENS: u64 = 50_000;
/// Logs of a block.
const BLOCK: u64 = 335;
const BATCH: u64 = 1 << 16;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Draws below `count`, small numbers more often: the number is proportional to `count` to the power of a uniform
    /// draw, which approximates Zipf's law.
    fn zipf(&mut self, count: u64) -> u64 {
        let uniform = self.next() as f64 / u64::MAX as f64;
        ((count as f64).powf(uniform) as u64).min(count) - 1
    }

    fn word(&mut self, number: u64, salt: u64) -> [u8; 32] {
        let mut word = [0; 32];
        for (i, chunk) in word[12..].chunks_mut(8).enumerate() {
            let bytes = mix(number ^ mix(salt + i as u64)).to_be_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
        word
    }

    fn holder(&mut self) -> [u8; 32] {
        let number = self.zipf(HOLDERS);
        self.word(number, 1)
    }

    /// An amount of 1 to 27 digits.
    fn amount(&mut self) -> [u8; 32] {
        let digits = 1 + self.next() % 27;
        let number =
            (u128::from(self.next()) << 64 | u128::from(self.next())) % 10u128.pow(digits as u32);
        let mut word = [0; 32];
        word[16..].copy_from_slice(&number.to_be_bytes());
        word
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: generate_logs FILE ROWS [transfers], with at least one row";
    let (Some(path), Some(rows)) = (arguments.next(), arguments.next()) else {
        return Err(usage.into());
    };
    let rows: u64 = rows.parse()?;
    let only_transfers = arguments.next().is_some();
    let topics = [
        event_topic("Transfer(address,address,uint256)")?,
        event_topic("Approval(address,address,uint256)")?,
        event_topic("Sync(uint112,uint112)")?,
        event_topic("Swap(address,uint256,uint256,uint256,uint256,address)")?,
    ];
    let mut random = Random(18_426_253);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(1 << 18))
        .build();
    let mut writer = None;
    let mut number = 0;
    while number < rows {
        let mut log_index = UInt32Builder::new();
        let mut block_number = UInt32Builder::new();
        let mut transaction_hash = LargeBinaryBuilder::new();
        let mut address = LargeBinaryBuilder::new();
        let mut topic = [(); 4].map(|()| LargeBinaryBuilder::new());
        let mut data = LargeBinaryBuilder::new();
        let end = rows.min(number + BATCH);
        for log in number..end {
            log_index.append_value((log % BLOCK) as u32);
            block_number.append_value((18_426_253 + log / BLOCK) as u32);
            transaction_hash.append_value([mix(log / 3).to_be_bytes(); 4].concat());
            let token = random.zipf(TOKENS);
            address.append_value(&random.word(token, 2)[12..]);
            let kind = if only_transfers {
                0
            } else {
                random.next() % 1000
            };
            let mut append = |topics: &[[u8; 32]], words: &[[u8; 32]]| {
                for (i, builder) in topic.iter_mut().enumerate() {
                    builder.append_option(topics.get(i));
                }
                data.append_value(words.concat());
            };
            match kind {
                0..435 => append(
                    &[topics[0].0, random.holder(), random.holder()],
                    &[random.amount()],
                ),
                435..457 => append(
                    &[
                        topics[0].0,
                        random.holder(),
                        random.holder(),
                        random.amount(),
                    ],
                    &[],
                ),
                457..535 => append(
                    &[topics[1].0, random.holder(), random.holder()],
                    &[random.amount()],
                ),
                535..612 => append(&[topics[2].0], &[random.amount(), random.amount()]),
                612..687 => append(
                    &[topics[3].0, random.holder(), random.holder()],
                    &[random.amount(), [0; 32], [0; 32], random.amount()],
                ),
                // Other events, with three topics and a word of data on average.
                _ => {
                    let event = random.next() % 600;
                    append(
                        &[random.word(event, 3), random.holder(), random.holder()],
                        &[random.amount(), random.holder()][..(event % 3) as usize],
                    );
                }
            }
        }
        let rows = (end - number) as usize;
        let bytes = |mut builder: LargeBinaryBuilder| -> ArrayRef { Arc::new(builder.finish()) };
        let [topic0, topic1, topic2, topic3] = topic.map(bytes);
        let columns: [(&str, ArrayRef); 11] = [
            ("log_index", Arc::new(log_index.finish())),
            (
                "transaction_index",
                Arc::new(UInt32Array::from(vec![0; rows])),
            ),
            ("block_number", Arc::new(block_number.finish())),
            ("transaction_hash", bytes(transaction_hash)),
            ("address", bytes(address)),
            ("topic0", topic0),
            ("topic1", topic1),
            ("topic2", topic2),
            ("topic3", topic3),
            ("data", bytes(data)),
            ("chain_id", Arc::new(UInt64Array::from(vec![1; rows]))),
        ];
        let batch = RecordBatch::try_from_iter(columns)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(ArrowWriter::try_new(
                File::create(&path)?,
                batch.schema(),
                Some(properties.clone()),
            )?),
        };
        writer.write(&batch)?;
        number = end;
    }
    writer.ok_or(usage)?.close()?;
    Ok(())
}
