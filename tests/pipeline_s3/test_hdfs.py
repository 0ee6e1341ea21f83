"""A real HDFS: a namenode and a datanode in one process, from Maven Central."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.process import SECONDS, runs_until, started
from tests.pipeline.test_bad_input import sentence
from tests.pipeline_s3.lake import DAY_ONE, command, log, main, read
from tests.pipeline_s3.objects import class_path
from tests.ports import reserved_port
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POM = Path(__file__).with_name("hdfs") / "pom.xml"
MAIN = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of its namenode. It writes its configuration when it has started."""
    folder = tmp_path_factory.mktemp("hdfs")
    java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", class_path(POM)]
    with reserved_port() as port, (folder / "said").open("wb") as said:
        words = [*java, MAIN, "-nomr", "-format", "-nnport", str(port), "-writeConfig", str(folder / "written.xml")]
        process = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said, stdin=subprocess.PIPE)
        try:
            until(lambda: (folder / "written.xml").exists() or process.poll() is not None, "HDFS", SECONDS)
            assert process.poll() is None, (folder / "said").read_text()
            yield f"hdfs://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def test_tables_and_days_are_those_of_a_disk(spark: SparkSession, tmp_path: Path, hdfs: str) -> None:
    raw, there = log(tmp_path / "raw", 6), f"{hdfs}/raw"
    spark.read.parquet(raw).write.parquet(there)
    assert main(*command(raw, str(tmp_path / "out"))) == 0
    expected = read(spark, str(tmp_path / "out"))
    for _ in range(2):
        assert main(*command(there, f"{hdfs}/out")) == 0
        assert read(spark, f"{hdfs}/out") == expected
    for _ in range(2):
        assert main(*command(there, f"{hdfs}/days", "--append-day", str(DAY_ONE.date()))) == 0
        assert read(spark, f"{hdfs}/days", DAY_ONE.date()) == expected
    assert main("report", "--out", f"{hdfs}/days") == 0


def test_the_driver_is_killed_in_the_middle_of_a_write(spark: SparkSession, tmp_path: Path, hdfs: str) -> None:
    from kafkastub_pipeline.files import Files

    raw, out, half = (
        log(tmp_path / "raw", 5, small=False),
        f"{hdfs}/killed",
        f"{hdfs}/killed/_offset_current.incomplete",
    )
    files, said = Files(spark), tmp_path / "said"
    with started(said, *command(raw, out), "--packages", "") as process:
        runs_until(process, said, lambda: files.exists(half), "a table is written")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert main(*command(raw, str(tmp_path / "out"))) == 0
    expected, there = read(spark, str(tmp_path / "out")), read(spark, out)
    assert {"offset_events", "group_events"} <= there.keys()
    assert there == {name: expected[name] for name in there}
    assert main(*command(raw, out)) == 0
    assert read(spark, out) == expected
    assert [name for name in files.entries(out) if name.startswith("_")] == []


@pytest.mark.usefixtures("spark")
def test_a_namenode_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with reserved_port() as port:
        assert main(*command(log(tmp_path / "raw", 1), f"hdfs://127.0.0.1:{port}/out")) == 2
    said = sentence(capsys)
    assert said.startswith(f"--out hdfs://127.0.0.1:{port}/out cannot be written: "), said
    assert "refused" in said, said
