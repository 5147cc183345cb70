"""Rows of a Ray cluster of two nodes compared with those of this process."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import lydite
import pyarrow
import pyarrow.parquet
import pytest
import top_tokens
from clusters import TRANSFER, ray_cluster, wait_for
from conftest import ordered

ray = pytest.importorskip("ray", reason="pip install 'lydite[engines]'")

import lydite.ray  # noqa: E402


@pytest.fixture
def cluster():
    with ray_cluster() as cluster:
        yield cluster


def rows(dataset) -> list[dict]:
    return ordered(dataset.take_all())


def test_cluster(cluster, logs, expected, transactions):
    dataset = ray.data.from_arrow(logs).repartition(8)
    assert rows(lydite.ray.decode_logs(dataset, TRANSFER)) == expected
    with pytest.raises(Exception, match="padding is not zero"):
        lydite.ray.decode_logs(dataset, TRANSFER, on_error="fail").take_all()
    found = lydite.ray.senders(ray.data.from_arrow(transactions)).take_all()
    assert found == pyarrow.table(lydite.recover_senders(transactions)).to_pylist()


def test_node_killed(cluster, logs, expected):
    # Inside the test, so that it is sent to the nodes, which cannot always import this file.
    def slow(block: pyarrow.Table) -> pyarrow.Table:
        """Half a second a block. Adds the node that it ran on."""
        time.sleep(0.5)
        node = ray.get_runtime_context().get_node_id()
        return block.append_column("node", pyarrow.array([node] * block.num_rows))

    blocks = ray.data.from_arrow([logs.slice(start, 2_000) for start in range(0, logs.num_rows, 2_000)])
    working = blocks.map_batches(slow, batch_format="pyarrow", batch_size=None)
    keep = ["block_number", "log_index", "address", "node"]
    stream = iter(lydite.ray.decode_logs(working, TRANSFER, keep=keep).iter_rows())
    found, nodes = [], set()
    # Until both nodes have worked. Rows of the killed node that are lost are computed again on the other one.
    while len(nodes) < 2:
        found.append(next(stream))
        nodes.add(found[-1]["node"])
    assert len(found) < len(expected)
    cluster.remove_node(cluster.second, allow_graceful=False)
    found += stream
    for row in found:
        del row["node"]
    assert ordered(found) == expected


def test_files(cluster, logs, expected, tmp_path, monkeypatch):
    """A task for each file, with a node killed half-way."""
    monkeypatch.chdir(tmp_path)
    inputs, output = Path("logs"), Path("transfers")
    inputs.mkdir()
    for part in range(40):
        pyarrow.parquet.write_table(logs.slice(part * 1_000, 1_000), inputs / f"{part:02}.parquet")

    def kill_one_at_work():
        wait_for(lambda: len(list(output.glob("*.parquet"))) >= 4, "the first files", 120)
        cluster.remove_node(cluster.second, allow_graceful=False)

    killer = threading.Thread(target=kill_one_at_work)
    killer.start()
    report = lydite.ray.decode_logs_file(inputs, output, TRANSFER)
    killer.join()
    assert ordered(pyarrow.parquet.read_table(output).to_pylist()) == expected
    assert {file.name for file, _ in report["written"]} == {file.name for file in inputs.iterdir()}
    with pytest.raises(FileExistsError):
        lydite.ray.decode_logs_file(inputs, output, TRANSFER)
    with pytest.raises(ValueError, match="same output"):
        lydite.ray.decode_logs_file([inputs / "00.parquet"] * 2, tmp_path / "twice", TRANSFER)
    with pytest.raises(TypeError, match="one signature"):
        lydite.ray.decode_logs_file(inputs, tmp_path / "events", [TRANSFER, "Other()"])


@pytest.mark.parametrize("logs", [top_tokens.made, top_tokens.real])
def test_example(cluster, logs, tmp_path):
    file, expected = logs(tmp_path)
    command = [sys.executable, top_tokens.EXAMPLES / "top_tokens_ray.py", file]
    environment = os.environ | {"RAY_ADDRESS": cluster.address}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert top_tokens.printed(run.stdout) == expected
