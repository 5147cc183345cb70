"""Event logs in Polars frames. Polars must be installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import polars as pl

from . import arrow
from ._native import ArrowEvent
from ._types import Mode

__all__ = ["decode_logs", "senders"]

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
_ROLES = ("topic0", "topic1", "topic2", "topic3", "data")


def decode_logs(
    frame: Frame,
    signature: str,
    *,
    keep: Sequence[str] | None = None,
    uint256: str = "binary",
    mode: Mode = "strict",
    columns: Mapping[str, str] | None = None,
) -> Frame:
    """The logs of an event: the columns `keep` (by default all except topics and data), then the decoded ones.

    Logs of other events are left out; those that are invalid are null in the decoded columns. `columns` gives the names
    of the columns `topic0` to `topic3` and `data` if they differ; topics may be missing. `uint256` is the format of
    integers of more than 64 bits: "binary", "string", "decimal" or "f64". `mode` is how strictly encodings are checked:
    "strict", "lenient" or "canonical".
    """
    event = ArrowEvent(signature, uint256=uint256, mode=mode)
    names = {role: (columns or {}).get(role, role) for role in _ROLES}
    schema = frame.collect_schema()
    kept = [name for name in schema if name not in names.values()] if keep is None else list(keep)
    decoded = pl.Series(event.decode([None], pl.Series([], dtype=pl.Binary))[0]).struct

    def decode(frame: pl.DataFrame) -> pl.DataFrame:
        topics = [frame[names[role]] if names[role] in schema else None for role in _ROLES[:4]]
        structs, failures = event.decode(topics, frame[names["data"]])
        series = pl.Series("decoded", structs)
        selected = series.is_not_null()
        if failures:
            selected = selected.scatter([row for row, _ in failures], True)
        columns = [frame[name] for name in kept] + series.struct.unnest().get_columns()
        return pl.DataFrame(columns).filter(selected)

    if isinstance(frame, pl.DataFrame):
        return decode(frame)
    result = pl.Schema({**{name: schema[name] for name in kept}, **decoded.schema})
    return frame.map_batches(decode, schema=result)


def senders(raw: pl.Series) -> pl.Series:
    """The sender of each signed transaction; null where it is null or invalid."""
    return pl.Series(raw.name, arrow.sender(raw))
