"""`transaction_whatif`: what it says of another timeout is what becomes of the same producers with that timeout."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline import here
from tests.expiry.wire import Wire
from tests.pipeline.test_bad_input import command, sentence
from tests.pipeline.test_transactions import SECONDS, producing

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

RECORDED, SHORT, WITHIN, LONG = 60_000, 20_000, 38_000, 120_000
"""Timeouts; the third is over less than ten seconds before the slow ones end."""
SLACK_MS = 8_000
"""What a machine with other work may take for all that a history does without its clock."""
DDL = (
    "transactional_id string, status string, producer_id bigint, producer_epoch smallint, timeout_ms int,"
    " started_ms bigint, ended_ms bigint, prepared boolean, fenced boolean, session bigint, log_partition int,"
    " log_offset bigint"
)


def history(spark: SparkSession, out: Path, timeout_ms: int) -> tuple[int, dict[str, list[Row]]]:
    """What five producers do, each with this timeout, and when the first of them begins.

    `quick` commits after 5 seconds; `slow` and `gives up` end after 40, `dead` never does, `waits` is open for the last
    40. The clock runs, as the timers do. What is refused, because the coordinator was sooner, is refused.
    """
    from kafkastub_pipeline.run import Settings, run

    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire, ExitStack() as all_:
        servers, given = stub.bootstrap_servers, {"transaction.timeout.ms": timeout_ms}
        begun = stub.clock.now_ms()
        wire.commit("billing", {("orders", 0): 0})
        names = "quick", "slow", "gives up", "dead"
        of = {name: all_.enter_context(producing(servers, name, **given)) for name in names}
        stub.clock.advance(seconds=5, timers=True)
        of["quick"].commit_transaction(SECONDS)
        stub.clock.advance(seconds=35, timers=True)
        ended(of["slow"].commit_transaction)
        ended(of["gives up"].abort_transaction)
        stub.clock.advance(seconds=60, timers=True)
        of["waits"] = all_.enter_context(producing(servers, "waits", **given))
        stub.clock.advance(seconds=40, timers=True)
        tables = "transactions", "transaction_whatif"
        tried = (RECORDED, SHORT, WITHIN, LONG)
        settings = Settings(str(out), servers, tables=tables, now=stub.clock.now(), transaction_timeouts_ms=tried)
        run(spark, settings)
    return begun, {name: spark.read.parquet(str(out / name)).collect() for name in tables}


def ended(end: Any) -> None:
    from confluent_kafka import KafkaException

    with suppress(KafkaException):
        end(SECONDS)


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[Row]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(here, "RECORDS", 10_000)
        begun, found = history(spark, tmp_path_factory.mktemp("recorded"), RECORDED)
    return begun, found["transaction_whatif"]


def test_what_another_timeout_would_have_done(told: tuple[int, list[Row]]) -> None:
    found = {(r.timeout_ms, r.transactional_id): (r.recorded, r.outcome, r.changes) for r in told[1]}
    quick, slow = ("committed", "committed", False), ("committed", "aborted", True)
    unknown = "undecided", None
    assert found == {
        (RECORDED, "quick"): quick,
        (RECORDED, "slow"): ("committed", "committed", False),
        (RECORDED, "gives up"): ("aborted", "aborted", False),
        (RECORDED, "dead"): ("aborted", "aborted", False),
        (RECORDED, "waits"): ("open", "open", False),
        (SHORT, "quick"): quick,
        (SHORT, "slow"): slow,
        (SHORT, "gives up"): ("aborted", "aborted", True),
        (SHORT, "dead"): ("aborted", "aborted", True),
        (SHORT, "waits"): ("open", "aborted", True),
        (WITHIN, "quick"): quick,
        (WITHIN, "slow"): ("committed", *unknown),
        (WITHIN, "gives up"): ("aborted", *unknown),
        (WITHIN, "dead"): ("aborted", "aborted", True),
        (WITHIN, "waits"): ("open", *unknown),
        (LONG, "quick"): quick,
        (LONG, "slow"): ("committed", "committed", False),
        (LONG, "gives up"): ("aborted", "aborted", False),
        (LONG, "dead"): ("aborted", *unknown),
        (LONG, "waits"): ("open", "open", False),
    }
    assert {r.recorded_timeout_ms for r in told[1]} == {RECORDED}
    assert all((r.why is None) is (r.outcome != "undecided") for r in told[1])
    (window,) = [r.why for r in told[1] if (r.timeout_ms, r.transactional_id) == (WITHIN, "slow")]
    (dead,) = [r.why for r in told[1] if (r.timeout_ms, r.transactional_id) == (LONG, "dead")]
    assert ("every 10 seconds" in window, "its own timeout aborted it" in dead) == (True, True)


@pytest.mark.parametrize("timeout", [SHORT, WITHIN, LONG])
def test_what_is_decided_is_what_happens_with_that_timeout(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path, told: tuple[int, list[Row]], timeout: int
) -> None:
    monkeypatch.setattr(here, "RECORDS", 10_000)
    begun, found = history(spark, tmp_path, timeout)
    really = {r.transactional_id: r for r in found["transactions"]}
    decided = [r for r in told[1] if r.timeout_ms == timeout and r.outcome != "undecided"]
    assert len(decided) >= 2
    for row in decided:
        then = really[row.transactional_id]
        assert then.status == row.outcome, row
        if row.changes:
            ended_ms = ms(then.ended_at, begun)
            assert ms(row.aborted_from, told[0]) <= ended_ms + SLACK_MS, row
            assert ended_ms <= ms(row.aborted_by, told[0]) + SLACK_MS, row
        elif row.ended_at is not None:
            assert abs(ms(then.ended_at, begun) - ms(row.ended_at, told[0])) < SLACK_MS, row


def ms(at: datetime, begun: int) -> int:
    """After the beginning of a history."""
    return round(at.timestamp() * 1000) - begun


def judged(spark: SparkSession, *rows: tuple[Any, ...], tried: int = 20_000) -> list[tuple[Any, ...]]:
    """Outcome, and the reason of none, of transactions of one id; each has its status, times, and what the log has."""
    from kafkastub_pipeline.tables.transaction_whatif import transaction_whatif

    whole = [
        ("audit", status, 7, 0, RECORDED, started, ended, prepared, None, session, 0, at)
        for at, (status, started, ended, prepared, session) in enumerate(rows)
    ]
    found = transaction_whatif(spark.createDataFrame(whole, DDL), [tried], 200_000).orderBy("log_offset").collect()
    return [(row.outcome, row.why) for row in found]


def test_compaction_leaves_what_is_short_enough_decided(spark: SparkSession) -> None:
    """Of a finished transaction mostly its completion is left, which is not before the decision."""
    assert judged(spark, ("committed", 0, 20_000, False, None)) == [("committed", None)]
    ((outcome, why),) = judged(spark, ("committed", 0, 50_000, False, None))
    assert (outcome, "when it was complete" in why) == ("undecided", True)
    ((outcome, why),) = judged(spark, ("aborted", 0, 60_000, False, None), tried=90_000)
    assert (outcome, "when it was complete" in why) == ("undecided", True)


def test_timers_that_did_not_run_with_the_log_decide_nothing(spark: SparkSession) -> None:
    ((outcome, why),) = judged(spark, ("committed", 0, 70_001, True, 1))
    assert (outcome, "outlasted its own timeout" in why) == ("undecided", True)
    ((outcome, why),) = judged(spark, ("open", 0, None, False, 1))
    assert (outcome, "outlasted its own timeout" in why) == ("undecided", True)


def test_what_follows_a_transaction_that_ends_otherwise_is_undecided_until_the_producer_begins_anew(
    spark: SparkSession,
) -> None:
    found = judged(
        spark,
        ("committed", 0, 10, True, 1),
        ("committed", 100, 50_100, True, 1),
        ("committed", 60_000, 60_010, True, 1),
        ("committed", 90_000, 90_010, True, 8),
    )
    assert [outcome for outcome, _ in found] == ["committed", "aborted", "undecided", "committed"]
    assert "an earlier transaction" in found[2][1]


@pytest.mark.parametrize("text", ["", "0", "-1", "1,", "1;2", "2147483648", "²"])
def test_what_is_no_list_of_timeouts_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> None:
    asked = "run", "--retention-minutes", "60", "--raw", str(tmp_path), "--out", str(tmp_path / "out")
    with pytest.raises(SystemExit) as refused:
        command(*asked, f"--transaction-timeout-ms={text}")
    assert refused.value.code == 2
    assert "is not a list of milliseconds such as 60000,900000" in capsys.readouterr().err


def test_the_table_by_name_needs_what_it_tries(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = "run", "--retention-minutes", "60", "--raw", str(tmp_path), "--out", str(tmp_path / "out")
    assert command(*asked, "--tables", "transaction_whatif") == 2
    assert "transaction_whatif tries other timeouts; give --transaction-timeout-ms" in sentence(capsys)
