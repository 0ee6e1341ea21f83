"""A journal of a proxy that is without what is in records: it can be read, and replayed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from hypothesis import given
from hypothesis import strategies as st

from kafkastub import KafkaProxy, KafkaStub, replay
from kafkastub.journal.disk import read_rows
from kafkastub.journal.without_contents import WithoutContents
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch, check_crc, parse_header, read_batch
from kafkawire.records.markers import build_marker
from tests.proxy.test_passing import asked
from tests.waiting import SECONDS, until

SECRET = b"what nobody is to read"

contents = st.none() | st.binary(max_size=20).map(lambda more: SECRET + more)
new_records = st.builds(
    NewRecord,
    contents,
    contents,
    st.integers(0, 1 << 40),
    st.lists(st.tuples(st.just(SECRET), contents), max_size=2).map(tuple),
)
made = st.builds(
    build_batch,
    st.lists(new_records, min_size=1, max_size=300),
    base_offset=st.integers(0, 1 << 40),
    compression=st.sampled_from(range(5)),
    producer_id=st.integers(-1, 100),
    producer_epoch=st.integers(-1, 10),
    base_sequence=st.integers(-1, 1000),
    attributes=st.sampled_from([0, 0x10]),
)


@given(batches=st.lists(made, min_size=1, max_size=3), torn=st.integers(0, 60))
def test_a_batch_has_all_but_its_contents(batches: list[bytes], torn: int) -> None:
    hidden = WithoutContents().records(b"".join(batches) + batches[0][:torn])
    at = 0
    for batch in batches:
        before, now = parse_header(batch), parse_header(hidden, at)
        found = hidden[at : at + now.size]
        assert check_crc(found)
        assert now._replace(length=0, crc=0, attributes=0) == before._replace(length=0, crc=0, attributes=0)
        assert now.transactional == before.transactional
        assert now.compression == 0
        records = list(read_batch(found))
        assert [(one.key, one.value, one.headers) for one in records] == [(b"", b"", ())] * before.record_count
        assert [one.offset for one in records] == [one.offset for one in read_batch(batch)]
        assert records[-1].timestamp == before.max_timestamp
        at += now.size
    assert at == len(hidden)
    assert SECRET not in hidden


@given(st.binary(max_size=200), st.integers(0, 60))
def test_what_is_no_batch_is_left_out(rubbish: bytes, at: int) -> None:
    batch = build_batch([NewRecord(None, SECRET, 0)])
    hidden = WithoutContents()
    assert SECRET not in hidden.records(batch[:at] + rubbish + batch[at:])
    for frame in (b"\0\0\0\x0b\0\0\0\x07" + rubbish + SECRET, b"\0\0\0\x0b"):
        assert SECRET not in hidden.request(0, 11, frame)
        assert SECRET not in hidden.answer(1, 16, frame)


@pytest.mark.parametrize("batches", [1, 1000])
def test_a_batch_that_only_says_that_it_has_many_records_makes_no_large_frame(batches: int) -> None:
    claim = parse_header(build_batch([NewRecord(None, None, 0)]))._replace(length=49, record_count=100_000).encode()
    frame = asked(produced(claim * batches), 9, 1)[4:]
    hidden = WithoutContents().request(0, 9, frame)
    assert len(hidden) <= 20 * len(frame)
    assert len(hidden) >= len(frame)  # each has its header still


def test_what_compresses_best_keeps_all_its_records() -> None:
    batch = build_batch([NewRecord(b"", b"", 0)] * 100_000, compression=4)
    hidden = WithoutContents()
    hidden.request(0, 9, asked(produced(b""), 9, 1)[4:])  # what one frame may have is no matter of another
    found = hidden.request(0, 9, asked(produced(batch), 9, 1)[4:])
    assert len(found) > 15 * len(batch)


def produced(records: bytes) -> ProduceRequest:
    data = PartitionProduceData(0, records)
    return ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[TopicProduceData("t", partition_data=[data])])


def test_markers_stay_and_what_a_client_calls_one_does_not() -> None:
    marker = build_marker(1, 0, True, 3, 7, base_offset=5)
    hidden = WithoutContents()
    assert hidden.records(marker) == marker
    for key, value in ((b"\0\0\0\1", SECRET), (SECRET, b"\0\0\0\0\0\3"), (None, SECRET), (SECRET, None)):
        called = build_batch([NewRecord(key, value, 0)], attributes=0x20)
        found = hidden.records(called)
        assert SECRET not in found
        assert parse_header(found).record_count == 1


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}) as running:
        yield running


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_journal_without_records_is_replayed(stub: KafkaStub, tmp_path: Path, codec: str) -> None:
    folder = tmp_path / "journal"
    with KafkaProxy(stub.bootstrap_servers, journal=folder, hide_records=True) as proxy:
        producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "compression.type": codec})
        for number in range(20):
            producer.produce("orders", SECRET + b"%d" % number, SECRET, headers={"h": SECRET})
        assert producer.flush(SECONDS) == 0
        consumer = Consumer(
            {"bootstrap.servers": proxy.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["orders"])
        read = []

        def all_read() -> bool:
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                read.append(message.value())
            return len(read) == 20

        until(all_read, "20 records")
        consumer.close()
        assert read[0] == SECRET + b"0"
        produced, fetched = proxy.journal.requests(api="Produce"), proxy.journal.requests(api="Fetch")
        records = [
            data.records for one in produced for topic in one.request.topic_data for data in topic.partition_data
        ]
        assert sum(parse_header(one).record_count for one in records) == 20
        assert not any(SECRET in entry.request_frame + (entry.response_frame or b"") for entry in produced + fetched)
    assert any(entry["api"] == "Produce" for entry in read_rows(folder))
    assert not any(SECRET in entry["request"] + (entry["response"] or b"") for entry in read_rows(folder))
    with KafkaStub(topics={"orders": 1}) as other:
        done = replay(folder, other)
        assert done.differences == []
        assert len(other.records("orders")) == 20


def test_a_part_of_an_answer_is_hidden_too(stub: KafkaStub) -> None:
    stub.produce("orders", SECRET)
    with KafkaProxy(stub.bootstrap_servers, hide_records=True) as proxy:
        with proxy.faults.add(api="Fetch", cut=150, times=1) as fault:
            consumer = Consumer(
                {"bootstrap.servers": proxy.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
            )
            consumer.subscribe(["orders"])
            until(lambda: consumer.poll(0.1) is not None and fault.hits == 1, "a record behind a cut answer")
            consumer.close()
        (cut,) = proxy.journal.requests(api="Fetch", outcome="dropped", fault=fault.id)
        assert len(cut.response_frame or b"") == 150
        assert SECRET not in (cut.response_frame or b"")
