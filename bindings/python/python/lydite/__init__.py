"""Fast byte-level operations for Ethereum and OCapN.

Functions take and return bytes, and accept any object with a buffer of bytes: bytes, bytearray, memoryview, NumPy
arrays of uint8. Batch functions let other threads run. All errors are subclasses of LyditeError, a ValueError:
DecodeError, EncodeError, SignatureError, PrecompileError and KeyFileError. An argument of the wrong type raises
TypeError.
"""

from ._native import *  # noqa: F403
from ._native import __all__ as __all__
