"""The arena's line protocol for contenders in Python.

A contender calls `run(name, version, ops)`. `ops` maps an op id to `op(parse, call)`: `parse(item: bytes)` is
untimed and returns the contender's own types; `call(parsed)` is timed and returns the output as bytes, or a list
of byte strings for the elements of an array op (each summed by itself). `decoder` and `checked` write more for
`verify` than they add to the sum. A decoder's negative row is `neg(reject)`:
`reject(item)` returns True where the library refuses the input.
"""

import gc
import json
import platform
import struct
import sys
import time

MASK = (1 << 64) - 1
_UNPACK = {}


def word_sum(data):
    """The sum of the little-endian u64 words of `data`, zero-padded to a multiple of 8 (not reduced mod 2^64)."""
    size = len(data)
    unpack = _UNPACK.get(size)
    if unpack is None:
        words, pad = (size + 7) // 8, -size % 8
        plain = struct.Struct(f"<{words}Q").unpack
        unpack = plain if not pad else (lambda d, p=plain, z=bytes(pad): p(d + z))
        _UNPACK[size] = unpack
    return sum(unpack(data))


class Op:
    """A timed operation. Between calls the kit changes the items by the rule of the row: elements that are bytes or
    text by itself, others by what `changes` supplies."""

    def __init__(self, kind, parse, call, results=None, written=None):
        self.kind, self.parse, self.call, self.results, self.written = kind, parse, call, results, written
        self.rules, self.whole = {}, kind == "one"

    def changes(self, rule, change):
        """Supplies `change(element, word)`, which returns the changed element, for one rule."""
        self.rules[rule] = change
        return self

    def changes_all(self, rule, change):
        """As `changes`, for items that hold their elements in another way: `change(item, x)`; element i gets
        `word(x, i)`."""
        self.whole = True
        return self.changes(rule, change)

    def changer(self, rule, items):
        """The function that changes an item; None if the rule is `none`. Raises LookupError if the op has none."""
        if rule == "none":
            return None
        several = not self.whole and isinstance(items[0], list)
        change = self.rules.get(rule)
        if change is None:
            element = items[0][0] if several else items[0]
            if not isinstance(element, bytes) and not (isinstance(element, str) and rule.startswith("digits")):
                raise LookupError(rule)
            change = writer(rule)
        if not several:
            return change
        return lambda item, x: [change(element, (x + i * STEP) & WORD) for i, element in enumerate(item)]


WORD = (1 << 32) - 1
STEP = 0x9E3779B9
# The four lowest octal digits, lowest first, of every 12-bit number.
_OCTAL = ["".join(str(n >> 3 * j & 7) for j in range(4)) for n in range(4096)]


def word(x, i):
    """The word that element i gets where the first gets x."""
    return (x + i * STEP) & WORD


def set_le(data, at, w):
    """`data` with 4 bytes replaced, little-endian."""
    return data[:at] + w.to_bytes(4, "little") + data[at + 4 :]


def set_be(data, at, w):
    """`data` with 4 bytes replaced, big-endian."""
    return data[:at] + w.to_bytes(4, "big") + data[at + 4 :]


def set_digits(text, at, w):
    """Text with 8 characters replaced by octal digits, the lowest first."""
    return text[:at] + _OCTAL[w & 4095] + _OCTAL[w >> 12 & 4095] + text[at + 8 :]


def set_low(number, w):
    """`number` with its lowest 32 bits replaced."""
    return number >> 32 << 32 | w


def writer(rule):
    """How a rule, <kind>@<offset>, changes bytes or text; elements that are too short stay."""
    kind, _, offset = rule.partition("@")
    kinds = {
        "le": (4, set_le),
        "be": (4, set_be),
        "le16": (2, lambda data, at, w: data[:at] + (w >> 16).to_bytes(2, "little") + data[at + 2 :]),
        "digits": (8, _set_digits),
    }
    if kind not in kinds:
        raise ValueError(f"change rule {rule}: expected none or {', '.join(kinds)}@<offset>")
    size, write = kinds[kind]
    offset = int(offset)

    def change(data, w):
        at = offset + len(data) if offset < 0 else offset
        return write(data, at, w) if 0 <= at <= len(data) - size else data

    return change


def _set_digits(data, at, w):
    if isinstance(data, str):
        return set_digits(data, at, w)
    return data[:at] + (_OCTAL[w & 4095] + _OCTAL[w >> 12 & 4095]).encode() + data[at + 8 :]


def op(parse, call):
    """A timed operation: one output per call."""
    return Op("one", parse, call)


def array(parse, call):
    """A timed array operation: `parse` returns a list of elements, `call` a list of outputs, one an element."""
    return Op("many", parse, call)


def checked(parse, call, parts, written):
    """An array operation whose results are checked in more than what is summed: `parts(result)` are the byte strings
    summed, `written(result)` is what `verify` writes."""
    return Op("many", parse, lambda item: [part for result in call(item) for part in parts(result)], call, written)


def decoder(parse, call, head, encode):
    """A decoder: `call` returns a list of values; `head(value)` is summed, `encode(value)` written for `verify`."""
    return Op("heads", parse, lambda item: sum([head(value) for value in call(item)]), call, encode)


def neg(rejects):
    """A negative row: `rejects(item)` reports whether the library rejects the input."""
    return op(lambda item: item, lambda item: b"\x01" if rejects(item) else b"\x00")


def refuses(decode):
    """Turns a decoder that raises into the predicate that `neg` takes."""

    def rejects(item):
        try:
            decode(item)
        except Exception:
            return True
        return False

    return rejects


def read_blobs(path):
    with open(path, "rb") as file:
        data = file.read()
    blobs, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        blobs.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return blobs


def lp(data, at):
    """A length-prefixed field: (its bytes, the offset behind it)."""
    (size,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 4 + size], at + 4 + size


def fields(data):
    """Length-prefixed fields to the end."""
    found, at = [], 0
    while at < len(data):
        field, at = lp(data, at)
        found.append(field)
    return found


def chunks(data, size):
    return [data[i : i + size] for i in range(0, len(data), size)]


def _timed(kind, call, items, change, n, x):
    count = len(items)
    acc = at = 0
    sum_words = word_sum
    start = time.perf_counter_ns()
    for _ in range(n):
        item = items[at]
        if change is not None:
            x = (x * 747796405 + 2891336453) & WORD
            item = change(item, x)
        if kind == "one":
            acc += sum_words(call(item))
        elif kind == "many":
            for part in call(item):
                acc += sum_words(part)
        else:
            acc += call(item)
        at += 1
        if at == count:
            at = 0
    return time.perf_counter_ns() - start, acc & MASK


def _noop(n):
    start = time.perf_counter_ns()
    for _ in range(n):
        pass
    return time.perf_counter_ns() - start


def _alloc(call, items, change, n, x):
    import tracemalloc

    total = peak = 0
    collections = sum(g["collections"] for g in gc.get_stats())
    tracemalloc.start()
    try:
        for k in range(n):
            item = items[k % len(items)]
            if change is not None:
                x = (x * 747796405 + 2891336453) & WORD
                item = change(item, x)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            result = call(item)
            peak = tracemalloc.get_traced_memory()[1] - before
            total += max(peak, 0)
            del result
    finally:
        tracemalloc.stop()
    return total, sum(g["collections"] for g in gc.get_stats()) - collections


def run(name, version, ops):
    """Answers the driver until `quit` or the end of input."""
    current = change = None
    items = []

    def reply(**fields):
        sys.stdout.write(json.dumps({"arena": 1, **fields}) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        command, args = words[0], words[1:]
        try:
            if command == "describe":
                runtime = f"{platform.python_implementation()} {platform.python_version()}"
                reply(name=name, version=version, runtime=runtime, ops=list(ops), threads=1)
            elif command == "prepare":
                if args[0] not in ops:
                    reply(err="unsupported", msg=args[0])
                    continue
                current = ops[args[0]]
                # Items are never changed in place; a changed item is a new object.
                items = [current.parse(blob) for blob in read_blobs(args[1])]
                try:
                    change = current.changer(args[2] if len(args) > 2 else "none", items)
                    changes = True
                except LookupError:
                    change, changes = None, False
                reply(ok=True, items=len(items), changes=changes)
            elif command == "verify":
                with open(args[0], "wb") as file:
                    for item in items:
                        if current.results:
                            out = b"".join(map(current.written, current.results(item)))
                        else:
                            out = current.call(item)
                            out = b"".join(out) if current.kind == "many" else bytes(out)
                        file.write(struct.pack("<I", len(out)) + out)
                reply(ok=True)
            elif command == "run":
                n, seed = int(args[0]), int(args[1]) if len(args) > 1 else 0
                ns, acc = _timed(current.kind, current.call, items, change, n, seed)
                reply(n=n, ns=ns, acc=f"{acc:016x}")
            elif command == "alloc":
                n, seed = int(args[0]), int(args[1]) if len(args) > 1 else 0
                size, collections = _alloc(current.call, items, change, n, seed)
                # CPython reports the bytes alive at the peak of a call, not the number of allocations.
                reply(n=n, alloc_bytes=size, gc=collections)
            elif command == "noop":
                reply(n=int(args[0]), ns=_noop(int(args[0])))
            elif command == "gc":
                gc.collect()
                reply(ok=True)
            elif command == "quit":
                return
            else:
                reply(err="unsupported", msg=command)
        except Exception as error:
            reply(err="rejected", msg=f"{type(error).__name__}: {error}"[:300])
