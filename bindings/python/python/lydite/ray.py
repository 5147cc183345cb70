"""Event logs, calls and senders in Ray datasets. Ray must be installed.

Each task passes its block to the function of the same purpose in `lydite`, so every node needs this package and
pyarrow too.

`decode_logs_file` and its like make a task of each file, for storage that all nodes share. Ray then moves no rows, and
the work is much faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow
import ray
from ray.data import Dataset

from . import _native
from ._files import Tasks, _Path, total

__all__ = ["decode_calls", "decode_calls_file", "decode_logs", "decode_logs_file", "senders", "senders_file"]


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


def decode_logs_file(inputs: _Path | Sequence[_Path], output: _Path, event: str, **options: Any) -> dict[str, Any]:
    """Decodes the logs of an event in Parquet or Arrow files to a file for each in the directory `output`.

    Paths and options are those of `lydite.decode_logs_file`, on every node. Returns the sum of its reports.
    """
    return _run(Tasks(_native.decode_logs_file, inputs, output, event, **options))


def decode_calls_file(inputs: _Path | Sequence[_Path], output: _Path, function: str, **options: Any) -> dict[str, Any]:
    """Decodes the calls of a function in files, like `decode_logs_file`."""
    return _run(Tasks(_native.decode_calls_file, inputs, output, function, **options))


def senders_file(inputs: _Path | Sequence[_Path], output: _Path, **options: Any) -> dict[str, Any]:
    """Finds the senders of signed transactions in files, like `decode_logs_file`."""
    return _run(Tasks(_native.senders_file, inputs, output, **options))


def _run(tasks: Tasks) -> dict[str, Any]:
    task = ray.remote(num_cpus=tasks.options["threads"])(Tasks.run)
    shared = ray.put(tasks)
    return total(ray.get([task.remote(shared, number) for number in range(len(tasks))]))


def _transform(dataset: Dataset, function: Callable[..., Any]) -> Dataset:
    return dataset.map_batches(partial(_apply, function), batch_format="pyarrow", batch_size=None, zero_copy_batch=True)


def _apply(function: Callable[..., Any], block: pyarrow.Table) -> pyarrow.Table:
    return pyarrow.table(function(block))
