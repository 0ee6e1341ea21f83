"""What a case has in its hand: one broker, asked at the case's version, and groups and topics of the case's own."""

from __future__ import annotations

import struct
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafkastub_conformance.cluster import Cluster, Topic
from kafkastub_conformance.expecting import Answer, expect_that
from kafkastub_conformance.link import Link, Pending
from kafkastub_conformance.model import Frame, Skipped
from kafkawire.errors import ErrorCode

MAIN = "conform"
"""The client id where a case has one client only."""

ALONE = "the broker is the only one of its cluster"
SESSION_MS = 30000
REBALANCE_MS = 60000


@dataclass(frozen=True)
class Member:
    """A member of a group as it knows itself."""

    group: str
    id: str
    generation: int
    client: str = MAIN
    instance: str | None = None
    leader: str = ""


def subscription(*topics: str, version: int = 0, user_data: bytes | None = b"", behind: bytes = b"") -> bytes:
    """A consumer's metadata as ConsumerProtocolSubscription version 0, with bytes of any kind behind it."""
    data = struct.pack(">hi", version, len(topics))
    for topic in topics:
        name = topic.encode()
        data += struct.pack(">h", len(name)) + name
    data += struct.pack(">i", -1) if user_data is None else struct.pack(">i", len(user_data)) + user_data
    return data + behind


class Broker:
    """The broker under test, for one run of a case.

    Requests of the case's own API go at `version`; others at the newest version that the broker has.
    """

    def __init__(self, cluster: Cluster, api: str, version: int, until: float, frames: deque[Frame]) -> None:
        self.cluster = cluster
        self.api = api
        self.version = version
        self.frames = frames
        self._until = until
        self._links: dict[str, Link] = {}

    @property
    def profile(self) -> str:
        return self.cluster.profile

    def close(self) -> None:
        """Close all connections."""
        for link in self._links.values():
            link.close()
        self._links.clear()

    # Connections and requests

    def link(self, client: str = MAIN) -> Link:
        """The connection of a client, opened when it is first used."""
        if client not in self._links:
            opened = self.cluster.link(client, self._until)
            opened.frames = self.frames
            self._links[client] = opened
        return self._links[client]

    def hang_up(self, client: str = MAIN) -> None:
        """Close a client's connection; the next use opens another."""
        link = self._links.pop(client, None)
        if link is not None:
            link.close()

    def version_of(self, api: str, most: int | None = None) -> int:
        """At which version an API is asked. Raises Skipped where the broker does not have it."""
        return self.version if api == self.api else self.cluster.newest(api, most)

    def send(self, api: str, *, client: str = MAIN, at: int | None = None, **body: Any) -> Pending:
        """Send a request without waiting for its answer."""
        return self.link(client).request(api, self.version_of(api) if at is None else at, body)

    def ask(self, api: str, *, client: str = MAIN, at: int | None = None, **body: Any) -> Answer:
        """A request and its answer; `at` is a version other than the usual one. Raises ClientError, Skipped."""
        return self.send(api, client=client, at=at, **body).answer()

    def needs(self, *apis: str) -> None:
        """Raises Skipped where the broker lacks one of them."""
        for api in apis:
            self.cluster.newest(api)

    def in_time(self, condition: Callable[[], bool], seconds: float | None = None, every: float = 0.01) -> bool:
        """Whether a condition comes true: for what a broker answers before all of it has heard of it.

        Args:
            seconds: how long it may take; None is as long as an answer.
            every: seconds between two looks.
        """
        deadline = min(time.monotonic() + (self.cluster.timeout if seconds is None else seconds), self._until)
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(every)
        return True

    # What a case has of its own

    def group(self, ending: str = "") -> str:
        """A group id that nobody uses; it ends as wanted."""
        return self.cluster.group(ending)

    def name(self) -> str:
        """A name of a topic that does not exist; it is removed afterwards if it does then."""
        name = self.cluster.name()
        self.cluster.topics.add(name)
        return name

    def topic(self, partitions: int = 1, **configs: str) -> Topic:
        """A new topic; `retention_ms="5"` is its configuration `retention.ms`."""
        return self.cluster.topic(partitions, **configs)

    def some_topic(self) -> Topic:
        """A topic of three partitions that others use as well: for its name, not for its records."""
        return self.cluster.shared()

    def another_node(self) -> int:
        """The id of a broker of the cluster other than the one under test. Raises Skipped."""
        others = [row.node_id for row in self.cluster.ask("Metadata", topics=[]).brokers]
        for node_id in others:
            if node_id != self.cluster.node_id:
                return int(node_id)
        raise Skipped(ALONE)

    def empty_group_id(self) -> str:
        """The group id "", where nobody has such a group. Raises Skipped."""
        self.needs("DescribeGroups")
        found = self.cluster.ask("DescribeGroups", groups=[""]).groups[0]
        if found.group_state not in ("Dead", ""):
            raise Skipped('the broker has a group "" of somebody else\'s')
        self.cluster.groups.add("")
        return ""

    # Groups

    def start_join(
        self,
        group: str,
        *,
        client: str = MAIN,
        member: str = "",
        instance: str | None = None,
        protocols: Mapping[str, bytes] | None = None,
        kind: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        at: int | None = None,
    ) -> Pending:
        """Send a JoinGroup; a new dynamic member gets its id first where the version has it so (KIP-394)."""
        version = self.version_of("JoinGroup") if at is None else at
        rows = [{"name": name, "metadata": data} for name, data in (protocols or {"range": subscription()}).items()]
        body = {
            "group_id": group,
            "session_timeout_ms": session_ms,
            "rebalance_timeout_ms": rebalance_ms,
            "member_id": member,
            "group_instance_id": instance,
            "protocol_type": kind,
            "protocols": rows,
        }
        if version >= 4 and not member and instance is None:
            first = self.ask("JoinGroup", client=client, at=version, **body)
            if first.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                expect_that("error_code of the first JoinGroup", first.error_code, ErrorCode.MEMBER_ID_REQUIRED)
            body["member_id"] = first.member_id
        return self.send("JoinGroup", client=client, at=version, **body)

    def joined(self, pending: Pending, group: str, instance: str | None = None) -> Member:
        """The member that a JoinGroup made."""
        answer = pending.answer()
        expect_that("error_code of JoinGroup", answer.error_code, ErrorCode.NONE)
        client = pending.link.client_id or ""
        return Member(group, answer.member_id, answer.generation_id, client, instance, answer.leader)

    def sync(self, member: Member, assignments: Mapping[str, bytes] | None = None, at: int | None = None) -> Pending:
        """Send a SyncGroup; the leader's brings the assignments."""
        rows = [{"member_id": name, "assignment": data} for name, data in (assignments or {}).items()]
        return self.send(
            "SyncGroup",
            client=member.client,
            at=at,
            group_id=member.group,
            generation_id=member.generation,
            member_id=member.id,
            group_instance_id=member.instance,
            protocol_type="consumer",
            protocol_name="range",
            assignments=rows,
        )

    def member(self, group: str | None = None, *topics: str, **options: Any) -> Member:
        """The only member of a group, which is stable; it subscribes to `topics`."""
        name = self.group() if group is None else group
        options.setdefault("protocols", {"range": subscription(*topics)})
        instance = options.get("instance")
        pending = self.start_join(name, **options)
        member = self.joined(pending, name, instance if self._has_instances(pending) else None)
        expect_that("error_code of SyncGroup", self.sync(member, {member.id: b"all"}).answer().error_code, 0)
        return member

    def pair(self, *, synced: bool = True) -> tuple[Member, Member]:
        """The leader and the follower of a group, stable, or (not `synced`) still without their assignment."""
        group = self.group()
        first = self.member(group, client="first")
        second = self.start_join(group, client="second")
        self.await_members(group, 2)
        again = self.start_join(group, client="first", member=first.id)
        leader = self.joined(again, group)
        follower = self.joined(second, group)
        if leader.leader == follower.id:
            leader, follower = follower, leader
        if synced:
            waiting = self.sync(follower)
            done = self.sync(leader, {leader.id: b"one", follower.id: b"two"}).answer()
            expect_that("error_code of the leader's SyncGroup", done.error_code, 0)
            expect_that("error_code of the follower's SyncGroup", waiting.answer().error_code, 0)
        return leader, follower

    def rebalancing(self) -> tuple[Member, Pending]:
        """A member whose group collects joins, and the join that has begun it."""
        member = self.member(None, client="first")
        joining = self.start_join(member.group, client="second")
        self.await_state(member.group, "PreparingRebalance")
        return member, joining

    def heartbeat(self, member: Member, **changes: Any) -> Answer:
        """A member's Heartbeat."""
        body = {
            "group_id": member.group,
            "generation_id": member.generation,
            "member_id": member.id,
            "group_instance_id": member.instance,
        }
        return self.ask("Heartbeat", client=changes.pop("client", member.client), **{**body, **changes})

    def leave(self, member: Member) -> Answer:
        """A member's LeaveGroup."""
        identity = {"member_id": member.id, "group_instance_id": member.instance}
        return self.ask(
            "LeaveGroup", client=member.client, group_id=member.group, member_id=member.id, members=[identity]
        )

    def state(self, group: str) -> str:
        """A group's state as DescribeGroups tells it; "Dead" where there is none."""
        found = self.cluster.ask("DescribeGroups", groups=[group]).groups[0]
        return str(found.group_state)

    def await_state(self, group: str, state: str) -> None:
        """Wait until a group is in a state. Raises Mismatch where it does not get there."""
        deadline = time.monotonic() + self.cluster.timeout
        while True:
            found = self.state(group)
            if found == state or time.monotonic() > min(deadline, self._until):
                expect_that(f"the state of the group {group}", found, state)
                return
            time.sleep(0.01)

    def await_members(self, group: str, count: int) -> None:
        """Wait until a group has so many members, those included whose join waits. Raises Mismatch."""
        deadline = time.monotonic() + self.cluster.timeout
        while True:
            found = len(self.cluster.ask("DescribeGroups", groups=[group]).groups[0].members)
            if found == count or time.monotonic() > min(deadline, self._until):
                expect_that(f"the number of members of the group {group}", found, count)
                return
            time.sleep(0.01)

    # Offsets

    def commit(
        self,
        group: str,
        offsets: Sequence[tuple[Topic, int, int]],
        *,
        member: Member | None = None,
        metadata: str | None = "",
        at: int | None = None,
        client: str = MAIN,
        **changes: Any,
    ) -> Answer:
        """An OffsetCommit of (topic, partition, offset), by name and by id, as a member or (none) as nobody."""
        body: dict[str, Any] = {"group_id": group, "topics": [_committed(*one, metadata) for one in _by_topic(offsets)]}
        if member is not None:
            body |= {
                "generation_id_or_member_epoch": member.generation,
                "member_id": member.id,
                "group_instance_id": member.instance,
            }
        return self.ask("OffsetCommit", client=client, at=at, **{**body, **changes})

    def committed(self, group: str, topic: Topic, partition: int = 0) -> int:
        """The offset that a group has committed, -1 for none."""
        answer = self.fetch(group, {topic: [partition]})
        return int(offsets_of(answer)[0].partitions[0].committed_offset)

    def fetch(
        self, group: str, topics: Mapping[Topic, Sequence[int]] | None, at: int | None = None, **changes: Any
    ) -> Answer:
        """An OffsetFetch of one group; None is everything."""
        named: list[dict[str, Any]] | None = None
        if topics is not None:
            named = [
                {"name": one.name, "topic_id": one.id, "partition_indexes": list(rows)} for one, rows in topics.items()
            ]
        old = None if named is None else [{k: v for k, v in row.items() if k != "topic_id"} for row in named]
        groups = [{"group_id": group, "topics": named}]
        return self.ask("OffsetFetch", at=at, **{"group_id": group, "topics": old, "groups": groups, **changes})

    def _has_instances(self, pending: Pending) -> bool:
        return pending.version >= 5


def offsets_of(answer: Answer) -> Any:
    """The topics in an answer to OffsetFetch about one group."""
    return answer.groups[0].topics if answer.version >= 8 else answer.topics


def group_error(answer: Answer) -> int:
    """The group's error in an answer to OffsetFetch; in version 1 that of the first partition."""
    if answer.version >= 8:
        return int(answer.groups[0].error_code)
    return int(answer.error_code if answer.version >= 2 else answer.topics[0].partitions[0].error_code)


def as_generation(member: Member, generation: int) -> Member:
    """The same member, of another generation."""
    return replace(member, generation=generation)


def _by_topic(offsets: Sequence[tuple[Topic, int, int]]) -> list[tuple[Topic, list[tuple[int, int]]]]:
    found: dict[Topic, list[tuple[int, int]]] = {}
    for topic, partition, offset in offsets:
        found.setdefault(topic, []).append((partition, offset))
    return list(found.items())


def _committed(topic: Topic, rows: Sequence[tuple[int, int]], metadata: str | None) -> dict[str, Any]:
    partitions = [
        {"partition_index": index, "committed_offset": offset, "committed_metadata": metadata} for index, offset in rows
    ]
    return {"name": topic.name, "topic_id": topic.id, "partitions": partitions}
