"""Arrow types for engines that lack some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import pyarrow

# How strictly encodings are checked.
Mode: TypeAlias = Literal["strict", "lenient", "canonical"]


def replace(type: pyarrow.DataType, leaf: Callable[[pyarrow.DataType], pyarrow.DataType]) -> pyarrow.DataType:
    """The type with `leaf` applied to each type in it that has no parts."""
    if pyarrow.types.is_struct(type):
        return pyarrow.struct([field.with_type(replace(field.type, leaf)) for field in type])
    if pyarrow.types.is_list(type):
        return pyarrow.list_(replace(type.value_type, leaf))
    return leaf(type)


def without_fixed(type: pyarrow.DataType) -> pyarrow.DataType:
    """Binary of any length for binary of a fixed length."""
    return pyarrow.binary() if pyarrow.types.is_fixed_size_binary(type) else type
