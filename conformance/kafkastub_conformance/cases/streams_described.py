"""How streams groups are described, and their offsets (KIP-1071): StreamsGroupDescribe, and requests for all groups."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import containing, expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.streaming import (
    Streamer,
    described,
    internal,
    streaming,
    subtopology,
    tasks_of,
    topology,
)
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, there are no streams groups")
later = partial(any_case, since="4.4")

API, TOLD = "StreamsGroupHeartbeat", "StreamsGroupDescribe"
DESCRIBED = "KIP-1071; Kafka: GroupMetadataManager.streamsGroupDescribe"
STATES = "KIP-1071; Kafka: StreamsGroup.maybeUpdateGroupState"
COMMITTED = "KIP-1071; Kafka: StreamsGroup.validateOffsetCommit"
DELETED = "KIP-1071; Kafka: StreamsGroup.validateDeleteGroup, isSubscribedToTopic"
SEEN = [API, "IncrementalAlterConfigs", "DescribeConfigs"]


@case(TOLD, "A stable group, its epochs and members.", source=DESCRIBED, also=SEEN)
def stable(on: Broker) -> None:
    topic = on.some_topic()
    member = Streamer(on, topology(subtopology("0", topic), epoch=3))
    tags = [{"key": "zone", "value": "a"}]
    member.join(rack_id="r1", process_id="p1", client_tags=tags, user_endpoint={"host": "h", "port": 1})
    member.assigned(0, 1, 2)
    told = described(on, member.group)
    expect_that("its state", told.group_state, "Stable")
    expect_that("its epochs", (told.group_epoch, told.assignment_epoch), (member.epoch, member.epoch))
    expect_that("how many members", len(told.members), 1)
    one = told.members[0]
    expect_that("the member", (one.member_id, one.rack_id, one.process_id), ("m1", "r1", "p1"))
    expect_that("its epochs", (one.member_epoch, one.topology_epoch), (member.epoch, 3))
    expect_that("its endpoint", (one.user_endpoint.host, one.user_endpoint.port), ("h", 1))
    expect_that("its tags", [(tag.key, tag.value) for tag in one.client_tags], [("zone", "a")])
    for tasks in (one.assignment, one.target_assignment):
        expect_that("its tasks", tasks_of(tasks.active_tasks), {"0": [0, 1, 2]})
    expect_that("whether it is of the classic protocol", one.is_classic, False)


@case(TOLD, "The assignor is named.", source=DESCRIBED, versions=(1, 1), also=SEEN)
def assignor(on: Broker) -> None:
    expect_that("the assignor", described(on, streaming(on).group).assignor_name, "sticky")


@case(
    TOLD, "The topology is described with the numbers of partitions that were determined.", source=DESCRIBED, also=SEEN
)
def topology_told(on: Broker) -> None:
    topic, changelog, repartition = on.some_topic(), on.name(), on.name()
    first = subtopology("0", topic, state_changelog_topics=[internal(changelog)], repartition_sink_topics=[repartition])
    member = Streamer(on, topology(subtopology("1", repartition_source_topics=[internal(repartition)]), first))
    member.join()
    member.assigned(0, 1, 2)
    one, other = described(on, member.group).topology.subtopologies
    expect_that("the subtopologies", [one.subtopology_id, other.subtopology_id], ["0", "1"])
    expect_that("the sources", list(one.source_topics), [topic.name])
    expect_that("the changelogs", [(row.name, row.partitions) for row in one.state_changelog_topics], [(changelog, 3)])
    rows = [(row.name, row.partitions) for row in other.repartition_source_topics]
    expect_that("the repartition topics", rows, [(repartition, 3)])


@case(TOLD, "Without a plug-in the description of a topology is left out.", source=DESCRIBED, versions=(1, 1))
def no_description(on: Broker) -> None:
    member = streaming(on)
    told = on.ask("StreamsGroupDescribe", group_ids=[member.group], include_topology_description=True).groups[0]
    expect_that("the description", told.topology_description, None)


@case(TOLD, "A group that gives tasks back is Reconciling, one whose target is old Assigning.", source=STATES)
def states(on: Broker) -> None:
    member = streaming(on)
    second = member.another()
    second.join()
    expect_that("its state", described(on, member.group).group_state, "Reconciling")
    second.leave()
    told = described(on, member.group)
    expect_that("its state", told.group_state, "Assigning")
    expect_that("whether the target is old", told.assignment_epoch < told.group_epoch, True)
    member.assigned(0, 1, 2)
    expect_that("its state", described(on, member.group).group_state, "Stable")


@case(TOLD, "A group that all have left is Empty, keeps its topology, and its epoch goes on.", source=STATES, also=SEEN)
def emptied(on: Broker) -> None:
    member = streaming(on)
    member.leave()
    told = described(on, member.group)
    expect_that("its state and members", (told.group_state, list(told.members)), ("Empty", []))
    expect_that("its epoch", told.group_epoch, member.epoch + 1)
    expect_that("its topology", told.topology.epoch, 1)


@later(
    TOLD,
    "Task offsets are returned as members reported them.",
    source=DESCRIBED,
    also=SEEN,
    before="INVALID_REQUEST, there are no task offsets",
)
def task_offsets(on: Broker) -> None:
    member = streaming(on)
    offset, end = ({"subtopology_id": "0", "partition": 1, "offset": number} for number in (5, 9))
    member.follow(task_offsets=[offset], task_end_offsets=[end])
    one = described(on, member.group).members[0]
    for rows, number in ((one.task_offsets, 5), (one.task_end_offsets, 9)):
        expect_that(
            "the offsets", [(row.subtopology_id, row.partition, row.offset) for row in rows], [("0", 1, number)]
        )


@case(TOLD, "A group that is not there: GROUP_ID_NOT_FOUND, with a text.", source=DESCRIBED)
def missing(on: Broker) -> None:
    told = described(on, on.group())
    expect_that("its error", (told.error_code, bool(told.error_message)), (E.GROUP_ID_NOT_FOUND, True))


@case(TOLD, "A group of another type: GROUP_ID_NOT_FOUND.", source=DESCRIBED, also=["JoinGroup"])
def another_type(on: Broker) -> None:
    expect_that("its error", described(on, on.member().group).error_code, E.GROUP_ID_NOT_FOUND)


@case(TOLD, "The allowed operations of the group are returned if requested.", source="KIP-430; " + DESCRIBED, also=SEEN)
def operations(on: Broker) -> None:
    member = streaming(on)
    for asked, holds in ((False, False), (True, True)):
        answer = on.ask("StreamsGroupDescribe", group_ids=[member.group], include_authorized_operations=asked)
        expect_that("whether they are told", answer.groups[0].authorized_operations != -(2**31), holds)


@case("ListGroups", "Streams groups have their own type and protocol type.", source=STATES, versions=(5, 5), also=[API])
def streams_type(on: Broker) -> None:
    member = streaming(on)
    for types, there in (([], True), (["streams"], True), (["classic"], False)):
        answer = on.ask("ListGroups", states_filter=[], types_filter=types)
        expect_that("whether it is listed", member.group in [one.group_id for one in answer.groups], there)
    row = {"group_id": member.group, "protocol_type": "streams", "group_state": "Stable", "group_type": "streams"}
    expect(on.ask("ListGroups", states_filter=[], types_filter=["streams"]), groups=containing(row, by="group_id"))


# Offsets.


@case("OffsetCommit", "A member of a streams group: its epoch counts.", source=COMMITTED, versions=(9, 9), also=[API])
def streams_member(on: Broker) -> None:
    member, name = streaming(on), on.some_topic().name
    rows = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]

    def code(member_id: str, epoch: int) -> int:
        who: dict[str, Any] = {"member_id": member_id, "generation_id_or_member_epoch": epoch}
        answer = on.ask("OffsetCommit", group_id=member.group, topics=rows, **who)
        return int(answer.topics[0].partitions[0].error_code)

    expect_that("its own epoch", code("m1", member.epoch), E.NONE)
    expect_that("others", [code("m1", member.epoch + one) for one in (1, -1)], [E.STALE_MEMBER_EPOCH] * 2)
    expect_that("nobody", [code(one, -1) for one in ("m2", "")], [E.UNKNOWN_MEMBER_ID] * 2)
    since = member.epoch
    expect(member.follow(rack_id="r1"), member_epoch=since + 1)
    expect_that("an epoch since which it has the task", code("m1", since), E.NONE)
    member.leave()
    expect_that("nobody where there is none", code("", -1), E.NONE)


@case(
    "OffsetCommit", "A member of a streams group: UNSUPPORTED_VERSION.", source=COMMITTED, versions=(2, 8), also=[API]
)
def streams_member_before(on: Broker) -> None:
    member, name = streaming(on), on.some_topic().name
    rows = [{"name": name, "partitions": [{"partition_index": 0, "committed_offset": 5}]}]
    who: dict[str, Any] = {"member_id": "m1", "generation_id_or_member_epoch": member.epoch}
    answer = on.ask("OffsetCommit", group_id=member.group, topics=rows, **who)
    expect_that("the code", answer.topics[0].partitions[0].error_code, E.UNSUPPORTED_VERSION)


@case("OffsetFetch", "A member of a streams group: its epoch counts.", source=COMMITTED, versions=(9, 9), also=[API])
def streams_reader(on: Broker) -> None:
    member = streaming(on)

    def code(member_id: str, epoch: int) -> int:
        asked = {"group_id": member.group, "member_id": member_id, "member_epoch": epoch, "topics": None}
        return int(on.ask("OffsetFetch", groups=[asked]).groups[0].error_code)

    expect_that("its own epoch", code("m1", member.epoch), E.NONE)
    others = [code("m1", member.epoch + one) for one in (1, -1)]
    expect_that("others", others, [E.STALE_MEMBER_EPOCH] * 2)
    expect_that("nobody", code("m2", 1), E.UNKNOWN_MEMBER_ID)


@case("OffsetDelete", "Topics that a streams group's topology reads: GROUP_SUBSCRIBED_TO_TOPIC.", source=DELETED)
def streams_sources(on: Broker) -> None:
    member, other = streaming(on), on.topic(1)
    names = [on.some_topic().name, other.name]
    asked = [{"name": name, "partitions": [{"partition_index": 0}]} for name in names]

    def codes() -> list[int]:
        answer = on.ask("OffsetDelete", group_id=member.group, topics=asked)
        expect(answer, error_code=E.NONE)
        found = {one.name: one.partitions[0].error_code for one in answer.topics}
        return [int(found[name]) for name in names]

    expect_that("the codes", codes(), [E.GROUP_SUBSCRIBED_TO_TOPIC, E.NONE])
    member.leave()
    expect_that("the codes of a group that all have left", codes(), [E.NONE, E.NONE])


@case("DeleteGroups", "A streams group with members: NON_EMPTY_GROUP; without: gone.", source=DELETED, also=[API])
def streams_group(on: Broker) -> None:
    member = streaming(on)
    asked = [member.group]
    expect_that("the code", on.ask("DeleteGroups", groups_names=asked).results[0].error_code, E.NON_EMPTY_GROUP)
    member.leave()
    expect_that("the code", on.ask("DeleteGroups", groups_names=asked).results[0].error_code, E.NONE)
    expect_that("whether it is there", described(on, member.group).error_code, E.GROUP_ID_NOT_FOUND)


@case("DescribeGroups", "A streams group: GROUP_ID_NOT_FOUND, and Dead.", source=DESCRIBED, versions=(6, 6), also=[API])
def streams_group_here(on: Broker) -> None:
    told = on.ask("DescribeGroups", groups=[streaming(on).group]).groups[0]
    expect_that("what is told", (told.error_code, told.group_state), (E.GROUP_ID_NOT_FOUND, "Dead"))


@case(
    "StreamsGroupTopologyDescriptionUpdate",
    "A broker without a plug-in refuses it: UNSUPPORTED_VERSION, for every client.",
    source="KIP-1331; Kafka: GroupCoordinatorService.streamsGroupTopologyDescriptionUpdate",
)
def no_plugin(on: Broker) -> None:
    for group, member in (("", ""), (on.group(), "m1")):
        answer = on.ask("StreamsGroupTopologyDescriptionUpdate", group_id=group, member_id=member, topology_epoch=1)
        expect(answer, error_code=E.UNSUPPORTED_VERSION)
