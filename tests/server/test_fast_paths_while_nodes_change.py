"""What is told of the cluster is told anew whenever it changes: nodes, addresses, leaders, topics, features.

Random histories on two brokers, one of them without fast paths, and every answer of both compared. Beside that, what
changes a node or a partition is caught where it does not count the change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafkastub.layers.fast_paths.table import FAST_PATHS
from kafkastub.metadata import Cluster, Node, PartitionState
from kafkastub.state.configs.entries import ResourceType as ConfigType
from kafkastub.state.leadership import (
    elect,
    move_leader,
    node_added,
    node_started,
    node_stopped,
    node_unregistered,
    reassign,
)
from kafkawire.api import ApiKey
from kafkawire.errors import KafkaError
from kafkawire.messages.incremental_alter_configs_request import AlterableConfig as Change
from kafkawire.messages.incremental_alter_configs_request import AlterConfigsResource as Changed
from kafkawire.messages.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.server.changing import ADMIN, TOPICS, USERS, Both, Broker
from tests.server.changing_play import Play

STEPS = 300
HEARTBEATS = {ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT}
LEARNING = {key for key, one in FAST_PATHS.items() if one.learns} - HEARTBEATS
LISTENERS = ("PLAINTEXT", "OTHER")


class NodesPlay(Play):
    """Clients look; nodes come, go and move."""

    def __init__(self, both: Both) -> None:
        super().__init__(both)
        self.usual = {self.look: 20, self.restart: 1, self.commit: 1, self.produce: 1}
        self.changes = {
            self.nodes: 6, self.addresses: 3, self.leaders: 5, self.topics: 4, self.features: 3, self.quotas: 1,
            self.creation: 2, self.listener: 2,
        }  # fmt: skip
        self.everywhere(_one_more)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step(self.changes if self.chance(0.25) else self.usual)
        self.both.compare()

    def everywhere(self, what: Any) -> None:
        """On both; what one refuses, the other does."""
        refused = []
        for broker in self.both.brokers:
            try:
                what(broker)
                refused.append("")
            except (KafkaError, ValueError) as error:
                refused.append(str(error))
        assert refused[0] == refused[1]

    def nodes(self) -> None:
        cluster = self.both.straight.state.cluster
        change, node_id = self.pick(node_stopped, node_started, node_unregistered, None), self.pick(*cluster.nodes)

        def do(broker: Broker) -> None:
            state, now = broker.state, (broker.desk.broker_ms, broker.desk.timer_ms)
            if change is not None:
                change(state, node_id, now)
            elif len(state.cluster.nodes) < 3:
                _one_more(broker)
            elif not state.cluster.is_alive(max(state.cluster.nodes)):
                state.cluster.remove_node(max(state.cluster.nodes))
            broker.dispatcher.forget_routes()

        if change is node_started or node_id != 1 or change is None:
            self.everywhere(do)

    def addresses(self) -> None:
        node_id, port = self.pick(*self.both.straight.state.cluster.nodes), self.random.randrange(1, 1000)
        endpoints = dict.fromkeys(LISTENERS[: self.pick(1, 2)], ("127.0.0.1", port))

        def do(broker: Broker) -> None:
            broker.state.cluster.nodes[node_id].endpoints = endpoints

        self.everywhere(do)

    def leaders(self) -> None:
        name, how = self.pick(*TOPICS, "__consumer_offsets"), self.pick("move", "elect", "reassign")
        node_id = self.pick(*self.both.straight.state.cluster.nodes)

        def do(broker: Broker) -> None:
            state, now = broker.state, (broker.desk.broker_ms, broker.desk.timer_ms)
            topic = state.cluster.topic(name)
            if topic is None:
                return
            if how == "move":
                move_leader(state, topic, 0, node_id, now)
            elif how == "elect":
                elect(state, topic, topic.partitions[0], now, preferred=True)
            else:
                reassign(state, topic, topic.partitions[0], [node_id], now)

        self.everywhere(do)

    def creation(self) -> None:
        """Whether topics that are not there are made, a moment later."""
        change = Change("auto.create.topics.enable", 0, self.pick("true", "false"))
        self.both.ask(ADMIN, IncrementalAlterConfigsRequest([Changed(ConfigType.BROKER, "", [change])]), 1)
        asked = [MetadataRequestTopic(name=self.pick("nope", "made"))]
        self.both.ask(ADMIN, MetadataRequest(asked, self.chance(0.5)), 9)

    def listener(self) -> None:
        """A client comes in elsewhere, or on another node."""
        user, listener = self.pick(*USERS), self.pick(*LISTENERS)
        node_id = self.pick(*self.both.straight.state.cluster.nodes)
        for broker in self.both.brokers:
            info = broker.on(user)
            info.listener, info.node_id = listener, node_id


def _one_more(broker: Broker) -> None:
    number = max(broker.state.cluster.nodes) + 1
    node_added(broker.state, Node(number, "127.0.0.1", 9091 + number))
    broker.dispatcher.forget_routes()


class Caught:
    """What was changed, and whether that was counted, between two requests."""

    def __init__(self) -> None:
        self.changed = 0


@contextmanager
def catching(both: Both, monkeypatch: pytest.MonkeyPatch) -> Iterator[Caught]:
    """Every partition and controller that changes does so between two versions of the cluster."""
    caught, cluster = Caught(), both.straight.state.cluster
    changed: list[str] = []
    last = cluster.version

    def noting(kind: type) -> Any:
        plain = kind.__setattr__

        def set_it(self: Any, name: str, value: Any) -> None:
            before = getattr(self, name, None)
            plain(self, name, value)
            if before is not None and before != value and name not in ("elr", "adding", "removing", "last_leader"):
                changed.append(name)

        return set_it

    plain_say = both.straight.say

    def say(user: str, whole: bytes) -> Any:
        nonlocal last
        found = plain_say(user, whole)
        assert not changed or cluster.version != last, f"{changed} changed, and nobody counted it"
        caught.changed += len(changed)
        changed.clear()
        last = cluster.version
        return found

    monkeypatch.setattr(PartitionState, "__setattr__", noting(PartitionState))
    monkeypatch.setattr(Cluster, "__setattr__", noting(Cluster))
    monkeypatch.setattr(both.straight, "say", say)
    yield caught


def played(seed: int) -> Both:
    both = Both(seed, guarded=False)
    NodesPlay(both).run(STEPS)
    return both


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_the_same_with_fast_paths_and_without(seed: int, monkeypatch: pytest.MonkeyPatch):
    both = Both(seed, guarded=False)
    play = NodesPlay(both)
    with catching(both, monkeypatch) as caught:
        play.run(STEPS)
    assert both.told
    assert caught.changed


def test_each_of_them_is_taken_in_these_histories():
    straight = Counter[ApiKey]()
    for seed in range(20, 26):
        straight += played(seed).straight.counting.straight
    assert straight.keys() >= LEARNING


def test_an_answer_that_is_kept_is_given_to_the_same_bytes_alone():
    both = Both(1, guarded=False)
    both.spoils = 0
    for name in ("orders", "other", "orders", "other"):
        answer = both.ask("User:a", MetadataRequest([MetadataRequestTopic(name=name)]), 9)
        assert [topic.name for topic in answer.topics] == [name]
    assert both.straight.counting.straight[ApiKey.METADATA] == 2


def test_many_requests_do_not_grow_it_without_end():
    both = Both(1, guarded=False)
    both.spoils = 0
    for number in range(200):
        both.ask("User:a", MetadataRequest([MetadataRequestTopic(name="orders")] * (number + 1)), 9)
    route = next(route for route in both.straight.dispatcher.routes() if route.key == ApiKey.METADATA)
    known: Any = route.memory
    assert known is not None
    assert max(map(len, known._known["PLAINTEXT"])) <= 1 << 10
