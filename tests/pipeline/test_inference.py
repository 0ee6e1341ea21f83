"""What `deletion_audit` says where no journal names the API: as much as the log tells, and no more.

All histories stand on one log, each with groups and topics of its own, so that Spark goes through them once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.log import HOUR, MINUTE, START, Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
OLD, NEW = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
DAY = 24 * HOUR
GONE = {"lost", "ended later"}
IDS = {"same": OLD, "other": NEW}
"""What the cluster says of topics."""

Rows = dict[tuple[str, str | None], Any]


def went_with_the_group_or_alone(log: Log) -> None:
    for group in ("whole", "part", "live", "connect"):
        log.commit(group, f"of {group}", 0, id_=OLD)
        log.commit(group, f"kept by {group}", 0, id_=OLD)
    log.gone("whole", "of whole", HOUR)
    log.gone("whole", "kept by whole", HOUR)
    log.group_gone("whole", HOUR)
    log.gone("part", "of part", HOUR)
    log.commit("another", "of part", 2 * HOUR, id_=OLD)
    log.generation("live", 0, "of live")
    log.gone("live", "of live", HOUR)
    log.generation("connect", 0, kind="connect")
    log.gone("connect", "of connect", HOUR)


def topics_end_or_live_on(log: Log) -> None:
    for topic in ("shared", "outlived", "unclear", "remade", "lost", "ended later"):
        log.commit("one", topic, 0, id_=OLD if topic == "remade" else None)
    for topic in ("shared", "outlived", "ended later"):
        log.commit("two", topic, MINUTE)
    log.gone("one", "shared", HOUR)
    log.gone("two", "shared", HOUR + 20)  # another partition of the log, a little later
    log.gone("one", "outlived", 2 * HOUR)
    log.gone("one", "unclear", 3 * HOUR)
    log.gone("one", "remade", 4 * HOUR)
    log.commit("two", "remade", 5 * HOUR, id_=NEW)
    log.gone("one", "lost", 6 * HOUR)
    log.gone("one", "ended later", 7 * HOUR)
    log.gone("two", "ended later", 8 * HOUR)


def the_cluster_knows_ids(log: Log) -> None:
    for topic in IDS:
        log.commit("asks", topic, 0, id_=OLD)
        log.gone("asks", topic, HOUR)
    log.commit("only", "other", 0, id_=OLD)
    log.gone("only", "other", HOUR)
    log.group_gone("only", HOUR)


def groups_are_swept(log: Log) -> None:
    """A broker that sweeps at once (the stub) removes groups together with their last offsets; Kafka's comes later."""
    log.together("swept 1", "swept 2", "swept 3")
    for group in ("swept 1", "swept 2"):
        log.commit(group, "swept", 0)
    for group in ("swept 1", "swept 2"):
        log.gone(group, "swept", HOUR)
    for group in ("swept 1", "swept 2"):
        log.group_gone(group, HOUR)
    log.commit("swept 3", "alone", 2 * HOUR)
    log.gone("swept 3", "alone", 3 * HOUR)
    log.group_gone("swept 3", 3 * HOUR + MINUTE)


def nothing_explains(log: Log) -> None:
    """A subscribed offset of a topic that lives on: no rule lets it go, and no API does."""
    log.commit("subscribed", "lives", 0)
    log.commit("beside it", "lives", 0)
    log.generation("subscribed", 0, "lives")
    log.gone("subscribed", "lives", HOUR)
    log.gone("subscribed", "never was", HOUR)


def too_early(log: Log) -> None:
    log.commit("early", "of early", 0)
    log.gone("early", "of early", HOUR)


@pytest.fixture(scope="module")
def told(spark: SparkSession) -> Rows:
    from kafkastub_pipeline.cluster import Snapshot

    log = Log()
    went_with_the_group_or_alone(log)
    topics_end_or_live_on(log)
    the_cluster_knows_ids(log)
    groups_are_swept(log)
    nothing_explains(log)
    too_early(log)
    return audit(spark, log, Snapshot(START, topics=set(IDS), topic_ids=IDS))


def audit(spark: SparkSession, log: Log, cluster: Any = None, broker_minutes: int | None = None) -> Rows:
    from kafkastub_pipeline.tables.audit import deletion_audit
    from kafkastub_pipeline.tables.history import findings

    found = findings(log.records(spark), None, (10080,), "kips", broker_minutes)
    rows = deletion_audit(found, cluster, GONE).collect()
    places = [(row.group_id, row.topic) for row in rows]
    assert len(set(places)) == len(places)
    assert {row.evidence for row in rows} == {"log"}
    return dict(zip(places, rows, strict=True))


def reasons(told: Rows, *groups: str) -> dict[tuple[str, str | None], str]:
    return {place: row.reason for place, row in told.items() if place[0] in groups}


def test_a_group_that_goes_whole_was_deleted(told: Rows) -> None:
    assert reasons(told, "whole") == {
        ("whole", "of whole"): "DeleteGroups",
        ("whole", "kept by whole"): "DeleteGroups",
        ("whole", None): "DeleteGroups",
    }


def test_a_topic_that_keeps_its_id_was_not_deleted(told: Rows) -> None:
    assert reasons(told, "part") == {("part", "of part"): "OffsetDelete"}


def test_what_a_live_group_uses_goes_with_the_topic_alone(told: Rows) -> None:
    assert reasons(told, "live", "connect") == {
        ("live", "of live"): "topic deletion",
        ("connect", "of connect"): "topic deletion",
    }


def test_topics_that_are_deleted_and_topics_that_live_on(told: Rows) -> None:
    assert reasons(told, "one", "two") == {
        ("one", "shared"): "topic deletion",
        ("two", "shared"): "topic deletion",
        ("one", "outlived"): "OffsetDelete",  # the other group's offset lives on
        ("one", "unclear"): "OffsetDelete or topic deletion",
        ("one", "remade"): "topic deletion",
        ("one", "lost"): "topic deletion",
        ("one", "ended later"): "OffsetDelete",
        ("two", "ended later"): "topic deletion",
    }


def test_the_ids_that_the_cluster_tells(told: Rows) -> None:
    assert reasons(told, "asks", "only") == {
        ("asks", "same"): "OffsetDelete",
        ("asks", "other"): "topic deletion",
        ("only", "other"): "DeleteGroups or topic deletion",
        ("only", None): "DeleteGroups or topic deletion",
    }


def test_a_group_whose_tombstone_is_not_behind_its_offsets_was_swept(told: Rows) -> None:
    assert reasons(told, "swept 1", "swept 2", "swept 3") == {
        ("swept 1", "swept"): "topic deletion",
        ("swept 2", "swept"): "topic deletion",
        ("swept 3", "alone"): "OffsetDelete or topic deletion",
        ("swept 1", None): "no offsets left",
        ("swept 2", None): "no offsets left",
        ("swept 3", None): "no offsets left",
    }
    assert {group for (group, topic), row in told.items() if row.predicted} == {"swept 1", "swept 2", "swept 3"}
    assert {topic for (_, topic), row in told.items() if row.predicted} == {None}


def test_what_nothing_explains(told: Rows) -> None:
    assert reasons(told, "subscribed") == {
        ("subscribed", "lives"): "unexplained",
        ("subscribed", "never was"): "repeated",
    }
    assert told["subscribed", "lives"].late_ms is None


def test_what_went_too_early_says_so(told: Rows) -> None:
    early = told["early", "of early"]
    assert (early.reason, early.predicted, early.late_ms) == ("OffsetDelete or topic deletion", False, HOUR - 7 * DAY)


def test_expiry_is_judged_by_the_brokers_own_retention(spark: SparkSession) -> None:
    log = Log()
    for group, gone in (("in time", HOUR), ("swept", HOUR + 9 * MINUTE), ("late", 4 * HOUR)):
        log.commit(group, "orders", 0)
        log.gone(group, "orders", gone)
        log.group_gone(group, gone)
    log.generation("long empty", 0, "orders", members=())
    log.commit("long empty", "orders", 5 * HOUR)  # by an administrator: it goes with the next sweep
    log.gone("long empty", "orders", 5 * HOUR + 9 * MINUTE)
    log.commit("swept", "other", 8 * HOUR)
    log.gone("swept", "other", 9 * HOUR - 1)
    found = audit(spark, log, broker_minutes=60)
    assert {place: (row.reason, row.predicted, row.late_ms) for place, row in found.items() if place[1]} == {
        ("in time", "orders"): ("expiry", True, 0),
        ("swept", "orders"): ("expiry", True, 9 * MINUTE),
        ("late", "orders"): ("expiry", False, 3 * HOUR),
        ("long empty", "orders"): ("expiry", True, 4 * HOUR + 9 * MINUTE),
        ("swept", "other"): ("OffsetDelete or topic deletion", False, -1),
    }
    assert {group: (row.reason, row.predicted) for (group, topic), row in found.items() if topic is None} == {
        "in time": ("expiry", True),
        "swept": ("expiry", True),
        "late": ("expiry", False),
    }
