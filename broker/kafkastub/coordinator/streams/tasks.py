"""Tasks: which partitions of which subtopologies somebody has. Kafka: TasksTuple, TasksTupleWithEpochs.

A task is one partition of a subtopology. It is active where it is worked on, and standby or warm-up where its state is
only kept, for the time when an active task is lost or is to move.

Partitions are always told and written in ascending order, so a `frozenset` will do for them. Subtopologies are written
in order too, yet in a heartbeat's answer they are in the order in which Kafka's `HashMap` iterates. That is why a
mapping here iterates in that order: whoever makes one calls `in_map_order`, whoever changes one `with_new_in_front`
for what Kafka puts there with `computeIfAbsent`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from kafkastub.coordinator.modern.computed_order import computed_order
from kafkastub.coordinator.modern.partition_sets import with_epochs
from kafkawire.java_order import string_hash, string_map_order, string_order

V = TypeVar("V")

Tasks = Mapping[str, frozenset[int]]
"""Subtopology id to partitions; of a new one none is empty. Never changed once made."""
EpochsOfTasks = Mapping[str, Mapping[int, int]]
"""Subtopology id to partitions, each with the epoch in which the member was given it. Never changed once made."""

NO_PARTITIONS: frozenset[int] = frozenset()
NO_EPOCHS: Mapping[int, int] = {}
NO_TASKS: Tasks = {}
NO_EPOCHS_OF_TASKS: EpochsOfTasks = {}


class TaskIds(Protocol):
    """Tasks of one subtopology, as a request or a record has them."""

    @property
    def subtopology_id(self) -> str: ...

    @property
    def partitions(self) -> Sequence[int]: ...


class TasksTuple(NamedTuple):
    """What a member is to have, or says that it has. Equal is what has the same tasks, in whatever order."""

    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @property
    def is_empty(self) -> bool:
        """No subtopology is in it; one without partitions counts. Kafka: isEmpty."""
        return not (self.active or self.standby or self.warmup)

    def contains_any(self, other: TasksTupleWithEpochs) -> bool:
        """Whether one of these tasks is in the other, in the same role. Kafka: containsAny."""
        return any(_share(one, there) for one, there in zip(self, other, strict=True))

    def same_tasks(self, other: TasksTupleWithEpochs) -> bool:
        """Whether both have the same tasks, whatever the epochs. Kafka: sameTasks."""
        return (
            self.warmup == other.warmup
            and self.standby == other.standby
            and len(self.active) == len(other.active)
            and all(
                subtopology_id in other.active and some == other.active[subtopology_id].keys()
                for subtopology_id, some in self.active.items()
            )
        )

    def __str__(self) -> str:
        """As Kafka logs it: `(active=[a-0, a-1], standby=[], warmup=[])`."""
        return f"(active=[{_told(self.active)}], standby=[{_told(self.standby)}], warmup=[{_told(self.warmup)}])"


class TasksTupleWithEpochs(NamedTuple):
    """What a member has, or is to let go of. Equal is what has the same tasks and epochs, in whatever order."""

    active: EpochsOfTasks = NO_EPOCHS_OF_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @property
    def is_empty(self) -> bool:
        """No subtopology is in it; one without partitions counts. Kafka: isEmpty."""
        return not (self.active or self.standby or self.warmup)

    def merge(self, other: TasksTupleWithEpochs) -> TasksTupleWithEpochs:
        """These and the other's; where both have an active task, with the other's epoch. Kafka: merge."""
        return TasksTupleWithEpochs(
            with_new_in_front(
                self.active, {i: {**self.active.get(i, NO_EPOCHS), **some} for i, some in other.active.items()}
            ),
            merged(self.standby, other.standby),
            merged(self.warmup, other.warmup),
        )

    def without_epochs(self) -> TasksTuple:
        """The tasks alone."""
        return TasksTuple({i: frozenset(some) for i, some in self.active.items()}, self.standby, self.warmup)

    def with_epochs_of_zero(self) -> TasksTupleWithEpochs:
        """The same tasks, each active one given in epoch 0. Kafka: resetAssignedTasksEpochsToZero."""
        return self._replace(active={i: dict.fromkeys(some, 0) for i, some in self.active.items()})

    def __str__(self) -> str:
        """As Kafka logs it: `(active=[a-0@3, a-1@4], standby=[], warmup=[])`."""
        active = ", ".join(
            f"{i}-{partition}@{self.active[i][partition]}"
            for i in sorted(self.active, key=string_order)
            for partition in sorted(self.active[i])
        )
        return f"(active=[{active}], standby=[{_told(self.standby)}], warmup=[{_told(self.warmup)}])"


EMPTY = TasksTuple()
EMPTY_WITH_EPOCHS = TasksTupleWithEpochs()


def in_map_order(put: Mapping[str, V]) -> dict[str, V]:
    """As a `HashMap` iterates into which these were put one after the other."""
    if len(put) < 2:
        return dict(put)
    return {subtopology_id: put[subtopology_id] for subtopology_id in string_map_order(put)}


def with_new_in_front(there: Mapping[str, V], new: Mapping[str, V]) -> dict[str, V]:
    """A `HashMap` after `computeIfAbsent`: what comes new is before what is in its bucket; the rest keeps its place."""
    found = {**there, **new}
    if len(found) == len(there):
        return found
    asked = ((string_hash(i), i) for i in new)
    return {i: found[i] for i in computed_order(asked, there=((string_hash(i), i) for i in there))}


def merged(one: Tasks, other: Tasks) -> Tasks:
    """The tasks of both. Kafka: mergeTasks."""
    return with_new_in_front(one, {i: one.get(i, NO_PARTITIONS) | some for i, some in other.items()})


def tasks_of(told: Iterable[TaskIds]) -> Tasks:
    """The tasks that a request or a record tells. Kafka: fromHeartbeatRequest, fromTargetAssignmentRecord.

    Raises ValueError where a subtopology comes twice; Kafka lets that pass its checks of a request, and then fails.
    """
    found: dict[str, frozenset[int]] = {}
    for one in told:
        if one.subtopology_id in found:
            raise ValueError(f"Duplicate key {one.subtopology_id}")
        found[one.subtopology_id] = frozenset(one.partitions)
    return in_map_order(found)


def epochs_of(told: Iterable[tuple[TaskIds, Sequence[int] | None]], member_epoch: int) -> EpochsOfTasks:
    """The active tasks that a record tells, each with its epochs. Kafka: parseActiveTasksWithEpochs.

    Args:
        member_epoch: of all tasks of a subtopology for which there are no epochs, or not as many as partitions.
    """
    return in_map_order({one.subtopology_id: with_epochs(one.partitions, epochs, member_epoch) for one, epochs in told})


def written(tasks: Tasks) -> list[tuple[str, list[int]]]:
    """As records and descriptions have them: both in ascending order."""
    return [(i, sorted(tasks[i])) for i in sorted(tasks, key=string_order)]


def written_epochs(tasks: EpochsOfTasks) -> list[tuple[str, list[int], list[int]]]:
    """The same, with the epochs of the partitions."""
    return [(i, sorted(tasks[i]), [tasks[i][p] for p in sorted(tasks[i])]) for i in sorted(tasks, key=string_order)]


def _share(one: Tasks, other: Mapping[str, Iterable[int]]) -> bool:
    return any(
        subtopology_id in other and not some.isdisjoint(other[subtopology_id]) for subtopology_id, some in one.items()
    )


def _told(tasks: Tasks) -> str:
    return ", ".join(f"{i}-{partition}" for i, some in written(tasks) for partition in some)
