//! The queries over a file of logs, by DataFusion on one thread. Also compiled into `datafusion-alloy`.

use arena_kit::{Reader, op};
use arena_kit_bulk::{Batches, logs, write};
use arrow_array::RecordBatch;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::{Builder, Runtime};

const TRANSFERS: &str = "WITH transfers AS (SELECT address, DECODED AS log FROM 'FILE')";

const VOLUMES: &str = "
SELECT address, uint256_to_string(volume) FROM (
    SELECT address, uint256_sum(log['value']) AS volume FROM transfers WHERE log IS NOT NULL
    GROUP BY address ORDER BY volume DESC, address LIMIT 20
)";

// As in examples/bulk.
const HOLDERS: &str = "
, moves AS (
    SELECT address, CASE WHEN incoming THEN log['to'] ELSE log['from'] END AS holder,
        CASE WHEN incoming THEN log['value'] ELSE ZERO END AS received,
        CASE WHEN incoming THEN ZERO ELSE log['value'] END AS sent
    FROM transfers CROSS JOIN (VALUES (true), (false)) AS directions(incoming)
    WHERE log IS NOT NULL
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

impl Input {
    fn tokens(&self) -> Option<Batches> {
        let mut rows = Vec::new();
        for query in &self.queries {
            let result = async { self.context.sql(query).await?.collect().await };
            for batch in self.runtime.block_on(result).ok()? {
                let token = cast(batch.column(0), &DataType::Binary).ok()?;
                let number = cast(batch.column(1), &DataType::Utf8).ok()?;
                let columns = [("token", token), ("number", number)];
                rows.push(RecordBatch::try_from_iter(columns).ok()?);
            }
        }
        Some(Batches(rows))
    }
}

/// Runs the contender. `register` adds its functions, among them `uint256_sum` and `uint256_to_string`; `decoded` is
/// the decoded transfer in SQL, null for other logs, and `zero` the number 0.
pub fn run(
    name: &str,
    versions: &str,
    register: fn(&mut SessionContext) -> Option<()>,
    decoded: &str,
    zero: &str,
) {
    let queries = [VOLUMES, HOLDERS].map(|query| {
        let query = TRANSFERS.to_owned() + query;
        query.replace("DECODED", decoded).replace("ZERO", zero)
    });
    let prepare = move |reader: &mut Reader| {
        let file = write(&logs(reader)?)?;
        let file = file.to_str()?;
        // As in `lydite sql`.
        let config = SessionConfig::new()
            .with_target_partitions(1)
            .set_bool("datafusion.execution.parquet.pushdown_filters", true)
            .set_bool(
                "datafusion.optimizer.enable_leaf_expression_pushdown",
                false,
            );
        let mut context = SessionContext::new_with_config(config).enable_url_table();
        register(&mut context)?;
        Some(Input {
            runtime: Builder::new_current_thread().build().ok()?,
            context,
            queries: queries.each_ref().map(|query| query.replace("FILE", file)),
        })
    };
    let row = op("bulk_tokens_file", prepare).call(Input::tokens);
    arena_kit::run(name, versions, vec![row]);
}
