"""One request that names as much as 100 KB can: the others hardly notice, and it is answered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.header import is_flexible
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_configs_response import DescribeConfigsResponse
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import FindCoordinatorResponse
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.hostile.many import TOPICS, TRANSACTION, Many, requests
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

SIZE = 100_000
FLAT_MB = 300
"""By so much may a broker grow that has answered with hundreds of megabytes."""


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with Serving("--topic", *TOPICS, "--config", "auto.create.topics.enable=false") as process:
        open_transaction(process)
        yield process


def open_transaction(process: Serving) -> None:
    """That of `many.TRANSACTION`."""
    with RawClient(process.servers) as client:
        begun = decode(
            InitProducerIdResponse,
            4,
            client.exchange(ApiKey.INIT_PRODUCER_ID, 4, encode(InitProducerIdRequest(TRANSACTION, 900_000), 4)),
        )
        assert (begun.error_code, begun.producer_id, begun.producer_epoch) == (ErrorCode.NONE, 0, 0)
        added = AddPartitionsToTxnRequest((), TRANSACTION, 0, 0, [AddPartitionsToTxnTopic("t1", range(1000))])
        client.exchange(ApiKey.ADD_PARTITIONS_TO_TXN, 3, encode(added, 3))


def wait_of(serving: Serving, one: Many) -> float:
    """How long another client waits meanwhile, in ms."""
    with RawClient(serving.servers) as client:

        def attack() -> None:
            client.send(one.key, one.version, one.body, is_flexible(request_class(ApiKey(one.key)), one.version))
            assert client.drain() is not None, f"{one.name}: closed"

        return shortest_wait(serving.servers, attack)


@linux
def test_what_one_request_can_name(serving: Serving):
    before = memory_mb(serving)
    slow = {one.name: round(ms) for one in requests(SIZE) if (ms := wait_of(serving, one)) > LONGEST_MS}
    assert slow == {}
    assert memory_mb(serving) - before < FLAT_MB


def test_the_broker_named_ten_thousand_times_is_described_each_time(serving: Serving):
    names = ["1"] * 500 + ["2"] + ["1"] * 500
    request = DescribeConfigsRequest([DescribeConfigsResource(4, name, None) for name in names], include_synonyms=True)
    with RawClient(serving.servers) as client:
        answer = decode(DescribeConfigsResponse, 4, client.exchange(ApiKey.DESCRIBE_CONFIGS, 4, encode(request, 4)))
    first = answer.results[0]
    assert len(first.configs) > 100
    assert all(len(entry.synonyms) <= 4 for entry in first.configs)
    assert [result.resource_name for result in answer.results] == names
    assert all(result == first for result in answer.results if result.resource_name == "1")
    assert answer.results[500].error_code == ErrorCode.INVALID_REQUEST


@linux
def test_a_large_group_that_is_named_many_times(serving: Serving):
    partitions = [OffsetCommitRequestPartition(index, 1, committed_metadata=str(index)) for index in range(1000)]
    commit = OffsetCommitRequest("large", topics=[OffsetCommitRequestTopic("t1", partitions=partitions)])
    with RawClient(serving.servers) as client:
        client.exchange(ApiKey.OFFSET_COMMIT, 8, encode(commit, 8))
    before = memory_mb(serving)
    groups = [OffsetFetchRequestGroup("large", topics=None)] * 10_000
    offsets = encode(OffsetFetchRequest(groups=groups), 8)
    described = encode(DescribeGroupsRequest(["large"] * 10_000), 5)
    for one in (
        Many("OffsetFetch", ApiKey.OFFSET_FETCH, 8, offsets),
        Many("DescribeGroups", ApiKey.DESCRIBE_GROUPS, 5, described),
    ):
        assert wait_of(serving, one) <= LONGEST_MS
    assert memory_mb(serving) - before < FLAT_MB


def test_an_answer_that_no_frame_can_hold_is_an_error(serving: Serving):
    """Half a megabyte of names of what takes 27 KB each: more than 2,147,483,647 bytes."""
    request = DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)] * 100_000, include_synonyms=True)
    with RawClient(serving.servers) as client:
        answer = decode(DescribeConfigsResponse, 4, client.exchange(ApiKey.DESCRIBE_CONFIGS, 4, encode(request, 4)))
        assert {result.error_code for result in answer.results} == {ErrorCode.UNKNOWN_SERVER_ERROR}
        assert len(answer.results) == 100_000
        client.exchange(ApiKey.METADATA, 1, encode(MetadataRequest(topics=None), 1))
    assert "a reply is too long" in serving.stderr


def test_requests_that_come_together_take_turns(serving: Serving):
    """128 requests of some milliseconds each in one segment, and somebody else between them."""
    names = [DescribeConfigsResource(32, f"group-{number}", ["consumer.session.timeout.ms"]) for number in range(500)]
    one = encode(DescribeConfigsRequest(names, include_synonyms=True), 4)

    def attack() -> None:
        with RawClient(serving.servers) as client:
            together = bytearray()
            client.socket, sock = _Kept(together), client.socket  # type: ignore[assignment]
            for _ in range(100):
                client.send(ApiKey.DESCRIBE_CONFIGS, 4, one, True)
            client.socket = sock
            sock.sendall(together)
            for _ in range(100):
                assert client.drain() is not None

    assert shortest_wait(serving.servers, attack) <= LONGEST_MS


class _Kept:
    """A socket that keeps what is sent."""

    def __init__(self, data: bytearray) -> None:
        self.data = data

    def sendall(self, data: bytes) -> None:
        self.data += data


def test_an_answer_of_a_million_pieces_is_sent(serving: Serving):
    """A transport takes some hundred thousand at once, and each coordinator is several."""
    names = [str(index) for index in range(250_000)]
    with RawClient(serving.servers) as client:
        data = client.exchange(ApiKey.FIND_COORDINATOR, 4, encode(FindCoordinatorRequest(coordinator_keys=names), 4))
        answer = decode(FindCoordinatorResponse, 4, data)
        assert [one.key for one in answer.coordinators] == names
        client.exchange(ApiKey.METADATA, 1, encode(MetadataRequest(topics=[]), 1))
