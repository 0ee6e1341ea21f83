"""`session_whatif`: what it says of another session timeout is what becomes of the same consumers with that timeout."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline import here
from kafkastub_pipeline.replayed.sessions import Group, Silence, judged, outcome
from kafkastub_pipeline.replayed.timers import Move, Timers, moves
from tests.expiry.wire import Wire
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

RECORDED, SHORT, BETWEEN, LONG = 45_000, 16_000, 32_000, 200_000
LIVES, DIES = "lives", "dies"
PROTOCOLS = ("classic", "consumer")
CONSUMER = """
import json, sys
from confluent_kafka import Consumer
consumer = Consumer(json.loads(sys.argv[1]))
consumer.subscribe(["orders"])
while True:
    consumer.poll(0.1)
"""
"""A process of its own, so that it can end without leaving its group."""
HEARTBEATS = {"classic": "Heartbeat", "consumer": "ConsumerGroupHeartbeat"}


@dataclass
class Stub:
    """A stub with a group of two consumers, whose heartbeats come twice a second."""

    stub: KafkaStub
    protocol: str
    processes: dict[str, subprocess.Popen[bytes]]

    def beat(self, *clients: str) -> None:
        """Wait for one more heartbeat of each that is accepted."""
        since = self.stub.journal.total
        for client in clients:

            def accepted(client: str = client) -> bool:
                found = self.stub.journal.requests(api=HEARTBEATS[self.protocol], client_id=client, since=since)
                return any(one.errors == {0: 1} for one in found)

            until(accepted, f"a heartbeat of {client}")

    def members(self) -> set[str]:
        """The client ids of the group's members."""
        return {one.client_id for one in self.stub.groups["billing"].members.values()}

    def removed(self, client: str) -> bool:
        """Whether the coordinator did not know the client any more at some time."""
        return bool(self.stub.journal.requests(client_id=client, error="UNKNOWN_MEMBER_ID"))


@contextmanager
def history(protocol: str, session_ms: int, journal: Path | None = None) -> Iterator[Stub]:
    """Both are silent for 20 seconds, then one ends without a word, and the other one goes on for a minute."""
    config: dict[str, object] = {"group.initial.rebalance.delay.ms": 0}
    for name in ("heartbeat.interval", "min.heartbeat.interval"):
        config[f"group.consumer.{name}.ms"] = 500
    for name in ("session.timeout", "min.session.timeout", "max.session.timeout"):
        config[f"group.consumer.{name}.ms"] = session_ms
    kept = True if journal is None else str(journal)
    with KafkaStub(topics={"orders": 2}, config=config, journal=kept) as stub:
        settings: dict[str, Any] = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "billing", "log_level": 0}
        if protocol == "consumer":
            settings["group.protocol"] = "consumer"
        else:
            settings |= {"session.timeout.ms": session_ms, "heartbeat.interval.ms": 500}
        on = Stub(stub, protocol, {})
        try:
            for client in (LIVES, DIES):
                words = sys.executable, "-c", CONSUMER, json.dumps(settings | {"client.id": client})
                on.processes[client] = subprocess.Popen(words)
            until(lambda: "billing" in stub.groups and on.members() == {LIVES, DIES}, "both members")
            on.beat(LIVES, DIES)
            stub.clock.advance(seconds=20, timers=True)
            on.beat(LIVES, DIES)
            on.processes[DIES].kill()
            on.processes[DIES].wait()
            for _ in range(6):
                stub.clock.advance(seconds=10, timers=True)
                on.beat(LIVES)
            yield on
        finally:
            for process in on.processes.values():
                process.kill()
                process.wait()


@pytest.fixture(scope="module", params=PROTOCOLS)
def told(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[Row]]:
    from kafkastub_pipeline.run import Settings, run

    out = tmp_path_factory.mktemp(request.param)
    with history(request.param, RECORDED, out / "journal") as on, Wire(on.stub.bootstrap_servers) as wire:
        wire.commit("by itself", {("orders", 0): 0})
        settings = Settings(
            str(out),
            on.stub.bootstrap_servers,
            journal=str(out / "journal"),
            now=on.stub.clock.now(),
            tables=("session_whatif",),
            session_timeouts_ms=(RECORDED, SHORT, BETWEEN, LONG),
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(here, "RECORDS", 10_000)
            run(spark, settings)
    return request.param, spark.read.parquet(str(out / "session_whatif")).collect()


def clients(found: list[Row], timeout_ms: int) -> dict[str, list[tuple[Any, ...]]]:
    """Of each client, by its number of the order in which they came: recorded, outcome, changes and the last."""
    by_member: dict[str, list[Row]] = {}
    for row in found:
        if row.timeout_ms == timeout_ms:
            by_member.setdefault(row.member_id, []).append(row)
    ends = {member: max(rows, key=lambda row: row.silent_until) for member, rows in by_member.items()}
    dead = max(ends, key=lambda member: ends[member].seconds)
    named = {DIES if member == dead else LIVES: rows for member, rows in by_member.items()}
    return {
        name: [(r.recorded, r.outcome, r.changes) for r in sorted(rows, key=lambda r: r.silent_until)]
        for name, rows in named.items()
    }


def test_what_another_timeout_would_have_done(told: tuple[str, list[Row]]) -> None:
    protocol, found = told
    kept, removed = ("kept", "kept", False), ("removed", "removed", False)
    assert clients(found, RECORDED) == {LIVES: [kept], DIES: [removed]}
    assert clients(found, BETWEEN) == {LIVES: [kept], DIES: [removed]}
    assert clients(found, SHORT) == {
        LIVES: [("kept", "removed", True), kept],
        DIES: [("kept", "removed", True), removed],
    }
    assert clients(found, LONG) == {LIVES: [kept], DIES: [("removed", "kept", True)]}
    assert all(row.why is None for row in found), protocol
    assert {row.group_id for row in found} == {"billing"}
    (early,) = [r for r in found if r.timeout_ms == BETWEEN and r.recorded == "removed"]
    assert (early.removed_at - early.silent_from).total_seconds() == BETWEEN / 1000
    assert early.recorded_at > early.removed_at


@pytest.mark.parametrize("timeout", [SHORT, BETWEEN, LONG])
def test_what_is_decided_is_what_happens_with_that_timeout(told: tuple[str, list[Row]], timeout: int) -> None:
    protocol, found = told
    of = clients(found, timeout)
    with history(protocol, timeout) as on:
        removed_on_the_way = {client: on.removed(client) for client in (LIVES, DIES)}
        left = on.members()
    for client, rows in of.items():
        *before, (_, end, _) = rows
        assert removed_on_the_way[client] is any(then == "removed" for _, then, _ in before), client
        assert (client in left) is (end == "kept"), client


START = 1_800_000_000_000
HEARTBEAT, JOIN, SYNC, COMMIT, LEAVE, CONSUMER_HEARTBEAT = 12, 11, 14, 8, 13, 68


def asked(
    at: int,
    api: int,
    code: int | None = 0,
    *,
    member: str = "m",
    took: int = 0,
    instance: str | None = None,
    epoch: int = 1,
) -> dict[str, Any]:
    """A request of a member, with its error; None has no answer. Times are milliseconds."""
    return {
        "api_key": api,
        "api_version": 4,
        "errors": [] if code is None else [{"code": code, "name": "", "count": 1}],
        "members": [{"member_id": member, "instance_id": instance, "epoch": epoch}],
        "outcome": "pending" if code is None else "reply",
        "fault": None,
        "duration_us": None if code is None else took * 1000,
        "wall_us": at * 1000,
        "broker_ms": START + at,
        "request": None,
    }


def silences(*rows: dict[str, Any], timers: Timers | None = None) -> list[tuple[Any, ...]]:
    """From, until, at least and at most of each, and what the journal says became of the member."""
    group, found = Group(timers or Timers((), 100_000_000)), []
    for row in rows:
        found += list(group.take(row))
    found += list(group.ends(START + 100_000))
    return [(one.from_ms - START, one.until_ms - START, one.least_ms, one.most_ms, one.recorded) for one in found]


def test_a_request_that_waits_keeps_the_session_alive_until_its_answer() -> None:
    found = silences(asked(0, HEARTBEAT), asked(10, JOIN, took=30_000), asked(40_000, SYNC), asked(40_100, LEAVE))
    assert found == [(0, 10, 10, 10, "kept"), (10, 40_000, 9990, 9990, "kept"), (40_000, 40_100, 100, 100, "kept")]


def test_a_request_without_an_answer_may_have_counted() -> None:
    assert silences(asked(0, HEARTBEAT), asked(10, HEARTBEAT, None), asked(60, HEARTBEAT, 25)) == [
        (0, 10, 10, 10, None),
        (0, 60, 0, 60, "removed"),
    ]


def test_commits_count_in_the_classic_protocol_alone() -> None:
    assert silences(asked(0, HEARTBEAT), asked(10, COMMIT), asked(30, LEAVE)) == [
        (0, 10, 10, 10, "kept"),
        (10, 30, 20, 20, "kept"),
    ]
    leaves = asked(30, CONSUMER_HEARTBEAT, epoch=-1)
    assert silences(asked(0, CONSUMER_HEARTBEAT), asked(10, COMMIT), leaves) == [(0, 30, 30, 30, "kept")]


def test_a_static_member_that_comes_back_has_another_id() -> None:
    """Whether it was removed before, the journal does not say."""
    first = asked(0, HEARTBEAT, instance="one")
    back = asked(5_000, JOIN, member="n", instance="one")
    assert silences(first, back, asked(5_001, LEAVE, member="n", instance="one")) == [
        (0, 5_000, 5_000, 5_000, None),
        (5_000, 5_001, 1, 1, "kept"),
    ]


def test_timers_that_a_test_has_moved() -> None:
    """Without them nothing ages; a journal without frames does not say which it was."""
    entries = [
        ((1_000, 1_000_000, 1_000, 1_000_000), b"freeze"),
        ((6_000, 2_000_000, 1_000, 1_000_000), b"advance"),
        ((26_000, 3_000_000, 6_000, 2_500_000), b"advance timers"),
        ((26_000, 4_000_000, 26_000, 3_000_000), b"unfreeze"),
        ((37_000, 15_000_000, 26_500, 4_500_000), b"advance timers"),
        ((37_000, 16_000_000, 37_000, 15_000_000), None),
    ]
    found = tuple(moves(entries))
    assert found == (Move(3_000_000, 20_000), Move(15_000_000, 0), Move(16_000_000, None))
    timers = Timers(found, 20_000_000)
    assert timers.at(3_500_000) - timers.at(2_500_000) == 21_000
    assert (timers.doubtful(15_500_000, 15_900_000), timers.doubtful(15_500_000, 16_100_000)) == (False, True)
    # an answer for which somebody waited may have come in the middle of the move that follows at once
    assert timers.answered(1_000_000, 1_900_000) == (timers.at(2_900_000), timers.at(3_000_000))
    assert timers.answered(2_850_000, 50_000) == (timers.at(2_900_000), timers.at(2_900_000))


SILENT = Silence("m", None, START, START, 9_000, 11_000, "kept", False, False, None)


@pytest.mark.parametrize(
    ("silence", "timeout_ms", "found"),
    [
        (SILENT, 9_000, "removed"),
        (SILENT, 10_000, "undecided"),
        (SILENT, 11_001, "kept"),
        (SILENT._replace(doubtful=True), 60_000, "undecided"),
        (SILENT._replace(recorded="removed"), 60_000, "undecided"),
        (SILENT._replace(recorded="removed", session_ms=8_000), 60_000, "kept"),
        (SILENT._replace(recorded="removed", session_ms=10_000), 60_000, "undecided"),
        (SILENT._replace(recorded="removed", session_ms=30_000), 60_000, "removed"),  # by something else
    ],
)
def test_what_is_decided(silence: Silence, timeout_ms: int, found: str) -> None:
    assert outcome(silence, timeout_ms)[0] == found
    assert (outcome(silence, timeout_ms)[1] is None) is (found != "undecided")


def test_of_members_to_whom_nothing_happens_the_longest_silence_is_told() -> None:
    rows = [SILENT._replace(most_ms=most, least_ms=most) for most in (5, 9, 7)]
    assert [(timeout, one.most_ms) for timeout, one, *_ in judged(rows, (9, 10))] == [(9, 9), (10, 9)]


def test_without_a_journal_nothing_is_decided(spark: SparkSession) -> None:
    from kafkastub_pipeline.tables.session_whatif import session_whatif
    from tests.pipeline.log import Log

    log = Log()
    log.generation("classic", 0, "orders")
    log.epoch("new", 0)
    log.member("new", "m", 0, "orders")
    log.commit("simple", "orders", 0)
    found = session_whatif(log.records(spark), None, [10_000]).collect()
    assert {(r.group_id, r.outcome, r.changes, r.member_id) for r in found} == {
        ("classic", "undecided", None, None),
        ("new", "undecided", None, None),
    }
    assert all("no heartbeats on the log" in row.why for row in found)


def test_the_data_source_has_the_same_journal(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.sources import read_journal
    from kafkastub_pipeline.tables.session_whatif import session_whatif
    from tests.pipeline.log import Log

    with (
        KafkaStub(topics={"orders": 1}, journal=str(tmp_path / "journal")) as stub,
        Wire(stub.bootstrap_servers) as wire,
    ):
        member = wire.member("billing", b"\0")
        stub.clock.advance(seconds=5, timers=True)
        wire.commit("billing", {("orders", 0): 0}, member=member)
    log = Log()
    log.generation("billing", 0, "orders", members=(member.member_id,))
    found = []
    for journal in (
        read_journal(spark, str(tmp_path / "journal")),
        spark.read.format("kafkastub_journal").load(str(tmp_path / "journal")),
    ):
        rows = session_whatif(log.records(spark), journal, [4_000]).collect()
        found.append(sorted((r.member_id, r.recorded, r.outcome, round(r.seconds)) for r in rows))
    assert found[0] == found[1]
    assert (member.member_id, "kept", "removed", 5) in found[0]
