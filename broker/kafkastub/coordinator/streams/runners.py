"""Which process runs which task, or keeps its state. Kafka: StreamsGroup's maps of tasks to process ids."""

from __future__ import annotations

from collections.abc import Collection

from kafkastub.coordinator.streams.tasks import Tasks, TasksTupleWithEpochs

_Keepers = dict[tuple[str, int], set[str]]


class Runners:
    """The processes of a group's tasks. A task counts from when a member is given it until it has let go of it."""

    __slots__ = ("_active", "_standby", "_warmup")

    def __init__(self) -> None:
        self._active: dict[tuple[str, int], str] = {}
        self._standby: _Keepers = {}
        self._warmup: _Keepers = {}

    def active(self, subtopology_id: str, partition: int) -> str | None:
        """The id of the process that runs the task; None where none does."""
        return self._active.get((subtopology_id, partition))

    def standby(self, subtopology_id: str, partition: int) -> Collection[str]:
        """The ids of the processes that have it as a standby task."""
        return self._standby.get((subtopology_id, partition), ())

    def warmup(self, subtopology_id: str, partition: int) -> Collection[str]:
        """The ids of the processes that have it as a warm-up task."""
        return self._warmup.get((subtopology_id, partition), ())

    def add(self, tasks: TasksTupleWithEpochs, process_id: str) -> None:
        """A member of the process has these. Kafka: addTaskProcessId."""
        for subtopology_id, partitions in tasks.active.items():
            for partition in partitions:
                self._active[subtopology_id, partition] = process_id
        _add(self._standby, tasks.standby, process_id)
        _add(self._warmup, tasks.warmup, process_id)

    def remove(self, tasks: TasksTupleWithEpochs, process_id: str) -> None:
        """A member of the process has these no more; active ones stay that another process has got since.

        Kafka: removeTaskProcessIds.
        """
        for subtopology_id, partitions in tasks.active.items():
            for partition in partitions:
                task = subtopology_id, partition
                if self._active.get(task) == process_id:
                    del self._active[task]
        _remove(self._standby, tasks.standby, process_id)
        _remove(self._warmup, tasks.warmup, process_id)


def _add(keepers: _Keepers, tasks: Tasks, process_id: str) -> None:
    for subtopology_id, partitions in tasks.items():
        for partition in partitions:
            keepers.setdefault((subtopology_id, partition), set()).add(process_id)


def _remove(keepers: _Keepers, tasks: Tasks, process_id: str) -> None:
    for subtopology_id, partitions in tasks.items():
        for partition in partitions:
            task = subtopology_id, partition
            if task in keepers:
                keepers[task].discard(process_id)
                if not keepers[task]:
                    del keepers[task]
