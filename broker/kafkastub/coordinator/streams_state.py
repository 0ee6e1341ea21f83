"""What the records say of streams groups, live and at load alike: one `StreamsGroupState` a group.

It is the last record of every key, no more, so that compaction changes nothing. A tombstone of something that is not
there means nothing. Kafka: GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from kafkastub.coordinator.records import StreamsRecord
from kafkastub.coordinator.streams_records import (
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


class StreamsGroupState:
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

    def copy(self) -> StreamsGroupState:
        """Another one that is the same; records, which nobody changes, are shared."""
        copied = StreamsGroupState()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(copied, name, value.copy() if type(value) is dict else value)
        return copied

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left of it."""
        return not any(getattr(self, name) for name in self.__slots__)


StreamsStates = dict[str, StreamsGroupState]
"""The groups, by id."""


class StreamsRecordKey(NamedTuple):
    """What stands for a record's key: two records with the same are about the same thing.

    Attributes:
        part: the attribute of `StreamsGroupState` that the record is in.
        name: a member id; "" for what a group has once.
        group_type: tells it from the keys of other groups' records.
    """

    part: str
    group_id: str
    name: str
    group_type: str = "streams"


def key_of(record: StreamsRecord) -> tuple[StreamsRecordKey, bool]:
    """A record's key, and whether it has a value; else it is a tombstone."""
    part, name, has_value = _PARTS[type(record)]
    return StreamsRecordKey(part, record.group_id, getattr(record, name) if name else ""), has_value


def held(groups: StreamsStates, key: StreamsRecordKey) -> StreamsRecord | None:
    """The last record with that key, None where there is none or a tombstone."""
    state = groups.get(key.group_id)
    if state is None:
        return None
    found: StreamsRecord | dict[str, StreamsRecord] | None = getattr(state, key.part)
    return found.get(key.name) if isinstance(found, dict) else found


def apply(groups: StreamsStates, record: StreamsRecord) -> None:
    """Make a record true."""
    part, name, has_value = _PARTS[type(record)]
    group_id = record.group_id
    state = groups.get(group_id)
    if state is None:
        if not has_value:
            return
        state = groups[group_id] = StreamsGroupState()
    if not name:
        setattr(state, part, record if has_value else None)
    elif has_value:
        getattr(state, part)[getattr(record, name)] = record
    else:
        getattr(state, part).pop(getattr(record, name), None)
    if not has_value and state.is_empty:
        del groups[group_id]


def weight(record: StreamsRecord) -> int:
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
_PARTS: Final[dict[type[StreamsRecord], tuple[str, str, bool]]] = {
    StreamsGroupMetadata: ("metadata", "", True),
    StreamsGroupMetadataTombstone: ("metadata", "", False),
    StreamsGroupTopology: ("topology", "", True),
    StreamsGroupTopologyTombstone: ("topology", "", False),
    StreamsGroupMemberMetadata: ("members", "member_id", True),
    StreamsGroupMemberMetadataTombstone: ("members", "member_id", False),
    StreamsGroupTargetAssignmentMetadata: ("target_metadata", "", True),
    StreamsGroupTargetAssignmentMetadataTombstone: ("target_metadata", "", False),
    StreamsGroupTargetAssignmentMember: ("target", "member_id", True),
    StreamsGroupTargetAssignmentMemberTombstone: ("target", "member_id", False),
    StreamsGroupCurrentMemberAssignment: ("current", "member_id", True),
    StreamsGroupCurrentMemberAssignmentTombstone: ("current", "member_id", False),
}
"""Where each is, under what, and whether it is there."""
