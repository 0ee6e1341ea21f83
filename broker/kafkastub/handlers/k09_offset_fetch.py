"""OffsetFetch (key 9), versions 1-10.

OF-1   A committed offset comes back with its metadata, from version 5 on with its leader epoch.
OF-2   What was never committed answers offset -1, no error; in a group that does not exist too.
OF-3   Versions 2+: a null topic list means everything that the group has committed; nothing of an unknown group.
OF-4   Versions 8+: many groups, each answered by itself, duplicates too.            KIP-709
OF-5   Version 10: topics by id; an unknown one answers UNKNOWN_TOPIC_ID, behind the others.   KIP-848
OF-6   Version 10: an offset that was committed under another id of the same name answers -1.
OF-7   Version 10: everything of a group comes with the topics' present ids; topics that are gone are left out.
OF-8   Whether topic and partition exist is not checked.
OF-9   The empty group id is a group like others.
OF-10  require_stable (version 7+): UNSTABLE_OFFSET_COMMIT where a transaction's offset is not decided.   KIP-447
OF-11  An error of the group is at its level; in version 1 at every partition.
OF-12  Versions 9+: who names a member of a consumer group, and its epoch, has to have both right: UNKNOWN_MEMBER_ID,
       STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for one that uses the classic protocol) at the group. KIP-848
OF-13  So who names a member of a streams group.                                                  KIP-1071
Not done: -
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from kafkastub.coordinator import GroupCoordinator
from kafkastub.coordinator.records import PackedRun
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Cluster
from kafkastub.state.groups import coordinator_of
from kafkastub.state.pace import Pace, no_pause, paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafkawire.rows import Rows, Shared
from kafkawire.schema import ZERO_UUID

P = TypeVar("P", OffsetFetchResponsePartition, OffsetFetchResponsePartitions)
"""(partition, offset, leader epoch, metadata, error code); the class depends on the version."""

_SAME = {"metadata": "", "error_code": 0}


def error_response(request: OffsetFetchRequest, code: ErrorCode, version: int) -> OffsetFetchResponse:
    """The code at the group; at every partition in version 1."""
    if version >= 8:
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(g.group_id, (), code) for g in request.groups])
    if version >= 2:
        return OffsetFetchResponse(error_code=code)
    topics = [
        OffsetFetchResponseTopic(
            t.name, [OffsetFetchResponsePartition(i, -1, -1, "", code) for i in t.partition_indexes]
        )
        for t in request.topics or ()
    ]
    return OffsetFetchResponse(topics=topics)


@handles(ApiKey.OFFSET_FETCH, 1, 10, error_response=error_response)
def offset_fetch(ctx: RequestContext, request: OffsetFetchRequest) -> Outcome:
    coordinator, stable, cluster = coordinator_of(ctx.state), request.require_stable, ctx.state.cluster
    if ctx.api_version >= 8:
        if ctx.api_version < 10 and len(request.groups) == 1:
            answer = _to_one_topic(coordinator, request.groups[0], stable)
            if answer is not None:
                return answer
        groups = []
        known: dict[str, OffsetFetchResponseGroup] = {}  # one with many offsets may be named many times
        for group in paced(request.groups, ctx.pace):
            if group.member_id is not None or group.member_epoch >= 0:
                code = _against_member(coordinator, group)
                if code:
                    groups.append(OffsetFetchResponseGroup(group.group_id, (), code))
                    continue
            if group.topics is None and group.group_id in known:
                groups.append(known[group.group_id])
                continue
            if group.topics is None:
                topics = _everything(coordinator, group.group_id, stable, cluster if ctx.api_version >= 10 else None)
            elif ctx.api_version >= 10:
                topics = _by_id(ctx, coordinator, group.group_id, group.topics, stable)
            else:
                topics = [
                    OffsetFetchResponseTopics(
                        t.name,
                        ZERO_UUID,
                        _some(coordinator, group.group_id, t.name, t.partition_indexes, stable, pace=ctx.pace),
                    )
                    for t in paced(group.topics, ctx.pace)
                ]
            groups.append(OffsetFetchResponseGroup(group.group_id, topics))
            if group.topics is None:
                known[group.group_id] = groups[-1]
        return OffsetFetchResponse(groups=Shared(groups, {}) if known else groups)
    group_id, make = request.group_id, OffsetFetchResponsePartition
    if request.topics is None:
        return OffsetFetchResponse(
            topics=[
                OffsetFetchResponseTopic(name, _fetch(coordinator, group_id, name, columns.partitions(), stable, make))
                for name, columns in coordinator.offsets.topics(group_id).items()
            ]
        )
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                t.name, _fetch(coordinator, group_id, t.name, t.partition_indexes, stable, make, pace=ctx.pace)
            )
            for t in paced(request.topics, ctx.pace)
        ]
    )


def _against_member(coordinator: GroupCoordinator, asked: OffsetFetchRequestGroup) -> ErrorCode:
    """What speaks against the member that asks, as it says. Kafka: OffsetMetadataManager.validateOffsetFetch."""
    group = coordinator.readable(asked.group_id)
    if group is None:
        return ErrorCode.NONE
    try:
        group.validate_offset_fetch(asked.member_id, asked.member_epoch)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def _to_one_topic(
    coordinator: GroupCoordinator, group: OffsetFetchRequestGroup, stable: bool
) -> OffsetFetchResponse | None:
    """The whole answer where neighbours of one topic are asked for: the same object, as long as nothing changes."""
    if group.topics is None or len(group.topics) != 1 or group.member_id is not None or group.member_epoch >= 0:
        return None
    topic, offsets = group.topics[0], coordinator.offsets
    columns = offsets.topic(group.group_id, topic.name)
    if columns is None or not topic.partition_indexes or (stable and offsets.has_pending(group.group_id)):
        return None
    run = columns.read_run(topic.partition_indexes, ZERO_UUID)
    if run is None:
        return None
    if run.whole_answer is None:
        rows = _rows(run, OffsetFetchResponsePartitions)
        answered = OffsetFetchResponseGroup(group.group_id, [OffsetFetchResponseTopics(topic.name, ZERO_UUID, rows)])
        run.whole_answer = OffsetFetchResponse(groups=[answered])
    answer: OffsetFetchResponse = run.whole_answer
    return answer


def _everything(
    coordinator: GroupCoordinator, group_id: str, stable: bool, cluster: Cluster | None
) -> list[OffsetFetchResponseTopics]:
    """All that a group has committed; with the topics' ids where a cluster is given."""
    answers = []
    for name, columns in coordinator.offsets.topics(group_id).items():
        topic = None if cluster is None else cluster.topic(name)
        if cluster is None or topic is not None:
            partitions = _some(coordinator, group_id, name, columns.partitions(), stable)
            answers.append(OffsetFetchResponseTopics(name, ZERO_UUID if topic is None else topic.topic_id, partitions))
    return answers


def _by_id(
    ctx: RequestContext,
    coordinator: GroupCoordinator,
    group_id: str,
    topics: Sequence[OffsetFetchRequestTopics],
    stable: bool,
) -> list[OffsetFetchResponseTopics]:
    """Topics by their ids; those that do not exist come last."""
    answers, unknown = [], []
    for requested in paced(topics, ctx.pace):
        wanted, topic_id = requested.partition_indexes, requested.topic_id
        topic = ctx.state.cluster.topic_by_id(topic_id)
        if topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            missing = [OffsetFetchResponsePartitions(i, -1, -1, "", code) for i in paced(wanted, ctx.pace)]
            unknown.append(OffsetFetchResponseTopics("", topic_id, missing))
        else:
            partitions = _some(coordinator, group_id, topic.name, wanted, stable, topic_id, ctx.pace)
            answers.append(OffsetFetchResponseTopics(topic.name, topic_id, partitions))
    return answers + unknown


def _some(
    coordinator: GroupCoordinator,
    group_id: str,
    topic: str,
    indexes: Sequence[int],
    stable: bool,
    topic_id: bytes = ZERO_UUID,
    pace: Pace = no_pause,
) -> Sequence[OffsetFetchResponsePartitions]:
    return _fetch(coordinator, group_id, topic, indexes, stable, OffsetFetchResponsePartitions, topic_id, pace)


def _fetch(
    coordinator: GroupCoordinator,
    group_id: str,
    topic: str,
    indexes: Sequence[int],
    stable: bool,
    make: type[P],
    topic_id: bytes = ZERO_UUID,
    pace: Pace = no_pause,
) -> Sequence[P]:
    """The committed offsets of these partitions of a topic."""
    offsets = coordinator.offsets
    columns = offsets.topic(group_id, topic)
    if columns is None:
        answers = [make(index, -1, -1, "", 0) for index in paced(indexes, pace)]
    else:
        run = columns.read_run(indexes, topic_id) if indexes else None
        if run is not None and not (stable and offsets.has_pending(group_id)):
            answer = run.answer
            if answer is None or answer.cls is not make:
                answer = run.answer = _rows(run, make)
            return answer  # type: ignore[no-any-return]
        answers = [make(index, *columns.read(index, topic_id), 0) for index in paced(indexes, pace)]
    if stable and offsets.has_pending(group_id):
        for at, index in enumerate(indexes):
            if offsets.is_pending(group_id, topic, index):
                answers[at] = make(index, -1, -1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)
    return answers


def _rows(run: PackedRun, make: type[P]) -> Rows[P]:
    """An answer in columns. Measured with its encoding, us for 10 and 100: 9 and 72 one by one, 7 and 18 like this."""
    columns: dict[str, Sequence[Any]] = {
        "partition_index": range(run.first, run.first + len(run)),
        "committed_offset": run.offsets,
        "committed_leader_epoch": run.epochs,
    }
    if any(run.metadata):
        columns["metadata"] = run.metadata
    return Rows(make, len(run), columns, _SAME)
