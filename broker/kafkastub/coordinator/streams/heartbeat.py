"""StreamsGroupHeartbeat: members that come and stay. Kafka: GroupMetadataManager.streamsGroupHeartbeat.

The steps come in Kafka's order, as each may refuse the heartbeat, and what the ones before it have changed of the
volatile state stays changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from kafkastub.coordinator.modern.groups import HeartbeatResult
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.streams import joining, responses
from kafkastub.coordinator.streams.assigning import Assigning
from kafkastub.coordinator.streams.configured import ConfiguredTopology, configure
from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.fencing import Fencing
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.reconciliation import Reconciliation
from kafkastub.coordinator.streams.records import NO_TOPOLOGY_EPOCH, Pairs, StreamsGroupMetadata, StreamsGroupTopology
from kafkastub.coordinator.streams.tasks import EMPTY, TasksTuple, tasks_of
from kafkastub.coordinator.streams.topology import Topology
from kafkastub.coordinator.streams.unchanged_heartbeat import remember
from kafkastub.coordinator.streams.validation import check_tasks
from kafkastub.coordinator.streams.volatile_state import VolatileState
from kafkastub.coordinator.turn import NotYet, Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import Status as ToldStatus
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse


class Update(IntEnum):
    """What a heartbeat asks of the target. Kafka: AssignmentUpdate."""

    NONE = 0
    REFINED = 1
    RECOMPUTE = 2


@dataclass(slots=True, eq=False)
class _Heartbeat:
    """One heartbeat on its way through the steps.

    Attributes:
        before: the member, as it was; a new one has nothing.
        member: the member, as it will be.
        replaced: the static member whose place it takes; None where there is none.
        is_new: the group is new.
        looked: the topics were looked at.
        has_target: a target was computed.
        epoch: that of the group, as it will be.
    """

    request: StreamsGroupHeartbeatRequest
    version: int
    turn: Turn
    records: list[Record] = field(default_factory=list)
    statuses: list[ToldStatus] = field(default_factory=list)
    update: Update = Update.NONE
    is_new: bool = False
    looked: bool = False
    has_target: bool = False
    replaced: StreamsMember | None = None
    validated: int = NO_TOPOLOGY_EPOCH
    configs: Pairs = ()
    epoch: int = 0
    before: StreamsMember = field(init=False)
    configured: ConfiguredTopology = field(init=False)
    group: StreamsGroup = field(init=False)
    member: StreamsMember = field(init=False)
    metadata_hash: int = field(init=False)
    topology: Topology = field(init=False)

    @property
    def joins(self) -> bool:
        return self.request.member_epoch == 0


class Heartbeats:
    """Answers heartbeats of members that come or stay."""

    __slots__ = ("assigning", "context", "fencing")

    def __init__(self, context: StreamsContext, fencing: Fencing) -> None:
        self.context = context
        self.fencing = fencing
        self.assigning = Assigning(context)

    def beat(
        self, request: StreamsGroupHeartbeatRequest, version: int, client_id: str, client_host: str, turn: Turn
    ) -> HeartbeatResult:
        """One heartbeat. Raises what speaks against it; then no record is written. Raises NotYet.

        Its follow-up is the `ConfiguredTopology`, whose missing topics are to be made.
        """
        beat = _Heartbeat(request, version, turn)
        saved = None if turn.results is None else self._saved(request.group_id)
        self._find(beat)
        try:
            self._describe_itself(beat, client_id, client_host)
            self._know_topology(beat)
            self._configure(beat)
            self._look_at_tasks(beat)
            refined = self._look_for_changes(beat)
            self._raise_epoch(beat)
            target_epoch, target = self._target(beat, refined)
            after = self._reconciled(beat, target_epoch, target)
            response = self._answer(beat, after)
            self._write(beat, after)
        except NotYet:
            self._put_back(request.group_id, saved)
            raise
        except KafkaError:
            if request.member_id not in beat.group.members:  # nobody would ever ask to forget it
                beat.group.volatile.forget(request.member_id)
            raise
        if not beat.records:
            remember(self.context, beat.group, after, response, version)
        return HeartbeatResult(response, beat.configured)

    def _saved(self, group_id: str) -> Any:
        """What a heartbeat may change of the volatile state before its target is there."""
        group = self.context.find(group_id)
        publishes = self.context.groups.unpublished.get(group_id)
        return None if group is None else (group.volatile.saved(), publishes)

    def _put_back(self, group_id: str, saved: Any) -> None:
        group = self.context.find(group_id)
        if group is None or saved is None:
            return
        state, publishes = saved
        group.volatile.put_back(state)
        if publishes is None:
            self.context.groups.unpublished.pop(group_id, None)

    # -- who it is -----------------------------------------------------------------------------------------------

    def _find(self, beat: _Heartbeat) -> None:
        """The group and the member. Raises GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, and what speaks against it."""
        request, group_id = beat.request, beat.request.group_id
        beat.group = self.context.get_or_create(group_id, beat.joins, beat.records)
        beat.is_new = self.context.find(group_id) is not beat.group
        if beat.joins:
            settings = self.context.settings
            joining.check_room(beat.group, request, settings.max_size, settings.rules.known_have_room)
        there = beat.group.static_member(request.instance_id)
        if there is not None and there.member_id != request.member_id:
            beat.replaced = there
            beat.group.volatile.relabel(there.member_id, request.member_id)
        beat.before = joining.member(beat.group, request, beat.records)

    def _describe_itself(self, beat: _Heartbeat, client_id: str, client_host: str) -> None:
        """What it says of itself; a static member that says what nobody assigns by asks for no new target."""
        before = beat.before
        endpoints_change = self.context.settings.rules.endpoints_change
        beat.member = after = joining.updated(before, beat.request, client_id, client_host, endpoints_change)
        if after == before:
            beat.member = before
            return
        beat.records.append(beat.group.forms.metadata_record(beat.group.group_id, after))
        if beat.request.instance_id is None or joining.matters_to_assignor(before, after):
            beat.update = Update.RECOMPUTE

    # -- what it runs --------------------------------------------------------------------------------------------

    def _know_topology(self, beat: _Heartbeat) -> None:
        """What the group runs. Raises INVALID_REQUEST for another one. Kafka: maybeUpdateTopology."""
        group, sent = beat.group, beat.request.topology
        if sent is not None:
            topology = Topology.from_heartbeat(sent)
            if group.topology is None:
                beat.records.append(StreamsGroupTopology(group.group_id, topology))
                beat.topology = topology
                return
            if group.topology.epoch <= topology.epoch and group.topology != topology:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
        if group.topology is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # so Kafka fails at a group that is only half there
        beat.topology = group.topology
        if beat.member.topology_epoch < group.topology.epoch:
            beat.statuses.append(responses.stale_topology(beat.member.topology_epoch, group.topology.epoch))

    def _configure(self, beat: _Heartbeat) -> None:
        """The topology beside the topics, which are looked at where they may be others than before."""
        group = beat.group
        beat.metadata_hash = group.metadata.metadata_hash
        configured = group.configured
        if configured is not None and group.topology is not None and not group.metadata_stale:
            beat.configured = configured
            return
        is_other, beat.looked = group.topology is None, True
        beat.metadata_hash = self.context.topics.metadata_hash(beat.topology.required_topics())
        if beat.metadata_hash != group.metadata.metadata_hash:
            beat.update = Update.RECOMPUTE
            is_other = True
        if is_other or configured is None:
            configured = configure(beat.topology, beat.metadata_hash, self.context.image)
            group.volatile.configured = configured
            if not beat.is_new:
                self.context.groups.unpublished[group.group_id] = group.volatile.publish
        beat.configured = configured

    def _look_at_tasks(self, beat: _Heartbeat) -> None:
        """What it says of its tasks. Raises INVALID_REQUEST for tasks that there are not."""
        request, configured = beat.request, beat.configured
        if configured.is_ready:
            beat.validated = beat.topology.epoch
            assert configured.subtopologies is not None
            check_tasks(configured.subtopologies, (request.active_tasks, request.standby_tasks, request.warmup_tasks))
        if request.task_offsets is not None or request.task_end_offsets is not None:
            volatile = beat.group.volatile
            said = volatile.offsets_of(request.member_id).updated(request.task_offsets, request.task_end_offsets)
            volatile.task_offsets[request.member_id] = said

    # -- what is to be assigned ----------------------------------------------------------------------------------

    def _look_for_changes(self, beat: _Heartbeat) -> Mapping[str, TasksTuple] | None:
        """Whether there has to be a new target; gives the refined target where it was looked at for that."""
        group = beat.group
        if beat.validated != group.metadata.validated_topology_epoch:
            beat.update = Update.RECOMPUTE
        beat.configs = self.context.assignment_configs(group.group_id)
        if beat.update is Update.NONE and beat.configs != group.metadata.assignment_configs:
            beat.update = Update.RECOMPUTE
        rules = self.context.settings.rules
        if beat.update is not Update.NONE or group.state_name != "Stable" or not rules.roles_change:
            return None
        refined = group.target
        if not refined.get(beat.request.member_id, EMPTY).same_tasks(beat.member.assigned):
            beat.update = Update.REFINED
        return refined

    def _raise_epoch(self, beat: _Heartbeat) -> None:
        group = beat.group
        beat.epoch = group.epoch
        if beat.update is Update.NONE:
            return
        beat.epoch += 1
        known = group.metadata
        beat.records.append(
            StreamsGroupMetadata(
                group.group_id,
                beat.epoch,
                beat.metadata_hash,
                beat.validated,
                beat.configs,
                known.stored_description_topology_epoch,
                known.failed_description_topology_epoch,
            )
        )
        self.context.rebalances += 1

    def _target(self, beat: _Heartbeat, refined: Mapping[str, TasksTuple] | None) -> tuple[int, TasksTuple]:
        """The epoch of the target, and the member's part of it."""
        group = beat.group
        if group.is_empty:
            self.assigning.wait_for_others(group, beat.turn)
        assigned = self.assigning.assign(
            group,
            beat.epoch,
            beat.member,
            beat.configured,
            beat.configs,
            beat.update is Update.REFINED,
            beat.records,
            beat.turn,
        )
        beat.has_target = assigned.is_new
        if assigned.delay is not None:
            beat.statuses.append(assigned.delay)
        warms_up = self.context.of(group.group_id).num_warmup_replicas > 0
        known = None if refined is not None else group.volatile.refined(assigned.epoch)
        if known is None:
            known = assigned.tasks if refined is None else refined
            if warms_up:
                group.volatile.refine(assigned.epoch, known, group.target_version if known is group.target else None)
        return assigned.epoch, known.get(beat.member.member_id, EMPTY)

    def _reconciled(self, beat: _Heartbeat, target_epoch: int, target: TasksTuple) -> StreamsMember:
        """The member on its way to the target. Raises FENCED_MEMBER_EPOCH. Kafka: maybeReconcile."""
        member, request = beat.member, beat.request
        if member.is_reconciled_to(target_epoch):
            return member
        owned = None
        active, standby, warmup = request.active_tasks, request.standby_tasks, request.warmup_tasks
        if active is not None and standby is not None and warmup is not None:
            try:
                owned = TasksTuple(tasks_of(active), tasks_of(standby), tasks_of(warmup))
            except ValueError:  # a subtopology that comes twice: Kafka fails
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR) from None
        roles_change = self.context.settings.rules.roles_change
        after = Reconciliation(target_epoch, target, beat.group.runners, owned, roles_change).next(member)
        if after != member:
            beat.records.append(beat.group.forms.assignment_record(beat.group.group_id, after))
        return after

    # -- what it is told -----------------------------------------------------------------------------------------

    def _answer(self, beat: _Heartbeat, after: StreamsMember) -> StreamsGroupHeartbeatResponse:
        group, request, context = beat.group, beat.request, self.context
        if request.shutdown_application:
            group.volatile.ask_for_shutdown(request.member_id)
        settings = context.of(group.group_id)
        response = responses.answer(after, settings)
        changed = beat.before.assigned != after.assigned
        if beat.joins or changed:
            responses.tell_tasks(response, after)
        responses.tell_endpoints(
            response,
            responses.Endpoints(group, beat.before, after, beat.replaced, context.image, context.settings.rules),
            changed,
            beat.joins,
            request.endpoint_information_epoch,
        )
        if group.group_id in context.groups.groups:
            response.endpoint_information_epoch = group.volatile.endpoint_epoch
        if beat.configured.error is not None:
            error = beat.configured.error
            beat.statuses.append(ToldStatus(error.status, error.message))
        if group.volatile.shutdown_by is not None:
            beat.statuses.append(responses.shutdown(group.volatile.shutdown_by))
        missing = responses.missing_tags(beat.configs, after) if beat.version >= 1 else None
        if missing is not None:
            beat.statuses.append(missing)
        response.status = beat.statuses
        return response

    def _write(self, beat: _Heartbeat, after: StreamsMember) -> None:
        """What has been decided is so from now on."""
        group, turn, before = beat.group, beat.turn, beat.member
        group.metadata_stale = group.metadata_stale and not beat.looked
        self.context.write(group, beat.records, turn)
        if beat.is_new:  # see `VolatileState`
            group.volatile, group.metadata_stale = VolatileState(), True
        if beat.has_target:
            group.assigned_at = turn.timer_ms
        if after != before:
            self.fencing.watch(group, after, turn)
        self.fencing.alive(group, after.member_id, turn.timer_ms)
