"""A broker's state without a server: group requests go to their handlers, time goes where the test puts it.

Every request and every answer goes through the codec at its version, so that an answer a version cannot carry shows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import GroupCoordinator, OffsetCommit, Record, Turn
from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import Deferred
from kafkastub.handlers.registry import registrations
from kafkastub.metadata import CONSUMER_OFFSETS, Node
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.group_runtime import GroupRuntime
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.state.topics import create_topic, ensure_offsets_topic
from kafkastub.state.transaction_coordinator.markers import end_transaction_of_offsets
from kafkastub.storage import Marker
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.messages.txn_offset_commit_request import TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition
from kafkawire.schema import Message

START_MS = 1_700_000_000_000
DAY_MS = 86_400_000
RETENTION_MS = 7 * DAY_MS


def subscription(*topics: str, version: int = 0, user_data: bytes = b"") -> bytes:
    """A consumer's metadata, as clients write it."""
    body = struct.pack(">hi", version, len(topics))
    for topic in topics:
        body += struct.pack(">h", len(topic.encode())) + topic.encode()
    return body + struct.pack(">i", len(user_data)) + user_data


class Log:
    """Takes the place of the log; keeps the warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, event: str, **fields: object) -> None:
        self.warnings.append(event)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **fields: None


class RecordingCoordinator(GroupCoordinator):
    """Keeps every record that it appends."""

    __slots__ = ("_kept",)

    def __init__(self, config: BrokerConfig, random: Random, kept: list[Record]) -> None:
        self._kept = kept
        super().__init__(config, config.profile, random)

    def log(self, turn: Turn, record: Record) -> None:
        super().log(turn, record)
        self._kept.append(record)


def take_over(state: BrokerState, coordinator: GroupCoordinator) -> None:
    """Put another coordinator into the place of a new state's."""
    state.coordinator = coordinator
    state.offsets_topic = OffsetsTopic(state.config, coordinator, state.log, state._offsets_partitions)
    state.groups = GroupRuntime(state.offsets_topic, coordinator, state.settle)
    state.runtimes[CONSUMER_OFFSETS] = state.groups


class Parked:
    """A request whose answer may come later."""

    def __init__(self, deferred: Deferred, version: int, response_class: type[Message]) -> None:
        self._deferred = deferred
        self._version = version
        self._class = response_class

    @property
    def answered(self) -> bool:
        return self._deferred.done

    @property
    def answer(self) -> Any:
        """The answer as the client decodes it."""
        assert self._deferred.reply is not None, "still parked"
        return decode(self._class, self._version, encode(self._deferred.reply, self._version))


class Member:
    """A member of a stable group."""

    def __init__(self, group_id: str, member_id: str, generation: int) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.generation = generation


class CoordinatorTestContext:
    """One broker with the topics a and b of ten partitions each."""

    def __init__(self, profile: str = "kips", topics: Sequence[str] = ("a", "b"), **config: object) -> None:
        overrides = {name.replace("_", "."): value for name, value in config.items()}
        self.log = Log()
        broker_config = BrokerConfig(overrides, Profile.named(profile))
        self.state = BrokerState(broker_config, [Node(1, "localhost", 9092)], self.log, seed=1)
        self.records: list[Record] = []
        take_over(self.state, RecordingCoordinator(broker_config, self.state.random, self.records))
        self.broker_ms = START_MS
        self.timer_ms = 0
        self.connection = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:50000")
        self.client_id: str | None = "client"
        for topic in topics:
            create_topic(self.state, topic, 10, 1)

    @property
    def coordinator(self) -> GroupCoordinator:
        return self.state.coordinator

    # -- time ----------------------------------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let both clocks go on, stopping at every deadline."""
        end = self.timer_ms + ms
        while (at := self.state.next_deadline()) is not None and at <= end:
            self._go_to(max(at, self.timer_ms))
            self.state.expire(self.broker_ms, self.timer_ms)
        self._go_to(end)

    def _go_to(self, timer_ms: int) -> None:
        self.broker_ms += timer_ms - self.timer_ms
        self.timer_ms = timer_ms

    def sweep(self, after_ms: int = 0) -> Turn:
        """Move broker time alone, and sweep."""
        self.broker_ms += after_ms
        return self.state.settle(self.coordinator.expire_offsets(self.broker_ms))

    # -- requests ------------------------------------------------------------------------------------------------

    def call(self, key: ApiKey, version: int, request: Message) -> Any:
        """The answer as the client decodes it, or what is parked."""
        registration = registrations()[key]
        received = decode(registration.request_class(), version, encode(request, version))
        context = RequestContext(
            self.state, self.connection, key, version, 1, self.client_id, self.broker_ms, self.timer_ms
        )
        try:
            outcome: Any = registration.handler(context, received)
        except KafkaError as error:
            outcome = registration.error_response(received, error.code, version)
        if isinstance(outcome, Deferred):
            return Parked(outcome, version, registration.response_class())
        return decode(registration.response_class(), version, encode(outcome, version))

    def join(
        self,
        group_id: str = "g",
        member_id: str = "",
        *,
        instance: str | None = None,
        protocols: Mapping[str, bytes] | None = None,
        protocol_type: str = "consumer",
        session: int = 10_000,
        rebalance: int = 60_000,
        version: int = 9,
    ) -> Parked:
        chosen = {"range": subscription("a")} if protocols is None else protocols
        request = JoinGroupRequest(
            group_id,
            session,
            rebalance,
            member_id,
            instance,
            protocol_type,
            [JoinGroupRequestProtocol(n, m) for n, m in chosen.items()],
        )
        parked = self.call(ApiKey.JOIN_GROUP, version, request)
        assert isinstance(parked, Parked)
        return parked

    def join_twice(self, group_id: str = "g", **join: Any) -> Parked:
        """Get a member id, and join with it."""
        return self.join(group_id, self.join(group_id, **join).answer.member_id, **join)

    def sync(
        self,
        member: Member,
        assignments: Mapping[str, bytes] | None = None,
        *,
        instance: str | None = None,
        protocol_type: str | None = "consumer",
        protocol: str | None = "range",
        version: int = 5,
    ) -> Parked | Any:
        request = SyncGroupRequest(
            member.group_id,
            member.generation,
            member.member_id,
            instance,
            protocol_type,
            protocol,
            [SyncGroupRequestAssignment(m, a) for m, a in (assignments or {}).items()],
        )
        return self.call(ApiKey.SYNC_GROUP, version, request)

    def heartbeat(self, member: Member, instance: str | None = None, version: int = 4) -> ErrorCode:
        request = HeartbeatRequest(member.group_id, member.generation, member.member_id, instance)
        return ErrorCode(self.call(ApiKey.HEARTBEAT, version, request).error_code)

    def leave(self, group_id: str, *members: tuple[str, str | None], version: int = 5) -> Any:
        identities = [MemberIdentity(m, i, "because") for m, i in members]
        request = LeaveGroupRequest(group_id, members[0][0] if version < 3 else "", identities)
        return self.call(ApiKey.LEAVE_GROUP, version, request)

    def commit(
        self,
        group_id: str = "g",
        offsets: Mapping[str, Mapping[int, int]] | None = None,
        *,
        generation: int = -1,
        member_id: str = "",
        instance: str | None = None,
        metadata: str | None = "",
        retention: int = -1,
        epoch: int = -1,
        version: int = 9,
    ) -> dict[tuple[str, int], ErrorCode]:
        """Error code by topic and partition, in the order of the answer."""
        topics = []
        for name, partitions in (offsets or {"a": {0: 1}}).items():
            topic = self.state.cluster.topic(name)
            items = [OffsetCommitRequestPartition(p, o, epoch, metadata) for p, o in partitions.items()]
            topics.append(OffsetCommitRequestTopic(name, topic.topic_id if topic else b"x" * 16, items))
        request = OffsetCommitRequest(group_id, generation, member_id, instance, retention, topics)
        response = self.call(ApiKey.OFFSET_COMMIT, version, request)
        names = {t.topic_id: t.name for t in self.state.cluster.topics.values()}
        return {
            (t.name or names.get(t.topic_id, "?"), p.partition_index): ErrorCode(p.error_code)
            for t in response.topics
            for p in t.partitions
        }

    def pend(
        self,
        group_id: str = "g",
        offsets: Mapping[str, Mapping[int, int]] | None = None,
        *,
        producer: int = 7,
        epoch: int = 0,
        generation: int = -1,
        member_id: str = "",
        instance: str | None = None,
        metadata: str | None = "",
    ) -> Turn:
        """Commit offsets within a producer's transaction, which nobody is asked about. Raises KafkaError."""
        topics = [
            (
                name,
                self.state.cluster.topics[name].topic_id,
                [TxnOffsetCommitRequestPartition(p, o, -1, metadata) for p, o in partitions.items()],
            )
            for name, partitions in (offsets or {"a": {0: 1}}).items()
        ]
        request = TxnOffsetCommitRequest("t", group_id, producer, epoch, generation, member_id, instance)
        ensure_offsets_topic(self.state)
        turn = self.coordinator.commit_transactional_offsets(
            request, topics, 5, lambda: None, self.broker_ms, self.timer_ms
        )
        return self.state.settle(turn)

    def end(self, commit: bool = True, *, producer: int = 7, epoch: int = 0) -> None:
        """End a producer's transaction, in every partition."""
        for partition in range(len(self.state.cluster.topics[CONSUMER_OFFSETS].partitions)):
            end_transaction_of_offsets(self.state, partition, Marker(producer, epoch, commit), self.broker_ms)

    def fetch(
        self,
        group_id: str = "g",
        wanted: Mapping[str, Sequence[int]] | None = None,
        *,
        stable: bool = False,
        version: int = 9,
    ) -> dict[tuple[str, int], tuple[int, int, str]]:
        """(offset, leader epoch, metadata) by topic and partition; everything of the group where nothing is wanted."""
        if version < 8:
            topics = None if wanted is None else [OffsetFetchRequestTopic(t, p) for t, p in wanted.items()]
            request = OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=stable)
            response = self.call(ApiKey.OFFSET_FETCH, version, request)
        else:
            groups = None
            if wanted is not None:
                known = self.state.cluster.topics
                groups = [OffsetFetchRequestTopics(t, known[t].topic_id, p) for t, p in wanted.items()]
            request = OffsetFetchRequest(
                groups=[OffsetFetchRequestGroup(group_id, topics=groups)], require_stable=stable
            )
            response = self.call(ApiKey.OFFSET_FETCH, version, request).groups[0]
        assert response.error_code == 0
        names = {t.topic_id: t.name for t in self.state.cluster.topics.values()}
        return {
            (names[t.topic_id] if version >= 10 else t.name, p.partition_index): (
                p.committed_offset,
                p.committed_leader_epoch,
                p.metadata,
            )
            for t in response.topics
            for p in t.partitions
        }

    def delete_offsets(self, group_id: str, wanted: Mapping[str, Sequence[int]]) -> Any:
        topics = [OffsetDeleteRequestTopic(t, [OffsetDeleteRequestPartition(i) for i in p]) for t, p in wanted.items()]
        return self.call(ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest(group_id, topics))

    def delete_groups(self, *group_ids: str, version: int = 2) -> list[tuple[str, ErrorCode]]:
        response = self.call(ApiKey.DELETE_GROUPS, version, DeleteGroupsRequest(group_ids))
        return [(r.group_id, ErrorCode(r.error_code)) for r in response.results]

    def describe(self, group_id: str = "g", version: int = 6) -> Any:
        return self.call(ApiKey.DESCRIBE_GROUPS, version, DescribeGroupsRequest([group_id])).groups[0]

    def group_state(self, group_id: str = "g") -> str:
        return str(self.describe(group_id).group_state)

    # -- whole groups --------------------------------------------------------------------------------------------

    def joined(self, size: int, group_id: str = "g", **join: Any) -> list[Member]:
        """A group that awaits its assignment; the first member is the leader."""
        parked = [self.join_twice(group_id, **join) for _ in range(size)]
        while not parked[0].answered:
            self.advance(3_000)
        return [Member(group_id, p.answer.member_id, p.answer.generation_id) for p in parked]

    def stable(self, size: int = 1, group_id: str = "g", **join: Any) -> list[Member]:
        """A group with its assignment: each member's is its own id."""
        members = self.joined(size, group_id, **join)
        parked = [self.sync(m, protocol_type=None, protocol=None, version=4) for m in members[1:]]
        shares = {m.member_id: m.member_id.encode() for m in members}
        self.sync(members[0], shares, protocol_type=None, protocol=None, version=4)
        assert all(p.answer.error_code == 0 for p in parked)
        return members

    def static(self, *instances: str, group_id: str = "g", **join: Any) -> dict[str, Member]:
        """A stable group of static members; the first is the leader."""
        parked = {i: self.join(group_id, instance=i, **join) for i in instances}
        first = parked[instances[0]]
        while not first.answered:
            self.advance(3_000)
        members = {i: Member(group_id, p.answer.member_id, p.answer.generation_id) for i, p in parked.items()}
        shares = {m.member_id: i.encode() for i, m in members.items()}
        for instance in reversed(instances):
            self.sync(members[instance], shares, instance=instance)
        return members

    def offsets_in_records(self) -> list[tuple[str, int, int]]:
        """(topic, partition, offset) of every committed offset, in the order of the log."""
        return [
            (record.topic, partition, value.offset)
            for record in self.records
            if isinstance(record, OffsetCommit)
            for partition, value in record.each()
        ]
