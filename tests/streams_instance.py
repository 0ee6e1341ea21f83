"""An instance of a Kafka Streams application, of one thread, as far as a broker hears of it: its heartbeats."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

from kafkastub.client import Client
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_heartbeat_request import (
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)

QUICK: Final[dict[str, object]] = {
    "group.streams.min.heartbeat.interval.ms": 50,
    "group.streams.heartbeat.interval.ms": 50,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
}
COMPACTED: Final = KeyValue("cleanup.policy", "compact")
ROLES: Final = ("active_tasks", "standby_tasks", "warmup_tasks")


def words(source: str = "lines", group: str = "app") -> Topology:
    """Words are counted: lines, repartitioned by word, and a store of counts."""
    repartition = f"{group}-words-repartition"
    first = Subtopology("0", source_topics=[source], repartition_sink_topics=[repartition])
    second = Subtopology(
        "1",
        repartition_source_topics=[TopicInfo(repartition)],
        state_changelog_topics=[TopicInfo(f"{group}-counts-changelog", topic_configs=[COMPACTED])],
    )
    return Topology(0, [first, second])


class Instance:
    """It takes what it is given, and lets go of what it is to let go of, heartbeat by heartbeat."""

    def __init__(self, servers: str, name: str, group: str = "app", topology: Topology | None = None) -> None:
        self._client = Client(servers, client_id=name)
        self.group, self.name, self.epoch = group, name, 0
        self.topology = words(group=group) if topology is None else topology
        self.tasks: dict[str, list[TaskIds]] = {role: [] for role in ROLES}
        self.answer: Any = None

    def beat(self, **more: Any) -> Any:
        """One heartbeat, and its answer."""
        if self.epoch == 0:
            more = {
                "topology": self.topology,
                "rebalance_timeout_ms": 60_000,
                "process_id": f"process-{self.name}",
                **more,
            }
        request = StreamsGroupHeartbeatRequest(self.group, self.name, self.epoch, **{**self.tasks, **more})
        answer = self.answer = self._client.ask_coordinator(self.group, request)
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.epoch, self.tasks = 0, {role: [] for role in ROLES}
        elif not answer.error_code:
            self.epoch = answer.member_epoch
            for role in ROLES:
                if getattr(answer, role) is not None:
                    self.tasks[role] = list(getattr(answer, role))
        return answer

    def tell_offsets(self, offsets: Sequence[TaskOffset], end_offsets: Sequence[TaskOffset]) -> None:
        """How far its copies are."""
        self.beat(task_offsets=list(offsets), task_end_offsets=list(end_offsets))

    def leave(self) -> None:
        self.epoch = -1
        self.beat()
        self.epoch = 0
        self.tasks = {role: [] for role in ROLES}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._client.close()


def settle(*instances: Instance) -> None:
    """Heartbeats of all, until nothing changes any more."""
    for _ in range(5):
        for one in instances:
            one.beat()
