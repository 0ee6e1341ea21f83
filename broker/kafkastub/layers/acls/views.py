"""Guards of the APIs that tell of topics and committed offsets; see `guards`.

What is not named is left out where it may not be seen; what is named is refused, whether it exists or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.topics import is_internal, topic_operations, would_create
from kafkastub.layers.split import about, split
from kafkastub.security import Operation
from kafkastub.security.access import Access
from kafkastub.security.operations import CLUSTER_OPERATIONS
from kafkastub.state.deferred import then
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_order
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kafkawire.messages.describe_topic_partitions_response import DescribeTopicPartitionsResponseTopic
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponseTopic
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafkawire.rows import Shared
from kafkawire.schema import ZERO_UUID

_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_GROUP_REFUSED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_DESCRIBE: Final = Operation.DESCRIBE


# -- Metadata --------------------------------------------------------------------------------------------------------


def _metadata(api: Registration) -> Handler:
    """Describe on each topic; Create on the cluster or the topic where it would be created."""
    handler = api.handler

    def guard(ctx: RequestContext, request: MetadataRequest) -> Outcome:
        access, refused = ctx.access, list[MetadataResponseTopic]()
        asked = request.topics
        everything = asked is None or (not asked and ctx.api_version == 0)
        if not everything:
            assert asked is not None
            mine, refused = _sort_out(ctx, access, request, asked)
            request = about(request, topics=mine)
        nothing_left = not everything and not request.topics

        def seen(answer: Any) -> Any:
            topics: list[MetadataResponseTopic] = [] if nothing_left else list(answer.topics)
            if everything:
                topics = [one for one in topics if one.name is None or access.to_topic(_DESCRIBE, one.name)]
            if request.include_topic_authorized_operations:
                for one in topics:
                    if one.name is not None and not (one.error_code and one.error_code in _WHOLE):
                        one.topic_authorized_operations = topic_operations(access, one.name)
            if request.include_cluster_authorized_operations and 8 <= ctx.api_version <= 10:
                answer.cluster_authorized_operations = access.cluster_operations(CLUSTER_OPERATIONS)
            answer.topics = topics + refused
            return answer

        return then(handler(ctx, request), seen)  # type: ignore[no-any-return]

    return guard


_WHOLE: Final = (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR)
"""What the whole request is refused with: then nothing is told of operations."""


def _sort_out(
    ctx: RequestContext, access: Access, request: MetadataRequest, asked: Sequence[Any]
) -> tuple[list[Any], list[MetadataResponseTopic]]:
    """(the topics that may be asked for, what is answered about the others)."""
    if ctx.api_version >= 12 and any(one.topic_id != ZERO_UUID for one in asked):
        return _sort_out_ids(ctx, access, asked)
    if any(one.name is None or one.topic_id != ZERO_UUID for one in asked):
        return list(asked), []
    mine, hidden = split(asked, lambda one: access.to_topic(_DESCRIBE, one.name), ctx.pace)
    may_create = request.allow_auto_topic_creation
    uncreated = would_create(ctx, access, [one.name for one in mine], may_create)
    names = [name for name in dict.fromkeys(one.name for one in mine) if name in uncreated]
    refused = [MetadataResponseTopic(error_code=_REFUSED, name=name, is_internal=is_internal(name)) for name in names]
    refused += [
        MetadataResponseTopic(error_code=_REFUSED, name=name) for name in dict.fromkeys(one.name for one in hidden)
    ]
    return [one for one in mine if one.name not in uncreated], refused


def _sort_out_ids(
    ctx: RequestContext, access: Access, asked: Sequence[Any]
) -> tuple[list[Any], list[MetadataResponseTopic]]:
    """The same for a request by ids; its names are of no account."""

    def may_see(one: Any) -> bool:
        topic = ctx.state.cluster.topic_by_id(one.topic_id)
        return topic is None or access.to_topic(_DESCRIBE, topic.name)

    mine, hidden = split((one for one in asked if one.topic_id != ZERO_UUID), may_see, ctx.pace)
    ids = dict.fromkeys(one.topic_id for one in hidden)
    return mine, [MetadataResponseTopic(error_code=_REFUSED, name=None, topic_id=topic_id) for topic_id in ids]


# -- DescribeTopicPartitions -----------------------------------------------------------------------------------------


def _describe_topic_partitions(api: Registration) -> Handler:
    """Describe on each topic."""
    handler = api.handler

    def guard(ctx: RequestContext, request: DescribeTopicPartitionsRequest) -> Outcome:
        access, cursor, asked = ctx.access, request.cursor, {topic.name for topic in request.topics}
        if cursor is not None and (cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)):
            return handler(ctx, request)
        mine, hidden = split(
            asked or list(ctx.state.cluster.topics), lambda name: access.to_topic(_DESCRIBE, name), ctx.pace
        )
        if not hidden:
            answer: Any = handler(ctx, request)
        else:
            begin = "" if cursor is None else cursor.topic_name
            mine = [name for name in mine if string_order(name) >= string_order(begin)]
            if begin not in mine:
                cursor = None
            request = DescribeTopicPartitionsRequest(
                topics=[TopicRequest(name) for name in mine],
                response_partition_limit=request.response_partition_limit,
                cursor=cursor,
            )
            answer = handler(ctx, request) if mine else api.response_class()()
            answer.next_cursor = answer.next_cursor if mine else None
        for topic in paced(answer.topics, ctx.pace):
            if topic.name is not None and topic.error_code not in _WHOLE:
                topic.topic_authorized_operations = topic_operations(access, topic.name)
        if asked:
            answer.topics = [
                *answer.topics,
                *(DescribeTopicPartitionsResponseTopic(error_code=_REFUSED, name=name) for name in sorted(hidden)),
            ]
        return answer  # type: ignore[no-any-return]

    return guard


# -- OffsetFetch -----------------------------------------------------------------------------------------------------


def _offset_fetch(api: Registration) -> Handler:
    """Describe on each group, and on each topic. The request is not changed, nor is the answer: both may be kept."""
    handler = api.handler

    def guard(ctx: RequestContext, request: OffsetFetchRequest) -> Outcome:
        if ctx.api_version < 8:
            return _one_group(api, ctx, request)
        access, by_id = ctx.access, ctx.api_version >= 10
        names = dict.fromkeys(one.group_id for one in request.groups)
        allowed = {name for name in paced(names, ctx.pace) if access.to_group(_DESCRIBE, name)}
        mine = [one for one in request.groups if one.group_id in allowed]
        hidden = [_split_topics(ctx, access, one.topics, by_id) for one in paced(mine, ctx.pace)]
        asked = [
            OffsetFetchRequestGroup(one.group_id, one.member_id, one.member_epoch, topics)
            for one, (topics, _) in paced(zip(mine, hidden, strict=True), ctx.pace)
        ]
        answer: Any = handler(ctx, OffsetFetchRequest(groups=asked, require_stable=request.require_stable))
        answered = iter(zip(mine, answer.groups, hidden, strict=True))
        groups = []
        shown: dict[str, OffsetFetchResponseGroup] = {}
        for one in paced(request.groups, ctx.pace):
            if one.group_id not in allowed:
                groups.append(OffsetFetchResponseGroup(one.group_id, (), _GROUP_REFUSED))
                continue
            _, found, (_, refused) = next(answered)
            if one.topics is None:
                whole = shown.get(one.group_id)
                if whole is None:
                    kept = [topic for topic in found.topics if access.to_topic(_DESCRIBE, topic.name)]
                    whole = shown[one.group_id] = OffsetFetchResponseGroup(found.group_id, kept, found.error_code)
                found = whole
            elif refused and not found.error_code:
                found = OffsetFetchResponseGroup(one.group_id, _merged(one.topics, found.topics, refused, by_id), 0)
            groups.append(found)
        return OffsetFetchResponse(groups=Shared(groups, {}) if shown else groups)

    return guard


def _split_topics(
    ctx: RequestContext, access: Access, topics: Sequence[Any] | None, by_id: bool
) -> tuple[list[Any] | None, list[Any]]:
    """(those that may be seen, the others); everything is None and nothing."""
    if topics is None:
        return None, []

    def may_see(one: Any) -> bool:
        if not by_id:
            return access.to_topic(_DESCRIBE, one.name)
        topic = ctx.state.cluster.topic_by_id(one.topic_id)
        return topic is None or access.to_topic(_DESCRIBE, topic.name)

    return split(topics, may_see, ctx.pace)


def _merged(asked: Sequence[Any], found: Sequence[Any], refused: Sequence[Any], by_id: bool) -> list[Any]:
    """What is refused or has an unknown id comes last, in the order in which it was asked for."""
    late = [
        OffsetFetchResponseTopics(
            one.name,
            one.topic_id,
            [OffsetFetchResponsePartitions(i, -1, -1, "", _REFUSED) for i in one.partition_indexes],
        )
        for one in refused
    ]
    if not by_id:
        return [*found, *late]
    unknown = [one for one in found if any(p.error_code == ErrorCode.UNKNOWN_TOPIC_ID for p in one.partitions)]
    order = {one.topic_id: place for place, one in enumerate(asked)}
    late = sorted([*late, *unknown], key=lambda one: order[one.topic_id])
    return [*(one for one in found if one not in unknown), *late]


def _one_group(api: Registration, ctx: RequestContext, request: OffsetFetchRequest) -> Outcome:
    """Versions 1 to 7."""
    access = ctx.access
    if not access.to_group(_DESCRIBE, request.group_id):
        return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
    topics, refused = _split_topics(ctx, access, request.topics, False)
    if topics is None:
        answer: Any = api.handler(ctx, request)
        kept = [one for one in answer.topics if access.to_topic(_DESCRIBE, one.name)]
        return OffsetFetchResponse(topics=kept, error_code=answer.error_code)
    if not refused:
        return api.handler(ctx, request)
    answer = api.handler(
        ctx, OffsetFetchRequest(group_id=request.group_id, topics=topics, require_stable=request.require_stable)
    )
    if answer.error_code:
        return answer  # type: ignore[no-any-return]
    late = [
        OffsetFetchResponseTopic(
            one.name, [OffsetFetchResponsePartition(i, -1, -1, "", _REFUSED) for i in one.partition_indexes]
        )
        for one in refused
    ]
    return OffsetFetchResponse(topics=[*answer.topics, *late])


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.METADATA: _metadata,
    ApiKey.OFFSET_FETCH: _offset_fetch,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _describe_topic_partitions,
}
