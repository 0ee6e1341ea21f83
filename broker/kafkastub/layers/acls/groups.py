"""Guards of the APIs about groups and their offsets; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.described_groups import describing
from kafkastub.layers.acls.heartbeats import heartbeats
from kafkastub.layers.split import about, once_each, split
from kafkastub.security import Operation, ResourceType
from kafkastub.security.access import Access
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.deferred import then
from kafkastub.state.group_protocols import serves_consumer_protocol
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_response import DescribedGroup
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import Coordinator
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.offset_delete_request import OffsetDeleteRequest
from kafkawire.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kafkawire.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from kafkawire.rows import Shared, those
from kafkawire.schema import Message

T = TypeVar("T")

_GROUP_REFUSED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_TOPIC_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_HIDDEN_TOPICS: Final = "The group has described topic(s) that the client is not authorized to describe."
_BY_ID_FROM: Final = 10
_TXN_BY_ID_FROM: Final = 6
_SHARE_KEYS_FROM: Final = 6
_GROUP, _TRANSACTION, _SHARE = range(3)


def _member(api: Registration) -> Handler:
    """JoinGroup, Heartbeat, LeaveGroup, SyncGroup: Read on the group."""
    handler, sync = api.handler, api.key == ApiKey.SYNC_GROUP

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        if ctx.access.to_group(Operation.READ, request.group_id):
            return handler(ctx, request)
        if sync and ctx.api_version >= 5 and None in (request.protocol_type, request.protocol_name):
            return handler(ctx, request)  # it is refused for that first (KIP-559)
        return api.error_response(request, _GROUP_REFUSED, ctx.api_version)

    return guard


def _offset_commit(api: Registration) -> Handler:
    """Read on the group, and on each topic."""
    handler = api.handler

    def guard(ctx: RequestContext, request: OffsetCommitRequest) -> Outcome:
        if not ctx.access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        return _topics_read(ctx, request, api, handler, by_id=ctx.api_version >= _BY_ID_FROM)

    return guard


def _txn_offset_commit(api: Registration) -> Handler:
    """Write on the transactional id, Read on the group, and on each topic."""
    handler = api.handler

    def guard(ctx: RequestContext, request: TxnOffsetCommitRequest) -> Outcome:
        if not ctx.access.to(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
            return api.error_response(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ctx.api_version)
        if not ctx.access.to_group(Operation.READ, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        return _topics_read(ctx, request, api, handler, by_id=ctx.api_version >= _TXN_BY_ID_FROM)

    return guard


def _topics_read(ctx: RequestContext, request: Any, api: Registration, handler: Handler, *, by_id: bool) -> Outcome:
    """What the handler says of the topics with Read, and that the others are refused."""
    access = ctx.access
    mine, refused = split(request.topics, lambda topic: _may_see(ctx, access, Operation.READ, topic, by_id), ctx.pace)
    if not refused:
        return handler(ctx, request)
    answer: Any = api.error_response(type(request)(topics=refused), _TOPIC_REFUSED, ctx.api_version)
    if not mine:
        answer.topics = once_each(answer.topics, lambda topic: _key(topic, by_id))
        return answer  # type: ignore[no-any-return]
    early = {_key(topic, by_id) for topic in mine if _is_missing(ctx, topic, by_id)}
    early |= {_key(topic, by_id) for topic in refused}
    order = _places(_key(topic, by_id) for topic in request.topics)

    def both(found: Any) -> Any:
        # what is refused or missing comes first, as it was asked for; then what the coordinator answers
        topics = sorted(
            [*answer.topics, *found.topics],
            key=lambda topic: (_key(topic, by_id) not in early, order[_key(topic, by_id)]),
        )
        return type(found)(topics=once_each(topics, lambda topic: _key(topic, by_id)))

    return then(handler(ctx, about(request, topics=mine)), both)  # type: ignore[no-any-return]


def _places(keys: Iterable[T]) -> dict[T, int]:
    """Each key with the place at which it is named first, among those that differ."""
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}


def _key(topic: Any, by_id: bool) -> str | bytes:
    return topic.topic_id if by_id else topic.name  # type: ignore[no-any-return]


def _is_missing(ctx: RequestContext, asked: Any, by_id: bool) -> bool:
    """Whether the topic, or a partition asked for, does not exist."""
    cluster = ctx.state.cluster
    topic = cluster.topic_by_id(asked.topic_id) if by_id else cluster.topic(asked.name)
    return topic is None or any(not 0 <= one.partition_index < len(topic.partitions) for one in asked.partitions)


def _may_see(ctx: RequestContext, access: Access, operation: Operation, asked: Any, by_id: bool) -> bool:
    """Whether the topic is allowed; an id that nobody has is the handler's business."""
    if not by_id:
        return access.to_topic(operation, asked.name)
    topic = ctx.state.cluster.topic_by_id(asked.topic_id)
    return topic is None or access.to_topic(operation, topic.name)


def _offset_delete(api: Registration) -> Handler:
    """Delete on the group, Read on each topic."""
    handler = api.handler

    def guard(ctx: RequestContext, request: OffsetDeleteRequest) -> Outcome:
        access = ctx.access
        if not access.to_group(Operation.DELETE, request.group_id):
            return api.error_response(request, _GROUP_REFUSED, ctx.api_version)
        mine, refused = split(request.topics, lambda topic: access.to_topic(Operation.READ, topic.name), ctx.pace)
        if not refused:
            return handler(ctx, request)
        order = _places(topic.name for topic in request.topics)
        early = {topic.name for topic in mine if _is_missing(ctx, topic, False)} | {topic.name for topic in refused}
        answer: Any = handler(ctx, OffsetDeleteRequest(request.group_id, mine))
        if answer.error_code:
            return answer  # type: ignore[no-any-return]
        topics = [
            OffsetDeleteResponseTopic(
                topic.name,
                [OffsetDeleteResponsePartition(one.partition_index, _TOPIC_REFUSED) for one in topic.partitions],
            )
            for topic in refused
        ]
        topics = sorted([*topics, *answer.topics], key=lambda topic: (topic.name not in early, order[topic.name]))
        return OffsetDeleteResponse(topics=once_each(topics, lambda topic: topic.name))

    return guard


def _find_coordinator(api: Registration) -> Handler:
    """Describe on the group or the transactional id; ClusterAction on the cluster for share groups."""
    handler = api.handler

    def guard(ctx: RequestContext, request: FindCoordinatorRequest) -> Outcome:
        access, version, kind = ctx.access, ctx.api_version, request.key_type
        if kind == _SHARE and version >= _SHARE_KEYS_FROM and not access.to_cluster(Operation.CLUSTER_ACTION):
            return api.error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, version)
        if kind not in (_GROUP, _TRANSACTION):
            return handler(ctx, request)
        resource = ResourceType.GROUP if kind == _GROUP else ResourceType.TRANSACTIONAL_ID
        code = _GROUP_REFUSED if kind == _GROUP else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        keys = [request.key] if version < 4 else request.coordinator_keys
        mine, refused = split(keys, lambda key: access.to(Operation.DESCRIBE, resource, key), ctx.pace)
        if not refused:
            return handler(ctx, request)
        if version < 4:
            return api.error_response(request, code, version)
        answer: Any = handler(ctx, about(request, coordinator_keys=mine))
        found = iter(answer.coordinators)
        unseen = set(refused)
        answer.coordinators = [
            Coordinator(key, -1, "", -1, code, "") if key in unseen else next(found) for key in paced(keys, ctx.pace)
        ]
        return answer  # type: ignore[no-any-return]

    return guard


def _describe_groups(api: Registration) -> Handler:
    """Describe on each group."""
    handler = api.handler

    def guard(ctx: RequestContext, request: DescribeGroupsRequest) -> Outcome:
        access = ctx.access
        mine, refused = split(request.groups, lambda group: access.to_group(Operation.DESCRIBE, group), ctx.pace)

        operations: dict[str, int] = {}
        if request.include_authorized_operations:
            kind = ResourceType.GROUP
            for name in paced(dict.fromkeys(mine), ctx.pace):
                operations[name] = access.operations(GROUP_OPERATIONS, kind, name)

        def both(answer: Any) -> Message:
            if operations:
                for group in answer.groups:
                    if not group.error_code:
                        group.authorized_operations = operations[group.group_id]
                answer.groups = Shared(answer.groups, {})  # encoded before, they are others now
            if refused:
                failed: Any = api.error_response(DescribeGroupsRequest(refused), _GROUP_REFUSED, ctx.api_version)
                answer.groups = [*failed.groups, *answer.groups]
            return answer  # type: ignore[no-any-return]

        asked = DescribeGroupsRequest(mine, request.include_authorized_operations)
        return then(handler(ctx, asked), both)  # type: ignore[no-any-return]

    return guard


def _list_groups(api: Registration) -> Handler:
    """All with Describe on the cluster, else those with Describe on the group."""
    handler = api.handler

    def guard(ctx: RequestContext, request: Any) -> Outcome:
        access = ctx.access
        if access.to_cluster(Operation.DESCRIBE):
            return handler(ctx, request)

        def seen(answer: Any) -> Any:
            answer.groups = those(answer.groups, lambda one: access.to_group(Operation.DESCRIBE, one.group_id))
            return answer

        return then(handler(ctx, request), seen)  # type: ignore[no-any-return]

    return guard


def _delete_groups(api: Registration) -> Handler:
    """Delete on each group."""
    handler = api.handler

    def guard(ctx: RequestContext, request: DeleteGroupsRequest) -> Outcome:
        access = ctx.access
        mine, refused = split(request.groups_names, lambda group: access.to_group(Operation.DELETE, group), ctx.pace)
        if not refused:
            return handler(ctx, request)
        failed: Any = api.error_response(DeleteGroupsRequest(refused), _GROUP_REFUSED, ctx.api_version)

        def both(answer: Any) -> Any:
            answer.results = [*answer.results, *failed.results]
            return answer

        return then(handler(ctx, DeleteGroupsRequest(mine)), both)  # type: ignore[no-any-return]

    return guard


def _consumer_heartbeat(api: Registration) -> Handler:
    """As `heartbeats`; what a regular expression finds is the handler's."""
    return heartbeats(api, serves_consumer_protocol)


def _consumer_describe(api: Registration) -> Handler:
    """Describe on each group, and on each topic that is, or will be, assigned in it."""
    return describing(api, serves_consumer_protocol, _assigned_topics, _HIDDEN_TOPICS)


def _assigned_topics(group: DescribedGroup) -> set[str]:
    return {
        topic.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    }


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.OFFSET_COMMIT: _offset_commit,
    ApiKey.TXN_OFFSET_COMMIT: _txn_offset_commit,
    ApiKey.FIND_COORDINATOR: _find_coordinator,
    ApiKey.JOIN_GROUP: _member,
    ApiKey.HEARTBEAT: _member,
    ApiKey.LEAVE_GROUP: _member,
    ApiKey.SYNC_GROUP: _member,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _consumer_heartbeat,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _consumer_describe,
    ApiKey.DESCRIBE_GROUPS: _describe_groups,
    ApiKey.LIST_GROUPS: _list_groups,
    ApiKey.DELETE_GROUPS: _delete_groups,
    ApiKey.OFFSET_DELETE: _offset_delete,
}
