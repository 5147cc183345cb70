"""Event logs, calls and senders in Spark data frames, on Spark, Databricks or Sail. pyspark must be installed.

Each executor passes its record batches to the function of the same purpose in `lydite`, so it needs this package and
pyarrow too.

`decode_logs_file` and its like make a task of each file, for storage that all executors share. Spark then moves no
rows, and the work is much faster.

The columns of a result have the types that Spark knows: binary for bytes of any length, `uint256` included, and the
next wider type for unsigned integers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type, to_arrow_schema

from . import _native
from ._files import Tasks, _Path, total
from ._sql import FUNCTIONS
from ._types import replace, without_fixed

__all__ = [
    "decode_calls",
    "decode_calls_file",
    "decode_logs",
    "decode_logs_file",
    "register",
    "senders",
    "senders_file",
]


def decode_logs(frame: DataFrame, event: str, **options: Any) -> DataFrame:
    """The logs of an event: the kept columns, then the decoded ones. The options are those of `lydite.decode_logs`.

    Logs of other events are left out. There is no report; with `on_error="fail"` an invalid log ends the query with its
    error.
    """
    return _transform(frame, partial(_native.decode_logs, event=event, **options))


def decode_calls(frame: DataFrame, function: str, **options: Any) -> DataFrame:
    """The calls of a function, like `decode_logs`. The options are those of `lydite.decode_calls`."""
    return _transform(frame, partial(_native.decode_calls, function=function, **options))


def senders(frame: DataFrame, **options: Any) -> DataFrame:
    """The senders of signed transactions, in the column `sender`. The options are those of `lydite.recover_senders`."""
    return _transform(frame, partial(_native.recover_senders, **options))


def decode_logs_file(
    spark: SparkSession, inputs: _Path | Sequence[_Path], output: _Path, event: str, **options: Any
) -> dict[str, Any]:
    """Decodes the logs of an event in Parquet or Arrow files to a file for each in the directory `output`.

    Paths and options are those of `lydite.decode_logs_file`, on every executor. Returns the sum of its reports.
    """
    return _run(spark, Tasks(_native.decode_logs_file, inputs, output, event, **options))


def decode_calls_file(
    spark: SparkSession, inputs: _Path | Sequence[_Path], output: _Path, function: str, **options: Any
) -> dict[str, Any]:
    """Decodes the calls of a function in files, like `decode_logs_file`."""
    return _run(spark, Tasks(_native.decode_calls_file, inputs, output, function, **options))


def senders_file(
    spark: SparkSession, inputs: _Path | Sequence[_Path], output: _Path, **options: Any
) -> dict[str, Any]:
    """Finds the senders of signed transactions in files, like `decode_logs_file`."""
    return _run(spark, Tasks(_native.senders_file, inputs, output, **options))


def register(spark: SparkSession) -> None:
    """Adds the functions of one type from `lydite.arrow` to SQL, such as `evm_sender(raw)` and `uint256_add(a, b)`.

    Bytes, 256-bit integers included, are BINARY; numbers of decimals are BIGINT. Invalid data gives null. Requires Spark 4.1.
    """
    from pyspark.sql.functions import arrow_udf

    for function in FUNCTIONS:
        spark.udf.register(function.name, arrow_udf(function.with_parameters(), from_arrow_type(function.result)))


def _transform(frame: DataFrame, function: Callable[..., Any]) -> DataFrame:
    empty = to_arrow_schema(frame.schema).empty_table()
    schema = pyarrow.schema(function(empty))
    schema = pyarrow.schema([field.with_type(replace(field.type, _known)) for field in schema])
    return frame.mapInArrow(partial(_apply, function, schema), from_arrow_schema(schema))


def _apply(
    function: Callable[..., Any], schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    batches = iter(batches)
    for first in batches:
        source = pyarrow.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        for batch in pyarrow.RecordBatchReader.from_stream(function(source)):
            yield batch.cast(schema)


def _run(spark: SparkSession, tasks: Tasks) -> dict[str, Any]:
    # A partition for each task.
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    reports = numbers.mapInArrow(partial(_reports, tasks), "report binary").collect()
    return total(pickle.loads(row.report) for row in reports)


def _reports(tasks: Tasks, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        reports = [pickle.dumps(tasks.run(number)) for number in batch.column(0).to_pylist()]
        yield pyarrow.RecordBatch.from_pydict({"report": reports})


def _known(type: pyarrow.DataType) -> pyarrow.DataType:
    """The type that Spark has for an Arrow type without parts."""
    wider = {
        pyarrow.uint8(): pyarrow.int16(),
        pyarrow.uint16(): pyarrow.int32(),
        pyarrow.uint32(): pyarrow.int64(),
        pyarrow.uint64(): pyarrow.decimal128(20, 0),
    }
    return without_fixed(wider.get(type, type))
