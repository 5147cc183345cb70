"""Canonical Syrup: a strict reference codec in plain Python.

Values: bool, int, float, Single (a float of 32 bits), str, Symbol, bytes, list, dict, Set, Record. `encode` writes the
one canonical form; `decode` takes exactly one whole canonical value and raises SyrupError, with the byte's position, on
anything else. Source: Syrup draft (2023-12), OCapN Model and Notation (2026-07).

`1 == True == 1.0` in Python: a dictionary or set with such keys side by side cannot be told apart by a plain dict, so
keys that are no str, bytes or Symbol are wrapped in Key, which compares by encoding.
"""

import math
import re
import struct

MAX_DEPTH = 256
MAX_DIGITS = 100_000  # limit of an integer, since int() takes quadratic time


class SyrupError(ValueError):
    """Bytes that are not one whole canonical value; `at` is the position of the offending byte."""

    def __init__(self, at, reason):
        super().__init__(f"byte {at}: {reason}")
        self.at = at


class Symbol(str):
    """A symbol; equal to no string."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Symbol) and str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((Symbol, str(self)))


class Single(float):
    """A float of 32 bits."""

    __slots__ = ()


class Key:
    """A dictionary key or set element of any type; equal if the encodings are."""

    __slots__ = ("value", "encoded")

    def __init__(self, value):
        self.value = value
        self.encoded = encode(value)

    def __eq__(self, other):
        return isinstance(other, Key) and self.encoded == other.encoded

    def __hash__(self):
        return hash(self.encoded)


class Set:
    """A set of values, as a list in canonical order or in any other."""

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values


class Record:
    """A label and fields."""

    __slots__ = ("label", "fields")

    def __init__(self, label, fields):
        self.label = label
        self.fields = fields


NAN = bytes.fromhex("7ff8000000000000")
SINGLE_NAN = bytes.fromhex("7fc00000")
_DOUBLE = struct.Struct(">d")
_SINGLE = struct.Struct(">f")
_DIGITS = re.compile(rb"(0|[1-9][0-9]*)([-+:\"'])")


def encode(value):
    """The canonical encoding of a value."""
    parts = []
    _write(value, parts.append)
    return b"".join(parts)


def _write(value, put):
    kind = type(value)
    if kind is int:
        put(b"%d+" % value if value >= 0 else b"%d-" % -value)
    elif kind is str:
        data = value.encode()
        put(b'%d"%b' % (len(data), data))
    elif kind is Symbol:
        data = value.encode()
        put(b"%d'%b" % (len(data), data))
    elif kind is list:
        put(b"[")
        for item in value:
            _write(item, put)
        put(b"]")
    elif kind is dict:
        put(b"{")
        for key, item in sorted([(encode(key), item) for key, item in value.items()], key=_first):
            put(key)
            _write(item, put)
        put(b"}")
    elif kind is Record:
        put(b"<")
        _write(value.label, put)
        for item in value.fields:
            _write(item, put)
        put(b">")
    elif kind is bytes:
        put(b"%d:%b" % (len(value), value))
    elif kind is bool:
        put(b"t" if value else b"f")
    elif kind is float:
        put(b"D" + (NAN if math.isnan(value) else _DOUBLE.pack(value)))
    elif kind is Single:
        put(b"F" + (SINGLE_NAN if math.isnan(value) else _SINGLE.pack(value)))
    elif kind is Set:
        put(b"#")
        for item in sorted([encode(item) for item in value.values]):
            put(item)
        put(b"$")
    elif kind is Key:
        put(value.encoded)
    else:
        raise TypeError(f"no Syrup form of {kind.__name__}")


def _first(pair):
    return pair[0]


def decode(data):
    """The value of one whole canonical encoding."""
    value, at = _read(data, 0, 0)
    if at != len(data):
        raise SyrupError(at, "trailing bytes")
    return value


def _read(data, at, depth):
    found = _DIGITS.match(data, at)
    if found:
        digits, mark = found.groups()
        start = found.end()
        if mark == b"+" or mark == b"-":
            if len(digits) > 4000:
                return _long(digits, mark, at), start
            if mark == b"+":
                return int(digits), start
            if digits == b"0":
                raise SyrupError(at, "negative zero")
            return -int(digits), start
        if len(digits) > 18 or start + int(digits) > len(data):
            raise SyrupError(start, "cut off")
        end = start + int(digits)
        content = data[start:end]
        if mark == b":":
            return content, end
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise SyrupError(start + error.start, "not UTF-8") from None
        return (text if mark == b'"' else Symbol(text)), end
    first = data[at : at + 1]
    if depth == MAX_DEPTH:
        raise SyrupError(at, "nested too deep")
    if first == b"[":
        return _until(data, at + 1, b"]", depth + 1)
    if first == b"<":
        label, at = _read(data, at + 1, depth + 1)
        fields, at = _until(data, at, b">", depth + 1)
        return Record(label, fields), at
    if first == b"{":
        return _dictionary(data, at + 1, depth + 1)
    if first == b"#":
        return _set(data, at + 1, depth + 1)
    if first == b"t":
        return True, at + 1
    if first == b"f":
        return False, at + 1
    if first == b"D":
        return _float(data, at, 8, _DOUBLE, NAN, float)
    if first == b"F":
        return _float(data, at, 4, _SINGLE, SINGLE_NAN, Single)
    raise SyrupError(at, "no value begins here" if first else "the end")


def _until(data, at, close, depth):
    values = []
    while data[at : at + 1] != close:
        value, at = _read(data, at, depth)
        values.append(value)
    return values, at + 1


def _dictionary(data, at, depth):
    entries, last = {}, b""
    while data[at : at + 1] != b"}":
        start = at
        key, at = _read(data, at, depth)
        encoded = data[start:at]
        if encoded <= last:
            raise SyrupError(start, "key not above the last")
        last = encoded
        if type(key) not in (str, Symbol, bytes):
            key = Key(key)
        entries[key], at = _read(data, at, depth)
    return entries, at + 1


def _set(data, at, depth):
    values, last = [], b""
    while data[at : at + 1] != b"$":
        start = at
        value, at = _read(data, at, depth)
        encoded = data[start:at]
        if encoded <= last:
            raise SyrupError(start, "element not above the last")
        last = encoded
        values.append(value)
    return Set(values), at + 1


def _float(data, at, size, form, nan, kind):
    content = data[at + 1 : at + 1 + size]
    if len(content) < size:
        raise SyrupError(at + 1, "cut off")
    (value,) = form.unpack(content)
    if math.isnan(value) and content != nan:
        raise SyrupError(at + 1, "not the canonical NaN")
    return kind(value), at + 1 + size


def _long(digits, mark, at):
    """An integer longer than int() reads at once: Python bounds that on purpose."""
    if len(digits) > MAX_DIGITS:
        raise SyrupError(at, "integer too long")
    value = 0
    for i in range(0, len(digits), 4000):
        piece = digits[i : i + 4000]
        value = value * 10 ** len(piece) + int(piece)
    return value if mark == b"+" else -value
