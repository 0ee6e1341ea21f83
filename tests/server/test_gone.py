"""A client that goes while something waits for it takes that along, whatever stands between."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafkastub import KafkaStub
from kafkastub.server import protocol
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.conftest import CONFIG
from tests.rawclient import RawClient
from tests.waiting import until

DAYS_24 = 2**31 - 1


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, config=CONFIG) as stub:
        yield stub


def parked(stub: KafkaStub) -> int:
    found: int = stub._call(lambda: len(stub._running().state.fetch_purgatory))
    return found


def fetch(stub: KafkaStub, max_wait_ms: int) -> RawClient:
    """A client that waits for records."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    client = RawClient(stub.bootstrap_servers)
    asked = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, session_epoch=-1, topics=topics)
    client.send(ApiKey.FETCH, 11, encode(asked, 11))
    return client


def gone(stub: KafkaStub) -> None:
    """Somebody waits for 24 days and goes, while another one waits for less long."""
    with fetch(stub, DAYS_24 // 2):
        until(lambda: parked(stub) == 1, "a fetch that waits")
        with fetch(stub, DAYS_24):
            until(lambda: parked(stub) == 2, "two fetches that wait")
        until(lambda: parked(stub) == 1, "an end of one's wait")


def test_a_fetch_is_let_go_with_its_connection(stub: KafkaStub):
    gone(stub)


def test_a_fetch_under_quotas_is_let_go_with_its_connection(stub: KafkaStub):
    stub.set_quota(client_id="raw", request_percentage=1000, consumer_byte_rate=10_000_000)
    gone(stub)


@pytest.mark.parametrize("delay", [{"delay_ms": 1}, {"throttle_time_ms": 5}])
def test_a_fetch_that_a_fault_met_is_let_go_with_its_connection(stub: KafkaStub, delay: dict[str, int]):
    with stub.faults.add(api="Fetch", **delay):
        gone(stub)


def test_a_fetch_that_waits_for_the_disk_is_let_go_with_its_connection(tmp_path_factory: pytest.TempPathFactory):
    directory = tmp_path_factory.mktemp("data")
    with KafkaStub(topics={"orders": 1}, config={**CONFIG, "kafkastub.flush": "message"}, data_dir=directory) as stub:
        gone(stub)


def produce() -> bytes:
    """One of many with acks=0."""
    batch = build_batch([NewRecord(None, bytes(1000), 1)])
    topics = [TopicProduceData("orders", partition_data=[PartitionProduceData(index=0, records=batch)])]
    return frame(request_header(ApiKey.PRODUCE, 8, 1, "raw", False) + encode(ProduceRequest(None, 0, 1000, topics), 8))


def long_metadata(*topics: str) -> bytes:
    asked = [MetadataRequestTopic(name=topic) for topic in topics]
    body = encode(MetadataRequest(asked, allow_auto_topic_creation=False), 8)
    return frame(request_header(ApiKey.METADATA, 8, 1, "raw", False) + body)


def end_of_orders(stub: KafkaStub) -> int:
    return len(stub.records("orders"))


def test_answers_that_are_made_part_by_part_come_after_the_end_of_the_requests(stub: KafkaStub):
    stub.create_topic("wide", partitions=3000)
    with RawClient(stub.bootstrap_servers) as client:
        client.socket.sendall(long_metadata("wide") * 20 + produce())
        client.socket.shutdown(socket.SHUT_WR)
        assert sum(client.receive() is not None for _ in range(20)) == 20
        assert client.receive() is None
    until(lambda: end_of_orders(stub) == 1, "the record behind them")


def test_what_was_sent_before_the_end_is_served_when_the_quota_allows_it(stub: KafkaStub):
    """As in Kafka, where a channel that is throttled is not read, so that its end is seen when all is served."""
    stub.set_quota(client_id="raw", producer_byte_rate=50_000)
    with RawClient(stub.bootstrap_servers) as client:
        client.socket.sendall(produce() * 700)
    until(lambda: end_of_orders(stub) == 700, lambda: f"{end_of_orders(stub)} of 700 records")


def test_who_reads_no_answer_is_not_kept_for_that(stub: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "_LAST_WORDS_SECONDS", 0.05)
    names = [f"wide-{number}" for number in range(10)]
    for name in names:
        stub.create_topic(name, partitions=9_000)
    connections = stub._running().connections[0]
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, _, port = stub.bootstrap_servers.rpartition(":")
        client.connect((host, int(port)))
        client.sendall(long_metadata(*names))
        client.shutdown(socket.SHUT_WR)
        until(lambda: stub._running().connections[0] > connections, "the connection")
        until(lambda: stub._running().connections[0] == connections, "its end", seconds=20)
