"""Functions for DuckDB. DuckDB and pyarrow must be installed."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pyarrow

from . import arrow
from ._native import ArrowArray, ArrowEvent
from ._types import replace, without_fixed

__all__ = ["register", "register_event"]


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds `evm_sender(raw)` and `evm_tx_hash(raw)`: BLOB to BLOB, null for an invalid transaction."""
    for name, function in (("evm_sender", arrow.sender), ("evm_tx_hash", arrow.tx_hash)):
        connection.create_function(
            name, _blobs(function), ["BLOB"], "BLOB", type="arrow", null_handling="special"
        )


def _blobs(function: Callable[[pyarrow.Array], ArrowArray]) -> Callable[[pyarrow.Array], pyarrow.Array]:
    def apply(raw: pyarrow.Array) -> pyarrow.Array:
        return pyarrow.array(function(raw)).cast(pyarrow.binary())

    return apply


def register_event(
    connection: duckdb.DuckDBPyConnection, name: str, signature: str, *, uint256: str = "binary"
) -> None:
    """Adds the function `name(topic0, topic1, topic2, topic3, data)`, which decodes the logs of an event to a struct.

    The struct is null for logs of other events and for invalid ones. `uint256` is the format of integers of more than 64
    bits: "binary", "string", "decimal" or "f64".
    """
    event = ArrowEvent(signature, uint256=uint256)
    # DuckDB's functions return BLOB as binary of any length only.
    struct = replace(pyarrow.field(event).type, without_fixed)

    def apply(topic0, topic1, topic2, topic3, data):  # type: ignore[no-untyped-def]
        return pyarrow.array(event.decode([topic0, topic1, topic2, topic3], data)[0]).cast(struct)

    empty = connection.from_arrow(pyarrow.table({"x": pyarrow.array([], struct)}))
    connection.create_function(
        name, apply, ["BLOB"] * 5, empty.types[0], type="arrow", null_handling="special"
    )
