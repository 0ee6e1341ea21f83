"""What the records say of streams groups beyond what they say of any with epochs: see `typed_state`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from kafkastub.coordinator.streams.records import (
    StreamsGroupCurrentMemberAssignment,
    StreamsGroupMemberMetadata,
    StreamsGroupTargetAssignmentMember,
    StreamsGroupTopology,
    StreamsRecord,
    WrittenTopology,
)
from kafkastub.coordinator.typed_state import A_RECORD, A_TEXT, PARTS, ModernGroupState


class StreamsGroupState(ModernGroupState):
    """One group.

    Attributes:
        topology: what it runs.
    """

    __slots__ = (*PARTS, "topology")
    once = ModernGroupState.once | {"topology"}

    @staticmethod
    def weight(record: StreamsRecord) -> int:
        """Bytes that a record takes in memory, roughly."""
        if isinstance(record, StreamsGroupCurrentMemberAssignment):
            return A_RECORD + _weight_of(record.assigned) + _weight_of(record.pending_revocation)
        if isinstance(record, StreamsGroupTargetAssignmentMember):
            return A_RECORD + _weight_of(record.tasks)
        if isinstance(record, StreamsGroupMemberMetadata):
            texts = (record.client_id, record.process_id, *(text for pair in record.client_tags for text in pair))
            return A_RECORD + sum(A_TEXT + len(one) for one in texts)
        if isinstance(record, StreamsGroupTopology):
            return A_RECORD + _weight_of_topology(record.topology)
        return A_RECORD


def _weight_of(kinds: Iterable[Mapping[str, Collection[int]]]) -> int:
    return sum(_A_SUBTOPOLOGY + _A_TASK * len(some) for kind in kinds for some in kind.values())


def _weight_of_topology(topology: WrittenTopology) -> int:
    weight = 0
    for one in topology.subtopologies:
        internal = (*one.state_changelog_topics, *one.repartition_source_topics)
        names = (*one.source_topics, *one.source_topic_regex, *one.repartition_sink_topics)
        texts = [*names, *(topic.name for topic in internal)]
        texts += [text for topic in internal for pair in topic.topic_configs for text in pair]
        weight += A_RECORD + sum(A_TEXT + len(text) for text in texts)
        for group in one.copartition_groups:
            positions = (*group.source_topics, *group.source_topic_regex, *group.repartition_source_topics)
            weight += _A_SUBTOPOLOGY + 8 * len(positions)
    return weight


_A_SUBTOPOLOGY: Final = 250
_A_TASK: Final = 60
"""Bytes of each, measured on 64 bits."""
STATE: Final = StreamsGroupState
