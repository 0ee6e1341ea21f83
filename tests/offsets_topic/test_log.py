"""`__consumer_offsets` as a client reads it: what is written, in which batches, and what compaction leaves."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

from kafkastub.config import BrokerConfig, ConfigError, Profile
from kafkastub.coordinator import GroupMetadata, GroupTombstone, partition_for
from kafkastub.state.topics import configure_topic, create_topic, delete_topics
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.offsets_topic import decode_record
from kafkawire.records import NewRecord, build_batch, parse_header, read_batch
from tests.coordinator.context import RETENTION_MS, START_MS, CoordinatorTestContext, Parked
from tests.offsets_topic.reading import TOPIC, batches, fetch_request, fetched, list_offset, records


def one_partition(history: int = 1000, **config: object) -> CoordinatorTestContext:
    return CoordinatorTestContext(offsets_topic_num_partitions=1, kafkastub_offsets_history_records=history, **config)


def test_a_commit_is_a_batch_with_the_time_of_the_broker():
    context = one_partition()
    context.commit("g", {"a": {0: 1, 1: 2}, "b": {3: 4}})
    context.broker_ms += 50
    context.commit("h", {"a": {0: 5}}, metadata="m", epoch=2)
    first, second = batches(context)
    assert first.header[:3] == (0, first.header.length, 0)
    assert [at for at, _, _ in first.records] == [0, 1, 2]
    assert second.header.base_offset == 3
    assert (second.header.base_timestamp, second.header.max_timestamp) == (START_MS + 50, START_MS + 50)
    ((_, timestamp, commit),) = second.records
    assert timestamp == START_MS + 50
    topic = context.state.cluster.topics["a"]
    assert repr(commit) == (
        f"OffsetCommit('h', 'a', v4, {{0: CommittedOffset(offset=5, leader_epoch=2, metadata='m', "
        f"commit_timestamp={START_MS + 50}, expire_timestamp=-1, topic_id={topic.topic_id!r})}})"
    )
    assert records(context) == [
        (0, ("g", "a", 0, 1)),
        (1, ("g", "a", 1, 2)),
        (2, ("g", "b", 3, 4)),
        (3, ("h", "a", 0, 5)),
    ]


def test_a_group_is_in_the_partition_that_kafka_hashes_it_to():
    context = CoordinatorTestContext()
    for group in ("g", "h", "a group with a, and a :"):
        context.commit(group)
        ((_, (found, *_)),) = records(context, partition_for(group, 50))
        assert found == group
    assert len(context.state.cluster.topics[TOPIC].partitions) == 50


def test_many_partitions_of_a_topic_are_one_batch():
    context = one_partition()
    context.commit("g", {"a": {p: 10 + p for p in range(10)}})
    context.commit("g", {"a": {p: 20 + p for p in (9, 0, 7, 1, 2, 5, 3, 8, 4)}}, metadata="m")
    run, scattered = batches(context)
    assert [at for at, _, _ in run.records] == list(range(10))
    assert records(context)[10:] == [(10 + i, ("g", "a", p, 20 + p)) for i, p in enumerate((9, 0, 7, 1, 2, 5, 3, 8, 4))]
    assert scattered.header.record_count == 9


def test_a_retention_of_its_own_is_version_1():
    context = one_partition()
    context.commit("g", {"a": {0: 1}}, version=2, retention=500, epoch=-1)
    ((_, _, commit),) = batches(context)[0].records
    assert (commit.version, commit.expire_timestamp) == (1, START_MS + 500)


@pytest.mark.parametrize(("pinned", "epoch", "has_id"), [(0, -1, False), (1, -1, False), (3, 5, False), (4, 5, True)])
def test_the_version_of_offsets_can_be_pinned(pinned: int, epoch: int, has_id: bool):
    context = one_partition(kafkastub_offset_commit_value_version=pinned)
    context.commit("g", epoch=5)
    context.commit("g", version=3, retention=500)
    ((_, _, plain),), ((_, _, expiring),) = (batch.records for batch in batches(context))
    assert (plain.version, expiring.version, expiring.expire_timestamp) == (pinned, 1, START_MS + 500)
    ((_, value),) = plain.each()
    assert (value.offset, value.leader_epoch, any(value.topic_id)) == (1, epoch, has_id)


@pytest.mark.parametrize(
    ("name", "value"), [("kafkastub.offset.commit.value.version", 5), ("kafkastub.offsets.history.records", -1)]
)
def test_what_is_no_version_or_no_number_is_refused(name: str, value: int):
    with pytest.raises(ConfigError, match=f"{name}={value} is refused"):
        BrokerConfig({name: value}, Profile.named("kips"))


def test_the_stubs_own_names_are_no_business_of_dynamic_configuration():
    config = BrokerConfig({"kafkastub.offsets.history.records": "7"}, Profile.named("kips"))
    config.set_dynamic({"log.cleaner.threads": "2"}, per_broker=True)
    assert config["kafkastub.offsets.history.records"] == 7
    assert not [name for name in (*config.static, *config.unknown) if name.startswith("kafkastub.")]


def test_a_groups_life_is_on_the_log():
    context = one_partition()
    (member,) = context.stable()
    context.commit("g", {"a": {0: 7}}, generation=1, member_id=member.member_id)
    context.leave("g", (member.member_id, None))
    context.sweep(RETENTION_MS)
    (_, created), (_, stable), (_, commit), (_, empty), *gone = records(context)
    assert (created.generation, created.protocol_type, created.members) == (0, "", ())
    assert [m.member_id for m in stable.members] == [member.member_id]
    assert commit == ("g", "a", 0, 7)
    assert (empty.generation, empty.members, empty.current_state_timestamp) == (2, (), context.broker_ms - RETENTION_MS)
    assert gone == [(4, ("g", "a", 0, None)), (5, GroupTombstone("g"))]
    last = batches(context)[-1]
    assert (last.header.record_count, last.records[0][1]) == (2, context.broker_ms), "one batch, of the sweep's time"


def test_deleted_groups_of_a_partition_are_one_batch():
    context = one_partition()
    context.commit("g")
    context.commit("h")
    context.delete_groups("g", "nobody", "h")
    assert [batch.header.record_count for batch in batches(context)] == [1, 1, 4]


def test_members_lost_in_two_groups_at_once_are_two_batches():
    context = one_partition()
    context.stable(group_id="g", session=10_000)
    context.stable(group_id="h", session=10_000)
    before = len(batches(context))
    context.advance(20_000)
    later = batches(context)[before:]
    assert [(b.header.record_count, b.records[0][2].group_id) for b in later] == [(1, "g"), (1, "h")]


def test_offsets_of_a_deleted_topic_are_tombstones():
    context = one_partition()
    context.commit("g", {"a": {0: 1}, "b": {1: 2}})
    delete_topics(context.state, ["b"], context.broker_ms)
    assert records(context)[2:] == [(2, ("g", "b", 1, None))]


def test_with_the_topic_goes_all_that_was_on_it():
    context = one_partition()
    context.commit("g")
    delete_topics(context.state, [TOPIC], context.broker_ms)
    assert context.fetch("g", {"a": [0]}) == {("a", 0): (-1, -1, "")}
    context.commit("g", {"a": {0: 8}})
    assert records(context) == [(0, ("g", "a", 0, 8))]


# -- compaction --------------------------------------------------------------------------------------------------


def test_history_keeps_overwritten_offsets_and_tombstones():
    context = one_partition(history=100)
    for offset in range(5):
        context.commit("g", {"a": {0: offset}})
    context.delete_offsets("g", {"a": [0]})
    assert [short for _, short in records(context)] == [*(("g", "a", 0, o) for o in range(5)), ("g", "a", 0, None)]


@pytest.mark.parametrize("look", [False, True], ids=["nobody looks", "somebody looks meanwhile"])
def test_compaction_leaves_the_last_record_of_each_key_at_its_offset(look: bool):
    context = one_partition(history=3)
    context.commit("quiet", {"b": {3: 33}}, metadata="kept")
    (member,) = context.stable(group_id="live")
    context.commit("gone")
    context.delete_groups("gone")
    for offset in range(20):
        context.commit("busy", {"a": {0: offset, 1: 100 + offset}})
        if look:
            records(context)
    found = records(context)
    offsets = [at for at, _ in found]
    assert offsets == sorted(offsets)
    assert found[0] == (0, ("quiet", "b", 3, 33)), "log start and offsets stay"
    assert isinstance(found[1][1], GroupMetadata)
    assert [m.member_id for m in found[1][1].members] == [member.member_id]
    assert found[1][0] == 2, "the group's first record was overwritten"
    assert not [short for _, short in found if "gone" in repr(short)], "nor is there any trace of a deleted group"
    assert found[-2:] == [(44, ("busy", "a", 0, 19)), (45, ("busy", "a", 1, 119))]
    assert len(found) <= 2 + 2 * 3
    assert list_offset(context, 0, -2) == (-1, 0)
    assert list_offset(context, 0, -1) == (-1, 46)


def test_history_is_counted_over_all_partitions_and_the_last_write_of_each_stays():
    context = CoordinatorTestContext(offsets_topic_num_partitions=2, kafkastub_offsets_history_records=10)
    groups = [next(g for g in "abcdefgh" if partition_for(g, 2) == p) for p in (0, 1)]
    context.commit(groups[0])
    context.delete_groups(groups[0])
    for offset in range(100):
        context.commit(groups[1], {"a": {0: offset}})
    assert records(context, 0)[-1] == (2, GroupTombstone(groups[0])), "a reader gets to the end"
    busy = records(context, 1)
    assert 10 <= len(busy) <= 20
    assert busy[-10:] == [(at, (groups[1], "a", 0, at)) for at in range(90, 100)]


@pytest.mark.parametrize("limit", [1, 200, 5000])
def test_a_compacted_log_is_read_whole_whatever_the_limit(limit: int):
    context = one_partition(history=20)
    for group in ("g", "h"):
        for offset in range(400):
            context.commit(group, {"a": dict.fromkeys(range(offset % 7, 10), offset)})
    latest = {(group, p): max(o for o in range(400) if p >= o % 7) for group in ("g", "h") for p in range(10)}
    read = {(group, p): offset for _, (group, _, p, offset) in records(context, limit=limit)}
    assert read == latest


def test_a_reader_that_is_overtaken_by_compaction_finds_the_latest():
    context = one_partition(history=10)
    context.commit("g", {"a": {p: p for p in range(10)}})
    context.commit("h", {"b": {p: p for p in range(10)}})
    for offset in range(50):
        context.commit("busy", {"a": {0: offset}})
    seen = {}
    answer = fetched(context, 0, 0)
    first = parse_header(bytes(answer.records))
    for offset in range(100):
        context.commit("busy", {"a": {0: 100 + offset}})
        context.commit("h", {"b": {offset % 5: 1000 + offset}})
    at = 0
    while at < list_offset(context, 0, -1)[1]:
        batch = bytes(fetched(context, 0, at, limit=1).records)
        for record in read_batch(batch):
            decoded = decode_record(record.key, record.value)
            seen[repr(decoded.key)] = getattr(decoded.value, "offset", None)
        at = parse_header(batch).last_offset + 1
    assert first.base_offset == 0
    assert seen["OffsetCommitKey(group='busy', topic='a', partition=0)"] == 199
    assert [seen[f"OffsetCommitKey(group='h', topic='b', partition={p})"] for p in range(10)] == [
        1095, 1096, 1097, 1098, 1099, 5, 6, 7, 8, 9,
    ]  # fmt: skip
    assert [seen[f"OffsetCommitKey(group='g', topic='a', partition={p})"] for p in range(10)] == list(range(10))


def test_far_apart_partitions_survive_compaction():
    context = CoordinatorTestContext(topics=(), offsets_topic_num_partitions=1, kafkastub_offsets_history_records=2)
    create_topic(context.state, "wide", 5000)
    context.commit("g", {"wide": {3: 1, 4000: 2}})
    context.commit("g", {"wide": {2000: 3, 4000: 4}})
    context.delete_offsets("g", {"wide": [3]})
    for offset in range(20):
        context.commit("g", {"wide": {77: offset}})
    kept = dict(short[2:] for _, short in records(context) if short[3] is not None)
    assert kept == {2000: 3, 4000: 4, 77: 19}


def test_commits_to_one_partition_keep_memory_flat():
    context = one_partition(history=1000)
    write = _committing(context, "g", 0)
    write(2500)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    write(8000)  # what grows with commits by fifty bytes each would show
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 400_000
    assert list_offset(context, 0, -1)[1] == 10_500
    assert len(records(context)) <= 2_000


def _committing(context: CoordinatorTestContext, group: str, partition: int) -> Any:
    def write(times: int) -> None:
        for offset in range(times):
            context.commit(group, {"a": {partition: offset}})
            context.records.clear()

    return write


# -- reading -----------------------------------------------------------------------------------------------------


def test_the_first_batch_comes_whatever_the_limit_and_others_are_cut():
    context = one_partition()
    for offset in range(3):
        context.commit("g", {"a": {0: offset}})
    whole = bytes(fetched(context, 0, 0).records)
    size = parse_header(whole).size
    assert bytes(fetched(context, 0, 0, limit=1).records) == whole[:size]
    assert bytes(fetched(context, 0, 1, limit=size + 7).records) == whole[size : 2 * size + 7]
    assert bytes(fetched(context, 0, 3).records) == b""
    assert fetched(context, 0, 4).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_commit_wakes_who_waits_for_it_and_nobody_else():
    context = CoordinatorTestContext(offsets_topic_num_partitions=2)
    groups = [next(g for g in "abcdefgh" if partition_for(g, 2) == p) for p in (0, 1)]
    context.commit(groups[0])
    waiting = [context.call(ApiKey.FETCH, 11, fetch_request(p, o, wait_ms=500)) for p, o in ((0, 1), (1, 0))]
    assert all(isinstance(parked, Parked) and not parked.answered for parked in waiting)
    context.commit(groups[1])
    assert [parked.answered for parked in waiting] == [False, True]
    records_ = waiting[1].answer.responses[0].partitions[0].records
    assert parse_header(bytes(records_)).base_offset == 0
    context.commit(groups[0])
    assert waiting[0].answered


def test_a_fetch_waits_for_as_many_bytes_as_it_asked_for():
    context = one_partition()
    context.commit("g")
    size = len(bytes(fetched(context, 0, 0).records))
    parked = context.call(ApiKey.FETCH, 11, fetch_request(0, 1, wait_ms=500, min_bytes=2 * size))
    context.commit("g")
    assert not parked.answered
    context.commit("g")
    assert len(bytes(parked.answer.responses[0].partitions[0].records)) == 2 * size


@pytest.mark.parametrize("history", [2, 1000])
def test_offsets_by_time(history: int):
    context = one_partition(history=history)
    for step in range(10):
        context.commit(f"g{step}", {"a": {0: step, 1: step}})
        context.broker_ms += 10
    assert list_offset(context, 0, START_MS - 1) == (START_MS, 0)
    assert list_offset(context, 0, START_MS + 1) == (START_MS + 10, 2)
    assert list_offset(context, 0, START_MS + 50) == (START_MS + 50, 10)
    assert list_offset(context, 0, START_MS + 90) == (START_MS + 90, 18)
    assert list_offset(context, 0, START_MS + 91) == (-1, -1)
    assert list_offset(context, 0, -3) == (START_MS + 90, 18)


def test_an_empty_log():
    context = one_partition()
    context.delete_groups("g")
    assert list_offset(context, 0, -1) == (-1, 0)
    assert list_offset(context, 0, -3) == (-1, -1)
    assert bytes(fetched(context, 0, 0).records) == b""


def test_a_batch_is_no_larger_than_a_message_may_be():
    context = one_partition()
    for step in range(4):
        context.commit("g", {"b": dict.fromkeys(range(10), step)}, metadata="m" * 3000)
    context.commit("h", {"a": {0: 1}})
    configure_topic(context.state, context.state.cluster.topics[TOPIC], {"max.message.bytes": "10000"})
    sizes = [(batch.header.size, batch.header.record_count) for batch in batches(context)]
    assert all(size <= 10_000 for size, _ in sizes)
    assert sum(count for _, count in sizes) == 41


@pytest.mark.parametrize("codec", [0, 1])
def test_the_codec_of_the_topic(codec: int):
    context = one_partition(offsets_topic_compression_codec=codec)
    context.commit("g", {"a": {p: p for p in range(10)}})
    (batch,) = batches(context)
    assert batch.header.compression == codec


# -- clients that write ------------------------------------------------------------------------------------------


def _produced(context: CoordinatorTestContext, key: bytes, value: bytes, client_id: str) -> Any:
    context.client_id = client_id
    batch = build_batch([NewRecord(key, value, START_MS)])
    request = ProduceRequest(None, -1, 1000, [TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch)])])
    return context.call(ApiKey.PRODUCE, 9, request).responses[0].partition_responses[0]


def test_only_an_admin_client_may_produce_to_it():
    context = one_partition()
    context.commit("g")
    assert _produced(context, b"k", b"v", "anybody").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    answer = _produced(context, b"\x00\x63k", b"v", "__admin_client")
    assert (answer.error_code, answer.base_offset) == (0, 1)
    context.commit("g")
    headers = [parse_header(batch) for batch in _raw(context)]
    assert [(h.base_offset, h.base_sequence) for h in headers] == [(0, 0), (1, -1), (2, 0)]


def _raw(context: CoordinatorTestContext) -> list[bytes]:
    found, at = [], 0
    while at < list_offset(context, 0, -1)[1]:
        found.append(bytes(fetched(context, 0, at, limit=1).records))
        at = parse_header(found[-1]).last_offset + 1
    return found


def test_its_records_cannot_be_deleted():
    context = one_partition()
    context.commit("g")
    request = DeleteRecordsRequest([DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, -1)])], 1000)
    answer = context.call(ApiKey.DELETE_RECORDS, 2, request).topics[0].partitions[0]
    assert (answer.error_code, answer.low_watermark) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    assert len(records(context)) == 1
