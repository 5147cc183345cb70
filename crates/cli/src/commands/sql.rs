//! `lydite sql`: queries over files, by DataFusion.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use arrow_array::{ArrayRef, RecordBatch};
use clap::Args;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::{json::LineDelimitedWriter, util::pretty};
use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures_util::StreamExt as _;
use lydite_arrow::{ByteColumn, hex_encode};
use tokio::runtime::Runtime;

use super::bulk::{self, CompressionArgument, FormatArgument};
use crate::{Answer, output::Output};

/// Query Parquet, Arrow, CSV and JSON files in SQL
///
/// The engine is DataFusion, with functions that decode logs, calls and transactions, recover senders and compute with 256-bit
/// integers. A file, directory or pattern is a table by its path in quotes. Binary values are written 0x… or X'…'.
///
/// lydite sql "SELECT to, uint256_to_string(uint256_sum(value)) FROM 'transfers.parquet' GROUP BY to LIMIT 9"
#[derive(Args)]
pub struct Sql {
    /// The query
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Another name for a file, directory or pattern; repeatable
    #[arg(short, long = "table", value_name = "NAME=PATH", value_parser = table)]
    tables: Vec<(String, String)>,
    /// Output file, or `-` for an Arrow stream (default: a table of up to 1,000 rows; with --json, a line per row)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Format of the output file (default: by its name)
    #[arg(long, value_enum)]
    format: Option<FormatArgument>,
    /// Compression of Parquet output
    #[arg(long, value_enum, default_value = "zstd")]
    compression: CompressionArgument,
    /// Replace an existing file
    #[arg(long)]
    overwrite: bool,
    /// Number of threads (default: all cores)
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Memory of sorts, joins and groups, beyond which they use temporary files
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = bulk::size)]
    memory: u64,
}

/// Rows of a table that are printed.
const PRINTED: usize = 1_000;

/// Reads `name=path`.
fn table(text: &str) -> Result<(String, String), String> {
    let (name, path) = text.split_once('=').ok_or("expected name=path")?;
    Ok((name.into(), path.into()))
}

pub fn sql(arguments: &Sql, output: &Output) -> Result<Answer> {
    let threads = match arguments.threads {
        Some(threads) => threads,
        None => std::thread::available_parallelism()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.get())
        .build()?;
    let context = context(arguments, threads)?;
    let stream = runtime.block_on(async {
        for (name, path) in &arguments.tables {
            let [name, path] = [name.replace('"', "\"\""), path.replace('\'', "''")];
            let view = format!("CREATE VIEW \"{name}\" AS SELECT * FROM '{path}'");
            let view = async { context.sql(&view).await?.collect().await };
            view.await.with_context(|| format!("table {name}"))?;
        }
        let query = context.sql(&arguments.query).await.map_err(in_words)?;
        anyhow::Ok(query.execute_stream().await?)
    })?;
    let rows = Rows { runtime, stream };
    match &arguments.output {
        Some(path) => {
            let options = lydite_bulk::Options {
                format: arguments.format.map(Into::into),
                compression: arguments.compression.into(),
                overwrite: arguments.overwrite,
                ..Default::default()
            };
            lydite_bulk::write(rows.stream.schema(), rows, path, &options)?;
        }
        None if output.json => {
            let mut writer = LineDelimitedWriter::new(io::stdout().lock());
            for batch in rows {
                writer.write(&readable(batch?)?)?;
            }
            writer.finish()?;
        }
        None => print(rows)?,
    }
    Ok(Answer::Yes)
}

/// Of an error of syntax, DataFusion also prints the debugging form.
fn in_words(error: DataFusionError) -> anyhow::Error {
    match error {
        DataFusionError::SQL(error, _) => anyhow!(error),
        error => error.into(),
    }
}

fn context(arguments: &Sql, threads: NonZeroUsize) -> Result<SessionContext> {
    let memory = usize::try_from(arguments.memory)?;
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
        .build_arc()?;
    let config = SessionConfig::new()
        .with_target_partitions(threads.get())
        .set_bool("datafusion.execution.parquet.pushdown_filters", true)
        // It would decode a log again for each field that the query uses.
        .set_bool(
            "datafusion.optimizer.enable_leaf_expression_pushdown",
            false,
        );
    // `enable_url_table` makes a path in quotes a table.
    let mut context = SessionContext::new_with_config_rt(config, runtime).enable_url_table();
    lydite_datafusion::register_all(&mut context)?;
    Ok(context)
}

/// The result, batch by batch.
struct Rows {
    runtime: Runtime,
    stream: SendableRecordBatchStream,
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.runtime.block_on(self.stream.next())?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

/// Prints the first rows as a table.
fn print(rows: Rows) -> Result<()> {
    let schema = rows.stream.schema();
    let (mut batches, mut missing) = (Vec::new(), PRINTED);
    let mut more = false;
    for batch in rows {
        let batch = batch?;
        more |= batch.num_rows() > missing;
        let first = batch.slice(0, missing.min(batch.num_rows()));
        missing -= first.num_rows();
        batches.push(readable(first)?);
        if more {
            break;
        }
    }
    if batches.is_empty() {
        batches.push(readable(RecordBatch::new_empty(schema))?);
    }
    let table = pretty::pretty_format_batches(&batches)?;
    crate::output::write(&format!("{table}\n"))?;
    if more {
        eprintln!("{PRINTED} rows shown of more; -o FILE writes all");
    }
    Ok(())
}

/// Writes byte strings as `0x` and digits.
fn readable(batch: RecordBatch) -> Result<RecordBatch> {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, column)| {
        let text: ArrayRef = match field.data_type().is_binary() {
            true => Arc::new(hex_encode(&ByteColumn::try_new(column)?).0),
            false => column.clone(),
        };
        anyhow::Ok((field.name(), text))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .map_err(|error| anyhow!(error))
}
