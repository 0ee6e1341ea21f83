"""The target of a streams group: what each member is to have. Kafka: streams.TargetAssignmentBuilder."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kafkastub.coordinator.modern.assignors.sticky_tasks import (
    MemberTasks,
    StickyTaskAssignor,
    SubtopologyTasks,
    TaskAssignment,
)
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.tasks import EMPTY, EpochsOfTasks, TasksTuple
from kafkastub.steps import Pace, no_pause
from kafkawire.java_order import string_map_order


class Subtopology(Protocol):
    """A subtopology whose topics are there."""

    @property
    def number_of_tasks(self) -> int: ...

    @property
    def state_changelog_topics(self) -> Sized: ...


class Target(NamedTuple):
    """A new target.

    Attributes:
        tasks: by member id, of all members.
        changed: members whose target is another one than before, or who had none, in the order of their records.
    """

    tasks: dict[str, TasksTuple]
    changed: list[str]


@dataclass(frozen=True, slots=True)
class Computation:
    """What a new target is computed of.

    Attributes:
        members: as they are now, with the one whose heartbeat it is and without the one that it replaces, by member id.
        before: the target until now; what is of the replaced member stands under the id of the one that replaces it.
        task_offsets: what members told: subtopology id, partition, how far they have come with its state.
        subtopologies: by id; None while topics are missing, or are not as they have to be: then nobody has anything.
        from_current: as `StreamsRules` has it.
    """

    members: Mapping[str, StreamsMember]
    before: Mapping[str, TasksTuple]
    task_offsets: Mapping[str, EpochsOfTasks]
    subtopologies: Mapping[str, Subtopology] | None
    num_standby_replicas: int
    assignor: StickyTaskAssignor
    from_current: bool = True

    @property
    def size(self) -> int:
        """Members and tasks."""
        tasks = 0 if self.subtopologies is None else sum(one.number_of_tasks for one in self.subtopologies.values())
        return len(self.members) + tasks * (1 + self.num_standby_replicas)

    def run(self, pace: Pace = no_pause) -> Target:
        """The new target. Raises AssignorError."""
        order = string_map_order(self.members)
        found = {} if self.subtopologies is None else self._assigned(order, self.subtopologies, pace)
        tasks = {i: TasksTuple(found[i].active, found[i].standby) if i in found else EMPTY for i in order}
        return Target(tasks, [i for i in order if i not in self.before or tasks[i] != self.before[i]])

    def _assigned(
        self, order: list[str], subtopologies: Mapping[str, Subtopology], pace: Pace
    ) -> Mapping[str, TaskAssignment]:
        members: dict[str, MemberTasks] = {}
        for member_id in order:
            member = self.members[member_id]
            has = member.assigned if self.from_current else self.before.get(member_id, EMPTY)
            members[member_id] = MemberTasks(
                member.process_id, has.active, has.standby, self.task_offsets.get(member_id, {})
            )
        described = {
            subtopology_id: SubtopologyTasks(one.number_of_tasks, len(one.state_changelog_topics) > 0)
            for subtopology_id, one in subtopologies.items()
        }
        return self.assignor.assign(members, described, self.num_standby_replicas, pace)
