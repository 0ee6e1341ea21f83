"""Record batches: built, cut, read; and against the encoders of other clients."""

from __future__ import annotations

import cramjam
import pytest
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import (
    Compression,
    InvalidRecordError,
    NewRecord,
    UnavailableCodecError,
    add_sequence,
    build_batch,
    check_crc,
    compress,
    decompress,
    parse_header,
    patched_header,
    read_batch,
    scan_records,
    split_batches,
)

HEADERS = st.lists(st.tuples(st.text(max_size=5).map(str.encode), st.none() | st.binary(max_size=5)), max_size=3)
RECORDS = st.lists(
    st.builds(
        NewRecord,
        key=st.none() | st.binary(max_size=200),
        value=st.none() | st.binary(max_size=300),
        timestamp=st.integers(-1, 1 << 45),
        headers=HEADERS.map(tuple),
    ),
    min_size=1,
    max_size=20,
)


def told(batch: bytes) -> list[NewRecord]:
    return [NewRecord(one.key, one.value, one.timestamp, one.headers) for one in read_batch(batch)]


@given(RECORDS, st.sampled_from(Compression), st.integers(0, 1 << 40))
def test_records_come_back_as_they_went_in(records: list[NewRecord], codec: int, base_offset: int):
    batch = build_batch(records, compression=codec, base_offset=base_offset)
    assert check_crc(batch)
    assert told(batch) == records
    assert [one.offset for one in read_batch(batch)] == list(range(base_offset, base_offset + len(records)))


@given(RECORDS)
def test_the_scan_sees_what_the_records_say(records: list[NewRecord]):
    batch = build_batch(records)
    header = parse_header(batch)
    scan = scan_records(memoryview(batch)[61:], header.record_count)
    times = [one.timestamp for one in records]
    assert header.base_timestamp + scan.smallest_delta == min(times)
    assert header.base_timestamp + scan.largest_delta == max(times) == header.max_timestamp
    assert scan.keyless == sum(one.key is None for one in records)


@given(RECORDS, st.data())
def test_a_payload_that_was_changed_is_read_or_refused_but_never_breaks(records: list[NewRecord], data: st.DataObject):
    batch = bytearray(build_batch(records))
    at = data.draw(st.integers(61, len(batch) - 1))
    batch[at] = data.draw(st.integers(0, 255))
    payload = bytes(batch[61 : data.draw(st.integers(at, len(batch)))])
    count = parse_header(batch).record_count
    try:
        scan_records(payload, count)
        scanned = True
    except InvalidRecordError:
        scanned = False
    try:
        list(read_batch(bytes(batch[:61]) + payload))
        read = True
    except InvalidRecordError:
        read = False
    assert scanned == read


def test_a_negative_size_is_no_size():
    seven_bytes = build_batch([NewRecord(None, b"v", 5)])[61:]
    assert seven_bytes[0] >> 1 == len(seven_bytes) - 1
    with pytest.raises(InvalidRecordError):
        scan_records(bytes([seven_bytes[0] | 1]) + seven_bytes[1:], 1)


@given(RECORDS.filter(lambda records: all(one.timestamp >= 0 for one in records)))
def test_aiokafka_reads_and_writes_the_same_bytes(records: list[NewRecord]):
    theirs = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for offset, one in enumerate(records):
        headers = [(name.decode(), content) for name, content in one.headers]
        theirs.append(offset, timestamp=one.timestamp, key=one.key, value=one.value, headers=headers)
    written = bytes(theirs.build())
    ours = build_batch(records)
    header, their_header = parse_header(ours), parse_header(written)
    assert their_header == header._replace(leader_epoch=their_header.leader_epoch)
    assert written[61:] == ours[61:]
    read = DefaultRecordBatch(ours)
    assert read.validate_crc()
    assert [(one.key, one.value, one.timestamp) for one in read] == [one[:3] for one in records]


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD])
@given(values=st.lists(st.binary(max_size=40_000), min_size=1, max_size=4))
def test_aiokafka_and_we_understand_each_others_compression(codec: int, values: list[bytes]):
    ours = build_batch([NewRecord(None, value, 1) for value in values], compression=codec)
    assert [one.value for one in DefaultRecordBatch(ours)] == values
    theirs = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 30)
    for offset, value in enumerate(values):
        theirs.append(offset, timestamp=1, key=None, value=value, headers=[])
    assert [one.value for one in told(bytes(theirs.build()))] == values


def test_snappy_without_frames_is_read_too():
    assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(b"bare"))) == b"bare"


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD])
def test_a_stream_that_is_none_is_corrupt(codec: int):
    whole = compress(codec, bytes(range(256)) * 10)
    for broken in (b"nonsense", whole[: len(whole) // 2]):
        with pytest.raises(KafkaError) as caught:
            decompress(codec, broken)
        assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def test_a_codec_that_does_not_exist():
    with pytest.raises(UnavailableCodecError):
        decompress(5, b"")


def one() -> bytes:
    return build_batch([NewRecord(b"k", b"v", 5)])


def test_a_buffer_is_cut_into_its_whole_batches():
    first, second = one(), build_batch([NewRecord(None, None, 7)] * 3)
    cut = [(magic, bytes(batch)) for magic, batch in split_batches(first + second + first[:-1])]
    assert cut == [(2, first), (2, second)]
    assert list(split_batches(b"")) == list(split_batches(first[:16])) == []


@pytest.mark.parametrize("magic", [0, 1])
def test_older_formats_are_recognised(magic: int):
    old = parse_header(one())._replace(magic=magic).encode() + one()[61:]
    assert [found for found, _ in split_batches(old)] == [magic]


@pytest.mark.parametrize(("field", "value"), [("magic", 3), ("magic", -1), ("length", 13), ("length", -1)])
def test_what_never_was_a_batch_is_corrupt(field: str, value: int):
    never = parse_header(one())._replace(**{field: value}).encode() + one()[61:]
    with pytest.raises(KafkaError) as caught:
        list(split_batches(never))
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


@given(RECORDS, st.integers(0, 1 << 40), st.integers(0, 1 << 20), st.integers(0, 1 << 45), st.booleans())
def test_a_header_as_the_leader_writes_it_keeps_a_valid_crc(
    records: list[NewRecord], base_offset: int, epoch: int, stamp: int, append_time: bool
):
    batch = build_batch(records)
    header = patched_header(
        parse_header(batch),
        batch[61:],
        base_offset=base_offset,
        leader_epoch=epoch,
        max_timestamp=stamp,
        log_append_time=append_time,
    )
    written = header.encode() + batch[61:]
    assert check_crc(written)
    assert (header.base_offset, header.leader_epoch, header.max_timestamp) == (base_offset, epoch, stamp)
    if append_time:
        assert {record.timestamp for record in read_batch(written)} == {stamp}
    else:
        assert told(written) == records


def test_a_changed_byte_shows_in_the_crc():
    changed = bytearray(one())
    changed[-1] ^= 1
    assert not check_crc(changed)


def test_sequences_wrap_to_zero():
    assert add_sequence(0x7FFFFFFF, 1) == 0
    assert add_sequence(0x7FFFFFFE, 3) == 1
    assert add_sequence(5, 3) == 8


def test_a_batch_needs_a_record():
    with pytest.raises(ValueError, match="at least one record"):
        build_batch([])
