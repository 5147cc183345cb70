"""Rows a second of `decode_logs` and `senders`: in one process, on Spark, on Sail and on Ray, with the same two cores.

On the engines, Parquet files are read and written by the engine ("rows"), or by a task of ours for each file ("files").

    python bindings/python/engines/rates.py [--rows ROWS] [--jobs decode_logs,senders] [--engines spark,sail,ray]

Every run reads the same folder of Parquet files and writes Parquet (zstd). After a first run that is not counted, the
fastest of three counts; starting an engine is not counted. The rows must equal those of the one process. eth-account
recovers the senders of a sample, and web3.py decodes its logs, from a list to a list. What is missing is reported:
`pip install 'lydite[test,engines]'`, and Java 17 for Spark. Requires Linux.
"""

import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from pathlib import Path

import lydite
import pyarrow
import pyarrow.parquet
from clusters import TRANSFER, Processes, SparkCluster, ray_cluster, sail_session

CORES = 2
FILES = 8
RUNS = 3
# Rows for web3.py and eth-account.
SAMPLE = 2_000
# Unique together.
KEPT = {"decode_logs": ["block_number", "log_index"], "senders": ["block_number", "transaction_index"]}


def write_logs(folder: Path, rows: int):
    """Transfers among 100,000 holders, of random amounts below 2^96."""
    source = random.Random(1)
    topic = lydite.keccak256(b"Transfer(address,address,uint256)")
    holders = [bytes(12) + source.randbytes(20) for _ in range(100_000)]
    for file in range(FILES):
        table = {
            "block_number": pyarrow.array([file] * rows, pyarrow.uint64()),
            "log_index": pyarrow.array(range(rows), pyarrow.uint32()),
            "topic0": [topic] * rows,
            "topic1": source.choices(holders, k=rows),
            "topic2": source.choices(holders, k=rows),
            "topic3": pyarrow.nulls(rows, pyarrow.binary()),
            "data": [bytes(20) + source.randbytes(12) for _ in range(rows)],
        }
        pyarrow.parquet.write_table(pyarrow.table(table), folder / f"{file}.parquet")


def write_transactions(folder: Path, rows: int):
    """Signed transactions, the same ones in each file."""
    fields = {"chainId": 1, "gasPrice": 1, "gas": 21_000, "to": bytes(20), "value": 1}
    raw = [lydite.sign_transaction(fields | {"nonce": nonce}, b"\7" * 32) for nonce in range(rows)]
    for file in range(FILES):
        table = {
            "block_number": pyarrow.array([file] * rows, pyarrow.uint64()),
            "transaction_index": pyarrow.array(range(rows), pyarrow.uint32()),
            "raw": raw,
        }
        pyarrow.parquet.write_table(pyarrow.table(table), folder / f"{file}.parquet")


def one_process(job: str, source: Path, output: Path):
    options = {"keep": KEPT[job], "threads": CORES}
    # One output per input.
    output.mkdir()
    if job == "decode_logs":
        lydite.decode_logs_file(source, output, TRANSFER, **options)
    else:
        lydite.senders_file(source, output, **options)


def on_spark(session, job: str, source: Path, output: Path):
    import lydite.spark

    frame = session.read.parquet(str(source))
    if job == "decode_logs":
        frame = lydite.spark.decode_logs(frame, TRANSFER, keep=KEPT[job])
    else:
        frame = lydite.spark.senders(frame, keep=KEPT[job])
    frame.write.option("compression", "zstd").parquet(str(output))


def files_on_spark(session, job: str, source: Path, output: Path):
    import lydite.spark

    if job == "decode_logs":
        lydite.spark.decode_logs_file(session, source, output, TRANSFER, keep=KEPT[job])
    else:
        lydite.spark.senders_file(session, source, output, keep=KEPT[job])


def on_ray(job: str, source: Path, output: Path):
    import lydite.ray
    import ray

    # Columns that are not listed are read in vain.
    columns = KEPT[job] + (["raw"] if job == "senders" else ["topic0", "topic1", "topic2", "topic3", "data"])
    dataset = ray.data.read_parquet(str(source), columns=columns)
    if job == "decode_logs":
        dataset = lydite.ray.decode_logs(dataset, TRANSFER, keep=KEPT[job])
    else:
        dataset = lydite.ray.senders(dataset, keep=KEPT[job])
    dataset.write_parquet(str(output), compression="zstd")


def files_on_ray(job: str, source: Path, output: Path):
    import lydite.ray

    if job == "decode_logs":
        lydite.ray.decode_logs_file(source, output, TRANSFER, keep=KEPT[job])
    else:
        lydite.ray.senders_file(source, output, keep=KEPT[job])


@contextmanager
def spark(folder: Path):
    if not shutil.which("java"):
        raise ModuleNotFoundError("No Java")
    processes = Processes(folder)
    try:
        with SparkCluster(processes).session() as session:
            yield {"rows": partial(on_spark, session), "files": partial(files_on_spark, session)}
    finally:
        processes.kill_all()


@contextmanager
def sail(folder: Path):
    with sail_session() as session:
        yield {"rows": partial(on_spark, session), "files": partial(files_on_spark, session)}


@contextmanager
def ray(folder: Path):
    with ray_cluster(object_store_memory=512 << 20):
        yield {"rows": on_ray, "files": files_on_ray}


def with_web3(logs: Path) -> str:
    """Decodes logs with the usual library, on one core."""
    from web3 import Web3

    rows = pyarrow.parquet.read_table(logs / "0.parquet").slice(0, SAMPLE)
    known = pyarrow.table(lydite.decode_logs(rows, TRANSFER, uint256="string", keep="none")).to_pylist()
    inputs = [{"name": name, "type": "address", "indexed": True} for name in ("from", "to")]
    inputs.append({"name": "value", "type": "uint256", "indexed": False})
    event = {"type": "event", "name": "Transfer", "inputs": inputs, "anonymous": False}
    transfer = Web3().eth.contract(abi=[event]).events.Transfer()
    zero = bytes(32)
    logs = [
        {
            "address": "0x" + "00" * 20,
            "topics": [row["topic0"], row["topic1"], row["topic2"]],
            "data": row["data"],
            "blockNumber": row["block_number"],
            "logIndex": row["log_index"],
            "transactionIndex": 0,
            "transactionHash": zero,
            "blockHash": zero,
        }
        for row in rows.to_pylist()
    ]
    start = time.perf_counter()
    found = [transfer.process_log(log)["args"] for log in logs]
    seconds = time.perf_counter() - start
    for arguments, row in zip(found, known, strict=True):
        if arguments != {
            "from": lydite.to_checksum_address(row["from"]),
            "to": lydite.to_checksum_address(row["to"]),
            "value": int(row["value"]),
        }:
            raise SystemExit("decode_logs by web3.py: others than in one process")
    return sample("decode_logs", "web3.py", len(logs), seconds)


def with_eth_account(transactions: Path) -> str:
    """Recovers senders with the usual library, on one core."""
    from eth_account import Account

    raw = pyarrow.parquet.read_table(transactions / "0.parquet")["raw"].to_pylist()[:SAMPLE]
    known = [lydite.to_checksum_address(sender) for sender in lydite.senders(raw)]
    start = time.perf_counter()
    found = [Account.recover_transaction(transaction) for transaction in raw]
    seconds = time.perf_counter() - start
    if found != known:
        raise SystemExit("senders by eth-account: others than in one process")
    return sample("senders", "eth-account", len(raw), seconds)


def sample(job: str, name: str, rows: int, seconds: float) -> str:
    return f"{job:12} {name:14} {rows / seconds:12,.0f} rows/s on 1 core, {rows} rows"


ENGINES = {"spark": spark, "sail": sail, "ray": ray}
# What writes the input, and the usual library.
JOBS = {"decode_logs": (write_logs, with_web3), "senders": (write_transactions, with_eth_account)}


def chosen(names: str, known: dict) -> list[str]:
    """The names in a list with commas."""
    if unknown := set(names.split(",")) - set(known):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; expected some of {', '.join(known)}")
    return names.split(",")


@contextmanager
def limit(seconds: int):
    """Raises `TimeoutError` in the block after this time."""

    def stop(*_):
        raise TimeoutError(f"not within {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def rows_of(job: str, folder: Path) -> pyarrow.Table:
    table = pyarrow.parquet.read_table(folder)
    return table.sort_by([(name, "ascending") for name in KEPT[job]]).combine_chunks()


def fastest(run, job: str, source: Path, output: Path) -> float:
    seconds = []
    for _ in range(1 + RUNS):
        shutil.rmtree(output, ignore_errors=True)
        start = time.perf_counter()
        run(job, source, output)
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=partial(chosen, known=JOBS), default=list(JOBS))
    parser.add_argument("--engines", type=partial(chosen, known=ENGINES), default=list(ENGINES))
    parser.add_argument("--seconds", type=int, default=300, help="limit for each engine")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    os.sched_setaffinity(0, cores)
    rows = max(arguments.rows // FILES, 1)

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        expected, alone = {}, {}
        for job in arguments.jobs:
            write, usual = JOBS[job]
            (folder / job).mkdir()
            write(folder / job, rows)
            alone[job] = fastest(one_process, job, folder / job, folder / "output")
            expected[job] = rows_of(job, folder / "output")
            print(line(job, "one process", alone[job], expected[job], len(cores)))
            try:
                print(usual(folder / job))
            except ModuleNotFoundError as error:
                print(f"{job}: {error}")
        for name in arguments.engines:
            logs = folder / name
            logs.mkdir()
            try:
                with ExitStack() as stack:
                    stack.enter_context(limit(arguments.seconds))
                    ways = stack.enter_context(ENGINES[name](logs))
                    for (job, wanted), (way, run) in product(expected.items(), ways.items()):
                        seconds = fastest(run, job, folder / job, folder / "output")
                        found = rows_of(job, folder / "output")
                        if not wanted.cast(found.schema).equals(found):
                            raise SystemExit(f"{job} on {name}, {way}: other rows than in one process")
                        text = line(job, f"{name}, {way}", seconds, wanted, len(cores))
                        print(f"{text}  {alone[job] / seconds:4.0%}")
            except (ModuleNotFoundError, TimeoutError) as error:
                print(f"{name}: {error}")


def line(job: str, name: str, seconds: float, table: pyarrow.Table, cores: int) -> str:
    return f"{job:12} {name:14} {table.num_rows / seconds:12,.0f} rows/s on {cores} cores"


if __name__ == "__main__":
    main()
