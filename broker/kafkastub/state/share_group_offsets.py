"""Where share groups are in their topics: told, set and forgotten (APIs 90 to 92), and forgotten with a group (42).

The group coordinator says what is to be asked of the share coordinator, and is told what came of it. Kafka:
GroupCoordinatorService (describeShareGroupOffsets, alterShareGroupOffsets, deleteShareGroupOffsets, deleteShareGroups).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Final

from kafkastub.coordinator.modern.partition_sets import topics_in_order
from kafkastub.coordinator.share.offsets import Altered, OffsetsDeletion
from kafkastub.coordinator.share.state_partitions import Deletion
from kafkastub.metadata import Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Steps
from kafkastub.state.groups import coordinator_of
from kafkastub.state.share_coordinator.persister import NOTHING
from kafkastub.state.share_group_persister_calls import Errors, delete, initialize, tell
from kafkawire.error_texts import text_of
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
from kafkawire.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.delete_share_group_offsets_response import (
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from kafkawire.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.describe_share_group_offsets_response import (
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from kafkawire.schema import ZERO_UUID

May = Callable[[str], bool]
"""Whether who asks may do this to the topic of that name."""

_NO_GROUP: Final = "The group id is invalid."
_NO_PARTITIONS: Final = "The server experienced an unexpected error when processing the request."
_UNKNOWN: Final = -1
_CHEAP: Final = 20
"""So many answers are made in the time that one partition takes to be looked up or written."""


# -- told ------------------------------------------------------------------------------------------------------------


def described(
    state: BrokerState, asked: DescribeShareGroupOffsetsRequestGroup, may_describe: May
) -> Generator[int, None, DescribeShareGroupOffsetsResponseGroup]:
    """What is answered of a group: of the topics that are named, or of those that it has read from. KafkaError."""
    group_id = asked.group_id
    if asked.topics is None:
        partitions = coordinator_of(state).share.initialized_partitions(group_id)
        found = {one: sorted(some) for one, some in partitions.items() if state.cluster.topic_by_id(one) is not None}
        topics = yield from _topics(state, group_id, found)
        shown = [topic for topic in topics if may_describe(topic.topic_name)]
        return DescribeShareGroupOffsetsResponseGroup(group_id, shown)
    unknown: list[DescribeShareGroupOffsetsResponseTopic] = []
    refused: list[DescribeShareGroupOffsetsResponseTopic] = []
    known: dict[bytes, list[int]] = {}
    for named in asked.topics:
        topic = state.cluster.topic(named.topic_name)
        if not may_describe(named.topic_name):
            refused.append((yield from _without_offsets(named, ErrorCode.TOPIC_AUTHORIZATION_FAILED)))
        elif topic is None:
            unknown.append((yield from _without_offsets(named, ErrorCode.NONE)))
        elif not named.partitions:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, _NO_PARTITIONS)
        else:
            known.setdefault(topic.topic_id, []).extend(named.partitions)
        yield 1
    topics = yield from _topics(state, group_id, known)
    return DescribeShareGroupOffsetsResponseGroup(group_id, [*topics, *unknown, *refused])


def _without_offsets(
    named: DescribeShareGroupOffsetsRequestTopic, code: ErrorCode
) -> Generator[int, None, DescribeShareGroupOffsetsResponseTopic]:
    text = text_of(KafkaError(code)) if code else None
    partitions = []
    for index in named.partitions:
        partitions.append(DescribeShareGroupOffsetsResponsePartition(index, _UNKNOWN, 0, _UNKNOWN, code, text))
        if not len(partitions) % _CHEAP:
            yield 1
    return DescribeShareGroupOffsetsResponseTopic(named.topic_name, partitions=partitions)


def _topics(
    state: BrokerState, group_id: str, wanted: dict[bytes, list[int]]
) -> Generator[int, None, list[DescribeShareGroupOffsetsResponseTopic]]:
    """Of topics that are there, in the order of Kafka's maps."""
    answers = []
    for topic_id in topics_in_order(wanted):
        topic = state.cluster.topic_by_id(topic_id)
        if topic is None:  # it has gone while others had their turn
            continue
        partitions = []
        for index in wanted[topic_id]:
            partitions.append(_described(state, group_id, topic, index))
            yield 1
        answers.append(DescribeShareGroupOffsetsResponseTopic(topic.name, topic_id, partitions))
    return answers


def _described(
    state: BrokerState, group_id: str, topic: Topic, index: int
) -> DescribeShareGroupOffsetsResponsePartition:
    """Nothing is told of what the share coordinator does not know, or is not there to tell."""
    try:
        found = state.share_partitions.persister.summary(group_id, topic.topic_id, index)
    except KafkaError:
        found = NOTHING
    start, complete, lag = found.start_offset, found.delivery_complete_count, _UNKNOWN
    log = state.logs.log(topic.topic_id, index)
    if log is not None and start != _UNKNOWN and complete != _UNKNOWN:
        lag = log.high_watermark - start - complete
    return DescribeShareGroupOffsetsResponsePartition(index, start, found.leader_epoch, lag)


# -- set -------------------------------------------------------------------------------------------------------------


def altered(
    state: BrokerState, request: AlterShareGroupOffsetsRequest, may_read: May, broker_ms: int, timer_ms: int
) -> Steps:
    """Begin anew at given offsets. KafkaError for what stands at the top."""
    refused: list[AlterShareGroupOffsetsResponseTopic] = []
    answers: list[AlterShareGroupOffsetsResponseTopic] = []
    known: list[AlterShareGroupOffsetsRequestTopic] = []
    named: dict[str, AlterShareGroupOffsetsRequestTopic] = {}
    for topic in request.topics:
        named.setdefault(topic.topic_name, topic)
    for topic in named.values():
        code = _refusal(state, topic.topic_name, may_read)
        starts: dict[int, int] = {}
        answer = yield from _answer(state, topic, code, starts)
        if code:
            refused.append(answer)
        else:
            answers.append(answer)
            partitions = [AlterShareGroupOffsetsRequestPartition(*one) for one in starts.items()]
            known.append(AlterShareGroupOffsetsRequestTopic(topic.topic_name, partitions))
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, _NO_GROUP)
    shares = coordinator_of(state).share
    asked = AlterShareGroupOffsetsRequest(request.group_id, known)
    outcome: Altered = state.settle(shares.alter_offsets(asked, broker_ms, timer_ms)).reply
    wanted = outcome.initialization
    if wanted.start_offsets:
        failed = yield from initialize(state, wanted, broker_ms)
        if failed:
            yield from _with_errors(answers, failed)
        else:
            tell(state, wanted, failed, broker_ms, timer_ms)
    return AlterShareGroupOffsetsResponse(responses=[*refused, *answers])


def _refusal(state: BrokerState, name: str, may_read: May) -> ErrorCode:
    """Why nothing of a topic can be set, or NONE."""
    if not may_read(name):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return ErrorCode.NONE if state.cluster.topic(name) is not None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _answer(
    state: BrokerState, asked: AlterShareGroupOffsetsRequestTopic, code: ErrorCode, starts: dict[int, int]
) -> Generator[int, None, AlterShareGroupOffsetsResponseTopic]:
    """What is answered of a topic, if all goes well; `starts` gets the start offsets of those that are there."""
    topic = state.cluster.topic(asked.topic_name)
    count = 0 if code or topic is None else len(topic.partitions)
    code = code or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    text = text_of(KafkaError(code))
    partitions: list[AlterShareGroupOffsetsResponsePartition] = []
    for one in asked.partitions:
        index = one.partition_index
        if 0 <= index < count:
            starts[index] = one.start_offset
            partitions.append(AlterShareGroupOffsetsResponsePartition(index))
        else:
            partitions.append(AlterShareGroupOffsetsResponsePartition(index, code, text))
        if not len(partitions) % _CHEAP:
            yield 1
    yield 1
    topic_id = ZERO_UUID if topic is None else topic.topic_id
    return AlterShareGroupOffsetsResponseTopic(asked.topic_name, topic_id, partitions)


def _with_errors(answers: Iterable[AlterShareGroupOffsetsResponseTopic], failed: Errors) -> Generator[int, None, None]:
    for topic in answers:
        for at, one in enumerate(topic.partitions):
            error = failed.get((topic.topic_id, one.partition_index))
            if error is not None and not one.error_code:
                one.error_code, one.error_message = error.code, text_of(error)
            if not at % _CHEAP:
                yield 1


# -- forgotten -------------------------------------------------------------------------------------------------------


def deleted(
    state: BrokerState, request: DeleteShareGroupOffsetsRequest, may_read: May, broker_ms: int, timer_ms: int
) -> Steps:
    """Forget where a group is in some topics. KafkaError for what stands at the top."""
    refused: list[DeleteShareGroupOffsetsResponseTopic] = []
    unknown: dict[str, DeleteShareGroupOffsetsResponseTopic] = {}
    known: dict[str, DeleteShareGroupOffsetsRequestTopic] = {}
    for one in request.topics:
        code = _refusal(state, one.topic_name, may_read)
        if code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            refused.append(_forgotten(one.topic_name, KafkaError(code)))
        elif code:
            unknown[one.topic_name] = _forgotten(one.topic_name, KafkaError(code))
        else:
            known.setdefault(one.topic_name, one)
        yield 1
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, _NO_GROUP)
    shares = coordinator_of(state).share
    asked = DeleteShareGroupOffsetsRequest(request.group_id, [*known.values()])
    outcome: OffsetsDeletion = state.settle(shares.begin_delete_offsets(asked, broker_ms, timer_ms)).reply
    errors: list[DeleteShareGroupOffsetsResponseTopic] = []
    if outcome.errors is not None:
        errors = yield from _as_named(request, unknown | outcome.errors)
    done: list[DeleteShareGroupOffsetsResponseTopic] = []
    if outcome.deletion is not None:
        names = {one: state.cluster.name_of(one) or "" for one in outcome.deletion.partitions}
        failed = yield from delete(state, outcome.deletion, broker_ms)
        of_topic = {topic_id: error for (topic_id, _), error in failed.items()}
        errors += [_forgotten(names[one], error, one) for one, error in of_topic.items()]
        gone = {one: name for one, name in names.items() if one not in of_topic}
        if gone:
            turn = shares.complete_delete_offsets(request.group_id, gone, broker_ms, timer_ms)
            done = state.settle(turn).reply
    return DeleteShareGroupOffsetsResponse(responses=[*refused, *done, *errors])


def _as_named(
    request: DeleteShareGroupOffsetsRequest, against: Mapping[str, DeleteShareGroupOffsetsResponseTopic]
) -> Generator[int, None, list[DeleteShareGroupOffsetsResponseTopic]]:
    """What speaks against topics, in their order, and as often as they are named."""
    errors = []
    for at, one in enumerate(request.topics):
        if one.topic_name in against:
            errors.append(against[one.topic_name])
        if not at % _CHEAP:
            yield 1
    return errors


def _forgotten(name: str, error: KafkaError, topic_id: bytes = ZERO_UUID) -> DeleteShareGroupOffsetsResponseTopic:
    return DeleteShareGroupOffsetsResponseTopic(name, topic_id, error.code, text_of(error))


def share_groups_of(state: BrokerState, group_ids: Iterable[str]) -> list[str]:
    """Those that are share groups, in their order."""
    if not state.coordinator.has_share:
        return []
    find = state.coordinator.share.find
    return [group_id for group_id in group_ids if find(group_id) is not None]


def state_deleted(
    state: BrokerState, group_ids: Sequence[str], broker_ms: int, timer_ms: int
) -> Generator[int, None, dict[str, ErrorCode]]:
    """Before share groups are deleted: forget where they are; the errors of those that stay. KAFKA_STORAGE_ERROR."""
    shares = state.coordinator.share
    errors: dict[str, ErrorCode] = {}
    wanted: list[Deletion] = []
    for group_id in group_ids:
        try:
            turn = state.settle(shares.begin_delete(group_id, broker_ms, timer_ms))
        except KafkaError as refusal:
            errors[group_id] = refusal.code
        else:
            if turn.reply is not None:
                wanted.append(turn.reply)
        yield 1
    for one in wanted:
        if not all(one.partitions.values()):  # the persister does not take a topic without partitions
            if any(one.partitions.values()):  # who is told of it are the partitions of the others
                errors[one.group_id] = ErrorCode.UNKNOWN_SERVER_ERROR
            continue
        failed = yield from delete(state, one, broker_ms)
        for error in failed.values():
            errors[one.group_id] = error.code
    return errors
