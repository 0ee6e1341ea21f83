"""How long a large group of the consumer protocol (KIP-848) takes from its first heartbeat until it is settled.

All members heartbeat over one connection, round after round, as fast as the server answers; each does what it is told.
With the default configuration a new target comes once a second, which is in the figures of every server.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.cases import CONSUMER_HEARTBEAT, SESSION_MS, create_topic
from bench.contestants import Contestant
from bench.frames import BadAnswer, Client, error_codes, frame, read_answer
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest

NAME = "settle/1000x1000"
MEMBERS, PARTITIONS = 1000, 1000
AT_ONCE = 50
"""Heartbeats in flight."""
MOST_SECONDS = 120.0

_number = itertools.count()


@dataclass
class Settled:
    """What one server needed.

    Attributes:
        seconds: of each round of the measurement.
        heartbeats: in the last one.
        failure: why there is nothing.
    """

    name: str
    seconds: list[float] = field(default_factory=list)
    heartbeats: int = 0
    failure: str | None = None


class Member:
    """One member, which does what it is told."""

    def __init__(self, group: str, topic: str) -> None:
        self.group = group
        self.topic = topic
        self.member_id = str(uuid.uuid4())
        self.epoch = 0
        self.owned: Sequence[TopicPartitions] = ()
        self._tells = True

    def heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        """The next one."""
        request = ConsumerGroupHeartbeatRequest(self.group, self.member_id, self.epoch)
        if self.epoch == 0:
            request.rebalance_timeout_ms = SESSION_MS
            request.subscribed_topic_names = [self.topic]
        if self._tells:
            request.topic_partitions = self.owned
        return request

    def answered(self, answer: object) -> bool:
        """Whether there is something new for it."""
        errors = set(error_codes(answer))
        if errors:
            raise BadAnswer(f"ConsumerGroupHeartbeat was answered {', '.join(code.name for code in errors)}")
        assignment = answer.assignment  # type: ignore[attr-defined]
        changed = assignment is not None or answer.member_epoch != self.epoch  # type: ignore[attr-defined]
        self.epoch = answer.member_epoch  # type: ignore[attr-defined]
        self._tells = assignment is not None
        if assignment is not None:
            self.owned = [TopicPartitions(one.topic_id, one.partitions) for one in assignment.topic_partitions]
        return changed


def measure(contestants: Sequence[Contestant], rounds: int) -> list[Settled]:
    """Each of the servers, in turns."""
    found = [Settled(one.name) for one in contestants]
    for _ in range(rounds):
        for one, settled in zip(contestants, found, strict=True):
            if settled.failure is None:
                try:
                    with Client(one.host, one.port) as client:
                        _settle(client, settled)
                except (BadAnswer, OSError) as error:
                    settled.failure = f"{type(error).__name__}: {error}"
    return found


def _settle(client: Client, settled: Settled) -> None:
    name = f"bench-settle-{next(_number)}"
    create_topic(client, name, PARTITIONS)
    client.succeed(FindCoordinatorRequest(key_type=0, coordinator_keys=[name]), 4)
    members = [Member(name, name) for _ in range(MEMBERS)]
    settled.heartbeats = 0
    members[0].answered(client.succeed(members[0].heartbeat(), CONSUMER_HEARTBEAT))  # once the coordinator is there
    start = time.perf_counter()
    while _round(client, members) or not _complete(members):
        settled.heartbeats += MEMBERS
        if time.perf_counter() - start > MOST_SECONDS:
            raise BadAnswer(f"the group has not settled within {MOST_SECONDS:g} s")
    settled.seconds.append(time.perf_counter() - start)


def _round(client: Client, members: Sequence[Member]) -> bool:
    """Every member heartbeats once. Whether there was something new for one."""
    changed = False
    for some in _slices(members):
        client.socket.sendall(b"".join(frame(member.heartbeat(), CONSUMER_HEARTBEAT) for member in some))
        for member in some:
            _, answer = read_answer(ConsumerGroupHeartbeatRequest.API_KEY, CONSUMER_HEARTBEAT, client.read_frame())
            changed |= member.answered(answer)
    return changed


def _slices(members: Sequence[Member]) -> Iterator[Sequence[Member]]:
    for start in range(0, len(members), AT_ONCE):
        yield members[start : start + AT_ONCE]


def _complete(members: Sequence[Member]) -> bool:
    """All partitions have one owner each, who has not more than the others, and all are in the same epoch."""
    owned = [[partition for topic in member.owned for partition in topic.partitions] for member in members]
    even = max(map(len, owned)) <= -(-PARTITIONS // MEMBERS)
    same = len({member.epoch for member in members}) == 1
    return even and same and sorted(itertools.chain(*owned)) == list(range(PARTITIONS))
