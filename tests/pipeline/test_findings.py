"""`findings`: storms of rebalances and rates of commits, each with its evidence."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline.values import rate, several
from tests.expiry.wire import Wire
from tests.pipeline.log import MINUTE, SECOND, START, Log, after_start

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def told(spark: SparkSession, log: Log, generations: int = 5, per_second: float = 1.0) -> dict[tuple[str, str], Any]:
    from kafkastub_pipeline.tables.findings import findings_of
    from kafkastub_pipeline.tables.timeline import group_timeline

    records = log.records(spark)
    found = findings_of(records, group_timeline(records), generations, per_second).collect()
    return {(row.finding, row.group_id): row for row in found}


def test_rebalances_one_after_the_other_are_a_storm(spark: SparkSession) -> None:
    log = Log()
    for number in range(6):  # the fifth comes ten minutes behind the first
        members = ("a", "b") if number % 2 else ("a",)
        log.generation("stormy", number * 150 * SECOND, "orders", members=members)
    for number in range(9):
        log.generation("calm", number * 151 * SECOND, "orders", members=("a", "b") if number % 2 else ("a",))
    for number in range(5):
        log.epoch("new", number * SECOND)
        log.member("new", f"m{number}", number * SECOND, "orders")
    for number in range(5):  # its generations begin for the first time, and end: none of that is a rebalance
        log.generation("short", 2 * number * MINUTE, members=())
    found = told(spark, log)
    assert set(found) == {("rebalance_storm", "stormy"), ("rebalance_storm", "new")}
    row = found["rebalance_storm", "stormy"]
    assert (after_start(row.from_ms), after_start(row.until_ms), row.seconds) == (0, 750 * SECOND, 750.0)
    assert (row["count"], row.peak, row.threshold) == (6, 5.0, 5.0)
    assert row.evidence == "members joined (4), members left (2)"
    assert (row.first_log_offset, row.last_log_offset) == (0, 5)
    assert found["rebalance_storm", "new"].evidence == "members joined (5)"


def test_two_storms_of_a_group_are_two(spark: SparkSession) -> None:
    from kafkastub_pipeline.tables.findings import findings_of
    from kafkastub_pipeline.tables.timeline import group_timeline

    log = Log()
    for begin in (0, 60 * MINUTE):
        for number in range(3):
            log.generation("g", begin + number * SECOND, "orders", members=("a", "b") if number % 2 else ("a",))
    records = log.records(spark)
    found = findings_of(records, group_timeline(records), 3, 1.0).orderBy("from_ms").collect()
    assert [(after_start(row.from_ms), row["count"]) for row in found] == [(0, 3), (60 * MINUTE, 3)]


def test_commits_beyond_a_rate(spark: SparkSession) -> None:
    begin = (START // MINUTE + 1) * MINUTE - START
    log = Log()
    for at in range(61):
        log.commit("busy", "orders", begin + at * 900, partition=at % 2)
        log.commit("steady", "orders", begin + at * SECOND)  # sixty in the first minute: one a second
    for at in range(90):
        log.commit("busy", "events", begin + MINUTE + at * 600)
    log.gone("busy", "events", begin + MINUTE + 1)
    found = told(spark, log)
    assert set(found) == {("commit_rate", "busy")}
    row = found["commit_rate", "busy"]
    assert (after_start(row.from_ms), row.seconds, row["count"]) == (begin, 120.0, 151)
    assert (row.peak, row.threshold) == (1.5, 1.0)
    assert row.evidence == "2 partitions; most in a minute: events-0 (90)"


def test_a_group_whose_member_comes_and_goes(spark: SparkSession, tmp_path: Path) -> None:
    """On a stub, by the command's own run."""
    from kafkastub_pipeline.run import Settings, run

    with KafkaStub(topics={"orders": 1}, config={"group.initial.rebalance.delay.ms": 0}) as stub:
        with Wire(stub.bootstrap_servers) as wire:
            stub.clock.freeze()
            begun = stub.clock.now_ms()
            for _ in range(4):
                member = wire.member("billing", b"\0")
                stub.clock.advance(seconds=20)
                wire.leave(member)
                stub.clock.advance(seconds=20)
            wire.commit("steady", {("orders", 0): 0})
        settings = Settings(str(tmp_path), stub.bootstrap_servers, tables=("findings",), storm_generations=4)
        assert run(spark, settings) == ["findings"]
    (row,) = spark.read.parquet(str(tmp_path / "findings")).collect()
    assert (row.finding, row.group_id, row["count"], row.seconds) == ("rebalance_storm", "billing", 4, 120.0)
    assert round(row.from_at.timestamp() * 1000) == begun
    assert row.evidence == "members joined (4)"


@pytest.mark.parametrize(("parse", "text"), [(rate, "0"), (rate, "nan"), (rate, "x"), (several, "1"), (several, "²")])
def test_what_is_no_threshold_is_refused(parse: Any, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is not a (rate|number)"):
        parse(text)
