"""Who held what: records of a group by hand, and a group on a stub whose members come and go."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkastub_pipeline import here
from kafkastub_pipeline.owners import spans_of
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEMBER = int(RecordType.CONSUMER_GROUP_MEMBER_METADATA)
HOLDS = int(RecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT)
STREAMS = int(RecordType.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT)


def member(at: int, name: str, *topics: str, gone: bool = False) -> dict[str, Any]:
    found = {"record_type": MEMBER, "member_id": name, "tombstone": gone, "topics": topics, "modern": None}
    return found | {"log_ms": at}


def holds(at: int, name: str, *partitions: int, leaving: tuple[int, ...] = (), epoch: int = 1) -> dict[str, Any]:
    modern = {"epoch": epoch, "assigned": [{"topic_id": "t", "partitions": partitions}]}
    modern["pending_revocation"] = [{"topic_id": "t", "partitions": leaving}]
    found = {"record_type": HOLDS, "member_id": name, "tombstone": False, "topics": None, "modern": modern}
    return found | {"log_ms": at}


def told(*records: dict[str, Any]) -> list[tuple[Any, ...]]:
    spans = [(one.place.partition, one.from_ms, one.until_ms, one.member_id, one.cause) for one in spans_of(records)]
    return sorted(spans, key=lambda one: (one[0], one[1]))


def test_a_partition_moves_when_its_owner_has_given_it_up() -> None:
    """Member `a` reads on while it is asked to give 1 up; for 5 ms nobody has it, because `b` joined."""
    found = told(
        member(10, "a", "t"),
        holds(10, "a", 0, 1),
        member(20, "b", "t"),
        holds(20, "a", 0, leaving=(1,), epoch=2),
        holds(30, "a", 0, epoch=2),
        holds(35, "b", 1, epoch=2),
    )
    assert found == [
        (0, 10, None, "a", None),
        (1, 10, 30, "a", None),
        (1, 30, 35, None, "member joined"),
        (1, 35, None, "b", None),
    ]


def test_what_a_member_leaves_behind() -> None:
    gone = {**holds(40, "a"), "tombstone": True}
    found = told(
        member(10, "a", "t"), member(10, "b", "t"), holds(10, "a", 0), holds(10, "b", 1),
        gone, member(40, "a", gone=True), holds(52, "b", 0, 1),
    )  # fmt: skip
    assert found == [
        (0, 10, 40, "a", None),
        (0, 40, 52, None, "member left"),
        (0, 52, None, "b", None),
        (1, 10, None, "b", None),
    ]


def test_a_handover_at_one_moment_costs_nothing_and_an_empty_group_owes_nothing() -> None:
    last = {**holds(30, "b"), "tombstone": True}
    found = told(
        member(10, "a", "t"), member(10, "b", "t"), holds(10, "a", 0),
        holds(20, "a"), holds(20, "b", 0),
        last, member(30, "b", gone=True), member(30, "a", gone=True),
    )  # fmt: skip
    assert found == [(0, 10, 20, "a", None), (0, 20, 30, "b", None)]


def test_a_subscription_and_a_task() -> None:
    changed = told(member(10, "a", "t"), holds(10, "a", 0), member(20, "a", "t", "u"), holds(25, "a"))
    assert changed == [(0, 10, 25, "a", None), (0, 25, None, None, "subscription changed")]
    task = {"role": "active", "subtopology": "0", "partitions": [3]}
    record = {"record_type": STREAMS, "member_id": "s", "tombstone": False, "topics": None, "log_ms": 5}
    (span,) = spans_of([record | {"modern": {"epoch": 4, "tasks": [task]}}])
    assert (span.group_type, span.place, span.epoch) == ("streams", (None, "active", "0", 3), 4)


def test_members_of_a_consumer_group_on_a_stub(monkeypatch: Any, spark: SparkSession, tmp_path: Path) -> None:
    """Real members: one is alone, another one comes, the first one goes. Each partition has an owner in the end."""
    from confluent_kafka import Consumer

    from kafkastub import KafkaStub
    from kafkastub_pipeline.run import Settings, run
    from tests.waiting import until

    monkeypatch.setattr(here, "RECORDS", 10_000)
    with KafkaStub(topics={"orders": 4}) as stub:
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "workers", "group.protocol": "consumer"}

        def assigned(*consumers: Any) -> list[int]:
            for one in consumers:
                one.poll(0.05)
            return [len(one.assignment()) for one in consumers]

        first, second = Consumer(settings), Consumer(settings)
        first.subscribe(["orders"])
        until(lambda: assigned(first) == [4], "the first member has all", 60)
        second.subscribe(["orders"])
        until(lambda: assigned(first, second) == [2, 2], "both have two", 60)
        first.close()
        until(lambda: assigned(second) == [4], "the second member has all", 60)
        out = str(tmp_path / "out")
        run(spark, Settings(out=out, bootstrap_servers=stub.bootstrap_servers, tables="partition_owners"))
        second.close()
    rows = spark.read.parquet(f"{out}/partition_owners").collect()
    assert {(row.group_id, row.group_type, row.topic) for row in rows} == {("workers", "consumer", "orders")}
    owned = [row for row in rows if row.member_id is not None]
    assert len({row.member_id for row in owned}) == 2
    last = {row.partition: row.member_id for row in owned if row.until is None}
    assert sorted(last) == [0, 1, 2, 3]
    assert len(set(last.values())) == 1
    assert sum(row.until is not None for row in owned) >= 4  # two that moved, and two that were left behind
    assert all(row.cause is not None for row in rows if row.member_id is None)
    for partition in range(4):
        of_partition = sorted((row for row in rows if row.partition == partition), key=lambda row: row.from_at)
        for before, after in pairwise(of_partition):
            assert before.until == after.from_at
