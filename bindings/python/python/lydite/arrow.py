"""Functions of Arrow arrays: of pyarrow, Polars, DuckDB and every other library with Arrow's PyCapsule interface.

Byte strings may be any binary type or hexadecimal text. The results are for `pyarrow.array(…)`, `polars.Series(…)` and
other consumers of `__arrow_c_array__`. Words are 256-bit integers as 32 bytes, big-endian. An argument `Column` is an
array, or an `int` that is the same in all rows, not negative; in place of words and other byte strings it is a word. At
least one must be an array. Null gives null. Invalid data gives null too, or with `null_on_error=False` the error of the
first such row. Other threads run meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ._native import ArrowArray, arrow_call
from ._native import arrow_uint256_sum as uint256_sum

__all__ = [
    "checksum",
    "create2_address",
    "create_address",
    "decode_output",
    "decode_params",
    "decode_tx",
    "decode_type",
    "ecrecover",
    "encode_params",
    "encode_type",
    "format_units",
    "hex_decode",
    "hex_encode",
    "int256",
    "int256_lt",
    "int256_to_bigint",
    "int256_to_decimal",
    "int256_to_double",
    "int256_to_string",
    "keccak256",
    "parse_units",
    "sender",
    "tx_hash",
    "uint256",
    "uint256_add",
    "uint256_div",
    "uint256_mod",
    "uint256_mul",
    "uint256_mul_div",
    "uint256_sub",
    "uint256_sum",
    "uint256_to_bigint",
    "uint256_to_decimal",
    "uint256_to_double",
    "uint256_to_string",
]

Column: TypeAlias = Any


def ecrecover(hash: Column, *signature: Column, null_on_error: bool = True) -> ArrowArray:
    """The address that signed each hash: 20 bytes. The signature is one column of r || s || v, or three: v, r, s."""
    return arrow_call("ecrecover", [hash, *signature], null_on_error=null_on_error)


def keccak256(data: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Keccak-256 of each value: 32 bytes."""
    return arrow_call("keccak256", [data], null_on_error=null_on_error)


def sender(raw: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The sender of each signed transaction: 20 bytes."""
    return arrow_call("evm_sender", [raw], null_on_error=null_on_error)


def tx_hash(raw: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The hash of each signed transaction: 32 bytes."""
    return arrow_call("evm_tx_hash", [raw], null_on_error=null_on_error)


def decode_tx(raw: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The fields of each signed transaction: structs."""
    return arrow_call("evm_decode_tx", [raw], null_on_error=null_on_error)


def decode_params(input: Column, signature: str, *, null_on_error: bool = True) -> ArrowArray:
    """The arguments of the calls of a function: structs, null for calls of other functions."""
    return arrow_call("evm_decode_params", [input], signature, null_on_error=null_on_error)


def decode_output(output: Column, signature: str, *, null_on_error: bool = True) -> ArrowArray:
    """What the calls of a function returned: structs."""
    return arrow_call("evm_decode_output", [output], signature, null_on_error=null_on_error)


def decode_type(data: Column, type: str, *, null_on_error: bool = True) -> ArrowArray:
    """Values of a Solidity type, each encoded like `abi.encode(value)`."""
    return arrow_call("evm_decode_type", [data], type, null_on_error=null_on_error)


def encode_params(values: Sequence[Column], signature: str, *, null_on_error: bool = True) -> ArrowArray:
    """The calls of a function with these columns as arguments: selector and arguments."""
    return arrow_call("evm_encode_params", list(values), signature, null_on_error=null_on_error)


def encode_type(values: Column, type: str, *, null_on_error: bool = True) -> ArrowArray:
    """Values of a Solidity type, each encoded like abi.encode(value)."""
    return arrow_call("evm_encode_type", [values], type, null_on_error=null_on_error)


def checksum(address: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each address as text with the checksum of EIP-55. In addresses given as text, the letter case is not checked."""
    return arrow_call("evm_checksum", [address], null_on_error=null_on_error)


def create_address(sender: Column, nonce: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The address of the contract that each account creates with its nonce: 20 bytes."""
    return arrow_call("evm_create_address", [sender, nonce], null_on_error=null_on_error)


def create2_address(deployer: Column, salt: Column, code_hash: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The address of each contract created with CREATE2: 20 bytes."""
    return arrow_call("evm_create2_address", [deployer, salt, code_hash], null_on_error=null_on_error)


def hex_encode(data: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each value as `0x` and digits."""
    return arrow_call("evm_hex_encode", [data], null_on_error=null_on_error)


def hex_decode(text: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The bytes of each hexadecimal text."""
    return arrow_call("evm_hex_decode", [text], null_on_error=null_on_error)


def uint256(number: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each integer, decimal, text or big-endian value as a word."""
    return arrow_call("uint256", [number], null_on_error=null_on_error)


def int256(number: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each integer, decimal, text or big-endian value as a word in two's complement."""
    return arrow_call("int256", [number], null_on_error=null_on_error)


def uint256_to_string(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words as decimal text."""
    return arrow_call("uint256_to_string", [word], null_on_error=null_on_error)


def uint256_to_decimal(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words as a decimal of 38 digits."""
    return arrow_call("uint256_to_decimal", [word], null_on_error=null_on_error)


def uint256_to_bigint(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words as an integer of 64 bits."""
    return arrow_call("uint256_to_bigint", [word], null_on_error=null_on_error)


def uint256_to_double(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words as the nearest double."""
    return arrow_call("uint256_to_double", [word], null_on_error=null_on_error)


def int256_to_string(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words in two's complement as decimal text."""
    return arrow_call("int256_to_string", [word], null_on_error=null_on_error)


def int256_to_decimal(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words in two's complement as a decimal of 38 digits."""
    return arrow_call("int256_to_decimal", [word], null_on_error=null_on_error)


def int256_to_bigint(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words in two's complement as an integer of 64 bits."""
    return arrow_call("int256_to_bigint", [word], null_on_error=null_on_error)


def int256_to_double(word: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each of the words in two's complement as the nearest double."""
    return arrow_call("int256_to_double", [word], null_on_error=null_on_error)


def uint256_add(left: Column, right: Column, *, null_on_error: bool = True) -> ArrowArray:
    """left + right. Out of range and division by zero are invalid."""
    return arrow_call("uint256_add", [left, right], null_on_error=null_on_error)


def uint256_sub(left: Column, right: Column, *, null_on_error: bool = True) -> ArrowArray:
    """left - right. Out of range and division by zero are invalid."""
    return arrow_call("uint256_sub", [left, right], null_on_error=null_on_error)


def uint256_mul(left: Column, right: Column, *, null_on_error: bool = True) -> ArrowArray:
    """left · right. Out of range and division by zero are invalid."""
    return arrow_call("uint256_mul", [left, right], null_on_error=null_on_error)


def uint256_div(left: Column, right: Column, *, null_on_error: bool = True) -> ArrowArray:
    """left / right, rounded down. Out of range and division by zero are invalid."""
    return arrow_call("uint256_div", [left, right], null_on_error=null_on_error)


def uint256_mod(left: Column, right: Column, *, null_on_error: bool = True) -> ArrowArray:
    """The remainder of left / right. Out of range and division by zero are invalid."""
    return arrow_call("uint256_mod", [left, right], null_on_error=null_on_error)


def uint256_mul_div(left: Column, right: Column, divisor: Column, *, null_on_error: bool = True) -> ArrowArray:
    """left · right / divisor, rounded down, with a product of 512 bits."""
    return arrow_call("uint256_mul_div", [left, right, divisor], null_on_error=null_on_error)


def int256_lt(left: Column, right: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Whether left < right, of words in two's complement."""
    return arrow_call("int256_lt", [left, right], null_on_error=null_on_error)


def format_units(word: Column, decimals: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each word / 10^decimals as exact text without trailing zeros."""
    return arrow_call("format_units", [word, decimals], null_on_error=null_on_error)


def parse_units(text: Column, decimals: Column, *, null_on_error: bool = True) -> ArrowArray:
    """Each decimal number in text · 10^decimals as a word."""
    return arrow_call("parse_units", [text, decimals], null_on_error=null_on_error)
