"""Members of both protocols in one group, on any broker: what they are answered, and what is written down.

A `Player` says requests in the names of members and writes down, in lines that are the same in every run, what comes
back: ids of members and topics by their names, the records of the group in `__consumer_offsets` too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Self

from kafkastub.client import Connection
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode, MalformedMessage
from kafkawire.header import is_flexible, response_header_size
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkawire.messages.consumer_protocol_assignment import TopicPartition as AssignedPartition
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.offsets_topic import UnknownRecordType, decode_record
from kafkawire.records import parse_header, read_batch, split_batches
from kafkawire.schema import ZERO_UUID, Message
from tests.waiting import until

OFFSETS = "__consumer_offsets"
Owned = Mapping[str, Sequence[int]]


def subscription(
    topics: Iterable[str],
    owned: Owned | None = None,
    *,
    version: int = 3,
    user_data: bytes | None = None,
    rack: str | None = None,
) -> bytes:
    """A classic consumer's metadata."""
    partitions = [TopicPartition(name, list(p)) for name, p in (owned or {}).items()]
    message = ConsumerProtocolSubscription(list(topics), user_data, partitions, -1, rack)
    return version.to_bytes(2, "big") + encode(message, version)


def assignment(partitions: Owned, *, version: int = 3, user_data: bytes | None = None) -> bytes:
    """What the leader of a classic group sends."""
    assigned = [AssignedPartition(name, list(p)) for name, p in partitions.items()]
    return version.to_bytes(2, "big") + encode(ConsumerProtocolAssignment(assigned, user_data), version)


def read_assignment(data: bytes) -> dict[str, list[int]]:
    """The partitions of a classic assignment. Raises MalformedMessage."""
    if not data:
        return {}
    version = int.from_bytes(data[:2], "big")
    message = decode(ConsumerProtocolAssignment, min(version, 3), data[2:])
    return {p.topic: sorted(p.partitions) for p in message.assigned_partitions}


def told(data: bytes) -> str:
    """A classic assignment, for people."""
    if not data:
        return "nothing"
    version = int.from_bytes(data[:2], "big")
    try:
        message = decode(ConsumerProtocolAssignment, min(version, 3), data[2:])
    except MalformedMessage:
        return repr(data)
    rest = "" if message.user_data is None else f" user_data={bytes(message.user_data)!r}"
    return f"v{version} {_shown(read_assignment(data))}{rest}"


def _shown(partitions: Mapping[str, Iterable[int]]) -> str:
    return " ".join(f"{name}:{','.join(map(str, p))}" for name, p in sorted(partitions.items())) or "-"


class Player:
    """One group on one broker.

    Attributes:
        lines: what has happened.
        generation: of each member as it was last told.
        owns: what each member of the new protocol was assigned last, by topic id.
        shows_leader: whether the leader is told; not where it follows from the order of random ids.
    """

    def __init__(self, port: int, group: str, topics: Mapping[str, int]) -> None:
        self.port = port
        self.group = group
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.generation: dict[str, int] = {}
        self.owns: dict[str, dict[bytes, list[int]]] = {}
        self._parked: dict[str, tuple[int, int, int]] = {}
        self._clients: dict[str, Connection] = {}
        self._next_offset = 0
        self.topic_ids: dict[str, bytes] = {}
        self.shows_leader = True
        self.make_topics(topics)
        self.client("").ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        self._await_coordinator()

    # -- the way there -------------------------------------------------------------------------------------------

    def make_topics(self, topics: Mapping[str, int]) -> None:
        """Topics with so many partitions."""
        if not topics:
            return
        wanted = [CreatableTopic(self.topic(name), count, 1) for name, count in topics.items()]
        self.client("").ask(CreateTopicsRequest(wanted, 10_000))
        for name in topics:
            self.topic_ids[name] = until(partial(self._topic_id, self.topic(name)), f"{name} is there")
        if topics:
            self._await_topics([self.topic(name) for name in topics])

    def _await_topics(self, names: Sequence[str]) -> None:
        """A coordinator hears of topics later than clients do: ask until it assigns all of them."""
        group = f"{self.group}-probe-{len(self.topic_ids)}"
        self.client("").ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        tries = count()

        def all_assigned() -> bool:
            member = f"probe-{next(tries)}"
            join = ConsumerGroupHeartbeatRequest(group, member, 0, None, None, 60_000, names, None, None, [])
            answer = self.client("").ask(join, 1)
            if answer.error_code:
                return False
            self.client("").ask(ConsumerGroupHeartbeatRequest(group, member, -1), 1)
            return answer.assignment is not None and len(answer.assignment.topic_partitions) == len(names)

        until(all_assigned, "the coordinator knows the topics")
        self.client("").ask(DeleteGroupsRequest([group]), 2)

    def until(self, state: str, size: int | None = None) -> None:
        """Wait until the classic group is in this state, with so many members."""

        def is_there() -> bool:
            group = self.client("").ask(DescribeGroupsRequest([self.group]), 5).groups[0]
            return group.group_state == state and size in (None, len(group.members))

        until(is_there, f"the group is {state}")

    def let_arrive(self) -> None:
        """A request on another connection has come, as far as one can tell: a parked sync shows nowhere."""
        time.sleep(0.3)

    def topic(self, name: str) -> str:
        """A topic's real name: each group has its own."""
        return f"{self.group}-{name}"

    def _topic_id(self, name: str) -> bytes:
        answer = self.client("").ask(MetadataRequest(topics=None))
        for one in answer.topics:
            if one.name == name and one.partitions and not one.error_code:
                return bytes(one.topic_id)
        return b""

    def _await_coordinator(self) -> None:
        def is_there() -> bool:
            group = self.client("").ask(DescribeGroupsRequest([self.group]), 5).groups[0]
            return group.error_code not in (14, 15, 16)

        until(is_there, "the group has a coordinator")

    def client(self, name: str) -> Connection:
        """The connection of a member."""
        if name not in self._clients:
            self._clients[name] = Connection("127.0.0.1", self.port, client_id=name or "player")
        return self._clients[name]

    def close(self) -> None:
        """End all connections."""
        for one in self._clients.values():
            one.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, text: str) -> None:
        """A line of its own."""
        self.lines.append(text)

    def _name(self, text: str) -> str:
        for real, name in sorted(self.names.items(), key=lambda item: -len(item[0])):
            text = text.replace(real, f"<{name}>")
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>", text)
        return text.replace(f"{self.group}-", "").replace(self.group, "<group>")

    def _topic(self, topic_id: bytes) -> str:
        return next((name for name, one in self.topic_ids.items() if one == topic_id), "?")

    # -- members of the new protocol -----------------------------------------------------------------------------

    def beat(
        self,
        name: str,
        topics: Sequence[str] | None = None,
        *,
        epoch: int | None = None,
        owned: Owned | str | None = None,
        instance: str | None = None,
        rebalance_ms: int = -1,
        assignor: str | None = None,
        member_id: str | None = None,
        regex: str | None = None,
    ) -> Any:
        """ConsumerGroupHeartbeat; the epoch is the last one by itself, `owned="all"` what it was assigned last."""
        if epoch is None:
            epoch = self.generation.get(name, 0)
        member_id = self.ids.setdefault(name, f"{name}-member") if member_id is None else member_id
        self.names[member_id] = name
        if epoch == 0:
            rebalance_ms = 60_000 if rebalance_ms < 0 else rebalance_ms
            owned = {} if owned is None else owned
        have: list[TopicPartitions] | None = None
        if owned == "all":
            have = [TopicPartitions(t, p) for t, p in self.owns.get(name, {}).items()]
        elif isinstance(owned, Mapping):
            have = [TopicPartitions(self.topic_ids[t], list(p)) for t, p in owned.items()]
        wanted = None if topics is None else [self.topic(t) for t in topics]
        request = ConsumerGroupHeartbeatRequest(
            self.group, member_id, epoch, instance, None, rebalance_ms, wanted, regex, assignor, have
        )
        answer = self.client(name).ask(request, 1)
        line = f"{name} beats at {epoch}: {_error(answer.error_code)}"
        if answer.error_code:
            self.note(f"{line} {self._name(answer.error_message or '')}")
            return answer
        self.generation[name] = answer.member_epoch
        assigned = "unchanged"
        if answer.assignment is not None:
            self.owns[name] = {t.topic_id: sorted(t.partitions) for t in answer.assignment.topic_partitions}
            assigned = _shown({self._topic(t): p for t, p in self.owns[name].items()})
        self.note(f"{line} epoch {answer.member_epoch}, {assigned}, every {answer.heartbeat_interval_ms} ms")
        return answer

    # -- classic members -----------------------------------------------------------------------------------------

    def join(
        self,
        name: str,
        topics: Sequence[str] = ("a",),
        *,
        owned: Owned | None = None,
        instance: str | None = None,
        member_id: str | None = None,
        protocols: Mapping[str, bytes] | None = None,
        protocol_type: str = "consumer",
        version: int = 9,
        session_ms: int = 10_000,
        rebalance_ms: int = 60_000,
        wait: bool = True,
    ) -> Any:
        """JoinGroup; `wait=False` leaves it parked for `joined`."""
        if member_id is None:
            member_id = self.ids.get(name, "")
        if protocols is None:
            mine = {self.topic(t): p for t, p in (owned or {}).items()}
            protocols = {"range": subscription([self.topic(t) for t in topics], mine)}
        request = JoinGroupRequest(
            self.group,
            session_ms,
            rebalance_ms,
            member_id,
            instance,
            protocol_type,
            [JoinGroupRequestProtocol(n, m) for n, m in protocols.items()],
        )
        self._send(name, request, version)
        return self.joined(name) if wait else None

    def joined(self, name: str) -> Any:
        """What the parked join is answered; MEMBER_ID_REQUIRED only makes it known."""
        answer = self._receive(name)
        if answer.member_id:
            self.ids[name] = answer.member_id
            self.names[answer.member_id] = name
        line = f"{name} joins: {_error(answer.error_code)} id {self._name(answer.member_id) or '-'}"
        if not answer.error_code:
            self.generation[name] = answer.generation_id
        members = sorted(self._name(m.member_id) for m in answer.members)
        if not self.shows_leader:
            members = ["?"]
        self.note(
            f"{line} generation {answer.generation_id} {answer.protocol_type}/{answer.protocol_name}"
            f" leader {self._leader(answer.leader)} members {members} skip {answer.skip_assignment}"
        )
        return answer

    def _leader(self, member_id: str) -> str:
        return self._name(member_id) or "-" if self.shows_leader else "?"

    def enter(self, name: str, topics: Sequence[str] = ("a",), *, wait: bool = True, **join: Any) -> Any:
        """JoinGroup twice: for the id, and with it."""
        self.join(name, topics, **join)
        return self.join(name, topics, wait=wait, **join)

    def sync(
        self,
        name: str,
        shares: Mapping[str, Owned | bytes] | None = None,
        *,
        generation: int | None = None,
        instance: str | None = None,
        protocol_type: str | None = "consumer",
        protocol: str | None = "range",
        wait: bool = True,
    ) -> Any:
        """SyncGroup, with the shares of members by name where it is the leader."""
        given = [
            SyncGroupRequestAssignment(
                self.ids[n],
                share if isinstance(share, bytes) else assignment({self.topic(t): p for t, p in share.items()}),
            )
            for n, share in (shares or {}).items()
        ]
        at = self.generation.get(name, -1) if generation is None else generation
        request = SyncGroupRequest(self.group, at, self.ids.get(name, ""), instance, protocol_type, protocol, given)
        self._send(name, request, 5)
        return self.synced(name) if wait else None

    def synced(self, name: str) -> Any:
        """What the parked sync is answered."""
        answer = self._receive(name)
        share = self._name(told(bytes(answer.assignment)))
        self.note(f"{name} syncs: {_error(answer.error_code)} {answer.protocol_type}/{answer.protocol_name} {share}")
        return answer

    def heartbeat(self, name: str, *, generation: int | None = None, instance: str | None = None) -> Any:
        """Heartbeat of a classic member."""
        at = self.generation.get(name, -1) if generation is None else generation
        answer = self.client(name).ask(HeartbeatRequest(self.group, at, self.ids.get(name, ""), instance), 4)
        self.note(f"{name} has a heartbeat at {at}: {_error(answer.error_code)}")
        return answer

    def leave(self, *members: tuple[str, str | None]) -> Any:
        """LeaveGroup of members by (name, instance); the name "" for no id, "?x" for an id that nobody has."""
        identities = [MemberIdentity(self.ids.get(n, n), i, "because") for n, i in members]
        answer = self.client("").ask(LeaveGroupRequest(self.group, "", identities), 5)
        told_ = [f"{self._name(m.member_id)}/{m.group_instance_id} {_error(m.error_code)}" for m in answer.members]
        self.note(f"leave: {_error(answer.error_code)} {', '.join(told_)}")
        return answer

    # -- offsets, looks ------------------------------------------------------------------------------------------

    def commit(
        self, name: str, offsets: Owned, *, epoch: int | None = None, version: int = 9, instance: str | None = None
    ) -> Any:
        """OffsetCommit of a member: its partitions with an offset each, here 10 times the partition."""
        at = self.generation.get(name, -1) if epoch is None else epoch
        topics = [
            OffsetCommitRequestTopic(
                self.topic(t), self.topic_ids[t], [OffsetCommitRequestPartition(i, 10 * i) for i in p]
            )
            for t, p in offsets.items()
        ]
        request = OffsetCommitRequest(self.group, at, self.ids.get(name, ""), instance, -1, topics)
        answer = self.client("").ask(request, version)
        errors = {
            f"{self._topic(t.topic_id) if version >= 10 else self._name(t.name)}:{p.partition_index}": _error(
                p.error_code
            )
            for t in answer.topics
            for p in t.partitions
        }
        self.note(f"{name} commits at {at} in v{version}: {errors}")
        return answer

    def fetch_offsets(self, name: str, wanted: Owned, *, epoch: int | None = None) -> Any:
        """OffsetFetch of a member."""
        at = self.generation.get(name, -1) if epoch is None else epoch
        topics = [OffsetFetchRequestTopics(self.topic(t), ZERO_UUID, list(p)) for t, p in wanted.items()]
        group = OffsetFetchRequestGroup(self.group, self.ids.get(name), at, topics)
        answer = self.client("").ask(OffsetFetchRequest(groups=[group]), 9).groups[0]
        found = {p.partition_index: p.committed_offset for t in answer.topics for p in t.partitions}
        self.note(f"{name} fetches offsets at {at}: {_error(answer.error_code)} {found}")
        return answer

    def describe(self) -> Any:
        """The group as ConsumerGroupDescribe, DescribeGroups and ListGroups tell it."""
        self.note(f"listed: {self._listed()}")
        modern = self.client("").ask(ConsumerGroupDescribeRequest([self.group]), 1).groups[0]
        if not modern.error_code:
            self.note(
                f"consumer group: {modern.group_state} epoch {modern.group_epoch}"
                f" assignment epoch {modern.assignment_epoch} by {modern.assignor_name}"
            )
            for m in sorted(modern.members, key=lambda m: self._name(m.member_id)):
                has = _shown({self._topic(t.topic_id): t.partitions for t in m.assignment.topic_partitions})
                gets = _shown({self._topic(t.topic_id): t.partitions for t in m.target_assignment.topic_partitions})
                kind = "classic" if m.member_type == 0 else "consumer"
                names = sorted(self._name(t) for t in m.subscribed_topic_names)
                self.note(
                    f"  {self._name(m.member_id)}/{m.instance_id} {kind} epoch {m.member_epoch} has {has}"
                    f" target {gets} subscribes {names} {m.subscribed_topic_regex!r} rack {m.rack_id}"
                )
            return modern
        classic = self.client("").ask(DescribeGroupsRequest([self.group]), 6).groups[0]
        self.note(
            f"classic group: {_error(classic.error_code)} {classic.group_state} {classic.protocol_type}"
            f"/{classic.protocol_data} {self._name(classic.error_message or '')}"
        )
        for c in sorted(classic.members, key=lambda m: self._name(m.member_id)):
            share = self._name(told(bytes(c.member_assignment)))
            self.note(f"  {self._name(c.member_id)}/{c.group_instance_id} {share}")
        return classic

    def _listed(self) -> str:
        groups = self.client("").ask(ListGroupsRequest(), 5).groups
        return ", ".join(
            f"{g.group_type} {g.group_state} {g.protocol_type!r}" for g in groups if g.group_id == self.group
        )

    def delete(self) -> Any:
        """DeleteGroups."""
        answer = self.client("").ask(DeleteGroupsRequest([self.group]), 2)
        self.note(f"delete: {_error(answer.results[0].error_code)}")
        return answer

    # -- records -------------------------------------------------------------------------------------------------

    def records(self, *, in_any_order: bool = False) -> None:
        """What was written about the group since it was asked last; members of neighbouring records by their names.

        `in_any_order` where Kafka goes through members by a hash that is another in every run.
        """
        found: list[tuple[str, str]] = []
        for key, value in self._new_records():
            try:
                record = decode_record(key, value)
            except UnknownRecordType:
                continue
            if self.group in (getattr(record.key, "group_id", None), getattr(record.key, "group", None)):
                found.append((record.type.name, self._record(record)))
        if in_any_order:
            self.lines += [f"  record {line}" for line in sorted(line for _, line in found)]
            return
        start = 0
        for end in range(1, len(found) + 1):
            if end == len(found) or found[end][0] != found[start][0]:
                for _, line in sorted(found[start:end]):
                    self.note(f"  record {line}")
                start = end

    def _record(self, record: Any) -> str:
        key = self._fields(record.key, ("group_id", "group"))
        value = "gone" if record.value is None else f"v{record.version} {self._fields(record.value, ())}"
        return self._name(f"{record.type.name.lower()} [{key}] {value}")

    def _fields(self, message: Any, without: Sequence[str]) -> str:
        return " ".join(f"{n}={self._value(n, getattr(message, n))}" for n in message.__slots__ if n not in without)

    def _value(self, name: str, value: Any) -> str:
        if name in ("commit_timestamp", "current_state_timestamp", "assignment_timestamp", "timestamp"):
            return "T" if value > 0 else str(value)
        if name == "metadata_hash":
            return "H" if value else "0"
        if name == "client_host":
            return "host"
        if name == "leader" and value is not None:
            return self._leader(value)
        if name == "topic_id":
            return self._topic(value)
        if name == "assignment" and isinstance(value, bytes | bytearray | memoryview):
            return f"({told(bytes(value))})"
        if isinstance(value, bytes | bytearray | memoryview):
            return f"{len(value)} bytes"
        if isinstance(value, list | tuple):
            items = [self._value("", v) for v in value]
            return f"[{', '.join(sorted(map(self._name, items)) if name in _UNORDERED else items)}]"
        if hasattr(value, "__slots__"):
            return f"({self._fields(value, ())})"
        return repr(value)

    def _new_records(self) -> list[tuple[bytes | None, bytes | None]]:
        found: list[tuple[bytes | None, bytes | None]] = []
        offsets_id = self._topic_id(OFFSETS) or ZERO_UUID
        while True:
            topic = FetchTopic(OFFSETS, offsets_id, [FetchPartition(0, -1, self._next_offset, -1, -1, 1 << 20)])
            answer = self.client("").ask(FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic]), 16)
            data = answer.responses[0].partitions[0].records if answer.responses else None
            if not data:
                return found
            for _, batch in split_batches(bytes(data)):
                header = parse_header(batch)
                if not header.control:
                    found += [(r.key, r.value) for r in read_batch(batch)]
                self._next_offset = header.last_offset + 1

    # -- frames --------------------------------------------------------------------------------------------------

    def _send(self, name: str, request: Message, version: int) -> None:
        self._parked[name] = (self.client(name).send(request, version), request.API_KEY, version)

    def _receive(self, name: str) -> Any:
        correlation_id, key, version = self._parked.pop(name)
        contents = self.client(name).receive(correlation_id, ApiKey(key).camel)
        response = response_class(key)
        return decode(response, version, contents[response_header_size(key, is_flexible(response, version)) :])


_UNORDERED = ("members", "assigned_partitions", "partitions_pending_revocation", "topic_partitions", "partitions")


def _error(code: int) -> str:
    return ErrorCode(code).name
