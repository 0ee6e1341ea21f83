"""Streams groups in a data directory (KIP-1071): whatever members did is there after a kill, and they go on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.state.internal_topics import durable_topic
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_request import (
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    TaskIds,
    Topology,
)
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from tests.handlers.streams_club import repartitioned, topology
from tests.offsets_topic.history import Player
from tests.persistence.killing import the_same_after_every_kill

RUNS: dict[str, Topology] = {
    "g": repartitioned(),
    "h": topology(one="orders", two="customers -two-log"),
    "i": topology(3, one="orders customers"),
}
TOPICS = {"orders": 4, "customers": 2}
CONFIG: dict[str, object] = {
    "offsets.topic.num.partitions": 2,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.num.standby.replicas": 1,
    "kafkastub.offsets.history.records": 60,
}


class Crowd:
    """Members that come, do what they are told, and go, at random: epochs by group and member id."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.epochs: dict[tuple[str, str], int] = {}
        self.tasks: dict[tuple[str, str], list[Any]] = {}
        self._count = 0

    def step(self, on: Player) -> None:
        (act,) = self.random.choices([self.join, self.beat, self.leave, self.delete], [4, 25, 3, 1])
        act(on)

    def _ask(self, on: Player, who: tuple[str, str], epoch: int, **more: Any) -> None:
        if epoch >= 0:
            active, standby = self.tasks.get(who, ([], []))
            more = {"active_tasks": active, "standby_tasks": standby, "warmup_tasks": [], **more}
        answer = on.ask(StreamsGroupHeartbeatRequest(*who, epoch, **more), 1, StreamsGroupHeartbeatResponse)
        assert answer.error_code == 0, answer
        self.epochs[who] = answer.member_epoch
        if answer.active_tasks is not None:
            told = (answer.active_tasks, answer.standby_tasks or ())
            self.tasks[who] = [[TaskIds(one.subtopology_id, one.partitions) for one in some] for some in told]

    def join(self, on: Player) -> None:
        self._count += 1
        group, member = self.random.choice(sorted(RUNS)), f"member-{self._count}"
        self._ask(
            on, (group, member), 0, topology=RUNS[group], rebalance_timeout_ms=60_000, process_id=f"p{self._count % 3}",
            client_tags=[KeyValue("zone", member)], rack_id=self.random.choice([None, "r"]),
            user_endpoint=self.random.choice([None, Endpoint(member, 9)]),
            instance_id=self.random.choice([None, f"i-{member}"]),
        )  # fmt: skip

    def beat(self, on: Player) -> None:
        for who in self.random.sample(sorted(self.epochs), min(3, len(self.epochs))):
            self._ask(on, who, self.epochs[who])

    def leave(self, on: Player) -> None:
        if self.epochs:
            who = self.random.choice(sorted(self.epochs))
            self._ask(on, who, -1)
            del self.epochs[who]
            self.tasks.pop(who, None)

    def delete(self, on: Player) -> None:
        on.delete_groups(*(group for group in RUNS if not any(group == of for of, _ in self.epochs)))

    def told(self, on: Player) -> list[str]:
        """Each group as StreamsGroupDescribe tells it, but for what a coordinator has to look at anew."""
        on.await_coordinator(*RUNS)  # groups may still be read from the disk
        answer = on.ask(StreamsGroupDescribeRequest(sorted(RUNS)), 1, StreamsGroupDescribeResponse)
        return sorted(
            f"{one.group_id} {one.group_state} {one.group_epoch} {one.assignment_epoch} "
            f"{None if one.topology is None else one.topology.epoch} "
            f"{sorted(one.members, key=lambda member: member.member_id)}"
            for one in answer.groups
        )


def begin(on: Player) -> None:
    on.create(**TOPICS)
    on.await_coordinator(*RUNS)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_same_after_every_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 4_000)
    the_same_after_every_kill(Crowd(seed), begin, CONFIG, tmp_path)


@pytest.mark.parametrize("seed", range(2))
def test_a_coordinator_that_moves_knows_what_the_log_says(seed: int) -> None:
    crowd = Crowd(seed)
    with KafkaStub(config=CONFIG, nodes=2) as stub, closing(Player(stub.nodes[1].bootstrap_servers)) as on:
        on.create(**TOPICS)
        for group in RUNS:
            stub.nodes.move_coordinator(group, 1)
        on.await_coordinator(*RUNS)
        for _ in range(60):
            crowd.step(on)
        before = crowd.told(on)
        for node in (2, 1):
            for group in RUNS:
                stub.nodes.move_coordinator(group, node)
        assert crowd.told(on) == before
        for _ in range(20):
            crowd.step(on)
