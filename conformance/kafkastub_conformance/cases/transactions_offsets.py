"""Offsets in transactions: TxnOffsetCommit (KIP-98, 447, 890), and what pending ones are to everybody else."""

from __future__ import annotations

from kafkastub_conformance.broker import Broker, group_error, offsets_of
from kafkastub_conformance.cases.offset_delete import delete, topic_result
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case
from kafkastub_conformance.transacting import ADDED_BEFORE, Producer, init, partitions
from kafkawire.errors import ErrorCode as E

SOURCE = "KIP-98; Kafka: GroupCoordinatorService.commitTransactionalOffsets"
MEMBERS = "KIP-447; Kafka: OffsetMetadataManager.validateTransactionalOffsetCommit"
VERIFIED = "KIP-890; Kafka: KafkaApis.handleTxnOffsetCommitRequest"
STABLE = "KIP-447; Kafka: OffsetMetadataManager.fetchOffsets"
SEEN = ["AddOffsetsToTxn", "DescribeTransactions", "EndTxn", "InitProducerId", "OffsetFetch", "TxnOffsetCommit"]


def added_first(on: Broker, producer: Producer, group: str) -> None:
    """The group is in the transaction, where a client of this version would have put it there."""
    if on.api == "TxnOffsetCommit" and on.version <= ADDED_BEFORE["TxnOffsetCommit"]:
        expect(producer.add_offsets(group), error_code=E.NONE)


@case("TxnOffsetCommit", "An offset is there once its transaction is committed, not before.", source=SOURCE, also=SEEN)
def committed(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    producer.pending(group, (topic, 0, 5))
    expect_that("the offset before", on.committed(group, topic), -1)
    producer.ended(True)
    expect_that("the offset", on.committed(group, topic), 5)


@case(
    "TxnOffsetCommit", "With its transaction an offset is aborted; the one before it stays.", source=SOURCE, also=SEEN
)
def aborted(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    on.commit(group, [(topic, 0, 1)])
    producer.pending(group, (topic, 0, 5), (topic, 1, 6))
    producer.ended(False)
    expect_that("the offsets", [on.committed(group, topic, index) for index in (0, 1)], [1, -1])


@case(
    "TxnOffsetCommit",
    "The group comes into the transaction by the commit.",
    source="KIP-890",
    versions=(5, 6),
    also=SEEN,
)
def joined(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    expect_that("the codes", producer.commit_offsets(group, (topic, 0, 5)), [(0, E.NONE)])
    expect_that("what is in it", list(partitions(on, producer.name)), ["__consumer_offsets"])


@case(
    "TxnOffsetCommit",
    "A group that was not added: INVALID_TXN_STATE, in version 4 TRANSACTION_ABORTABLE.",
    source=VERIFIED,
    versions=(0, 4),
    also=SEEN,
)
def not_added(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    code = E.TRANSACTION_ABORTABLE if on.version >= 4 else E.INVALID_TXN_STATE
    expect_that("the codes", producer.commit_offsets(group, (topic, 0, 5)), [(0, code)])


@case(
    "TxnOffsetCommit",
    "A zombie, whose epoch is not the producer's any more: INVALID_PRODUCER_EPOCH.",
    source="KIP-98, KIP-588",
    also=SEEN,
)
def zombie(on: Broker) -> None:
    topic, group, former = on.some_topic(), on.group(), Producer(on)
    init(on, former.name)
    expect_that("the codes", former.commit_offsets(group, (topic, 0, 5)), [(0, E.INVALID_PRODUCER_EPOCH)])


@case(
    "TxnOffsetCommit",
    "Another producer id than the transactional id's: INVALID_PRODUCER_ID_MAPPING.",
    source=VERIFIED,
    also=SEEN,
)
def of_another(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    found = producer.commit_offsets(group, (topic, 0, 5), producer_id=producer.id + 1_000_000_000)
    expect_that("the codes", found, [(0, E.INVALID_PRODUCER_ID_MAPPING)])


@case(
    "TxnOffsetCommit",
    "A missing topic or partition: UNKNOWN_TOPIC_OR_PARTITION; its neighbour is committed.",
    source="Kafka: KafkaApis.handleTxnOffsetCommitRequest",
    versions=(0, 5),
    also=SEEN,
)
def missing(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    added_first(on, producer, group)
    found = producer.commit_offsets(group, (topic, 9, 1), (topic, 0, 5), (Topic(on.name(), bytes(16), 0), 0, 1))
    unknown = E.UNKNOWN_TOPIC_OR_PARTITION
    expect_that("the codes", sorted(found), sorted([(9, unknown), (0, E.NONE), (0, unknown)]))
    producer.ended(True)
    expect_that("the offset", on.committed(group, topic), 5)


@case("TxnOffsetCommit", "A topic id that nobody has: UNKNOWN_TOPIC_ID.", source="KIP-516", versions=(6, 6), also=SEEN)
def unknown_topic_id(on: Broker) -> None:
    group, producer = on.group(), Producer(on)
    found = producer.commit_offsets(group, (Topic("", b"\7" * 16, 0), 0, 1))
    expect_that("the codes", found, [(0, E.UNKNOWN_TOPIC_ID)])


@case(
    "TxnOffsetCommit", "Metadata over offset.metadata.max.bytes: OFFSET_METADATA_TOO_LARGE.", source=SOURCE, also=SEEN
)
def metadata_too_large(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    added_first(on, producer, group)
    most = on.cluster.number("offset.metadata.max.bytes", 4096)
    rows = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": "m" * (most + 1)}]
    found = producer.commit_offsets(group, topics=[{"name": topic.name, "topic_id": topic.id, "partitions": rows}])
    expect_that("the codes", found, [(0, E.OFFSET_METADATA_TOO_LARGE)])


@case("TxnOffsetCommit", "As a member of the group's generation.", source=MEMBERS, versions=(3, 6), also=SEEN)
def as_member(on: Broker) -> None:
    topic, producer = on.some_topic(), Producer(on)
    member = on.member(None, topic.name)
    added_first(on, producer, member.group)
    me = {"member_id": member.id, "generation_id_or_member_epoch": member.generation}
    expect_that("the codes", producer.commit_offsets(member.group, (topic, 0, 5), **me), [(0, E.NONE)])
    producer.ended(True)
    expect_that("the offset", on.committed(member.group, topic), 5)


@case(
    "TxnOffsetCommit",
    "Another generation: ILLEGAL_GENERATION; another member: UNKNOWN_MEMBER_ID.",
    source=MEMBERS,
    versions=(3, 6),
    also=SEEN,
)
def as_another(on: Broker) -> None:
    topic, producer = on.some_topic(), Producer(on)
    member = on.member(None, topic.name)
    added_first(on, producer, member.group)
    for me, code in (
        ({"member_id": member.id, "generation_id_or_member_epoch": member.generation + 1}, E.ILLEGAL_GENERATION),
        ({"member_id": "nobody", "generation_id_or_member_epoch": member.generation}, E.UNKNOWN_MEMBER_ID),
    ):
        expect_that("the codes", producer.commit_offsets(member.group, (topic, 0, 5), **me), [(0, code)])


@case(
    "TxnOffsetCommit", "A producer without a member id may commit to a group with members.", source=MEMBERS, also=SEEN
)
def beside_members(on: Broker) -> None:
    topic, producer = on.some_topic(), Producer(on)
    member = on.member(None, topic.name)
    added_first(on, producer, member.group)
    expect_that("the codes", producer.commit_offsets(member.group, (topic, 0, 5)), [(0, E.NONE)])


@case(
    "TxnOffsetCommit",
    "A generation of a group that does not exist: GROUP_ID_NOT_FOUND, below version 6 ILLEGAL_GENERATION.",
    source=MEMBERS,
    versions=(3, 6),
    also=SEEN,
    since="4.0",
    before="the member is not known: UNKNOWN_MEMBER_ID",
)
def of_no_group(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    added_first(on, producer, group)
    found = producer.commit_offsets(group, (topic, 0, 5), member_id="nobody", generation_id_or_member_epoch=1)
    code = E.GROUP_ID_NOT_FOUND if on.version >= 6 else E.ILLEGAL_GENERATION
    expect_that("the codes", found, [(0, code)])


@case(
    "OffsetFetch",
    "A request for stable offsets gets UNSTABLE_OFFSET_COMMIT for a pending offset.",
    source=STABLE,
    versions=(7, 10),
    also=SEEN,
)
def unstable(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    on.commit(group, [(topic, 0, 1), (topic, 1, 2)])
    producer.pending(group, (topic, 0, 5))

    def rows(*, everything: bool = False) -> list[tuple[int, int, int]]:
        answer = on.fetch(group, None if everything else {topic: [0, 1]}, require_stable=True)
        expect_that("the group's error", group_error(answer), E.NONE)
        found = offsets_of(answer)[0].partitions
        return sorted((one.partition_index, one.error_code, one.committed_offset) for one in found)

    for everything in (False, True):
        found = rows(everything=everything)
        expect_that("partitions, codes, offsets", found, [(0, E.UNSTABLE_OFFSET_COMMIT, -1), (1, E.NONE, 2)])
    expect_that("the offset for who does not ask so", on.committed(group, topic), 1)
    producer.ended(True)
    expect_that("partitions, codes, offsets", rows(), [(0, E.NONE, 5), (1, E.NONE, 2)])


@case(
    "OffsetCommit",
    "An offset that is committed while another one is pending counts at once, and stays when the transaction is "
    "committed.",
    source="Kafka: OffsetMetadataManager.replay",
    also=SEEN,
)
def beside_a_pending_one(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    producer.pending(group, (topic, 0, 5))
    on.commit(group, [(topic, 0, 7)])
    expect_that("the offset", on.committed(group, topic), 7)
    producer.ended(True)
    expect_that("the offset", on.committed(group, topic), 7)


@case(
    "OffsetDelete",
    "A pending offset is deleted with the committed one.",
    source="Kafka: OffsetMetadataManager.deleteOffsets",
    also=SEEN,
)
def delete_pending(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    on.commit(group, [(topic, 0, 1)])
    producer.pending(group, (topic, 0, 5))
    expect(delete(on, group, (topic, [0])), error_code=E.NONE, topics=[topic_result(topic, (0, E.NONE))])
    expect_that("the offset", on.committed(group, topic), -1)
    producer.ended(True)
    expect_that("the offset", on.committed(group, topic), -1)


@case(
    "DeleteGroups",
    "A group with pending offsets can be deleted, and its pending offsets with it.",
    source="Kafka: GroupCoordinatorShard.deleteGroups",
    also=SEEN,
)
def with_pending_offsets(on: Broker) -> None:
    topic, group, producer = on.some_topic(), on.group(), Producer(on)
    on.commit(group, [(topic, 0, 1)])
    producer.pending(group, (topic, 0, 5))
    expect(on.ask("DeleteGroups", groups_names=[group]), results=[{"group_id": group, "error_code": E.NONE}])
    producer.ended(True)
    expect_that("the offset", on.committed(group, topic), -1)
