"""Streams groups (KIP-1071) in the tables: what their records say, who reads what, and what expires."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")

from kafkastub import KafkaStub
from kafkastub.client import Client, groups
from kafkastub_pipeline.history import Commit, Event, World
from kafkastub_pipeline.roster import Part, Roster
from kafkawire.offsets_topic import RecordType
from tests.pipeline.decoding import decode
from tests.streams_instance import QUICK, Instance, settle, words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOLDEN = Path(__file__).parents[1] / "offsets_topic" / "golden" / "streams-groups.json"
"""What Apache Kafka wrote."""
READ = ("app-words-repartition", "lines")
TOPOLOGY, MEMBER, HEAD = (
    int(one)
    for one in (
        RecordType.STREAMS_GROUP_TOPOLOGY,
        RecordType.STREAMS_GROUP_MEMBER_METADATA,
        RecordType.STREAMS_GROUP_METADATA,
    )
)


def kafkas_rows() -> list[dict[str, Any]]:
    kept = json.loads(GOLDEN.read_text())
    records = [
        (bytes.fromhex(key), None if value is None else bytes.fromhex(value))
        for batches in kept["partitions"]
        for batch in batches
        for key, value, _ in batch
    ]
    return decode(records)


def test_apache_kafkas_records_are_understood() -> None:
    rows = kafkas_rows()
    assert {row["error"] for row in rows} == {None}
    by_type: dict[RecordType, list[dict[str, Any]]] = {}
    for row in rows:
        if not row["tombstone"]:
            by_type.setdefault(RecordType(row["record_type"]), []).append(row)
    assert {type_ for type_ in RecordType if type_.kind.value == "streams"} <= by_type.keys()
    assert all(row["topics"] for row in by_type[RecordType.STREAMS_GROUP_TOPOLOGY])
    member = by_type[RecordType.STREAMS_GROUP_MEMBER_METADATA][0]["modern"]["client"]
    assert member["client_id"]
    assert member["process_id"]
    current = [row["modern"] for row in by_type[RecordType.STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT]]
    assert {one["member_state"] for one in current} >= {"STABLE", "UNREVOKED_TASKS", "UNRELEASED_TASKS"}
    tasks = [task for one in current for task in one["tasks"]]
    assert {task["role"] for task in tasks} >= {"active", "standby"}
    assert all((task["epochs"] is not None) == (task["role"] == "active") for task in tasks)
    assert any(one["pending_tasks"] for one in current)
    assert any(row["modern"]["tasks"] for row in by_type[RecordType.STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER])


def test_a_topology_is_read_while_there_are_members() -> None:
    roster = Roster()
    for part, read in (
        (Part(HEAD, None, False), ()),
        (Part(TOPOLOGY, None, False, READ), ()),
        (Part(MEMBER, "one", False), READ),
        (Part(TOPOLOGY, None, False, ("pages",)), ("pages",)),
        (Part(MEMBER, "two", False), ("pages",)),
        (Part(MEMBER, "one", True), ("pages",)),
        (Part(MEMBER, "two", True), ()),
        (Part(TOPOLOGY, None, True), ()),
    ):
        roster.take(part)
        assert roster.subscribed == set(read), part
        assert roster.group_type == "streams"


@pytest.mark.parametrize(("subscribed", "rule"), [(frozenset(READ), "none"), (frozenset({"pages"}), "unsubscribed")])
def test_offsets_of_what_it_does_not_read_expire(subscribed: frozenset[str], rule: str) -> None:
    world = World(1, True)
    world.apply(Event("group", 0, 0, protocol_type="streams", empty=False, subscribed=subscribed, group_type="streams"))
    expiry = world.expiry("lines", Commit(1, 5, -1))
    assert (expiry.rule, expiry.at) == (rule, None if rule == "none" else 60_005)
    assert world.protects("lines") == (rule == "none")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Path]:
    """The tables of a stub with a group that has a member, and one that has lost its last one."""
    from kafkastub_pipeline.run import Settings, run

    folder = tmp_path_factory.mktemp("streams")
    long = {"group.streams.session.timeout.ms": 3_600_000, "group.streams.max.session.timeout.ms": 3_600_000}
    config = {**QUICK, **long, "offsets.retention.minutes": 60}
    with KafkaStub(topics={"lines": 1, "other": 1}, config=config) as stub:
        servers = stub.bootstrap_servers
        with (
            Instance(servers, "one") as one,
            Instance(servers, "two", "gone", words(group="gone")) as two,
            Client(servers) as client,
        ):
            settle(one)
            settle(two)
            two.leave()
            one.leave()
            for group in ("app", "gone"):
                groups.commit(client, group, {("lines", 0): 0, ("other", 0): 0})
            settle(one)
            settings = Settings(out=str(folder), bootstrap_servers=servers, probes=0, retention_minutes=(60,))
            run(spark, settings)
            stub.clock.advance(hours=2)
            kept = {group: sorted(topic for topic, _ in groups.offsets(client, group)) for group in ("app", "gone")}
            assert kept == {"app": ["lines"], "gone": []}
        yield folder


def test_what_expires_is_foreseen(out: Path, spark: SparkSession) -> None:
    """As the broker does it: the fixture looks."""
    rows = spark.read.parquet(str(out / "expiry_forecast")).collect()
    told = {(row.group_id, row.topic): (row.rule, row.blocked_by, row.group_state) for row in rows}
    assert told == {
        ("app", "lines"): ("none", "subscribed", "Stable"),
        ("app", "other"): ("unsubscribed", None, "Stable"),
        ("gone", "lines"): ("unsubscribed", None, "Empty"),
        ("gone", "other"): ("unsubscribed", None, "Empty"),
    }


def test_a_streams_group_in_the_other_tables(out: Path, spark: SparkSession) -> None:
    events = spark.read.parquet(str(out / "group_events")).where("group_id = 'app'").collect()
    assert {row.group_type for row in events} == {"streams"}
    (topology,) = (row for row in events if row.event == "STREAMS_GROUP_TOPOLOGY")
    assert topology.subscribed_topics == list(READ)
    last = [row for row in events if row.event == "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT"][-1]
    assert [(task.role, task.subtopology, task.partitions) for task in last.tasks] == [
        ("active", "0", [0]),
        ("active", "1", [0]),
    ]
    timeline = spark.read.parquet(str(out / "group_timeline")).where("group_id = 'gone'").orderBy("log_offset")
    told = [(row.state, row.protocol_type, row.members) for row in timeline.collect()]
    assert told[0] == ("Stable", "streams", 1)
    assert told[-1] == ("Empty", "streams", 0)
