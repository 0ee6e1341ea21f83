"""`stub.streams_groups`: groups of Kafka Streams applications: their topologies, missing topics and tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kafkastub.stub.errors import StubError
from kafkastub.stub.of_groups import ConfiguredGroups, GroupOfType, check_wait, of_one
from kafkastub.views.streams_group_waits import Wanted
from kafkastub.views.streams_groups import (
    StreamsGroupView,
    StreamsMemberView,
    TaskView,
    TopologyView,
    ask_for_shutdown,
    task_view,
    view,
)

Task = tuple[str, int]

STATUSES: Final = ("MISSING_SOURCE_TOPICS", "INCORRECTLY_PARTITIONED_TOPICS", "MISSING_INTERNAL_TOPICS")
"""The statuses of a group that lacks something."""


class StubStreamsGroup(GroupOfType[StreamsGroupView, StreamsMemberView], Mapping[Task, TaskView]):
    """One streams group. Every attribute is the present value. Raises KeyError if the group is gone.

    `group["0", 1]` is the present state of a task: partition 1 of subtopology 0. Iterating returns all tasks whose
    number is known. You can name a member by its member id, its group instance id, or its client id.
    """

    _kind = "streams group"
    _look = staticmethod(view)

    @property
    def target_epoch(self) -> int:
        """The epoch of the target assignment."""
        return self.view().target_epoch

    @property
    def topology(self) -> TopologyView | None:
        """The topology, with its subtopologies and the topics that it lacks."""
        return self.view().topology

    @property
    def status(self) -> str | None:
        """The status that its members receive: "MISSING_SOURCE_TOPICS". None if the group lacks nothing."""
        return self.view().status

    @property
    def shutdown_by(self) -> str | None:
        """The id of the member that has requested the shutdown of the application. None without a request."""
        return self.view().shutdown_by

    def __getitem__(self, task: Task) -> TaskView:
        """A task: who works on it, and who keeps its state. Raises KeyError for one that there is not, TypeError."""
        checked = _task(task)
        return self._done(lambda broker, found: task_view(broker.state, found, checked))

    def __iter__(self) -> Iterator[Task]:
        return iter(self.view().tasks)

    def __len__(self) -> int:
        return len(self.view().tasks)

    def shut_down(self, member: str) -> None:
        """Request the shutdown of the application for this member, as an exception handler with SHUTDOWN_APPLICATION
        does.

        Every member is informed from its next heartbeat on, until the group is empty. Raises KeyError for a member that
        does not exist.
        """
        of_one(self._runner, lambda broker: ask_for_shutdown(broker.state, self.group_id, member))

    def __repr__(self) -> str:
        try:
            found = self.view()
        except (KeyError, StubError):
            return f"<streams group {self.group_id!r}, gone>"
        return f"<streams group {self.group_id!r}, {found.state} with {len(found.members)} members>"


class StubStreamsGroups(ConfiguredGroups[StubStreamsGroup]):
    """All streams groups: `stub.streams_groups["app"]["0", 1].active` (docs/streams-groups.md).

    Iterating returns their ids, in the order of their creation. Raises StubError while the coordinator is loading.
    """

    _type = "streams"
    _one = StubStreamsGroup

    def wait(
        self,
        group: str,
        active: Mapping[str, Iterable[Task]] | None = None,
        *,
        standby: Mapping[str, Iterable[Task]] | None = None,
        warmup: Mapping[str, Iterable[Task]] | None = None,
        status: str | None = None,
        members: int | None = None,
        timeout: float = 5,
    ) -> None:
        """Wait for the state of a streams group; without further arguments, until each of its tasks runs on a member.

        Args:
            active: the exact active tasks of members: `{"one": [("0", 0), ("0", 1)], "two": []}`. A member that is not
                named may have any.
            standby: the exact standby tasks, likewise.
            warmup: the exact warm-up tasks, likewise.
            status: the status that its members receive: "MISSING_SOURCE_TOPICS".
            members: the exact number of members. Without the other arguments, these members run all tasks. After
                `end_session`, this waits until the member is back.

        Raises GroupTimeout after `timeout` seconds, ValueError for an unknown status, TypeError.
        """
        check_wait(group, timeout)
        if status is not None and status not in STATUSES:
            raise ValueError(f"status={status!r} is refused: expected one of {', '.join(STATUSES)}")
        if members is not None and (not isinstance(members, int) or isinstance(members, bool) or members < 0):
            raise TypeError(f"members={members!r}: expected a number")
        tasks = (_tasks("active", active), _tasks("standby", standby), _tasks("warmup", warmup))
        self._wait(group, Wanted(*tasks, status, members), timeout)


def _tasks(role: str, wanted: object) -> dict[str, tuple[Task, ...]] | None:
    if wanted is None:
        return None
    if not isinstance(wanted, Mapping):
        raise TypeError(f'{role}={wanted!r} is refused: expected {{"MEMBER": [("SUBTOPOLOGY", 0), …]}}')
    try:
        return {name: tuple(_task(task) for task in tasks) for name, tasks in wanted.items()}
    except TypeError as error:
        raise TypeError(f"{role}={wanted!r} is refused: {error}") from None


def _task(task: object) -> Task:
    match task:
        case (str() as subtopology_id, int() as partition) if not isinstance(partition, bool):
            return subtopology_id, partition
    raise TypeError(f'{task!r} is not a task: expected the id of a subtopology and a partition, for example ("0", 1)')
