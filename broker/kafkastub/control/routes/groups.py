"""/v1/groups: consumer groups with their members and offsets."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.shapes import Body, Limit, example, iso
from kafkastub.state.groups import check_loaded, coordinator_of
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group, GroupDescription
    from kafkastub.state.broker_state import BrokerState


class GroupInfo(BaseModel):
    """A group."""

    model_config = example(
        group="shipping", type="classic", state="Stable", protocol_type="consumer", members=2, offsets=3
    )

    group: str
    type: str
    state: str = Field(description="Empty, PreparingRebalance, CompletingRebalance, Stable or Dead")
    protocol_type: str | None = Field(description="null for a group that only ever committed offsets")
    members: int
    offsets: int = Field(description="how many partitions have a committed offset")


class GroupList(BaseModel):
    """Groups in the order of their creation."""

    groups: list[GroupInfo]
    total: int = Field(description="how many there are, listed or not")


class MemberInfo(BaseModel):
    """A member."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscribed: list[str] | None = Field(description="topics; null where they cannot be read from its metadata")


class OffsetInfo(BaseModel):
    """A committed offset."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    committed: str = Field(description="broker time of the commit")
    expires: str | None = Field(description="where the commit itself said how long it is kept")
    log_end_offset: int | None
    lag: int | None


class GroupDetail(GroupInfo):
    """A group with its members and offsets."""

    generation: int
    protocol: str | None
    leader: str | None
    state_since: str | None = Field(description="broker time since when it is in its state")
    member_list: list[MemberInfo]
    offset_list: list[OffsetInfo] = Field(description="as many as `limit` says")


class GroupsQuery(Body):
    """How much."""

    limit: Limit = 1000


class Expired(BaseModel):
    """What a sweep has come to."""

    model_config = example(expired_offsets=3, groups=1)

    expired_offsets: int
    groups: int = Field(description="how many groups there are afterwards")


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints."""
    router = APIRouter(prefix="/groups", tags=["groups"])

    def state() -> BrokerState:
        found = hosted.running().state
        try:
            check_loaded(found)
        except KafkaError as error:
            raise of_kafka(error, "the group coordinator") from None
        return found

    @router.get("", summary="All groups")
    async def list_groups(query: Annotated[GroupsQuery, Query()]) -> GroupList:
        found = state()
        groups = found.coordinator.groups
        listed = [_info(found, group) for group in islice(groups.values(), query.limit)]
        return GroupList(groups=listed, total=len(groups))

    @router.post("/expire", summary="Sweep for expired offsets now")
    async def expire() -> Expired:
        broker = hosted.running()
        found = state()
        meters = found.coordinator.meters
        before = meters.offset_expirations
        hosted.call(lambda: found.expire_offsets(broker.clock.broker_ms()))
        return Expired(expired_offsets=meters.offset_expirations - before, groups=len(found.coordinator.groups))

    @router.get("/{group:path}", summary="One group with its members and offsets")
    async def describe(group: str, query: Annotated[GroupsQuery, Query()]) -> GroupDetail:
        found = state()
        known = found.coordinator.groups.get(group)
        if known is None:
            raise Problem(404, f"group {group!r} does not exist", ErrorCode.GROUP_ID_NOT_FOUND.name)
        since, described = known.state_timestamp, known.described()
        return GroupDetail(
            **_info(found, known).model_dump(),
            generation=described.generation,
            protocol=described.protocol,
            leader=described.leader,
            state_since=None if since is None else iso(since),
            member_list=_members(described),
            offset_list=_offsets(found, group, query.limit),
        )

    @router.delete("/{group:path}", summary="Delete a group without members, and its offsets")
    async def delete(group: str) -> GroupInfo:
        broker, found = hosted.running(), state()
        known = found.coordinator.groups.get(group)
        told = None if known is None else _info(found, known)

        def work() -> None:
            found.settle(coordinator_of(found).delete_group(group, broker.clock.broker_ms()))

        try:
            hosted.call(work)
        except KafkaError as error:
            raise of_kafka(error, f"group {group!r}") from None
        assert told is not None
        return told

    return router


def _info(state: BrokerState, group: Group) -> GroupInfo:
    topics = state.coordinator.offsets.topics(group.group_id)
    return GroupInfo(
        group=group.group_id,
        type=group.group_type,
        state=group.state_name,
        protocol_type=group.protocol_type,
        members=group.size,
        offsets=sum(columns.count for columns in topics.values()),
    )


def _members(described: GroupDescription) -> list[MemberInfo]:
    return [
        MemberInfo(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            host=member.client_host,
            session_timeout_ms=member.session_timeout_ms,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            subscribed=member.subscribed,
        )
        for member in described.members
    ]


def _offsets(state: BrokerState, group: str, limit: int) -> list[OffsetInfo]:
    listed: list[OffsetInfo] = []
    for topic, columns in state.coordinator.offsets.topics(group).items():
        known = state.cluster.topic(topic)
        for index, commit in columns.items():
            if len(listed) == limit:
                return listed
            log = None if known is None else state.logs.log(known.topic_id, index)
            end = None if log is None else log.log_end_offset
            expiry = commit.expire_timestamp
            listed.append(
                OffsetInfo(
                    topic=topic,
                    partition=index,
                    offset=commit.offset,
                    leader_epoch=commit.leader_epoch,
                    metadata=commit.metadata,
                    committed=iso(commit.commit_timestamp),
                    expires=None if expiry < 0 else iso(expiry) if expiry <= _LAST_MS else "never",
                    log_end_offset=end,
                    lag=None if end is None else max(end - commit.offset, 0),
                )
            )
    return listed


_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: no date can be later."""
