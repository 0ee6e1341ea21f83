"""Share groups' offsets, and the states that brokers keep for each other (KIP-932)."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.sharing import ACCEPT, RELEASE, Sharer, acquired, described, fill, offsets_told, sharing
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, unless share groups are switched on")

TOLD, ALTER, DELETE = "DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets"
SUMMARY = "ReadShareGroupStateSummary"
BEGIN, READ, WRITE, FORGET = (f"{verb}ShareGroupState" for verb in ("Initialize", "Read", "Write", "Delete"))
OFFSETS = "KIP-932; Kafka: GroupCoordinatorService.describeShareGroupOffsets"
ALTERED = "KIP-932; Kafka: GroupMetadataManager.completeAlterShareGroupOffsets"
DELETED = "KIP-932; Kafka: GroupMetadataManager.initiateDeleteShareGroupOffsets"
LAG = "KIP-1226; Kafka: GroupCoordinatorService.describeShareGroupOffsets"
STATES = "KIP-932; Kafka: ShareCoordinatorShard"
MEMBERS = ["ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge"]
AVAILABLE, ACKNOWLEDGED = 0, 2


def emptied(on: Broker) -> tuple[str, Topic]:
    """A group without members that has read three of five records."""
    member, topic = sharing(on, 3, 2)
    member.fetch()
    member.acknowledge((0, 2, [ACCEPT]))
    member.acknowledge((3, 3, [ACCEPT]))
    member.tell(-1)
    member.leave()
    return member.group, topic


# Offsets.


@case(TOLD, "Where a group begins to read a partition; -1 where it does not know.", source=OFFSETS, also=MEMBERS)
def start_offset(on: Broker) -> None:
    group, topic = emptied(on)
    expect_that("where it begins", offsets_told(on, group, topic, 0), [4])
    expect_that("where another does", offsets_told(on, on.group(), topic, 0), [-1])


@case(TOLD, "Everything that a group reads, where no topic is named.", source=OFFSETS, also=MEMBERS)
def everything(on: Broker) -> None:
    group, topic = emptied(on)
    told = on.ask(TOLD, groups=[{"group_id": group, "topics": None}]).groups[0]
    rows = [(one.topic_name, bytes(one.topic_id), [row.start_offset for row in one.partitions]) for one in told.topics]
    expect_that("what it reads", rows, [(topic.name, topic.id, [4])])


@case(TOLD, "How many records are still to be delivered.", source=LAG, versions=(1, 1), also=MEMBERS)
def lag(on: Broker) -> None:
    member, topic = sharing(on, 5)
    member.fetch()
    member.acknowledge((1, 1, [ACCEPT]), (2, 2, [RELEASE]))
    asked = [{"group_id": member.group, "topics": [{"topic_name": topic.name, "partitions": [0]}]}]
    row = on.ask(TOLD, groups=asked).groups[0].topics[0].partitions[0]
    expect_that("where it begins, and the lag", (row.start_offset, row.lag), (0, 4))


@case(TOLD, "Several groups; one that is not there has nothing.", source=OFFSETS, also=MEMBERS)
def several(on: Broker) -> None:
    group, _ = emptied(on)
    nobody = on.group()
    told = on.ask(TOLD, groups=[{"group_id": name, "topics": None} for name in (group, nobody)]).groups
    found = {one.group_id: (one.error_code, len(one.topics)) for one in told}
    expect_that("what is told", found, {group: (E.NONE, 1), nobody: (E.NONE, 0)})


@case(ALTER, "A group without members starts at the given offset.", source=ALTERED, also=[*MEMBERS, TOLD])
def altered(on: Broker) -> None:
    topic = on.topic(1)
    member = Sharer(on, on.group(), topic)
    member.join()
    member.assigned(topic, 0)
    member.leave()
    fill(on, topic, 5)
    expect_that("the code", _alter(on, member.group, topic, 0, 1), E.NONE)
    expect_that("where it begins", offsets_told(on, member.group, topic, 0), [1])
    member.join()
    member.assigned(topic, 0)
    expect_that("what is acquired", acquired(member.open().fetch()), [(1, 4, 1)])


@case(ALTER, "A group with members: NON_EMPTY_GROUP.", source=ALTERED, also=MEMBERS)
def altered_with_members(on: Broker) -> None:
    member, topic = sharing(on)
    answer = _altering(on, member.group, topic, 0, 0)
    expect(answer, error_code=E.NON_EMPTY_GROUP)


@case(
    ALTER,
    "An unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION, each by itself.",
    source=ALTERED,
    also=[*MEMBERS, TOLD],
)
def altered_unknown(on: Broker) -> None:
    group, topic = emptied(on)
    expect_that("the code", _alter(on, group, topic, 7, 1), E.UNKNOWN_TOPIC_OR_PARTITION)
    expect_that("where it begins", offsets_told(on, group, topic, 0), [4])


@case(ALTER, "A group of another type: GROUP_ID_NOT_FOUND.", source=ALTERED, also=["JoinGroup"])
def altered_classic(on: Broker) -> None:
    answer = _altering(on, on.member().group, on.some_topic(), 0, 0)
    expect(answer, error_code=E.GROUP_ID_NOT_FOUND)


@case(DELETE, "The group's state of a topic is deleted.", source=DELETED, also=[*MEMBERS, TOLD])
def deleted(on: Broker) -> None:
    group, topic = emptied(on)
    answer = on.ask(DELETE, group_id=group, topics=[{"topic_name": topic.name}])
    expect(answer, error_code=E.NONE, responses=[{"topic_name": topic.name, "error_code": E.NONE}])
    expect_that("where it begins", offsets_told(on, group, topic, 0), [-1])


@case(
    DELETE,
    "A group with members: NON_EMPTY_GROUP; one that is not there: GROUP_ID_NOT_FOUND.",
    source=DELETED,
    also=MEMBERS,
)
def deleted_with_members(on: Broker) -> None:
    member, topic = sharing(on)
    codes = [
        on.ask(DELETE, group_id=group, topics=[{"topic_name": topic.name}]).error_code
        for group in (member.group, on.group())
    ]
    expect_that("the codes", codes, [E.NON_EMPTY_GROUP, E.GROUP_ID_NOT_FOUND])


@case(
    "DeleteGroups", "A share group goes with its states; one with members stays.", source=DELETED, also=[*MEMBERS, TOLD]
)
def share_group(on: Broker) -> None:
    member, topic = sharing(on, 3)
    codes = [on.ask("DeleteGroups", groups_names=[member.group]).results[0].error_code]
    member.tell(-1)
    member.leave()
    codes.append(on.ask("DeleteGroups", groups_names=[member.group]).results[0].error_code)
    expect_that("the codes", codes, [E.NON_EMPTY_GROUP, E.NONE])
    expect_that("whether it is there", described(on, member.group).error_code, E.GROUP_ID_NOT_FOUND)
    expect_that("where it begins", offsets_told(on, member.group, topic, 0), [-1])


def _altering(on: Broker, group: str, topic: Topic, partition: int, offset: int) -> Answer:
    rows = [{"partition_index": partition, "start_offset": offset}]
    return on.ask(ALTER, group_id=group, topics=[{"topic_name": topic.name, "partitions": rows}])


def _alter(on: Broker, group: str, topic: Topic, partition: int, offset: int) -> int:
    """The code that one partition is told."""
    answer = _altering(on, group, topic, partition, offset)
    expect(answer, error_code=E.NONE)
    return int(answer.responses[0].partitions[0].error_code)


# States, which brokers ask each other for.


def _ask(on: Broker, api: str, group: str, topic: Topic, **said: Any) -> Any:
    """What is told of partition 0 of a topic."""
    on.cluster.groups.add(group)
    topics = [{"topic_id": topic.id, "partitions": [{"partition": 0, **said}]}]
    return on.ask(api, group_id=group, topics=topics).results[0].partitions[0]


def _begun(on: Broker, epoch: int = 1, offset: int = 5) -> tuple[str, Topic]:
    group, topic = on.group(), on.some_topic()
    row = _ask(on, BEGIN, group, topic, state_epoch=epoch, start_offset=offset)
    expect_that("error_code of InitializeShareGroupState", row.error_code, E.NONE)
    return group, topic


def _batch(first: int, last: int, state: int, count: int = 1) -> dict[str, int]:
    return {"first_offset": first, "last_offset": last, "delivery_state": state, "delivery_count": count}


@case(BEGIN, "A state begins with an epoch and an offset.", source=STATES, also=[READ])
def begun(on: Broker) -> None:
    group, topic = _begun(on)
    row = _ask(on, READ, group, topic, leader_epoch=0)
    found = row.error_code, row.state_epoch, row.start_offset, list(row.state_batches)
    expect_that("what it is", found, (E.NONE, 1, 5, []))


@case(BEGIN, "An older epoch: FENCED_STATE_EPOCH.", source=STATES)
def begun_again(on: Broker) -> None:
    group, topic = _begun(on, epoch=3)
    row = _ask(on, BEGIN, group, topic, state_epoch=2, start_offset=0)
    expect_that("its error", row.error_code, E.FENCED_STATE_EPOCH)


@case(READ, "A state that was never begun: INVALID_REQUEST.", source=STATES)
def read_nothing(on: Broker) -> None:
    row = _ask(on, READ, on.group(), on.some_topic(), leader_epoch=0)
    expect_that("its error", row.error_code, E.INVALID_REQUEST)


@case(READ, "An older leader: FENCED_LEADER_EPOCH.", source=STATES, also=[BEGIN])
def read_by_a_former_leader(on: Broker) -> None:
    group, topic = _begun(on)
    codes = [_ask(on, READ, group, topic, leader_epoch=epoch).error_code for epoch in (3, 2)]
    expect_that("the codes", codes, [E.NONE, E.FENCED_LEADER_EPOCH])


@case(
    WRITE,
    "Written state is read back, with equal neighbouring ranges merged.",
    source="KIP-932; Kafka: PersisterStateBatchCombiner",
    also=[BEGIN, READ],
)
def written(on: Broker) -> None:
    group, topic = _begun(on, offset=0)
    batches = [_batch(0, 4, AVAILABLE), _batch(5, 9, ACKNOWLEDGED), _batch(10, 12, ACKNOWLEDGED)]
    said: dict[str, Any] = {"state_epoch": 1, "leader_epoch": 0, "start_offset": 0}
    expect_that("its error", _ask(on, WRITE, group, topic, **said, state_batches=batches).error_code, E.NONE)
    later = [_batch(2, 3, ACKNOWLEDGED)]
    expect_that("its error", _ask(on, WRITE, group, topic, **said, state_batches=later).error_code, E.NONE)
    row = _ask(on, READ, group, topic, leader_epoch=0)
    found = [(one.first_offset, one.last_offset, one.delivery_state) for one in row.state_batches]
    expect_that("the batches", found, [(0, 1, 0), (2, 3, 2), (4, 4, 0), (5, 12, 2)])


@case(WRITE, "Batches before the start offset are over.", source=STATES, also=[BEGIN, READ])
def written_and_moved(on: Broker) -> None:
    group, topic = _begun(on, offset=0)
    said: dict[str, Any] = {"state_epoch": 1, "leader_epoch": 0}
    _ask(
        on,
        WRITE,
        group,
        topic,
        **said,
        start_offset=0,
        state_batches=[_batch(0, 4, ACKNOWLEDGED), _batch(5, 9, AVAILABLE)],
    )
    _ask(on, WRITE, group, topic, **said, start_offset=5, state_batches=[])
    row = _ask(on, READ, group, topic, leader_epoch=0)
    found = row.start_offset, [(one.first_offset, one.last_offset) for one in row.state_batches]
    expect_that("what it is", found, (5, [(5, 9)]))


@case(
    WRITE,
    "Another state epoch: FENCED_STATE_EPOCH; an older leader: FENCED_LEADER_EPOCH.",
    source=STATES,
    also=[BEGIN, READ],
)
def written_too_late(on: Broker) -> None:
    group, topic = _begun(on, epoch=3)
    _ask(on, READ, group, topic, leader_epoch=2)
    said: dict[str, Any] = {"start_offset": 0, "state_batches": []}
    codes = [
        _ask(on, WRITE, group, topic, state_epoch=epoch, leader_epoch=leader, **said).error_code
        for epoch, leader in ((2, 2), (3, 1), (3, 2))
    ]
    expect_that("the codes", codes, [E.FENCED_STATE_EPOCH, E.FENCED_LEADER_EPOCH, E.NONE])


@case(SUMMARY, "The epochs and the offset of a state; -1 where there is none.", source=STATES, also=[BEGIN])
def summary(on: Broker) -> None:
    group, topic = _begun(on, epoch=4, offset=6)
    row = _ask(on, SUMMARY, group, topic, leader_epoch=0)
    expect_that("what it is", (row.error_code, row.state_epoch, row.start_offset), (E.NONE, 4, 6))
    row = _ask(on, SUMMARY, on.group(), topic, leader_epoch=0)
    expect_that("that of another", (row.error_code, row.start_offset), (E.NONE, -1))


@case(FORGET, "A state goes; once more is no error.", source=STATES, also=[BEGIN, READ])
def forgotten(on: Broker) -> None:
    group, topic = _begun(on)
    codes = [_ask(on, FORGET, group, topic).error_code for _ in range(2)]
    codes.append(_ask(on, READ, group, topic, leader_epoch=0).error_code)
    expect_that("the codes", codes, [E.NONE, E.NONE, E.INVALID_REQUEST])
