"""Any request to a running broker, as messages."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.messages import response_class
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.schema import Message
from tests.clients.client import until
from tests.coordinator.context import Member
from tests.expiry.model import Place
from tests.rawclient import RawClient

ANY_LONG_SESSION_MS = 1_800_000


class Wire:
    """One connection; every method waits for the answer."""

    def __init__(self, servers: str) -> None:
        self._raw = RawClient(servers, timeout=60)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def ask(self, key: ApiKey, version: int, request: Message) -> Any:
        body = self._raw.exchange(key, version, encode(request, version))
        return decode(response_class(key.camel), version, body)

    def create_topics(self, *names: str, partitions: int = 2) -> None:
        """Create topics, and wait until they have leaders and groups have a coordinator."""
        topics = [CreatableTopic(name, partitions, 1) for name in names]
        created = self.ask(ApiKey.CREATE_TOPICS, 6, CreateTopicsRequest(topics, 30_000))
        assert {t.error_code for t in created.topics} == {0}
        wanted = MetadataRequest([MetadataRequestTopic(name=name) for name in names])

        def ready() -> bool:
            known = self.ask(ApiKey.METADATA, 9, wanted).topics
            led = all(t.error_code == 0 and all(p.error_code == 0 for p in t.partitions) for t in known)
            found = self.ask(ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("g"))
            return led and found.error_code == 0 and self._coordinates()

        until(ready, "topics and a coordinator")

    def _coordinates(self) -> bool:
        """Whether the coordinator has loaded: Kafka makes the offsets topic in the background."""
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(f"{n}") for n in range(64)])
        return {g.error_code for g in self.ask(ApiKey.OFFSET_FETCH, 8, request).groups} == {0}

    def commit(
        self, group: str, offsets: dict[Place, int], *, member: Member | None = None, own: int = -1, version: int = 8
    ) -> None:
        topics = [
            OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(partition, offset)])
            for (topic, partition), offset in offsets.items()
        ]
        generation, member_id = (-1, "") if member is None else (member.generation, member.member_id)
        request = OffsetCommitRequest(group, generation, member_id, retention_time_ms=own, topics=topics)
        answer = self.ask(ApiKey.OFFSET_COMMIT, version, request)
        assert {p.error_code for t in answer.topics for p in t.partitions} == {0}

    def committed(self, group: str) -> dict[Place, int]:
        """Everything that the group has committed."""
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
        (answer,) = self.ask(ApiKey.OFFSET_FETCH, 8, request).groups
        assert answer.error_code == 0
        return {(t.name, p.partition_index): p.committed_offset for t in answer.topics for p in t.partitions}

    def member(self, group: str, metadata: bytes, protocol_type: str = "consumer") -> Member:
        """Join as a group's only member, and take the assignment."""
        protocols = [JoinGroupRequestProtocol("range", metadata)]
        request = JoinGroupRequest(group, ANY_LONG_SESSION_MS, 60_000, protocol_type=protocol_type, protocols=protocols)
        request.member_id = self.ask(ApiKey.JOIN_GROUP, 5, request).member_id
        joined = self.ask(ApiKey.JOIN_GROUP, 5, request)
        assert joined.error_code == 0
        shares = [SyncGroupRequestAssignment(joined.member_id, b"")]
        sync = SyncGroupRequest(group, joined.generation_id, joined.member_id, assignments=shares)
        assert self.ask(ApiKey.SYNC_GROUP, 3, sync).error_code == 0
        return Member(group, joined.member_id, joined.generation_id)

    def leave(self, member: Member) -> None:
        request = LeaveGroupRequest(member.group_id, members=[MemberIdentity(member.member_id)])
        assert self.ask(ApiKey.LEAVE_GROUP, 4, request).error_code == 0
