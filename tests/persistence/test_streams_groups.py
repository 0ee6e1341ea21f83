"""Streams groups in a data directory (KIP-1071): whatever members did is there after a kill, and they go on."""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.state.internal_topics import durable_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import DescribedGroup, StreamsGroupDescribeResponse
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
from tests.persistence.killing import copied
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving
from tests.streams_groups.asking import beat, describe
from tests.waiting import SECONDS, until

TOPICS = {"orders": 4, "customers": 4, "other": 3}
TOPOLOGIES: dict[str, Topology] = {
    "g": topology(one="orders -g-store", two="other"),
    "h": repartitioned(),
    "i": topology(epoch=3, one="nope orders"),
}
"""By group; the last one lacks a topic, so that nobody gets tasks."""
GROUPS = tuple(TOPOLOGIES)
CONFIG: dict[str, object] = {
    "offsets.topic.num.partitions": 2,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "kafkastub.offsets.history.records": 60,
}
_GROUP_RESOURCE = 32


class Crowd:
    """Members that come, change, go, stay away for a while and let go of tasks, at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.epochs: dict[tuple[str, str], int] = {}
        self.tasks: dict[tuple[str, str], list[list[TaskIds]]] = {}
        """What each has: active, standby and warm-up tasks, as last told."""
        self.instances: dict[tuple[str, str], str] = {}
        self._away: dict[tuple[str, str], str] = {}
        """Static members that are to come back, with another member id."""
        self._count = 0

    def step(self, on: Player) -> None:
        acts = [self.join, self.beat, self.change, self.leave, self.stay_away, self.come_back, self.delete]
        (act,) = self.random.choices(acts, [4, 24, 3, 3, 2, 3, 1])
        act(on)

    def _ask(self, on: Player, who: tuple[str, str], epoch: int, **more: Any) -> StreamsGroupHeartbeatResponse:
        request = StreamsGroupHeartbeatRequest(*who, epoch, instance_id=self.instances.get(who), **more)
        answer = on.ask(request, 1, StreamsGroupHeartbeatResponse)
        assert answer.error_code == 0, answer
        if epoch >= 0:
            self.epochs[who] = answer.member_epoch
            if answer.active_tasks is not None:
                told = answer.active_tasks, answer.standby_tasks, answer.warmup_tasks
                self.tasks[who] = [[TaskIds(one.subtopology_id, one.partitions) for one in some or ()] for some in told]
        else:
            del self.epochs[who]
        return answer

    def _owned(self, who: tuple[str, str]) -> dict[str, Any]:
        names = "active_tasks", "standby_tasks", "warmup_tasks"
        return dict(zip(names, self.tasks.get(who, [[], [], []]), strict=True))

    def _like(self) -> dict[str, Any]:
        """What a member may say of itself at any time."""
        return {
            "process_id": self.random.choice(("p", "q", "r")),
            "rack_id": self.random.choice((None, "east")),
            "user_endpoint": self.random.choice((None, Endpoint("here", self.random.randint(1, 9)))),
            "client_tags": [KeyValue("zone", self.random.choice("ab"))],
        }

    def _begin(self, on: Player, who: tuple[str, str]) -> None:
        self.tasks.pop(who, None)
        more = {**self._owned(who), **self._like()}
        if who[0] == "i":
            more["user_endpoint"] = None  # whose tasks nobody can tell without the topics
        self._ask(on, who, 0, rebalance_timeout_ms=600_000, topology=TOPOLOGIES[who[0]], **more)

    def join(self, on: Player) -> None:
        self._count += 1
        who = self.random.choice(GROUPS), f"member-{self._count}"
        if self.random.random() < 0.4:
            self.instances[who] = f"instance-{self._count}"
        self._begin(on, who)

    def beat(self, on: Player) -> None:
        for who in self.random.sample(sorted(self.epochs), min(3, len(self.epochs))):
            self._ask(on, who, self.epochs[who], **(self._owned(who) if self.random.random() < 0.7 else {}))

    def change(self, on: Player) -> None:
        if some := [who for who in sorted(self.epochs) if who[0] != "i"]:
            who = self.random.choice(some)
            self._ask(on, who, self.epochs[who], **self._like())

    def leave(self, on: Player) -> None:
        if self.epochs:
            who = self.random.choice(sorted(self.epochs))
            self._ask(on, who, -1)
            self.instances.pop(who, None)

    def stay_away(self, on: Player) -> None:
        if some := sorted(who for who in self.epochs if who in self.instances):
            who = self.random.choice(some)
            self._ask(on, who, -2)
            self._away[who] = self.instances.pop(who)

    def come_back(self, on: Player) -> None:
        if self._away:
            group, member = self.random.choice(sorted(self._away))
            who = group, f"{member}-again"
            self.instances[who] = self._away.pop((group, member))
            self._begin(on, who)

    def delete(self, on: Player) -> None:
        there = {group for group, _ in (*self.epochs, *self._away)}
        on.delete_groups(*(group for group in GROUPS if group not in there))

    def answers(self, on: Player) -> list[str]:
        """What each member hears in a heartbeat that says all that it has.

        How often endpoints have changed is in no record, in Kafka neither.
        """
        heard = []
        for who in sorted(self.epochs):
            answer = self._ask(on, who, self.epochs[who], **self._owned(who))
            answer.endpoint_information_epoch, answer.partitions_by_user_endpoint = 0, None
            heard.append(str(answer))
        return heard

    def told(self, on: Player) -> list[str]:
        """Each group as StreamsGroupDescribe tells it, but for what is known only once a member has asked again."""

        def loaded() -> list[DescribedGroup] | None:
            groups = on.ask(StreamsGroupDescribeRequest(GROUPS), 1, StreamsGroupDescribeResponse).groups
            return None if any(one.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS for one in groups) else groups

        return sorted(map(_kept, until(loaded, "a coordinator that is loaded")))


def _kept(group: DescribedGroup) -> str:
    """What the records say."""
    members = sorted(group.members, key=lambda member: member.member_id)
    names = [part.subtopology_id for part in group.topology.subtopologies] if group.topology is not None else None
    state = group.group_state if group.group_state == "Empty" else ""
    epochs = group.error_code, group.group_epoch, group.assignment_epoch
    return f"{group.group_id} {state} {epochs} {names} {members}"


def begin(on: Player) -> None:
    on.create(**TOPICS)
    on.await_coordinator(*GROUPS)
    standby = [AlterableConfig("streams.num.standby.replicas", 0, "1")]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(_GROUP_RESOURCE, "g", standby)])
    assert on.ask(request, 1, IncrementalAlterConfigsResponse).responses[0].error_code == 0


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_same_after_every_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A copy of the files at some moment is what a process leaves that is killed then; cleaning goes on meanwhile."""
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 4_000)
    crowd, data = Crowd(seed), tmp_path / "data"
    with KafkaStub(config=CONFIG, data_dir=data) as stub, closing(Player(stub.bootstrap_servers)) as on:
        begin(on)
        for killed in range(4):
            for _ in range(40):
                crowd.step(on)
            before, epochs, tasks = crowd.told(on), {**crowd.epochs}, {**crowd.tasks}
            copy = tmp_path / f"killed-{killed}"
            copied(data, copy)
            heard = crowd.answers(on)
            with KafkaStub(config=CONFIG, data_dir=copy) as again, closing(Player(again.bootstrap_servers)) as other:
                assert crowd.told(other) == before
                crowd.epochs, crowd.tasks = epochs, tasks
                assert crowd.answers(other) == heard
                assert crowd.told(other) == crowd.told(on)
        before = crowd.told(on)
    with KafkaStub(config=CONFIG, data_dir=data) as stub, closing(Player(stub.bootstrap_servers)) as on:
        assert crowd.told(on) == before
        for _ in range(40):
            crowd.step(on)
        assert crowd.told(on) != before


def test_members_go_on_with_a_killed_process(tmp_path: Path) -> None:
    settings = [f"{name}={value}" for name, value in CONFIG.items()]
    options = ["--data-dir", str(tmp_path), "--config", *settings]
    crowd = Crowd(7)
    with Serving(*options) as process:
        with closing(Player(process.servers)) as on:
            begin(on)
            for _ in range(60):
                crowd.step(on)
            before = crowd.told(on)
        process.process.kill()
        process.process.wait()
    with Serving(*options) as process, closing(Player(process.servers)) as on:
        assert crowd.told(on) == before
        for _ in range(60):
            crowd.step(on)


def test_killed_in_the_middle_of_heartbeats(tmp_path: Path) -> None:
    """What a member has been told is there: it goes on with the epoch that it knows, or the one behind it."""
    options = ["--data-dir", str(tmp_path), "--topic", "orders:4", "--config"]
    options += [f"{name}={value}" for name, value in CONFIG.items()]
    told: dict[str, int] = {}
    enough = threading.Event()
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:

        def beats() -> None:
            with suppress(OSError):
                for number in count():
                    name = f"member-{number % 20}"
                    answer = beat(on.ask_loaded, name)
                    assert answer.error_code == 0, answer
                    told[name] = answer.member_epoch
                    if number > 100:
                        enough.set()

        thread = threading.Thread(target=beats)
        thread.start()
        assert enough.wait(SECONDS)
        process.process.kill()
        process.process.wait()
        thread.join()
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        beat(on.ask_loaded, "later", group="other")
        (group,) = describe(on.ask, "g")
        found = {one.member_id: one.member_epoch for one in group.members}
        assert len(found) == len(told) == 20
        assert all(epoch <= found[name] for name, epoch in told.items())
        assert group.group_epoch - max(told.values()) <= 1
