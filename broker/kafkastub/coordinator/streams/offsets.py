"""Offsets of a streams group: who may commit them, and what members say of their tasks' own.

Kafka: StreamsGroup.validateOffsetCommit, createAssignmentEpochValidator; MemberTaskOffsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from kafkastub.coordinator.group import PartitionCheck
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.tasks import NO_EPOCHS
from kafkastub.coordinator.streams.topology import Topology
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.streams_group_heartbeat_request import TaskOffset

OffsetsOfTasks = Mapping[str, Mapping[int, int]]
"""By subtopology id and partition."""
_FIRST_VERSION = 9
"""Of OffsetCommit that may come from a member; TxnOffsetCommit may have any."""


class MemberTaskOffsets(NamedTuple):
    """How far a member's copies of states are, as it last said; and how far there is to go."""

    offsets: OffsetsOfTasks
    end_offsets: OffsetsOfTasks

    def updated(
        self, offsets: Sequence[TaskOffset] | None, end_offsets: Sequence[TaskOffset] | None
    ) -> MemberTaskOffsets:
        """With what a heartbeat says; null says nothing. Raises INVALID_REQUEST for a task that comes twice."""
        return MemberTaskOffsets(
            self.offsets if offsets is None else _by_task(offsets),
            self.end_offsets if end_offsets is None else _by_task(end_offsets),
        )


NO_TASK_OFFSETS = MemberTaskOffsets({}, {})


def _by_task(told: Sequence[TaskOffset]) -> OffsetsOfTasks:
    found: dict[str, dict[int, int]] = {}
    for one in told:
        of_subtopology = found.setdefault(one.subtopology_id, {})
        if one.partition in of_subtopology:
            what = f"subtopology {one.subtopology_id} and partition {one.partition}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Task offsets contain a duplicate entry for {what}.")
        of_subtopology[one.partition] = one.offset
    return found


def check_commit(
    member: StreamsMember, topology: Topology | None, epoch: int, version: int, transactional: bool
) -> PartitionCheck | None:
    """Raises what speaks against a commit of a member in an epoch; what is given back is asked of each partition.

    In an earlier epoch a member may commit for a task that it has had since.
    """
    if not transactional and version < _FIRST_VERSION:
        what = "OffsetCommit version 9 or above must be used by members using the streams group protocol"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, what)
    known = member.member_epoch
    if epoch == known:
        return None
    if epoch > known:
        raise _stale(f"Received member epoch {epoch} is newer than current member epoch {known}.")
    if topology is None:
        raise _stale("Topology is not available for offset commit validation.")
    return partial(_check_partition, member, topology, epoch)


def check_fetch(member: StreamsMember, epoch: int) -> None:
    """Raises STALE_MEMBER_EPOCH where that is not the member's epoch."""
    known = member.member_epoch
    if epoch != known:
        raise _stale(f"The received member epoch {epoch} does not match the expected member epoch {known}.")


def _check_partition(
    member: StreamsMember, topology: Topology, epoch: int, topic: str, topic_id: bytes, partition: int
) -> None:
    subtopology = topology.sources().get(topic)
    if subtopology is None:
        raise _stale(f"Topic {topic} is not in the topology.")
    name = subtopology.subtopology_id
    since = member.assigned.active.get(name, NO_EPOCHS).get(partition)
    if since is None:
        since = member.pending_revocation.active.get(name, NO_EPOCHS).get(partition)
    if since is None:
        raise _stale(f"Task {name}-{partition} is not assigned or pending revocation for member.")
    if epoch < since:
        what = f"Received member epoch {epoch} is older than assignment epoch {since} for task {name}-{partition}."
        raise _stale(what)


def _stale(what: str) -> KafkaError:
    return KafkaError(ErrorCode.STALE_MEMBER_EPOCH, what)
