"""Members of streams groups over the wire: whatever has an `ask(request, version)` carries their requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest, TaskIds
from tests.handlers.streams_club import ORDERS, Tasks

Ask = Callable[[Any, int], Any]


def beat(ask: Ask, member: str = "m", epoch: int = 0, group: str = "g", tasks: Tasks | None = None, **more: Any) -> Any:
    """The answer to a heartbeat of version 1; who joins brings a topology along. `tasks` are active ones."""
    if epoch == 0:
        more = {"topology": ORDERS, "rebalance_timeout_ms": 60_000, "process_id": member, **more}
        tasks = tasks or {}
    if tasks is not None:
        some = [TaskIds(name, partitions) for name, partitions in tasks.items()]
        more = {"active_tasks": some, "standby_tasks": [], "warmup_tasks": [], **more}
    return ask(StreamsGroupHeartbeatRequest(group, member, epoch, **more), 1)


def describe(ask: Ask, *groups: str) -> Sequence[Any]:
    return ask(StreamsGroupDescribeRequest(groups), 1).groups  # type: ignore[no-any-return]


def tasks_of(member: Any) -> Tasks:
    """The active tasks of a member that is described."""
    return {one.subtopology_id: [*one.partitions] for one in member.assignment.active_tasks}
