"""The family `bulk` in Python: items as pyarrow tables, input files, digests of outputs. pyarrow must be installed."""

import hashlib
import itertools
import os
import tempfile

import arena_kit as kit
import pyarrow as pa
import pyarrow.parquet as pq

FIRST_BLOCK, BLOCK, BATCH = 18_426_253, 335, 1 << 16

# A row runs on one thread.
pa.set_cpu_count(1)
pa.set_io_thread_count(1)


def path(name):
    return os.path.join(tempfile.gettempdir(), name)


def logs(item):
    """The logs of an item in cryo's columns."""
    columns = {name: [] for name in ("address", "topic0", "topic1", "topic2", "topic3", "data")}
    at = 0
    while at < len(item):
        columns["address"].append(item[at : at + 20])
        count = item[at + 20]
        at += 21
        for index in range(4):
            columns[f"topic{index}"].append(item[at : at + 32] if index < count else None)
            at += 32 if index < count else 0
        data, at = kit.lp(item, at)
        columns["data"].append(data)
    rows = range(len(columns["data"]))
    return pa.table(
        {
            "log_index": pa.array([row % BLOCK for row in rows], pa.uint32()),
            "transaction_index": pa.array([0] * len(rows), pa.uint32()),
            "block_number": pa.array([FIRST_BLOCK + row // BLOCK for row in rows], pa.uint32()),
            **{name: pa.array(values, pa.binary()) for name, values in columns.items()},
            "chain_id": pa.array([1] * len(rows), pa.uint64()),
        }
    )


def inputs(item):
    """The call data of an item in the column `input`."""
    values, at = [], 0
    while at < len(item):
        value, at = kit.lp(item, at)
        values.append(value)
    return pa.table({"input": pa.array(values, pa.binary())})


def batches(table):
    return table.to_batches(max_chunksize=BATCH)


_files = itertools.count()


def write_input(table):
    """Writes the file of an item as arena/kit/bulk does: zstd of level 1, row groups of 262,144 rows."""
    file = path(f"input-{next(_files)}.parquet")
    pq.write_table(table, file, compression="zstd", compression_level=1, row_group_size=1 << 18)
    return file


def sync(file):
    """As every contender of the family does."""
    descriptor = os.open(file, os.O_RDWR)
    os.fsync(descriptor)
    os.close(descriptor)


def _bytes(value):
    """Integers and lengths are big-endian u32; texts and arrays follow their length; a null is the byte 0xff."""
    match value:
        case None:
            return b"\xff"
        case int():
            return value.to_bytes(4, "big")
        case str():
            return _bytes(len(value)) + value.encode()
        case list():
            return _bytes(len(value)) + b"".join(map(_bytes, value))
        case dict():
            return b"".join(map(_bytes, value.values()))
    return value


def _digest(tables):
    """The number of rows and a digest of all values."""
    rows, digest = 0, hashlib.sha256()
    for table in tables:
        for row in zip(*[column.to_pylist() for column in table.columns]):
            digest.update(b"".join(map(_bytes, row)))
        rows += table.num_rows
    return rows.to_bytes(8, "little") + digest.digest()


def in_memory(parse, call):
    """An operation on batches whose result are batches."""
    return kit.decoder(
        parse, lambda item: [call(item)], lambda result: sum([batch.num_rows for batch in result]), _digest
    )


def in_files(parse, call):
    """An operation on a file whose result is (file, number of rows)."""
    return kit.decoder(
        parse, lambda item: [call(item)], lambda result: result[1], lambda result: _digest([pq.read_table(result[0])])
    )


def in_rows(parse, call):
    """An operation whose result is a list of rows."""

    def written(rows):
        digest = hashlib.sha256(b"".join(_bytes(value) for row in rows for value in row))
        return len(rows).to_bytes(8, "little") + digest.digest()

    return kit.decoder(parse, lambda item: [call(item)], len, written)
