"""One streams group: what its records say, what follows from that, and what others ask of any group.

`apply` is the one place where a live group changes, but for what is soft. Kafka: StreamsGroup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafkastub.coordinator.group import (
    Consideration,
    GroupDescription,
    PartitionCheck,
)
from kafkastub.coordinator.modern.group import FIRST_EPOCH
from kafkastub.coordinator.modern.reconciling import ReconcilingGroup
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.streams import member as members_of
from kafkastub.coordinator.streams.configured import ConfiguredTopology
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.offsets import check_commit, check_fetch
from kafkastub.coordinator.streams.records import (
    NO_TOPOLOGY_EPOCH,
    TYPES,
    StreamsGroupCurrentMemberAssignment,
    StreamsGroupCurrentMemberAssignmentTombstone,
    StreamsGroupMemberMetadata,
    StreamsGroupMemberMetadataTombstone,
    StreamsGroupMetadata,
    StreamsGroupTargetAssignmentMember,
    StreamsGroupTargetAssignmentMemberTombstone,
    StreamsGroupTargetAssignmentMetadata,
    StreamsGroupTargetAssignmentMetadataTombstone,
    StreamsGroupTopology,
    StreamsGroupTopologyTombstone,
)
from kafkastub.coordinator.streams.runners import Runners
from kafkastub.coordinator.streams.soft_state import SoftState
from kafkastub.coordinator.streams.tasks import EMPTY, TasksTuple
from kafkastub.coordinator.streams.topology import Topology
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline
from kafkawire.errors import ErrorCode, KafkaError


class StreamsGroup(ReconcilingGroup[StreamsMember, MemberTimers]):
    """One group.

    Attributes:
        metadata: its epoch, and what else is in the record of it.
        topology: what it runs; None before its record.
        target: by member id.
        target_version: raised with each change of the target.
        runners: which process has which task.

    Soft, and lost on a reload:
        soft: what members said and were told.
        initial_delay: until when the first members are waited for; None before there was such a wait.
    """

    __slots__ = (
        "_topics",
        "initial_delay",
        "metadata",
        "runners",
        "soft",
        "target",
        "target_version",
        "topology",
    )

    group_type: Final = "streams"
    protocol_type: Final = "streams"
    lasting: Final = False

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id)
        self._topics = topics
        self.metadata = StreamsGroupMetadata(group_id, FIRST_EPOCH)
        self.topology: Topology | None = None
        self.target: dict[str, TasksTuple] = {}
        self.target_version = 0
        self.runners = Runners()
        self.soft = SoftState()
        self.initial_delay: Deadline[Turn] | None = None

    # -- what it looks like --------------------------------------------------------------------------------------

    @property
    def epoch(self) -> int:
        """Raised by whatever asks for a new target."""
        return self.metadata.epoch

    @property
    def topology_epoch(self) -> int:
        """Of the topology; -1 where there is none. Kafka: currentTopologyEpoch."""
        return NO_TOPOLOGY_EPOCH if self.topology is None else self.topology.epoch

    @property
    def state_name(self) -> str:
        """Empty, NotReady, Assigning, Reconciling or Stable. Kafka: StreamsGroup.maybeUpdateGroupState."""
        if not self.members:
            return "Empty"
        if self.topology is None or self.topology.epoch != self.metadata.validated_topology_epoch:
            return "NotReady"
        if self.metadata.epoch > self.target_epoch:
            return "Assigning"
        return "Stable" if self._all_reconciled() else "Reconciling"

    def target_of(self, member_id: str) -> TasksTuple:
        """What the member is to have."""
        return self.target.get(member_id, EMPTY)

    @property
    def configured(self) -> ConfiguredTopology | None:
        """The topology beside the topics, as the last heartbeat that looked found it."""
        return self.soft.configured

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        sources = [] if self.topology is None else sorted(self.topology.sources())
        return GroupDescription(self.epoch, None, None, self._descriptions(lambda member: sources))

    # -- offsets -------------------------------------------------------------------------------------------------

    def consideration(self) -> Consideration:
        """Each offset has its own age, whatever the state."""
        return Consideration(None)

    def subscribes(self, topic: str) -> bool:
        """Whether the topology reads from the topic, and somebody is there to do it."""
        return bool(self.members) and self.topology is not None and topic in self.topology.sources()

    def validate_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation: int,
        *,
        version: int = 9,
        transactional: bool = False,
    ) -> PartitionCheck | None:
        """Raises what speaks against a commit of this member in this epoch; see `Group`."""
        if generation < 0 and not self.members:
            return None  # an administrator
        if transactional and generation == -1 and not member_id and group_instance_id is None:
            return None
        return check_commit(self.member(member_id), self.topology, generation, version, transactional)

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raises UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH; who names neither may fetch."""
        if member_id is None:
            if member_epoch >= 0:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka trips over the missing id
            return
        check_fetch(self.member(member_id), member_epoch)

    def validate_offset_delete(self) -> None:
        """Offsets of topics that the topology does not read may be deleted at any time."""

    # -- the end -------------------------------------------------------------------------------------------------

    def tombstones(self) -> list[Record]:
        """The records that end it, but for those of its offsets. Kafka: createGroupTombstoneRecords."""
        group_id, members = self.group_id, [member.member_id for member in self.in_order()]
        return [*TYPES.ending(group_id, members, ()), StreamsGroupTopologyTombstone(group_id)]

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        super().end(broker_ms)
        if self.initial_delay is not None:
            self.initial_delay.cancel()
        self._read(None)

    # -- records -------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> None:
        """Make a record of this group true; those of other types mean nothing here."""
        change = _CHANGES.get(type(record))
        if change is not None:
            change(self, record)
            if not self.members:
                self.soft.shutdown_by = None

    def _replace(self, old: StreamsMember | None, new: StreamsMember | None) -> None:
        runners = self.runners
        self._recount(old, new)
        if old is not None:
            runners.remove(old.assigned, old.process_id)
            runners.remove(old.pending_revocation, old.process_id)
        if new is not None:
            runners.add(new.assigned, new.process_id)
            runners.add(new.pending_revocation, new.process_id)

    def _update(self, member: StreamsMember) -> None:
        member_id = member.member_id
        self._replace(self.members.get(member_id), member)
        self._put(member_id, member)
        self.soft.endpoints.pop(member_id, None)

    def _known(self, member_id: str) -> StreamsMember:
        return self.members.get(member_id) or StreamsMember(member_id)

    def _read(self, topology: Topology | None) -> None:
        """Other topics are needed than before."""
        before = set() if self.topology is None else set(self.topology.required_topics())
        after = set() if topology is None else set(topology.required_topics())
        self.topology = topology
        for name in after - before:
            self._topics.add(name, self.group_id)
        for name in before - after:
            self._topics.discard(name, self.group_id)

    def _apply_epoch(self, record: StreamsGroupMetadata) -> None:
        self.metadata = record

    def _apply_topology(self, record: StreamsGroupTopology) -> None:
        assert isinstance(record.topology, Topology)
        self._read(record.topology)

    def _apply_no_topology(self, record: StreamsGroupTopologyTombstone) -> None:
        self._read(None)

    def _apply_member(self, record: StreamsGroupMemberMetadata) -> None:
        self._update(members_of.with_metadata(self._known(record.member_id), record))

    def _apply_no_member(self, record: StreamsGroupMemberMetadataTombstone) -> None:
        member_id = record.member_id
        old = self.members.pop(member_id, None)
        if old is not None:
            self._replace(old, None)
            self.soft.forget(member_id)
            self._forget_timers(member_id)

    def _apply_current(self, record: StreamsGroupCurrentMemberAssignment) -> None:
        self._update(members_of.with_assignment(self._known(record.member_id), record))

    def _apply_no_current(self, record: StreamsGroupCurrentMemberAssignmentTombstone) -> None:
        member = self.members.get(record.member_id)
        if member is not None:
            self._update(members_of.without_assignment(member))

    def _apply_target(self, record: StreamsGroupTargetAssignmentMember) -> None:
        self.target_version += 1
        self.target[record.member_id] = members_of.read_target(record.tasks)

    def _apply_no_target(self, record: StreamsGroupTargetAssignmentMemberTombstone) -> None:
        self.target_version += 1
        self.target.pop(record.member_id, None)


_CHANGES: Final[Mapping[type[Record], Callable[[StreamsGroup, Any], None]]] = {
    StreamsGroupMetadata: StreamsGroup._apply_epoch,
    StreamsGroupTopology: StreamsGroup._apply_topology,
    StreamsGroupTopologyTombstone: StreamsGroup._apply_no_topology,
    StreamsGroupMemberMetadata: StreamsGroup._apply_member,
    StreamsGroupMemberMetadataTombstone: StreamsGroup._apply_no_member,
    StreamsGroupCurrentMemberAssignment: StreamsGroup._apply_current,
    StreamsGroupCurrentMemberAssignmentTombstone: StreamsGroup._apply_no_current,
    StreamsGroupTargetAssignmentMetadata: StreamsGroup._apply_target_epoch,
    StreamsGroupTargetAssignmentMetadataTombstone: StreamsGroup._apply_no_target_epoch,
    StreamsGroupTargetAssignmentMember: StreamsGroup._apply_target,
    StreamsGroupTargetAssignmentMemberTombstone: StreamsGroup._apply_no_target,
}
