"""The processes whose threads are the members of a streams group, and what each is to do. Kafka: ProcessState."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkastub.coordinator.modern.assignors.least_loaded import LeastLoaded
from kafkawire.java_order import string_map_order


class Process:
    """One process of an application.

    Attributes:
        counts: how many tasks each of its members has, active and standby together, by member id in Kafka's order.
        active, standby: the tasks of each member that has some, in the order in which it was given them.
        tasks: all of them, each once.
        load: tasks per member.
    """

    __slots__ = ("_by_load", "_given", "active", "counts", "load", "standby", "tasks")

    def __init__(self, member_ids: Iterable[str]) -> None:
        self.counts = dict.fromkeys(string_map_order(member_ids), 0)
        self.active: dict[str, list[int]] = {}
        self.standby: dict[str, list[int]] = {}
        self.tasks: set[int] = set()
        self.load = 0.0
        self._given = 0
        self._by_load: LeastLoaded[str] | None = None

    def give(self, member_id: str, task: int, active: bool) -> int:
        """A member has one more, which it has not yet; tells how many it has then. Kafka: addTask."""
        self._by_load = None
        return self._give(member_id, task, active)

    def give_to_any(self, task: int, active: bool) -> int:
        """The same, to a member that has the fewest. Kafka: addTaskToLeastLoadedMember."""
        if len(self.counts) == 1:
            return self._give(next(iter(self.counts)), task, active)
        if self._by_load is None:
            self._by_load = LeastLoaded((count, member_id) for member_id, count in self.counts.items())
        member_id = self._by_load.take()
        count = self._give(member_id, task, active)
        self._by_load.add(count, member_id)
        return count

    def _give(self, member_id: str, task: int, active: bool) -> int:
        self._given += 1
        self.tasks.add(task)
        (self.active if active else self.standby).setdefault(member_id, []).append(task)
        count = self.counts[member_id] = self.counts[member_id] + 1
        self.load = self._given / len(self.counts)
        return count


class Quota:
    """How many tasks each member may have, so that all have about as many. Kafka: computeTasksPerMember.

    Attributes:
        each: so many may be given to every member that has had no fill yet.
    """

    __slots__ = ("_members", "_tasks", "each")

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        self.each = -(-tasks // members) if members else 0

    def given(self, count: int) -> None:
        """A member has come to this many: where it has its fill, the others share what is left."""
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self.each = -(-self._tasks // self._members) if self._members else 0


class Queue:
    """Processes, the one with the least load per member first."""

    __slots__ = ("_queue",)

    def __init__(self, processes: Iterable[Process]) -> None:
        self._queue = LeastLoaded((process.load, process) for process in processes)

    def give_active(self, task: int) -> int:
        """The first one is given the task; tells how many the member has then that got it."""
        process = self._queue.take()
        count = process.give_to_any(task, True)
        self._queue.add(process.load, process)
        return count

    def give_standby(self, task: int) -> int | None:
        """The first one that does not have the task is given it; None where all have it.

        Kafka: assignStandbyToMemberWithLeastLoad.
        """
        passed: list[Process] = []
        count = None
        for process in self._taken():
            passed.append(process)
            if task not in process.tasks:
                count = process.give_to_any(task, False)
                break
        for process in reversed(passed):
            self._queue.add(process.load, process)
        return count

    def _taken(self) -> Iterator[Process]:
        while self._queue:
            yield self._queue.take()
