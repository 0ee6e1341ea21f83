"""The requests that are measured, and what a server has to know before it can answer them without error."""

from __future__ import annotations

import itertools
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.frames import NOT_YET, BadAnswer, Client
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    Topology,
)
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.records import Compression, NewRecord, build_batch
from kafkawire.schema import Message

TOPIC = "bench"
PARTITIONS = 1000
"""Of TOPIC: as many as the largest commit names."""

FETCH_TOPIC = "bench-fetch"
MIB = 1 << 20
TIMESTAMP = int(time.time() * 1000)
"""Now: a broker that ages records by it keeps them."""

SESSION_MS = 300_000
"""Members outlive any round without being heard of meanwhile."""

SETTLE_SECONDS = 10
"""Within so many a coordinator is there, and a group of the consumer protocol has assigned its partitions."""

COMMIT, FETCH_OFFSETS, FETCH_OFFSETS_ONE_GROUP, HEARTBEAT, JOIN, SYNC = 8, 8, 7, 4, 5, 3
CONSUMER_HEARTBEAT, SHARE_HEARTBEAT, STREAMS_HEARTBEAT = 0, 1, 1
"""The versions of the group requests. Version 7 of OffsetFetch is the last one for a single group."""
PRODUCE, FETCH, METADATA, FIND_COORDINATOR, CREATE_TOPICS, DELETE_TOPICS = 9, 12, 4, 4, 4, 4

NO_LIMIT = 1 << 60

_number = itertools.count()


@dataclass(frozen=True)
class Case:
    """One request and how to bring a server to where it is answered without error."""

    name: str
    version: int
    prepare: Callable[[Client], Message]
    """Called before each round; gives the request."""
    compared_with_echo: bool = False
    """Whether a budget relates it to the raw echo."""
    limit: int = NO_LIMIT
    """Most requests a measurement: what a server keeps in memory must not fill the machine."""
    done: Callable[[Client, Message], None] = field(default=lambda client, message: None)
    """Called behind each round."""


def prepare_server(client: Client) -> None:
    """The topics of the cases, and a coordinator that answers."""
    create_topic(client, TOPIC, PARTITIONS)
    create_topic(client, FETCH_TOPIC, 1)
    client.succeed(FindCoordinatorRequest(key_type=0, coordinator_keys=[group_of(0)]), FIND_COORDINATOR)
    records = batch(100, 1024)
    for _ in range(2 * MIB // len(records)):
        client.succeed(produce_request(FETCH_TOPIC, records), PRODUCE)


def create_topic(client: Client, name: str, partitions: int) -> None:
    """Make the topic and wait until each of its partitions has a leader. Raises BadAnswer."""
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    client.succeed(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), CREATE_TOPICS)
    about = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    found = client.succeed(about, METADATA).topics[0]
    if len(found.partitions) != partitions:
        raise BadAnswer(f"{name} has {len(found.partitions)} partitions, not {partitions}")


def delete_topic(client: Client, name: str) -> None:
    """Delete the topic. Raises BadAnswer."""
    client.succeed(DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000), DELETE_TOPICS)


def group_of(partitions: int) -> str:
    return f"bench-{partitions}"


def commit_request(group: str, partitions: int) -> OffsetCommitRequest:
    """A simple consumer's commit: no generation, no member."""
    offsets = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1000 + index, committed_metadata="")
        for index in range(partitions)
    ]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=offsets)],
    )


def batch(count: int, size: int) -> bytes:
    """A batch of `count` records with values of `size` bytes, uncompressed."""
    records = [NewRecord(timestamp=TIMESTAMP, key=None, value=bytes([65 + n % 26]) * size) for n in range(count)]
    return build_batch(records, compression=Compression.NONE)


def mixed_batch(count: int, size: int) -> bytes:
    """As `batch`, but the records have all sizes from half to one and a half of it, some have keys, and times rise.

    The same bytes in every run.
    """
    source = random.Random(count)
    records = [
        NewRecord(
            timestamp=TIMESTAMP + n // 7,
            key=None if n % 3 else b"key-%d" % n,
            value=bytes([65 + n % 26]) * source.randint(size // 2, size + size // 2),
        )
        for n in range(count)
    ]
    return build_batch(records, compression=Compression.NONE)


def produce_request(topic: str, records: bytes) -> ProduceRequest:
    """One batch for partition 0, acknowledged by all replicas, as producers do by default."""
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[data])


def _commit(partitions: int) -> Callable[[Client], Message]:
    return lambda client: commit_request(group_of(partitions), partitions)


def _fetch_offsets(partitions: int, version: int) -> Callable[[Client], Message]:
    group, indexes = group_of(partitions), list(range(partitions))

    def prepare(client: Client) -> Message:
        client.succeed(commit_request(group, partitions), COMMIT)
        if version == FETCH_OFFSETS_ONE_GROUP:
            topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=indexes)]
            request = OffsetFetchRequest(group_id=group, topics=topics)
            found = client.succeed(request, version).topics[0].partitions
        else:
            named = [OffsetFetchRequestTopics(name=TOPIC, partition_indexes=indexes)]
            request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=named)])
            found = client.succeed(request, version).groups[0].topics[0].partitions
        wrong = [p.partition_index for p in found if p.committed_offset != 1000 + p.partition_index]
        if wrong or len(found) != partitions:
            raise BadAnswer(f"{len(found)} offsets fetched, not {partitions}; wrong: {wrong[:5]}")
        return request

    return prepare


def join_alone(client: Client) -> tuple[JoinGroupRequest, SyncGroupRequest]:
    """Join a new group as its only member (KIP-394's dance) and sync it; gives both requests, to be said again."""
    group = f"bench-members-{next(_number)}"
    subscription = b"\0\0" + encode(ConsumerProtocolSubscription(topics=[TOPIC], user_data=b""), 0)
    join = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription)],
    )
    until = time.monotonic() + SETTLE_SECONDS
    answer = client.ask(join, JOIN)
    while answer.error_code in NOT_YET and time.monotonic() < until:
        time.sleep(0.02)
        answer = client.ask(join, JOIN)
    if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        join.member_id = answer.member_id
        answer = client.succeed(join, JOIN)
    elif answer.error_code:
        raise BadAnswer(f"JoinGroup was answered {ErrorCode(answer.error_code).name}")
    else:
        join.member_id = answer.member_id
    sync = SyncGroupRequest(
        group_id=group,
        generation_id=answer.generation_id,
        member_id=answer.member_id,
        assignments=[SyncGroupRequestAssignment(member_id=answer.member_id, assignment=bytes(10))],
    )
    client.succeed(sync, SYNC)
    return join, sync


def _heartbeat(client: Client) -> Message:
    _, sync = join_alone(client)
    return HeartbeatRequest(sync.group_id, sync.generation_id, sync.member_id)


def _consumer_heartbeat(client: Client) -> Message:
    """Join a new group of the consumer protocol (KIP-848) as its only member, and take what it assigns."""
    group, member = f"bench-consumers-{next(_number)}", str(uuid.uuid4())
    join = ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        rebalance_timeout_ms=SESSION_MS,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )
    answer = client.succeed(join, CONSUMER_HEARTBEAT)
    until = time.monotonic() + SETTLE_SECONDS
    while answer.assignment is None or not answer.assignment.topic_partitions:
        if time.monotonic() > until:
            raise BadAnswer(f"nothing was assigned within {SETTLE_SECONDS} s")
        time.sleep(0.02)  # a server may assign behind its answer
        request = ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=answer.member_epoch)
        answer = client.succeed(request, CONSUMER_HEARTBEAT)
    owned = [
        TopicPartitions(topic_id=one.topic_id, partitions=one.partitions) for one in answer.assignment.topic_partitions
    ]
    if sum(len(one.partitions) for one in owned) != PARTITIONS:
        raise BadAnswer(f"not all of {PARTITIONS} partitions were assigned to the only member")
    request = ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=answer.member_epoch)
    request.topic_partitions = owned
    answer = client.succeed(request, CONSUMER_HEARTBEAT)
    return ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=answer.member_epoch)


def _share_heartbeat(client: Client) -> Message:
    """Join a new share group (KIP-932) as its only member, and read each partition of a topic."""
    group, member = f"bench-sharers-{next(_number)}", str(uuid.uuid4())
    answer = client.succeed(
        ShareGroupHeartbeatRequest(group, member, 0, subscribed_topic_names=[TOPIC]), SHARE_HEARTBEAT
    )
    assigned, until = 0, time.monotonic() + SETTLE_SECONDS
    while assigned < PARTITIONS:
        if time.monotonic() > until:
            raise BadAnswer(f"{assigned} of {PARTITIONS} partitions were assigned within {SETTLE_SECONDS} s")
        time.sleep(0.02)  # their state is made behind an answer
        answer = client.succeed(ShareGroupHeartbeatRequest(group, member, answer.member_epoch), SHARE_HEARTBEAT)
        if answer.assignment is not None:
            assigned = sum(len(one.partitions) for one in answer.assignment.topic_partitions)
    return ShareGroupHeartbeatRequest(group, member, answer.member_epoch)


def _streams_heartbeat(client: Client) -> Message:
    """Join a new streams group (KIP-1071) as its only member, and take the task of each partition of a topic."""
    group, member = f"bench-streams-{next(_number)}", str(uuid.uuid4())
    join = StreamsGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        rebalance_timeout_ms=SESSION_MS,
        topology=Topology(0, [Subtopology("0", source_topics=[TOPIC])]),
        process_id=str(uuid.uuid4()),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
    )
    answer = client.succeed(join, STREAMS_HEARTBEAT)
    until = time.monotonic() + SETTLE_SECONDS
    while not answer.active_tasks:
        if time.monotonic() > until:
            raise BadAnswer(f"nothing was assigned within {SETTLE_SECONDS} s")
        time.sleep(0.02)  # others are waited for at first, and topics are looked at behind an answer
        answer = client.succeed(StreamsGroupHeartbeatRequest(group, member, answer.member_epoch), STREAMS_HEARTBEAT)
    owned = [TaskIds(one.subtopology_id, one.partitions) for one in answer.active_tasks]
    if sum(len(one.partitions) for one in owned) != PARTITIONS:
        raise BadAnswer(f"not all of {PARTITIONS} tasks were assigned to the only member")
    request = StreamsGroupHeartbeatRequest(
        group, member, answer.member_epoch, active_tasks=owned, standby_tasks=[], warmup_tasks=[]
    )
    answer = client.succeed(request, STREAMS_HEARTBEAT)
    return StreamsGroupHeartbeatRequest(group, member, answer.member_epoch, answer.endpoint_information_epoch)


def _produce(count: int, size: int, make: Callable[[int, int], bytes] = batch) -> Callable[[Client], Message]:
    def prepare(client: Client) -> Message:
        topic = f"bench-produce-{next(_number)}"
        create_topic(client, topic, 1)
        return produce_request(topic, make(count, size))

    return prepare


def _delete_produced(client: Client, message: Message) -> None:
    assert isinstance(message, ProduceRequest)
    delete_topic(client, message.topic_data[0].name)


def _fetch(client: Client) -> Message:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=MIB)
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=MIB,
        session_epoch=-1,
        topics=[FetchTopic(topic=FETCH_TOPIC, partitions=[partition])],
    )
    records = client.succeed(request, FETCH).responses[0].partitions[0].records
    if len(records) < 0.85 * MIB:
        raise BadAnswer(f"{len(records)} bytes fetched, about 1 MiB was asked for")
    return request


CASES = (
    Case("offset-commit/1", COMMIT, _commit(1), compared_with_echo=True),
    Case("offset-commit/10", COMMIT, _commit(10), compared_with_echo=True),
    Case("offset-commit/100", COMMIT, _commit(100)),
    Case("offset-commit/1000", COMMIT, _commit(1000)),
    Case("offset-fetch/1", FETCH_OFFSETS, _fetch_offsets(1, FETCH_OFFSETS), compared_with_echo=True),
    Case("offset-fetch/10", FETCH_OFFSETS, _fetch_offsets(10, FETCH_OFFSETS), compared_with_echo=True),
    Case("offset-fetch/100", FETCH_OFFSETS, _fetch_offsets(100, FETCH_OFFSETS)),
    Case("offset-fetch-v7/10", FETCH_OFFSETS_ONE_GROUP, _fetch_offsets(10, FETCH_OFFSETS_ONE_GROUP)),
    Case("heartbeat", HEARTBEAT, _heartbeat, compared_with_echo=True),
    Case("consumer-heartbeat", CONSUMER_HEARTBEAT, _consumer_heartbeat, compared_with_echo=True),
    Case("share-heartbeat", SHARE_HEARTBEAT, _share_heartbeat, compared_with_echo=True),
    Case("streams-heartbeat", STREAMS_HEARTBEAT, _streams_heartbeat, compared_with_echo=True),
    Case("produce/1x100B", PRODUCE, _produce(1, 100), limit=20_000, done=_delete_produced),
    Case("produce/100x1KB", PRODUCE, _produce(100, 1024), limit=500, done=_delete_produced),
    Case("produce/100xmixed", PRODUCE, _produce(100, 1024, mixed_batch), limit=500, done=_delete_produced),
    Case("produce/1000x1KB", PRODUCE, _produce(1000, 1024), limit=64, done=_delete_produced),
    Case("fetch/1MB", FETCH, _fetch),
)
"""In the order of the report. The number behind the slash is that of partitions."""
