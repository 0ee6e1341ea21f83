"""Offsets of open transactions: against a model that goes by the offsets of records, as Kafka does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.coordinator import OffsetCommit, OffsetTombstone, PartitionCommit, PendingOffsets, TransactionMarker
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.offsets import OffsetStore
from kafkawire.errors import ErrorCode, KafkaError
from tests.coordinator.context import CoordinatorTestContext
from tests.coordinator.test_expiry import expired

GROUPS, TOPICS, PRODUCERS = ("g", "h"), ("t", "u"), (7, 8, 9)
Key = tuple[str, str, int]

groups, topics, producers = st.sampled_from(GROUPS), st.sampled_from(TOPICS), st.sampled_from(PRODUCERS)
partitions = st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True)
steps = st.one_of(
    st.tuples(st.just("commit"), groups, topics, partitions),
    st.tuples(st.just("pending"), groups, topics, partitions, producers),
    st.tuples(st.just("pending"), groups, topics, partitions, producers),
    st.tuples(st.just("marker"), producers, st.booleans(), st.sets(groups, min_size=1)),
    st.tuples(st.just("tombstone"), groups, topics, st.integers(0, 3)),
)


class Model:
    """Every offset with the offset of its record; a value is told by that too."""

    def __init__(self) -> None:
        self.committed: dict[Key, int] = {}
        self.pending: dict[int, dict[Key, int]] = {}

    def marker(self, producer: int, commit: bool, of: set[str]) -> None:
        mine = self.pending.get(producer, {})
        for key in [key for key in mine if key[0] in of]:
            at = mine.pop(key)
            if commit and at > self.committed.get(key, -1):
                self.committed[key] = at

    def tombstone(self, key: Key) -> None:
        self.committed.pop(key, None)
        for mine in self.pending.values():
            mine.pop(key, None)


def play(script: Sequence[Any]) -> Iterator[tuple[OffsetStore, Model]]:
    state, model, at = HardState(), Model(), 0
    for step in script:
        kind, *rest = step
        if kind in ("commit", "pending"):
            group, topic, of, *producer = rest
            keys = {(group, topic, p): at + i for i, p in enumerate(of)}
            commit = OffsetCommit(group, topic, [PartitionCommit(k[2], v) for k, v in keys.items()], 1000)
            if producer:
                state.apply(PendingOffsets(*producer, 0, commit))
                model.pending.setdefault(*producer, {}).update(keys)
            else:
                state.apply(commit)
                model.committed.update(keys)
            at += len(of)
        elif kind == "marker":
            producer_id, committed, in_groups = rest
            mine = [one for one in state.offsets.pending.groups_of(producer_id) if one in in_groups]
            state.complete(TransactionMarker(producer_id, 0, committed, 0, 1000, tuple(mine)))
            model.marker(producer_id, committed, in_groups)
        else:
            group, topic, partition = rest
            state.apply(OffsetTombstone(group, topic, partition))
            model.tombstone((group, topic, partition))
        yield state.offsets, model


@settings(max_examples=300, deadline=None)
@given(st.lists(steps, max_size=30))
def test_it_is_what_a_log_read_by_record_offsets_says(script: Sequence[Any]):
    for store, model in play(script):
        keys = [(g, t, p) for g in GROUPS for t in TOPICS for p in range(4)]
        found = {key: offset.offset for key in keys if (offset := store.get(*key)) is not None}
        assert found == model.committed
        assert store.count == len(found)
        pending = {key for mine in model.pending.values() for key in mine}
        assert {key for key in keys if store.is_pending(*key)} == pending
        assert {g for g in GROUPS if store.has_pending(g)} == {g for g, _, _ in pending}
        for producer in PRODUCERS:
            of_producer = {g for g, _, _ in model.pending.get(producer, {})}
            assert set(store.pending.groups_of(producer)) == of_producer


def test_a_commit_without_transaction_stands_against_an_older_one_of_a_transaction():
    context = CoordinatorTestContext()
    context.pend("g", {"a": {0: 5, 1: 6}})
    context.commit("g", {"a": {0: 1}})
    context.end()
    assert context.fetch("g", {"a": [0, 1]}) == {("a", 0): (1, -1, ""), ("a", 1): (6, -1, "")}


def test_of_two_transactions_the_later_commit_stands_and_not_the_later_end():
    context = CoordinatorTestContext()
    context.pend("g", {"a": {0: 5}}, producer=7)
    context.pend("g", {"a": {0: 6}}, producer=8)
    context.end(producer=8)
    assert context.coordinator.offsets.is_pending("g", "a", 0)
    context.end(producer=7)
    assert context.fetch("g", {"a": [0]}) == {("a", 0): (6, -1, "")}
    assert not context.coordinator.offsets.has_pending("g")


def test_what_is_aborted_never_was():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.pend("g", {"a": {0: 5}})
    context.end(commit=False)
    assert context.fetch("g", {"a": [0]}, stable=True) == {("a", 0): (1, -1, "")}


def test_a_deleted_offset_does_not_come_back_with_its_transaction():
    context = CoordinatorTestContext()
    context.pend("g", {"a": {0: 5}})
    context.delete_offsets("g", {"a": [0]})
    assert not context.coordinator.offsets.has_pending("g")
    context.end()
    assert context.fetch("g", {"a": [0]}) == {("a", 0): (-1, -1, "")}


def test_a_deleted_group_takes_its_pending_offsets_along():
    context = CoordinatorTestContext()
    context.commit("g", {"a": {0: 1}})
    context.pend("g", {"a": {0: 5, 1: 6}})
    context.pend("g", {"a": {1: 7}}, producer=8)
    assert context.delete_groups("g") == [("g", ErrorCode.NONE)]
    assert [r for r in context.records if isinstance(r, OffsetTombstone)] == [
        OffsetTombstone("g", "a", 0),
        OffsetTombstone("g", "a", 1),
    ]
    context.end()
    assert context.coordinator.groups == {}


def test_a_deleted_topics_pending_offsets_go():
    context = CoordinatorTestContext()
    context.pend("g", {"a": {0: 5}, "b": {0: 6}})
    context.state.settle(context.coordinator.on_topics_deleted(["b"], context.broker_ms))
    context.end()
    assert list(context.coordinator.offsets.topics("g")) == ["a"]


def test_in_a_deleted_topic_each_pending_offset_gets_a_tombstone_beside_the_committed_ones():
    """As Kafka 4.4.0 writes them."""
    context = CoordinatorTestContext()
    context.commit("g", {"b": {1: 4, 2: 4}})
    context.pend("g", {"b": {0: 1, 1: 2}})
    turn = context.coordinator.on_topics_deleted(["b"], context.broker_ms)
    assert turn.records == [OffsetTombstone("g", "b", partition) for partition in (1, 2, 0, 1)]


def test_a_group_with_nothing_but_pending_offsets_is_not_removed_until_they_are_decided():
    context = CoordinatorTestContext()
    context.pend("g")
    assert expired(context, 1) == []
    context.end(commit=False)
    assert expired(context, 1) == ["g"]


def test_who_commits_within_a_transaction():
    """Kafka: ClassicGroup.validateOffsetCommit with isTransactional."""
    context = CoordinatorTestContext()
    (member,) = context.stable()
    context.pend(member_id=member.member_id, generation=member.generation)
    context.pend()  # before KIP-447 a producer names no member
    for code, how in {
        ErrorCode.ILLEGAL_GENERATION: {"member_id": member.member_id, "generation": member.generation + 1},
        ErrorCode.UNKNOWN_MEMBER_ID: {"member_id": "nobody", "generation": member.generation},
    }.items():
        with pytest.raises(KafkaError) as refused:
            context.pend(**how)  # type: ignore[arg-type]
        assert refused.value.code is code
    with pytest.raises(KafkaError) as refused:
        context.pend("new", generation=3)
    assert refused.value.code is ErrorCode.ILLEGAL_GENERATION
    assert "new" not in context.coordinator.groups


def test_while_a_group_awaits_its_assignment_a_transaction_may_commit():
    context = CoordinatorTestContext()
    member, _ = context.joined(2)
    context.pend(member_id=member.member_id, generation=member.generation)
    assert context.coordinator.offsets.has_pending("g")


def test_metadata_that_is_too_large_is_refused_and_the_rest_is_pending():
    context = CoordinatorTestContext(offset_metadata_max_bytes=3)
    turn = context.pend("g", {"a": {0: 1}}, metadata="four")
    assert turn.reply == {(0, 0)}
    assert not context.coordinator.offsets.has_pending("g")
    assert list(context.coordinator.groups) == ["g"]


def test_what_the_log_has_against_a_producer_leaves_no_group_behind():
    from kafkawire.messages.txn_offset_commit_request import TxnOffsetCommitRequest

    def refuse() -> None:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH)

    context = CoordinatorTestContext()
    request = TxnOffsetCommitRequest("t", "g", 7, 0)
    with pytest.raises(KafkaError):
        context.coordinator.commit_transactional_offsets(
            request, [("a", bytes(16), [PartitionCommit(0, 1)])], 5, refuse, 0, 0
        )
    assert context.coordinator.groups == {}
