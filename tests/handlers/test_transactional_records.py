"""Produce, Fetch, ListOffsets and DescribeProducers where there are transactions; the coordinator is a stand-in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kafkastub.handlers.outcome import Outcome
from kafkastub.storage import Marker, PartitionLog
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.describe_producers_response import DescribeProducersResponse
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.fetch_response import FetchResponse, PartitionData
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse
from tests.handlers.desk import START_MS, Desk, answered, batch


def refusal(code: ErrorCode, message: str | None = None, *, log_start_offset: int = -1) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        error_code=code, base_offset=-1, log_start_offset=log_start_offset, error_message=message
    )


class Coordinator:
    """Says what the test wants it to say, and remembers what it was asked."""

    def __init__(self, code: ErrorCode = ErrorCode.NONE) -> None:
        self.code = code
        self.asked: list[tuple[Any, ...]] = []

    def join(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Iterable[tuple[str, int]],
        *, api_key: ApiKey, api_version: int, broker_ms: int, timer_ms: int,
    ) -> dict[tuple[str, int], ErrorCode]:  # fmt: skip
        assert api_key == ApiKey.PRODUCE
        places = list(partitions)
        self.asked.append((transactional_id, producer_id, producer_epoch, places, api_version))
        return dict.fromkeys(places, self.code)

    @property
    def at_once(self) -> Coordinator:
        return self

    def add(self, *_: Any) -> bool:
        """Whoever wants to join is asked for with care."""
        return False

    may_write = add

    def next_deadline(self) -> int | None:
        return None

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Nothing is ever due."""


class TransactionalDesk(Desk):
    """A desk with a topic "orders" of two partitions, whose coordinator is in the test's hand."""

    def __init__(self, config: dict[str, object] | None = None) -> None:
        super().__init__(config)
        self.topic(partitions=2)
        self.coordinator = Coordinator()
        self.state._transactions = self.coordinator  # type: ignore[assignment]

    def send(self, sequence: int, version: int = 12, **header: Any) -> PartitionProduceResponse:
        return self.produce(transactional(sequence, **header), version=version, transactional_id="tx")

    def log(self) -> PartitionLog:
        topic = self.state.cluster.topic("orders")
        assert topic is not None
        log = self.state.logs.log(topic.topic_id, 0)
        assert log is not None
        return log

    def end(self, commit: bool = True, producer_id: int = 7, epoch: int = 0) -> int:
        topic = self.state.cluster.topic("orders")
        assert topic is not None
        offset = self.log().append_marker(Marker(producer_id, epoch, commit), leader_epoch=0, now_ms=self.broker_ms)
        self.state.fetch_purgatory.appended(topic.topic_id, 0)
        return offset


def transactional(sequence: int, *values: bytes, **header: Any) -> bytes:
    fields = {"attributes": 0x10, "producer_id": 7, "producer_epoch": 0, **header}
    return batch(*values, base_sequence=sequence, **fields)


@pytest.fixture
def desk() -> TransactionalDesk:
    return TransactionalDesk()


@pytest.mark.behaviour("PR-18")
def test_transactional_batches_belong_to_somebody(desk: TransactionalDesk):
    whole = refusal(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    assert desk.produce(transactional(0)) == whole
    data = [PartitionProduceData(0, transactional(0)), PartitionProduceData(1, transactional(0, producer_id=8))]
    request = ProduceRequest(
        transactional_id="tx", acks=1, topic_data=[TopicProduceData(name="orders", partition_data=data)]
    )
    text = "Transactional records contained more than one producer ID"
    (answer,) = desk.ask(9, request, ProduceResponse).responses
    assert [(one.error_code, one.error_message) for one in answer.partition_responses] == [
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, text)
    ] * 2
    assert not desk.coordinator.asked


@pytest.mark.behaviour("PR-27")
def test_the_coordinator_is_asked_for_the_first_batch_only(desk: TransactionalDesk):
    assert [desk.send(sequence).base_offset for sequence in (0, 1)] == [0, 1]
    assert desk.coordinator.asked == [("tx", 7, 0, [("orders", 0)], 12)]
    desk.end()
    assert desk.send(2).base_offset == 3
    assert len(desk.coordinator.asked) == 2


@pytest.mark.behaviour("PR-27")
def test_plain_and_idempotent_batches_ask_nobody(desk: TransactionalDesk):
    desk.coordinator.code = ErrorCode.INVALID_TXN_STATE
    assert desk.produce(batch(), transactional_id="tx").base_offset == 0
    assert desk.send(0, attributes=0).base_offset == 1
    assert not desk.coordinator.asked


@pytest.mark.behaviour("PR-27")
def test_all_partitions_are_asked_for_at_once_and_each_has_its_answer(desk: TransactionalDesk):
    data = [PartitionProduceData(index, transactional(0)) for index in (0, 1)]
    request = ProduceRequest(
        transactional_id="tx", acks=1, topic_data=[TopicProduceData(name="orders", partition_data=data)]
    )
    desk.ask(11, request, ProduceResponse)
    assert desk.coordinator.asked == [("tx", 7, 0, [("orders", 0), ("orders", 1)], 11)]


UNABLE = "Unable to verify the partition has been added to the transaction. Underlying error: "


@pytest.mark.behaviour("PR-27")
@pytest.mark.parametrize(
    ("version", "said", "told"),
    [
        (10, ErrorCode.INVALID_TXN_STATE, (48, "Partition was not added to the transaction")),
        (11, ErrorCode.TRANSACTION_ABORTABLE, (120, None)),
        (12, ErrorCode.INVALID_PRODUCER_EPOCH, (47, None)),
        (12, ErrorCode.INVALID_PRODUCER_ID_MAPPING, (49, None)),
        (10, ErrorCode.NOT_COORDINATOR, (19, f"{UNABLE}NOT_COORDINATOR")),
        (12, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, (19, f"{UNABLE}COORDINATOR_LOAD_IN_PROGRESS")),
        (11, ErrorCode.CONCURRENT_TRANSACTIONS, (19, f"{UNABLE}CONCURRENT_TRANSACTIONS")),
        (12, ErrorCode.CONCURRENT_TRANSACTIONS, (51, None)),
    ],
)
def test_what_the_coordinator_refuses(version: int, said: ErrorCode, told: tuple[int, str | None]):
    desk = TransactionalDesk({"add.partitions.to.txn.retry.backoff.max.ms": 0})
    desk.coordinator.code = said
    assert desk.send(0, version) == refusal(ErrorCode(told[0]), told[1])
    desk.fill(batch())
    assert desk.log().log_end_offset == 1


@pytest.mark.behaviour("PR-27")
def test_an_old_epoch_is_refused_before_anybody_is_asked(desk: TransactionalDesk):
    desk.send(0, producer_epoch=3)
    desk.end(epoch=3)
    desk.coordinator.asked.clear()
    assert desk.send(0, producer_epoch=2) == refusal(ErrorCode.INVALID_PRODUCER_EPOCH)
    assert not desk.coordinator.asked


@pytest.mark.behaviour("PR-27")
@pytest.mark.parametrize(("version", "asked"), [(11, 0), (12, 1)])
def test_without_verification_only_those_who_join_are_asked_for(version: int, asked: int):
    desk = TransactionalDesk({"transaction.partition.verification.enable": "false"})
    assert desk.send(0, version).error_code == 0
    assert len(desk.coordinator.asked) == asked
    assert desk.log().last_stable_offset == 0


@pytest.mark.behaviour("PR-28")
def test_in_a_transaction_every_batch_is_transactional(desk: TransactionalDesk):
    desk.send(0)
    assert desk.send(1, attributes=0) == refusal(ErrorCode.INVALID_TXN_STATE, log_start_offset=0)
    desk.end()
    assert desk.send(1, attributes=0).base_offset == 2


@pytest.mark.behaviour("PR-29")
def test_a_batch_that_was_not_verified_comes_before_those_behind_it(desk: TransactionalDesk):
    desk.coordinator.code = ErrorCode.INVALID_TXN_STATE
    desk.send(3, version=11)
    desk.coordinator.code = ErrorCode.NONE
    assert desk.send(4, version=11) == refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, log_start_offset=0)
    assert [desk.send(sequence, version=11).base_offset for sequence in (3, 4)] == [0, 1]


@pytest.mark.behaviour("PR-29")
@pytest.mark.parametrize(("version", "code"), [(11, 0), (12, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)])
def test_who_joins_begins_with_sequence_0(desk: TransactionalDesk, version: int, code: int):
    assert desk.send(5, version).error_code == code


@pytest.mark.behaviour("PR-29")
@pytest.mark.parametrize(("version", "marker_epoch", "code"), [(11, 0, 0), (12, 0, 45), (12, 1, 0)])
def test_what_a_marker_does_to_a_batch_that_was_not_written(version: int, marker_epoch: int, code: int):
    """Measured on 4.4.0: who joins is forgiven by a marker of a raised epoch only."""
    desk = TransactionalDesk()
    desk.coordinator.code = ErrorCode.INVALID_TXN_STATE
    desk.send(1, version)
    desk.end(epoch=marker_epoch)
    desk.fill(transactional(0, b"a", b"b", attributes=0, producer_epoch=marker_epoch))
    assert desk.send(2, attributes=0, producer_epoch=marker_epoch).error_code == code


@pytest.mark.behaviour("PR-30")
def test_an_open_transaction_outlives_the_expiration_of_its_producer():
    desk = TransactionalDesk({"producer.id.expiration.ms": "1000"})
    desk.send(0)
    desk.broker_ms += 5000
    assert desk.send(1).base_offset == 1


def fetch(desk: Desk, offset: int = 0, *, isolation: int = 1, max_bytes: int = 1 << 20, **request: Any) -> Outcome:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    asked = FetchRequest(
        isolation_level=isolation, topics=[FetchTopic(topic="orders", partitions=[partition])], max_bytes=1 << 20,
        **{"max_wait_ms": 0, "min_bytes": 0, **request},
    )  # fmt: skip
    return desk.outcome(ApiKey.FETCH, 12, asked)


def fetched(desk: Desk, offset: int = 0, **request: Any) -> PartitionData:
    answer = fetch(desk, offset, **request)
    assert isinstance(answer, FetchResponse)
    return answer.responses[0].partitions[0]


def size_of(data: PartitionData) -> int:
    return sum(map(len, data.records or b"")) if isinstance(data.records, list) else len(data.records or b"")


@pytest.mark.behaviour("FE-13")
def test_committed_reads_end_at_the_last_stable_offset(desk: TransactionalDesk):
    desk.fill(batch())
    desk.send(0)
    desk.fill(batch())
    for isolation, batches in ((0, 3), (1, 1)):
        read = fetched(desk, isolation=isolation)
        assert (read.last_stable_offset, read.high_watermark) == (1, 3)
        assert size_of(read) == batches * len(batch())
    for offset in (1, 2, 3):
        read = fetched(desk, offset)
        assert (read.error_code, size_of(read), list(read.aborted_transactions or ())) == (0, 0, [])
    assert fetched(desk, 4).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.behaviour("FE-13")
def test_aborted_transactions_are_told_to_those_who_read_committed_records(desk: TransactionalDesk):
    for number, commit in enumerate((False, True, False)):
        desk.send(number)
        desk.end(commit)
    assert fetched(desk, isolation=0).aborted_transactions is None
    for offset, first_offsets in ((0, [0, 4]), (1, [0, 4]), (2, [4]), (5, [4]), (6, [])):
        told = fetched(desk, offset).aborted_transactions
        assert told is not None
        assert [(one.producer_id, one.first_offset) for one in told] == [(7, first) for first in first_offsets]


@pytest.mark.behaviour("FE-13")
def test_nothing_is_told_where_the_first_batch_did_not_fit(desk: TransactionalDesk):
    desk.topic("first")
    desk.fill(batch(), topic="first")
    desk.send(0)
    desk.end(False)
    topics = [
        FetchTopic(topic="first", partitions=[FetchPartition(partition_max_bytes=1 << 20)]),
        FetchTopic(topic="orders", partitions=[FetchPartition(partition_max_bytes=5)]),
    ]
    request = FetchRequest(isolation_level=1, topics=topics, max_bytes=1 << 20)
    _, orders = desk.ask(12, request, FetchResponse).responses
    assert orders.partitions[0].aborted_transactions is None


@pytest.mark.behaviour("FE-23")
def test_a_committed_read_waits_for_the_marker(desk: TransactionalDesk):
    desk.fill(batch())
    waiting = fetch(desk, 1, min_bytes=1, max_wait_ms=1000)
    uncommitted = fetch(desk, 1, isolation=0, min_bytes=1, max_wait_ms=1000)
    desk.send(0)
    assert answered(uncommitted, 12, FetchResponse) is not None
    desk.fill(batch())
    assert answered(waiting, 12, FetchResponse) is None
    desk.end()
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert answer.responses[0].partitions[0].last_stable_offset == 4


@pytest.mark.behaviour("FE-23")
def test_a_committed_read_behind_the_last_stable_offset_does_not_wait(desk: TransactionalDesk):
    """But one in the very batch that is there: Kafka compares where batches begin."""
    desk.produce(transactional(0, b"a", b"b"), transactional_id="tx")
    desk.fill(batch())
    waits = [not isinstance(fetch(desk, offset, min_bytes=1, max_wait_ms=1000), FetchResponse) for offset in range(4)]
    assert waits == [True, True, False, False]


def listed(desk: Desk, timestamp: int, isolation: int) -> tuple[int, int]:
    asked = ListOffsetsTopic(name="orders", partitions=[ListOffsetsPartition(0, timestamp=timestamp)])
    request = ListOffsetsRequest(isolation_level=isolation, topics=[asked])
    found = desk.ask(7, request, ListOffsetsResponse).topics[0].partitions[0]
    assert found.error_code == 0
    return found.timestamp, found.offset


@pytest.mark.behaviour("LO-1")
@pytest.mark.behaviour("LO-11")
def test_committed_offsets_end_at_the_last_stable_one(desk: TransactionalDesk):
    desk.fill(batch())
    desk.send(0, timestamp=START_MS + 50)
    assert [listed(desk, -1, isolation) for isolation in (0, 1)] == [(-1, 2), (-1, 1)]
    assert [listed(desk, -2, isolation) for isolation in (0, 1)] == [(-1, 0), (-1, 0)]
    assert [listed(desk, -3, isolation) for isolation in (0, 1)] == [(START_MS + 50, 1), (-1, -1)]
    assert [listed(desk, START_MS + 9, isolation) for isolation in (0, 1)] == [(START_MS + 50, 1), (-1, -1)]
    assert [listed(desk, START_MS, isolation) for isolation in (0, 1)] == [(START_MS, 0)] * 2
    desk.end()
    assert listed(desk, -1, 1) == (-1, 3)


@pytest.mark.behaviour("LO-13")
@pytest.mark.behaviour("FE-24")
def test_the_last_stable_offset_was_the_log_start_inside_a_batch(desk: TransactionalDesk):
    desk.produce(transactional(0, b"a", b"b", b"c"), transactional_id="tx")
    desk.log().delete_records_before(2)
    assert [listed(desk, -1, isolation) for isolation in (0, 1)] == [(-1, 3), (-1, 0)]
    assert [listed(desk, -2, isolation) for isolation in (0, 1)] == [(-1, 2), (-1, 2)]
    read = fetched(desk, 2)
    assert (read.error_code, read.last_stable_offset, read.log_start_offset, size_of(read)) == (0, 0, 2, 0)


@pytest.mark.behaviour("DP-4")
def test_an_open_transaction_is_described(desk: TransactionalDesk):
    def described() -> tuple[int, int, int]:
        request = DescribeProducersRequest(topics=[TopicRequest(name="orders", partition_indexes=[0])])
        (one,) = desk.ask(0, request, DescribeProducersResponse).topics[0].partitions[0].active_producers
        return one.current_txn_start_offset, one.coordinator_epoch, one.last_timestamp

    desk.fill(batch())
    desk.send(0)
    desk.send(1)
    assert described() == (1, -1, START_MS)
    desk.broker_ms = START_MS + 77
    desk.end()
    assert described() == (-1, 0, START_MS + 77)
