"""Event logs, calls and senders in Spark data frames, on Spark, Databricks or Sail. pyspark must be installed.

Each executor passes its record batches to the function of the same purpose in `lydite`, so it needs this package and
pyarrow too.

The columns of a result have the types that Spark knows: binary for bytes of any length, `uint256` included, and the
next wider type for unsigned integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type, to_arrow_schema

from . import _native
from ._sql import FUNCTIONS
from ._types import replace, without_fixed

__all__ = ["decode_calls", "decode_logs", "register", "senders"]


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


def _known(type: pyarrow.DataType) -> pyarrow.DataType:
    """The type that Spark has for an Arrow type without parts."""
    wider = {
        pyarrow.uint8(): pyarrow.int16(),
        pyarrow.uint16(): pyarrow.int32(),
        pyarrow.uint32(): pyarrow.int64(),
        pyarrow.uint64(): pyarrow.decimal128(20, 0),
    }
    return without_fixed(wider.get(type, type))
