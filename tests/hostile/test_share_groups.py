"""Share groups whose members mean no good: what they cost memory and the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.header import is_flexible
from kafkawire.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.alter_share_group_offsets_response import AlterShareGroupOffsetsResponse
from kafkawire.messages.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_fetch_response import ShareFetchResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kafkawire.records import Compression, NewRecord, build_batch
from tests.hostile.many import ONE, THOUSAND, TOPICS, Many
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.shares import GROUP, OFFLINE, share_requests
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient
from tests.waiting import until

SIZE = 100_000
FLAT_MB = 150
RECORDS = 2_000


class Member:
    """One of a share group, which has records acquired."""

    def __init__(self, servers: str) -> None:
        self.client = RawClient(servers)
        answer = self.client.exchange(ApiKey.METADATA, 12, encode(MetadataRequest(None), 12))
        self.ids = {one.name: bytes(one.topic_id) for one in decode(MetadataResponse, 12, answer).topics}
        self._epoch = 0
        until(self._has_topics, "an assignment")
        until(lambda: self._is_begun(), "offsets of a group without members")
        until(lambda: self.begin() == [ErrorCode.NONE] * 1001, "share partitions")
        batches = [build_batch([NewRecord(b"k", b"v" * 10, 1)]) for _ in range(RECORDS)]
        for batch in batches:
            topics = [TopicProduceData(name=ONE, partition_data=[PartitionProduceData(0, batch)])]
            self.client.exchange(ApiKey.PRODUCE, 12, encode(ProduceRequest(None, 1, 1000, topics), 12))

    def _has_topics(self) -> bool:
        topics = [ONE, THOUSAND] if not self._epoch else None
        request = ShareGroupHeartbeatRequest(GROUP, "member", self._epoch, None, topics)
        body = self.client.exchange(ApiKey.SHARE_GROUP_HEARTBEAT, 1, encode(request, 1))
        answer = decode(ShareGroupHeartbeatResponse, 1, body)
        self._epoch = answer.member_epoch
        return answer.assignment is not None and len(answer.assignment.topic_partitions) == 2

    def _is_begun(self) -> bool:
        every = [AlterShareGroupOffsetsRequestPartition(one, 0) for one in range(1000)]
        topics = [
            AlterShareGroupOffsetsRequestTopic(ONE, every[:1]),
            AlterShareGroupOffsetsRequestTopic(THOUSAND, every),
        ]
        request = AlterShareGroupOffsetsRequest(OFFLINE, topics)
        body = self.client.exchange(ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, encode(request, 0))
        return decode(AlterShareGroupOffsetsResponse, 0, body).error_code == ErrorCode.NONE

    def begin(self, records: int = RECORDS, *, all_of_it: bool = True) -> list[int]:
        """Begin a share session, and acquire what there is; error codes of partitions."""
        topics = [FetchTopic(self.ids[ONE], [FetchPartition(0)])]
        if all_of_it:
            topics.append(FetchTopic(self.ids[THOUSAND], [FetchPartition(one) for one in range(1000)]))
        request = ShareFetchRequest(GROUP, "member", 0, 100, 1, 1 << 20, records, 1, topics=topics)
        body = self.client.exchange(ApiKey.SHARE_FETCH, 2, encode(request, 2))
        answer = decode(ShareFetchResponse, 2, body)
        assert answer.error_code == ErrorCode.NONE
        return [partition.error_code for topic in answer.responses for partition in topic.partitions]


QUICK: Final = ("auto.create.topics.enable=false", "group.share.assignment.interval.ms=0")


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with Serving("--topic", *TOPICS, "--config", *QUICK) as process:
        yield process


@pytest.fixture(scope="module")
def member(serving: Serving) -> Iterator[Member]:
    made = Member(serving.servers)
    yield made
    made.client.close()


def wait_of(serving: Serving, member: Member, one: Many) -> float:
    """How long another client waits meanwhile, in ms."""
    with RawClient(serving.servers) as client:

        def attack() -> None:
            if one.key == ApiKey.SHARE_ACKNOWLEDGE:
                member.begin(all_of_it=False)
            flexible = is_flexible(request_class(ApiKey(one.key)), one.version)
            asked = member.client if one.key == ApiKey.SHARE_ACKNOWLEDGE else client
            asked.send(one.key, one.version, one.body, flexible)
            assert asked.drain() is not None, f"{one.name}: closed"

        return shortest_wait(serving.servers, attack)


def share_fetch(
    client: RawClient,
    ids: dict[str, bytes],
    member: str,
    epoch: int = 0,
    records: int = 500,
    group: str = GROUP,
    wait_ms: int = 0,
) -> ShareFetchResponse:
    topics = [FetchTopic(ids[ONE], [FetchPartition(0)])]
    request = ShareFetchRequest(group, member, epoch, wait_ms, 1, 1 << 20, records, 1, topics=topics)
    return decode(ShareFetchResponse, 2, client.exchange(ApiKey.SHARE_FETCH, 2, encode(request, 2)))


@linux
def test_what_one_request_about_share_groups_can_name(serving: Serving, member: Member) -> None:
    before = memory_mb(serving)
    slow = {}
    for one in share_requests(SIZE, member.ids):
        if (ms := wait_of(serving, member, one)) > LONGEST_MS:
            slow[one.name] = round(ms)
    assert slow == {}
    assert memory_mb(serving) - before < FLAT_MB


@linux
def test_sessions_end_with_their_number() -> None:
    """`group.share.max.share.sessions`: who comes later is refused, and nothing is kept of it.

    On a broker of its own: of the sessions of one connection only the last goes with it, as in Kafka.
    """
    with Serving("--topic", *TOPICS, "--config", *QUICK) as serving:
        member = Member(serving.servers)
        before = memory_mb(serving)
        with RawClient(serving.servers) as client:
            codes = {share_fetch(client, member.ids, f"m{number}", records=0).error_code for number in range(4000)}
        assert ErrorCode.SHARE_SESSION_LIMIT_REACHED in codes
        assert memory_mb(serving) - before < 60
        member.client.close()


@linux
def test_what_goes_with_its_connection_comes_back(serving: Serving, member: Member) -> None:
    """Members acquire what there is and are gone: the next one has it, as long as it may be delivered."""
    before = memory_mb(serving)

    def come_and_go() -> None:
        for number in range(300):
            with RawClient(serving.servers) as client:
                share_fetch(client, member.ids, f"gone-{number}")

    assert shortest_wait(serving.servers, come_and_go) < LONGEST_MS
    assert memory_mb(serving) - before < 30


@linux
def test_a_share_partition_in_single_offsets(serving: Serving, member: Member) -> None:
    """Every second record is accepted, the others are given back, again and again."""
    client = member.client
    before = memory_mb(serving)

    def pick() -> None:
        epoch = 0
        for _ in range(6):
            acquired = [
                one
                for topic in share_fetch(client, member.ids, "picky", epoch, 2000).responses
                for partition in topic.partitions
                for one in partition.acquired_records
            ]
            offsets = [offset for one in acquired for offset in range(one.first_offset, one.last_offset + 1)]
            said = [
                AcknowledgementBatch(offset, offset, [1 if number % 2 else 2]) for number, offset in enumerate(offsets)
            ]
            topics = [AcknowledgeTopic(member.ids[ONE], [AcknowledgePartition(0, said)])]
            request = ShareAcknowledgeRequest(GROUP, "picky", epoch + 1, topics=topics)
            client.exchange(ApiKey.SHARE_ACKNOWLEDGE, 2, encode(request, 2))
            epoch += 2

    assert shortest_wait(serving.servers, pick) < LONGEST_MS
    assert memory_mb(serving) - before < 30


@linux
def test_dead_letters_by_the_thousand(serving: Serving, member: Member) -> None:
    """A group rejects all of a batch that unpacks to a megabyte, and has its records copied."""
    client, ids = member.client, member.ids
    names = {"errors.deadletterqueue.topic.name": "dlq.many", "errors.deadletterqueue.copy.record.enable": "true"}
    names["share.auto.offset.reset"] = "earliest"
    configs = [AlterableConfig(name, 0, value) for name, value in names.items()]
    changes = IncrementalAlterConfigsRequest([AlterConfigsResource(32, "strict", configs)])
    client.exchange(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, encode(changes, 1))
    enabled = [CreatableTopicConfig("errors.deadletterqueue.group.enable", "true")]
    topics = [CreatableTopic("dlq.many", 1, 1, configs=enabled), CreatableTopic("packed", 1, 1)]
    client.exchange(ApiKey.CREATE_TOPICS, 7, encode(CreateTopicsRequest(topics, 10_000), 7))
    batch = build_batch([NewRecord(b"k", b"v" * 500, 1)] * 2000, compression=Compression.GZIP)
    data = [TopicProduceData(name="packed", partition_data=[PartitionProduceData(0, batch)])]
    client.exchange(ApiKey.PRODUCE, 12, encode(ProduceRequest(None, 1, 1000, data), 12))
    answer = client.exchange(ApiKey.METADATA, 12, encode(MetadataRequest(None), 12))
    ids = {one.name: bytes(one.topic_id) for one in decode(MetadataResponse, 12, answer).topics}
    packed = {ONE: ids["packed"]}
    beat = ShareGroupHeartbeatRequest("strict", "judge", 0, None, ["packed"])

    def begun() -> bool:
        client.exchange(ApiKey.SHARE_GROUP_HEARTBEAT, 1, encode(beat, 1))
        answer = share_fetch(client, packed, "judge", group="strict", records=2000, wait_ms=100)
        return any(one.acquired_records for topic in answer.responses for one in topic.partitions)

    until(begun, "records")
    said = [AcknowledgementBatch(offset, offset, [3]) for offset in range(2000)]
    topics_said = [AcknowledgeTopic(ids["packed"], [AcknowledgePartition(0, said)])]
    request = ShareAcknowledgeRequest("strict", "judge", 1, topics=topics_said)

    def judge() -> None:
        client.exchange(ApiKey.SHARE_ACKNOWLEDGE, 2, encode(request, 2))
        until(lambda: end_of("dlq.many") == 2000, "dead letters")

    def end_of(topic: str) -> int:
        asked = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, [ListOffsetsPartition(0, -1, -1)])])
        found = decode(ListOffsetsResponse, 7, client.exchange(ApiKey.LIST_OFFSETS, 7, encode(asked, 7)))
        return found.topics[0].partitions[0].offset

    with probing(serving.servers) as prober:
        judge()
    assert prober.longest_ms < LONGEST_MS
