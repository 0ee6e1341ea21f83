"""How a member gets from what it has to its target, one heartbeat after the other. Kafka: CurrentAssignmentBuilder.

    state             meaning                                       leaves it when
    ----------------  --------------------------------------------  -------------------------------------------------
    STABLE            it has what its target of its epoch says      there is a newer target
    UNREVOKED_TASKS   it still has tasks that it has to let go of,  a heartbeat tells its tasks, without these
                      and stays in its old epoch
    UNRELEASED_TASKS  it is in the target's epoch, and others still a heartbeat that finds them let go of
                      have some of its tasks
    UNKNOWN           a newer broker wrote a state that this one    a heartbeat that tells that it has no tasks
                      does not know

An active task is given to nobody before whoever ran it has said that it is let go of, or is gone. No two members of
one process have the same task at once, in whatever roles, as they share a directory for its state. A member that has
a task already changes its role without letting go of it first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kafkastub.coordinator.modern.computed_order import computed_order
from kafkastub.coordinator.streams.member import MemberState, StreamsMember
from kafkastub.coordinator.streams.runners import Runners
from kafkastub.coordinator.streams.tasks import (
    EMPTY_WITH_EPOCHS,
    NO_EPOCHS,
    NO_PARTITIONS,
    NO_TASKS,
    Tasks,
    TasksTuple,
    TasksTupleWithEpochs,
    in_map_order,
)
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import copied, string_hash, string_map_order

_Sets = dict[str, set[int]]


class Reconciliation(NamedTuple):
    """What a member is reconciled with.

    Attributes:
        owned: the tasks that the member says it has; None where it does not say.
        roles_change: as `StreamsRules` has it.
    """

    target_epoch: int
    target: TasksTuple
    running: Runners
    owned: TasksTuple | None
    roles_change: bool = True

    def next(self, member: StreamsMember) -> StreamsMember:
        """The member as it is after this heartbeat; itself where nothing changes. Raises FENCED_MEMBER_EPOCH."""
        state, epoch = member.state, member.member_epoch
        if state is MemberState.STABLE:
            return self._towards_target(member, epoch) if epoch != self.target_epoch else member
        if state is MemberState.UNREVOKED_TASKS:
            if self._may_have(member.pending_revocation):
                return member
            return self._towards_target(member, epoch + 1)
        if state is MemberState.UNRELEASED_TASKS:
            return self._towards_target(member, epoch)
        if self.owned is None or not self.owned.is_empty:
            raise KafkaError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
            )
        return self._towards_target(member, self.target_epoch)

    def _may_have(self, tasks: TasksTupleWithEpochs) -> bool:
        """Whether the member may still have one of these, for all that it says. Kafka: hasNotReleased."""
        return self.owned is None or self.owned.contains_any(tasks)

    def _towards_target(self, member: StreamsMember, epoch: int) -> StreamsMember:
        """As far as it gets: `epoch` is the one that it stays in while it has to let go of something."""
        has = member.assigned
        held = _Held(self.running, member.process_id, has if self.roles_change else EMPTY_WITH_EPOCHS)
        active = _change(has.active, self.target.active, held.active)
        standby = _change(has.standby, self.target.standby, held.standby)
        warmup = _change(has.warmup, self.target.warmup, held.warmup)
        if self.roles_change:
            _grant(standby, has.active)
            _convert(has.standby, standby, warmup)
            _convert(has.warmup, warmup, standby)
        for role, of_role in ((standby, has.standby), (warmup, has.warmup)):
            for subtopology_id, partition in self._promoted(of_role):
                _remove(role.loses, subtopology_id, partition)
        loses = TasksTupleWithEpochs(_epochs(active.loses, has), _frozen(standby.loses), _frozen(warmup.loses))
        revoking = not loses.is_empty and self._may_have(loses)
        for role, of_role in ((standby, has.standby), (warmup, has.warmup)):
            for subtopology_id, partition in self._promoted(of_role):
                if revoking or partition not in active.gets.get(subtopology_id, NO_PARTITIONS):
                    role.keep(subtopology_id, partition)
        keeps = TasksTupleWithEpochs(_epochs(active.keeps, has), standby.kept(), warmup.kept())
        if revoking:
            return _moved(member, MemberState.UNREVOKED_TASKS, epoch, keeps, loses)
        waits = active.waits or standby.waits or warmup.waits
        given = {i: dict.fromkeys(some, self.target_epoch) for i, some in active.gets.items()}
        gets = TasksTupleWithEpochs(in_map_order(given), _frozen(standby.gets), _frozen(warmup.gets))
        state = MemberState.UNRELEASED_TASKS if waits else MemberState.STABLE
        assigned = keeps if gets.is_empty else keeps.merge(gets)
        return _moved(member, state, self.target_epoch, assigned, EMPTY_WITH_EPOCHS)

    def _promoted(self, has: Tasks) -> list[tuple[str, int]]:
        """Those of its standby or warm-up tasks which it is to run."""
        target = self.target.active if self.roles_change else NO_TASKS
        return [
            (subtopology_id, partition)
            for subtopology_id, some in has.items()
            if subtopology_id in target
            for partition in some & target[subtopology_id]
        ]


class _Held(NamedTuple):
    """Whether a task that a member is to get still has to be let go of.

    Attributes:
        has: of what the member has, that which is not in the way.
    """

    running: Runners
    process_id: str
    has: TasksTupleWithEpochs

    def active(self, subtopology_id: str, partition: int) -> bool:
        """Somebody runs it, or another member of this process has its state. Kafka: isUnreleasedActiveTask."""
        return (
            self.running.active(subtopology_id, partition) is not None
            or self._kept_by_other(self.running.standby, self.has.standby, subtopology_id, partition)
            or self._kept_by_other(self.running.warmup, self.has.warmup, subtopology_id, partition)
        )

    def standby(self, subtopology_id: str, partition: int) -> bool:
        """Another member of this process has it, in whatever role. Kafka: isUnreleasedStandbyTask."""
        runs = partition in self.has.active.get(subtopology_id, NO_EPOCHS)
        return (
            (not runs and self.running.active(subtopology_id, partition) == self.process_id)
            or self.process_id in self.running.standby(subtopology_id, partition)
            or self._kept_by_other(self.running.warmup, self.has.warmup, subtopology_id, partition)
        )

    def warmup(self, subtopology_id: str, partition: int) -> bool:
        """A member of this process runs it, or another one has its state. Kafka: isUnreleasedWarmupTask."""
        return (
            self.running.active(subtopology_id, partition) == self.process_id
            or self._kept_by_other(self.running.standby, self.has.standby, subtopology_id, partition)
            or self.process_id in self.running.warmup(subtopology_id, partition)
        )

    def _kept_by_other(
        self, keepers: Callable[[str, int], Collection[str]], has: Tasks, subtopology_id: str, partition: int
    ) -> bool:
        return self.process_id in keepers(subtopology_id, partition) and partition not in has.get(
            subtopology_id, NO_PARTITIONS
        )


class _Change:
    """What becomes of the tasks of one role. None of these sets is empty.

    Attributes:
        waits: the member has to wait for some that others still have.
    """

    __slots__ = ("_asked", "_new", "gets", "keeps", "loses", "waits")

    def __init__(self) -> None:
        self.keeps: _Sets = {}
        self.loses: _Sets = {}
        self.gets: _Sets = {}
        self.waits = False
        self._asked: list[str] = []
        self._new: set[str] = set()

    def keep(self, subtopology_id: str, partition: int) -> None:
        """One more; Kafka puts it there with `HashMap.computeIfAbsent`."""
        self._asked.append(subtopology_id)
        if subtopology_id not in self.keeps:
            self._new.add(subtopology_id)
            self.keeps[subtopology_id] = set()
        self.keeps[subtopology_id].add(partition)

    def kept(self) -> Tasks:
        """What it keeps, in the order of Kafka's map."""
        keeps = _frozen(self.keeps)
        if not self._new or len(keeps) < 2:
            return keeps
        there = in_map_order({i: string_hash(i) for i in self.keeps if i not in self._new})
        asked = ((string_hash(i), i) for i in self._asked)
        return {i: keeps[i] for i in computed_order(asked, there=((code, i) for i, code in there.items()))}


def _change(has: Mapping[str, Collection[int]], target: Tasks, held: Callable[[str, int], bool]) -> _Change:
    """From what a member has to what it is to have. Kafka: computeAssignmentDifference."""
    change = _Change()
    for subtopology_id in string_map_order([*target, *has], copied(len(target))):
        before, after = set(has.get(subtopology_id, ())), target.get(subtopology_id, NO_PARTITIONS)
        if keeps := before & after:
            change.keeps[subtopology_id] = keeps
        if loses := before - after:
            change.loses[subtopology_id] = loses
        new = after - before
        gets = {partition for partition in new if not held(subtopology_id, partition)}
        change.waits = change.waits or len(gets) < len(new)
        if gets:
            change.gets[subtopology_id] = gets
    return change


def _grant(role: _Change, has: Mapping[str, Iterable[int]]) -> list[tuple[str, int]]:
    """Tasks that the member has in another role, and is to get in this one, it has at once; tells which these are."""
    granted = [
        (subtopology_id, partition)
        for subtopology_id, some in has.items()
        for partition in some
        if partition in role.gets.get(subtopology_id, NO_PARTITIONS)
    ]
    for subtopology_id, partition in granted:
        _remove(role.gets, subtopology_id, partition)
        role.keep(subtopology_id, partition)
    return granted


def _convert(has: Tasks, outgoing: _Change, incoming: _Change) -> None:
    """Standby tasks become warm-up tasks, or the other way. Kafka: convertReplicaRole."""
    for subtopology_id, partition in _grant(incoming, has):
        _remove(outgoing.loses, subtopology_id, partition)


def _remove(tasks: _Sets, subtopology_id: str, partition: int) -> None:
    """One less, if it is there."""
    some = tasks.get(subtopology_id)
    if some is not None:
        some.discard(partition)
        if not some:
            del tasks[subtopology_id]


def _frozen(tasks: _Sets) -> Tasks:
    if not tasks:
        return NO_TASKS
    return in_map_order({subtopology_id: frozenset(some) for subtopology_id, some in tasks.items()})


def _epochs(tasks: _Sets, has: TasksTupleWithEpochs) -> dict[str, Mapping[int, int]]:
    """Of what it has, with the epochs in which it got them."""
    found = {i: {partition: has.active[i][partition] for partition in some} for i, some in tasks.items()}
    return in_map_order(found)


def _moved(
    member: StreamsMember, state: MemberState, epoch: int, assigned: TasksTupleWithEpochs, loses: TasksTupleWithEpochs
) -> StreamsMember:
    return replace(
        member,
        state=state,
        member_epoch=epoch,
        previous_member_epoch=member.member_epoch,
        assigned=assigned,
        pending_revocation=loses,
    )
