"""Files as tasks of an engine: each task is one call of a function for files in `lydite`, with one input.

All paths must be the same on all nodes: those of a shared file system, or of one machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from . import _native

_Path: TypeAlias = str | os.PathLike[str]


class Tasks:
    """One task for each input. An engine repeats those whose worker is lost."""

    def __init__(
        self,
        function: Callable[..., dict[str, Any]],
        inputs: _Path | Sequence[_Path],
        output: _Path,
        *what: Any,
        overwrite: bool = False,
        resume: bool = False,
        **options: Any,
    ):
        if not all(isinstance(signature, str) for signature in what):
            raise TypeError("expected one signature: the tasks of several events would write the same files")
        # Workers have other working directories.
        output = Path(output).absolute()
        self.function, self.what = function, what
        # An engine starts a task for each core. What an earlier attempt has completed is made again, for its report.
        self.options = {"threads": 1, **options, "overwrite": not resume, "resume": resume}
        self.files = [(path.absolute(), output / name) for path, name in _native.input_files(inputs, output)]
        if len({result.with_suffix("") for _, result in self.files}) < len(self.files):
            raise _native.LyditeError("inputs: two of them have the same output")
        if overwrite and resume:
            raise _native.LyditeError("resume: expected False with overwrite=True")
        if not overwrite and not resume and output.exists() and any(output.iterdir()):
            raise FileExistsError(f"{output} is not empty (overwrite=True replaces files, resume=True keeps them)")

    def __len__(self) -> int:
        return len(self.files)

    def run(self, number: int) -> dict[str, Any]:
        """Runs a task and returns its report."""
        path, result = self.files[number]
        # The name of the output is that of the input. It is a directory by its slash.
        return self.function(path, f"{result.parent}/", *self.what, **self.options)


def total(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The report of all tasks. Its time is the sum of theirs."""
    total: dict[str, Any] = {}
    for report in reports:
        for name, value in report.items():
            total[name] = _sum(total.get(name), value)
    total["first_failures"] = total["first_failures"][:10]
    return total


def _sum(first: Any, second: Any) -> Any:
    if first is None:
        return second
    if isinstance(first, dict):
        return first | {key: _sum(first.get(key), value) for key, value in second.items()}
    return first + second
