"""Rows of Spark compared with those of this process: on a standalone cluster of two workers, and on Sail."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import lydite
import output_files
import pyarrow
import pyarrow.parquet
import pytest
import top_tokens
from clusters import TRANSFER, SparkCluster, sail_session, spark_home, wait_for
from conftest import ordered

pytest.importorskip("pyspark", reason="pip install 'lydite[engines]'")

import lydite.spark  # noqa: E402
from pyspark.sql import DataFrame  # noqa: E402
from pyspark.sql.types import LongType, StructField, StructType  # noqa: E402

HOME = spark_home()


@pytest.fixture
def cluster(processes):
    return SparkCluster(processes)


@pytest.fixture
def spark(cluster):
    with cluster.session() as session:
        yield session


def frame(spark, table: pyarrow.Table, folder: Path, partitions: int) -> DataFrame:
    """The table, read from a Parquet file per partition, as a cluster reads it."""
    folder.mkdir(exist_ok=True)
    rows = -(-table.num_rows // partitions)
    for part in range(partitions):
        pyarrow.parquet.write_table(table.slice(part * rows, rows), folder / f"{part:03}.parquet")
    # One partition per file.
    spark.conf.set("spark.sql.files.openCostInBytes", spark.conf.get("spark.sql.files.maxPartitionBytes"))
    return spark.read.parquet(str(folder))


def plain(value):
    """Spark's bytes as `bytes`."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return bytes(value) if isinstance(value, bytearray) else value


def collected(frame: DataFrame) -> list[dict]:
    return [plain(row.asDict(recursive=True)) for row in frame.collect()]


def rows(frame: DataFrame) -> list[dict]:
    return ordered(collected(frame))


def test_cluster(spark, cluster, logs, expected, transactions, tmp_path):
    table = frame(spark, logs, tmp_path / "logs", 4)
    assert rows(lydite.spark.decode_logs(table, TRANSFER)) == expected
    dropped = [row for row in expected if row["from"] is not None]
    assert 0 < len(dropped) < len(expected)
    assert rows(lydite.spark.decode_logs(table, TRANSFER, on_error="drop")) == dropped
    with pytest.raises(Exception, match="padding is not zero"):
        lydite.spark.decode_logs(table, TRANSFER, on_error="fail").collect()
    with pytest.raises(ValueError, match="byte 9"):
        lydite.spark.decode_logs(table, "Transfer(")

    # The file that the command writes.
    file, output = tmp_path / "logs" / "000.parquet", tmp_path / "transfers.parquet"
    lydite.decode_logs_file(file, output, TRANSFER)
    assert rows(spark.read.parquet(str(output))) == [row for row in expected if row["block_number"] < 100]

    raw = frame(spark, transactions, tmp_path / "transactions", 2)
    senders = pyarrow.table(lydite.recover_senders(transactions, keep="all")).to_pylist()
    found = lydite.spark.senders(raw, keep="all").collect()
    assert {(row["rawTx"], row["sender"]) for row in senders} == {
        (bytes(r.rawTx), r.sender and bytes(r.sender)) for r in found
    }
    assert sum(row["sender"] is None for row in senders) == 1
    lydite.spark.register(spark)
    raw.createOrReplaceTempView("transactions")
    query = "SELECT count(DISTINCT evm_sender(rawTx)), count(DISTINCT evm_tx_hash(rawTx)) FROM transactions"
    assert tuple(spark.sql(query).collect()[0]) == (1, 500)
    query = "SELECT uint256_to_string(uint256_add(uint256('7'), uint256('10'))), int256_lt(int256('-1'), int256('0'))"
    assert tuple(spark.sql(query).collect()[0]) == ("17", True)


def test_worker_killed(spark, cluster, processes, logs, expected, tmp_path):
    markers = tmp_path / "markers"
    markers.mkdir()

    def slow(batches):
        """A second a partition, so that a worker can be killed while it works. Adds the executor's process."""
        executor = os.getppid()
        (markers / f"{executor}-{time.monotonic_ns()}").touch()
        time.sleep(1)
        for batch in batches:
            yield batch.append_column("executor", pyarrow.array([executor] * batch.num_rows))

    def kill_one_at_work():
        """Kills a worker when each executor has finished a partition and works on the next."""

        def two_at_work():
            started = Counter(marker.name.split("-")[0] for marker in markers.iterdir())
            return len(started) == 2 and min(started.values()) >= 2

        wait_for(two_at_work, "two executors at work", 120)
        processes.kill(cluster.workers[0])

    table = frame(spark, logs, tmp_path / "logs", 16)
    schema = StructType([*table.schema, StructField("executor", LongType())])
    working = table.mapInArrow(slow, schema)
    decoded = lydite.spark.decode_logs(working, TRANSFER, keep=["block_number", "log_index", "address", "executor"])

    killer = threading.Thread(target=kill_one_at_work)
    killer.start()
    found = rows(decoded)
    killer.join()
    wait_for(lambda: cluster.alive() == 1, "the loss of a worker")
    executors = {row.pop("executor") for row in found}
    assert len(executors) == 2
    assert found == expected


def test_files(spark, cluster, processes, logs, expected, transactions, tmp_path):
    """A task for each file, with a worker killed half-way."""
    inputs, output = tmp_path / "logs", tmp_path / "transfers"
    frame(spark, logs, inputs, 40)

    def kill_one_at_work():
        wait_for(lambda: len(list(output.glob("*.parquet"))) >= 4, "the first files", 120)
        processes.kill(cluster.workers[0])

    killer = threading.Thread(target=kill_one_at_work)
    killer.start()
    report = lydite.spark.decode_logs_file(spark, inputs, output, TRANSFER)
    killer.join()
    wait_for(lambda: cluster.alive() == 1, "the loss of a worker")
    assert ordered(pyarrow.parquet.read_table(output).to_pylist()) == expected
    alone = lydite.decode_logs_file(inputs, tmp_path / "alone", TRANSFER)
    assert report["failures"] == alone["failures"]
    assert {file.name for file, _ in report["written"]} == {file.name for file in inputs.iterdir()}

    with pytest.raises(FileExistsError):
        lydite.spark.decode_logs_file(spark, inputs, output, TRANSFER)
    report = lydite.spark.decode_logs_file(spark, inputs, output, TRANSFER, resume=True)
    assert (report["rows"], report["skipped"]) == (0, 40)
    with pytest.raises(Exception, match="padding is not zero"):
        lydite.spark.decode_logs_file(spark, inputs, output, TRANSFER, on_error="fail", overwrite=True)

    pyarrow.parquet.write_table(transactions, tmp_path / "transactions.parquet")
    lydite.spark.senders_file(spark, tmp_path / "transactions.parquet", tmp_path / "senders")
    found = pyarrow.parquet.read_table(tmp_path / "senders")
    assert found.equals(pyarrow.table(lydite.recover_senders(transactions)))


@pytest.mark.parametrize("logs", [top_tokens.made, top_tokens.real])
def test_example(cluster, logs, tmp_path):
    file, expected = logs(tmp_path)
    options = ["--master", cluster.url, "--conf", "spark.driver.host=127.0.0.1", "--executor-memory", "512m"]
    command = [HOME / "bin/spark-submit", *options, top_tokens.EXAMPLES / "top_tokens_spark.py", file]
    environment = os.environ | {"SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert top_tokens.printed(run.stdout) == expected


def test_output_files(spark, tmp_path):
    for file, expected in output_files.written(tmp_path):
        assert collected(spark.read.parquet(str(file))) == expected, file


def test_sail(logs, expected, transactions, tmp_path):
    pytest.importorskip("pysail.spark", reason="pip install 'lydite[engines]'")
    with sail_session() as spark:
        table = spark.createDataFrame(logs.to_pandas())
        assert rows(lydite.spark.decode_logs(table, TRANSFER)) == expected
        senders = lydite.spark.senders(spark.createDataFrame(transactions.to_pandas())).collect()
        known = pyarrow.table(lydite.recover_senders(transactions))["sender"].to_pylist()
        assert Counter(row.sender and bytes(row.sender) for row in senders) == Counter(known)
        pyarrow.parquet.write_table(logs, tmp_path / "logs.parquet")
        lydite.spark.decode_logs_file(spark, tmp_path / "logs.parquet", tmp_path / "transfers", TRANSFER)
        assert ordered(pyarrow.parquet.read_table(tmp_path / "transfers").to_pylist()) == expected
