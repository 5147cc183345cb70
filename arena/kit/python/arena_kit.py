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


def op(parse, call):
    """A timed operation: one output per call."""
    return ("one", parse, call)


def array(parse, call):
    """A timed array operation: `call` returns a list of outputs, one an element."""
    return ("many", parse, call)


def checked(parse, call, parts, written):
    """An array operation whose results are checked in more than what is summed: `parts(result)` are the byte strings
    summed, `written(result)` is what `verify` writes."""
    return ("many", parse, lambda item: [part for result in call(item) for part in parts(result)], call, written)


def decoder(parse, call, head, encode):
    """A decoder: `call` returns a list of values; `head(value)` is summed, `encode(value)` written for `verify`."""
    return ("heads", parse, lambda item: sum([head(value) for value in call(item)]), call, encode)


def neg(rejects):
    """A negative row: `rejects(item)` says whether the library refuses the input."""
    return ("neg", lambda item: item, lambda item: b"\x01" if rejects(item) else b"\x00")


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


def _timed(kind, call, items, n):
    count = len(items)
    acc = 0
    sum_words = word_sum
    if kind == "many":
        start = time.perf_counter_ns()
        for k in range(n):
            for part in call(items[k % count]):
                acc += sum_words(part)
        return time.perf_counter_ns() - start, acc & MASK
    if kind == "heads":
        start = time.perf_counter_ns()
        for k in range(n):
            acc += call(items[k % count])
        return time.perf_counter_ns() - start, acc & MASK
    start = time.perf_counter_ns()
    for k in range(n):
        acc += sum_words(call(items[k % count]))
    return time.perf_counter_ns() - start, acc & MASK


def _noop(n):
    start = time.perf_counter_ns()
    for _ in range(n):
        pass
    return time.perf_counter_ns() - start


def _alloc(kind, call, items, n):
    import tracemalloc

    total = peak = 0
    collections = sum(g["collections"] for g in gc.get_stats())
    tracemalloc.start()
    try:
        for k in range(n):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            result = call(items[k % len(items)])
            peak = tracemalloc.get_traced_memory()[1] - before
            total += max(peak, 0)
            del result
    finally:
        tracemalloc.stop()
    return total, sum(g["collections"] for g in gc.get_stats()) - collections


def run(name, version, ops):
    """Answers the driver until `quit` or the end of input."""
    kind = parse = call = None
    check = []
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
                kind, parse, call, *check = ops[args[0]]
                items = [parse(blob) for blob in read_blobs(args[1])]
                reply(ok=True, items=len(items))
            elif command == "verify":
                with open(args[0], "wb") as file:
                    for item in items:
                        if check:
                            results, written = check
                            out = b"".join(map(written, results(item)))
                        else:
                            out = call(item)
                            out = b"".join(out) if kind == "many" else bytes(out)
                        file.write(struct.pack("<I", len(out)) + out)
                reply(ok=True)
            elif command == "run":
                n = int(args[0])
                ns, acc = _timed(kind, call, items, n)
                reply(n=n, ns=ns, acc=f"{acc:016x}")
            elif command == "alloc":
                n = int(args[0])
                size, collections = _alloc(kind, call, items, n)
                # CPython tells the bytes alive at the peak of a call, not the number of allocations.
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
