"""/v1/groups: groups with their members and offsets, and what `stub.groups` is in Python (docs/consumer-groups.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query
from pydantic import BaseModel, Field, StrictInt

from kafkastub.config.durations import LAST_MS
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.expiry_rules import why
from kafkastub.control.routes.of_groups import GroupsQuery, MemberGiven, add_end_session, done, existing_group, loaded
from kafkastub.control.routes.shapes import (
    Body,
    Names,
    Text,
    UntilRefused,
    body_example,
    example,
    iso,
)
from kafkastub.control.routes.view_models import Pair, ViewModel, called, fields_of
from kafkastub.control.walks import Walks
from kafkastub.state.groups import coordinator_of
from kafkastub.views.groups import MemberView, hold_revocation, release_revocation, view
from kafkastub.views.groups import set_target as set_target_of
from kafkastub.views.lag import measured
from kafkastub.views.of_groups import AnyGroup
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group, GroupDescription
    from kafkastub.state.broker_state import BrokerState


class GroupInfo(ViewModel):
    """A group."""

    model_config = example(
        group="shipping", type="classic", state="Stable", protocol_type="consumer", members=2, offsets=3
    )

    group: str
    type: str = Field(description="classic, consumer (KIP-848), share (KIP-932), or streams (KIP-1071)")
    state: str = Field(
        description="Empty, PreparingRebalance, CompletingRebalance, Stable or Dead; also Assigning and "
        "Reconciling in consumer and streams groups, and NotReady in streams groups"
    )
    protocol_type: str | None = Field(description="null for a group that only ever committed offsets")
    members: int
    offsets: int = Field(description="number of partitions with a committed offset")


class TopicPartition(Pair):
    """A partition."""

    topic: str
    partition: int


@fields_of(MemberView)
class MemberInfo(ViewModel):
    """A member."""

    host: str = called("client_host")
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscribed: list[str] | None = Field(description="topics; null if its metadata cannot be parsed")
    assigned: list[TopicPartition] = Field(description="what the member has now")
    epoch: int | None = Field(description="epoch of the member; null in a classic group")
    state: str | None = Field(
        description="STABLE, UNREVOKED_PARTITIONS or UNRELEASED_PARTITIONS; …_TASKS in a streams group"
    )
    expression: str | None = Field(description="the regular expression that it subscribes to")
    pending_revocation: list[TopicPartition] = Field(description="what it must give up and has not given up yet")
    target: list[TopicPartition] | None = Field(description="its target assignment; null in a classic group")
    upgraded: bool | None = Field(description="whether it uses the consumer protocol; null in a classic group")
    held: bool = Field(description="whether its revocations are held (hold-revocation)")


class OffsetInfo(BaseModel):
    """A committed offset."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    committed: str = Field(description="broker time of the commit")
    expires: str | None = Field(description="broker time, if the commit has its own retention")
    expires_at: str | None = Field(
        description="broker time at which it expires if nothing changes; null if it does not expire"
    )
    rule: str = Field(
        description="why it expires: own_retention, group_empty, not_subscribed or simple; why it stays: "
        "subscribed, active, pending or kept_for_ever"
    )
    why: str = Field(description="the rule, in words")
    log_end_offset: int | None
    lag: int | None


@fields_of(AnyGroup, without=("group_id", "epoch", "assignor"))
class GroupDetail(GroupInfo):
    """A group with its members and offsets."""

    generation: int = Field(description="generation of a classic group; epoch of other groups")
    target_epoch: int | None = Field(description="epoch of the target assignment; null in a classic group")
    protocol: str | None = Field(description="the protocol that the members agreed on, or the broker's assignor")
    leader: str | None
    state_since: str | None = Field(description="broker time of its last change of state")
    member_list: list[MemberInfo]
    offset_list: list[OffsetInfo] = Field(description="at most `limit` items")


class PlaceGiven(Body):
    """A partition of a target assignment."""

    topic: Text
    partition: StrictInt


class NewTarget(Body):
    """The target assignment by member id, group instance id or client id."""

    model_config = body_example(target={"one": [{"topic": "orders", "partition": 0}]})

    target: Names[UntilRefused[PlaceGiven]] = Field(description="a member that is not in it gets nothing")


class RevocationHold(BaseModel):
    """The member, and whether its revocations are held."""

    model_config = example(member_id="Iqk8GDnmTXuqPnqMfUWCnQ", held=True)

    member_id: str
    held: bool


class ExpiredOffsets(BaseModel):
    """The result of a sweep."""

    model_config = example(expired_offsets=3, groups=1)

    expired_offsets: int
    groups: int = Field(description="number of groups after the sweep")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/groups", tags=["groups"])
    walks = Walks()

    @router.post("/expire", summary="Delete expired offsets now")
    async def expire() -> ExpiredOffsets:
        broker = hosted.running()
        found = loaded(hosted)
        meters = found.coordinator.meters
        before = meters.offset_expirations
        broker_ms = broker.clock.broker_ms()
        more = True
        while more:
            more = hosted.call(lambda: found.expire_some_offsets(broker_ms))
            await asyncio.sleep(0)  # others have their turn
        return ExpiredOffsets(expired_offsets=meters.offset_expirations - before, groups=len(found.coordinator.groups))

    @router.get("/{group:path}", summary="Return a group with its members and offsets")
    async def describe(group: str, query: Annotated[GroupsQuery, Query()]) -> GroupDetail:
        state, found = existing_group(hosted, group)
        offsets = [one async for one in walks.through(_offsets(state, found, query.limit))]
        return _detail(state, found, offsets)

    @router.delete("/{group:path}", summary="Delete a group without members, with its offsets")
    async def delete(group: str) -> GroupInfo:
        broker, found = hosted.running(), loaded(hosted)
        there = found.coordinator.groups.get(group)
        told = None if there is None else group_info(found, there)

        def work() -> None:
            found.settle(coordinator_of(found).delete_group(group, broker.clock.broker_ms()))

        done(hosted, group, work)
        assert told is not None
        return told

    _add_targets(router, hosted)
    return router


def _add_targets(router: Endpoints, hosted: Hosted) -> None:
    """What only tests do to a group."""

    @router.put("/{group:path}/target", summary="Set the target assignment, with a new epoch")
    async def set_target(group: str, body: NewTarget) -> GroupDetail:
        broker, found = hosted.running(), loaded(hosted)
        target = {name: [(one.topic, one.partition) for one in places] for name, places in body.target.items()}
        done(hosted, group, lambda: set_target_of(found, group, target, *broker.clock.both()))
        known = found.coordinator.groups[group]
        return _detail(found, known, list(_offsets(found, known, _SHOWN)))

    @router.post(
        "/{group:path}/hold-revocation",
        summary="Hold the revocations of a member: partitions that it gives up stay its own",
    )
    async def hold(group: str, body: MemberGiven) -> RevocationHold:
        found = loaded(hosted)
        return RevocationHold(
            member_id=done(hosted, group, lambda: hold_revocation(found, group, body.member)), held=True
        )

    add_end_session(router, hosted)

    @router.post("/{group:path}/release-revocation", summary="Release the held revocations of a member")
    async def release(group: str, body: MemberGiven) -> RevocationHold:
        found = loaded(hosted)

        def work() -> str:
            seen = view(found, group)
            if seen is None:
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
            member_id = seen.member(body.member).member_id
            release_revocation(found, group, member_id)
            return member_id

        return RevocationHold(member_id=done(hosted, group, work), held=False)


def _detail(state: BrokerState, group: Group, offsets: list[OffsetInfo]) -> GroupDetail:
    since, described = group.state_timestamp, group.described()
    found = view(state, group.group_id)
    told = {
        "generation": described.generation,
        "target_epoch": None if found is None else found.target_epoch,
        "protocol": described.protocol if found is None else found.assignor,
        "leader": described.leader,
        "state_since": None if since is None else iso(since),
        "member_list": _members(described, {} if found is None else found.members),
        "offset_list": offsets,
    }
    return GroupDetail.of((vars(found) if found else {}) | group_info(state, group).model_dump() | told)


def group_info(state: BrokerState, group: Group) -> GroupInfo:
    """What is seen of it at a glance."""
    topics = state.coordinator.offsets.topics(group.group_id)
    return GroupInfo(
        group=group.group_id,
        type=group.group_type,
        state=group.state_name,
        protocol_type=group.protocol_type,
        members=group.size,
        offsets=sum(columns.count for columns in topics.values()),
    )


def _members(described: GroupDescription, views: Mapping[str, MemberView]) -> list[MemberInfo]:
    return [
        MemberInfo.of(
            vars(views[one.member_id])
            | {"session_timeout_ms": one.session_timeout_ms, "rebalance_timeout_ms": one.rebalance_timeout_ms}
        )
        for one in described.members
        if one.member_id in views
    ]


def _offsets(state: BrokerState, group: Group, limit: int) -> Iterator[OffsetInfo]:
    """So many of them, one by one: meanwhile others may come and go."""
    from kafkastub.coordinator.expiry import NEVER
    from kafkastub.coordinator.expiry_forecast import OfTopic

    left, offsets = limit, state.coordinator.offsets
    for topic, columns in list(offsets.topics(group.group_id).items()):
        of_topic = OfTopic(state.coordinator.expiry, group, offsets, topic, columns)
        for index, commit, end, lag in measured(state, topic, columns):
            if not left:
                return
            left -= 1
            expiry = commit.expire_timestamp
            at, rule = of_topic.at(index, columns.slot(index))
            yield OffsetInfo(
                topic=topic,
                partition=index,
                offset=commit.offset,
                leader_epoch=commit.leader_epoch,
                metadata=commit.metadata,
                committed=iso(commit.commit_timestamp),
                expires=None if expiry < 0 else moment(expiry),
                expires_at=None if at == NEVER else moment(at),
                rule=rule,
                why=why(rule),
                log_end_offset=end,
                lag=lag,
            )


def moment(ms: int) -> str:
    """ISO 8601; "never" for what is later than every date."""
    return iso(ms) if ms <= LAST_MS else "never"


_SHOWN: Final = 1000
"""Offsets in an answer that is about something else."""
