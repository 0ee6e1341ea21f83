"""What members of streams groups are told of their tasks, beside a live Apache Kafka 4.4.0: all of each answer.

Of the classes alone it cannot be seen in which order a group hands its members to the assignor.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.streams_group_heartbeat_request import (
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from tests.coordinator.streams.random_applications import name
from tests.handlers.topic_player import Player
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import until

_CONFIG = {
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.num.standby.replicas": 1,
}
_GROUPS = 60
_COUNTS = (1, 2, 3, 5, 8, 12)
_READY = "ready"


@pytest.mark.oracle
def test_members_are_given_the_tasks_that_kafka_gives_them():
    with KafkaStub(profile="kafka", config=_CONFIG) as stub, Player(stub.bootstrap_servers) as player:
        _prepare(player)
        expected = [beat for seed in range(_GROUPS) for beat in _History(seed, player).beats()]
    with ApacheKafka(config=_CONFIG) as kafka, Player(kafka.bootstrap_servers) as player:
        _prepare(player)
        for request, answer in expected:
            assert _ask(player, request) == answer, request
    assert len(expected) > _GROUPS * 20
    assert sum(bool(answer.standby_tasks) for _, answer in expected) > _GROUPS


@dataclass
class _Member:
    member_id: str
    process_id: str
    epoch: int = 0
    tasks: list[list[TaskIds]] = field(default_factory=lambda: [[], [], []])


class _History:
    """One group at random: threads come and go, tell what they have, or how far they have come."""

    def __init__(self, seed: int, player: Player) -> None:
        self._chance = chance = random.Random(seed)
        self._group_id = f"application-{seed}"
        self._player = player
        self._processes = [name(chance) for _ in range(chance.choice((1, 2, 3, 6)))]
        few = chance.sample([str(number) for number in range(20)] + ["A", "store"], chance.choice((1, 2, 3, 4, 14)))
        self._topology = Topology(0, [_subtopology(one, chance.choice(_COUNTS), chance.random() < 0.6) for one in few])
        self._members: dict[str, _Member] = {}

    def beats(self) -> Iterator[tuple[StreamsGroupHeartbeatRequest, Any]]:
        """What is asked, and what the broker answers."""
        for _ in range(self._chance.choice((20, 40, 60))):
            what = self._chance.choice(
                ("join", "join", "told", "told", "told", "told", "told", "quiet", "offsets", "leave")
            )
            member = self._join() if what == "join" or not self._members else self._any()
            if what == "leave" and member.epoch:
                member.epoch = -1
            request = self._request(member, what)
            answer = _ask(self._player, request)
            assert answer.error_code == 0
            yield request, answer
            self._learn(member, answer)

    def _join(self) -> _Member:
        if len(self._members) > 12:
            return self._any()
        member = _Member(name(self._chance), self._chance.choice(self._processes))
        return self._members.setdefault(member.member_id, member)

    def _any(self) -> _Member:
        return self._members[self._chance.choice(list(self._members))]

    def _request(self, member: _Member, what: str) -> StreamsGroupHeartbeatRequest:
        request = StreamsGroupHeartbeatRequest(self._group_id, member.member_id, member.epoch)
        if member.epoch == 0:
            request.rebalance_timeout_ms = 60_000
            request.topology = self._topology
            request.process_id = member.process_id
            request.client_tags = [KeyValue("zone", member.process_id)]
        if member.epoch == 0 or what == "told":
            request.active_tasks, request.standby_tasks, request.warmup_tasks = member.tasks
        if what == "offsets":
            ids = [one.subtopology_id for one in self._topology.subtopologies][:2]
            request.task_offsets = [TaskOffset(i, p, self._chance.choice((0, 5, 9))) for i in ids for p in (0, 1)]
        return request

    def _learn(self, member: _Member, answer: Any) -> None:
        if member.epoch < 0:
            del self._members[member.member_id]
            return
        member.epoch = answer.member_epoch
        if answer.active_tasks is not None:
            roles = answer.active_tasks, answer.standby_tasks, answer.warmup_tasks
            member.tasks = [[TaskIds(one.subtopology_id, one.partitions) for one in role] for role in roles]


def _subtopology(subtopology_id: str, count: int, stateful: bool) -> Subtopology:
    changelogs: Sequence[TopicInfo] = [TopicInfo(f"changelog-{count}")] if stateful else []
    return Subtopology(subtopology_id, [f"source-{count}"], [], changelogs)


def _prepare(player: Player) -> None:
    """Topics, and a coordinator that knows of them."""
    player.ask(ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=[_READY]))
    names = [(f"{kind}-{count}", count) for count in _COUNTS for kind in ("source", "changelog")]
    topics = [CreatableTopic(topic, count, 1) for topic, count in names]
    made: Any = player.ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(topics, 30_000))
    assert not any(one.error_code for one in made.topics)
    every = Topology(0, [_subtopology(str(count), count, True) for count in _COUNTS])
    numbers = iter(range(1_000_000))

    def ready() -> bool:
        request = StreamsGroupHeartbeatRequest(f"{_READY}-{next(numbers)}", "probe", 0, rebalance_timeout_ms=60_000)
        request.topology, request.process_id, request.client_tags = every, "p", []
        request.active_tasks, request.standby_tasks, request.warmup_tasks = [], [], []
        answer = _ask(player, request)
        return not answer.error_code and not answer.status

    until(ready, "the coordinator, and topics that it knows of")


def _ask(player: Player, request: StreamsGroupHeartbeatRequest) -> Any:
    return player.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request)
