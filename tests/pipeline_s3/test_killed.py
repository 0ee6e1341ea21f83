"""Nothing half: the driver killed in the middle of a write, and the store gone in the middle of a run."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.process import SECONDS, runs_until, started
from tests.pipeline_s3.lake import DAY_ONE, DAY_TWO, WHERE, command, in_store, log, main, on_disk, read
from tests.pipeline_s3.objects import Objects

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "lag"
"""The one in the middle. Of a log that is not small `BEFORE_IT` are written before, `stale_offsets` and others behind
it."""
BEFORE_IT = ("offset_events", "group_events", "decode_errors", "group_timeline", "offset_current", "expiry_forecast")


@contextmanager
def running(objects: Objects, said: Path, words: list[str], request: str) -> Iterator[Popen[bytes]]:
    """A process of its own that has come to a request, which is kept back."""
    conf = [word for name, value in objects.conf.items() for word in ("--conf", f"{name}={value}")]
    objects.front.keep_back(request)
    with started(said, *words, "--packages", "", *conf) as process:
        runs_until(process, said, objects.front.reached.is_set, request)
        yield process


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return [log(tmp_path_factory.mktemp("logs") / "raw", groups, small=False) for groups in (5, 8)]


@pytest.fixture
def expected(spark: SparkSession, tmp_path: Path, logs: list[str]) -> list[dict[str, Counter[str]]]:
    """The tables of each log, from a disk."""
    found = []
    for n, raw in enumerate(logs):
        assert main(*command(raw, str(tmp_path / f"out-{n}"))) == 0
        found.append(read(spark, str(tmp_path / f"out-{n}")))
    return found


def test_the_driver_is_killed_in_the_middle_of_a_write(
    spark: SparkSession, objects: Objects, tmp_path: Path, logs: list[str], expected: list[dict[str, Counter[str]]]
) -> None:
    """While a task writes, while the job puts files into their place, and while those of before are deleted."""
    out, n = "killed/out", 0
    before: dict[str, Counter[str]] = {}
    for way, file in (("PUT", "_temporary/0/"), ("PUT", "part-"), ("DELETE", "part-")):
        request = f"{way} /lake/{out}/{TABLE}/{file}"
        with running(objects, tmp_path / "said", command(logs[n], f"{WHERE}/{out}"), request) as process:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        objects.front.cut()
        objects.front.again()
        there = read(spark, f"{WHERE}/{out}")
        assert {name: there[name] for name in BEFORE_IT} == {name: expected[n][name] for name in BEFORE_IT}
        assert there.get(TABLE) == (expected[n] if way == "DELETE" else before).get(TABLE)
        assert there.get("stale_offsets") == before.get("stale_offsets")

        assert main(*command(logs[n], f"{WHERE}/{out}")) == 0
        assert read(spark, f"{WHERE}/{out}") == expected[n]
        assert in_store(objects, out) == on_disk(tmp_path / f"out-{n}")
        left = [name for name in objects.names(out) if "_temporary" in name or "_manifest" in name]
        assert left == []
        before, n = expected[n], 1 - n


def test_the_driver_is_killed_while_it_writes_several_tables(
    spark: SparkSession, objects: Objects, tmp_path: Path
) -> None:
    """Of a small log: those that are there are whole."""
    raw, out = log(tmp_path / "raw", 5), "small/out"
    assert main(*command(raw, str(tmp_path / "out"))) == 0
    expected = read(spark, str(tmp_path / "out"))
    with running(objects, tmp_path / "said", command(raw, f"{WHERE}/{out}"), f"PUT /lake/{out}/{TABLE}/") as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    objects.front.cut()
    objects.front.again()
    there = read(spark, f"{WHERE}/{out}")
    assert TABLE not in there
    assert there == {name: expected[name] for name in there}
    assert main(*command(raw, f"{WHERE}/{out}")) == 0
    assert read(spark, f"{WHERE}/{out}") == expected


def test_the_driver_is_killed_while_iceberg_commits_a_day(
    spark: SparkSession, objects: Objects, tmp_path: Path, logs: list[str]
) -> None:
    from kafkastub_pipeline.write import Store

    out = f"{WHERE}/iceberg/out"
    one, two = (
        ["--format", "iceberg", "--append-day", "--now", day.replace(hour=23).isoformat()] for day in (DAY_ONE, DAY_TWO)
    )
    assert main(*command(logs[0], out, *one)) == 0
    assert main(*command(logs[0], out, *two)) == 0
    current = [Store(spark, out, "iceberg", day.date()) for day in (DAY_ONE, DAY_TWO)]
    before = [Counter(map(str, store.read(TABLE).collect())) for store in current]
    request = f"PUT /lake/iceberg/out/{TABLE}/metadata/v3"
    with running(objects, tmp_path / "said", command(logs[1], out, *one), request) as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    objects.front.cut()
    objects.front.again()
    assert [Counter(map(str, store.read(TABLE).collect())) for store in current] == before
    assert main(*command(logs[1], out, *one)) == 0
    assert [store.read(TABLE).count() for store in current] == [8 * 3 + 1, sum(before[1].values())]


def test_the_store_is_gone_in_the_middle(
    spark: SparkSession, objects: Objects, tmp_path: Path, logs: list[str], expected: list[dict[str, Counter[str]]]
) -> None:
    """When it is back, what it has is whole, and a run mends the rest."""
    out = "gone/out"
    assert main(*command(logs[0], f"{WHERE}/{out}")) == 0
    _run_without_a_store(objects, tmp_path / "said", logs[1], out)
    there = read(spark, f"{WHERE}/{out}")
    assert there == {name: expected[1 if name in BEFORE_IT else 0][name] for name in expected[0]}
    assert main(*command(logs[1], f"{WHERE}/{out}")) == 0
    assert read(spark, f"{WHERE}/{out}") == expected[1]


def test_the_store_is_gone_while_several_tables_are_written(
    spark: SparkSession, objects: Objects, tmp_path: Path
) -> None:
    """Of a small log: several writes fail, and one sentence tells it."""
    raw, out = log(tmp_path / "raw", 5), "gone/small"
    assert main(*command(raw, str(tmp_path / "out"))) == 0
    expected = read(spark, str(tmp_path / "out"))
    _run_without_a_store(objects, tmp_path / "said", raw, out)
    there = read(spark, f"{WHERE}/{out}")
    assert TABLE not in there
    assert there == {name: expected[name] for name in there}
    assert main(*command(raw, f"{WHERE}/{out}")) == 0
    assert read(spark, f"{WHERE}/{out}") == expected


def _run_without_a_store(objects: Objects, said: Path, raw: str, out: str) -> None:
    """It is gone while a task writes: one sentence and a status. Then it is back."""
    request = f"PUT /lake/{out}/{TABLE}/_temporary/0/"
    with running(objects, said, command(raw, f"{WHERE}/{out}"), request) as process:
        objects.front.cut()
        assert process.wait(SECONDS) == 1, said.read_text()
    text = said.read_text()
    assert text.startswith("kafkastub-pipeline: the run failed: "), text
    assert text.count("\n") == 1, text
    assert "refused" in text, text
    objects.front.again()


def test_a_store_that_is_not_there(
    spark: SparkSession, objects: Objects, capsys: pytest.CaptureFixture[str], logs: list[str]
) -> None:
    """Told before anything is read."""
    from tests.pipeline.test_bad_input import sentence

    objects.front.cut()
    try:
        assert main(*command(logs[0], f"{WHERE}/out")) == 2
        said = sentence(capsys)
        assert said.startswith(f"--out {WHERE}/out cannot be written: "), said
        assert "refused" in said, said
    finally:
        objects.front.again()
