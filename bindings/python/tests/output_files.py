"""Parquet files with every type of column that Lydite writes, and the rows in them, for tests of their readers."""

import random
from collections.abc import Iterator
from pathlib import Path

import lydite
import pyarrow
import pyarrow.parquet

TYPES = "(uint8 kind,address token,uint256[] ids)[] offer,string note,bytes payload,bool ok,int64 number,bytes3 code"
EVENT = f"Filled(address indexed maker, string indexed memo, {TYPES}, int256 change)"
FUNCTION = f"fill({TYPES}) returns (uint256 amount, address[] to)"
KEY = b"\x46" * 32


def _word(number: int) -> bytes:
    return number.to_bytes(32, "big")


def _values(draw: random.Random) -> list:
    offer = [
        (draw.randrange(256), draw.randbytes(20), [draw.randrange(10**38) for _ in range(draw.randrange(3))])
        for _ in range(draw.randrange(4))
    ]
    note = "ü" * draw.randrange(40)
    payload = draw.randbytes(draw.randrange(70))
    return [offer, note, payload, draw.random() < 0.5, draw.randrange(-(2**63), 2**63), draw.randbytes(3)]


def _logs(draw: random.Random) -> pyarrow.Table:
    """Every fifth log is invalid, and every seventh of another event."""
    codec = lydite.Codec(f"({TYPES},int256)")
    rows = range(300)
    data = [codec.encode([*_values(draw), draw.randrange(-(10**38) + 1, 10**38)]) for _ in rows]
    topic = lydite.event_topic(EVENT)
    return pyarrow.table(
        {
            "block_number": pyarrow.array(rows, pyarrow.uint64()),
            "log_index": pyarrow.array(rows, pyarrow.uint32()),
            "topic0": [topic if row % 7 else _word(row) for row in rows],
            "topic1": [_word(draw.randrange(2**160)) for _ in rows],
            "topic2": [draw.randbytes(32) for _ in rows],
            "topic3": pyarrow.nulls(len(rows), pyarrow.binary()),
            "data": [data[:-1] if row % 5 == 0 else data for row, data in enumerate(data)],
        }
    )


def _calls(draw: random.Random) -> pyarrow.Table:
    """Every fifth call has returned nothing."""
    arguments, results = lydite.Codec(f"({TYPES})"), lydite.Codec("(uint256,address[])")
    selector = lydite.selector(FUNCTION)
    rows = range(100)
    returned = [results.encode([draw.randrange(2**256), [draw.randbytes(20)] * (row % 3)]) for row in rows]
    return pyarrow.table(
        {
            "block_number": pyarrow.array(rows, pyarrow.int64()),
            "input": [selector + arguments.encode(_values(draw)) for _ in rows],
            "output": [returned if row % 5 else b"" for row, returned in enumerate(returned)],
        }
    )


def _transactions() -> pyarrow.Table:
    """One of them is truncated."""
    fields = {"chainId": 1, "gasPrice": 1, "gas": 21_000, "to": bytes(20), "value": 1}
    raw = [lydite.sign_transaction(fields | {"nonce": nonce}, KEY) for nonce in range(50)]
    return pyarrow.table({"rawTx": [*raw, raw[0][:-1]]})


def written(folder: Path) -> Iterator[tuple[Path, list[dict]]]:
    """Each file with its rows, decoded from memory, which `test_arrow.py` compares with `lydite.Event`."""
    draw = random.Random(1)
    tables = {"logs": _logs(draw), "calls": _calls(draw), "transactions": _transactions()}
    for name, table in tables.items():
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=70)

    logs, calls = (lydite.decode_logs, lydite.decode_logs_file), (lydite.decode_calls, lydite.decode_calls_file)
    senders = lydite.recover_senders, lydite.senders_file
    runs = [
        ("logs", logs, [EVENT], {"uint256": "binary,string,decimal,f64", "keep": "all"}),
        *(
            ("logs", logs, [EVENT], {"on_error": "drop", "compression": compression})
            for compression in ("zstd", "lz4", "snappy", "none")
        ),
        ("calls", calls, [FUNCTION], {"results": True}),
        ("transactions", senders, [], {"hash": True}),
    ]
    for number, (name, (decode, decode_file), signature, options) in enumerate(runs):
        output = folder / f"output{number}.parquet"
        decode_file(folder / f"{name}.parquet", output, *signature, **options)
        in_memory = {option: value for option, value in options.items() if option != "compression"}
        rows = pyarrow.table(decode(tables[name], *signature, **in_memory)).to_pylist()
        has_null = any(None in row.values() for row in rows)
        assert len(rows) > 50 and has_null == (options.get("on_error") != "drop")
        yield output, rows
