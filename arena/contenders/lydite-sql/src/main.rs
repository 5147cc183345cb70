//! DataFusion with lydite-datafusion as a contender: the engine and the functions of `lydite sql`, on one thread.

use arena_kit::{op, run};
use arena_kit_bulk::{Batches, logs, write};
use arrow_array::RecordBatch;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::{Builder, Runtime};

/// The start of both queries.
const TRANSFERS: &str = "
WITH transfers AS (
    SELECT address, evm_decode_log(topic0, topic1, topic2, topic3, data,
        'event Transfer(address indexed from, address indexed to, uint256 value)') AS log
    FROM 'FILE'
)";

const VOLUMES: &str = "
SELECT address, uint256_to_string(volume) FROM (
    SELECT address, uint256_sum(log['value']) AS volume FROM transfers WHERE log IS NOT NULL
    GROUP BY address ORDER BY volume DESC, address LIMIT 20
)";

// As in examples/bulk.
const HOLDERS: &str = "
, moves AS (
    SELECT address, log['to'] AS holder, log['value'] AS received, uint256(0) AS sent FROM transfers WHERE log IS NOT NULL
    UNION ALL
    SELECT address, log['from'], uint256(0), log['value'] FROM transfers WHERE log IS NOT NULL
), balances AS (
    SELECT address, holder FROM moves GROUP BY address, holder HAVING uint256_sum(received) > uint256_sum(sent)
)
SELECT address, count(*) AS holders FROM balances GROUP BY address ORDER BY holders DESC, address LIMIT 20";

/// An engine, and the queries over a file.
struct Input {
    runtime: Runtime,
    context: SessionContext,
    queries: [String; 2],
}

fn tokens(input: &Input) -> Option<Batches> {
    let mut rows = Vec::new();
    for query in &input.queries {
        let result = async { input.context.sql(query).await?.collect().await };
        for batch in input.runtime.block_on(result).ok()? {
            let token = cast(batch.column(0), &DataType::Binary).ok()?;
            let number = cast(batch.column(1), &DataType::Utf8).ok()?;
            let columns = [("token", token), ("number", number)];
            rows.push(RecordBatch::try_from_iter(columns).ok()?);
        }
    }
    Some(Batches(rows))
}

fn main() {
    let versions = format!(
        "{}, DataFusion {}",
        env!("CARGO_PKG_VERSION"),
        datafusion::DATAFUSION_VERSION
    );
    let prepare = |reader: &mut arena_kit::Reader| {
        let file = write(&logs(reader)?)?;
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .set_bool("datafusion.execution.parquet.pushdown_filters", true);
        let mut context = SessionContext::new_with_config(config).enable_url_table();
        lydite_datafusion::register_all(&mut context).ok()?;
        Some(Input {
            runtime: Builder::new_current_thread().build().ok()?,
            context,
            queries: [VOLUMES, HOLDERS].map(|query| {
                let file = file.to_str().unwrap_or_default();
                TRANSFERS.replace("FILE", file) + query
            }),
        })
    };
    run(
        "lydite-sql",
        &versions,
        vec![op("bulk_tokens_file", prepare).call(tokens)],
    );
}
