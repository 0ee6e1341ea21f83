"""The expiry table, each row one millisecond before, at and after, in both profiles."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kafkastub.config import Profile
from kafkastub.coordinator import OffsetCommit, PartitionCommit, PendingOffsets
from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.expiry import ExpiryPolicy, examine, expires_at
from kafkastub.coordinator.offsets import OffsetStore

COMMITTED = 1_700_000_000_000
EMPTIED = COMMITTED + 5_000
RETENTION = 60_000
OWN = COMMITTED + 7_000
LONG_MAX = 2**63 - 1
NEVER = None
OTHERS, OURS, UNKNOWN = frozenset({"other"}), frozenset({"topic", "other"}), None


class Row(NamedTuple):
    """A group, and when its offset of `topic` expires: by the broker's retention, and if it carries its own."""

    state: State
    protocol_type: str | None
    subscribed: frozenset[str] | None
    since: int | None
    by_brokers: int | None
    own_counts: bool


ROWS = {
    "empty": Row(State.EMPTY, "consumer", frozenset(), EMPTIED, EMPTIED + RETENTION, True),
    "empty, of another type": Row(State.EMPTY, "connect", UNKNOWN, EMPTIED, EMPTIED + RETENTION, True),
    "empty since nobody knows when": Row(State.EMPTY, "consumer", frozenset(), None, COMMITTED + RETENTION, True),
    "simple": Row(State.EMPTY, None, UNKNOWN, EMPTIED, COMMITTED + RETENTION, True),
    "stable, not subscribed": Row(State.STABLE, "consumer", OTHERS, EMPTIED, COMMITTED + RETENTION, True),
    "stable, no topic subscribed": Row(State.STABLE, "consumer", frozenset(), EMPTIED, COMMITTED + RETENTION, True),
    "stable, subscribed": Row(State.STABLE, "consumer", OURS, EMPTIED, NEVER, False),
    "stable, unknown": Row(State.STABLE, "consumer", UNKNOWN, EMPTIED, NEVER, False),
    "stable, of another type": Row(State.STABLE, "connect", UNKNOWN, EMPTIED, NEVER, False),
    "preparing, not subscribed": Row(State.PREPARING_REBALANCE, "consumer", OTHERS, EMPTIED, NEVER, False),
    "preparing, subscribed": Row(State.PREPARING_REBALANCE, "consumer", OURS, EMPTIED, NEVER, False),
    "preparing, unknown": Row(State.PREPARING_REBALANCE, "consumer", UNKNOWN, EMPTIED, NEVER, False),
    "preparing, of another type": Row(State.PREPARING_REBALANCE, "connect", UNKNOWN, EMPTIED, NEVER, False),
    "completing, not subscribed": Row(State.COMPLETING_REBALANCE, "consumer", OTHERS, EMPTIED, NEVER, False),
    "completing, subscribed": Row(State.COMPLETING_REBALANCE, "consumer", OURS, EMPTIED, NEVER, False),
    "completing, unknown": Row(State.COMPLETING_REBALANCE, "consumer", UNKNOWN, EMPTIED, NEVER, False),
    "completing, of another type": Row(State.COMPLETING_REBALANCE, "connect", UNKNOWN, EMPTIED, NEVER, False),
}
PROFILES = ("kips", "kafka")
in_both = pytest.mark.parametrize("profile", PROFILES)
in_each_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


def group_of(row: Row) -> ClassicGroup:
    group = ClassicGroup("g", row.since)
    group.state, group.protocol_type, group.subscribed = row.state, row.protocol_type, row.subscribed
    return group


def is_expired(profile: str, row: Row, own: int, now: int, retention: int = RETENTION, pending: bool = False) -> bool:
    """As the predicate says, and as a look at the whole group says."""
    policy = ExpiryPolicy(retention, Profile.named(profile).explicit_retention_ignores_state)
    group = group_of(row)
    considered = None if group.subscribes("topic") else group.consideration()
    by_predicate = expires_at(policy, considered, COMMITTED, own) <= now
    store = OffsetStore()
    store.apply_commit(
        OffsetCommit("g", "topic", [PartitionCommit(0, 1)], COMMITTED, own, version=4 if own == -1 else 1)
    )
    if pending:
        store.apply_pending(PendingOffsets(7, 0, OffsetCommit("g", "topic", [PartitionCommit(0, 2)], COMMITTED)))
    found = examine(policy, group, store, now)
    assert found.expired == ([("topic", 0)] if by_predicate and not pending else [])
    assert found.all_gone == bool(found.expired)
    assert found.all_gone or found.check_at > now
    return bool(found.expired)


def assert_expires(profile: str, row: Row, own: int, due: int | None) -> None:
    moments = [0, COMMITTED, EMPTIED + RETENTION, 100 * COMMITTED, LONG_MAX] if due is None else [due - 1]
    assert [is_expired(profile, row, own, now) for now in moments] == [False] * len(moments)
    if due is not None:
        later = [due, due + 1, 100 * COMMITTED]
        assert [is_expired(profile, row, own, now) for now in later] == [True] * 3


@in_both
@in_each_row
def test_by_the_brokers_retention(profile: str, row: Row):
    assert_expires(profile, row, -1, row.by_brokers)


@pytest.mark.parametrize("own", [OWN, COMMITTED, COMMITTED - 2, EMPTIED + 10 * RETENTION])
@in_both
@in_each_row
def test_by_its_own_retention(profile: str, row: Row, own: int):
    """In the profile kips whatever the group does; in the profile kafka where the table considers the offset."""
    assert_expires(profile, row, own, own if profile == "kips" or row.own_counts else NEVER)


@in_each_row
def test_a_sum_that_overflowed_is_long_over_in_kafka(row: Row):
    assert is_expired("kafka", row, LONG_MAX + COMMITTED - 2**64, COMMITTED) is row.own_counts


@in_both
@in_each_row
def test_a_pending_transaction_holds_it_up(profile: str, row: Row):
    for own in (-1, OWN):
        assert not is_expired(profile, row, own, 100 * COMMITTED, pending=True)


@pytest.mark.parametrize("own", [-1, 0, OWN, COMMITTED - 2])
@in_each_row
def test_an_infinite_retention_is_for_all_and_for_ever(row: Row, own: int):
    """KAFKA-20461: even at the largest time, and for those with their own retention too."""
    for now in (0, COMMITTED, EMPTIED + RETENTION, LONG_MAX):
        assert not is_expired("kips", row, own, now, retention=-1)
