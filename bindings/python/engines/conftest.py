"""Logs and signed transactions as indexers write them."""

import lydite
import pyarrow
import pyarrow.parquet
import pytest
from clusters import TRANSFER, Processes

TOPIC = lydite.keccak256(b"Transfer(address,address,uint256)")
WORDS = [bytes(12) + lydite.keccak256(bytes([i]))[:20] for i in range(256)]


@pytest.fixture(scope="session")
def logs() -> pyarrow.Table:
    """40,000 logs: transfers, among them some invalid ones, and every fifth of another event."""
    rows = range(40_000)
    other = lydite.keccak256(b"Other()")
    # An address whose padding is not zero.
    invalid = b"\1" + WORDS[0][1:]
    fixed = pyarrow.binary(32)
    return pyarrow.table(
        {
            "block_number": pyarrow.array([i // 100 for i in rows], pyarrow.uint64()),
            "log_index": pyarrow.array([i % 100 for i in rows], pyarrow.uint32()),
            "address": [WORDS[i % 7][12:] for i in rows],
            "topic0": pyarrow.array([other if i % 5 == 0 else TOPIC for i in rows], fixed),
            "topic1": pyarrow.array([invalid if i % 97 == 0 else WORDS[i % 256] for i in rows], fixed),
            "topic2": pyarrow.array([WORDS[(i * 31) % 256] for i in rows], fixed),
            "topic3": pyarrow.nulls(len(rows), fixed),
            "data": [(i << 200 | i).to_bytes(32, "big") for i in rows],
        }
    )


@pytest.fixture(scope="session")
def expected(logs) -> list[dict]:
    return ordered(pyarrow.table(lydite.decode_logs(logs, TRANSFER)).to_pylist())


@pytest.fixture(scope="session")
def transactions() -> pyarrow.Table:
    """Signed transactions, one of them truncated."""
    fields = {"chainId": 1, "gasPrice": 1, "gas": 21_000, "to": WORDS[1][12:], "value": 1}
    raw = [lydite.sign_transaction(fields | {"nonce": nonce}, b"\7" * 32) for nonce in range(500)]
    return pyarrow.table({"rawTx": [*raw, raw[0][:-1]]})


def ordered(rows: list[dict]) -> list[dict]:
    return sorted(rows, key=lambda row: (row["block_number"], row["log_index"]))


@pytest.fixture
def processes(tmp_path):
    processes = Processes(tmp_path)
    yield processes
    processes.kill_all()
