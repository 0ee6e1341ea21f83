"""The expiry table, row by row, and the cost of a sweep."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import GroupTombstone, OffsetTombstone
from tests.coordinator.context import DAY_MS, RETENTION_MS, CoordinatorTestContext, subscription

HOUR_MS = 3_600_000


def expired(context: CoordinatorTestContext, after_ms: int) -> list[object]:
    """What a sweep at that time writes: (topic, partition), or the group id of a group."""
    records = context.sweep(after_ms).records
    assert all(isinstance(r, OffsetTombstone | GroupTombstone) for r in records)
    return [r.group_id if isinstance(r, GroupTombstone) else (r.topic, r.partition) for r in records]


def test_a_simple_groups_offsets_expire_each_at_its_own_age_and_the_group_with_the_last():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.broker_ms += HOUR_MS
    context.commit("g", {"a": {1: 1}, "b": {0: 1}})
    assert expired(context, RETENTION_MS - HOUR_MS - 1) == []
    assert expired(context, 1) == [("a", 0)]
    assert expired(context, HOUR_MS - 1) == []
    assert expired(context, 1) == [("a", 1), ("b", 0), "g"]
    assert context.group_state() == "Dead"


def test_committing_again_starts_the_age_anew():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.broker_ms += RETENTION_MS - 1
    context.commit("g", {"a": {0: 2}})
    assert expired(context, RETENTION_MS - 1) == []
    assert expired(context, 1) == [("a", 0), "g"]


def test_an_empty_groups_offsets_expire_all_at_once_counted_from_when_it_became_empty():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.commit("g", {"a": {0: 1}}, generation=1, member_id=member.member_id)
    assert expired(context, 30 * DAY_MS) == []
    context.leave("g", (member.member_id, None))
    assert context.group_state() == "Empty"
    assert expired(context, RETENTION_MS - 1) == []
    assert expired(context, 1) == [("a", 0), "g"]


def test_a_commit_into_a_long_empty_group_expires_at_the_next_sweep():
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.commit("g", {"a": {0: 1}}, generation=1, member_id=member.member_id)
    context.leave("g", (member.member_id, None))
    context.broker_ms += RETENTION_MS
    context.commit("g", {"b": {0: 1}})
    assert expired(context, 0) == [("a", 0), ("b", 0), "g"]


@pytest.mark.parametrize("version", [0, 3])
def test_a_stable_consumer_group_loses_only_what_nobody_subscribes(version: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}, "b": {0: 1}})
    context.stable(protocols={"range": subscription("a", version=version)})
    assert expired(context, RETENTION_MS - 3_000) == [("b", 0)]
    assert expired(context, 30 * DAY_MS) == []
    assert context.fetch("g") == {("a", 0): (1, -1, "")}


@pytest.mark.parametrize("metadata", [b"", b"\0\0\0\0\0\0"], ids=["none", "no user data"])
def test_a_subscription_that_cannot_be_parsed_keeps_everything_while_the_group_lives(metadata: bytes):
    context = CoordinatorTestContext()
    context.commit("g", {"b": {0: 1}})
    (member,) = context.stable(protocols={"range": metadata})
    assert expired(context, 30 * DAY_MS) == []
    context.leave("g", (member.member_id, None))
    assert expired(context, RETENTION_MS) == [("b", 0), "g"]


def test_another_protocol_types_group_keeps_everything_while_it_lives():
    context = CoordinatorTestContext()
    context.commit("g", {"b": {0: 1}})
    (member,) = context.stable(protocol_type="connect", protocols={"range": subscription("a")})
    assert expired(context, 30 * DAY_MS) == []
    context.leave("g", (member.member_id, None))
    assert expired(context, RETENTION_MS - 1) == []
    assert expired(context, 1) == [("b", 0), "g"]


def test_nothing_expires_during_a_rebalance():
    context = CoordinatorTestContext()
    context.commit("g", {"b": {0: 1}})
    members = context.joined(1)
    assert context.group_state() == "CompletingRebalance"
    assert expired(context, 30 * DAY_MS) == []
    context.sync(members[0])
    assert expired(context, 0) == [("b", 0)]


@pytest.mark.parametrize(
    ("profile", "outlives_its_retention"), [("kips", False), ("kafka", True)], ids=["kips", "kafka"]
)
def test_a_commits_own_retention_in_a_stable_group_that_subscribes(profile: str, outlives_its_retention: bool):
    context = CoordinatorTestContext(profile)
    (member,) = context.stable()
    context.commit("g", {"a": {0: 1}}, generation=1, member_id=member.member_id, retention=HOUR_MS, version=4)
    assert expired(context, HOUR_MS - 1) == []
    assert expired(context, 1) == ([] if outlives_its_retention else [("a", 0)])


@pytest.mark.parametrize("profile", ["kips", "kafka"])
@pytest.mark.parametrize("retention", [1, HOUR_MS, 30 * DAY_MS])
def test_a_commits_own_retention_in_a_simple_group(profile: str, retention: int):
    context = CoordinatorTestContext(profile)
    context.commit("g", {"a": {0: 1}}, retention=retention, version=2)
    assert expired(context, retention - 1) == []
    assert expired(context, 1) == [("a", 0), "g"]


@pytest.mark.parametrize("retention", [0, -2, -(2**62)])
def test_a_retention_of_zero_or_below_minus_one_means_at_once(retention: int):
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}}, retention=retention, version=4)
    assert expired(context, 0) == [("a", 0), "g"]


@pytest.mark.behaviour("OC-14")
@pytest.mark.parametrize(("profile", "gone"), [("kips", False), ("kafka", True)])
def test_a_retention_that_overflows(profile: str, gone: bool):
    context = CoordinatorTestContext(profile)
    context.commit("g", {"a": {0: 1}}, retention=2**63 - 1, version=4)
    assert expired(context, 0) == ([("a", 0), "g"] if gone else [])
    assert expired(context, 10_000 * DAY_MS) == []


def test_an_infinite_retention_keeps_everything_explicit_timestamps_included():
    context = CoordinatorTestContext(offsets_retention_minutes=-1)
    context.commit("g", {"a": {0: 1}}, retention=1, version=4)
    context.commit("h", {"a": {0: 1}})
    assert expired(context, 10_000 * DAY_MS) == []
    context.join("empty")
    assert expired(context, 0) == ["empty"]


def test_a_pending_transactional_offset_keeps_its_partitions_offset_and_the_group():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1, 1: 1}})
    context.pend("g", {"a": {0: 2}})
    assert expired(context, RETENTION_MS) == [("a", 1)]
    assert expired(context, DAY_MS) == []
    context.end(commit=False)
    assert expired(context, 1) == [("a", 0), "g"]


def test_a_group_without_offsets_and_members_is_removed_at_the_next_sweep():
    context = CoordinatorTestContext()
    context.join("pending")
    (member,) = context.stable(group_id="left")
    assert expired(context, 0) == ["pending"]
    context.leave("left", (member.member_id, None))
    context.commit("deleted", {"a": {0: 1}})
    context.delete_offsets("deleted", {"a": [0]})
    context.commit("topic", {"b": {0: 1}})
    context.coordinator.on_topics_deleted(["b"], context.broker_ms)
    assert sorted(map(str, expired(context, 0))) == ["deleted", "left", "topic"]
    assert context.coordinator.groups == {}


def test_a_shorter_retention_of_a_running_broker_holds_at_the_next_sweep():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.broker_ms += HOUR_MS
    context.coordinator.set_retention(HOUR_MS)
    assert expired(context, 0) == [("a", 0), "g"]


def test_expired_offsets_are_counted():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1, 1: 1}, "b": {0: 1}})
    context.sweep(RETENTION_MS)
    assert context.coordinator.meters.offset_expirations == 3


def test_a_sweep_looks_only_at_groups_in_which_something_may_be_due(monkeypatch: pytest.MonkeyPatch):
    from kafkastub.coordinator import deletion

    context = CoordinatorTestContext()
    for i in range(50):
        context.commit(f"g{i}", {"a": {0: 1}})
        context.broker_ms += HOUR_MS
    looked = []
    examine = deletion.examine
    monkeypatch.setattr(deletion, "examine", lambda p, group, o, now: looked.append(group) or examine(p, group, o, now))
    assert expired(context, 0) == []
    assert looked == []
    assert expired(context, RETENTION_MS - 48 * HOUR_MS) == [("a", 0), "g0", ("a", 0), "g1", ("a", 0), "g2"]
    assert len(looked) == 3
    assert context.coordinator.next_expiry() == context.broker_ms + HOUR_MS


def test_of_what_has_expired_no_long_group_ids_are_kept():
    """Ten thousand of 32 KB would be a third of a gigabyte."""
    context = CoordinatorTestContext()
    for name in ("g" * 500, "g" * 501):
        context.commit(name, {"a": {0: 1}})
    context.sweep(RETENTION_MS)
    assert context.coordinator.expired.at("g" * 500, "a", 0) == context.broker_ms
    assert context.coordinator.expired.at("g" * 501, "a", 0) is None
