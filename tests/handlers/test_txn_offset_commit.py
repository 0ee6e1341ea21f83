"""TxnOffsetCommit: what is pending, what becomes of it, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kafkastub.coordinator import partition_for
from kafkastub.metadata import CONSUMER_OFFSETS
from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime
from kafkastub.state.transactional_ids import coordinator_of
from kafkastub.storage import ProducerIdAndEpoch
from kafkastub.transaction_coordinator import Turn
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.coordinator.context import DAY_MS, RETENTION_MS, CoordinatorTestContext
from tests.offsets_topic.reading import batches

VERSIONS = range(7)
JOINING = range(5, 7)
NONE = ErrorCode.NONE
UNKNOWN_ID = b"nobody's topic i"


class Desk(CoordinatorTestContext):
    """A broker with a transaction coordinator; producers are asked for by their transactional ids."""

    @property
    def transactions(self) -> TransactionRuntime:
        return self.state.transactions

    def turn(self) -> Turn:
        return Turn(self.broker_ms, self.timer_ms)

    def producer(self, transactional_id: str = "t") -> ProducerIdAndEpoch:
        turn = coordinator_of(self.state).init_producer_id(transactional_id, 60_000, None, self.turn())
        reply: ProducerIdAndEpoch = self.transactions.settle(turn).reply
        return reply

    def add_offsets(self, producer: ProducerIdAndEpoch, group_id: str = "g", transactional_id: str = "t") -> None:
        """What AddOffsetsToTxn does."""
        count = self.state.config["offsets.topic.num.partitions"]
        self.transactions.settle(
            coordinator_of(self.state).add_partitions(
                transactional_id, *producer, [(CONSUMER_OFFSETS, partition_for(group_id, count))], 1, self.turn()
            )
        )

    def decide(self, producer: ProducerIdAndEpoch, commit: bool = True, transactional_id: str = "t") -> None:
        """What EndTxn does, as producers of transaction version 1 ask."""
        turn = coordinator_of(self.state).end(transactional_id, *producer, commit, 1, self.turn())
        self.transactions.settle(turn)

    def ask(
        self,
        producer: tuple[int, int],
        offsets: Mapping[str, Mapping[int, int]] | None = None,
        *,
        version: int = 5,
        group_id: str = "g",
        transactional_id: str = "t",
        generation: int = -1,
        member_id: str = "",
        instance: str | None = None,
        metadata: str | None = "",
        leader_epoch: int = -1,
    ) -> list[tuple[str, int, ErrorCode]]:
        """Topic, partition and error code, in the order of the answer."""
        topics = []
        for name, partitions in (offsets or {"a": {0: 1}}).items():
            topic = self.state.cluster.topic(name)
            asked = [TxnOffsetCommitRequestPartition(p, o, leader_epoch, metadata) for p, o in partitions.items()]
            topics.append(TxnOffsetCommitRequestTopic(name, topic.topic_id if topic else UNKNOWN_ID, asked))
        request = TxnOffsetCommitRequest(
            transactional_id, group_id, *producer, generation, member_id, instance, topics=topics
        )
        answer = self.call(ApiKey.TXN_OFFSET_COMMIT, version, request)
        names = {t.topic_id: t.name for t in self.state.cluster.topics.values()}
        return [
            (one.name if version < 6 else names.get(one.topic_id, "?"), p.partition_index, ErrorCode(p.error_code))
            for one in answer.topics
            for p in one.partitions
        ]

    def code(self, producer: tuple[int, int], **how: Any) -> ErrorCode:
        """The error code of a commit of one partition."""
        ((_, _, code),) = self.ask(producer, **how)
        return code


@pytest.mark.behaviour("TO-1")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("commit", [True, False])
def test_offsets_count_when_the_transaction_is_committed(version: int, commit: bool):
    desk = Desk(offsets_topic_num_partitions=1)
    desk.commit("g", {"a": {0: 1}})
    producer = desk.producer()
    desk.add_offsets(producer)
    assert desk.ask(producer, {"a": {0: 5, 3: 6}, "b": {1: 7}}, version=version, leader_epoch=4) == [
        ("a", 0, NONE),
        ("a", 3, NONE),
        ("b", 1, NONE),
    ]
    assert desk.fetch("g", {"a": [0]}) == {("a", 0): (1, -1, "")}
    written = batches(desk)[-1].header
    assert (written.transactional, written.producer_id, written.producer_epoch) == (True, *producer)
    desk.decide(producer, commit)
    epoch = 4 if version >= 2 else -1
    assert desk.fetch("g", {"a": [0, 3]}, stable=True) == (
        {("a", 0): (5, epoch, ""), ("a", 3): (6, epoch, "")}
        if commit
        else {("a", 0): (1, -1, ""), ("a", 3): (-1, -1, "")}
    )


@pytest.mark.behaviour("TO-2")
@pytest.mark.parametrize("version", range(6))
def test_what_does_not_exist_is_unknown_and_comes_first(version: int):
    desk = Desk()
    producer = desk.producer()
    desk.add_offsets(producer)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert desk.ask(producer, {"a": {0: 1}, "b": {2: 1, 77: 1}, "none": {0: 1}}, version=version) == [
        ("b", 77, unknown),
        ("b", 2, NONE),
        ("none", 0, unknown),
        ("a", 0, NONE),
    ]
    assert desk.ask((99, 0), {"none": {0: 1}}, version=version, group_id="") == [("none", 0, unknown)]


@pytest.mark.behaviour("TO-2")
@pytest.mark.parametrize("version", [5, 6])
@pytest.mark.parametrize("unknown", [False, True])
def test_a_topic_that_is_named_twice(version: int, unknown: bool):
    desk = Desk()
    topic_id = desk.state.cluster.topics["a"].topic_id
    named = [
        TxnOffsetCommitRequestTopic("a", topic_id, [TxnOffsetCommitRequestPartition(p, 1)])
        for p in (0, 77 if unknown else 1, 2)
    ]
    request = TxnOffsetCommitRequest("t", "g", *desk.producer(), topics=named)
    answered = desk.call(ApiKey.TXN_OFFSET_COMMIT, version, request).topics
    found = [[one.partition_index for one in topic.partitions] for topic in answered]
    assert found == ([[77, 0, 2]] if unknown else [[0], [1], [2]])


@pytest.mark.behaviour("TO-3")
def test_topics_by_id():
    desk = Desk()
    producer = desk.producer()
    assert desk.ask(producer, {"none": {0: 1}, "a": {0: 1, 77: 2}}, version=6) == [
        ("?", 0, ErrorCode.UNKNOWN_TOPIC_ID),
        ("a", 77, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("a", 0, NONE),
    ]


@pytest.mark.behaviour("TO-4")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_empty_group_id_is_invalid(version: int):
    desk = Desk()
    assert desk.code(desk.producer(), group_id="", version=version) is ErrorCode.INVALID_GROUP_ID


@pytest.mark.behaviour("TO-5")
@pytest.mark.parametrize("version", range(5))
def test_a_group_that_was_not_added_to_the_transaction(version: int):
    desk = Desk()
    producer = desk.producer()
    refused = ErrorCode.TRANSACTION_ABORTABLE if version == 4 else ErrorCode.INVALID_TXN_STATE
    assert desk.code(producer, version=version) is refused
    assert "g" not in desk.coordinator.groups
    desk.add_offsets(producer)
    assert desk.code(producer, version=version) is NONE


@pytest.mark.behaviour("TO-5")
def test_without_verification_it_need_not_have_been():
    desk = Desk(transaction_partition_verification_enable=False)
    assert desk.code(desk.producer(), version=4) is NONE


@pytest.mark.behaviour("TO-6")
@pytest.mark.parametrize("version", JOINING)
def test_a_commit_joins_the_transaction(version: int):
    desk = Desk()
    producer = desk.producer()
    assert desk.code(producer, version=version) is NONE
    described = coordinator_of(desk.state).describe("t")
    assert [name for name, _ in described.partitions] == [CONSUMER_OFFSETS]


@pytest.mark.behaviour("TO-7")
@pytest.mark.parametrize("version", VERSIONS)
def test_another_producer_than_the_one_of_the_transactional_id(version: int):
    desk = Desk()
    producer = desk.producer()
    desk.add_offsets(producer)
    mapping, epoch = ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_EPOCH
    assert desk.code((producer.producer_id + 5, producer.epoch), version=version) is mapping
    assert desk.code((producer.producer_id, producer.epoch + 1), version=version) is epoch
    assert desk.code(producer, version=version) is NONE
    assert desk.code(producer, transactional_id="another", version=version) is NONE, "its transaction is open there"
    desk.decide(producer)
    newer = desk.producer()
    assert newer.epoch > producer.epoch
    assert desk.code(producer, version=version) is epoch


@pytest.mark.behaviour("TO-7")
@pytest.mark.parametrize("version", VERSIONS)
def test_an_epoch_below_what_was_written_is_told_before_what_is_wrong_with_the_transactional_id(version: int):
    desk = Desk()
    former, producer = desk.producer(), desk.producer()
    desk.add_offsets(producer)
    assert desk.code(producer, version=version) is NONE
    for name in ("t", "another", ""):
        assert desk.code(former, transactional_id=name, version=version) is ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.behaviour("TO-7")
def test_an_epoch_below_that_of_what_was_written_in_the_partition():
    desk = Desk(transaction_partition_verification_enable=False)
    assert desk.code((7, 3), version=4) is NONE
    assert desk.code((7, 2), version=4, group_id="g") is ErrorCode.INVALID_PRODUCER_EPOCH
    assert desk.code((7, 3), version=4) is NONE


@pytest.mark.behaviour("TO-7")
def test_while_the_transaction_before_it_ends():
    desk = Desk()
    producer = desk.producer()
    assert desk.code(producer) is NONE
    desk.transactions.hold_markers("t")
    desk.decide(producer)
    assert desk.code(producer, group_id="another") is ErrorCode.CONCURRENT_TRANSACTIONS
    desk.transactions.release_markers("t", desk.broker_ms, desk.timer_ms)
    assert desk.fetch("g", {"a": [0]}, stable=True) == {("a", 0): (1, -1, "")}


@pytest.mark.behaviour("TO-8")
@pytest.mark.parametrize("version", range(3, 7))
def test_a_member_commits_in_its_generation(version: int):
    desk = Desk()
    members = desk.static("i1")
    member = members["i1"]
    producer = desk.producer()
    desk.add_offsets(producer)
    right = {"generation": member.generation, "member_id": member.member_id, "instance": "i1"}
    for wrong, code in (
        ({}, NONE),
        ({"generation": 7}, ErrorCode.ILLEGAL_GENERATION),
        ({"member_id": "nobody"}, ErrorCode.FENCED_INSTANCE_ID),
        ({"member_id": "nobody", "instance": None}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"instance": "another"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": -1, "member_id": "", "instance": None}, NONE),
    ):
        assert desk.code(producer, version=version, **{**right, **wrong}) is code, wrong


@pytest.mark.behaviour("TO-8")
def test_a_group_that_awaits_its_assignment_takes_transactional_commits():
    desk = Desk()
    member, _ = desk.joined(2)
    assert desk.code(desk.producer(), generation=member.generation, member_id=member.member_id) is NONE


@pytest.mark.behaviour("TO-9")
@pytest.mark.parametrize("version", range(3, 7))
def test_a_group_that_nobody_knows(version: int):
    desk = Desk()
    producer = desk.producer()
    desk.add_offsets(producer)
    unknown = ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.ILLEGAL_GENERATION
    assert desk.code(producer, generation=0, version=version) is unknown
    assert desk.code(producer, version=version) is NONE
    assert desk.group_state() == "Empty"


@pytest.mark.behaviour("TO-10")
@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_that_is_too_large(version: int):
    desk = Desk(offset_metadata_max_bytes=3)
    producer = desk.producer()
    desk.add_offsets(producer)
    assert desk.code(producer, metadata="four", version=version) is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert desk.code(producer, metadata="two", version=version) is NONE
    assert desk.code(producer, metadata=None, version=version) is NONE


@pytest.mark.behaviour("TO-11")
@pytest.mark.parametrize("version", VERSIONS)
def test_while_the_coordinator_is_loading(version: int):
    desk = Desk()
    producer = desk.producer()
    desk.add_offsets(producer)
    desk.state.serving = None
    desk.state.refusal = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    expected = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if version >= 2 else ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert desk.code(producer, version=version) is expected


@pytest.mark.behaviour("TO-12")
def test_a_commit_that_comes_behind_stands_whenever_the_transaction_ends():
    desk = Desk()
    producer = desk.producer()
    assert desk.ask(producer, {"a": {0: 5, 1: 6}}) == [("a", 0, NONE), ("a", 1, NONE)]
    desk.commit("g", {"a": {0: 1}})
    desk.decide(producer)
    assert desk.fetch("g", {"a": [0, 1]}) == {("a", 0): (1, -1, ""), ("a", 1): (6, -1, "")}


@pytest.mark.behaviour("TO-13")
def test_pending_offsets_do_not_expire_and_are_deleted_with_what_they_are_of():
    desk = Desk(transaction_max_timeout_ms=2**31 - 1)
    producer = desk.producer()
    for group in ("kept", "deleted", "offsets"):
        assert desk.code(producer, group_id=group) is NONE
    assert desk.sweep(RETENTION_MS + DAY_MS).records == []
    assert desk.delete_groups("deleted") == [("deleted", NONE)]
    assert desk.delete_offsets("offsets", {"a": [0]}).topics[0].partitions[0].error_code == 0
    desk.decide(producer)
    assert {g: desk.fetch(g, {"a": [0]})["a", 0][0] for g in ("kept", "deleted", "offsets")} == {
        "kept": 1,
        "deleted": -1,
        "offsets": -1,
    }


@pytest.mark.behaviour("TO-14")
def test_a_members_session_is_over_though_it_commits_in_transactions():
    desk = Desk()
    (member,) = desk.stable(session=10_000)
    producer = desk.producer()
    desk.advance(9_000)
    assert desk.code(producer, generation=member.generation, member_id=member.member_id) is NONE
    desk.advance(1_001)
    assert desk.group_state() == "Empty"


MENTIONS = 1000
"""Of topics in a request that is served part by part."""


def asked_part_by_part(
    desk: Desk, producer: tuple[int, int], names: Sequence[str]
) -> tuple[list[tuple[str, int]], int]:
    """Topic and error code of each mention, offsets counting up; and how many parts it took."""
    mentions = [
        TxnOffsetCommitRequestTopic(names[number % len(names)], partitions=[TxnOffsetCommitRequestPartition(0, number)])
        for number in range(MENTIONS)
    ]
    parked = desk.call(ApiKey.TXN_OFFSET_COMMIT, 5, TxnOffsetCommitRequest("t", "g", *producer, topics=mentions))
    parts = 0
    while not parked.answered:
        desk.state.expire(desk.broker_ms, desk.timer_ms)
        parts += 1
    return [(one.name, row.error_code) for one in parked.answer.topics for row in one.partitions], parts


@pytest.mark.behaviour("TO-16")
def test_very_many_topics_are_committed_part_by_part():
    desk = Desk(offsets_topic_num_partitions=1)
    producer = desk.producer()
    found, parts = asked_part_by_part(desk, producer, "ab")
    assert parts > 2
    assert found == [("ab"[number % 2], NONE) for number in range(MENTIONS)]
    assert len([one for one in batches(desk) if one.header.transactional]) == 3
    desk.decide(producer)
    assert desk.fetch("g", {"a": [0], "b": [0]}) == {
        ("a", 0): (MENTIONS - 2, -1, ""),
        ("b", 0): (MENTIONS - 1, -1, ""),
    }


@pytest.mark.behaviour("TO-16")
def test_what_is_missing_among_very_many_comes_first():
    desk = Desk()
    found, _ = asked_part_by_part(desk, desk.producer(), ["a", "nope"])
    missing = [("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)] * (MENTIONS // 2)
    assert found == missing + [("a", NONE)] * (MENTIONS // 2)


@pytest.mark.behaviour("TO-16")
@pytest.mark.parametrize("refused", [False, True])
def test_an_error_is_told_of_each_of_very_many(refused: bool):
    desk = Desk()
    producer_id, epoch = desk.producer()
    if refused:  # as a node that is not the coordinator: when it is asked, not when it comes to it
        desk.state.serving, desk.state.refusal = None, ErrorCode.NOT_COORDINATOR
    mentions = [TxnOffsetCommitRequestTopic("a", partitions=[TxnOffsetCommitRequestPartition(0, 1)])] * MENTIONS
    request = TxnOffsetCommitRequest("t", "g", producer_id, epoch if refused else epoch + 1, topics=mentions)
    parked = desk.call(ApiKey.TXN_OFFSET_COMMIT, 5, request)
    desk.state.refusal = None
    while not parked.answered:
        desk.state.expire(desk.broker_ms, desk.timer_ms)
    codes = [row.error_code for topic in parked.answer.topics for row in topic.partitions]
    code = ErrorCode.NOT_COORDINATOR if refused else ErrorCode.INVALID_PRODUCER_EPOCH
    assert codes == [code] * MENTIONS
    assert desk.state.coordinator.offsets.pending.groups == {}
