"""When a group gets a new target, and what comes of it. Kafka: maybeUpdateStreamsTargetAssignment.

A group that was empty waits for more members first, so that they do not get tasks one by one; and a target is computed
once in the assignment interval. Meanwhile members are told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafkastub.coordinator.modern.assignors.errors import AssignorError, not_computed
from kafkastub.coordinator.modern.group import FIRST_EPOCH, NewTarget
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.streams.configured import ConfiguredTopology
from kafkastub.coordinator.streams.context import NUM_STANDBY_REPLICAS, StreamsContext
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.records import Pairs, StreamsGroupTargetAssignmentMetadata
from kafkastub.coordinator.streams.statuses import Status
from kafkastub.coordinator.streams.targets import Computation
from kafkastub.coordinator.streams.tasks import TasksTuple
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline
from kafkastub.steps import Pace, no_pause
from kafkawire.errors import KafkaError
from kafkawire.messages.streams_group_heartbeat_response import Status as ToldStatus

_MANY: Final = 1_000
"""Waits that are not worth looking through for those that were called off."""


class Assigned(NamedTuple):
    """A target.

    Attributes:
        epoch: for which it was computed.
        tasks: by member id.
        delay: why there is no new one, for whoever asks for it; None where there is.
        is_new: it was computed just now.
    """

    epoch: int
    tasks: Mapping[str, TasksTuple]
    delay: ToldStatus | None = None
    is_new: bool = False


class Assigning:
    """Computes targets.

    Attributes:
        delays: until when groups wait for more members, by their ids; a group may have come to nothing since.
    """

    __slots__ = ("context", "delays")

    def __init__(self, context: StreamsContext) -> None:
        self.context = context
        self.delays: dict[str, Deadline[Turn]] = {}

    def wait_for_others(self, group: StreamsGroup, turn: Turn) -> None:
        """The first member of an empty group is here: let others come, before anything is assigned."""
        group_id = group.group_id
        delay_ms = self.context.of(group_id).initial_rebalance_delay_ms
        if delay_ms <= 0:
            return
        delay = self.delays.get(group_id)
        if delay is None or delay.at is None:
            if len(self.delays) >= _MANY:
                self.delays = {name: one for name, one in self.delays.items() if one.at is not None}
            delay = Deadline[Turn](("initial", group_id), lambda later: self._others_came(group_id, later))
            self.delays[group_id] = delay
            self.context.groups.deadlines.arm(delay, turn.timer_ms + delay_ms)
        group.initial_delay = delay

    def assign(
        self,
        group: StreamsGroup,
        epoch: int,
        updated: StreamsMember,
        configured: ConfiguredTopology,
        configs: Pairs,
        same_target: bool,
        records: list[Record],
        turn: Turn,
    ) -> Assigned:
        """The target as it is after a heartbeat; records of what is new in it are appended.

        Args:
            epoch: that of the group, as it will be.
            updated: the member whose heartbeat it is, as it will be.
            same_target: the target goes on in the new epoch; members only have to go towards it again.

        Raises UNKNOWN_SERVER_ERROR where the assignor fails; NotYet.
        """
        if self._waits(group.group_id):
            why = "Assignment delayed due to the configured initial rebalance delay."
            return Assigned(max(FIRST_EPOCH, group.target_epoch), {}, ToldStatus(Status.ASSIGNMENT_DELAYED, why))
        replaced = group.replaced_by(updated)
        before = group.target_with(updated, replaced)
        if group.target_epoch >= epoch:
            return Assigned(group.target_epoch, before)
        if same_target and group.target_epoch >= group.epoch:
            records.append(StreamsGroupTargetAssignmentMetadata(group.group_id, epoch, group.target_timestamp))
            return Assigned(epoch, before)
        if not self.context.may_compute(group, turn):
            why = "Assignment delayed due to the configured assignment interval."
            return Assigned(group.target_epoch, before, ToldStatus(Status.ASSIGNMENT_DELAYED, why))
        members = _members(group) | {updated.member_id: updated}
        if replaced is not None:
            del members[replaced]
        new = self._compute(group, epoch, members, before, configured, configs, turn)
        records += group.target_records(new, epoch, self._timestamp(turn))
        return Assigned(epoch, new.target, is_new=True)

    def _waits(self, group_id: str) -> bool:
        delay = self.delays.get(group_id)
        return delay is not None and delay.at is not None

    def _compute(
        self,
        group: StreamsGroup,
        epoch: int,
        members: Mapping[str, StreamsMember],
        before: Mapping[str, TasksTuple],
        configured: ConfiguredTopology,
        configs: Pairs,
        turn: Turn,
    ) -> NewTarget[TasksTuple]:
        computation = Computation(
            members,
            before if turn.results is None else dict(before),  # it may change before the new one is computed
            {member_id: said.offsets for member_id, said in group.volatile.task_offsets.items()},
            configured.subtopologies if configured.is_ready else None,
            int(dict(configs).get(NUM_STANDBY_REPLICAS, "0")),
            self.context.assignor,
            self.context.settings.rules.from_current,
        )

        def run(pace: Pace) -> NewTarget[TasksTuple]:
            found = computation.run(pace)
            return group.new_target(found.tasks, computation.before, found.changed, pace)

        results = self.context.results(group, computation.size, turn)
        try:
            return run(no_pause) if results is None else results.of(computation, run)
        except AssignorError as error:
            raise not_computed(epoch, error) from error

    def _others_came(self, group_id: str, turn: Turn) -> None:
        """The wait is over: compute the target, for whoever is there. Kafka: computeDelayedTargetAssignment."""
        self.delays.pop(group_id, None)
        group = self.context.find(group_id)
        if group is None or group.is_empty or group.epoch <= group.target_epoch:
            return
        configured, epoch = group.configured, group.epoch
        if configured is None or not self.context.may_compute(group, turn):
            return
        configs = group.metadata.assignment_configs
        try:
            new = self._compute(group, epoch, _members(group), group.target, configured, configs, turn)
        except KafkaError:  # nobody is there to be told: the next heartbeat will be
            return
        self.context.write(group, group.target_records(new, epoch, self._timestamp(turn)), turn)
        group.assigned_at = turn.timer_ms

    def _timestamp(self, turn: Turn) -> int:
        """When a target is computed, as its record has it."""
        return turn.broker_ms if self.context.settings.rules.has_interval else 0


def _members(group: StreamsGroup) -> dict[str, StreamsMember]:
    """By id, in the order in which Kafka goes through them: it decides which of two comes first in a map's bucket."""
    return {one.member_id: one for one in group.in_order()}
