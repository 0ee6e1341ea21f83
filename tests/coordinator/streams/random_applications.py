"""Applications at random, each with a history: threads come and go, processes restart, the topology changes.

An application goes through what a group goes through: a new target, then heartbeats that bring its members towards it,
some of which still have what they should have let go of. What a member has is what comes out of its record.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkastub.coordinator.modern.assignors.sticky_tasks import StickyTaskAssignor
from kafkastub.coordinator.streams.member import (
    FORMS,
    MemberState,
    StreamsMember,
    read_target,
)
from kafkastub.coordinator.streams.reconciliation import Reconciliation
from kafkastub.coordinator.streams.runners import Runners
from kafkastub.coordinator.streams.targets import Computation, Target
from kafkastub.coordinator.streams.tasks import EMPTY, EpochsOfTasks, Tasks, TasksTuple, TasksTupleWithEpochs, tasks_of

_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


class Subtopology(NamedTuple):
    """As `targets` wants it."""

    number_of_tasks: int
    state_changelog_topics: tuple[str, ...]


class TaskIds(NamedTuple):
    subtopology_id: str
    partitions: list[int]


class Heartbeat(NamedTuple):
    """A member and what it is brought towards."""

    member: StreamsMember
    reconciliation: Reconciliation


@dataclass
class Application:
    """An application that changes.

    Args:
        size: about how large it is; 1 is small.
    """

    chance: random.Random
    size: int = 1
    epoch: int = 1
    standbys: int = 0
    ready: bool = True
    subtopologies: dict[str, Subtopology] = field(default_factory=dict)
    members: dict[str, StreamsMember] = field(default_factory=dict)
    target: dict[str, TasksTuple] = field(default_factory=dict)
    offsets: dict[str, EpochsOfTasks] = field(default_factory=dict)
    running: Runners = field(default_factory=Runners)

    def __post_init__(self) -> None:
        chance = self.chance
        self._processes = [name(chance) for _ in range(chance.choice((1, 2, 3, 4, 8, 25)))]
        self.standbys = chance.choice((0, 0, 1, 1, 2, 3))
        for _ in range(chance.choice((1, 1, 2, 2, 3, 5, 8, 15))):
            self._subtopology()
        for _ in range(chance.choice((0, 1, 2, 2, 3, 5, 9, 17)) * self.size):
            self._join()

    def step(self) -> None:
        """Something changes, or several things."""
        chance = self.chance
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            what = chance.choice(("join", "join", "leave", "many leave", "move", "subtopology", "drop", "grow", "stop"))
            if what == "join":
                self._join()
            elif what == "leave" and self.members:
                self._leave(chance.choice(list(self.members)))
            elif what == "many leave":
                for member_id in chance.sample(list(self.members), len(self.members) // 2):
                    self._leave(member_id)
            elif what == "move" and self.members:
                member = self.members[chance.choice(list(self.members))]
                self._update(replace(member, process_id=chance.choice(self._processes)))
            elif what == "subtopology":
                self._subtopology()
            elif what == "drop" and len(self.subtopologies) > 1:
                del self.subtopologies[chance.choice(list(self.subtopologies))]
            elif what == "grow":
                self._subtopology(chance.choice(list(self.subtopologies)))
            elif what == "stop" and self.members:
                process = self.members[chance.choice(list(self.members))].process_id
                for member in [member for member in self.members.values() if member.process_id == process]:
                    self._leave(member.member_id)
        if chance.random() < 0.2:
            self.standbys = chance.choice((0, 1, 2, 3))
        self.ready = chance.random() < 0.95
        for member_id in self.members:
            if chance.random() < 0.3:
                self.offsets[member_id] = self._told_offsets()
        self.epoch += 1

    def computation(self) -> Computation:
        """What the next target is computed of."""
        subtopologies = self.subtopologies if self.ready else None
        return Computation(self.members, self.target, self.offsets, subtopologies, self.standbys, StickyTaskAssignor())

    def apply(self, target: Target) -> None:
        """There is a new target."""
        self.target = {member_id: read_target(tasks) for member_id, tasks in target.tasks.items()}

    def heartbeats(self, target: Target, most: int) -> Iterator[Heartbeat]:
        """Members one after the other; each is as `took` has left it."""
        chance = self.chance
        for again in range(min(most, 2 * len(self.members))):
            member = self.members[chance.choice(list(self.members))]
            tasks = (self.target if again else target.tasks)[member.member_id]
            yield Heartbeat(member, Reconciliation(self.epoch, tasks, self.running, self._owned(member)))

    def took(self, member: StreamsMember) -> None:
        """The member as its record says."""
        self._update(FORMS.with_record(member, FORMS.assignment_record("g", member)))

    def _owned(self, member: StreamsMember) -> TasksTuple | None:
        what = self.chance.choice(("nothing told", "no tasks", "assigned", "assigned", "pending"))
        if what == "nothing told":
            return None
        if what == "no tasks":
            return EMPTY
        has = member.assigned.merge(member.pending_revocation) if what == "pending" else member.assigned
        return has.without_epochs()

    def _told_offsets(self) -> EpochsOfTasks:
        chance = self.chance
        every = list(self.subtopologies)
        return {
            subtopology_id: {chance.randint(0, 9): chance.choice((0, 5, 5, chance.randint(0, 2**40))) for _ in range(4)}
            for subtopology_id in chance.sample(every, chance.randint(0, min(3, len(every))))
        }

    def _subtopology(self, subtopology_id: str = "") -> None:
        chance = self.chance
        found = subtopology_id or chance.choice((str(chance.randint(0, 40)), name(chance)))
        tasks = chance.choice((1, 1, 2, 3, 5, 8, 12, 30)) * self.size
        self.subtopologies[found] = Subtopology(tasks, ("store",) if chance.random() < 0.6 else ())

    def _join(self) -> None:
        member_id = name(self.chance)
        self.members[member_id] = StreamsMember(member_id, process_id=self.chance.choice(self._processes))

    def _leave(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self.running.remove(member.assigned, member.process_id)
        self.running.remove(member.pending_revocation, member.process_id)
        self.offsets.pop(member_id, None)
        self.target.pop(member_id, None)

    def _update(self, member: StreamsMember) -> None:
        before = self.members[member.member_id]
        self.running.remove(before.assigned, before.process_id)
        self.running.remove(before.pending_revocation, before.process_id)
        self.running.add(member.assigned, member.process_id)
        self.running.add(member.pending_revocation, member.process_id)
        self.members[member.member_id] = member


def histories(seed: int, groups: int, steps: int = 10) -> Iterator[Application]:
    """As long as there are groups: the same one comes back changed, until it had its steps."""
    chance = random.Random(seed)
    for number in range(0, groups, steps):
        application = Application(random.Random(chance.random()), size=1 if number % 200 else 5)
        for step in range(min(steps, groups - number)):
            if step:
                application.step()
            yield application


def odd_heartbeats(seed: int, count: int) -> Iterator[Heartbeat]:
    """Members in states into which no history may bring them, and with warm-up tasks, which nobody gets yet."""
    chance = random.Random(seed)
    for _ in range(count):
        running = Runners()
        for process_id in ("a", "b"):
            for _ in range(chance.choice((0, 0, 1, 3))):
                running.add(_with_epochs(chance, _some(chance, 0.3)), process_id)
        state = chance.choice((*MemberState, MemberState.STABLE, MemberState.UNREVOKED_TASKS))
        has, loses = _with_epochs(chance, _some(chance)), _with_epochs(chance, _some(chance))
        epoch = chance.randint(5, 7)
        member = StreamsMember("m", epoch, epoch - 1, state, process_id="a", assigned=has, pending_revocation=loses)
        if chance.random() < 0.7:
            running.add(has, "a")
            running.add(loses, "a")
        owned = chance.choice((None, EMPTY, has.without_epochs(), loses.without_epochs(), _some(chance)))
        yield Heartbeat(member, Reconciliation(chance.randint(6, 7), _some(chance), running, owned))


def name(chance: random.Random) -> str:
    """A short one, or one as long as ids are."""
    return "".join(chance.choices(_NAMES, k=chance.choice((1, 2, 22))))


def _some(chance: random.Random, often: float = 0.6) -> TasksTuple:
    return TasksTuple(*(_tasks(chance) if chance.random() < often else {} for _ in range(3)))


def _tasks(chance: random.Random) -> Tasks:
    """Of few subtopologies, some of which share a bucket of Kafka's map, or of so many that the map is full."""
    if chance.random() < 0.95:
        some = chance.sample(("0", "1", "11", "A", "!", "Q"), chance.randint(1, 3))
    else:
        some = [str(number) for number in chance.sample(range(20), chance.randint(8, 14))]
    return tasks_of([TaskIds(i, chance.sample(range(5), chance.randint(1, 3))) for i in sorted(some)])


def _with_epochs(chance: random.Random, tasks: TasksTuple) -> TasksTupleWithEpochs:
    active = {i: {partition: chance.randint(1, 6) for partition in some} for i, some in tasks.active.items()}
    return TasksTupleWithEpochs(active, tasks.standby, tasks.warmup)
