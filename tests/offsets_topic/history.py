"""One history of groups over raw frames, played on any broker, and what `__consumer_offsets` holds behind it.

What differs from broker to broker is replaced by what it is: member ids by their order, topic ids by names, times of
day by words. Everything else is compared as it is on the wire: keys, values, schema versions, batches, attributes.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.header import is_flexible
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreateTopicsResponse
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeleteGroupsResponse
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.delete_topics_response import DeleteTopicsResponse
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.fetch_response import FetchResponse
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import FindCoordinatorResponse
from kafkawire.messages.group_metadata_value import GroupMetadataValue
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.leave_group_response import LeaveGroupResponse
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_delete_response import OffsetDeleteResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.messages.sync_group_response import SyncGroupResponse
from kafkawire.offsets_topic import decode_record, encode_key, encode_value
from kafkawire.records import parse_header, read_batch, split_batches
from kafkawire.schema import ZERO_UUID, Message
from tests.rawclient import RawClient

M = TypeVar("M", bound=Message)

TOPIC = "__consumer_offsets"
PARTITIONS = 3
CONFIG: dict[str, object] = {
    "offsets.topic.num.partitions": PARTITIONS,
    "group.initial.rebalance.delay.ms": 0,
    "group.coordinator.append.linger.ms": 0,
}
LONG_MS = 10**12
"""A retention that no test lives to see the end of."""
READY_SECONDS = 60
TIMEOUT_MS = 60_000
SOON_MS = 60_000
"""What is written down at once may have to wait so long on a busy machine."""


def subscription(*topics: str) -> bytes:
    """A consumer's metadata, version 0."""
    names = b"".join(struct.pack(">h", len(t)) + t.encode() for t in topics)
    return struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", 0)


class Player:
    """Requests to one broker, each on the connection of the member who sends it."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.topic_ids: dict[bytes, str] = {}
        self._clients: dict[str, RawClient] = {}

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def ask(self, request: Message, version: int, answer: type[M], who: str = "main") -> M:
        """One request and its answer."""
        return self.answer(self.send(request, version, who), version, answer)

    def send(self, request: Message, version: int, who: str) -> RawClient:
        client = self._clients.get(who)
        if client is None:
            client = self._clients[who] = RawClient(self.servers)
        flexible = is_flexible(type(request), version)
        client.send(request.API_KEY, version, encode(request, version), flexible, client_id=who)
        return client

    @staticmethod
    def answer(client: RawClient, version: int, answer: type[M]) -> M:
        frame = client.receive()
        assert frame is not None
        return decode(answer, version, frame[5 if is_flexible(answer, version) else 4 :])

    # -- topics --------------------------------------------------------------------------------------------------

    def create(self, **topics: int) -> None:
        wanted = [CreatableTopic(name, partitions, 1) for name, partitions in topics.items()]
        answer = self.ask(CreateTopicsRequest(topics=wanted, timeout_ms=TIMEOUT_MS), 7, CreateTopicsResponse)
        for topic in answer.topics:
            assert topic.error_code == 0, topic
            self.topic_ids[topic.topic_id] = topic.name

    def delete_topic(self, name: str, *groups: str) -> None:
        """Returns when the groups' offsets of partition 0 are gone: in Kafka somewhat later."""
        answer = self.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=TIMEOUT_MS), 5, DeleteTopicsResponse)
        assert answer.responses[0].error_code == 0
        deadline = time.monotonic() + READY_SECONDS
        for group in groups:
            wanted = OffsetFetchRequest(group, [OffsetFetchRequestTopic(name, [0])])
            while self.ask(wanted, 5, OffsetFetchResponse).topics[0].partitions[0].committed_offset >= 0:
                assert time.monotonic() < deadline

    def await_coordinator(self, *groups: str) -> None:
        """Kafka creates the offsets topic when first asked, and says so only later."""
        deadline = time.monotonic() + READY_SECONDS
        for group in groups:
            while True:
                found = self.ask(FindCoordinatorRequest(key=group), 2, FindCoordinatorResponse)
                tried = self.ask(DeleteGroupsRequest(["nobody " + group]), 2, DeleteGroupsResponse)
                if found.error_code == 0 and tried.results[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND:
                    break
                assert time.monotonic() < deadline, (found, tried)

    # -- groups --------------------------------------------------------------------------------------------------

    def commit(
        self,
        group: str,
        offsets: dict[str, dict[int, int]],
        *,
        version: int = 9,
        member: tuple[str, int] = ("", -1),
        metadata: str | None = "",
        retention: int = -1,
        epoch: int = -1,
    ) -> None:
        ids = {name: topic_id for topic_id, name in self.topic_ids.items()}
        topics = [
            OffsetCommitRequestTopic(
                name, ids[name], [OffsetCommitRequestPartition(p, o, epoch, metadata) for p, o in partitions.items()]
            )
            for name, partitions in offsets.items()
        ]
        request = OffsetCommitRequest(group, member[1], member[0], None, retention, topics)
        deadline = time.monotonic() + READY_SECONDS
        while True:  # a topic that is just created may not be known yet
            answer = self.ask(request, version, OffsetCommitResponse)
            codes = {p.error_code for t in answer.topics for p in t.partitions}
            if codes == {0}:
                return
            assert codes <= {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID}, answer
            assert time.monotonic() < deadline, answer

    def start_join(self, group: str, who: str, *topics: str, member_id: str = "", instance: str | None = None) -> None:
        """Version 3: no id is required first, so that each join is one record at most; 5 knows static members."""
        version = 3 if instance is None else 5
        protocols = [JoinGroupRequestProtocol("range", subscription(*topics))]
        request = JoinGroupRequest(group, 30_000, 60_000, member_id, instance, "consumer", protocols)
        self.send(request, version, who)

    def joined(self, who: str, version: int = 3) -> JoinGroupResponse:
        answer = self.answer(self._clients[who], version, JoinGroupResponse)
        assert answer.error_code == 0, answer
        return answer

    def sync(self, group: str, who: str, joined: JoinGroupResponse, *everybody: JoinGroupResponse) -> None:
        """The leader names the others and waits for no answer before they have synced too."""
        shares = [SyncGroupRequestAssignment(j.member_id, b"share of one") for j in everybody]
        request = SyncGroupRequest(group, joined.generation_id, joined.member_id, assignments=shares)
        assert self.ask(request, 2, SyncGroupResponse, who).error_code == 0

    def await_rebalance(self, group: str, who: str, joined: JoinGroupResponse) -> None:
        """Until a member is told that somebody else has joined."""
        deadline = time.monotonic() + READY_SECONDS
        request = HeartbeatRequest(group, joined.generation_id, joined.member_id)
        while self.ask(request, 2, HeartbeatResponse, who).error_code != ErrorCode.REBALANCE_IN_PROGRESS:
            assert time.monotonic() < deadline

    def leave(self, group: str, who: str, member_id: str) -> None:
        request = LeaveGroupRequest(group, members=[MemberIdentity(member_id)])
        assert self.ask(request, 4, LeaveGroupResponse, who).error_code == 0

    def delete_offsets(self, group: str, topic: str, *partitions: int) -> None:
        wanted = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(p) for p in partitions])]
        answer = self.ask(OffsetDeleteRequest(group, wanted), 0, OffsetDeleteResponse)
        assert answer.error_code == 0, answer

    def delete_groups(self, *groups: str) -> list[int]:
        answer = self.ask(DeleteGroupsRequest(groups), 2, DeleteGroupsResponse)
        return [result.error_code for result in answer.results]

    # -- the log -------------------------------------------------------------------------------------------------

    def offsets(self, partition: int, timestamp: int) -> int:
        wanted = [ListOffsetsTopic(TOPIC, [ListOffsetsPartition(partition, -1, timestamp)])]
        answer = self.ask(ListOffsetsRequest(-1, 1, wanted), 7, ListOffsetsResponse).topics[0].partitions[0]
        assert answer.error_code == 0, answer
        return answer.offset

    def batches(self, partition: int) -> Iterator[bytes]:
        """Every batch of a partition of the offsets topic, from its beginning."""
        offset, end = self.offsets(partition, -2), self.offsets(partition, -1)
        while offset < end:
            wanted = [
                FetchTopic(TOPIC, partitions=[FetchPartition(partition, -1, offset, partition_max_bytes=1 << 20)])
            ]
            request = FetchRequest(max_wait_ms=1000, min_bytes=1, max_bytes=1 << 20, isolation_level=1, topics=wanted)
            answer = self.ask(request, 11, FetchResponse).responses[0].partitions[0]
            assert answer.error_code == 0, answer
            assert isinstance(answer.records, bytes | memoryview)
            for _, batch in split_batches(answer.records):
                yield bytes(batch)
                offset = parse_header(batch).last_offset + 1


def play(servers: str) -> Player:
    """The whole history. The caller closes the player."""
    on = Player(servers)
    on.create(orders=3, audit=1, wide=40)
    on.await_coordinator("g", "h", "simple", "workers", "static", "x", "x1", "x2")
    simple_commits(on)
    live_group(on)
    static_group(on)
    deletions(on)
    return on


def simple_commits(on: Player) -> None:
    for version in range(2, 11):
        on.commit("simple", {"orders": {0: version}}, version=version)
    on.commit("simple", {"orders": {1: 5, 2: 6}, "audit": {0: 7}}, metadata="some words", epoch=4)
    on.commit("simple", {"orders": {1: 8}}, version=7, metadata=None, epoch=3)
    on.commit("simple", {"audit": {0: 9}}, version=2, retention=LONG_MS)
    on.commit("simple", {"audit": {0: 10}, "orders": {2: 2**62}}, version=4, retention=LONG_MS, metadata="é" * 64)
    on.commit("simple", {"wide": {p: 1000 + p for p in range(40)}})
    on.commit("simple", {"wide": {p: 2000 + p for p in range(0, 40, 2)}}, metadata="every other")
    on.commit("ключ: a,b", {"orders": {0: 1}})


def live_group(on: Player) -> None:
    on.start_join("workers", "one", "orders")
    first = on.joined("one")
    on.sync("workers", "one", first, first)
    on.commit("workers", {"orders": {0: 11, 1: 12}}, member=(first.member_id, first.generation_id))
    on.start_join("workers", "two", "orders", "audit")
    on.await_rebalance("workers", "one", first)
    on.start_join("workers", "one", "orders", member_id=first.member_id)
    leader, second = on.joined("one"), on.joined("two")
    on.sync("workers", "one", leader, leader, second)
    on.sync("workers", "two", second)
    on.commit("workers", {"audit": {0: 13}}, member=(second.member_id, second.generation_id))
    on.leave("workers", "two", second.member_id)
    on.leave("workers", "one", leader.member_id)


def static_group(on: Player) -> None:
    on.start_join("static", "one", "orders", instance="i1")
    old = on.joined("one", 5)
    on.sync("static", "one", old, old)
    on.start_join("static", "again", "orders", instance="i1")
    new = on.joined("again", 5)
    assert new.member_id != old.member_id
    on.leave("static", "again", new.member_id)


def deletions(on: Player) -> None:
    for group in ("x", "x1", "x2", "g", "h"):
        on.commit(group, {"orders": {0: 1, 2: 3}})
    on.delete_offsets("x", "orders", 0, 1)
    assert sorted(on.delete_groups("x1", "x2", "nobody", "g", "static")) == [0, 0, 0, 0, 69]
    on.delete_topic("audit", "simple", "workers")
    on.commit("h", {"orders": {0: 2}})


def normalised(on: Player) -> list[list[dict[str, Any]]]:
    """What the topic holds, a list of batches for each partition."""
    words: dict[str, str] = {}
    return [[_batch(on, batch, words) for batch in on.batches(partition)] for partition in range(PARTITIONS)]


def _batch(on: Player, batch: bytes, words: dict[str, str]) -> dict[str, Any]:
    header = parse_header(batch)
    records = list(read_batch(batch))
    times = {record.timestamp for record in records}
    assert times == {header.base_timestamp} == {header.max_timestamp}
    assert [r.headers for r in records] == [()] * len(records)
    shown = [_record(on, r.key, r.value, r.timestamp, words) for r in records]
    if all(value is None for _, value in shown):  # Kafka goes by the hashes of its maps
        shown.sort()
    return {
        "base_offset": header.base_offset,
        "last_offset_delta": header.last_offset_delta,
        "offsets": [record.offset for record in records],
        "leader_epoch": header.leader_epoch,
        "attributes": header.attributes,
        "producer": [header.producer_id, header.producer_epoch, header.base_sequence],
        "records": shown,
    }


def _record(
    on: Player, key: bytes | None, value: bytes | None, written: int, words: dict[str, str]
) -> tuple[str, str | None]:
    decoded = decode_record(key, value)
    assert encode_key(decoded.key) == key
    message = decoded.value
    if message is None:
        return repr(decoded.key), None
    assert encode_value(message, decoded.version) == value
    if isinstance(message, OffsetCommitValue):
        assert 0 <= written - message.commit_timestamp <= SOON_MS
        if message.expire_timestamp != -1:
            assert message.expire_timestamp == message.commit_timestamp + LONG_MS
            message.expire_timestamp = LONG_MS
        message.commit_timestamp = 0
        if message.topic_id != ZERO_UUID:
            message.topic_id = on.topic_ids[message.topic_id].encode()
    elif isinstance(message, GroupMetadataValue):
        assert 0 <= written - message.current_state_timestamp <= SOON_MS
        message.current_state_timestamp = 0
        message.leader = _word(message.leader, words)
        message.members = sorted(message.members, key=lambda member: member.client_id)  # in Kafka a hash map's order
        for member in message.members:
            member.member_id = _word(member.member_id, words) or ""
            member.assignment, member.subscription = bytes(member.assignment), bytes(member.subscription)
    return repr(decoded.key), f"v{decoded.version} {message!r}"


def _word(member_id: str | None, words: dict[str, str]) -> str | None:
    """A member's id without its uuid."""
    if not member_id:
        return member_id
    return words.setdefault(member_id, f"{member_id[:-37]} number {len(words)}")


def shown(partitions: Sequence[Any]) -> list[Any]:
    """As JSON keeps it: tuples are lists."""
    return [[{**batch, "records": [list(pair) for pair in batch["records"]]} for batch in of] for of in partitions]
