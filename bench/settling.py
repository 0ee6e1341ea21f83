"""How long a large group of each type with epochs takes from its first heartbeat until it is settled.

All members heartbeat over one connection, round after round, as fast as the server answers; each does what it is told.
With the default configuration a new target comes once a second, which is in the figures of every server. A group of the
classic protocol is in `gathering`: there each member waits on a connection of its own.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench import gathering
from bench.cases import CONSUMER_HEARTBEAT, SESSION_MS, SHARE_HEARTBEAT, STREAMS_HEARTBEAT, create_topic
from bench.contestants import Contestant
from bench.frames import BadAnswer, Client, error_codes, frame, read_answer
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    Topology,
)
from kafkawire.schema import Message

MEMBERS, PARTITIONS = 1000, 1000
AT_ONCE = 50
"""Heartbeats in flight."""
MOST_SECONDS = 120.0

_number = itertools.count()


@dataclass
class Settled:
    """What one server needed.

    Attributes:
        kind: the type of the group.
        seconds: of each round of the measurement.
        requests: in the last one.
        failure: why there is nothing.
    """

    name: str
    kind: str
    seconds: list[float] = field(default_factory=list)
    requests: int = 0
    failure: str | None = None


class Member:
    """One member, which does what it is told."""

    version: int
    alone = True
    """Whether a partition is one member's."""

    def __init__(self, group: str, topic: str) -> None:
        self.group = group
        self.topic = topic
        self.member_id = str(uuid.uuid4())
        self.epoch = 0
        self.owned: Sequence[Any] = ()
        self.tells = True

    def heartbeat(self) -> Message:
        """The next one."""
        raise NotImplementedError

    def assigned(self, answer: Any) -> Sequence[Any] | None:
        """What the answer gives the member; None where it says nothing of that."""
        raise NotImplementedError

    def answered(self, answer: Any) -> bool:
        """Whether there is something new for it."""
        errors = set(error_codes(answer))
        if errors:
            raise BadAnswer(f"a heartbeat was answered {', '.join(code.name for code in errors)}")
        assigned = self.assigned(answer)
        changed = assigned is not None or answer.member_epoch != self.epoch
        self.epoch = answer.member_epoch
        self.tells = assigned is not None
        if assigned is not None:
            self.owned = assigned
        return changed


class ConsumerMember(Member):
    """KIP-848."""

    version = CONSUMER_HEARTBEAT

    def heartbeat(self) -> Message:
        request = ConsumerGroupHeartbeatRequest(self.group, self.member_id, self.epoch)
        if self.epoch == 0:
            request.rebalance_timeout_ms = SESSION_MS
            request.subscribed_topic_names = [self.topic]
        if self.tells:
            request.topic_partitions = self.owned
        return request

    def assigned(self, answer: Any) -> Sequence[Any] | None:
        if answer.assignment is None:
            return None
        return [TopicPartitions(one.topic_id, one.partitions) for one in answer.assignment.topic_partitions]


class ShareMember(Member):
    """KIP-932."""

    version = SHARE_HEARTBEAT
    alone = False

    def heartbeat(self) -> Message:
        names = [self.topic] if self.epoch == 0 else None
        return ShareGroupHeartbeatRequest(self.group, self.member_id, self.epoch, subscribed_topic_names=names)

    def assigned(self, answer: Any) -> Sequence[Any] | None:
        return None if answer.assignment is None else list(answer.assignment.topic_partitions)


class StreamsMember(Member):
    """KIP-1071."""

    version = STREAMS_HEARTBEAT

    def heartbeat(self) -> Message:
        request = StreamsGroupHeartbeatRequest(self.group, self.member_id, self.epoch)
        if self.epoch == 0:
            request.rebalance_timeout_ms = SESSION_MS
            request.topology = Topology(0, [Subtopology("0", source_topics=[self.topic])])
            request.process_id = self.member_id
        if self.tells:
            request.active_tasks, request.standby_tasks, request.warmup_tasks = self.owned, [], []
        return request

    def assigned(self, answer: Any) -> Sequence[Any] | None:
        if answer.active_tasks is None:
            return None
        return [TaskIds(one.subtopology_id, one.partitions) for one in answer.active_tasks]


KINDS: dict[str, type[Member]] = {"consumer": ConsumerMember, "share": ShareMember, "streams": StreamsMember}
NAMES = {f"settle/{kind}": kind for kind in (gathering.KIND, *KINDS)}
"""Of the measurements, to the types of groups."""


def measure(contestants: Sequence[Contestant], kinds: Sequence[str], rounds: int) -> list[Settled]:
    """Each of the servers, in turns, for each of the types."""
    found = []
    for kind in kinds:
        settled = [Settled(one.name, kind) for one in contestants]
        found += settled
        for _ in range(rounds):
            for one, result in zip(contestants, settled, strict=True):
                if result.failure is None:
                    try:
                        seconds, result.requests = _settle(one, kind)
                        result.seconds.append(seconds)
                    except (BadAnswer, OSError) as error:
                        result.failure = f"{type(error).__name__}: {error}"
    return found


def _settle(contestant: Contestant, kind: str) -> tuple[float, int]:
    """How many seconds it took, and how many requests."""
    name = f"bench-settle-{kind}-{next(_number)}"
    with Client(contestant.host, contestant.port) as client:
        create_topic(client, name, PARTITIONS)
        client.succeed(FindCoordinatorRequest(key_type=0, coordinator_keys=[name]), 4)
        if kind == gathering.KIND:
            return gathering.gather(contestant, name, MEMBERS, PARTITIONS, MOST_SECONDS)
        return _by_heartbeats(client, name, KINDS[kind])


def _by_heartbeats(client: Client, name: str, kind: Callable[[str, str], Member]) -> tuple[float, int]:
    members = [kind(name, name) for _ in range(MEMBERS)]
    requests = 0
    members[0].answered(client.succeed(members[0].heartbeat(), members[0].version))  # once the coordinator is there
    start = time.perf_counter()
    while _round(client, members) or not _complete(members):
        requests += MEMBERS
        if time.perf_counter() - start > MOST_SECONDS:
            raise BadAnswer(f"the group has not settled within {MOST_SECONDS:g} s")
    return time.perf_counter() - start, requests


def _round(client: Client, members: Sequence[Member]) -> bool:
    """Every member heartbeats once. Whether there was something new for one."""
    changed = False
    for some in _slices(members):
        requests = [member.heartbeat() for member in some]
        client.socket.sendall(
            b"".join(frame(request, member.version) for request, member in zip(requests, some, strict=True))
        )
        for request, member in zip(requests, some, strict=True):
            _, answer = read_answer(request.API_KEY, member.version, client.read_frame())
            changed |= member.answered(answer)
    return changed


def _slices(members: Sequence[Member]) -> Iterator[Sequence[Member]]:
    for start in range(0, len(members), AT_ONCE):
        yield members[start : start + AT_ONCE]


def _complete(members: Sequence[Member]) -> bool:
    """All partitions have an owner, where they are one member's only one, who has not more than the others, and all
    members are in the same epoch.
    """
    owned = [[partition for topic in member.owned for partition in topic.partitions] for member in members]
    even = max(map(len, owned)) <= -(-PARTITIONS // MEMBERS)
    same = len({member.epoch for member in members}) == 1
    all_of_them = sorted(itertools.chain(*owned))
    if not members[0].alone:
        all_of_them = sorted(set(all_of_them))
    return even and same and all_of_them == list(range(PARTITIONS))
