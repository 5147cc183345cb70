"""Byte-level work of Ethereum, as fast as the machine allows.

Bytes in, bytes out. Any object with a buffer of bytes will do: bytes, bytearray, memoryview, NumPy arrays of uint8.
Functions on many items let other threads run. Errors are ValueErrors: LyditeError and below it DecodeError, EncodeError
and SignatureError; wrong types of arguments raise TypeError.
"""

from ._native import *  # noqa: F403
from ._native import __all__ as __all__
