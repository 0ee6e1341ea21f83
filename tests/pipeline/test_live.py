"""Tables that follow the log, and alerts: the same as a run makes, through restarts and kills, each alert once."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.settings import Settings
from tests.expiry.wire import Wire
from tests.pipeline.process import runs_until, started
from tests.pipeline.script import RETENTION, played, steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = ("offset_current", "expiry_forecast", "lag", "stale_offsets")


@pytest.fixture(autouse=True)
def in_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """These logs are small, and are so to the stream, too: a look at one takes a second, in workers ten."""
    from kafkastub_pipeline import here

    monkeypatch.setattr(here, "RECORDS", 10_000)


def follow(spark: SparkSession, servers: str, root: Path, alerts: str | None = None) -> None:
    """Everything that is there now, as if the stream had run until here."""
    from kafkastub_pipeline.stream import stream

    stream(
        spark,
        servers,
        out=str(root / "records"),
        checkpoint=str(root / "checkpoint"),
        available_now=True,
        tables=Settings(str(root / "tables"), servers, retention_minutes=(RETENTION,)),
        alerts=str(root / "alerts") if alerts is None else alerts,
    )


def alerts(spark: SparkSession, root: Path) -> list[tuple[str, str, str | None, int | None]]:
    if not (root / "alerts").exists():
        return []
    rows = spark.read.parquet(str(root / "alerts")).orderBy("batch", "alert", "topic", "partition").collect()
    return [(row.state, row.alert, row.group_id, row.partition) for row in rows]


def same_as_a_run(spark: SparkSession, servers: str, root: Path) -> int:
    """Compare the tables with those of a run over the whole log; return their rows."""
    from kafkastub_pipeline.run import run

    run(spark, Settings(str(root / "run"), servers, retention_minutes=(RETENTION,), tables=TABLES))
    count = 0
    for name in TABLES:
        found, wanted = (spark.read.parquet(str(root / place / name)) for place in ("tables", "run"))
        assert found.columns == wanted.columns
        # compaction leaves gaps, behind which a log may have begun; where lag is probed, time has passed
        columns = [one for one in wanted.columns if one != "complete_since"]
        rows = [Counter(map(str, frame.select(columns).collect())) for frame in (found, wanted)]
        assert rows[0] == rows[1], name
        count += rows[0].total()
    return count


def test_from_batch_to_batch_they_are_those_of_a_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkastub_pipeline import here

    monkeypatch.setattr(here, "RECORDS", 100)  # in the driver first, then in workers
    history = steps(11, 12, 140)
    with played(history[:60]) as on:
        servers = on.stub.bootstrap_servers
        for start in (60, 100):
            follow(spark, servers, tmp_path)
            assert same_as_a_run(spark, servers, tmp_path) > 20
            on.play(history[start : start + 40])
        follow(spark, servers, tmp_path)
        same_as_a_run(spark, servers, tmp_path)


def test_an_offset_that_expires_is_raised_once_and_cleared_once(spark: SparkSession, tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 2}) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        for _ in range(3):
            stub.produce("orders", value="tea", partition=0)
        wire.commit("g", {("orders", 0): 1, ("orders", 1): 0})
        raised = ("raised", "offset_expires", "g", 0)
        for _ in range(2):
            follow(spark, stub.bootstrap_servers, tmp_path)
            assert alerts(spark, tmp_path) == [raised]
        wire.commit("g", {("orders", 0): 3})
        for _ in range(2):
            follow(spark, stub.bootstrap_servers, tmp_path)
            assert alerts(spark, tmp_path) == [raised, ("cleared", "offset_expires", "g", 0)]


def test_alerts_go_to_a_topic(spark: SparkSession, tmp_path: Path) -> None:
    import json

    with KafkaStub(topics={"orders": 1, "alerts": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        stub.produce("orders", value="tea")
        wire.commit("g", {("orders", 0): 0})
        follow(spark, stub.bootstrap_servers, tmp_path, "topic:alerts")
        (record,) = stub.records("alerts")
        told = json.loads(record.value or b"")
        assert json.loads(record.key or b"") == ["offset_expires", "g", "orders", 0, None]
        assert (told["state"], told["at_ms"]) == ("raised", told["since_ms"])
        assert told["at_ms"] >= stub.clock.now_ms()
        with pytest.raises(PipelineError, match="alerts cannot be written to topic a b on"):
            follow(spark, stub.bootstrap_servers, tmp_path / "other", "topic:a b")


def test_killed_in_the_middle_it_loses_nothing_and_repeats_nothing(spark: SparkSession, tmp_path: Path) -> None:
    history = steps(14, 12, 140)
    with played(history[:60]) as on:
        servers = on.stub.bootstrap_servers
        words = {
            "--bootstrap-servers": servers,
            "--out": str(tmp_path / "records"),
            "--checkpoint": str(tmp_path / "checkpoint"),
            "--tables": str(tmp_path / "tables"),
            "--alerts": str(tmp_path / "alerts"),
            "--retention-minutes": str(RETENTION),
        }
        said = tmp_path / "said"
        with started(said, "stream", *(word for pair in words.items() for word in pair)) as process:
            runs_until(process, said, lambda: any((tmp_path / "tables").glob("lag/*.parquet")), "the first tables")
            on.play(history[60:100])
            second = tmp_path / "checkpoint" / "live" / "newest" / "1.json"
            runs_until(process, said, second.exists, "the second batch")
            os.killpg(process.pid, signal.SIGKILL)
        on.play(history[100:])
        follow(spark, servers, tmp_path)
        same_as_a_run(spark, servers, tmp_path)
        states: dict[Any, list[str]] = {}
        for state, *subject in alerts(spark, tmp_path):
            states.setdefault(tuple(subject), []).append(state)
        for seen in states.values():
            assert seen == (["raised", "cleared"] * len(seen))[: len(seen)]


def test_a_broker_that_is_gone_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    history = steps(15, 12, 100)
    with played(history[:60]) as on:
        words = {
            "--bootstrap-servers": on.stub.bootstrap_servers,
            "--out": str(tmp_path / "records"),
            "--checkpoint": str(tmp_path / "checkpoint"),
            "--tables": str(tmp_path / "tables"),
            "--retention-minutes": str(RETENTION),
        }
        said, lag = tmp_path / "said", tmp_path / "tables" / "lag"
        with started(said, "stream", *(word for pair in words.items() for word in pair)) as process:
            runs_until(process, said, lambda: any(lag.glob("*.parquet")), "the first tables")
            before = set(lag.glob("*.parquet"))
            # the looks get no answer; Spark's own reader, which ends the stream without one, does
            with on.stub.faults.add(api="ApiVersions", client_id="kafkastub-pipeline", drop="before"):
                on.play(history[60:])
                runs_until(
                    process, said, lambda: "the tables stay as they are for now: no broker" in said.read_text(), "it"
                )
                assert set(lag.glob("*.parquet")) == before
            runs_until(process, said, lambda: not before & set(lag.glob("*.parquet")), "new tables")


def test_a_look_that_was_killed_behind_its_rows_is_completed(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.live.alerts import expiring
    from kafkastub_pipeline.live.log import AlertLog, target_of

    def log() -> AlertLog:
        return AlertLog(spark, str(tmp_path / "open"), target_of(spark, str(tmp_path / "alerts"), "", ()))

    first, second = (expiring(name, "orders", 0, 1, 1, "h:1") for name in "ab")
    log().note([first], 1_000)
    kept = {path: path.read_bytes() for path in (tmp_path / "open").iterdir()}
    log().note([first, second], 2_000)
    for path in (tmp_path / "open").iterdir():
        path.unlink()
    for path, before in kept.items():
        path.write_bytes(before)
    assert log().note([first, second], 3_000) == []
    log().note([], 4_000)
    found = Counter((state, group) for state, _, group, _ in alerts(spark, tmp_path))
    assert found == {(state, group): 1 for state in ("raised", "cleared") for group in "ab"}


def test_alerts_of_another_stream_are_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    """A new checkpoint would take them for its own, and write over them."""
    from kafkastub_pipeline.live.alerts import expiring
    from kafkastub_pipeline.live.log import AlertLog, target_of

    def log(checkpoint: str, directory: str) -> AlertLog:
        return AlertLog(spark, str(tmp_path / checkpoint), target_of(spark, str(tmp_path / directory), "", ()))

    log("one", "alerts").note([expiring("g", "orders", 0, 1, 1, "h:1")], 1_000)
    with pytest.raises(PipelineError, match=r"/alerts has alerts of a stream with another checkpoint: go on with that"):
        log("two", "alerts")
    with pytest.raises(
        PipelineError, match=r"the alerts of this checkpoint are in file:.*/alerts: go on with --alerts"
    ):
        log("one", "other")
    assert alerts(spark, tmp_path) == [("raised", "offset_expires", "g", 0)]


def test_an_alert_that_is_open_is_looked_for_first(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more than are kept, others that are more urgent take no place of it; it is cleared when over."""
    from kafkastub_pipeline.live import tables

    monkeypatch.setattr(tables, "MOST", 1)
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        stub.produce("orders", value="tea")
        wire.commit("late", {("orders", 0): 0})
        follow(spark, stub.bootstrap_servers, tmp_path)
        stub.clock.advance(minutes=1)
        wire.commit("early", {("orders", 0): 0}, own=1, version=4)
        follow(spark, stub.bootstrap_servers, tmp_path)
        raised = ("raised", "offset_expires", "late", 0)
        assert alerts(spark, tmp_path) == [raised]
        wire.commit("late", {("orders", 0): 1})
        follow(spark, stub.bootstrap_servers, tmp_path)
        assert sorted(alerts(spark, tmp_path)[1:]) == [
            ("cleared", "offset_expires", "late", 0),
            ("raised", "offset_expires", "early", 0),
        ]


def test_what_groups_write_is_bounded(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients choose how many groups there are and what they are called; a manifest that grows could not be read."""
    from kafkastub_pipeline.live import newest

    monkeypatch.setattr(newest, "_MOST_COUNTS", 5)
    groups = {batch: [(f"g{batch}-{number}", 1, batch) for number in range(2)] for batch in range(9)}
    assert sorted(newest._recent(groups)) == [7, 8]
    monkeypatch.setattr(newest, "FLAPS_WITHIN_MS", 0)
    assert sorted(newest._recent(groups)) == [8]


def test_of_each_key_the_newest_record_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    """Random records in random batches, some of them twice: what is left is what a dictionary has."""
    from kafkastub_pipeline.live.newest import Newest
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.sources import RAW_DDL

    rnd, wanted, offsets = random.Random(5), dict[tuple[int, bytes], tuple[bytes | None, int]](), Counter[int]()
    newest = Newest(spark, str(tmp_path / "newest"))
    for batch in range(6):
        rows = []
        for _ in range(rnd.choice([0, 1, 30])):
            partition, key = rnd.randrange(3), b"\0\1%d" % rnd.randrange(9)
            value = None if rnd.random() < 0.3 else b"%d" % rnd.randrange(99)
            rows.append((key, value, partition, offsets[partition], None))
            wanted[partition, key] = (value, offsets[partition])
            offsets[partition] += 1
        raw = local_table(spark, rows, RAW_DDL)
        newest.absorb(raw, batch)
        if batch % 2:
            newest = Newest(spark, str(tmp_path / "newest"))
            newest.absorb(raw, batch)
        found = {(row.partition, bytes(row.key)): (bytes(row.value), row.offset) for row in newest.raw().collect()}
        assert found == {place: (value, offset) for place, (value, offset) in wanted.items() if value is not None}
    manifest = tmp_path / "newest" / f"{newest.batch}.json"
    manifest.write_text("{")
    with pytest.raises(PipelineError, match="is damaged"):
        Newest(spark, str(tmp_path / "newest"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--alerts", "x"], "--alerts needs the tables of --tables DIR: give that option, too"),
        (["--tables", "x"], "--tables needs --retention-minutes, to know when offsets expire"),
    ],
)
def test_options_that_go_together(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    from kafkastub_pipeline.cli import main

    assert main(["stream", "--bootstrap-servers", "h:1", "--out", "o", "--checkpoint", "c", *words]) == 2
    assert sentence in capsys.readouterr().err
