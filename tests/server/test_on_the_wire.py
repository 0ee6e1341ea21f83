"""What a client may send, and how its connection fares: the same tests on the stub and on Apache Kafka."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.framing import frame
from kafkawire.header import request_header, response_header_size
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersionsResponse
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.metadata_response import MetadataResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.rawclient import RawClient
from tests.waiting import until

HEARTBEAT_BODY = encode(HeartbeatRequest("no-such-group", 1, "nobody"), 4)


@pytest.fixture
def client(servers: str) -> Iterator[RawClient]:
    with RawClient(servers) as client:
        yield client


@pytest.fixture
def topic(client: RawClient, unique: Callable[[str], str]) -> str:
    """A topic that exists and is empty."""
    name = unique("topic")
    body = encode(MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True), 8)

    def is_led() -> bool:
        answer = decode(MetadataResponse, 8, client.exchange(ApiKey.METADATA, 8, body))
        return answer.topics[0].error_code == ErrorCode.NONE and all(
            partition.leader_id >= 0 for partition in answer.topics[0].partitions
        )

    until(is_led, f"topic {name}")
    return name


def request(key: int, version: int, correlation_id: int, body: bytes, flexible: bool = False) -> bytes:
    """A whole frame."""
    return frame(request_header(key, version, correlation_id, "raw", flexible) + body)


def heartbeat(correlation_id: int) -> bytes:
    return request(ApiKey.HEARTBEAT, 4, correlation_id, HEARTBEAT_BODY, flexible=True)


def fetch(correlation_id: int, topic: str, wait_ms: int) -> bytes:
    """A long poll for a record that does not come."""
    asked = FetchTopic(topic=topic, partitions=[FetchPartition(partition=0, partition_max_bytes=1000)])
    body = encode(FetchRequest(max_wait_ms=wait_ms, min_bytes=1, session_epoch=-1, topics=[asked]), 11)
    return request(ApiKey.FETCH, 11, correlation_id, body)


def answered(client: RawClient, count: int) -> list[int]:
    """The correlation ids of so many answers, fewer where the broker closes before."""
    found = []
    for _ in range(count):
        answer = client.receive()
        if answer is None:
            break
        found.append(struct.unpack_from(">i", answer)[0])
    return found


def closed(client: RawClient) -> bool:
    return client.receive() is None


def test_pipelined_requests_are_answered_in_their_order(client: RawClient):
    many = range(1, 301)
    client.socket.sendall(b"".join(map(heartbeat, many)))
    assert answered(client, len(many)) == list(many)


def test_a_request_may_come_byte_by_byte(client: RawClient):
    for byte in heartbeat(7) + heartbeat(8):
        client.socket.sendall(bytes((byte,)))
    assert answered(client, 2) == [7, 8]


def test_an_answer_that_is_not_there_yet_holds_the_later_ones_back(client: RawClient, topic: str):
    client.socket.sendall(fetch(1, topic, 300) + heartbeat(2) + fetch(3, topic, 100) + heartbeat(4))
    assert answered(client, 4) == [1, 2, 3, 4]


def test_a_produce_that_wants_no_answer_gets_none(client: RawClient, topic: str):
    silent = ProduceRequest(acks=0, timeout_ms=1000, topic_data=[TopicProduceData(topic)])
    client.socket.sendall(request(ApiKey.PRODUCE, 8, 1, encode(silent, 8)) + heartbeat(2))
    assert answered(client, 1) == [2]


def test_a_produce_that_wants_no_answer_and_fails_ends_the_connection(client: RawClient, topic: str):
    """How else should a producer learn of it. Kafka: KafkaApis.handleProduceRequest."""
    failing = TopicProduceData(topic, partition_data=[PartitionProduceData(index=99, records=BATCH)])
    body = encode(ProduceRequest(acks=0, timeout_ms=1000, topic_data=[failing]), 8)
    client.socket.sendall(request(ApiKey.PRODUCE, 8, 1, body))
    assert closed(client)


def test_what_was_sent_before_the_end_is_served(client: RawClient, servers: str, topic: str):
    """A producer with acks=0 sends its last records, and closes. Kafka: Selector.closingChannels."""
    large = build_batch([NewRecord(None, bytes(20_000), 1)])
    last = TopicProduceData(topic, partition_data=[PartitionProduceData(index=0, records=large)])
    body = encode(ProduceRequest(acks=0, timeout_ms=1000, topic_data=[last]), 8)
    with RawClient(servers) as producer:
        producer.socket.sendall(b"".join(request(ApiKey.PRODUCE, 8, number, body) for number in range(300)))

    def end() -> int:
        asked = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, [ListOffsetsPartition(0, -1, -1)])])
        answer = decode(ListOffsetsResponse, 5, client.exchange(ApiKey.LIST_OFFSETS, 5, encode(asked, 5)))
        found: int = answer.topics[0].partitions[0].offset
        return found

    until(lambda: end() == 300, lambda: f"{end()} of 300 records")


BATCH = bytes.fromhex(
    "0000000000000000" "00000039" "00000000" "02" "80c0b8a4" "0000" "00000000" "0000000000000000" "0000000000000000"
    "ffffffffffffffff" "ffff" "ffffffff" "00000001" "0e00000001026100"
)  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(frame(b""), id="an empty frame"),
        pytest.param(frame(b"\0"), id="one byte"),
        pytest.param(frame(b"\0\x0c\0\4\0\0\0"), id="half a header"),
        pytest.param(frame(b"\0\x0c\0\4\0\0\0\1\0\5abc"), id="half a client id"),
        pytest.param(b"\xff\xff\xff\xff", id="a negative size"),
        pytest.param(b"\x80\0\0\0", id="the least size"),
        pytest.param(struct.pack(">i", 104857601), id="a size above socket.request.max.bytes"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", id="http"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), id="tls"),
        pytest.param(request(32000, 0, 1, b""), id="an unknown api"),
        pytest.param(request(-1, 0, 1, b""), id="a negative api"),
        pytest.param(request(4, 0, 1, bytes(40)), id="an api of a controller"),
        pytest.param(request(ApiKey.HEARTBEAT, 5, 1, HEARTBEAT_BODY, True), id="a version that is too new"),
        pytest.param(request(ApiKey.HEARTBEAT, -1, 1, HEARTBEAT_BODY), id="a negative version"),
        pytest.param(request(ApiKey.PRODUCE, 2, 1, bytes(20)), id="a version that is advertised only"),
        pytest.param(request(ApiKey.HEARTBEAT, 4, 1, HEARTBEAT_BODY[:-3], True), id="half a body"),
        pytest.param(request(ApiKey.HEARTBEAT, 4, 1, b"", True), id="no body"),
        pytest.param(request(ApiKey.HEARTBEAT, 4, 1, b"", False), id="no tags in the header"),
        pytest.param(request(ApiKey.HEARTBEAT, 4, 1, b"\1\5\x09a" + HEARTBEAT_BODY), id="half a tag in the header"),
        pytest.param(request(ApiKey.DESCRIBE_GROUPS, 0, 1, b"\x7f\xff\xff\xff"), id="a huge count"),
        pytest.param(request(ApiKey.DESCRIBE_GROUPS, 0, 1, b"\xff\xff\xff\xff"), id="a null array"),
        pytest.param(request(ApiKey.API_VERSIONS, 3, 1, b"\5ab", True), id="a malformed ApiVersions"),
        pytest.param(request(ApiKey.API_VERSIONS, 99, 1, b""), id="ApiVersions of the future without tags"),
        pytest.param(request(ApiKey.API_VERSIONS, 99, 1, b"\1\5\x09a"), id="ApiVersions of the future, half a tag"),
    ],
)
def test_what_is_no_request_ends_the_connection_behind_the_answers_before_it(client: RawClient, raw: bytes):
    client.socket.sendall(heartbeat(1) + heartbeat(2) + raw)
    assert answered(client, 2) == [1, 2]
    with contextlib.suppress(OSError):  # it is closed already
        client.socket.shutdown(socket.SHUT_WR)  # a broker that waits for more would wait for ever
    assert closed(client)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\xff\xff\xff\xff", id="a size"),
        pytest.param(request(32000, 0, 1, b""), id="an api"),
        pytest.param(request(ApiKey.HEARTBEAT, 4, 1, b"", True), id="a body"),
    ],
)
def test_garbage_is_noticed_when_its_turn_comes(client: RawClient, topic: str, raw: bytes):
    """Kafka does not read on while an answer is under way."""
    client.socket.sendall(fetch(1, topic, 200) + heartbeat(2) + raw)
    assert answered(client, 2) == [1, 2]
    assert closed(client)


@pytest.mark.parametrize("behind", [b"\0", b"\xff\xff", heartbeat(9)])
def test_what_follows_a_request_in_its_frame_is_ignored(client: RawClient, behind: bytes):
    client.socket.sendall(request(ApiKey.HEARTBEAT, 4, 1, HEARTBEAT_BODY + behind, True) + heartbeat(2))
    assert answered(client, 2) == [1, 2]


@pytest.mark.parametrize(
    ("version", "rest"),
    [
        pytest.param(6, b"\0\2a\2b\0", id="the next"),
        pytest.param(99, b"\0", id="no body"),
        pytest.param(99, b"\1\5\1a\xff\xff\xff", id="a tag in the header, a body that is none"),
        pytest.param(32767, b"\0\0", id="the last"),
        pytest.param(-1, b"", id="below zero"),
    ],
)
def test_apiversions_of_a_version_that_does_not_exist_is_answered_in_version_0(
    client: RawClient, version: int, rest: bytes
):
    client.socket.sendall(request(ApiKey.API_VERSIONS, version, 77, rest) + heartbeat(2))
    answer = client.receive()
    assert answer is not None
    assert struct.unpack_from(">i", answer) == (77,)
    told = decode(ApiVersionsResponse, 0, answer[4:])
    assert told.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(api.api_key, api.min_version, api.max_version) for api in told.api_keys] == [(ApiKey.API_VERSIONS, 0, 5)]
    assert answered(client, 1) == [2]


@pytest.mark.parametrize("version", range(6))
def test_the_answer_to_apiversions_has_no_tags_in_its_header(client: RawClient, version: int):
    body = encode(ApiVersionsRequest(client_software_name="raw", client_software_version="1"), version)
    told = decode(ApiVersionsResponse, version, client.exchange(ApiKey.API_VERSIONS, version, body))
    assert told.error_code == ErrorCode.NONE
    assert response_header_size(ApiKey.API_VERSIONS, version >= 3) == 4


@pytest.mark.parametrize("tags", ["00", "01 05 02 6162", "02 05 00 05 00", "8000"])
def test_tags_in_a_header_are_skipped(client: RawClient, tags: str):
    client.socket.sendall(request(ApiKey.HEARTBEAT, 4, 1, bytes.fromhex(tags) + HEARTBEAT_BODY) + heartbeat(2))
    assert answered(client, 2) == [1, 2]


@pytest.mark.parametrize("count", ["ffffffff0f", "914e"], ids=["a negative count", "one more than may be"])
def test_no_header_has_more_tags_than_kafka_reads(client: RawClient, count: str):
    """Kafka 4.4: ByteBufferAccessor.readUnsignedVarint, RawTaggedFields; 10,000 are the most."""
    client.socket.sendall(request(ApiKey.HEARTBEAT, 4, 1, bytes.fromhex(count) + HEARTBEAT_BODY))
    assert client.receive() is None


@pytest.mark.parametrize("name", [None, "", "x" * 300])
def test_a_client_id_may_be_missing_or_long(client: RawClient, name: str | None):
    body = encode(HeartbeatRequest("no-such-group", 1, "nobody"), 3)
    sent = client.send(ApiKey.HEARTBEAT, 3, body, client_id=name)
    assert answered(client, 1) == [sent]


def test_a_client_that_has_said_all_gets_its_answers(client: RawClient):
    client.socket.sendall(heartbeat(1) + heartbeat(2))
    client.socket.shutdown(socket.SHUT_WR)
    assert answered(client, 2) == [1, 2]
    assert closed(client)


def test_a_client_that_goes_in_the_middle_of_a_frame_disturbs_nobody(client: RawClient, servers: str):
    with RawClient(servers) as other:
        other.socket.sendall(struct.pack(">i", 50_000_000) + b"x" * 1000)
    with RawClient(servers) as other:
        other.socket.sendall(b"\0\0")
    client.socket.sendall(heartbeat(1))
    assert answered(client, 1) == [1]
