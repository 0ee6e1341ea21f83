"""What cases about streams groups have in common: a member, its topology, and the tasks that it is given (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkawire.errors import ErrorCode as E

GROUP = 32
"""The type of a group as a resource that has a configuration."""

AT_ONCE = {"streams.initial.rebalance.delay.ms": "0", "streams.assignment.interval.ms": "0"}
"""What a group is told to be, so that its members are assigned by their heartbeats."""

STALE_TOPOLOGY, MISSING_SOURCES, WRONG_PARTITIONS, MISSING_INTERNAL, SHUT_DOWN, DELAYED, MISSING_TAGS = range(7)
"""Codes of the statuses in answers to heartbeats."""

KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")
NOTHING: dict[str, Any] = {kind: [] for kind in KINDS}

Tasks = dict[str, list[int]]
"""Partitions by subtopology."""


def subtopology(number: str, *sources: Topic, **more: Any) -> dict[str, Any]:
    """One subtopology that reads these topics."""
    return {"subtopology_id": number, "source_topics": [topic.name for topic in sources], **more}


def topology(*subtopologies: Mapping[str, Any], epoch: int = 1) -> dict[str, Any]:
    """A topology."""
    return {"epoch": epoch, "subtopologies": list(subtopologies)}


def internal(name: str, partitions: int = 0, **configs: str) -> dict[str, Any]:
    """A topic that the broker is to make; `cleanup_policy="compact"` is its configuration `cleanup.policy`."""
    rows = [{"key": key.replace("_", "."), "value": value} for key, value in configs.items()]
    return {"name": name, "partitions": partitions, "topic_configs": rows}


class Streamer:
    """A member of a streams group, whose requests go at the version of the run where the case is about them.

    Its group is told to assign at once.
    """

    def __init__(
        self, on: Broker, topology: Mapping[str, Any], group: str = "", name: str = "m1", instance: str | None = None
    ) -> None:
        on.needs("StreamsGroupHeartbeat", "StreamsGroupDescribe")
        self.on = on
        self.topology = topology
        self.group = group or on.group()
        self.name = name
        self.instance = instance
        self.epoch = 0
        self.tasks: dict[str, Tasks] = {kind: {} for kind in KINDS}
        on.cluster.groups.add(self.group)
        if not group:
            configure(on, self.group, **AT_ONCE)

    def another(self, name: str = "m2", instance: str | None = None) -> Streamer:
        """Another member of the same group."""
        return Streamer(self.on, self.topology, self.group, name, instance)

    def beat(self, epoch: int | None = None, **changes: Any) -> Answer:
        """A heartbeat, with nothing but who it is and what is said; nothing is learned from the answer."""
        body = {
            "group_id": self.group,
            "member_id": self.name,
            "member_epoch": self.epoch if epoch is None else epoch,
            "instance_id": self.instance,
        }
        return self.on.ask("StreamsGroupHeartbeat", **{**body, **changes})

    def first(self, **changes: Any) -> Answer:
        """The heartbeat that joins."""
        body = {
            "topology": self.topology,
            "rebalance_timeout_ms": 60_000,
            "process_id": f"process of {self.name}",
            **NOTHING,
        }
        return self.beat(0, **{**body, **changes})

    def join(self, **changes: Any) -> Answer:
        """Join, without an error."""
        return self._learned(self.first(**changes))

    def follow(self, **changes: Any) -> Answer:
        """The next heartbeat, which tells what it has, without an error."""
        return self._learned(self.beat(**{**self.reported(), **changes}))

    def leave(self, epoch: int = -1) -> None:
        """Leave."""
        expect(self.beat(epoch), error_code=E.NONE, member_epoch=epoch)

    def reported(self) -> dict[str, Any]:
        """What it has, as a heartbeat tells it."""
        return {
            kind: [{"subtopology_id": one, "partitions": partitions} for one, partitions in tasks.items()]
            for kind, tasks in self.tasks.items()
        }

    def has(self, subtopology_id: str = "0", kind: str = KINDS[0]) -> list[int]:
        """Its tasks of a subtopology."""
        return self.tasks[kind].get(subtopology_id, [])

    def assigned(self, *partitions: int, of: str = "0") -> Streamer:
        """Beat until it has these active tasks. Raises Mismatch."""
        self.on.in_time(lambda: bool(self.follow() and self.has(of) == list(partitions)), every=0.03)
        expect_that(f"its tasks of {of}", self.has(of), list(partitions))
        return self

    def _learned(self, answer: Answer) -> Answer:
        expect(answer, error_code=E.NONE)
        self.epoch = int(answer.member_epoch)
        for kind in KINDS:
            told = getattr(answer, kind)
            if told is not None:
                self.tasks[kind] = {one.subtopology_id: sorted(one.partitions) for one in told}
        return answer


def streaming(on: Broker, **more: Any) -> Streamer:
    """A member that has all tasks of a topology that reads a topic of three partitions."""
    member = Streamer(on, topology(subtopology("0", on.some_topic(), **more)))
    member.join()
    return member.assigned(0, 1, 2)


def configure(on: Broker, group: str, **configs: str) -> None:
    """Set configurations of a group, and wait until the broker tells them."""
    on.cluster.resources.add((GROUP, group))
    named = {name.replace("_", "."): value for name, value in configs.items()}
    rows = [{"name": name, "config_operation": 0, "value": value} for name, value in named.items()]
    answer = on.ask(
        "IncrementalAlterConfigs", resources=[{"resource_type": GROUP, "resource_name": group, "configs": rows}]
    )
    expect_that("error_code of IncrementalAlterConfigs", answer.responses[0].error_code, E.NONE)
    asked = [{"resource_type": GROUP, "resource_name": group, "configuration_keys": list(named)}]

    def is_configured() -> bool:
        result = on.ask("DescribeConfigs", resources=asked).results[0]
        return {one.name: one.value for one in result.configs} == named

    expect_that("whether the configuration is told", on.in_time(is_configured), True)


def statuses(answer: Answer) -> list[tuple[int, str]]:
    """The statuses in an answer to a heartbeat: code and text."""
    return [(int(one.status_code), one.status_detail) for one in answer.status or ()]


def tasks_of(rows: Sequence[Any]) -> Tasks:
    """Tasks as an answer has them."""
    return {one.subtopology_id: sorted(one.partitions) for one in rows}


def described(on: Broker, group: str) -> Any:
    """What StreamsGroupDescribe says of a group."""
    return on.ask("StreamsGroupDescribe", group_ids=[group]).groups[0]


def make(on: Broker, name: str, partitions: int) -> None:
    """Make a topic of that name."""
    row = {"name": name, "num_partitions": partitions, "replication_factor": 1}
    expect_that("error_code", on.ask("CreateTopics", topics=[row], timeout_ms=10_000).topics[0].error_code, E.NONE)
