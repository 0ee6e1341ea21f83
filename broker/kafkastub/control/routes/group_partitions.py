"""/v1/groups/{group}/partitions: each partition that a group reads, or has an offset of, with all that is known of it.

What has an owner and no offset is here as well: `/v1/groups/{group}` lists what is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.expiry_rules import why
from kafkastub.control.routes.groups import moment
from kafkastub.control.routes.of_groups import existing_group
from kafkastub.control.routes.shapes import Body, Limit, Offset, example, iso
from kafkastub.control.walks import Walks

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.state.broker_state import BrokerState


class GroupPartition(BaseModel):
    """A partition from the view of a group."""

    model_config = example(
        topic="orders", partition=0, member_id="consumer-1-9f", client_id="shipping-1", offset=17, metadata="",
        committed="2026-03-01T12:00:00.123Z", committed_ms=1772366400123, pending=False, log_start_offset=0,
        last_stable_offset=20, log_end_offset=20, lag=3, leader=1, leader_running=True, expires_at=None,
        expires_at_ms=None, rule="subscribed", why="it stays: a member of the group subscribes to the topic",
    )  # fmt: skip

    topic: str
    partition: int
    member_id: str | None = Field(description="the member that has it; null for none")
    client_id: str | None
    offset: int | None = Field(description="the committed offset; null for none")
    metadata: str | None
    committed: str | None = Field(description="broker time of the commit")
    committed_ms: int | None
    pending: bool = Field(description="whether an undecided transaction has an offset for it")
    log_start_offset: int | None = Field(description="null if the partition does not exist (any more)")
    last_stable_offset: int | None = Field(description="where readers with read_committed stop")
    log_end_offset: int | None
    lag: int | None
    leader: int | None = Field(description="node id of the leader; -1 for none")
    leader_running: bool | None
    expires_at: str | None = Field(description="broker time at which the offset expires if nothing changes")
    expires_at_ms: int | None
    rule: str | None = Field(description="as in `/v1/groups/{group}`")
    why: str | None


class GroupPartitions(BaseModel):
    """Partitions, sorted by topic and number."""

    partitions: list[GroupPartition]
    total: int


class PartitionsQuery(Body):
    """Which, and how many."""

    topic: str | None = Field(None, description="only of this topic")
    offset: Offset = 0
    limit: Limit = 100


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/groups", tags=["groups"])
    walks = Walks()

    @router.get(
        "/{group:path}/partitions", summary="List the partitions that the group reads or has a committed offset for"
    )
    async def list_partitions(group: str, query: Annotated[PartitionsQuery, Query()]) -> GroupPartitions:
        state, found = existing_group(hosted, group)
        owners = owners_of(state, group)
        shown, total = _places(state, group, owners, query)
        steps = (_partition(state, found, topic, index, owners.get((topic, index))) for topic, index in shown)
        return GroupPartitions(partitions=[one async for one in walks.through(steps)], total=total)

    return router


def owners_of(state: BrokerState, group: str) -> dict[tuple[str, int], tuple[str, str]]:
    """(member id, client id) by topic and partition: of a share group one of those who may read."""
    from kafkastub.views.groups import view

    found = view(state, group)
    members = () if found is None else found.members.values()
    return {place: (member.member_id, member.client_id) for member in members for place in member.assigned}


def _places(
    state: BrokerState, group: str, owners: dict[tuple[str, int], tuple[str, str]], query: PartitionsQuery
) -> tuple[list[tuple[str, int]], int]:
    """Those of the page, and how many there are. Of topics that are not on it the partitions are counted alone."""
    committed = state.coordinator.offsets.topics(group)
    uncommitted: dict[str, list[int]] = {}
    for topic, index in owners:
        columns = committed.get(topic)
        if columns is None or columns.slot(index) < 0:
            uncommitted.setdefault(topic, []).append(index)
    shown: list[tuple[str, int]] = []
    total = 0
    for topic in sorted(committed.keys() | uncommitted.keys()):
        if query.topic not in (None, topic):
            continue
        columns, more = committed.get(topic), uncommitted.get(topic, [])
        count = len(more) + (0 if columns is None else columns.count)
        first, last = max(query.offset - total, 0), query.offset + query.limit - total
        if first < count and last > 0:
            indexes = sorted([*(() if columns is None else columns.partitions()), *more])
            shown += [(topic, index) for index in indexes[first:last]]
        total += count
    return shown, total


def _partition(
    state: BrokerState, group: Group, topic: str, index: int, owner: tuple[str, str] | None
) -> GroupPartition:
    from kafkastub.coordinator.expiry import NEVER
    from kafkastub.coordinator.expiry_forecast import OfTopic

    cluster, offsets = state.cluster, state.coordinator.offsets
    known = cluster.topic(topic)
    there = known is not None and index < len(known.partitions)
    log = state.logs.log(known.topic_id, index) if known is not None else None
    leader = known.partitions[index].leader if known is not None and there else None
    columns = offsets.topic(group.group_id, topic)
    commit, foreseen = None, None
    if columns is not None and (commit := columns.get(index)) is not None:
        foreseen = OfTopic(state.coordinator.expiry, group, offsets, topic, columns).at(index, columns.slot(index))
    at = None if foreseen is None or foreseen.at == NEVER else foreseen.at
    end = None if log is None else log.log_end_offset
    return GroupPartition(
        topic=topic,
        partition=index,
        member_id=None if owner is None else owner[0],
        client_id=None if owner is None else owner[1],
        offset=None if commit is None else commit.offset,
        metadata=None if commit is None else commit.metadata,
        committed=None if commit is None else iso(commit.commit_timestamp),
        committed_ms=None if commit is None else commit.commit_timestamp,
        pending=offsets.is_pending(group.group_id, topic, index),
        log_start_offset=None if log is None else log.log_start_offset,
        last_stable_offset=None if log is None else log.last_stable_offset,
        log_end_offset=end,
        lag=None if end is None or commit is None else max(end - commit.offset, 0),
        leader=leader,
        leader_running=None if leader is None else cluster.is_alive(leader),
        expires_at=None if at is None else moment(at),
        expires_at_ms=at,
        rule=None if foreseen is None else foreseen.rule,
        why=None if foreseen is None else why(foreseen.rule),
    )
