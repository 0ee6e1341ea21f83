"""A standalone cluster of Spark on this machine: a master and workers, each a process, one core and 1 GB a worker.

`make spark-cluster` runs one until Ctrl-C. Nothing is installed for it: pyspark brings the classes.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.waiting import until

SECONDS: Final = 300.0
_DAEMON: Final = {
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "SPARK_NO_DAEMONIZE": "1",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Of a session whose work is short."""


@dataclass
class SparkCluster:
    """A running one.

    Attributes:
        master: its address, as `--master` takes it.
        page: the master's own page.
        workers: their processes; the leader of a group to which its executors belong.
    """

    root: Path
    environment: dict[str, str]
    master: str = ""
    page: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, workers: int) -> None:
        """Returns when all workers are there."""
        log = self._begin("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = self._told(log, r"Starting Spark master at (spark://\S+)")
        self.page = self._told(log, r"(?:MasterWebUI|master web UI).*?(http://[\w.:-]+)")
        for number in range(workers):
            self.add_worker(number)
        until(lambda: len(re.findall("Registering worker", log.read_text())) >= workers, "the workers", SECONDS)

    def add_worker(self, number: int) -> None:
        """One more."""
        room = self.root / f"worker-{number}"
        size = "--cores", "1", "--memory", "1g"
        where = "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--work-dir", str(room)
        self._begin(f"worker-{number}", "worker.Worker", *size, *where, self.master)
        self.workers.append(self.processes[-1])

    def kill_worker(self, number: int) -> None:
        """With the executors that it has started, as when a machine goes."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def executors(self, number: int) -> list[Path]:
        """What executors of a worker have written to standard error, a file each."""
        return sorted((self.root / f"worker-{number}").glob("app-*/*/stderr"))

    def stop(self) -> None:
        """Everything that was started here."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _begin(self, name: str, what: str, *words: str) -> Path:
        log = self.root / f"{name}.log"
        command = [f"{self.environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{what}", *words]
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, stdout=file, stderr=file, env=self.environment, start_new_session=True, cwd=self.root
            )
        self.processes.append(process)
        return log

    def _told(self, log: Path, pattern: str) -> str:
        def found() -> re.Match[str] | None:
            assert self.processes[-1].poll() is None, f"it ended: {log.read_text()}"
            return re.search(pattern, log.read_text())

        match = until(found, lambda: f"{pattern} in {log.read_text()}", SECONDS)
        assert match is not None
        return match[1]


def home() -> Path:
    """Where pyspark is."""
    import pyspark

    return Path(pyspark.__file__).parent


@contextmanager
def spark_cluster(root: Path, workers: int = 2, **environment: str) -> Iterator[SparkCluster]:
    """A cluster below a directory.

    Args:
        environment: more of the daemons', and so of the executors'.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK", "PYTHON"))}
    cluster = SparkCluster(root, {**kept, **_DAEMON, "SPARK_HOME": str(home()), **environment})
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()


def main() -> int:
    """Until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A standalone cluster of Spark on this machine.")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="spark-cluster-") as root,
        spark_cluster(Path(root), options.workers) as one,
    ):
        print(f"{one.master}  {len(one.workers)} workers of 1 core and 1 GB, page {one.page}", flush=True)
        print(f"kafkastub-pipeline run --master {one.master} --conf spark.executor.memory=512m …", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
