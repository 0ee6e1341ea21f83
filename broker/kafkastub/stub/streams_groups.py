"""`stub.streams_groups`: groups of Kafka Streams applications: what they run, what they lack, who has which task."""

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
"""What a group can lack."""


class StubStreamsGroup(GroupOfType[StreamsGroupView, StreamsMemberView], Mapping[Task, TaskView]):
    """One streams group: every attribute tells what it is now. KeyError where it is gone.

    `group["0", 1]` is a task, partition 1 of subtopology 0, as it is at this moment; iterating gives all tasks, as far
    as it is known how many there are. A member is named by its member id, its group instance id, or its client id.
    """

    _kind = "streams group"
    _look = staticmethod(view)

    @property
    def target_epoch(self) -> int:
        """The epoch of the target assignment."""
        return self.view().target_epoch

    @property
    def topology(self) -> TopologyView | None:
        """What it runs, subtopology by subtopology, and what is missing for it."""
        return self.view().topology

    @property
    def status(self) -> str | None:
        """What its members are told that it lacks: "MISSING_SOURCE_TOPICS"; None where nothing is."""
        return self.view().status

    @property
    def shutdown_by(self) -> str | None:
        """The member id of who wants the whole application to end; None where nobody does."""
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
        """Let this member want the whole application to end, as one whose exception handler says SHUTDOWN_APPLICATION.

        Every member is told so from its next heartbeat on, until the group is empty. Raises KeyError for a member that
        there is not.
        """
        of_one(self._runner, lambda broker: ask_for_shutdown(broker.state, self.group_id, member))

    def __repr__(self) -> str:
        try:
            found = self.view()
        except (KeyError, StubError):
            return f"<streams group {self.group_id!r}, gone>"
        return f"<streams group {self.group_id!r}, {found.state} with {len(found.members)} members>"


class StubStreamsGroups(ConfiguredGroups[StubStreamsGroup]):
    """Every streams group: `stub.streams_groups["app"]["0", 1].active` (docs/streams-groups.md).

    Iterating gives their ids, in the order in which they came. Raises StubError while the coordinator is being loaded.
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
        """Wait until a streams group is like this; without anything said, until somebody works on each of its tasks.

        Args:
            active: members have exactly these tasks: `{"one": [("0", 0), ("0", 1)], "two": []}`. Who is not named may
                have any.
            standby: the same of these.
            warmup: and of these.
            status: its members are told that it lacks this: "MISSING_SOURCE_TOPICS".
            members: there are so many; with nothing else said, they work on all tasks. Behind `end_session` it makes
                the wait one for the member's return.

        Raises GroupTimeout after `timeout` seconds, ValueError for a status that there is not, TypeError.
        """
        check_wait(group, timeout)
        if status is not None and status not in STATUSES:
            raise ValueError(f"status={status!r}: a group lacks {', '.join(STATUSES)}")
        if members is not None and (not isinstance(members, int) or isinstance(members, bool) or members < 0):
            raise TypeError(f"members={members!r}: a number is wanted")
        tasks = (_tasks("active", active), _tasks("standby", standby), _tasks("warmup", warmup))
        self._wait(group, Wanted(*tasks, status, members), timeout)


def _tasks(role: str, wanted: object) -> dict[str, tuple[Task, ...]] | None:
    if wanted is None:
        return None
    if not isinstance(wanted, Mapping):
        raise TypeError(f'{role}={wanted!r} is refused: {{"MEMBER": [("SUBTOPOLOGY", 0), …]}} is wanted')
    try:
        return {name: tuple(_task(task) for task in tasks) for name, tasks in wanted.items()}
    except TypeError as error:
        raise TypeError(f"{role}={wanted!r} is refused: {error}") from None


def _task(task: object) -> Task:
    match task:
        case (str() as subtopology_id, int() as partition) if not isinstance(partition, bool):
            return subtopology_id, partition
    raise TypeError(f'{task!r} is no task: the id of a subtopology and a partition is wanted, as ("0", 1)')
