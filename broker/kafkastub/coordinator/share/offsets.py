"""The start offsets of share partitions, as far as the group coordinator has a say: AlterShareGroupOffsets,
DeleteShareGroupOffsets, and the beginning of DeleteGroups.

Each writes down first what the share coordinator is about to be asked for. Kafka: GroupMetadataManager
(alterShareGroupOffsets, sharePartitionsEligibleForOffsetDeletion, shareGroupBuildPartitionDeleteRequest).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkastub.coordinator.modern.partition_sets import of_record, topics_in_order
from kafkastub.coordinator.share.context import ShareContext
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.records import ShareGroupStatePartitionMetadata, TopicPartitions
from kafkastub.coordinator.share.state_partitions import (
    Deletion,
    Initialization,
    combined,
    metadata_of,
    renamed,
    with_initializing,
)
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.alter_share_group_offsets_response import (
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from kafkawire.messages.delete_share_group_offsets_request import DeleteShareGroupOffsetsRequest
from kafkawire.messages.delete_share_group_offsets_response import DeleteShareGroupOffsetsResponseTopic
from kafkawire.schema import ZERO_UUID

_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_UNKNOWN_TEXT = "This server does not host this topic-partition."
_NON_EMPTY_TEXT = "The group is not empty."


class Altered(NamedTuple):
    """What comes of AlterShareGroupOffsets: the answer, if the share coordinator does what it is to be asked for."""

    response: AlterShareGroupOffsetsResponse
    initialization: Initialization


class OffsetsDeletion(NamedTuple):
    """What comes of DeleteShareGroupOffsets: the topics that speak against it, and what is to be asked for.

    Attributes:
        errors: by topic name; None where the group knows of no partition, then nothing at all is answered.
        deletion: None where no topic is left to be deleted.
    """

    errors: dict[str, DeleteShareGroupOffsetsResponseTopic] | None
    deletion: Deletion | None


def begin_delete(context: ShareContext, group: ShareGroup, turn: Turn) -> None:
    """All state of the group is to go. Raises NON_EMPTY_GROUP."""
    group.validate_delete()
    known, image = group.partition_metadata, context.image
    if known is None:
        return
    topics = combined(known.initialized, known.initializing)
    again = {}
    for topic_id in known.deleting:
        name = image.topic_name(topic_id)
        if name is not None:
            again[topic_id] = TopicPartitions(name, of_record(range(image.partition_count(name))))
    if again:
        topics = combined(topics, again)
    deleting = {topic_id: topic.name for topic_id, topic in topics.items()}
    context.write(group, [ShareGroupStatePartitionMetadata(group.group_id, {}, {}, deleting)], turn)
    if topics:
        turn.reply = Deletion(group.group_id, {one: topic.partitions for one, topic in topics.items()})


def alter(context: ShareContext, request: AlterShareGroupOffsetsRequest, turn: Turn) -> Altered:
    """Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP; a group that is not there is made."""
    group_id = request.group_id
    group = context.get_or_create(group_id, True, [])
    _check_empty(group)
    image = context.image
    responses: list[AlterShareGroupOffsetsResponseTopic] = []
    initializing: dict[bytes, TopicPartitions] = {}
    starts: dict[bytes, dict[int, int]] = {}
    for topic in {topic.topic_name: topic for topic in reversed(request.topics)}.values():  # the first of a name
        topic_id, count = image.topic_id(topic.topic_name), image.partition_count(topic.topic_name)
        responses.append(_answer(topic, topic_id or ZERO_UUID, count))
        if topic_id is not None:
            there = {one.partition_index: one.start_offset for one in topic.partitions if _is_there(one, count)}
            initializing[topic_id] = TopicPartitions(topic.topic_name, of_record(sorted(there)))
            if there:
                starts[topic_id] = there
    responses.reverse()
    asked = Initialization(group_id, group.epoch, starts)
    if initializing:
        context.write(group, [with_initializing(group, initializing)], turn)
    return Altered(AlterShareGroupOffsetsResponse(responses=responses), asked)


def _is_there(partition: AlterShareGroupOffsetsRequestPartition, count: int) -> bool:
    return 0 <= partition.partition_index < count


def _answer(
    topic: AlterShareGroupOffsetsRequestTopic, topic_id: bytes, count: int
) -> AlterShareGroupOffsetsResponseTopic:
    partitions = [
        AlterShareGroupOffsetsResponsePartition(one.partition_index)
        if _is_there(one, count)
        else AlterShareGroupOffsetsResponsePartition(one.partition_index, _UNKNOWN, _UNKNOWN_TEXT)
        for one in topic.partitions
    ]
    return AlterShareGroupOffsetsResponseTopic(topic.topic_name, topic_id, partitions)


def begin_delete_offsets(context: ShareContext, request: DeleteShareGroupOffsetsRequest, turn: Turn) -> OffsetsDeletion:
    """Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
    group, image = context.existing(request.group_id), context.image
    _check_empty(group)
    known = group.partition_metadata
    if known is None:
        return OffsetsDeletion(None, None)
    initialized, deleting = dict(known.initialized), dict.fromkeys(known.deleting)
    errors: dict[str, DeleteShareGroupOffsetsResponseTopic] = {}
    asked: dict[bytes, frozenset[int]] = {}
    for topic in request.topics:
        name = topic.topic_name
        topic_id = image.topic_id(name)
        if topic_id is None:
            errors[name] = _refused(name, _UNKNOWN_TEXT)
        elif topic_id in initialized:
            asked[topic_id] = initialized.pop(topic_id).partitions
            deleting[topic_id] = None
        elif topic_id in asked:
            continue  # named again
        elif topic_id in deleting:
            asked[topic_id] = of_record(range(image.partition_count(name)))
        else:
            errors[name] = _refused(name, "There is no offset information to delete.")
    now = ShareGroupStatePartitionMetadata(group.group_id, known.initializing, initialized, renamed(deleting, image))
    context.write(group, [now], turn)
    return OffsetsDeletion(errors, Deletion(group.group_id, asked) if asked else None)


def _refused(name: str, text: str) -> DeleteShareGroupOffsetsResponseTopic:
    return DeleteShareGroupOffsetsResponseTopic(name, error_code=_UNKNOWN, error_message=text)


def complete_delete_offsets(
    context: ShareContext, group_id: str, topics: Mapping[bytes, str], turn: Turn
) -> list[DeleteShareGroupOffsetsResponseTopic]:
    """The answers about topics whose state is gone."""
    group = context.find(group_id)
    if group is None or group.partition_metadata is None:
        return []
    known = metadata_of(group)
    left = [one for one in known.deleting if one not in topics]
    now = ShareGroupStatePartitionMetadata(
        group_id, known.initializing, known.initialized, renamed(left, context.image)
    )
    context.write(group, [now], turn)
    return [DeleteShareGroupOffsetsResponseTopic(topics[one], one) for one in topics_in_order(topics)]


def _check_empty(group: ShareGroup) -> None:
    if group.members:
        raise KafkaError(ErrorCode.NON_EMPTY_GROUP, _NON_EMPTY_TEXT)
