//! The files in `tests/sql`, and the real files of `LYDITE_DATA` if it is set.
//!
//! With `UPDATE=1` the expected results are written, to be read before they are committed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{memory_pool::FairSpillPool, runtime_env::RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};

fn context() -> SessionContext {
    // Several partitions, so that aggregates are merged.
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_batch_size(7);
    let mut context = SessionContext::new_with_config(config);
    lydite_datafusion::register_all(&mut context).unwrap();
    context
}

struct Database(SessionContext);

#[async_trait::async_trait]
impl AsyncDB for Database {
    type Error = DataFusionError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>> {
        let frame = self.0.sql(sql).await?;
        let columns = frame.schema().fields().len();
        let rows = rows(&frame.collect().await?);
        Ok(match columns {
            0 => DBOutput::StatementComplete(0),
            _ => DBOutput::Rows {
                types: vec![DefaultColumnType::Any; columns],
                rows,
            },
        })
    }

    async fn shutdown(&mut self) {}
}

/// Returns the values of each row as text.
fn rows(batches: &[datafusion::arrow::array::RecordBatch]) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter();
        let columns: Vec<_> = columns
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        let row = |row: usize| {
            columns
                .iter()
                .map(|column| column.value(row).to_string())
                .collect()
        };
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows
}

#[tokio::test]
async fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 2);
    for file in files {
        if std::env::var_os("UPDATE").is_some() {
            let mut runner = Runner::new(|| async { Ok(Database(context())) });
            let updated = runner.update_test_file(
                &file,
                " ",
                sqllogictest::default_validator,
                sqllogictest::default_normalizer,
                sqllogictest::default_column_validator,
            );
            updated.await.unwrap();
        }
        let mut runner = Runner::new(|| async { Ok(Database(context())) });
        runner.run_file_async(&file).await.unwrap();
    }
}

async fn query(context: &SessionContext, sql: &str) -> Vec<Vec<String>> {
    let frame = context
        .sql(sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows(&frame.collect().await.unwrap())
}

/// Returns a file of the directory of real files, which is not part of the repository.
fn data(file: &str) -> Option<String> {
    let Some(directory) = std::env::var_os("LYDITE_DATA") else {
        eprintln!("skipped: LYDITE_DATA is not set to the directory of real files");
        return None;
    };
    Some(Path::new(&directory).join(file).display().to_string())
}

const TRANSFER: &str = "event Transfer(address indexed from, address indexed to, uint256 value)";

/// The transfers in the file with the values that eth-abi decoded, as rows of text.
fn expected(file: &str) -> Vec<Vec<String>> {
    let file = std::fs::File::open(file).unwrap();
    let lines = std::io::BufReader::new(flate2::read::GzDecoder::new(file));
    let mut rows = Vec::new();
    for line in std::io::BufRead::lines(lines) {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        if line["event"].as_str().unwrap() == TRANSFER.strip_prefix("event ").unwrap() {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            rows.push(vec![
                line["block_number"].to_string(),
                line["log_index"].to_string(),
                text(&line["indexed"][0]),
                text(&line["indexed"][1]),
                text(&line["data"][0]),
            ]);
        }
    }
    rows.sort();
    rows
}

#[tokio::test]
async fn the_same_logs_in_four_schemas_are_what_eth_abi_decoded() {
    let topics = format!("topic0, topic1, topic2, topic3, data, '{TRANSFER}'");
    let list = format!("topics, data, '{TRANSFER}'");
    for (name, arguments) in [
        ("cryo", &topics),
        ("hypersync", &topics),
        ("xatu", &topics),
        ("ethereum-etl", &list),
    ] {
        let Some(path) = data(&format!("portal-spec-tests/logs-as-{name}.parquet")) else {
            return;
        };
        let context = context();
        context
            .register_parquet("logs", &path, Default::default())
            .await
            .unwrap();
        let sql = format!(
            "SELECT block_number, log_index, evm_hex_encode(log['from']), evm_hex_encode(log['to']), \
             uint256_to_string(log['value']) \
             FROM (SELECT block_number, log_index, evm_decode_log({arguments}) AS log FROM logs) WHERE log IS NOT NULL"
        );
        let mut found = query(&context, &sql).await;
        found.sort();
        let expected = expected(&data("portal-spec-tests/decoded-expected.jsonl.gz").unwrap());
        assert_eq!(expected.len(), 2_008);
        assert_eq!(found, expected, "{name}");

        // The sum does not depend on how the rows are split.
        let sql = format!(
            "SELECT uint256_to_string(uint256_sum(evm_decode_log({arguments})['value'])) FROM logs"
        );
        let mut sum = num_bigint::BigUint::ZERO;
        expected
            .iter()
            .for_each(|row| sum += row[4].parse::<num_bigint::BigUint>().unwrap());
        assert_eq!(query(&context, &sql).await, [[sum.to_string()]]);
    }
}

#[tokio::test]
async fn senders_and_hashes_are_those_in_the_file() {
    let Some(path) = data("portal-spec-tests/raw-transactions.parquet") else {
        return;
    };
    let context = context();
    context
        .register_parquet("txs", &path, Default::default())
        .await
        .unwrap();
    let sql = "SELECT count(*), count(*) FILTER (WHERE evm_sender(raw) = \"from\"), \
        count(*) FILTER (WHERE evm_tx_hash(raw) = transaction_hash), \
        count(*) FILTER (WHERE evm_decode_tx(raw)['type'] = type) FROM txs";
    assert_eq!(query(&context, sql).await, [["1686"; 4]]);
}

#[tokio::test]
async fn groups_beyond_the_memory_are_spilled() {
    let Some(path) = data("glaciers/ethereum__logs__blocks__18426253_to_18426303_example.parquet")
    else {
        return;
    };
    let holders = format!(
        "SELECT count(*), uint256_to_string(uint256_sum(amount)) FROM (\
         SELECT holder, uint256_sum(amount) AS amount FROM (\
         SELECT keccak256(concat(evm_hex_encode(log['to']), to_hex(n))) AS holder, log['value'] AS amount FROM (\
         SELECT evm_decode_log(topic0, topic1, topic2, topic3, data, '{TRANSFER}') AS log FROM logs) \
         CROSS JOIN generate_series(16, 55) AS series(n) WHERE log IS NOT NULL) GROUP BY holder)"
    );
    let mut results = Vec::new();
    for memory in [usize::MAX, 24 << 20] {
        let pool = std::sync::Arc::new(FairSpillPool::new(memory));
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(pool)
            .build_arc()
            .unwrap();
        let config = SessionConfig::new().with_target_partitions(2);
        let mut context = SessionContext::new_with_config_rt(config, runtime);
        lydite_datafusion::register_all(&mut context).unwrap();
        context
            .register_parquet("logs", &path, Default::default())
            .await
            .unwrap();
        results.push(query(&context, &holders).await);
    }
    assert_eq!(results[0], results[1]);
}
