"""The offset store against a dictionary, and its memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.coordinator import CommittedOffset, OffsetCommit, OffsetTombstone, PartitionCommit
from kafkastub.coordinator.offsets import OffsetStore
from kafkawire.codec import decode, encode
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.rows import Run

partition_indexes = st.one_of(st.integers(0, 40), st.integers(0, 2**31 - 1))
partitions = st.lists(
    st.builds(
        PartitionCommit,
        partition_indexes,
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-1, 2**31 - 1),
        st.one_of(st.none(), st.text(max_size=3)),
    ),
    min_size=1,
    max_size=12,
)
runs = st.builds(
    lambda first, size, offset: [PartitionCommit(i, offset + i, i, "") for i in range(first, first + size)],
    st.integers(0, 60),
    st.integers(8, 60),
    st.integers(0, 1000),
)


def requested(first: int, size: int, offset: int, version: int) -> Run[OffsetCommitRequestPartition]:
    """Neighbours as a request has them; version 5 has no leader epochs."""
    asked = [OffsetCommitRequestPartition(i, offset + i, i, "") for i in range(first, first + size)]
    request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=asked)])
    run = decode(OffsetCommitRequest, version, encode(request, version)).topics[0].partitions
    assert isinstance(run, Run)
    return run


again = st.builds(
    requested,
    st.sampled_from([0, 0, 0, 3, 60]),
    st.sampled_from([1, 5, 5, 20]),
    st.integers(0, 2**40),
    st.sampled_from([5, 8]),
)
"""What consumers commit over and over."""
commits = st.builds(
    OffsetCommit,
    st.sampled_from(["g", "h"]),
    st.sampled_from(["t", "u"]),
    st.one_of(partitions, runs, again, again),
    st.integers(0, 10**13),
    st.sampled_from([-1, -1, -1, -1, 5, 2**63 - 1]),
    st.sampled_from([b"1" * 16, b"1" * 16, b"1" * 16, bytes(16)]),
)
tombstones = st.builds(
    OffsetTombstone, st.sampled_from(["g", "h"]), st.sampled_from(["t", "u"]), st.one_of(partition_indexes)
)
removals = st.integers(0, 1000)
"""The so-many-th offset that there is goes."""


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(commits, commits, commits, tombstones, removals), max_size=30))
def test_the_store_says_what_a_dictionary_would(records: list[OffsetCommit | OffsetTombstone | int]):
    store = OffsetStore()
    model: dict[tuple[str, str, int], CommittedOffset] = {}
    for record in records:
        if isinstance(record, int):
            if not model:
                continue
            record = OffsetTombstone(*list(model)[record % len(model)])
        if isinstance(record, OffsetCommit):
            store.apply_commit(record)
            model.update({(record.group_id, record.topic, p): value for p, value in record.each()})
        else:
            store.apply_tombstone(record)
            model.pop((record.group_id, record.topic, record.partition), None)
    stored = {
        (group, topic, partition): value
        for group in store.group_ids()
        for topic, columns in store.topics(group).items()
        for partition, value in columns.items()
    }
    assert stored == model
    assert store.count == len(model)
    for group in store.group_ids():
        assert store.topics(group), "a group without offsets is still in the store"
        for topic, columns in store.topics(group).items():
            mine = [v for (g, t, _), v in model.items() if (g, t) == (group, topic)]
            assert columns.count == len(mine)
            assert columns.oldest <= min(v.commit_timestamp for v in mine)
    for (group, topic, partition), value in model.items():
        assert store.get(group, topic, partition) == value
    assert store.get("g", "t", 2**31 - 2) == model.get(("g", "t", 2**31 - 2))


def test_a_hundred_thousand_offsets_take_less_than_fifty_bytes_each():
    store = OffsetStore()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for group in range(100):
        parts = [PartitionCommit(i, 1_000_000 + i * group) for i in range(1000)]
        store.apply_commit(OffsetCommit(f"group-{group}", "topic", parts, 1_700_000_000_000, topic_id=b"i" * 16))
    del parts
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert store.count == 100_000
    assert (after - before) / store.count < 50


def test_far_apart_partitions_do_not_make_room_for_all_between_them():
    store = OffsetStore()
    tracemalloc.start()
    store.apply_commit(OffsetCommit("g", "t", [PartitionCommit(i * 1_000_000, i) for i in range(100)], 0))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 1_000_000  # room for all between them would be a hundred times that
    assert store.get("g", "t", 99_000_000) == CommittedOffset(99, -1, "", 0, -1, bytes(16))


def test_deleting_and_committing_far_apart_partitions_again_and_again_uses_the_same_room():
    store = OffsetStore()
    store.apply_commit(OffsetCommit("g", "t", [PartitionCommit(0, 0), PartitionCommit(10**9, 0)], 0))
    tracemalloc.start()
    for i in range(20_000):
        store.apply_tombstone(OffsetTombstone("g", "t", 10**9))
        store.apply_commit(OffsetCommit("g", "t", [PartitionCommit(10**9, i)], i))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 80_000  # four bytes a time would be as much; other threads may take some meanwhile
