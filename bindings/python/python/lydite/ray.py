"""Event logs, calls and senders in Ray datasets. Ray must be installed.

Each task passes its block to the function of the same purpose in `lydite`, so every node needs this package and
pyarrow too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow
from ray.data import Dataset

from . import _native

__all__ = ["decode_calls", "decode_logs", "senders"]


def decode_logs(dataset: Dataset, event: str, **options: Any) -> Dataset:
    """The logs of an event: the kept columns, then the decoded ones. The options are those of `lydite.decode_logs`.

    Logs of other events are left out. There is no report; with `on_error="fail"` an invalid log ends the job with its
    error.
    """
    return _transform(dataset, partial(_native.decode_logs, event=event, **options))


def decode_calls(dataset: Dataset, function: str, **options: Any) -> Dataset:
    """The calls of a function, like `decode_logs`. The options are those of `lydite.decode_calls`."""
    return _transform(dataset, partial(_native.decode_calls, function=function, **options))


def senders(dataset: Dataset, **options: Any) -> Dataset:
    """The senders of signed transactions, in the column `sender`. The options are those of `lydite.recover_senders`."""
    return _transform(dataset, partial(_native.recover_senders, **options))


def _transform(dataset: Dataset, function: Callable[..., Any]) -> Dataset:
    return dataset.map_batches(partial(_apply, function), batch_format="pyarrow", batch_size=None, zero_copy_batch=True)


def _apply(function: Callable[..., Any], block: pyarrow.Table) -> pyarrow.Table:
    return pyarrow.table(function(block))
