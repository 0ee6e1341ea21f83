"""Produce: what is taken, what is refused, and with what."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.handlers.outcome import CLOSE, NO_REPLY, Deferred
from kafkastub.storage import log as storage_log
from kafkastub.storage.validation import Unpacking, validate
from kafkastub_conformance.differential.data_batches import with_payload
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse
from kafkawire.records import Compression, NewRecord, build_batch, check_crc, compress, parse_header, read_batch
from tests.handlers.desk import START_MS, Desk, altered, answered, batch, produce_request

REFUSED = {"base_offset": -1, "log_append_time_ms": -1}
HOUR = 3_600_000


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic()
    return desk


def refusal(code: ErrorCode, log_start_offset: int = -1, **more: Any) -> PartitionProduceResponse:
    return PartitionProduceResponse(error_code=code, log_start_offset=log_start_offset, **REFUSED, **more)


def stored(desk: Desk, topic: str = "orders") -> bytes:
    """All that the first partition of a topic holds."""
    found = desk.state.cluster.topic(topic)
    assert found is not None
    log = desk.state.logs.log(found.topic_id, 0)
    assert log is not None
    return b"".join(log.read(0, 1 << 30, at_least_one=True).chunks)


@pytest.mark.behaviour("PR-1")
@pytest.mark.parametrize("size", [10, 100_000])
def test_a_batch_is_stored_as_it_came_but_for_offset_and_epoch(desk: Desk, size: int):
    first, second = batch(b"a", b"b"), batch(bytes(size))
    desk.fill(first, second)
    assert stored(desk) == altered(first, fix_crc=False, leader_epoch=0) + altered(
        second, fix_crc=False, base_offset=2, leader_epoch=0
    )


@pytest.mark.behaviour("PR-2")
@pytest.mark.parametrize("version", range(3, 14))
def test_the_answer_has_the_first_offset_at_every_version(version: int):
    desk = Desk()
    topic = desk.topic()
    for offset in (0, 2):
        asked = produce_request(batch(b"a", b"b"), topic_id=topic.topic_id)
        answer = desk.ask(version, asked, ProduceResponse).responses[0]
        assert answer.partition_responses == (
            PartitionProduceResponse(base_offset=offset, log_start_offset=0 if version >= 5 else -1),
        )
        assert (answer.name, answer.topic_id) == (("orders", bytes(16)) if version < 13 else ("", topic.topic_id))


@pytest.mark.behaviour("PR-3")
def test_acks_0_is_not_answered_and_an_error_closes(desk: Desk):
    assert desk.outcome(ApiKey.PRODUCE, 9, produce_request(batch(), acks=0)) is NO_REPLY
    assert len(stored(desk)) == len(batch())
    for bad in (produce_request(batch(), topic="nope", acks=0), produce_request(b"", acks=0)):
        assert desk.outcome(ApiKey.PRODUCE, 9, bad) is CLOSE


@pytest.mark.behaviour("PR-4")
def test_other_acks_are_refused_where_something_could_have_been_written(desk: Desk):
    assert desk.produce(batch(), acks=2) == refusal(ErrorCode.INVALID_REQUIRED_ACKS)
    assert desk.produce(batch(), "nope", acks=2) == refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@pytest.mark.behaviour("PR-5")
def test_what_does_not_exist(desk: Desk):
    assert desk.produce(batch(), "nope") == refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert desk.produce(batch(), partition=7) == refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, index=7)
    assert desk.produce(batch(), partition=-1) == refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, index=-1)
    assert desk.produce(batch(), version=13, topic_id=b"x" * 16) == refusal(ErrorCode.UNKNOWN_TOPIC_ID)


@pytest.mark.behaviour("PR-6")
def test_an_internal_topic_is_the_brokers_own(desk: Desk):
    desk.topic("__consumer_offsets")
    assert desk.produce(batch(), "__consumer_offsets") == refusal(ErrorCode.INVALID_TOPIC_EXCEPTION)
    desk.client_id = "__admin_client"
    desk.fill(batch(), topic="__consumer_offsets")


@pytest.mark.behaviour("PR-7")
@pytest.mark.parametrize(
    "records",
    [b"", b"12345", batch()[:-1], batch() + batch(), altered(batch(), magic=1), altered(batch(), magic=0)],
    ids=["nothing", "five bytes", "torn", "two", "magic 1", "magic 0"],
)
def test_there_has_to_be_one_batch_of_magic_2(desk: Desk, records: bytes):
    assert desk.produce(records) == refusal(ErrorCode.INVALID_RECORD)


@pytest.mark.behaviour("PR-7")
@pytest.mark.parametrize("torn", [b"12345", batch()[:40]])
def test_torn_bytes_after_the_batch_are_ignored(desk: Desk, torn: bytes):
    desk.fill(batch() + torn, batch())
    assert len(stored(desk)) == 2 * len(batch())


@pytest.mark.behaviour("PR-8")
@pytest.mark.parametrize(
    ("records", "code", "message"),
    [
        (altered(batch(), magic=3), ErrorCode.CORRUPT_MESSAGE, "Invalid magic found in record: 3"),
        (altered(batch(), magic=-1), ErrorCode.CORRUPT_MESSAGE, "Invalid magic found in record: -1"),
        (
            altered(batch(), fix_crc=False, length=10)[:32],
            ErrorCode.CORRUPT_MESSAGE,
            "Record size 10 is less than the minimum record overhead (14)",
        ),
        (altered(batch(), fix_crc=False, length=20)[:32], ErrorCode.UNKNOWN_SERVER_ERROR, None),
        (altered(batch(), fix_crc=False, length=38)[:50], ErrorCode.UNKNOWN_SERVER_ERROR, None),
    ],
)
def test_a_first_batch_that_cannot_be_read_fails_the_whole_request(
    desk: Desk, records: bytes, code: ErrorCode, message: str | None
):
    desk.topic("other")
    request = produce_request(batch(), "other")
    request.topic_data = [*request.topic_data, *produce_request(records).topic_data]
    answer = desk.ask(9, request, ProduceResponse)
    told = [one for topic in answer.responses for one in topic.partition_responses]
    assert told == [refusal(code, error_message=message)] * 2
    assert desk.produce(batch(), "other").base_offset == 0


@pytest.mark.behaviour("PR-9")
def test_a_corrupt_batch(desk: Desk):
    corrupt = refusal(ErrorCode.CORRUPT_MESSAGE)
    assert desk.produce(altered(batch(), fix_crc=False, crc=1)) == corrupt
    for length in (39, 45, 48):  # from where there is a producer id to where there is a whole header
        assert desk.produce(altered(batch(), fix_crc=False, length=length)[: 12 + length]) == corrupt


@pytest.mark.behaviour("PR-10")
def test_a_batch_that_is_too_large():
    desk = Desk()
    desk.topic(max_message_bytes="200")
    assert desk.produce(batch(bytes(200))) == refusal(ErrorCode.MESSAGE_TOO_LARGE)
    desk.fill(batch(bytes(100)))
    desk.topic("segments", segment_bytes="1048576", max_message_bytes="9999999")
    assert desk.produce(batch(bytes(1048576)), "segments") == refusal(ErrorCode.RECORD_LIST_TOO_LARGE)


@pytest.mark.behaviour("PR-11")
@pytest.mark.parametrize(
    "fields",
    [
        {"base_offset": 5},
        {"record_count": 0},
        {"record_count": 2},
        {"record_count": 2, "last_offset_delta": 1},
        {"record_count": 4, "last_offset_delta": 3},
        {"last_offset_delta": -1},
        {"attributes": 0x20},
        {"producer_id": 5, "producer_epoch": 0},
        {"producer_id": 5, "producer_epoch": 0, "base_sequence": -5},
    ],
    ids=str,
)
def test_a_header_that_contradicts_itself_or_its_records(desk: Desk, fields: dict[str, int]):
    assert desk.produce(altered(batch(b"a", b"b", b"c"), **fields)) == refusal(ErrorCode.INVALID_RECORD, 0)


@pytest.mark.behaviour("PR-11")
def test_a_payload_that_is_not_records(desk: Desk):
    good = batch(b"abc")
    for payload in (b"\xff" * 4, b"\x00" * len(good[61:]), good[61:-1] + b"\x05", b"\0" + b"\xff" * 9):
        assert desk.produce(with_payload(good, payload)) == refusal(ErrorCode.INVALID_RECORD, 0)


@pytest.mark.behaviour("PR-11")
def test_a_record_size_without_end_is_an_unknown_error_unless_it_is_compressed(desk: Desk):
    desk.topic("compacted", cleanup_policy="compact")
    good, endless = batch(b"abc"), b"\xff" * 9
    assert desk.produce(with_payload(good, endless)) == refusal(ErrorCode.UNKNOWN_SERVER_ERROR, 0)
    desk.topic("anew", compression_type="gzip")
    assert desk.produce(with_payload(good, endless), "anew") == refusal(ErrorCode.UNKNOWN_SERVER_ERROR, 0)
    assert desk.produce(with_payload(good, b"\0" + endless), "anew") == refusal(ErrorCode.INVALID_RECORD, 0)
    packed = with_payload(build_batch([NewRecord(b"k", b"v", START_MS)], compression=1), compress(1, endless))
    assert desk.produce(packed, "compacted") == refusal(ErrorCode.INVALID_RECORD, 0)


@pytest.mark.behaviour("PR-26")
@pytest.mark.parametrize("codec", [codec for codec in Compression if codec])
@pytest.mark.parametrize("kept_as", ["producer", "uncompressed"])
def test_a_record_is_limited_where_it_comes_packed(desk: Desk, codec: int, kept_as: str):
    large = (b"x", b"y" * 300)
    size = len(batch(large[1])) - 61 - 2  # of the record behind its own size
    for name, most in (("small", size - 1), ("enough", size)):
        desk.topic(name, max_decompressed_message_bytes=str(most), compression_type=kept_as)
    answer = desk.produce(batch(*large, compression=codec), "small")
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_RECORD, None)
    assert desk.produce(batch(*large), "small").error_code == ErrorCode.NONE
    assert desk.produce(batch(*large, compression=codec), "enough").error_code == ErrorCode.NONE


@pytest.mark.behaviour("PR-12")
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_a_compacted_topic_wants_keys(codec: int):
    desk = Desk()
    desk.topic(cleanup_policy="compact")
    mixed = [NewRecord(None, b"a", START_MS), NewRecord(b"k", b"b", START_MS), NewRecord(None, b"c", START_MS)]
    answer = desk.produce(build_batch(mixed, compression=codec))
    why = "Compacted topic cannot accept message without key in topic partition orders-0"
    assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (ErrorCode.INVALID_RECORD, -1, 0)
    assert [(one.batch_index, one.batch_index_error_message) for one in answer.record_errors] == [(0, why), (2, why)]
    assert answer.error_message == (
        "One or more records have been rejected due to 2 record errors in total, and only showing the first three "
        f"errors at most: [RecordError(batchIndex=0, message='{why}'), RecordError(batchIndex=2, message='{why}')]"
    )
    assert desk.produce(build_batch(mixed, compression=codec), version=7) == refusal(ErrorCode.INVALID_RECORD, 0)
    desk.fill(batch(b"a", None, compression=codec))


@pytest.mark.behaviour("PR-12")
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_a_compacted_topic_that_compresses_wants_keys(codec: int):
    desk = Desk()
    desk.topic(cleanup_policy="compact", compression_type="zstd")
    answer = desk.produce(
        build_batch([NewRecord(b"k", b"a", START_MS), NewRecord(None, b"b", START_MS)], compression=codec)
    )
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [one.batch_index for one in answer.record_errors] == [1]


@pytest.mark.behaviour("PR-13")
@pytest.mark.parametrize("kind", ["producer", "zstd"])
def test_records_without_keys_are_told_with_those_whose_time_is_wrong(kind: str):
    desk = Desk()
    desk.topic(cleanup_policy="compact", compression_type=kind, message_timestamp_before_max_ms="1000")
    mixed = [NewRecord(None, b"a", START_MS), NewRecord(b"k", b"b", START_MS - 1001), NewRecord(b"k", b"c", START_MS)]
    answer = desk.produce(build_batch(mixed))
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    without_key, too_old = answer.record_errors
    assert (without_key.batch_index, too_old.batch_index) == (0, 1)
    assert without_key.batch_index_error_message.startswith("Compacted topic cannot accept message without key")
    assert too_old.batch_index_error_message.startswith(f"Timestamp {START_MS - 1001} of message with offset 1")


@pytest.mark.behaviour("PR-33")
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_an_answer_names_so_many_bad_records(codec: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Unpacking, "MOST_ERRORS", 3)
    desk = Desk()
    desk.topic(cleanup_policy="compact", partitions=3)
    mixed = build_batch([NewRecord(None, b"a", START_MS), NewRecord(b"k", b"b", START_MS)] * 4, compression=codec)
    data = [PartitionProduceData(index, mixed) for index in range(3)]
    request = ProduceRequest(None, -1, 1000, [TopicProduceData("orders", partition_data=data)])
    rows = desk.ask(9, request, ProduceResponse).responses[0].partition_responses
    assert [[one.batch_index for one in row.record_errors] for row in rows] == [[0, 2, 4], [0], [0]]
    assert all("due to 4 record errors in total" in (row.error_message or "") for row in rows)
    desk.topic("late", message_timestamp_before_max_ms="1000")
    late = [NewRecord(b"k", b"", START_MS - 5000)] * 5
    answer = desk.produce(build_batch(late, compression=codec), "late")
    assert (answer.error_code, len(answer.record_errors)) == (ErrorCode.INVALID_TIMESTAMP, 3)


@pytest.mark.behaviour("PR-33")
def test_the_rest_of_a_large_request_brought_back_a_topic_that_was_deleted_meanwhile():
    desk = Desk()
    desk.topic(partitions=8)
    large = batch(bytes(200_000))
    data = [PartitionProduceData(index, large) for index in range(8)]
    request = ProduceRequest(None, -1, 1000, [TopicProduceData("orders", partition_data=data)])
    waiting = desk.outcome(ApiKey.PRODUCE, 9, request)
    assert isinstance(waiting, Deferred)
    topic = desk.state.cluster.topic("orders")
    assert topic is not None
    desk.delete("orders")
    while desk.state.turns:
        desk.state.turns.expire()
    answer = answered(waiting, 9, ProduceResponse)
    assert answer is not None
    codes = [row.error_code for row in answer.responses[0].partition_responses]
    assert codes == [ErrorCode.NONE] + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 7
    assert list(desk.state.logs.of_topic(topic.topic_id)) == []


@pytest.mark.behaviour("PR-13")
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_timestamps_have_bounds(codec: int):
    desk = Desk()
    desk.topic(message_timestamp_before_max_ms="1000")
    desk.fill(batch(timestamp=START_MS + HOUR, compression=codec), batch(timestamp=START_MS - 1000, compression=codec))
    desk.fill(batch(timestamp=-1, compression=codec))
    for wrong in (START_MS + HOUR + 1, START_MS - 1001):
        answer = desk.produce(batch(timestamp=wrong, compression=codec))
        assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
        assert answer.error_message == "One or more records have been rejected due to invalid timestamp"
        (error,) = answer.record_errors
        assert error.batch_index_error_message == (
            f"Timestamp {wrong} of message with offset 0 is out of range. The timestamp should be within "
            f"[{START_MS - 1000}, {START_MS + HOUR}]"
        )


@pytest.mark.behaviour("PR-13")
def test_timestamps_are_measured_on_the_wall_clock_wherever_broker_time_is():
    desk = Desk(wall_ms=lambda: START_MS)
    desk.topic()
    desk.broker_ms = START_MS - 30 * 24 * HOUR
    desk.fill(batch())
    assert desk.produce(batch(timestamp=START_MS + 2 * HOUR)).error_code == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.behaviour("PR-32")
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_what_was_stamped_with_a_moved_broker_time_is_taken(codec: int):
    desk = Desk(wall_ms=lambda: START_MS)
    desk.topic()
    desk.broker_ms = START_MS + 30 * 24 * HOUR
    desk.fill(batch(timestamp=desk.broker_ms, compression=codec))
    answer = desk.produce(batch(timestamp=desk.broker_ms + 2 * HOUR, compression=codec))
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert f", {START_MS + HOUR}]" in answer.record_errors[0].batch_index_error_message  # as by the wall clock


@pytest.mark.behaviour("PR-32")
@pytest.mark.parametrize(("moved_ms", "looks"), [(-2, 1), (0, 1), (2, 1), (HOUR, 2)])
def test_what_is_refused_is_looked_at_again_only_where_the_clock_was_moved(
    monkeypatch: pytest.MonkeyPatch, moved_ms: int, looks: int
):
    """A kilobyte may stand for 32 MB that are unpacked for it."""
    seen = []
    monkeypatch.setattr(storage_log, "validate", lambda *given: (seen.append(given), validate(*given))[1])
    desk = Desk(wall_ms=lambda: START_MS - moved_ms)
    desk.topic()
    answer = desk.produce(batch(timestamp=START_MS + 3 * HOUR, compression=Compression.ZSTD))
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert len(seen) == looks


@pytest.mark.behaviour("PR-13")
def test_a_client_must_not_claim_log_append_time():
    desk = Desk()
    desk.topic(message_timestamp_type="LogAppendTime")
    answer = desk.produce(altered(batch(b"v1"), attributes=8))
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert answer.record_errors[0].batch_index_error_message == (
        f"Invalid timestamp type in message DefaultRecord(offset=0, timestamp={START_MS}, key=1 bytes, value=2 bytes). "
        "Producer should not set timestamp type to LogAppendTime."
    )


@pytest.mark.behaviour("PR-14")
@pytest.mark.parametrize("codec", list(Compression))
def test_log_append_time_is_the_brokers(codec: int):
    desk = Desk()
    desk.topic(message_timestamp_type="LogAppendTime")
    answer = desk.produce(batch(b"a", b"b", timestamp=5, compression=codec))
    assert (answer.base_offset, answer.log_append_time_ms) == (0, START_MS)
    assert check_crc(stored(desk))
    assert [record.timestamp for record in read_batch(stored(desk))] == [START_MS, START_MS]


@pytest.mark.behaviour("PR-15")
def test_a_wrong_max_timestamp_is_put_right(desk: Desk):
    desk.fill(altered(batch(b"a", b"b"), max_timestamp=7))
    assert stored(desk) == altered(batch(b"a", b"b"), fix_crc=False, leader_epoch=0)


@pytest.mark.behaviour("PR-15")
def test_a_client_that_claims_log_append_time_on_a_create_time_topic_is_put_right(desk: Desk):
    desk.fill(altered(batch(b"a"), attributes=8))
    assert not parse_header(stored(desk)).log_append_time
    assert check_crc(stored(desk))


@pytest.mark.behaviour("PR-16")
@pytest.mark.parametrize("codec", list(Compression))
def test_every_codec_passes_untouched(desk: Desk, codec: int):
    sent = batch(b"a" * 100, b"b" * 100, compression=codec)
    desk.fill(sent)
    assert stored(desk) == altered(sent, fix_crc=False, leader_epoch=0)


@pytest.mark.behaviour("PR-16")
def test_zstd_came_with_version_7_and_other_codecs_never(desk: Desk):
    zstd = batch(compression=Compression.ZSTD)
    assert desk.produce(zstd, version=6) == refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    assert desk.produce(zstd, version=7).error_code == ErrorCode.NONE
    assert desk.produce(altered(batch(), attributes=5)) == refusal(ErrorCode.UNKNOWN_SERVER_ERROR, 0)
    assert desk.produce(altered(batch(), attributes=5), version=6) == refusal(ErrorCode.UNKNOWN_SERVER_ERROR)


@pytest.mark.behaviour("PR-16")
def test_a_payload_that_has_to_be_unpacked_and_cannot_be():
    desk = Desk()
    desk.topic(cleanup_policy="compact")
    for codec in (1, 2, 3, 4):
        assert desk.produce(altered(batch(), attributes=codec)) == refusal(ErrorCode.UNKNOWN_SERVER_ERROR, 0)


def idempotent(sequence: int, epoch: int = 0, count: int = 2) -> bytes:
    return batch(*[b"v"] * count, producer_id=7, producer_epoch=epoch, base_sequence=sequence)


@pytest.mark.behaviour("PR-17")
def test_one_of_the_last_five_batches_again_is_answered_with_its_offset(desk: Desk):
    for number in range(6):
        assert desk.produce(idempotent(5 + 2 * number)).base_offset == 2 * number
    for number in range(1, 6):
        assert desk.produce(idempotent(5 + 2 * number)) == PartitionProduceResponse(
            base_offset=2 * number, log_append_time_ms=START_MS + 1, log_start_offset=0
        )
    assert desk.produce(idempotent(5)) == refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
    assert len(stored(desk)) == 6 * len(idempotent(5))


@pytest.mark.behaviour("PR-17")
def test_sequences_and_epochs(desk: Desk):
    out_of_order = refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
    desk.fill(idempotent(0))
    assert desk.produce(idempotent(3)) == out_of_order
    assert desk.produce(idempotent(0, count=1)) == out_of_order
    assert desk.produce(idempotent(3, epoch=1)) == out_of_order
    desk.fill(idempotent(0, epoch=1))
    assert desk.produce(idempotent(2)) == refusal(ErrorCode.INVALID_PRODUCER_EPOCH, 0)
    desk.fill(idempotent(2, epoch=1))


@pytest.mark.behaviour("PR-17")
def test_sequences_wrap_around(desk: Desk):
    last = 0x7FFFFFFF
    desk.fill(idempotent(last - 2), idempotent(last), idempotent(1))
    assert desk.produce(idempotent(last)).base_offset == 2


@pytest.mark.behaviour("PR-19")
def test_what_is_named_twice_is_written_once(desk: Desk):
    def topic(*values: bytes) -> TopicProduceData:
        return TopicProduceData(name="orders", partition_data=[PartitionProduceData(0, batch(v)) for v in values])

    request = ProduceRequest(transactional_id=None, acks=1, topic_data=[topic(b"a", b"b"), topic(b"c")])
    (answer,) = desk.ask(9, request, ProduceResponse).responses
    assert [one.base_offset for one in answer.partition_responses] == [0]
    assert [record.value for record in read_batch(stored(desk))] == [b"c"]


@pytest.mark.behaviour("PR-19")
def test_a_topic_named_twice_keeps_the_partitions_of_both_mentions():
    desk = Desk()
    desk.topic(partitions=2)
    topics = [TopicProduceData(name="orders", partition_data=[PartitionProduceData(n, batch())]) for n in (1, 0)]
    request = ProduceRequest(transactional_id=None, acks=1, topic_data=topics)
    (answer,) = desk.ask(9, request, ProduceResponse).responses
    assert sorted((one.index, one.error_code) for one in answer.partition_responses) == [(0, 0), (1, 0)]


@pytest.mark.behaviour("PR-19")
def test_a_partition_with_a_good_and_a_bad_mention_is_written_and_refused(desk: Desk):
    mentions = [PartitionProduceData(0, batch(b"a")), PartitionProduceData(0, b"")]
    for data in (mentions, mentions[::-1]):
        request = ProduceRequest(
            transactional_id=None, acks=1, topic_data=[TopicProduceData(name="orders", partition_data=data)]
        )
        (answer,) = desk.ask(9, request, ProduceResponse).responses
        assert [one.error_code for one in answer.partition_responses] == [ErrorCode.INVALID_RECORD]
    assert len(stored(desk)) == 2 * len(batch(b"a"))


@pytest.mark.behaviour("PR-20")
@pytest.mark.parametrize("version", [9, 10])
def test_who_does_not_lead_says_who_does(version: int):
    desk = Desk(nodes=2)
    topic = desk.topic()
    leader = topic.partitions[0].leader
    desk.node_id = 3 - leader
    answer = desk.ask(version, produce_request(batch()), ProduceResponse)
    told = answer.responses[0].partition_responses[0]
    assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    if version < 10:
        assert (told.current_leader.leader_id, answer.node_endpoints) == (-1, ())
    else:
        assert (told.current_leader.leader_id, told.current_leader.leader_epoch) == (leader, 0)
        assert [(node.node_id, node.port) for node in answer.node_endpoints] == [(leader, 9091 + leader)]


@pytest.mark.behaviour("PR-21")
@pytest.mark.parametrize("sent", [Compression.NONE, Compression.SNAPPY, Compression.GZIP])
@pytest.mark.parametrize(("name", "codec"), [("gzip", 1), ("zstd", 4), ("uncompressed", 0)])
def test_a_topic_may_have_its_own_codec(sent: int, name: str, codec: int):
    desk = Desk()
    desk.topic(compression_type=name)
    desk.fill(batch(b"a" * 100, b"b", compression=sent))
    assert parse_header(stored(desk)).compression == codec
    assert check_crc(stored(desk))
    assert [record.value for record in read_batch(stored(desk))] == [b"a" * 100, b"b"]


@pytest.mark.behaviour("PR-16")
def test_a_first_batch_of_zstd_is_told_before_a_second_batch(desk: Desk):
    zstd = batch(compression=Compression.ZSTD)
    assert desk.produce(zstd + zstd, version=6) == refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    assert desk.produce(zstd + zstd, version=7) == refusal(ErrorCode.INVALID_RECORD)


@pytest.mark.behaviour("PR-21")
def test_a_batch_made_anew_keeps_only_attributes_that_mean_something():
    desk = Desk()
    desk.topic(compression_type="gzip")
    desk.fill(altered(batch(), attributes=128))
    assert parse_header(stored(desk)).attributes == Compression.GZIP


@pytest.mark.behaviour("PR-21")
def test_a_batch_of_a_producer_without_epoch_is_not_made_anew():
    desk = Desk()
    desk.topic(compression_type="gzip")
    assert desk.produce(idempotent(0, epoch=-1)) == refusal(ErrorCode.UNKNOWN_SERVER_ERROR, 0)


@pytest.mark.behaviour("PR-10")
def test_kafkas_own_small_segments_bound_a_batch_as_well():
    desk = Desk()
    desk.topic(internal_segment_bytes="200")
    assert desk.produce(batch(bytes(200))) == refusal(ErrorCode.RECORD_LIST_TOO_LARGE)


@pytest.mark.behaviour("PR-17")
def test_a_producer_that_has_been_silent_for_long_is_forgotten():
    desk = Desk({"producer.id.expiration.ms": HOUR})
    desk.topic()
    desk.fill(idempotent(0))
    desk.broker_ms += HOUR - 1
    assert desk.produce(idempotent(5)) == refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
    desk.broker_ms += 1
    assert desk.produce(idempotent(5)).base_offset == 2


@pytest.mark.behaviour("PR-21")
def test_a_batch_made_anew_has_its_records_written_anew():
    """A client's LogAppendTime says that every record has the batch's max timestamp; now they have it themselves."""
    desk = Desk()
    desk.topic(compression_type="gzip")
    desk.fill(altered(batch(b"a", b"b"), attributes=8))
    header = parse_header(stored(desk))
    assert (header.attributes, header.base_timestamp) == (Compression.GZIP, START_MS + 1)
    assert [(one.timestamp, one.value) for one in read_batch(stored(desk))] == [
        (START_MS + 1, b"a"),
        (START_MS + 1, b"b"),
    ]


@pytest.mark.parametrize(
    "second", [{"attributes": 0x10, "producer_id": 1, "producer_epoch": 0, "base_sequence": 0}, {}]
)
def test_several_batches_of_which_the_first_is_a_transactions_were_not_refused_for_that(second: dict[str, int]):
    """Kafka asks for a transactional id before it sees that there are several: KafkaApis.handleProduceRequest."""
    desk = Desk()
    desk.topic()
    first = batch(b"v", producer_id=1, producer_epoch=0, base_sequence=0, attributes=0x10)
    answer = desk.produce(first + batch(b"v", **second))
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
