"""Processes of this machine, clusters of them on the loopback interface, and the event that they decode."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"


class Processes:
    """Processes that `kill_all` ends, each with its children."""

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

    def kill_all(self):
        for process in self.started:
            self.kill(process)


class SparkCluster:
    """A standalone master and two workers on the loopback interface, with one core each."""

    def __init__(self, processes):
        self.processes, self.port, self.page = processes, free_port(), free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.start("Master", "--port", str(self.port), "--webui-port", str(self.page))
        wait_for(self.state, "the master")
        self.workers = [
            self.start("Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", self.url) for _ in range(2)
        ]
        wait_for(lambda: self.alive() == 2, "two workers")

    def start(self, role, *arguments):
        return self.processes.start(
            str(spark_home() / "bin/spark-class"),
            f"org.apache.spark.deploy.{role.lower()}.{role}",
            "--host",
            "127.0.0.1",
            *arguments,
            SPARK_HOME=str(spark_home()),
            SPARK_WORKER_DIR=str(self.processes.folder),
            SPARK_DAEMON_MEMORY="256m",
        )

    def state(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=5) as page:
            return json.load(page)

    def alive(self):
        return sum(worker["state"] == "ALIVE" for worker in self.state()["workers"])

    @contextmanager
    def session(self):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        session = (
            SparkSession.builder.master(self.url)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "512m")
            .config("spark.executor.memory", "512m")
            .config("spark.ui.enabled", "false")
            .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
            .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s")
            .getOrCreate()
        )
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def sail_session():
    """A session of a Sail server in this process."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    address, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://{address}:{port}").getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        server.stop()


@contextmanager
def ray_cluster(object_store_memory=100 << 20):
    """A Ray cluster of two nodes with one core each. Its second node is `second`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": object_store_memory}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        cluster.second = cluster.add_node(**node)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


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
