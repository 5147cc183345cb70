"""The functions that `register` adds to an engine for SQL: those whose types do not depend on an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow

from . import arrow

BINARY, TEXT = pyarrow.binary(), pyarrow.string()
DOUBLE, DECIMAL, BIGINT, BOOLEAN = pyarrow.float64(), pyarrow.decimal128(38, 0), pyarrow.int64(), pyarrow.bool_()


class Function(NamedTuple):
    """A function of arrays with these types of arguments and this type of result."""

    name: str
    call: Callable[..., Any]
    arguments: list[pyarrow.DataType]
    result: pyarrow.DataType

    def __call__(self, *columns: Any) -> pyarrow.Array:
        return pyarrow.array(self.call(*columns)).cast(self.result)

    def with_parameters(self) -> Callable[..., pyarrow.Array]:
        """The same with a fixed number of parameters, which DuckDB counts, and their types, which Spark reads."""

        def one(a: pyarrow.Array) -> pyarrow.Array:
            return self(a)

        def two(a: pyarrow.Array, b: pyarrow.Array) -> pyarrow.Array:
            return self(a, b)

        def three(a: pyarrow.Array, b: pyarrow.Array, c: pyarrow.Array) -> pyarrow.Array:
            return self(a, b, c)

        return (one, two, three)[len(self.arguments) - 1]


FUNCTIONS = [
    Function("keccak256", arrow.keccak256, [BINARY], BINARY),
    Function("evm_sender", arrow.sender, [BINARY], BINARY),
    Function("evm_tx_hash", arrow.tx_hash, [BINARY], BINARY),
    Function("ecrecover", arrow.ecrecover, [BINARY, BINARY], BINARY),
    Function("evm_checksum", arrow.checksum, [BINARY], TEXT),
    Function("evm_create_address", arrow.create_address, [BINARY, BIGINT], BINARY),
    Function("evm_create2_address", arrow.create2_address, [BINARY, BINARY, BINARY], BINARY),
    Function("evm_hex_encode", arrow.hex_encode, [BINARY], TEXT),
    Function("evm_hex_decode", arrow.hex_decode, [TEXT], BINARY),
    Function("uint256", arrow.uint256, [TEXT], BINARY),
    Function("uint256_to_string", arrow.uint256_to_string, [BINARY], TEXT),
    Function("uint256_to_decimal", arrow.uint256_to_decimal, [BINARY], DECIMAL),
    Function("uint256_to_double", arrow.uint256_to_double, [BINARY], DOUBLE),
    Function("uint256_to_bigint", arrow.uint256_to_bigint, [BINARY], BIGINT),
    Function("uint256_add", arrow.uint256_add, [BINARY, BINARY], BINARY),
    Function("uint256_sub", arrow.uint256_sub, [BINARY, BINARY], BINARY),
    Function("uint256_mul", arrow.uint256_mul, [BINARY, BINARY], BINARY),
    Function("uint256_div", arrow.uint256_div, [BINARY, BINARY], BINARY),
    Function("uint256_mod", arrow.uint256_mod, [BINARY, BINARY], BINARY),
    Function("uint256_mul_div", arrow.uint256_mul_div, [BINARY, BINARY, BINARY], BINARY),
    Function("int256", arrow.int256, [TEXT], BINARY),
    Function("int256_to_string", arrow.int256_to_string, [BINARY], TEXT),
    Function("int256_to_decimal", arrow.int256_to_decimal, [BINARY], DECIMAL),
    Function("int256_to_double", arrow.int256_to_double, [BINARY], DOUBLE),
    Function("int256_to_bigint", arrow.int256_to_bigint, [BINARY], BIGINT),
    Function("int256_lt", arrow.int256_lt, [BINARY, BINARY], BOOLEAN),
    Function("format_units", arrow.format_units, [BINARY, BIGINT], TEXT),
    Function("parse_units", arrow.parse_units, [TEXT, BIGINT], BINARY),
]
