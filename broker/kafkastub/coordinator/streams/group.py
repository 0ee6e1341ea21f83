"""One streams group: what its records say, what follows from that, and what others ask of any group.

`apply` is the one place where a live group changes, but for what is volatile. Kafka: StreamsGroup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kafkastub.coordinator.group import (
    GroupDescription,
    PartitionCheck,
)
from kafkastub.coordinator.modern.group import FIRST_EPOCH, Change
from kafkastub.coordinator.modern.reconciling import ReconcilingGroup
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.records import Record, Tombstone
from kafkastub.coordinator.streams import member as members_of
from kafkastub.coordinator.streams.configured import ConfiguredTopology
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.offsets import check_commit, check_fetch
from kafkastub.coordinator.streams.records import (
    NO_TOPOLOGY_EPOCH,
    TYPES,
    StreamsGroupMetadata,
    StreamsGroupTargetAssignmentMember,
    StreamsGroupTopology,
)
from kafkastub.coordinator.streams.runners import Runners
from kafkastub.coordinator.streams.tasks import EMPTY, TasksTuple
from kafkastub.coordinator.streams.topology import Topology
from kafkastub.coordinator.streams.volatile_state import VolatileState
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline


class StreamsGroup(ReconcilingGroup[StreamsMember, TasksTuple, MemberTimers]):
    """One group.

    Attributes:
        metadata: its epoch, and what else is in the record of it.
        topology: what it runs; None before its record.
        target_version: raised with each change of the target.
        runners: which process has which task.

    In no record, and lost on a reload:
        volatile: what members said and were told.
        initial_delay: until when the first members are waited for; None before there was such a wait.
    """

    __slots__ = (
        "initial_delay",
        "metadata",
        "runners",
        "target_version",
        "topology",
        "volatile",
    )

    group_type = "streams"
    protocol_type = "streams"
    types = TYPES
    forms = members_of.FORMS
    nothing = EMPTY

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id, topics)
        self.metadata = StreamsGroupMetadata(group_id, FIRST_EPOCH)
        self.topology: Topology | None = None
        self.target_version = 0
        self.runners = Runners()
        self.volatile = VolatileState()
        self.initial_delay: Deadline[Turn] | None = None

    # -- what it looks like --------------------------------------------------------------------------------------

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

    @property
    def configured(self) -> ConfiguredTopology | None:
        """The topology beside the topics, as the last heartbeat that looked found it."""
        return self.volatile.configured

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        sources = [] if self.topology is None else sorted(self.topology.sources())
        return GroupDescription(self.epoch, None, None, self._descriptions(lambda member: sources))

    # -- offsets -------------------------------------------------------------------------------------------------

    def subscribes(self, topic: str) -> bool:
        """Whether the topology reads from the topic, and somebody is there to do it."""
        return bool(self.members) and self.topology is not None and topic in self.topology.sources()

    def _check_commit(
        self, member: StreamsMember, epoch: int, version: int, transactional: bool
    ) -> PartitionCheck | None:
        return check_commit(member, self.topology, epoch, version, transactional)

    def _check_fetch(self, member: StreamsMember, epoch: int) -> None:
        check_fetch(member, epoch)

    # -- the end -------------------------------------------------------------------------------------------------

    def tombstones(self) -> list[Record]:
        """The records that end it: the group's own is not the last one here."""
        return [*super().tombstones(), Tombstone(StreamsGroupTopology, self.group_id)]

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        super().end(broker_ms)
        if self.initial_delay is not None:
            self.initial_delay.cancel()
        self._read(None)

    # -- records -------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        if not self.members:
            self.volatile.shutdown_by = None

    def _replace(self, old: StreamsMember | None, new: StreamsMember | None) -> None:
        runners = self.runners
        self._recount(old, new)
        if old is not None:
            runners.remove(old.assigned, old.process_id)
            runners.remove(old.pending_revocation, old.process_id)
        if new is not None:
            runners.add(new.assigned, new.process_id)
            runners.add(new.pending_revocation, new.process_id)
            self.volatile.endpoints.pop(new.member_id, None)

    def _forget(self, member_id: str) -> None:
        super()._forget(member_id)
        self.volatile.forget(member_id)

    def _read_target(self, record: StreamsGroupTargetAssignmentMember) -> TasksTuple:
        return members_of.read_target(record.tasks)

    def _read(self, topology: Topology | None) -> None:
        """Other topics are needed than before."""
        before = set() if self.topology is None else set(self.topology.required_topics())
        after = set() if topology is None else set(topology.required_topics())
        self.topology = topology
        for name in after - before:
            self._topics.add(name, self.group_id)
        for name in before - after:
            self._topics.discard(name, self.group_id)

    def _apply_metadata(self, record: StreamsGroupMetadata) -> None:
        self._apply_epoch(record)
        self.metadata = record

    def _apply_topology(self, record: StreamsGroupTopology) -> None:
        assert isinstance(record.topology, Topology)
        self._read(record.topology)

    def _end_topology(self, record: Tombstone) -> None:
        self._read(None)

    def _apply_target(self, record: Any) -> None:
        self.target_version += 1
        super()._apply_target(record)

    def _end_target(self, record: Tombstone) -> None:
        self.target_version += 1
        super()._end_target(record)

    changes: ClassVar[Mapping[str, Change]] = {
        **ReconcilingGroup.changes,
        "metadata": Change(_apply_metadata, ReconcilingGroup._end_nothing),
        "target": Change(_apply_target, _end_target),
        "topology": Change(_apply_topology, _end_topology),
    }
