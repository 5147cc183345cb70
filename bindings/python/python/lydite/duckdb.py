"""Functions for DuckDB. DuckDB and pyarrow must be installed."""

from __future__ import annotations

import duckdb
import pyarrow

from ._native import ArrowEvent
from ._sql import BIGINT, BINARY, BOOLEAN, DECIMAL, DOUBLE, FUNCTIONS, TEXT
from ._types import Mode, replace, without_fixed

__all__ = ["register", "register_event"]


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds the functions of one type from `lydite.arrow`, such as `evm_sender(raw)` and `uint256_add(a, b)`.

    Bytes, 256-bit integers included, are BLOB; numbers of decimals are BIGINT. Invalid data gives null.
    """
    types = {
        BINARY: "BLOB",
        TEXT: "VARCHAR",
        DOUBLE: "DOUBLE",
        DECIMAL: "DECIMAL(38, 0)",
        BIGINT: "BIGINT",
        BOOLEAN: "BOOLEAN",
    }
    for function in FUNCTIONS:
        arguments = [types[argument] for argument in function.arguments]
        connection.create_function(
            function.name,
            function.with_parameters(),
            arguments,
            types[function.result],
            type="arrow",
            null_handling="special",
        )


def register_event(
    connection: duckdb.DuckDBPyConnection, name: str, signature: str, *, uint256: str = "binary", mode: Mode = "strict"
) -> None:
    """Adds the function `name(topic0, topic1, topic2, topic3, data)`, which decodes the logs of an event to a struct.

    The struct is null for logs of other events and for invalid ones. `uint256` is the format of integers of more than 64
    bits: "binary", "string", "decimal" or "f64". `mode` is how strictly encodings are checked: "strict", "lenient" or
    "canonical".
    """
    event = ArrowEvent(signature, uint256=uint256, mode=mode)
    # DuckDB's functions return BLOB as binary of any length only.
    struct = replace(pyarrow.field(event).type, without_fixed)

    def apply(topic0, topic1, topic2, topic3, data):  # type: ignore[no-untyped-def]
        return pyarrow.array(event.decode([topic0, topic1, topic2, topic3], data)[0]).cast(struct)

    empty = connection.from_arrow(pyarrow.table({"x": pyarrow.array([], struct)}))
    connection.create_function(
        name, apply, ["BLOB"] * 5, empty.types[0], type="arrow", null_handling="special"
    )
