"""Logs for the programs in `examples/bulk`, and what they must print."""

import gzip
import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import lydite
import pyarrow
import pyarrow.parquet
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "bulk"
TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"

Holders = list[tuple[int, int]]


def made(folder: Path) -> tuple[Path, Holders]:
    """Logs of eleven tokens, of which token t has t holders; and the ten tokens with their numbers of holders."""

    def word(number):
        return number.to_bytes(32, "big")

    transfers = [
        # Token, from, to, amount: holder n of token t gets n, and the last one passes all on to the first.
        *((token, 0, holder, holder) for token in range(1, 12) for holder in range(1, token + 2)),
        *((token, token + 1, 1, token + 1) for token in range(1, 12)),
        (9, 0, 7, 2**255),
    ]
    columns = {
        "address": [word(token)[12:] for token, *_ in transfers],
        "topic0": [lydite.event_topic(TRANSFER)] * len(transfers),
        "topic1": [word(sender) for _, sender, _, _ in transfers],
        "topic2": [word(holder) for _, _, holder, _ in transfers],
        "topic3": pyarrow.nulls(len(transfers), pyarrow.binary()),
        "data": [word(value) for *_, value in transfers],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "logs.parquet")
    return folder / "logs.parquet", [(token, token) for token in range(11, 1, -1)]


def real(_: Path) -> tuple[Path, Holders]:
    """Logs of 51 blocks as cryo writes them; and the ten tokens by what eth-abi decoded. The files are not part of the
    repository."""
    if "LYDITE_DATA" not in os.environ:
        pytest.skip("LYDITE_DATA is not set to the directory of real files")
    folder = Path(os.environ["LYDITE_DATA"]) / "glaciers"
    (logs,) = folder.glob("ethereum__logs__*.parquet")
    table = pyarrow.parquet.read_table(logs, columns=["block_number", "log_index", "address"]).to_pylist()
    addresses = {(row["block_number"], row["log_index"]): row["address"] for row in table}
    balances = defaultdict(int)
    with gzip.open(folder / "decoded-expected.jsonl.gz", "rt") as lines:
        for log in map(json.loads, lines):
            if log["event"] != TRANSFER or int(log["data"][0]) >= 10**38:
                continue
            token = int.from_bytes(addresses[log["block_number"], log["log_index"]], "big")
            sender, holder = log["indexed"]
            balances[token, holder] += int(log["data"][0])
            balances[token, sender] -= int(log["data"][0])
    counts = Counter(token for (token, _), balance in balances.items() if balance > 0)
    return logs, sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]


def printed(output: str) -> Holders:
    """The tokens and numbers of holders that a program has printed, without an engine's warnings."""
    lines = [line.split() for line in output.splitlines() if line.startswith("0x")]
    return [(int(token, 16), int(count)) for token, count in lines]
