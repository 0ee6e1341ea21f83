"""Topics, records and groups of the cluster behind a proxy: the routes of a broker's, answered by asking."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Query, Request
from pydantic import BaseModel, Field

from kafkastub.client import BrokerError, Client, records, topics
from kafkastub.client import groups as of_groups
from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.in_front.hosted import HostedProxy
from kafkastub.control.problems import Problem
from kafkastub.control.routes.group_lists import GroupList, GroupListQuery, ListedGroup
from kafkastub.control.routes.group_waits import GroupReached, WantedAssignment
from kafkastub.control.routes.group_waits import WaitQuery as GroupWaitQuery
from kafkastub.control.routes.groups import GroupInfo
from kafkastub.control.routes.records import (
    GivenRecords,
    Records,
    RecordsQuery,
    ShownRecord,
    Written,
    WrittenRecord,
    contents_of,
    shown_record,
)
from kafkastub.control.routes.shapes import example
from kafkastub.control.routes.topic_waits import TopicReached, WaitQuery
from kafkastub.control.routes.topics import (
    NewTopic,
    PartitionInfo,
    TopicDetail,
    TopicInfo,
    TopicList,
    TopicQuery,
    TopicsQuery,
)
from kafkastub.control.threads import OneAtATime
from kafkastub.control.waiting import MOST_WAITING, while_there
from kafkawire.errors import ErrorCode
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.murmur2 import partition_of_key
from kafkawire.records import NewRecord

if TYPE_CHECKING:
    from kafkastub.client.records import Found

_LEADERS_SECONDS: Final = 10
_MOST_DESCRIBED: Final = 100
"""Topics of a page whose ends are asked for."""
_MOST_BYTES: Final = 4 << 20
"""Of records in one answer."""


class GroupMember(BaseModel):
    """A member of a group."""

    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None
    assignment: list[tuple[str, int]]


class GroupDetail(GroupInfo):
    """A group with its members and offsets."""

    model_config = example(
        group="shipping", type="classic", state="Stable", protocol_type="consumer", members=1, offsets=1,
        member_list=[], committed=[], lag=3,
    )  # fmt: skip

    member_list: list[GroupMember]
    committed: list[tuple[str, int, int]] = Field(description="topic, partition, offset")
    lag: int | None = Field(
        description="records between the committed offsets and the log end offsets, over all partitions"
    )


def of_topics(hosted: HostedProxy) -> Endpoints:
    """The endpoints below /v1/topics."""
    router = Endpoints(prefix="/topics", tags=["topics"])
    waiting = Places(MOST_WAITING, "requests are waiting")
    thread = OneAtATime()
    turns = itertools.count()

    @router.get("", summary="List topics")
    async def list_topics(query: Annotated[TopicsQuery, Query()]) -> TopicList:
        return await hosted.ask(lambda client: _listed(client, query))

    @router.post("", status_code=201, summary="Create a topic, and wait until its partitions have leaders")
    async def create(body: NewTopic) -> TopicInfo:
        about = f"topic {body.name!r}"
        configs = {name: str(value) for name, value in body.configs.items()}
        await hosted.ask(
            lambda client: topics.create(
                client,
                body.name,
                partitions=body.partitions,
                replication_factor=body.replication_factor,
                configs=configs,
            ),
            about,
        )

        def there(client: Client) -> tuple[None, str]:
            try:
                leaders = records.partitions(client, body.name)
            except BrokerError:
                return None, "is not there"
            return None, "" if leaders and None not in leaders.values() else "has no leaders"

        await hosted.until(there, _LEADERS_SECONDS, about)
        return await hosted.ask(lambda client: _info(client, _metadata(client, body.name), True), about)

    @router.get("/{name}/records", summary="Read records of a partition from an offset on, without a client")
    async def read(name: str, query: Annotated[RecordsQuery, Query()], request: Request) -> Records:
        committed = query.isolation == "read_committed"

        def look(client: Client) -> tuple[tuple[list[Found], int], str]:
            place = name, query.partition
            end = topics.list_offsets(client, {place: topics.LATEST})[place]
            missing = ""
            if query.until_end is not None and end < query.until_end:
                missing = f"ends at {end}, {query.until_end} was waited for,"
            found = records.read(
                client,
                name,
                query.partition,
                query.offset,
                committed=committed,
                most=query.limit,
                most_bytes=_MOST_BYTES,
            )
            return (found, end), missing

        if query.until_end is not None:
            waiting.take(request.state.connection)
        work = hosted.until(look, query.timeout if query.until_end is not None else 0, f"{name}-{query.partition}")
        found, end = await while_there(request, work)
        shown = found[: query.limit]
        following = shown[-1].offset + 1 if shown else end
        return Records(records=[_shown(one, query.cut) for one in shown], next=following, end=end)

    @router.post("/{name}/records", status_code=201, summary="Write records, without a client")
    async def produce(name: str, body: GivenRecords) -> Written:
        contents = await contents_of(hosted, thread, body)

        def write(client: Client) -> list[WrittenRecord]:
            count = len(records.partitions(client, name))
            written = []
            for given, (key, value) in zip(body.records, contents, strict=True):
                stamp = int(time.time() * 1000) if given.timestamp is None else given.timestamp
                headers = tuple((header.encode(), content) for header, content in given.headers.items())
                record = NewRecord(key, value, stamp, headers)
                index = given.partition
                if index is None:
                    index = next(turns) % count if record.key is None else partition_of_key(record.key, count)
                written.append(WrittenRecord(partition=index, offset=records.produce(client, name, index, [record])[0]))
            return written

        return Written(records=await hosted.ask(write, f"topic {name!r}"))

    @router.get(
        "/{name}/wait", summary="Wait until a topic exists, and has a number of partitions or of matching records"
    )
    async def wait(name: str, query: Annotated[WaitQuery, Query()], request: Request) -> TopicReached:
        waiting.take(request.state.connection)

        def look(client: Client) -> tuple[TopicReached, str]:
            return _reached(client, name, query)

        return await while_there(request, hosted.until(look, query.timeout, f"topic {name!r}"))

    @router.get("/{name}", summary="Return a topic with its partitions")
    async def describe(name: str, query: Annotated[TopicQuery, Query()]) -> TopicDetail:
        return await hosted.ask(lambda client: _detail(client, name, query), f"topic {name!r}")

    @router.delete("/{name}", summary="Delete a topic")
    async def delete(name: str) -> TopicInfo:
        about = f"topic {name!r}"
        told = await hosted.ask(lambda client: _info(client, _metadata(client, name), True), about)
        await hosted.ask(lambda client: topics.delete(client, [name]), about)
        return told

    return router


def of_consumer_groups(hosted: HostedProxy) -> Endpoints:
    """The endpoints below /v1/groups."""
    router = Endpoints(prefix="/groups", tags=["groups"])
    waiting = Places(MOST_WAITING, "requests are waiting")

    @router.get("", summary="List consumer groups", response_model_exclude_unset=True)
    async def list_groups(query: Annotated[GroupListQuery, Query()]) -> GroupList:
        return await hosted.ask(lambda client: _groups(client, query))

    @router.get(
        "/{group:path}/wait", summary="Wait until a group has a state, a number of members, or a small enough lag"
    )
    async def wait(group: str, query: Annotated[GroupWaitQuery, Query()], request: Request) -> GroupReached:
        if query.state is None and query.members is None and query.lag is None:
            raise Problem(400, "there is no condition to wait for: expected state, members or lag")
        waiting.take(request.state.connection)

        def look(client: Client) -> tuple[GroupReached, str]:
            return _group_reached(client, group, query)

        return await while_there(request, hosted.until(look, query.timeout, f"group {group!r}"))

    @router.post("/{group:path}/wait-assigned", summary="Wait until members of a group have exactly these partitions")
    async def wait_assigned(group: str, wanted: WantedAssignment, request: Request) -> GroupReached:
        waiting.take(request.state.connection)
        places = {
            name: sorted((one.topic, one.partition) for one in given) for name, given in wanted.assignment.items()
        }

        def look(client: Client) -> tuple[GroupReached, str]:
            return _assigned(client, group, places)

        return await while_there(request, hosted.until(look, wanted.timeout, f"group {group!r}"))

    @router.get("/{group:path}", summary="Return a group with its members and offsets")
    async def describe(group: str) -> GroupDetail:
        return await hosted.ask(lambda client: _group(client, group), f"group {group!r}")

    @router.delete("/{group:path}", summary="Delete a group without members")
    async def delete(group: str) -> GroupInfo:
        about = f"group {group!r}"
        told = await hosted.ask(lambda client: _group(client, group), about)
        await hosted.ask(lambda client: of_groups.delete(client, group), about)
        return told

    return router


def _metadata(client: Client, name: str) -> Any:
    """Raises BrokerError."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    (told,) = client.ask(request).topics
    if told.error_code:
        raise BrokerError(told.error_code)
    return told


def _listed(client: Client, query: TopicsQuery) -> TopicList:
    found = client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False)).topics
    if query.internal is not None:
        found = [one for one in found if one.is_internal == query.internal]
    if query.search is not None:
        found = [one for one in found if query.search.casefold() in one.name.casefold()]
    found = sorted(found, key=lambda one: one.name)
    page = found[query.offset : query.offset + query.limit]
    measured = len(page) <= _MOST_DESCRIBED
    return TopicList(topics=[_info(client, one, measured) for one in page], total=len(found))


def _info(client: Client, told: Any, measured: bool) -> TopicInfo:
    count = 0
    if measured and all(one.leader_id >= 0 for one in told.partitions):
        places = [(told.name, one.partition_index) for one in told.partitions]
        ends = topics.list_offsets(client, dict.fromkeys(places, topics.LATEST))
        starts = topics.list_offsets(client, dict.fromkeys(places, topics.EARLIEST))
        count = sum(ends[place] - starts[place] for place in places)
    return TopicInfo(
        name=told.name,
        topic_id=topics.uuid_text(told.topic_id),
        internal=told.is_internal,
        partitions=len(told.partitions),
        replication_factor=len(told.partitions[0].replica_nodes) if told.partitions else 0,
        configs={},
        records=count,
        size_bytes=0,
    )


def _detail(client: Client, name: str, query: TopicQuery) -> TopicDetail:
    told = _metadata(client, name)
    page = sorted(told.partitions, key=lambda one: one.partition_index)[query.offset : query.offset + query.limit]
    places = [(name, one.partition_index) for one in page if one.leader_id >= 0]
    ends = topics.list_offsets(client, dict.fromkeys(places, topics.LATEST))
    starts = topics.list_offsets(client, dict.fromkeys(places, topics.EARLIEST))
    partitions = [
        PartitionInfo(
            partition=one.partition_index,
            leader=one.leader_id,
            leader_epoch=one.leader_epoch,
            replicas=list(one.replica_nodes),
            isr=list(one.isr_nodes),
            log_start_offset=starts.get((name, one.partition_index), -1),
            log_end_offset=ends.get((name, one.partition_index), -1),
            last_stable_offset=ends.get((name, one.partition_index), -1),
            size_bytes=0,
        )
        for one in page
    ]
    return TopicDetail(**_info(client, told, True).model_dump(), partition_list=partitions)


def _reached(client: Client, name: str, query: WaitQuery) -> tuple[TopicReached, str]:
    try:
        indexes = sorted(records.partitions(client, name))
    except BrokerError:
        return TopicReached(topic=name, partitions=0, records=None), "does not exist"
    told = TopicReached(topic=name, partitions=len(indexes), records=None)
    if query.partitions is not None and len(indexes) < query.partitions:
        return told, f"has {len(indexes)} partitions, {query.partitions} were expected,"
    if query.records is None:
        return told, ""
    committed = query.isolation == "read_committed"
    found = [one for index in indexes for one in records.read(client, name, index, committed=committed)]
    if query.key is not None:
        found = [one for one in found if one.key == query.key.encode()]
    if query.contains is not None:
        found = [one for one in found if query.contains.encode() in (one.value or b"")]
    told.records = len(found)
    if len(found) < query.records:
        return told, f"has {len(found)} such records, {query.records} were expected,"
    return told, ""


def _group(client: Client, name: str) -> GroupDetail:
    found = of_groups.describe(client, name)
    committed = of_groups.offsets(client, name)
    try:
        ends = topics.list_offsets(client, dict.fromkeys(committed, topics.LATEST))
        lag: int | None = sum(max(0, ends[place] - one.offset) for place, one in committed.items())
    except BrokerError:
        lag = None
    return GroupDetail(
        group=name,
        type="classic" if found.epoch is None else "consumer",
        state=found.state,
        protocol_type="consumer",
        members=len(found.members),
        offsets=len(committed),
        member_list=[
            GroupMember(
                member_id=one.id,
                client_id=one.client_id,
                client_host=one.host,
                instance_id=one.instance_id,
                assignment=one.assignment,
            )
            for one in found.members
        ],
        committed=[(*place, one.offset) for place, one in sorted(committed.items())],
        lag=lag,
    )


def _groups(client: Client, query: GroupListQuery) -> GroupList:
    wanted = None if query.search is None else query.search.casefold()
    found = [
        one
        for one in of_groups.list_groups(client)
        if (query.group in (None, one.group_id))
        and (wanted is None or wanted in one.group_id.casefold())
        and (not query.type or one.type.lower() in query.type)
        and (not query.state or one.state in query.state)
    ]
    found.sort(key=lambda one: one.group_id)
    listed: list[ListedGroup] = []
    for one in found[query.offset : query.offset + query.limit]:
        if len(listed) < _MOST_DESCRIBED:
            told = _group(client, one.group_id)
            fields = GroupInfo(**told.model_dump()).model_dump()
            more: dict[str, object] = {"lag": told.lag} if query.details else {}
            listed.append(ListedGroup.model_validate({**fields, **more}))
        else:
            plain = {"group": one.group_id, "type": one.type.lower(), "state": one.state}
            more = {"protocol_type": one.protocol_type, "members": 0, "offsets": 0}
            listed.append(ListedGroup.model_validate({**plain, **more}))
    return GroupList(groups=listed, total=len(found))


def _group_reached(client: Client, name: str, query: GroupWaitQuery) -> tuple[GroupReached, str]:
    try:
        found = of_groups.describe(client, name)
        state, members = found.state, len(found.members)
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        state, members = "Dead", 0
    told = GroupReached(group=name, state=state, members=members)
    if query.state is not None and state.lower() != query.state.lower():
        return told, f"is {state}, {query.state} was waited for,"
    if query.members is not None and members != query.members:
        return told, f"has {members} members, {query.members} were expected,"
    if query.lag is not None:
        behind = max(of_groups.behind(client, name, query.topic).values(), default=None)
        if behind is None or behind > query.lag:
            return told, f"is {behind} records behind, a lag of at most {query.lag} was waited for,"
    return told, ""


def _assigned(client: Client, name: str, wanted: dict[str, list[tuple[str, int]]]) -> tuple[GroupReached, str]:
    try:
        found = of_groups.describe(client, name)
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        return GroupReached(group=name, state="Dead", members=0), "does not exist"
    have: dict[str | None, list[tuple[str, int]]] = {}
    for member in found.members:
        for called in {member.id, member.instance_id, member.client_id}:
            have.setdefault(called, []).extend(member.assignment)
    told = GroupReached(group=name, state=found.state, members=len(found.members))
    missing = [who for who, places in wanted.items() if sorted(have.get(who, [])) != places]
    return told, f"has given others to {', '.join(missing)}" if missing else ""


def _shown(one: Found, cut: int | None) -> ShownRecord:
    return shown_record(one, cut)  # type: ignore[arg-type]  # of the same attributes
