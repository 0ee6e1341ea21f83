"""Transactional offset commits in `__consumer_offsets`, as readers see it: batches, markers, what is stable."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.state.internal_topics.offsets_codec import coordinator_record
from kafkastub.state.topics import ensure_offsets_topic
from kafkastub.state.transaction_coordinator.markers import end_transaction_of_offsets
from kafkastub.storage import Marker
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.offsets_topic import decode_record
from kafkawire.records import EndMarker, parse_header, read_batch, read_marker, split_batches
from tests.coordinator.context import CoordinatorTestContext
from tests.offsets_topic.reading import batches, fetched, short
from tests.offsets_topic.test_log import one_partition
from tests.offsets_topic.test_reload import History, offsets, reload

TRANSACTIONAL, CONTROL = 0x10, 0x20
READ_COMMITTED = 1


def committed(context: CoordinatorTestContext, partition: int = 0) -> list[tuple[int, Any]]:
    """(offset, record in short) of what a consumer of committed records is given, as the Java client finds it."""
    offset, found = 0, []
    while True:
        answer = fetched(context, partition, offset, isolation_level=READ_COMMITTED)
        assert answer.error_code == 0
        begins = sorted((one.first_offset, one.producer_id) for one in answer.aborted_transactions or ())
        aborted = set()
        before = offset
        for _, batch in split_batches(answer.records):
            header = parse_header(batch)
            if header.base_offset >= answer.last_stable_offset:
                break
            offset = header.last_offset + 1
            while begins and begins[0][0] <= header.last_offset:
                aborted.add(begins.pop(0)[1])
            records = list(read_batch(bytes(batch)))
            if header.control:
                aborted.discard(header.producer_id)
            elif not header.transactional or header.producer_id not in aborted:
                meant = [(one.offset, coordinator_record(decode_record(one.key, one.value))) for one in records]
                found += [(at, short(one)) for at, one in meant if one is not None]
        if offset == before:
            return found


def test_a_commit_is_a_transactional_batch_of_its_producer_and_its_end_a_control_batch():
    context = one_partition()
    context.pend("g", {"a": {0: 5, 3: 6}, "b": {1: 7}}, producer=7, epoch=2)
    context.end(producer=7, epoch=2)
    context.commit("g", {"a": {0: 8}})
    data, marker, plain = (batch.header for batch in batches(context))
    assert (data.attributes, data.producer_id, data.producer_epoch, data.base_sequence) == (TRANSACTIONAL, 7, 2, 0)
    assert (data.base_offset, data.last_offset) == (0, 2)
    assert marker.attributes == TRANSACTIONAL | CONTROL
    assert (marker.producer_id, marker.producer_epoch, marker.base_sequence, marker.base_offset) == (7, 2, -1, 3)
    assert (plain.attributes, plain.producer_id, plain.base_offset) == (0, -1, 4)
    log = context.state.offsets_topic.logs[0]
    assert [read_marker(r) for r in log.records() if r.offset == 3] == [EndMarker(commit=True, coordinator_epoch=0)]


def test_an_open_transaction_holds_the_last_stable_offset():
    context = one_partition()
    context.commit("g", {"a": {0: 1}})
    context.pend("g", {"a": {1: 1}})
    context.commit("h", {"a": {0: 2}})
    answer = fetched(context, 0, 0, isolation_level=READ_COMMITTED)
    assert (answer.high_watermark, answer.last_stable_offset) == (3, 1)
    assert committed(context) == [(0, ("g", "a", 0, 1))]
    context.end()
    assert [at for at, _ in committed(context)] == [0, 1, 2]
    assert fetched(context, 0, 0).last_stable_offset == 4


@pytest.mark.parametrize("history", [0, 100])
def test_who_reads_committed_records_is_not_shown_an_aborted_commit(history: int):
    context = one_partition(history=history)
    context.pend("g", {"a": {0: 1}})
    context.end(commit=False)
    context.pend("g", {"a": {0: 2}})
    context.end()
    for offset in range(3):
        context.commit("h", {"a": {0: offset}})
    shown = committed(context)
    assert (2, ("g", "a", 0, 2)) in shown
    assert not [one for _, one in shown if one == ("g", "a", 0, 1)]


@pytest.mark.parametrize("history", range(8))
def test_who_reads_committed_records_is_shown_what_was_committed_after_an_abort_that_is_compacted(history: int):
    context = one_partition(history=history)
    context.pend("g", {"a": {0: 1}})
    context.end(commit=False)
    for offset in range(12):
        context.commit("h", {"a": {offset % 3: offset}})
        batches(context)
    context.pend("g", {"a": {0: 2}})
    context.end()
    assert [one for _, one in committed(context) if one[0] == "g"] == [("g", "a", 0, 2)]


@pytest.mark.parametrize("history", range(8))
def test_a_marker_counts_on_reload_though_nothing_is_left_of_its_group(history: int):
    context = one_partition(history=history)
    context.commit("g", {"a": {1: 9}})
    context.delete_groups("g")
    context.pend("g", {"a": {0: 5}})
    context.end(commit=False)
    for number in range(4):
        context.commit(f"h{number}")
        reload(context)
        assert not context.coordinator.offsets.has_pending("g")


@pytest.mark.parametrize("history", range(8))
def test_what_was_committed_stays_where_it_stood_though_an_aborted_commit_said_the_same(history: int):
    context = one_partition(history=history)
    context.pend("g", {"a": {0: 5}}, producer=1)
    context.end(producer=1)
    context.pend("g", {"a": {0: 6}}, producer=2)
    context.pend("g", {"a": {0: 5}}, producer=3)
    context.end(commit=False, producer=3)
    for offset in range(6):
        context.commit("h", {"a": {offset % 2: offset}})
    reload(context)
    context.end(producer=2)
    assert context.fetch("g", {"a": [0]}) == {("a", 0): (6, -1, "")}


def test_what_is_pending_stays_pending_however_much_is_compacted():
    context = one_partition(history=0)
    context.pend("g", {"a": {0: 5, 1: 6}})
    for offset in range(20):
        context.commit("h", {"a": {0: offset}})
    old, *_ = batches(context)
    assert (old.header.attributes, old.header.producer_id) == (TRANSACTIONAL, 7)
    assert [short(record) for _, _, record in old.records] == [("g", "a", 0, 5), ("g", "a", 1, 6)]
    assert committed(context) == []
    reload(context)
    assert context.coordinator.offsets.is_pending("g", "a", 1)
    context.end()
    context.commit("h", {"a": {0: 21}})
    first = batches(context)[0]
    assert first.header.attributes == 0, "decided: it is a commit like any other"
    assert committed(context)[:2] == [(0, ("g", "a", 0, 5)), (1, ("g", "a", 1, 6))]
    reload(context)
    assert context.fetch("g", {"a": [0, 1]}) == {("a", 0): (5, -1, ""), ("a", 1): (6, -1, "")}


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 60), history=st.sampled_from([0, 1, 7, 10_000]))
def test_committed_records_are_the_committed_offsets(seed: int, steps: int, history: int):
    """Of every history: who reads committed records to the end knows what the coordinator knows."""
    story = History(seed, history)
    for _ in range(steps):
        story.step()
    context = story.context
    context.commit("g", {"a": {0: 1}})
    for producer in range(3):
        story.context.end(commit=bool(seed & 1), producer=producer)
    last: dict[Any, Any] = {}
    for partition in range(3):
        for _, one in committed(context, partition):
            if isinstance(one, tuple):
                last[one[:3]] = one[3]
    known = {
        (group, topic, partition): value.offset
        for group, topics in offsets(context.coordinator.hard).items()
        for topic, values in topics.items()
        for partition, value in values.items()
    }
    assert {key: value for key, value in last.items() if value is not None} == known


def test_a_producer_is_fenced_by_what_it_wrote_in_a_later_epoch():
    context = one_partition()
    context.pend("g", epoch=3)
    topic = context.state.offsets_topic
    topic.check_producer("g", 7, 3)
    with pytest.raises(KafkaError) as refused:
        topic.check_producer("g", 7, 2)
    assert refused.value.code is ErrorCode.INVALID_PRODUCER_EPOCH


def end(context: CoordinatorTestContext, partition: int = 0, epoch: int = 0, **more: Any) -> None:
    end_transaction_of_offsets(context.state, partition, Marker(7, epoch, True, **more), context.broker_ms)


@pytest.mark.parametrize(
    ("epoch", "more", "code"),
    [
        (2, {"coordinator_epoch": 5}, ErrorCode.INVALID_PRODUCER_EPOCH),
        (3, {"coordinator_epoch": 5, "transaction_version": 2}, ErrorCode.INVALID_PRODUCER_EPOCH),
        (3, {"coordinator_epoch": 4}, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
    ],
)
def test_a_marker_that_must_not_be_written_changes_nothing(epoch: int, more: dict[str, Any], code: ErrorCode):
    context = one_partition()
    ensure_offsets_topic(context.state)
    end(context, epoch=3, coordinator_epoch=5)
    context.pend("g", epoch=3)
    with pytest.raises(KafkaError) as refused:
        end(context, epoch=epoch, **more)
    assert refused.value.code is code
    assert context.coordinator.offsets.is_pending("g", "a", 0)
    assert context.state.offsets_topic.logs[0].log_end_offset == 2


def test_a_marker_ends_what_is_pending_in_its_partition_and_no_other():
    context = CoordinatorTestContext(offsets_topic_num_partitions=3)
    for group in ("g", "h", "some-other-group"):
        context.pend(group)
    where = {group: context.state.offsets_topic.log_of(group).partition for group in ("g", "h", "some-other-group")}
    assert len(set(where.values())) > 1
    end(context, where["g"])
    pending = context.coordinator.offsets.has_pending
    assert {group: pending(group) for group in where} == {g: where[g] != where["g"] for g in where}


def test_aborted_transactions_are_forgotten_with_their_records():
    context = one_partition(history=10)
    for _ in range(3000):
        context.pend("g")
        context.end(commit=False)
    aborted = context.state.offsets_topic.logs[0].producer_states.aborted
    assert aborted is not None
    assert len(aborted) < 2500
    assert aborted.between(2 * 2999, 2 * 3000), "the newest are in the tail"
