"""Whatever is produced, in whatever batches, comes back byte for byte: over a connection, from every offset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.fetch_response import FetchResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from kafkawire.records import Compression, NewRecord, build_batch, parse_header
from tests.rawclient import RawClient

PARTITIONS = 400
"""One for each example: what is in one is only what the example wrote."""

T0 = 1_700_000_000_000


class Stored(NamedTuple):
    """A batch as it has to come back."""

    last_offset: int
    data: bytes


@pytest.fixture(scope="module")
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"wide": PARTITIONS}) as running:
        yield running


@pytest.fixture(scope="module")
def client(stub: KafkaStub) -> Iterator[RawClient]:
    with RawClient(stub.bootstrap_servers) as connected:
        yield connected


@pytest.fixture(scope="module")
def partitions() -> Iterator[int]:
    return iter(range(PARTITIONS))


RECORDS = st.builds(
    NewRecord,
    st.none() | st.binary(max_size=20),
    st.none() | st.binary(max_size=60) | st.sampled_from([bytes(5000), b"x" * 70_000]),
    st.integers(T0, T0 + 1000),
    st.lists(st.tuples(st.binary(max_size=5), st.none() | st.binary(max_size=5)), max_size=2).map(tuple),
)
BATCHES = st.lists(
    st.tuples(st.lists(RECORDS, min_size=1, max_size=4), st.sampled_from(list(Compression))), min_size=1, max_size=6
)
VERSIONS = st.sampled_from([4, 11, 12])


def produce(client: RawClient, partition: int, batch: bytes, version: int) -> int:
    data = TopicProduceData(name="wide", partition_data=[PartitionProduceData(partition, batch)])
    request = ProduceRequest(transactional_id=None, acks=-1, timeout_ms=1000, topic_data=[data])
    answer = decode(ProduceResponse, version, client.exchange(ApiKey.PRODUCE, version, encode(request, version)))
    (told,) = answer.responses[0].partition_responses
    assert told.error_code == 0
    return int(told.base_offset)


def fetch(client: RawClient, partition: int, offset: int, limit: int, version: int) -> bytes:
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=limit)
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=limit,
        topics=[FetchTopic(topic="wide", partitions=[asked])],
    )
    answer = decode(FetchResponse, version, client.exchange(ApiKey.FETCH, version, encode(request, version)))
    (told,) = answer.responses[0].partitions
    assert told.error_code == 0
    return bytes(told.records or b"")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=BATCHES, version=VERSIONS, data=st.data())
def test_what_is_produced_comes_back_byte_for_byte(
    client: RawClient,
    partitions: Iterator[int],
    batches: list[tuple[list[NewRecord], int]],
    version: int,
    data: st.DataObject,
):
    partition = next(partitions, None)
    assume(partition is not None)
    assert partition is not None
    stored: list[Stored] = []
    for records, codec in batches:
        batch = build_batch(records, compression=codec)
        base = produce(client, partition, batch, 12)
        header = parse_header(batch)._replace(base_offset=base, leader_epoch=0)
        stored.append(Stored(base + len(records) - 1, header.encode() + batch[61:]))
    end = stored[-1].last_offset + 1
    assert [one.last_offset for one in stored] == sorted({one.last_offset for one in stored})
    for offset in range(end + 1):
        wanted = b"".join(one.data for one in stored if one.last_offset >= offset)
        first = next((len(one.data) for one in stored if one.last_offset >= offset), 0)
        limit = data.draw(st.integers(0, len(wanted) + 10) | st.just(1 << 20), label=f"limit at {offset}")
        assert fetch(client, partition, offset, limit, version) == wanted[: max(limit, first)]
