"""A broker that has much to tell, and the requests whose answers are long."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header
from kafkawire.messages import REQUESTS, RESPONSES
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.hostile.crowds import pipelined
from tests.rawclient import RawClient
from tests.waiting import until

AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
CONFIG: Final = (
    f"authorizer.class.name={AUTHORIZER}", "super.users=User:ANONYMOUS", "auto.create.topics.enable=false",
    "group.share.assignment.interval.ms=0",
)  # fmt: skip
LARGE, RECORDS = "large", "records"
TOPICS: Final = (f"{LARGE}:2000", f"{RECORDS}:1")
GROUPS: Final = 2_000
_SIMPLE: Final = [f"simple-{number}" for number in range(GROUPS)]
_CONSUMER: Final = [f"consumer-{number}" for number in range(GROUPS // 4)]
_IDS: Final = [f"id-{number}" for number in range(GROUPS)]
_EVERY: Final = list(range(2000))
_SHARE: Final = "share"


class Long(NamedTuple):
    """A request whose answer is long."""

    key: ApiKey
    frame: bytes


def _of(key: int) -> Any:
    return importlib.import_module(REQUESTS[key][0])


def _long(version: int, request: Message) -> Long:
    key = ApiKey(request.API_KEY)
    flexible = is_flexible(type(request), version)
    return Long(key, frame(request_header(key, version, 1, "slow", flexible) + encode(request, version)))


def fill(servers: str) -> None:
    """Give the broker much to tell."""
    host, _, port = servers.rpartition(":")
    with RawClient(servers) as client, socket.create_connection((host, int(port))) as sock:
        batch = build_batch([NewRecord(b"k", b"v" * 500_000, 1)])
        p = _of(ApiKey.PRODUCE)
        topics = [p.TopicProduceData(RECORDS, partition_data=[p.PartitionProduceData(0, batch)])]
        for _ in range(10):
            client.exchange(ApiKey.PRODUCE, 9, encode(p.ProduceRequest(None, 1, 10_000, topics), 9))
        o = _of(ApiKey.OFFSET_COMMIT)

        def commit(group: str, topic: str, partitions: list[int]) -> Message:
            offsets = [o.OffsetCommitRequestPartition(index, 1) for index in partitions]
            request: Message = o.OffsetCommitRequest(
                group, topics=[o.OffsetCommitRequestTopic(topic, partitions=offsets)]
            )
            return request

        def all_of(version: int, requests: list[Message]) -> None:
            assert sum(1 for _ in pipelined(sock, version, requests)) == len(requests)

        all_of(8, [*(commit(name, RECORDS, [0]) for name in _SIMPLE), commit("large", LARGE, _EVERY)])
        h = _of(ApiKey.CONSUMER_GROUP_HEARTBEAT)
        all_of(
            1,
            [
                h.ConsumerGroupHeartbeatRequest(name, "m", 0, None, None, 60_000, [LARGE], None, None, [])
                for name in _CONSUMER
            ],
        )
        i = _of(ApiKey.INIT_PRODUCER_ID)
        all_of(4, [i.InitProducerIdRequest(name, 60_000) for name in _IDS])
        a = _of(ApiKey.CREATE_ACLS)
        entries = [a.AclCreation(2, f"topic-{number}", 3, "User:u", "*", 3, 3) for number in range(GROUPS)]
        all_of(3, [a.CreateAclsRequest(entries)])
        q = _of(ApiKey.ALTER_CLIENT_QUOTAS)
        quotas = [
            q.EntryData([q.EntityData("user", f"user-{number}")], [q.OpData("producer_byte_rate", 1e9)])
            for number in range(GROUPS)
        ]
        all_of(1, [q.AlterClientQuotasRequest(quotas)])


def requests(servers: str) -> Iterator[Long]:
    """One after the other; what is asked of share groups is prepared when it is its turn."""
    t = _of(ApiKey.METADATA)
    yield _long(12, t.MetadataRequest(None, False))
    t = _of(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
    yield _long(0, t.DescribeTopicPartitionsRequest([t.TopicRequest(LARGE)], 2000))
    t = _of(ApiKey.FETCH)
    wanted = t.FetchPartition(0, partition_max_bytes=5_000_000)
    yield _long(
        12, t.FetchRequest(max_wait_ms=0, max_bytes=5_000_000, topics=[t.FetchTopic(RECORDS, partitions=[wanted])])
    )
    t = _of(ApiKey.LIST_GROUPS)
    yield _long(5, t.ListGroupsRequest())
    t = _of(ApiKey.DESCRIBE_GROUPS)
    yield _long(6, t.DescribeGroupsRequest(_SIMPLE))
    t = _of(ApiKey.CONSUMER_GROUP_DESCRIBE)
    yield _long(1, t.ConsumerGroupDescribeRequest(_CONSUMER))
    t = _of(ApiKey.OFFSET_FETCH)
    groups = [t.OffsetFetchRequestGroup(name, topics=None) for name in ("large", *_SIMPLE)]
    yield _long(8, t.OffsetFetchRequest(groups=groups))
    t = _of(ApiKey.LIST_OFFSETS)
    partitions = [t.ListOffsetsPartition(index, -1, -1) for index in _EVERY]
    yield _long(7, t.ListOffsetsRequest(-1, 0, [t.ListOffsetsTopic(LARGE, partitions)]))
    t = _of(ApiKey.DESCRIBE_CONFIGS)
    resources = [t.DescribeConfigsResource(kind, name, None) for kind, name in ((2, LARGE), (2, RECORDS), (4, "1"))]
    yield _long(4, t.DescribeConfigsRequest(resources, True, True))
    t = _of(ApiKey.DESCRIBE_ACLS)
    yield _long(3, t.DescribeAclsRequest(1, None, 1, None, None, 1, 1))
    t = _of(ApiKey.DESCRIBE_CLIENT_QUOTAS)
    yield _long(1, t.DescribeClientQuotasRequest([], False))
    t = _of(ApiKey.DESCRIBE_LOG_DIRS)
    yield _long(4, t.DescribeLogDirsRequest(None))
    t = _of(ApiKey.DESCRIBE_PRODUCERS)
    yield _long(0, t.DescribeProducersRequest([t.TopicRequest(LARGE, _EVERY)]))
    t = _of(ApiKey.LIST_TRANSACTIONS)
    yield _long(0, t.ListTransactionsRequest())
    t = _of(ApiKey.DESCRIBE_TRANSACTIONS)
    yield _long(0, t.DescribeTransactionsRequest(_IDS))
    t = _of(ApiKey.LIST_PARTITION_REASSIGNMENTS)
    yield _long(0, t.ListPartitionReassignmentsRequest(1000, None))


def share_fetch(servers: str, member: str) -> Long:
    """The first fetch of a member of its own, which gets some megabytes of records."""
    h, f, d = _of(ApiKey.SHARE_GROUP_HEARTBEAT), _of(ApiKey.SHARE_FETCH), _of(ApiKey.METADATA)
    with RawClient(servers) as client:

        def ask(version: int, request: Message) -> Any:
            key = request.API_KEY
            module, name, _ = RESPONSES[key]
            body = client.exchange(key, version, encode(request, version))
            return decode(getattr(importlib.import_module(module), name), version, body)

        (topic,) = ask(12, d.MetadataRequest([d.MetadataRequestTopic(name=RECORDS)])).topics
        epoch = 0

        def has_it() -> bool:
            nonlocal epoch
            answer = ask(1, h.ShareGroupHeartbeatRequest(_SHARE, member, epoch, None, None if epoch else [RECORDS]))
            epoch = answer.member_epoch
            return answer.assignment is not None and bool(answer.assignment.topic_partitions)

        until(has_it, "an assignment")
    topics = [f.FetchTopic(topic.topic_id, [f.FetchPartition(0)])]
    return _long(1, f.ShareFetchRequest(_SHARE, member, 0, 0, 1, 5_000_000, 500, 500, topics=topics))
