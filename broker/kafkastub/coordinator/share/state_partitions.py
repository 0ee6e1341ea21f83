"""Of which share partitions the state is kept by the share coordinator, and what it is asked for.

The group coordinator keeps lists of the partitions whose state is being made, is made, and is being deleted. It does
not ask itself: it says what is to be asked, and is told what came of it. Kafka: ShareGroupStatePartitionMetadataInfo,
InitializeShareGroupStateParameters, DeleteShareGroupStateParameters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.partition_sets import of_record, topics_in_order
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.records import (
    ShareGroupStatePartitionMetadata,
    TopicPartitions,
)

UNINITIALIZED_OFFSET: Final = -1
"""The start offset of a share partition that begins where the group's `share.auto.offset.reset` says."""
UNKNOWN: Final = "<UNKNOWN>"
"""The name of a topic that is gone."""

Topics = Mapping[bytes, TopicPartitions]
"""By topic id."""


class Initialization(NamedTuple):
    """Ask the share coordinator to make the state of these partitions.

    Attributes:
        state_epoch: the group's epoch.
        start_offsets: by topic id and partition. -1 for `share.auto.offset.reset`; 0 for what is new in a topic that
            the group knew before.
    """

    group_id: str
    state_epoch: int
    start_offsets: Mapping[bytes, Mapping[int, int]]


class Deletion(NamedTuple):
    """Ask the share coordinator to forget the state of these partitions."""

    group_id: str
    partitions: Partitions


def metadata_of(group: ShareGroup) -> ShareGroupStatePartitionMetadata:
    """What the group knows; nothing where it has no such record."""
    return group.partition_metadata or ShareGroupStatePartitionMetadata(group.group_id, {}, {}, {})


def missing(
    group: ShareGroup, names: Iterable[str], image: ClusterImage, timer_ms: int, retry_ms: int
) -> dict[bytes, TopicPartitions]:
    """Partitions of these topics whose state is neither made nor being made. Kafka: subscribedTopicsChangeMap.

    What is being made for longer than `retry_ms` is missing again.
    """
    known = metadata_of(group)
    in_time = timer_ms - group.initializing_since < retry_ms
    found: dict[bytes, TopicPartitions] = {}
    for name in names:
        topic_id = image.topic_id(name)
        if topic_id is None:
            continue
        has = _partitions(known.initialized, topic_id)
        if in_time:
            has |= _partitions(known.initializing, topic_id)
        count = image.partition_count(name)
        if len(has) < count:
            found[topic_id] = TopicPartitions(name, of_record([one for one in range(count) if one not in has]))
    return {topic_id: found[topic_id] for topic_id in topics_in_order(found)}


def assignment_pending(group: ShareGroup) -> bool:
    """Whether there is state of subscribed partitions that nobody is to read from. Kafka: initializedAssignmentPending.

    Then the group needs a new target.
    """
    known = group.partition_metadata
    if known is None or not known.initialized or not group.subscribed:
        return False
    assigned: dict[bytes, set[int]] = {}
    for target in group.target.values():
        for topic_id, partitions in target.items():
            assigned.setdefault(topic_id, set()).update(partitions)
    return any(
        topic.name in group.subscribed and assigned.get(topic_id, set()) != topic.partitions
        for topic_id, topic in known.initialized.items()
    )


def with_initializing(group: ShareGroup, wanted: Topics) -> ShareGroupStatePartitionMetadata:
    """These too are being made, and not deleted. Kafka: addInitializingTopicsRecords."""
    known = metadata_of(group)
    initializing = combined(known.initializing, wanted)
    deleting = {one: name for one, name in known.deleting.items() if one not in initializing}
    return ShareGroupStatePartitionMetadata(group.group_id, initializing, known.initialized, deleting)


def with_initialized(
    group: ShareGroup, made: Mapping[bytes, Collection[int]], image: ClusterImage
) -> ShareGroupStatePartitionMetadata:
    """These are made. Kafka: initializeShareGroupState."""
    known = metadata_of(group)
    named = {one: TopicPartitions(image.topic_name(one) or UNKNOWN, of_record(made[one])) for one in made}
    return ShareGroupStatePartitionMetadata(
        group.group_id,
        _without(known.initializing, made),
        combined(known.initialized, named),
        renamed(known.deleting, image),
    )


def without_initializing(
    group: ShareGroup, refused: Mapping[bytes, Collection[int]], image: ClusterImage
) -> ShareGroupStatePartitionMetadata | None:
    """These are not made, after all; None where nothing is being made. Kafka: uninitializeShareGroupState."""
    known = group.partition_metadata
    if known is None or not known.initializing or not refused:
        return None
    return ShareGroupStatePartitionMetadata(
        group.group_id, _without(known.initializing, refused), known.initialized, renamed(known.deleting, image)
    )


def without_topics(
    group: ShareGroup, gone: Collection[bytes], image: ClusterImage
) -> ShareGroupStatePartitionMetadata | None:
    """These topics are gone; None where nothing of them was known. Kafka: maybeCleanupShareGroupState."""
    known = group.partition_metadata
    if known is None or not any(one in part for one in gone for part in tracked_partitions(known)):
        return None
    return ShareGroupStatePartitionMetadata(
        group.group_id,
        {one: topic for one, topic in known.initializing.items() if one not in gone},
        {one: topic for one, topic in known.initialized.items() if one not in gone},
        renamed([one for one in known.deleting if one not in gone], image),
    )


def gone(known: ShareGroupStatePartitionMetadata, names: Collection[str], image: ClusterImage) -> list[bytes]:
    """Which of the topics that the group knows by these names are there no more."""
    named = {one: topic.name for part in (known.initializing, known.initialized) for one, topic in part.items()}
    named.update(known.deleting)
    return [one for one, name in named.items() if name in names and image.topic_name(one) is None]


def tracked_partitions(known: ShareGroupStatePartitionMetadata) -> tuple[Mapping[bytes, object], ...]:
    """All that is known, by topic id."""
    return known.initializing, known.initialized, known.deleting


def initialization(group: ShareGroup, epoch: int, wanted: Topics) -> Initialization:
    """What the share coordinator is asked for. The group is as it was before `wanted`.

    Kafka: buildInitializeShareGroupStateRequest.
    """
    known = metadata_of(group)
    starts = {
        topic_id: dict.fromkeys(
            topic.partitions,
            0 if topic_id in known.initialized or topic_id in known.initializing else UNINITIALIZED_OFFSET,
        )
        for topic_id, topic in wanted.items()
    }
    return Initialization(group.group_id, epoch, starts)


def combined(one: Topics, other: Topics) -> dict[bytes, TopicPartitions]:
    """The partitions of both, with the names of the other one. Kafka: combineInitMaps."""
    found = {}
    for topic_id in topics_in_order(dict.fromkeys((*one, *other))):
        name = other[topic_id].name if topic_id in other else one[topic_id].name
        both = [*_partitions(one, topic_id), *_partitions(other, topic_id)]
        found[topic_id] = TopicPartitions(name, of_record(sorted(set(both))))
    return found


def renamed(topic_ids: Iterable[bytes], image: ClusterImage) -> dict[bytes, str]:
    """The topics with their names as they are now. Kafka: attachTopicName."""
    return {topic_id: image.topic_name(topic_id) or UNKNOWN for topic_id in topics_in_order(topic_ids)}


def _partitions(topics: Topics, topic_id: bytes) -> frozenset[int]:
    return topics[topic_id].partitions if topic_id in topics else frozenset()


def _without(topics: Topics, gone: Mapping[bytes, Collection[int]]) -> dict[bytes, TopicPartitions]:
    """What is left of the topics without these partitions; a topic without any goes."""
    left = {}
    for topic_id, topic in topics.items():
        if topic_id not in gone:
            left[topic_id] = topic
        elif rest := topic.partitions - set(gone[topic_id]):
            left[topic_id] = TopicPartitions(topic.name, of_record(sorted(rest)))
    return left
