"""Logs and signed transactions as indexers write them, and the processes of a cluster."""

import os
import signal
import socket
import subprocess
import time

import lydite
import pyarrow
import pytest

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"
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


class Processes:
    """Processes that end with the test, each with its children."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []

    def start(self, *command, **environment):
        log = (self.folder / f"{len(self.started)}.log").open("wb")
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=os.environ | environment, start_new_session=True
        )
        self.started.append(process)
        return process

    def kill(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


@pytest.fixture
def processes(tmp_path):
    processes = Processes(tmp_path)
    yield processes
    for process in processes.started:
        processes.kill(process)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what, seconds=60):
    """Polls until the condition is true, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except OSError:
            pass
        time.sleep(0.2)
    raise TimeoutError(f"{what}: not within {seconds} s")
