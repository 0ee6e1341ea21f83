"""The assignor of streams groups: members keep what they have, and all get about as much. Kafka: StickyTaskAssignor.

An active task goes to who had it, or else to who kept its state, as long as that member has not its share; what is left
goes to the process with the fewest tasks per member, and there to the member with the fewest. Standby tasks are dealt
in the same way, none to a process that has the task already. Racks, client tags and warm-up tasks count for nothing in
4.4.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from kafkastub.coordinator.modern.assignors.compacted import Compaction
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.assignors.processes import Process, Queue, Quota
from kafkastub.coordinator.modern.computed_order import computed_order
from kafkastub.steps import Pace, no_pause
from kafkawire.java_order import string_hash, string_map_order, string_order

_Before = tuple[Process, str]
"""A member as it was: its process as it is to be, and its id."""


class MemberTasks(NamedTuple):
    """One member, for the assignor. Kafka: MemberAssignmentMetadata, MemberAssignmentState.

    Attributes:
        active, standby: what it has, not what it was to have: subtopology id to partitions.
        offsets: how far it says to have come with the state of which task: subtopology id, partition.
    """

    process_id: str
    active: Mapping[str, Collection[int]]
    standby: Mapping[str, Collection[int]]
    offsets: Mapping[str, Mapping[int, int]]


class SubtopologyTasks(NamedTuple):
    """One subtopology, for the assignor. Kafka: TopologyDescriber.

    Attributes:
        tasks: how many it has.
        stateful: it has state, of which standby tasks are kept.
    """

    tasks: int
    stateful: bool


class TaskAssignment(NamedTuple):
    """What a member is to have: subtopology id to partitions, in the order of Kafka's map. Kafka: MemberAssignment."""

    active: Mapping[str, frozenset[int]]
    standby: Mapping[str, frozenset[int]]


class StickyTaskAssignor:
    """Computes targets.

    Args:
        looks_on: of those who have a task's state, one whose process has the task is passed over. In 4.3 he is not,
            where he comes first; then nobody else is looked at who has not less to do.
        computes: maps are filled as since 4.4, with `HashMap.computeIfAbsent`; else with `putIfAbsent`.
    """

    __slots__ = ("_computes", "_looks_on")

    name = "sticky"

    def __init__(self, looks_on: bool = True, computes: bool = True) -> None:
        self._looks_on = looks_on
        self._computes = computes

    def assign(
        self,
        members: Mapping[str, MemberTasks],
        subtopologies: Mapping[str, SubtopologyTasks],
        num_standby_replicas: int,
        pace: Pace = no_pause,
    ) -> dict[str, TaskAssignment]:
        """The target of each member, by member id.

        Args:
            members: by member id, in the order in which Kafka's map iterates.
            num_standby_replicas: so many standby tasks there are to be of each stateful task.
            pace: is called wherever a piece of the work is done.

        Raises AssignorError where there are tasks and no member.
        """
        state = _State(members, subtopologies, num_standby_replicas, self._looks_on, self._computes, pace)
        state.assign_active()
        if num_standby_replicas > 0:
            state.assign_standby(num_standby_replicas)
        return state.result()


class _State:
    """A computation. Tasks are numbers: a subtopology's follow those of the one before, in the order of their ids."""

    def __init__(
        self,
        members: Mapping[str, MemberTasks],
        subtopologies: Mapping[str, SubtopologyTasks],
        standbys: int,
        looks_on: bool,
        computes: bool,
        pace: Pace,
    ) -> None:
        self._pace = pace
        self._looks_on = looks_on
        self._computes = computes
        self._ids = sorted(subtopologies, key=string_order)
        self._described = subtopologies
        self._subtopologies = [subtopologies[i] for i in self._ids]
        self._first: dict[str, int] = {}
        total = every = 0
        for i, subtopology in zip(self._ids, self._subtopologies, strict=True):
            self._first[i] = total
            total += subtopology.tasks
            every += subtopology.tasks * (1 + standbys * subtopology.stateful)
        self._active_quota = Quota(total, len(members))
        self._quota = Quota(every, len(members))
        self._members = members
        by_process: dict[str, list[str]] = {}
        for member_id, member in members.items():
            by_process.setdefault(member.process_id, []).append(member_id)
        self._processes = {i: Process(by_process[i]) for i in self._process_ids()}
        self._had_active: dict[int, _Before] = {}
        self._had_state: dict[int, list[_Before]] = {}
        self._look_back()

    def _process_ids(self) -> list[str]:
        """In the order of Kafka's map."""
        ids = [member.process_id for member in self._members.values()]
        if self._computes:
            return computed_order(((string_hash(i), i) for i in ids), len(ids))
        return string_map_order(ids, len(ids))

    def assign_active(self) -> None:
        """Every task to one member. Kafka: assignActive."""
        left: list[int] = []
        for task in self._by_partition(range(len(self._ids))):
            if not self._give_active(self._had_active.get(task), task):
                left.append(task)
            self._pace(1)
        rest: list[int] = []
        for task in left:
            if not self._give_active(self._least_loaded(task), task):
                rest.append(task)
            self._pace(1)
        if rest and not self._processes:
            raise AssignorError(f"No process available to assign active task {self._name(min(rest))}.")
        queue = Queue(self._processes.values())
        for task in sorted(rest):
            count = queue.give_active(task)
            self._active_quota.given(count)
            self._quota.given(count)
            self._pace(1)

    def assign_standby(self, replicas: int) -> None:
        """Stateful tasks to other processes than the one that has the active task. Kafka: assignStandby."""
        stateful = [at for at, subtopology in enumerate(self._subtopologies) if subtopology.stateful]
        left: list[tuple[int, int]] = []
        for task in reversed(list(self._by_partition(stateful))):
            given = 0
            while given < replicas and self._give_standby(task):
                given += 1
            if given < replicas:
                left.append((task, replicas - given))
            self._pace(1)
        left.sort(reverse=True)
        queue = Queue(self._processes.values())
        for task, missing in left:
            for _ in range(missing):
                count = queue.give_standby(task)
                if count is None:  # there are not enough processes; Kafka warns in its log
                    break
                self._quota.given(count)
                self._pace(1)

    def result(self) -> dict[str, TaskAssignment]:
        """What everybody is to have. Kafka: buildGroupAssignment."""
        numbered = [(i, s.tasks) for i, s in zip(self._ids, self._subtopologies, strict=True)]
        compaction = Compaction(numbered, self._computes)
        result: dict[str, TaskAssignment] = {}
        for member_id, member in self._members.items():
            process = self._processes[member.process_id]
            result[member_id] = TaskAssignment(
                compaction.of(process.active.get(member_id, ())), compaction.of(process.standby.get(member_id, ()))
            )
            self._pace(2)
        return result

    def _look_back(self) -> None:
        """Find who had which task, and who has some of its state. Kafka: collectStandbyCandidates."""
        ranked: dict[int, list[tuple[bool, int, _Before]]] = {}
        for member_id, member in self._members.items():
            before = self._processes[member.process_id], member_id
            self._pace(1)
            for task, _, _ in self._tasks_of(member.active):
                self._had_active[task] = before
            for task, i, partition in self._tasks_of(member.standby):
                offset = member.offsets.get(i, {}).get(partition, 0)
                ranked.setdefault(task, []).append((False, -offset, before))
            for task, i, partition in self._tasks_of(member.offsets):
                if partition not in member.standby.get(i, ()):
                    ranked.setdefault(task, []).append((True, -member.offsets[i][partition], before))
                self._pace(1)
        for task, candidates in ranked.items():
            candidates.sort(key=lambda candidate: candidate[:2])
            self._had_state[task] = [before for _, _, before in candidates]

    def _tasks_of(self, tasks: Mapping[str, Collection[int]]) -> Iterator[tuple[int, str, int]]:
        """The tasks that there are in this topology, each with subtopology and partition."""
        for i, partitions in tasks.items():
            if i in self._first:
                first, count = self._first[i], self._described[i].tasks
                for partition in partitions:
                    if 0 <= partition < count:
                        yield first + partition, i, partition

    def _by_partition(self, chosen: Sequence[int]) -> Iterator[int]:
        """Tasks of the chosen subtopologies: first the partitions 0, then the partitions 1, and so on."""
        firsts = [(self._first[self._ids[at]], self._subtopologies[at].tasks) for at in chosen]
        for partition in range(max((count for _, count in firsts), default=0)):
            for first, count in firsts:
                if partition < count:
                    yield first + partition

    def _give_active(self, before: _Before | None, task: int) -> bool:
        """To the one who had it, or its state, where that one has not its share yet."""
        if before is None:
            return False
        process, member_id = before
        if process.counts[member_id] >= self._active_quota.each:
            return False
        count = process.give(member_id, task, True)
        self._active_quota.given(count)
        self._quota.given(count)
        return True

    def _give_standby(self, task: int) -> bool:
        """To the one who had the active task, or to one of those who have its state."""
        before = self._had_active.get(task)
        if before is None or task in before[0].tasks or before[0].counts[before[1]] >= self._quota.each:
            before = self._least_loaded(task, elsewhere=True)
        if before is None or before[0].counts[before[1]] >= self._quota.each:
            return False
        self._quota.given(before[0].give(before[1], task, False))
        return True

    def _least_loaded(self, task: int, elsewhere: bool = False) -> _Before | None:
        """Of those who have a task's state, one with little to do. Kafka: findPrevMemberWithLeastLoad.

        Args:
            elsewhere: only in processes that do not have the task.
        """
        if elsewhere and not self._looks_on:
            return self._least_loaded_or_first(task)
        found: _Before | None = None
        process_load = member_load = 0.0
        for before in self._had_state.get(task, ()):
            process, member_id = before
            if elsewhere and task in process.tasks:
                continue
            count = process.counts[member_id]
            if found is None or (process.load < process_load and count < member_load):
                found, process_load, member_load = before, process.load, count
        return found

    def _least_loaded_or_first(self, task: int) -> _Before | None:
        """As 4.3 does it: the first one, be its process the right one or not, unless another has less to do."""
        found: _Before | None = None
        for before in self._had_state.get(task, ()):
            process, member_id = before
            if found is None or (
                process.load < found[0].load
                and task not in process.tasks
                and process.counts[member_id] < found[0].counts[found[1]]
            ):
                found = before
        return None if found is None or task in found[0].tasks else found

    def _name(self, task: int) -> str:
        """As Kafka's errors have it."""
        i = next(i for i in reversed(self._ids) if self._first[i] <= task)
        return f"{i}_{task - self._first[i]}"
