"""What the records say of streams groups, live and at load alike: one `StreamsGroupState` a group.

Kafka: GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from kafkastub.coordinator.records import StreamsRecord
from kafkastub.coordinator.streams.records import (
    StreamsGroupCurrentMemberAssignment,
    StreamsGroupCurrentMemberAssignmentTombstone,
    StreamsGroupMemberMetadata,
    StreamsGroupMemberMetadataTombstone,
    StreamsGroupMetadata,
    StreamsGroupMetadataTombstone,
    StreamsGroupTargetAssignmentMember,
    StreamsGroupTargetAssignmentMemberTombstone,
    StreamsGroupTargetAssignmentMetadata,
    StreamsGroupTargetAssignmentMetadataTombstone,
    StreamsGroupTopology,
    StreamsGroupTopologyTombstone,
    WrittenTopology,
)
from kafkastub.coordinator.typed_state import Place, RecordsOfType, TypedGroupState


class StreamsGroupState(TypedGroupState):
    """One group, as its records say; to be read only.

    Attributes:
        metadata: its epoch; None before its record.
        topology: what it runs; None before its record.
        target_metadata: the epoch of its target assignment; None before its record.
        members: by member id. A member may have a current assignment and no metadata.
        target: by member id.
        current: by member id.
    """

    __slots__ = ("current", "members", "metadata", "target", "target_metadata", "topology")

    def __init__(self) -> None:
        self.metadata: StreamsGroupMetadata | None = None
        self.topology: StreamsGroupTopology | None = None
        self.target_metadata: StreamsGroupTargetAssignmentMetadata | None = None
        self.members: dict[str, StreamsGroupMemberMetadata] = {}
        self.target: dict[str, StreamsGroupTargetAssignmentMember] = {}
        self.current: dict[str, StreamsGroupCurrentMemberAssignment] = {}


def _weight(record: StreamsRecord) -> int:
    """Bytes that a record takes in memory, roughly."""
    if isinstance(record, StreamsGroupCurrentMemberAssignment):
        return _A_RECORD + _weight_of(record.assigned) + _weight_of(record.pending_revocation)
    if isinstance(record, StreamsGroupTargetAssignmentMember):
        return _A_RECORD + _weight_of(record.tasks)
    if isinstance(record, StreamsGroupMemberMetadata):
        texts = (record.client_id, record.process_id, *(text for pair in record.client_tags for text in pair))
        return _A_RECORD + sum(_A_TEXT + len(one) for one in texts)
    if isinstance(record, StreamsGroupTopology):
        return _A_RECORD + _weight_of_topology(record.topology)
    return _A_RECORD


def _weight_of(kinds: Iterable[Mapping[str, Collection[int]]]) -> int:
    return sum(_A_SUBTOPOLOGY + _A_TASK * len(some) for kind in kinds for some in kind.values())


def _weight_of_topology(topology: WrittenTopology) -> int:
    weight = 0
    for one in topology.subtopologies:
        internal = (*one.state_changelog_topics, *one.repartition_source_topics)
        names = (*one.source_topics, *one.source_topic_regex, *one.repartition_sink_topics)
        texts = [*names, *(topic.name for topic in internal)]
        texts += [text for topic in internal for pair in topic.topic_configs for text in pair]
        weight += _A_RECORD + sum(_A_TEXT + len(text) for text in texts)
        for group in one.copartition_groups:
            positions = (*group.source_topics, *group.source_topic_regex, *group.repartition_source_topics)
            weight += _A_SUBTOPOLOGY + 8 * len(positions)
    return weight


_A_RECORD: Final = 300
_A_SUBTOPOLOGY: Final = 250
_A_TASK: Final = 60
_A_TEXT: Final = 60
"""Bytes of each, measured on 64 bits."""
RECORDS: Final = RecordsOfType(
    StreamsGroupState,
    {
        StreamsGroupMetadata: Place("metadata", "", True),
        StreamsGroupMetadataTombstone: Place("metadata", "", False),
        StreamsGroupTopology: Place("topology", "", True),
        StreamsGroupTopologyTombstone: Place("topology", "", False),
        StreamsGroupMemberMetadata: Place("members", "member_id", True),
        StreamsGroupMemberMetadataTombstone: Place("members", "member_id", False),
        StreamsGroupTargetAssignmentMetadata: Place("target_metadata", "", True),
        StreamsGroupTargetAssignmentMetadataTombstone: Place("target_metadata", "", False),
        StreamsGroupTargetAssignmentMember: Place("target", "member_id", True),
        StreamsGroupTargetAssignmentMemberTombstone: Place("target", "member_id", False),
        StreamsGroupCurrentMemberAssignment: Place("current", "member_id", True),
        StreamsGroupCurrentMemberAssignmentTombstone: Place("current", "member_id", False),
    },
    _weight,
)
