"""A standalone cluster of two workers: the same tables as here, whoever is killed; and what a cluster can lack."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub_pipeline import workers
from kafkastub_pipeline.errors import PipelineError
from tests.pipeline.process import SECONDS, runs_until
from tests.pipeline.raw import commit, generation, saved, tombstone
from tests.pipeline.spark_cluster import SETTINGS, SparkCluster, home, spark_cluster
from tests.pipeline.test_again import RETENTIONS, _run, _tables
from tests.ports import reserved_port
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDS = 12_000
"""More than stay in the driver."""
START = 1_800_000_000_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Groups that come and go, in several files: several tasks."""
    folder = tmp_path_factory.mktemp("raw")
    for file in range(4):
        records = []
        for number in range(file * RECORDS // 4, (file + 1) * RECORDS // 4):
            group, at_ms = f"group-{number % 97}", START + number * 20_000
            if number % 31 == 0:
                records.append(generation(group, at_ms, []))
            elif number % 53 == 0:
                records.append(tombstone(group, "orders", number % 5, at_ms))
            else:
                records.append(commit(group, "orders", number % 5, at_ms, offset=number))
        saved(folder / str(file), records, first_offset=file * RECORDS // 4)
        (folder / str(file) / "records.parquet").rename(folder / f"{file}.parquet")
        (folder / str(file)).rmdir()
    return str(folder)


@pytest.fixture(scope="module")
def here(raw: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """The tables, made without a cluster."""
    tables = _run(spark, tmp_path_factory.mktemp("here"), raw=raw)
    assert len(tables["offset_events"]) > 100
    assert len(tables["deletion_audit"]) > 10
    return tables


def _words(cluster: SparkCluster, raw: str, out: Path, **conf: str) -> list[str]:
    retentions = ",".join(map(str, RETENTIONS))
    words = ["run", "--raw", raw, "--retention-minutes", retentions, "--out", str(out), "--master", cluster.master]
    for name, value in {**SETTINGS, "spark.pyspark.python": sys.executable, **conf}.items():
        words += ["--conf", f"{name}={value}"]
    return words


def _start(said: Path, words: list[str]) -> subprocess.Popen[bytes]:
    with said.open("wb") as file:
        command = [sys.executable, "-m", "kafkastub_pipeline", *words]
        return subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)


def _sentence(words: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "kafkastub_pipeline", *words], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("kafkastub-pipeline: ")


def test_a_killed_driver_and_a_killed_worker_change_nothing(
    cluster: SparkCluster, raw: str, here: dict[str, Counter[str]], tmp_path: Path
) -> None:
    """The driver in the middle of the first table; then, in the run that goes on from there, a worker."""
    out, said = tmp_path / "out", tmp_path / "said"
    staged = out / "_decoded_records.incomplete"
    process = _start(said, _words(cluster, raw, out))
    runs_until(process, said, lambda: any(staged.glob("current-*")), "the decoded records")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "deletion_audit").exists()
    left = set(staged.iterdir())

    begun = [len(cluster.executors(number)) for number in range(2)]
    process = _start(said, _words(cluster, raw, out))
    try:
        runs_until(process, said, lambda: bool(set(staged.glob("*")) - left), "the first job")
        runs_until(process, said, lambda: len(cluster.executors(1)) > begun[1], "an executor of the second worker")
        cluster.kill_worker(1)
        assert process.wait(SECONDS) == 0, said.read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        cluster.add_worker(2)
    assert _tables(out) == here
    assert not staged.exists()


def test_by_days_with_the_records_kept(
    cluster: SparkCluster, raw: str, here: dict[str, Counter[str]], tmp_path: Path
) -> None:
    """Executors write into a day; what is kept is of the newest run, and not by days. Of our code nothing is left."""
    out, of_day, temporary = (tmp_path / name for name in ("out", "of the day", "temporary"))
    of_day.mkdir()
    temporary.mkdir()
    words = [*_words(cluster, raw, out), "--append-day", "2026-02-02", "--keep-records"]
    environment = {**os.environ, "TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
    command = [sys.executable, "-m", "kafkastub_pipeline", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment)
    assert done.returncode == 0, done.stderr
    (out / "decoded_records" / "_SUCCESS").rename(tmp_path / "kept")
    for table in here:
        (out / table / "day=2026-02-02").rename(of_day / table)
        assert list((out / table).iterdir()) == []
    assert _tables(of_day) == here
    until(lambda: not list(temporary.iterdir()), "what Spark removes when it ends")


def test_submitted_by_sparks_own_command(
    cluster: SparkCluster, raw: str, here: dict[str, Counter[str]], tmp_path: Path
) -> None:
    """The client's mode. The cluster's own is Spark's to refuse: it has no Python in a cluster of this kind."""
    words = _words(cluster, raw, tmp_path / "out")
    main = Path(workers.__file__).with_name("__main__.py")
    conf = [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    submit = [f"{home()}/bin/spark-submit", "--master", cluster.master, *conf]
    environment = {**os.environ, "SPARK_HOME": str(home()), "PYSPARK_PYTHON": sys.executable}
    asked = words[: words.index("--master")]
    refused = subprocess.run(
        [*submit, "--deploy-mode", "cluster", str(main), *asked], env=environment, capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "Cluster deploy mode is currently not supported for python applications on standalone" in refused.stderr
    done = subprocess.run([*submit, str(main), *asked], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert _tables(tmp_path / "out") == here


def test_a_cluster_that_is_not_there() -> None:
    with reserved_port() as port, pytest.raises(PipelineError, match=r"no Spark master answers at .*: Connection refu"):
        workers.check_master(f"spark://127.0.0.1:{port}")
    with pytest.raises(PipelineError, match=r"--master spark://host is not spark://HOST:PORT"):
        workers.check_master("spark://host")
    with reserved_port() as port, socket.create_server(("127.0.0.1", 0)) as standby:
        workers.check_master(f"spark://127.0.0.1:{port},127.0.0.1:{standby.getsockname()[1]}")
    workers.check_master("local[2]")
    workers.check_master("yarn")
    workers.check_master(None)


def test_workers_that_cannot(cluster: SparkCluster, raw: str, tmp_path: Path) -> None:
    """No Python of that name; a Python of another version; one without libraries; no room for an executor."""
    other = tmp_path / "python"
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.version_info = (3, 9, *sys.version_info[2:])\n"
        "sys.version_info = type('V', (tuple,), {'major': 3, 'minor': 9})(sys.version_info)\n"
    )
    other.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    other.chmod(0o755)
    out = tmp_path / "out"
    for python, words in (
        ("/nowhere/python", r"cannot run /nowhere/python: .*No such file"),
        (str(other), r"cannot run .*PYTHON_VERSION_MISMATCH.*3\.9"),
    ):
        said = _sentence(_words(cluster, raw, out, **{"spark.pyspark.python": python}))
        assert re.search(words, said), said
        assert "spark.pyspark.python=PATH" in said
    words = [*_words(cluster, raw, out, **{"spark.executor.memory": "900g"}), "--wait-for-workers", "3"]
    assert "has given no worker in 3 s: they are gone, taken by others, or smaller" in _sentence(words)
    assert not out.exists()


def test_a_python_without_libraries_and_a_directory_that_only_the_driver_sees(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    """As workers elsewhere tell of them."""
    monkeypatch.setattr(workers, "MODULES", ("numpy", "not_there"))
    with pytest.raises(PipelineError, match="cannot decode records: not_there is missing in its Python; install"):
        workers.check_workers(spark)
    monkeypatch.setattr(workers, "MODULES", ("numpy",))
    workers.check_workers(spark, [("--out", tmp_path / "a" / "b"), ("--raw", Path("/proc"))])
    assert list(tmp_path.iterdir()) == []
    real = workers._asked

    def elsewhere(spark: SparkSession, marks: list[str], patience: float) -> list[workers.Look]:
        return [look._replace(unseen=tuple(marks)) for look in real(spark, marks, patience)]

    monkeypatch.setattr(workers, "_asked", elsewhere)
    with pytest.raises(PipelineError, match=r"--out .*/a is on this machine's own disk, and the worker on .* does not"):
        workers.check_workers(spark, [("--out", tmp_path / "a")])
    assert list(tmp_path.iterdir()) == []
