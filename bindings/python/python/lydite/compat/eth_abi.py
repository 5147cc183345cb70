"""`eth_abi`'s `encode`, `decode`, `is_encodable` and `is_encodable_type`."""

from functools import lru_cache

from eth_abi import decode as _decode
from eth_abi import encode as _encode
from eth_abi import is_encodable, is_encodable_type

from lydite import Codec, LyditeError

__all__ = ["decode", "encode", "is_encodable", "is_encodable_type"]


@lru_cache(maxsize=1024)
def _codec(types):
    """A codec, or None for types that only eth_abi supports: fixed-point types, and text that is not a single type."""
    try:
        codec = Codec("(" + ",".join(types) + ")")
    except LyditeError:
        return None
    return codec if len(codec) == len(types) and all(map(is_encodable_type, types)) else None


def encode(types, args):
    if isinstance(types, (list, tuple)):
        try:
            codec = _codec(tuple(types))
            if codec is not None:
                return codec.encode(args)
        except (LyditeError, TypeError):
            pass
    return _encode(types, args)


def decode(types, data, strict=True):
    # With `strict=False` the two packages tolerate different inputs.
    if strict and isinstance(types, (list, tuple)) and isinstance(data, (bytes, bytearray)):
        try:
            codec = _codec(tuple(types))
            if codec is not None:
                # eth_abi rejects some encodings that Solidity accepts (offsets into a head): let it decide.
                return codec.decode(data, canonical=True)
        except (LyditeError, TypeError):
            pass
    return _decode(types, data, strict)
