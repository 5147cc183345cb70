"""Functions for DataFusion. The package datafusion must be installed."""

from __future__ import annotations

import pyarrow
from datafusion import SessionContext, udf

from ._native import ArrowEvent
from ._sql import BINARY, FUNCTIONS
from ._types import Mode

__all__ = ["register", "register_event"]


def register(context: SessionContext) -> None:
    """Adds the functions of one type from `lydite.arrow`, such as `evm_sender(raw)` and `uint256_add(a, b)`.

    Bytes, 256-bit integers included, are Binary; numbers of decimals are Int64. Invalid data gives null.
    """
    for function in FUNCTIONS:
        context.register_udf(udf(function, function.arguments, function.result, "immutable", function.name))


def register_event(
    context: SessionContext, name: str, signature: str, *, uint256: str = "binary", mode: Mode = "strict"
) -> None:
    """Adds the function `name(topic0, topic1, topic2, topic3, data)`, which decodes the logs of an event to a struct.

    The struct is null for logs of other events and for invalid ones. `uint256` is the format of integers of more than 64
    bits: "binary", "string", "decimal" or "f64". `mode` is how strictly encodings are checked: "strict", "lenient" or
    "canonical".
    """
    event = ArrowEvent(signature, uint256=uint256, mode=mode)

    def decode(topic0, topic1, topic2, topic3, data):  # type: ignore[no-untyped-def]
        return pyarrow.array(event.decode([topic0, topic1, topic2, topic3], data)[0])

    context.register_udf(udf(decode, [BINARY] * 5, pyarrow.field(event).type, "immutable", name))
