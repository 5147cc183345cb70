"""`eth_utils`' `keccak`, `to_checksum_address` and `is_checksum_address`."""

from eth_utils import keccak as _keccak
from eth_utils import to_checksum_address as _to_checksum_address

from lydite import LyditeError, keccak256
from lydite import to_checksum_address as _checksum

__all__ = ["is_checksum_address", "keccak", "to_checksum_address"]


def keccak(primitive=None, hexstr=None, text=None):
    if isinstance(primitive, (bytes, bytearray)) and hexstr is None and text is None:
        return keccak256(primitive)
    if isinstance(text, str) and primitive is None and hexstr is None:
        return keccak256(text.encode())
    return _keccak(primitive, hexstr, text)


def to_checksum_address(value):
    try:
        # The case of the text is not checked.
        return _checksum(value.lower() if isinstance(value, str) else value)
    except (LyditeError, TypeError):
        return _to_checksum_address(value)


def is_checksum_address(value):
    if not isinstance(value, str) or len(value) != 42 or value[:2] != "0x":
        return False
    try:
        return _checksum(value.lower()) == value
    except LyditeError:
        return False
