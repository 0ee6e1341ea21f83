"""What is read of batches: ordinary ones that follow each other are one stretch, all others stay what they are."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkastub.guarantees.events import Spoke
from kafkastub.guarantees.reading import Reader, batches_in, spans_in
from kafkastub.guarantees.reading_fetches import Pieces, fetch_answer, without_payloads
from kafkastub.handlers.context import ConnectionInfo
from kafkastub.journal.ring import Outcome, Raw
from kafkawire.api import ApiKey
from kafkawire.codec import decode_from, encode
from kafkawire.header import request_header
from kafkawire.messages.fetch_response import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kafkawire.records import HEADER_SIZE, NewRecord, build_batch, build_marker

KINDS = st.lists(st.tuples(st.sampled_from(["ordinary", "marker"]), st.integers(1, 3), st.integers(0, 2)), max_size=12)


@given(KINDS, st.integers(0, 80))
def test_stretches_cover_the_batches(kinds: list[tuple[str, int, int]], cut: int):
    data = records_of(kinds)
    data = data[: len(data) - cut] if cut else data
    one_by_one, spans = list(batches_in(data)), list(spans_in(data))

    def offsets(found: list[object], control: bool) -> set[int]:
        return {n for one in found if one.control is control for n in range(one.first, one.end)}  # type: ignore[attr-defined]

    assert offsets(list(spans), False) == offsets(list(one_by_one), False)
    assert [one for one in spans if one.control] == [one for one in one_by_one if one.control]
    assert [one.aborts for one in spans if one.control] == [one.aborts for one in one_by_one if one.control]
    ordinary = [one for one in spans if not one.control]
    assert all(one.end <= two.first for one, two in pairwise(ordinary))


PARTITION = st.tuples(st.integers(0, 5), st.sampled_from([0, 0, 3]), st.integers(0, 99), KINDS, st.booleans())


@given(
    st.integers(4, 18), st.lists(st.lists(PARTITION, max_size=3), max_size=3), st.lists(st.integers(0, 999), max_size=9)
)
@example(
    5,
    [[(0, 0, 1, [("ordinary", 1, 0), ("ordinary", 2, 0), ("ordinary", 3, 0), *[("ordinary", 1, 0)] * 2], False)]],
    [292, 353],
)  # a piece that is as long as a header, and has what looks like one
def test_an_answer_to_fetch_is_read_as_its_decoder_does(
    version: int, topics: list[list[tuple[int, int, int, list[tuple[str, int, int]], bool]]], cuts: list[int]
):
    """In whichever pieces it was sent, at every version."""
    answer = FetchResponse(throttle_time_ms=1, session_id=7, responses=[])
    for number, rows in enumerate(topics):
        partitions = [
            PartitionData(
                partition_index=index, error_code=error, high_watermark=mark, last_stable_offset=mark,
                log_start_offset=mark // 2, aborted_transactions=[AbortedTransaction(7, 1)] if mark % 2 else None,
                records=None if none else records_of(kinds),
                current_leader=LeaderIdAndEpoch(1, 2) if error else LeaderIdAndEpoch(),
            )
            for index, error, mark, kinds, none in rows
        ]  # fmt: skip
        answer.responses += [FetchableTopicResponse(f"orders {number}", bytes([number + 1] * 16), partitions)]
    frame = b"head" + encode(answer, version)
    places = sorted({0, len(frame), *(one % (len(frame) + 1) for one in cuts)})
    pieces = tuple(memoryview(frame)[start:end] for start, end in pairwise(places))
    decoded = decode_from(FetchResponse, version, frame, 4)[0]
    found = fetch_answer(pieces, 4, version)
    assert fetch_answer(without_payloads(pieces), 4, version) == found
    assert (found.error_code, found.session_id) == (decoded.error_code, decoded.session_id)
    assert [(one.topic, one.topic_id) for one in found.responses] == [
        (one.topic, one.topic_id) for one in decoded.responses
    ]
    for ours, theirs in zip(found.responses, decoded.responses, strict=True):
        assert [one[:4] for one in ours.partitions] == [
            (one.partition_index, one.error_code, one.high_watermark, one.log_start_offset) for one in theirs.partitions
        ]
        assert [one.batches for one in ours.partitions] == [
            None if one.records is None else tuple(spans_in(one.records)) for one in theirs.partitions
        ]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 200)), max_size=8), st.integers(0, 300))
def test_an_answer_is_read_without_the_payloads_that_are_pieces(batches: list[tuple[bool, int]], cut: int):
    """As the broker sends it: the header of a batch, then its payload; the last one may be cut off."""
    pieces, offset = [], 0
    for ordinary, size in batches:
        if ordinary:
            batch = offset.to_bytes(8) + build_batch([NewRecord(None, bytes(size), 1)])[8:]
        else:
            batch = build_marker(7, 0, bool(size % 2), 0, 1, base_offset=offset)
        pieces += [batch[:HEADER_SIZE], memoryview(batch)[HEADER_SIZE:]]
        offset += 1
    records = b"".join(pieces)
    if pieces and cut < len(pieces[-1]):
        pieces[-1] = pieces[-1][: len(pieces[-1]) - cut]
        records = records[: len(records) - cut]
    partition = PartitionData(partition_index=0, high_watermark=offset, last_stable_offset=offset, records=records)
    answer = FetchResponse(responses=[FetchableTopicResponse("orders", partitions=[partition])])
    frame = b"head" + encode(answer, 12)
    start = frame.index(records) if records else len(frame)
    reply = (frame[:start], *pieces, frame[start + len(records) :])
    kept = without_payloads(reply)
    assert fetch_answer(kept, 4, 12) == fetch_answer(reply, 4, 12)
    assert kept.size == len(frame)
    assert kept.kept <= len(frame) - len(records) + (HEADER_SIZE + 64) * len(batches)


def test_what_follows_a_batch_that_was_cut_behind_its_header_is_kept():
    """A limit of bytes may end there: then the fields of the next topic follow, which may be long."""
    batch = build_batch([NewRecord(None, bytes(500), 1)])
    first = PartitionData(partition_index=0, high_watermark=1, last_stable_offset=1, records=batch[:HEADER_SIZE])
    second = PartitionData(partition_index=0, high_watermark=5, last_stable_offset=5, records=b"")
    topics = [FetchableTopicResponse("a", partitions=[first]), FetchableTopicResponse("b" * 200, partitions=[second])]
    frame = b"head" + encode(FetchResponse(responses=topics), 12)
    start = frame.index(batch[:HEADER_SIZE])
    reply = (frame[:start], batch[:HEADER_SIZE], frame[start + HEADER_SIZE :])
    assert fetch_answer(without_payloads(reply), 4, 12) == fetch_answer(reply, 4, 12)


def test_bytes_that_were_left_out_cannot_be_read():
    batch = build_batch([NewRecord(None, bytes(500), 1)])
    kept = Pieces(without_payloads((b"head", batch[:HEADER_SIZE], memoryview(batch)[HEADER_SIZE:], b"tags")))
    assert kept.place(4 + len(batch), 4) == (b"tags", 0)
    with pytest.raises(ValueError, match="without these bytes"):
        kept.place(4 + HEADER_SIZE - 2, 4)
    with pytest.raises(ValueError, match="without these bytes"):
        kept.place(4 + HEADER_SIZE + 10, 4)


def test_a_heartbeat_of_a_streams_member_says_whom_its_client_reads_for():
    """Its producer commits, under another client id."""
    asked = StreamsGroupHeartbeatRequest("app", "member", 3)
    data = request_header(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, 1, "counting", True) + encode(asked, 0)
    answer = encode(StreamsGroupHeartbeatResponse(), 0)
    reply = struct.pack(">iix", len(answer) + 5, 1) + answer
    info = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", node_id=1)
    raw = Raw(data, 0, len(data), reply, info, 0, 0, 0, Outcome.REPLY, None)
    (event,) = Reader(lambda topic_id: None).read(0, raw)
    assert isinstance(event, Spoke)
    assert (event.group, event.member, event.client.client_id) == ("app", "member", "counting")


def records_of(kinds: list[tuple[str, int, int]]) -> bytes:
    data, offset = b"", 0
    for kind, count, gap in kinds:
        offset += gap
        if kind == "ordinary":
            batch = build_batch([NewRecord(None, b"x", 1)] * count)
            data += offset.to_bytes(8) + batch[8:]
            offset += count
        else:
            data += build_marker(7, 0, count > 1, 0, 1, base_offset=offset)
            offset += 1
    return data
