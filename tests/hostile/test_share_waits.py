"""Share groups with long names, long waits and much of everything: nobody else waits for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import initialize_share_group_state_request as initializing
from kafkawire.messages import read_share_group_state_request as reading
from kafkawire.messages import write_share_group_state_request as writing
from kafkawire.messages.initialize_share_group_state_response import InitializeShareGroupStateResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.read_share_group_state_response import ReadShareGroupStateResponse
from kafkawire.messages.read_share_group_state_summary_request import (
    PartitionData,
    ReadShareGroupStateSummaryRequest,
    ReadStateSummaryData,
)
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_fetch_response import ShareFetchResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.records import NewRecord, build_batch
from tests.hostile.many import ONE, THOUSAND, TOPICS
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient
from tests.waiting import until

LONG = "x" * 32_000
WAITING = 200


class Crowd:
    """A broker, and who asks it."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.client = RawClient(serving.servers)
        answer = self.client.exchange(ApiKey.METADATA, 12, encode(MetadataRequest(None), 12))
        self.ids = {one.name: bytes(one.topic_id) for one in decode(MetadataResponse, 12, answer).topics}
        beat = encode(ShareGroupHeartbeatRequest("g", "m", 0, None, [ONE]), 1)
        self.client.exchange(ApiKey.SHARE_GROUP_HEARTBEAT, 1, beat)
        until(lambda: self.initialize("tried", ONE, 1) == [ErrorCode.NONE], "the share coordinator")

    def initialize(self, group: str, topic: str, count: int) -> list[int]:
        """Make share partitions known; their error codes."""
        data = [initializing.PartitionData(index, 0, 0) for index in range(count)]
        request = initializing.InitializeShareGroupStateRequest(
            group, [initializing.InitializeStateData(self.ids[topic], data)]
        )
        body = self.client.exchange(ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, encode(request, 0))
        found = decode(InitializeShareGroupStateResponse, 0, body)
        return [one.error_code for topic_found in found.results for one in topic_found.partitions]

    def produce(self, topic: str, index: int) -> None:
        data = [PartitionProduceData(index, build_batch([NewRecord(b"k", b"v", 1)]))]
        request = ProduceRequest(None, 1, 1000, [TopicProduceData(name=topic, partition_data=data)])
        self.client.exchange(ApiKey.PRODUCE, 12, encode(request, 12))


@pytest.fixture(scope="module")
def crowd() -> Iterator[Crowd]:
    with Serving("--topic", *TOPICS, "--config", "auto.create.topics.enable=false") as process:
        yield Crowd(process)


def share_fetch(group: str, member: str, epoch: int, wait_ms: int, topic_id: bytes, count: int) -> bytes:
    topics = [FetchTopic(topic_id, [FetchPartition(index) for index in range(count)])] if count else []
    return encode(ShareFetchRequest(group, member, epoch, wait_ms, 1, 1 << 20, 500, 500, topics=topics), 2)


@linux
def test_groups_with_names_of_32_kb(crowd: Crowd) -> None:
    """All partitions of such a group have it in the text that says who coordinates them."""
    before = memory_mb(crowd.serving)
    data = [PartitionData(index, 0) for index in range(6000)]
    request = ReadShareGroupStateSummaryRequest(LONG, [ReadStateSummaryData(crowd.ids[THOUSAND], data)])

    def attack() -> None:
        crowd.client.exchange(ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, 1, encode(request, 1))
        crowd.initialize(LONG, THOUSAND, 1000)
        for epoch in (0, -1):
            count = 1000 if epoch == 0 else 0
            body = share_fetch(LONG, "m", epoch, 100, crowd.ids[THOUSAND], count)
            crowd.client.exchange(ApiKey.SHARE_FETCH, 2, body)

    assert shortest_wait(crowd.serving.servers, attack) < LONGEST_MS
    assert memory_mb(crowd.serving) - before < 60


@linux
def test_sessions_of_ever_new_groups_on_one_connection(crowd: Crowd) -> None:
    before = memory_mb(crowd.serving)
    with RawClient(crowd.serving.servers) as client:
        for number in range(2000):
            for epoch in (0, -1):
                body = share_fetch(f"{number}{LONG}", "m", epoch, 0, crowd.ids[ONE], 0)
                client.exchange(ApiKey.SHARE_FETCH, 2, body)
    assert memory_mb(crowd.serving) - before < 30


@linux
def test_a_session_that_grows_and_grows(crowd: Crowd) -> None:
    """Of partitions that there are not."""
    codes = set()
    with RawClient(crowd.serving.servers) as client:
        for number in range(10):
            topics = [FetchTopic(crowd.ids[ONE], [FetchPartition(10_000 * number + one) for one in range(10_000)])]
            request = ShareFetchRequest("g", "m", number, 0, 1, 1 << 20, 500, 500, topics=topics)
            body = client.exchange(ApiKey.SHARE_FETCH, 2, encode(request, 2))
            codes.add(decode(ShareFetchResponse, 2, body).error_code)
            if ErrorCode.SHARE_SESSION_LIMIT_REACHED in codes:
                break
    assert codes == {ErrorCode.NONE, ErrorCode.SHARE_SESSION_LIMIT_REACHED}


@linux
def test_many_who_wait_for_many_partitions(crowd: Crowd) -> None:
    """One record, then all of them gone at once."""
    crowd.initialize("many", THOUSAND, 1000)
    clients = [RawClient(crowd.serving.servers) for _ in range(WAITING)]
    for number, client in enumerate(clients):
        body = share_fetch("many", f"m{number}", 0, 600_000, crowd.ids[THOUSAND], 1000)
        client.send(ApiKey.SHARE_FETCH, 2, body, True)
    waiting = iter(range(3))
    assert shortest_wait(crowd.serving.servers, lambda: crowd.produce(THOUSAND, next(waiting))) < LONGEST_MS

    def gone() -> None:
        for client in clients:
            client.close()
        for index in range(20):  # served among them
            crowd.produce(THOUSAND, index)

    assert shortest_wait(crowd.serving.servers, gone) < LONGEST_MS


@linux
def test_what_is_known_of_a_partition_asked_for_again_and_again(crowd: Crowd) -> None:
    crowd.initialize("known", ONE, 1)
    topic_id = crowd.ids[ONE]
    for number in range(20):
        batches = [writing.StateBatch(4000 * number + 2 * one, 4000 * number + 2 * one, 2, 1) for one in range(2000)]
        data = [writing.WriteStateData(topic_id, [writing.PartitionData(0, 0, 0, 0, 0, batches)])]
        request = writing.WriteShareGroupStateRequest("known", data)
        crowd.client.exchange(ApiKey.WRITE_SHARE_GROUP_STATE, 1, encode(request, 1))
    again = [reading.ReadStateData(topic_id, [reading.PartitionData(0, 0)] * 1000)]

    def ask() -> None:
        asked = encode(reading.ReadShareGroupStateRequest("known", again), 0)
        answer = crowd.client.exchange(ApiKey.READ_SHARE_GROUP_STATE, 0, asked)
        (one,) = decode(ReadShareGroupStateResponse, 0, answer).results[0].partitions
        assert len(one.state_batches) == 40_000

    assert shortest_wait(crowd.serving.servers, ask) < LONGEST_MS
