"""Transactions over the handlers: begun, joined, ended, told. tests/transactions tests the coordinator by itself."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.describe_transactions_response import DescribeTransactionsResponse, TransactionState
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.end_txn_response import EndTxnResponse
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.list_transactions_response import ListTransactionsResponse
from tests.handlers.desk import START_MS, Desk

NONE = ErrorCode.NONE
FENCED = ErrorCode.PRODUCER_FENCED
OLD_FENCED = ErrorCode.INVALID_PRODUCER_EPOCH
MAPPING = ErrorCode.INVALID_PRODUCER_ID_MAPPING
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS
NO_STATE = ErrorCode.INVALID_TXN_STATE
INVALID = ErrorCode.INVALID_REQUEST
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
UNTOUCHED = ErrorCode.OPERATION_NOT_ATTEMPTED
Topics = dict[str, list[int]]
Results = list[tuple[str, int, int]]
Answer = tuple[int, int, int]
ORDERS: Topics = {"orders": [0]}


class Producer:
    """One transactional id, and what its producer has; the requests of a test go through it.

    Attributes:
        id, epoch: as they were told last.
    """

    def __init__(self, desk: Desk, name: str = "tx", **init: Any) -> None:
        self.desk = desk
        self.name = name
        code, self.id, self.epoch = self.init(**init)
        assert code == NONE

    def init(self, version: int = 5, *, names: bool = False, timeout_ms: int = 60_000) -> Answer:
        """(error code, producer id, epoch)"""
        has = (self.id, self.epoch) if names else (-1, -1)
        asked = InitProducerIdRequest(self.name, timeout_ms, *has)
        answer = self.desk.ask(version, asked, InitProducerIdResponse)
        return answer.error_code, answer.producer_id, answer.producer_epoch

    def add(self, topics: Topics, version: int = 3, *, verify: bool = False, **other: Any) -> Results:
        """(topic, partition, error code) of each result."""
        who = {"name": self.name, "id": self.id, "epoch": self.epoch, **other}
        asked = [AddPartitionsToTxnTopic(*one) for one in topics.items()]
        if version < 4:
            request = AddPartitionsToTxnRequest((), who["name"], who["id"], who["epoch"], asked)
        else:
            transaction = AddPartitionsToTxnTransaction(who["name"], who["id"], who["epoch"], verify, asked)
            request = AddPartitionsToTxnRequest([transaction])
        answer = self.desk.ask(version, request, AddPartitionsToTxnResponse)
        assert answer.error_code == NONE
        results = answer.results_by_topic_v3_and_below
        if version >= 4:
            (one,) = answer.results_by_transaction
            assert one.transactional_id == who["name"]
            results = one.topic_results
        return [(r.name, p.partition_index, p.partition_error_code) for r in results for p in r.results_by_partition]

    def add_offsets(self, group: str = "team", version: int = 3, **other: Any) -> int:
        who = {"name": self.name, "id": self.id, "epoch": self.epoch, **other}
        request = AddOffsetsToTxnRequest(who["name"], who["id"], who["epoch"], group)
        return self.desk.ask(version, request, AddOffsetsToTxnResponse).error_code

    def end(self, commit: bool = True, version: int = 5, **other: Any) -> Answer:
        """(error code, producer id, epoch)"""
        who = {"name": self.name, "id": self.id, "epoch": self.epoch, **other}
        request = EndTxnRequest(who["name"], who["id"], who["epoch"], commit)
        answer = self.desk.ask(version, request, EndTxnResponse)
        return answer.error_code, answer.producer_id, answer.producer_epoch

    def goes_on(self, answer: Answer) -> None:
        """With the id and epoch that it was told."""
        code, self.id, self.epoch = answer
        assert code == NONE

    @property
    def told(self) -> TransactionState:
        (state,) = describe(self.desk, self.name)
        return state

    def hold(self) -> None:
        self.desk.state.transactions.hold_markers(self.name)

    def release(self) -> None:
        self.desk.state.transactions.release_markers(self.name, self.desk.broker_ms, self.desk.timer_ms)


def describe(desk: Desk, *names: str) -> tuple[TransactionState, ...]:
    return tuple(desk.ask(0, DescribeTransactionsRequest(names), DescribeTransactionsResponse).transaction_states)


def listed(desk: Desk, version: int = 2, **filters: Any) -> tuple[int, set[str], list[str]]:
    """(error code, transactional ids, unknown state filters)"""
    answer = desk.ask(version, ListTransactionsRequest(**filters), ListTransactionsResponse)
    return (
        answer.error_code,
        {one.transactional_id for one in answer.transaction_states},
        list(answer.unknown_state_filters),
    )


def refused(code: int) -> Answer:
    return code, -1, -1


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic(partitions=2)
    return desk


@pytest.fixture
def producer(desk: Desk) -> Producer:
    return Producer(desk)


# -- InitProducerId ----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("IP-7")
@pytest.mark.parametrize("version", range(6))
def test_an_open_transaction_is_aborted_before_its_producer_begins_anew(producer: Producer, version: int):
    producer.add(ORDERS)
    assert producer.init(version) == refused(BUSY)
    assert producer.told.transaction_state == "CompleteAbort"
    assert producer.init(version) == (NONE, 0, 2)


@pytest.mark.behaviour("IP-7")
def test_a_producer_begins_anew_when_the_markers_are_written(producer: Producer):
    producer.add(ORDERS)
    producer.hold()
    for _ in range(3):
        assert producer.init() == refused(BUSY)
    producer.release()
    assert producer.init() == (NONE, 0, 2)


@pytest.mark.behaviour("IP-7")
def test_a_producer_that_names_its_epoch_goes_on_with_that_of_the_abort(producer: Producer):
    producer.add(ORDERS)
    assert producer.init(names=True) == refused(BUSY)
    assert producer.init(names=True) == (NONE, 0, 1)


# -- AddPartitionsToTxn ------------------------------------------------------------------------------------------


@pytest.mark.behaviour("AP-1")
@pytest.mark.parametrize("version", range(6))
def test_the_first_partition_opens_the_transaction(producer: Producer, version: int):
    producer.desk.broker_ms += 7
    assert producer.add({"orders": [1]}, version) == [("orders", 1, NONE)]
    assert producer.add({"orders": [1, 0]}, version) == [("orders", 1, NONE), ("orders", 0, NONE)]
    told = producer.told
    assert (told.transaction_state, told.transaction_start_time_ms) == ("Ongoing", START_MS + 7)
    assert {(one.topic, *sorted(one.partitions)) for one in told.topics} == {("orders", 0, 1)}


@pytest.mark.behaviour("AP-2")
@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("epoch", [0, 2])
def test_partitions_of_another_epoch(producer: Producer, version: int, epoch: int):
    producer.goes_on(producer.init())
    code = OLD_FENCED if version < 2 else FENCED
    assert producer.add(ORDERS, version, epoch=epoch) == [("orders", 0, code)]
    assert producer.told.transaction_state == "Empty"


@pytest.mark.behaviour("AP-3")
@pytest.mark.parametrize("version", range(6))
def test_partitions_of_nobody(producer: Producer, version: int):
    assert producer.add(ORDERS, version, name="unknown") == [("orders", 0, MAPPING)]
    assert producer.add(ORDERS, version, id=99) == [("orders", 0, MAPPING)]
    assert producer.add(ORDERS, version, name="") == [("orders", 0, INVALID)]


@pytest.mark.behaviour("AP-3")
@pytest.mark.parametrize("verify", [True, False])
def test_of_several_transactions_each_has_its_own_answer(producer: Producer, verify: bool):
    other = Producer(producer.desk, "other")
    producer.add(ORDERS)
    topics = [AddPartitionsToTxnTopic("orders", [0])]
    request = AddPartitionsToTxnRequest(
        [
            AddPartitionsToTxnTransaction("tx", producer.id, producer.epoch, verify, topics),
            AddPartitionsToTxnTransaction("", producer.id, producer.epoch, verify, topics),
            AddPartitionsToTxnTransaction("other", other.id, other.epoch + 1, verify, topics),
        ]
    )
    answer = producer.desk.ask(5, request, AddPartitionsToTxnResponse)
    assert [
        (one.transactional_id, one.topic_results[0].results_by_partition[0].partition_error_code)
        for one in answer.results_by_transaction
    ] == [("tx", NONE), ("", INVALID), ("other", FENCED)]


@pytest.mark.behaviour("AP-4")
@pytest.mark.parametrize("version", range(6))
def test_partitions_while_markers_are_under_way(producer: Producer, version: int):
    producer.add(ORDERS)
    producer.hold()
    producer.goes_on(producer.end())
    assert producer.add(ORDERS, version) == [("orders", 0, BUSY)]
    producer.release()
    assert producer.add(ORDERS, version) == [("orders", 0, NONE)]


@pytest.mark.behaviour("AP-5")
@pytest.mark.parametrize("version", range(6))
def test_what_does_not_exist_keeps_all_others_out(producer: Producer, version: int):
    asked: Topics = {"orders": [0, 1, 2], "nope": [0]}
    assert sorted(producer.add(asked, version)) == [
        ("nope", 0, UNKNOWN),
        ("orders", 0, UNTOUCHED),
        ("orders", 1, UNTOUCHED),
        ("orders", 2, UNKNOWN),
    ]
    assert producer.add({"orders": [-1]}, version, id=99) == [("orders", -1, UNKNOWN)]
    assert producer.told.transaction_state == "Empty"


@pytest.mark.behaviour("AP-9")
@pytest.mark.parametrize(("wrong", "version", "code"), [
    ({}, 3, NONE), ({}, 5, NONE), ({"epoch": 7}, 3, FENCED), ({"epoch": 7}, 1, OLD_FENCED), ({"epoch": 7}, 5, FENCED),
    ({"name": "other"}, 0, MAPPING), ({"name": ""}, 3, INVALID),
])  # fmt: skip
def test_what_names_very_much_is_answered_part_by_part(
    producer: Producer, wrong: dict[str, Any], version: int, code: int
):
    topics = [AddPartitionsToTxnTopic("orders", [number % 2]) for number in range(3_000)]
    who = {"name": "tx", "id": producer.id, "epoch": producer.epoch, **wrong}
    request = AddPartitionsToTxnRequest((), *who.values(), topics)
    if version >= 4:
        request = AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction(*who.values(), False, topics)])
    desk = producer.desk
    deferred = desk.outcome(ApiKey.ADD_PARTITIONS_TO_TXN, version, request)
    assert isinstance(deferred, Deferred)
    parts = 0
    while deferred.reply is None:
        desk.state.expire(desk.broker_ms, desk.timer_ms)
        parts += 1
    assert parts > 10
    found: Any = deferred.reply
    results = found.results_by_topic_v3_and_below if version < 4 else found.results_by_transaction[0].topic_results
    told = [
        (one.name, row.partition_index, row.partition_error_code) for one in results for row in one.results_by_partition
    ]
    assert told == [("orders", number % 2, code) for number in range(3_000)]
    assert producer.told.transaction_state == ("Empty" if wrong else "Ongoing")


@pytest.mark.behaviour("AP-9")
def test_a_coordinator_that_is_refused_is_in_every_part(producer: Producer):
    """A node that does not lead says so, however late it comes to it."""
    desk = producer.desk
    topics = [AddPartitionsToTxnTopic("orders", [0])] * 3_000
    desk.state.refusal = ErrorCode.NOT_COORDINATOR
    request = AddPartitionsToTxnRequest((), "tx", producer.id, producer.epoch, topics)
    deferred = desk.outcome(ApiKey.ADD_PARTITIONS_TO_TXN, 3, request)
    desk.state.refusal = None
    assert isinstance(deferred, Deferred)
    while deferred.reply is None:
        desk.state.expire(desk.broker_ms, desk.timer_ms)
    found: Any = deferred.reply
    codes = {
        row.partition_error_code for one in found.results_by_topic_v3_and_below for row in one.results_by_partition
    }
    assert codes == {ErrorCode.NOT_COORDINATOR}
    assert producer.told.transaction_state == "Empty"


@pytest.mark.behaviour("AP-5")
@pytest.mark.parametrize("topic", ["orders", "nope"])
def test_very_many_partitions_are_answered_as_they_were_asked_for(producer: Producer, topic: str):
    asked = range(2, 3_000)
    assert producer.add({topic: list(asked)}) == [(topic, index, UNKNOWN) for index in asked]
    assert producer.add({"orders": [1, 0] * 2_000}) == [("orders", index, NONE) for index in [1, 0] * 2_000]
    assert len(producer.told.topics[0].partitions) == 2


@pytest.mark.behaviour("AP-6")
@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state", "__share_group_state"])
def test_an_internal_topic_is_not_a_clients_to_add(producer: Producer, name: str):
    refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    for version in range(4):
        assert sorted(producer.add({"orders": [0], name: [0]}, version)) == [
            (name, 0, refused),
            ("orders", 0, UNTOUCHED),
        ]
    there = name == "__transaction_state"
    assert producer.add({name: [0]}, 4) == [(name, 0, NONE if there else UNKNOWN)]


@pytest.mark.behaviour("AP-7")
@pytest.mark.parametrize("version", [4, 5])
def test_verifying_adds_nothing(producer: Producer, version: int):
    missing = ErrorCode.TRANSACTION_ABORTABLE
    assert producer.add(ORDERS, version, verify=True) == [("orders", 0, missing)]
    assert producer.told.transaction_state == "Empty"
    producer.add(ORDERS)
    assert sorted(producer.add({"orders": [0, 1]}, version, verify=True)) == [
        ("orders", 0, NONE),
        ("orders", 1, missing),
    ]
    assert producer.add(ORDERS, version, verify=True, epoch=7) == [("orders", 0, FENCED)]


@pytest.mark.behaviour("AP-8")
@pytest.mark.parametrize(("version", "counted"), [(0, 0), (3, 0), (4, 2), (5, 2)])
def test_the_transaction_is_of_its_clients_version(producer: Producer, version: int, counted: int):
    producer.add(ORDERS, version)
    record = producer.desk.state.transactions.coordinator.metadata("tx")
    assert record is not None
    assert record.client_transaction_version == counted


# -- AddOffsetsToTxn ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("AO-1")
@pytest.mark.parametrize("version", range(5))
def test_a_groups_offsets_are_in_the_transaction(producer: Producer, version: int):
    assert producer.add_offsets("team", version) == NONE
    assert producer.told.transaction_state == "Ongoing"
    (topic,) = producer.told.topics
    assert (topic.topic, len(topic.partitions)) == ("__consumer_offsets", 1)
    assert producer.add_offsets("team", version) == NONE
    assert [len(topic.partitions) for topic in producer.told.topics] == [1]


@pytest.mark.behaviour("AO-1")
def test_a_transaction_of_offsets_alone_ends_though_nobody_committed_any(producer: Producer):
    producer.add_offsets()
    assert producer.end()[0] == NONE
    assert producer.told.transaction_state == "CompleteCommit"


@pytest.mark.behaviour("AO-2")
@pytest.mark.parametrize("version", range(5))
def test_offsets_of_another_epoch(producer: Producer, version: int):
    producer.goes_on(producer.init())
    for epoch in (0, 2):
        assert producer.add_offsets("team", version, epoch=epoch) == (OLD_FENCED if version < 2 else FENCED)


@pytest.mark.behaviour("AO-3")
@pytest.mark.parametrize("version", range(5))
def test_offsets_of_nobody(producer: Producer, version: int):
    assert producer.add_offsets("team", version, name="unknown") == MAPPING
    assert producer.add_offsets("team", version, id=99) == MAPPING
    assert producer.add_offsets("team", version, name="") == INVALID


@pytest.mark.behaviour("AO-4")
def test_offsets_while_markers_are_under_way(producer: Producer):
    producer.add_offsets()
    producer.hold()
    producer.goes_on(producer.end())
    assert producer.add_offsets() == BUSY
    producer.release()
    assert producer.add_offsets() == NONE


@pytest.mark.behaviour("AO-5")
def test_the_empty_group_has_offsets_too(producer: Producer):
    assert producer.add_offsets("") == NONE
    assert [topic.topic for topic in producer.told.topics] == ["__consumer_offsets"]


# -- EndTxn ------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("ET-1")
@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("version", range(6))
def test_a_transaction_ends(producer: Producer, version: int, commit: bool):
    producer.add({"orders": [0, 1]})
    producer.hold()
    assert producer.end(commit, version)[0] == NONE
    assert producer.told.transaction_state == ("PrepareCommit" if commit else "PrepareAbort")
    assert {(one.topic, *sorted(one.partitions)) for one in producer.told.topics} == {("orders", 0, 1)}
    producer.release()
    assert producer.told.transaction_state == ("CompleteCommit" if commit else "CompleteAbort")
    assert not producer.told.topics


@pytest.mark.behaviour("ET-2")
@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("version", range(5))
def test_below_version_5_the_epoch_stays(producer: Producer, version: int, commit: bool):
    assert producer.end(commit, version) == refused(NO_STATE), "nothing was begun"
    for _ in range(2):
        assert producer.add(ORDERS) == [("orders", 0, NONE)]
        assert producer.end(commit, version) == (NONE, -1, -1)
        assert producer.end(commit, version) == (NONE, -1, -1), "the request repeated"
        assert producer.end(not commit, version) == refused(NO_STATE)
    assert producer.told.producer_epoch == producer.epoch


@pytest.mark.behaviour("ET-3")
@pytest.mark.parametrize("commit", [True, False])
def test_from_version_5_on_the_epoch_rises(producer: Producer, commit: bool):
    for epoch in range(3):
        assert producer.epoch == epoch
        producer.add(ORDERS, 5)
        answer = producer.end(commit)
        assert answer == (NONE, producer.id, epoch + 1)
        assert producer.end(commit) == answer, "the request repeated"
        assert producer.end(not commit) == refused(NO_STATE)
        assert producer.add(ORDERS) == [("orders", 0, FENCED)]
        producer.goes_on(answer)


@pytest.mark.behaviour("ET-3")
@pytest.mark.behaviour("IP-3")
def test_past_the_last_epoch_comes_another_producer_id(producer: Producer):
    coordinator = producer.desk.state.transactions.coordinator
    record = coordinator.metadata("tx")
    assert record is not None
    producer.epoch = 0x7FFF - 1
    coordinator.apply(record._replace(producer_epoch=producer.epoch))
    producer.add(ORDERS, 5)
    answer = producer.end()
    assert answer == (NONE, 1, 0)
    assert producer.end() == answer, "the request repeated"
    producer.goes_on(answer)
    assert producer.init() == (NONE, 1, 1)


@pytest.mark.behaviour("ET-4")
def test_from_version_5_on_nothing_can_be_aborted_but_not_committed(producer: Producer):
    for epoch in range(3):
        assert producer.end(True) == refused(NO_STATE)
        answer = producer.end(False)
        assert answer == (NONE, producer.id, epoch + 1)
        assert producer.told.transaction_state == "CompleteAbort"
        producer.goes_on(answer)


@pytest.mark.behaviour("ET-5")
@pytest.mark.parametrize("version", range(6))
def test_an_end_of_another_epoch(producer: Producer, version: int):
    producer.goes_on(producer.init())
    producer.add(ORDERS)
    for epoch in (0, 2):
        assert producer.end(True, version, epoch=epoch) == refused(OLD_FENCED if version < 2 else FENCED)
    assert producer.told.transaction_state == "Ongoing"


@pytest.mark.behaviour("ET-6")
@pytest.mark.parametrize("version", range(6))
def test_an_end_of_nobody(producer: Producer, version: int):
    assert producer.end(True, version, name="unknown") == refused(MAPPING)
    assert producer.end(True, version, id=99) == refused(MAPPING)
    assert producer.end(True, version, name="") == refused(INVALID)


@pytest.mark.behaviour("ET-7")
@pytest.mark.parametrize("version", range(6))
def test_an_end_while_markers_are_under_way(producer: Producer, version: int):
    producer.add(ORDERS)
    producer.hold()
    assert producer.end(True, version)[0] == NONE
    for commit in (True, False):
        assert producer.end(commit, version) == refused(BUSY)
    producer.release()
    assert producer.end(True, version)[0] == NONE


@pytest.mark.behaviour("ET-8")
def test_a_transaction_times_out(desk: Desk):
    producer = Producer(desk, timeout_ms=1_000)
    producer.add(ORDERS)
    desk.wait_until(999)
    assert producer.told.transaction_state == "Ongoing"
    desk.wait_until(1_000)
    assert producer.told.transaction_state == "CompleteAbort"
    assert producer.end(True, 4) == refused(FENCED)
    assert producer.add(ORDERS) == [("orders", 0, FENCED)]


# -- DescribeTransactions, ListTransactions ----------------------------------------------------------------------


@pytest.mark.behaviour("TD-1")
def test_transactions_are_described(desk: Desk):
    producer = Producer(desk, timeout_ms=5_000)
    Producer(desk, "idle")
    producer.add({"orders": [0, 1]})
    producer.add_offsets()
    told, idle = describe(desk, "tx", "idle")
    assert {(one.topic, len(one.partitions)) for one in told.topics} == {("orders", 2), ("__consumer_offsets", 1)}
    told.topics = ()
    assert told == TransactionState(
        transactional_id="tx",
        transaction_state="Ongoing",
        transaction_timeout_ms=5_000,
        transaction_start_time_ms=START_MS,
        producer_id=0,
        producer_epoch=0,
    )
    assert (idle.transaction_state, idle.producer_id, idle.transaction_start_time_ms) == ("Empty", 1, -1)


@pytest.mark.behaviour("TD-2")
def test_what_is_not_described(producer: Producer):
    answers = describe(producer.desk, "", "unknown", "tx", "tx")
    assert [(one.transactional_id, one.error_code) for one in answers] == [
        ("", INVALID),
        ("unknown", ErrorCode.TRANSACTIONAL_ID_NOT_FOUND),
        ("tx", NONE),
        ("tx", NONE),
    ]


@pytest.mark.behaviour("TD-3")
@pytest.mark.behaviour("TL-5")
def test_before_there_is_any_transactional_id(desk: Desk):
    assert [one.error_code for one in describe(desk, "tx")] == [ErrorCode.NOT_COORDINATOR]
    assert listed(desk) == (NONE, set(), [])
    assert desk.state.cluster.topic("__transaction_state") is None


@pytest.fixture
def three(desk: Desk) -> Desk:
    """One without a transaction, an older one, a newer one."""
    Producer(desk, "idle")
    Producer(desk, "old").add(ORDERS)
    desk.broker_ms += 1_000
    Producer(desk, "new").add(ORDERS)
    desk.broker_ms += 1_000
    return desk


@pytest.mark.behaviour("TL-1")
@pytest.mark.parametrize("version", range(3))
def test_all_are_listed(three: Desk, version: int):
    answer = three.ask(version, ListTransactionsRequest(), ListTransactionsResponse)
    assert {(one.transactional_id, one.producer_id, one.transaction_state) for one in answer.transaction_states} == {
        ("idle", 0, "Empty"),
        ("old", 1, "Ongoing"),
        ("new", 2, "Ongoing"),
    }


@pytest.mark.behaviour("TL-2")
@pytest.mark.parametrize("version", range(3))
def test_by_state_and_by_producer_id(three: Desk, version: int):
    assert listed(three, version, state_filters=["Ongoing"]) == (NONE, {"old", "new"}, [])
    assert listed(three, version, state_filters=["ongoing", "Empty"]) == (NONE, {"idle"}, ["ongoing"])
    assert listed(three, version, state_filters=["ongoing"]) == (NONE, set(), ["ongoing"])
    assert listed(three, version, producer_id_filters=[2, 9]) == (NONE, {"new"}, [])
    assert listed(three, version, producer_id_filters=[2], state_filters=["Empty"]) == (NONE, set(), [])


@pytest.mark.behaviour("TL-3")
@pytest.mark.parametrize("version", [1, 2])
def test_by_duration(three: Desk, version: int):
    everything = {"idle", "old", "new"}
    for duration, names in ((-1, everything), (0, everything), (1_000, {"idle", "old"}), (2_000, {"idle"})):
        assert listed(three, version, duration_filter=duration) == (NONE, names, [])


@pytest.mark.behaviour("TL-4")
def test_by_a_regular_expression(three: Desk):
    assert listed(three, transactional_id_pattern="[a-n].*") == (NONE, {"idle", "new"}, [])
    assert listed(three, transactional_id_pattern="n") == (NONE, set(), [])
    assert listed(three, transactional_id_pattern="") == (NONE, {"idle", "old", "new"}, [])
    for wrong in ("(", "a{1001}", "(?=a)", r"\1"):
        assert listed(three, transactional_id_pattern=wrong) == (ErrorCode.INVALID_REGULAR_EXPRESSION, set(), [])
