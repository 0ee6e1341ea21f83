"""What members are told of their topologies and of the topics that these lack, beside a live Apache Kafka 4.4.0."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.security.acls import Operation, PatternType, Permission, ResourceType
from kafkawire.api import ApiKey
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.coordinator.streams.random_topologies import Cluster, topology
from tests.handlers.topic_player import Player
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import until

_CONFIG = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "group.streams.initial.rebalance.delay.ms": 0,
}
_RANDOM = 25
_DELAYED = 5
_NOT_YET = (14, 15, 16)
"""The coordinator loads, or is not there yet."""

Told = tuple[int, str | None, list[tuple[int, str]]]
"""Error code and text, and the statuses."""


@pytest.mark.oracle
def test_members_are_told_what_kafka_tells_them():
    cases = dict(_cases())
    with KafkaStub(profile="kafka", config=_CONFIG) as stub, Player(stub.bootstrap_servers) as player:
        expected = {name: _Talk(player, name).told(*case) for name, case in _prepared(player, cases)}
    with ApacheKafka(config=_CONFIG) as kafka, Player(kafka.bootstrap_servers) as player:
        for name, case in _prepared(player, cases):
            talk = _Talk(player, name)
            joined = talk.join(*case)
            # A busy broker may do what it says it could not: whoever asks again joins again, and hears what came of it.
            assert joined == expected[name][0] or (talk.asked > 1 and joined == expected[name][-1]), name
            if len(expected[name]) > 1:
                talk.settle(expected[name][1])
    texts = str(expected)
    for text in ("Creation failed", "more.", "Unauthorized to CREATE", "Internal topics are missing", "prohibited"):
        assert text in texts
    assert sum(told[-1] == (0, None, []) for told in expected.values()) > 5


Case = tuple[Topology, Endpoint | None]


class _Talk:
    """One group's only member with one broker.

    Attributes:
        asked: how many requests it has sent.
    """

    def __init__(self, player: Player, name: str) -> None:
        self._player = player
        self._name = name
        self._epoch = 0
        self.asked = 0

    def told(self, topology: Topology, endpoint: Endpoint | None) -> list[Told]:
        """What it is told when it joins, and then with its next heartbeat."""
        first = self.join(topology, endpoint)
        return [first] if first[0] else [first, self.beat()]

    def join(self, topology: Topology, endpoint: Endpoint | None) -> Told:
        """With epoch 0."""
        return self._ask(
            StreamsGroupHeartbeatRequest(
                self._name,
                "member-of-this-group-1",
                rebalance_timeout_ms=10_000,
                topology=topology,
                active_tasks=[],
                standby_tasks=[],
                warmup_tasks=[],
                process_id="p",
                user_endpoint=endpoint,
                client_tags=[],
            )
        )

    def beat(self) -> Told:
        """Nothing new."""
        return self._ask(StreamsGroupHeartbeatRequest(self._name, "member-of-this-group-1", self._epoch))

    def settle(self, last: Told) -> None:
        """Its next heartbeats are told this, once Kafka has created what it can."""
        until(lambda: self.beat() == last, lambda: f"{self._name} {last}, {self.beat()}")

    def _ask(self, request: StreamsGroupHeartbeatRequest) -> Told:
        def answered() -> Any:
            self.asked += 1
            answer: Any = self._player.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request)
            return None if answer.error_code in _NOT_YET else answer

        answer = until(answered, "the coordinator")
        self._epoch = answer.member_epoch
        statuses = [(one.status_code, one.status_detail) for one in answer.status if one.status_code != _DELAYED]
        return answer.error_code, answer.error_message, statuses


def _prepared(player: Player, cases: dict[str, tuple[Case, dict[str, int]]]) -> Iterator[tuple[str, Case]]:
    """The cases, once their source topics are there and nobody may create topics that begin with "no-"."""
    player.ask(ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    for _, counts in cases.values():
        topics = [CreatableTopic(name, count, 1) for name, count in counts.items()]
        made: Any = player.ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(topics, 30_000))
        assert not any(one.error_code for one in made.topics)
    cluster, topic = ResourceType.CLUSTER, ResourceType.TOPIC
    allowed: Any = player.ask(
        ApiKey.CREATE_ACLS,
        3,
        CreateAclsRequest(
            [
                _acl(cluster, "kafka-cluster", PatternType.LITERAL, Operation.ALL, Permission.ALLOW),
                _acl(cluster, "kafka-cluster", PatternType.LITERAL, Operation.CREATE, Permission.DENY),
                _acl(topic, "no-", PatternType.PREFIXED, Operation.DESCRIBE, Permission.ALLOW),
            ]
        ),
    )
    assert not any(one.error_code for one in allowed.results)
    last = _Talk(player, "last")
    sources = [name for _, counts in cases.values() for name in counts]
    until(lambda: last.join(Topology(0, [Subtopology("0", sources)]), None)[2] == [], "the source topics")
    for name, (case, _) in cases.items():
        yield name, case


def _acl(kind: int, name: str, pattern: int, operation: int, permission: int) -> AclCreation:
    return AclCreation(kind, name, pattern, "User:*", "*", operation, permission)


def _cases() -> Iterator[tuple[str, tuple[Case, dict[str, int]]]]:
    for name, subtopologies in _BY_HAND.items():
        yield name, ((Topology(0, subtopologies), None), {f"{name}-in": 3, f"{name}-in4": 4})
    sources = {"endpoint-in": 2}
    yield "endpoint", ((Topology(1, [Subtopology("0", ["endpoint-in"])]), Endpoint("host", 80)), sources)
    yield "lost-endpoint", ((Topology(1, [Subtopology("0", ["lost"])]), Endpoint("host", 80)), {})
    yield "negative", ((Topology(-1, [Subtopology("0", ["endpoint-in"])]), None), {})
    chance = random.Random(1071)
    for number in range(_RANDOM):
        cluster, name = Cluster(), f"random{number}"
        raw = topology(chance, cluster)
        sent = [
            Subtopology(
                one.subtopology_id,
                [f"{name}-{topic}" for topic in one.source_topics],
                [],
                [_sent(name, topic) for topic in one.state_changelog_topics],
                [f"{name}-{topic}" for topic in one.repartition_sink_topics],
                [_sent(name, topic) for topic in one.repartition_source_topics],
                [CopartitionGroup(*_positions(group)) for group in one.copartition_groups],
            )
            for one in raw.subtopologies
        ]
        counts = {f"{name}-{topic}": count for topic, count in cluster.counts.items()}
        yield name, ((Topology(raw.epoch, sent), None), counts)


def _sent(name: str, topic: Any) -> TopicInfo:
    configs = [KeyValue(one.key, one.value) for one in topic.topic_configs]
    return TopicInfo(f"{name}-{topic.name}", topic.partitions, topic.replication_factor, configs)


def _positions(group: Any) -> tuple[Any, ...]:
    return group.source_topics, group.source_topic_regex, group.repartition_source_topics


def _kept(*topics: TopicInfo, source: str) -> list[Subtopology]:
    return [Subtopology("0", [source], [], list(topics))]


_BY_HAND: dict[str, list[Subtopology]] = {
    "missing": [Subtopology("0", ["missing-in", "a", "b", "c", "d"])],
    "configs": _kept(
        TopicInfo("configs-1", 0, 0, [KeyValue("foo", "bar")]),
        TopicInfo("configs-2", 0, 3),
        TopicInfo("configs-3", 0, 0, [KeyValue("cleanup.policy", "compact")]),
        TopicInfo("configs-4", 0, 0, [KeyValue("segment.bytes", "x")]),
        TopicInfo("configs-5", 0, 0, [KeyValue("segment.bytes", "1")]),
        source="configs-in",
    ),
    "good": [
        Subtopology("0", ["good-in"], [], [TopicInfo("good-kept")], ["good-inner"]),
        Subtopology("1", ["good-in4"], [], [], [], [TopicInfo("good-inner")], [CopartitionGroup([0], [], [0])]),
    ],
    "joined": [Subtopology("0", ["joined-in", "joined-in4"], copartition_groups=[CopartitionGroup([0, 1], [], [])])],
    "prohibited": _kept(TopicInfo("__share_group_state"), TopicInfo("__consumer_offsets"), source="prohibited-in"),
    "invalid": [Subtopology("0", ["invalid-in", "a b"], [], [], ["c/d"], [TopicInfo("")])],
    "metadata": _kept(TopicInfo("__cluster_metadata"), source="metadata-in"),
    "loop": [Subtopology("0", [], [], [], ["loop-inner"], [TopicInfo("loop-inner")])],
    "unwritten": [Subtopology("0", [], [], [], [], [TopicInfo("unwritten-inner")])],
    "nothing": [Subtopology("0")],
    "empty": [],
    "given": _kept(TopicInfo("given-kept", 3), source="given-in"),
    "position": [Subtopology("0", ["position-in"], copartition_groups=[CopartitionGroup([1], [], [])])],
    "twice": [Subtopology("0", ["twice-in"]), Subtopology("0", ["twice-in"])],
    "doubled": _kept(TopicInfo("doubled-kept"), TopicInfo("doubled-kept"), source="doubled-in"),
    "regex": [Subtopology("0", ["regex-in"], ["a.*"])],
    "many": [
        Subtopology("0", ["many-in"], [], [], ["many-inner"]),
        Subtopology("1", [], [], [], [], [TopicInfo("many-inner", 15_000)]),
    ],
    "exists": _kept(TopicInfo("good-in4"), source="exists-in"),
    "forbidden": _kept(TopicInfo("no-b"), TopicInfo("no-a"), TopicInfo("forbidden-kept"), source="forbidden-in"),
}
