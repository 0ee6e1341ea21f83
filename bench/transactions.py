"""What transactions cost: requests that can be repeated as cases, and whole transactions step by step.

A transaction is a cycle of requests that are different each time (sequences, and with transaction version 2 epochs), so
its steps are timed one by one, and what makes the next frame happens between them. Each step is a row of its own among
the round trips; of the rates there are those of whole transactions.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter_ns

from bench import cycles
from bench.cases import FETCH, MIB, PRODUCE, TIMESTAMP, TOPIC, Case, create_topic
from bench.contestants import Contestant
from bench.cycles import Cycle
from bench.frames import BadAnswer, Client, error_codes, frame, read_answer
from bench.wire import Effort, Measured
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message

INIT, ADD, ADD_OFFSETS, COMMIT, FIND_COORDINATOR = 4, 3, 3, 3, 4
END = {1: 3, 2: 5}
PRODUCE_IN = {1: PRODUCE, 2: 12}
"""Versions, by transaction version."""
WRITE_TOPIC, ABORTED_TOPIC, PLAIN_TOPIC = "bench-txn", "bench-aborted", "bench-not-aborted"
ABORTED = 10_000
"""Transactions."""
TIMEOUT_MS = 600_000
TRANSACTIONAL = 0x10
SMALL = 40
"""Bytes of a value."""
MARKER = 78
"""Bytes."""
AGAIN = {ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_ENOUGH_REPLICAS}
"""While markers are being written. Kafka does that behind its answer."""

_number = itertools.count()


class Transactional:
    """A producer with a transactional id."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.name = f"bench-tx-{next(_number)}"
        client.succeed(FindCoordinatorRequest(key_type=1, coordinator_keys=[self.name]), FIND_COORDINATOR)
        found = client.succeed(InitProducerIdRequest(self.name, TIMEOUT_MS), INIT)
        self.who: tuple[int, int] = found.producer_id, found.producer_epoch
        self.sequence = 0

    def add(self, topic: str) -> AddPartitionsToTxnRequest:
        return AddPartitionsToTxnRequest((), self.name, *self.who, [AddPartitionsToTxnTopic(topic, [0])])

    def produce(self, topic: str, size: int = SMALL) -> ProduceRequest:
        """One record more."""
        data = _batch(size, *self.who, self.sequence, TRANSACTIONAL)
        self.sequence += 1
        return ProduceRequest(self.name, -1, 30_000, [TopicProduceData(topic, partition_data=[_partition(data)])])

    def end(self, commit: bool) -> EndTxnRequest:
        return EndTxnRequest(self.name, *self.who, commit)

    def goes_on(self, who: tuple[int, int]) -> None:
        """What the answer to EndTxn in transaction version 2 said."""
        self.who, self.sequence = who, 0


def _batch(size: int, producer_id: int, epoch: int, sequence: int, attributes: int) -> bytes:
    return build_batch(
        [NewRecord(timestamp=TIMESTAMP, key=None, value=bytes(size))], producer_id=producer_id, producer_epoch=epoch,
        base_sequence=sequence, attributes=attributes,
    )  # fmt: skip


def _partition(data: bytes) -> PartitionProduceData:
    return PartitionProduceData(index=0, records=data)


def _init(client: Client) -> Message:
    name = Transactional(client).name
    return InitProducerIdRequest(name, TIMEOUT_MS)


_open: dict[int, Transactional] = {}


def _commit(partitions: int) -> Callable[[Client], Message]:
    def prepare(client: Client) -> Message:
        producer, group = Transactional(client), f"bench-txn-{next(_number)}"
        client.succeed(AddOffsetsToTxnRequest(producer.name, *producer.who, group), ADD_OFFSETS)
        offsets = [TxnOffsetCommitRequestPartition(index, 1000 + index) for index in range(partitions)]
        request = TxnOffsetCommitRequest(
            producer.name, group, *producer.who, topics=[TxnOffsetCommitRequestTopic(TOPIC, partitions=offsets)]
        )
        _open[id(request)] = producer
        return request

    return prepare


def _abort(client: Client, message: Message) -> None:
    producer = _open.pop(id(message))
    client.succeed(producer.end(False), END[1])


def _fetch(topic: str, fill: Callable[[Client], None]) -> Callable[[Client], Message]:
    """All of a partition that is filled when it is first asked for."""
    filled: set[tuple[str, int]] = set()

    def prepare(client: Client) -> Message:
        server = client.socket.getpeername()
        if server not in filled:
            create_topic(client, topic, 1)
            fill(client)
            filled.add(server)
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=8 * MIB)
        return FetchRequest(
            max_wait_ms=500, min_bytes=1, max_bytes=8 * MIB, isolation_level=1, session_epoch=-1,
            topics=[FetchTopic(topic=topic, partitions=[partition])],
        )  # fmt: skip

    return prepare


def _abort_many(client: Client) -> None:
    producer = Transactional(client)
    for _ in range(ABORTED):
        _succeed(client, producer.add(ABORTED_TOPIC), ADD)
        client.succeed(producer.produce(ABORTED_TOPIC), PRODUCE_IN[1])
        client.succeed(producer.end(False), END[1])


def _write_many(client: Client) -> None:
    """As many batches with as many bytes; a marker has 78."""
    for size in (SMALL, MARKER - len(_batch(0, -1, -1, -1, 0))) * ABORTED:
        data = _batch(size, -1, -1, -1, 0)
        topic = TopicProduceData(PLAIN_TOPIC, partition_data=[_partition(data)])
        client.succeed(ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic]), PRODUCE)


def _succeed(client: Client, message: Message, version: int) -> None:
    while set(error_codes(answer := client.ask(message, version))) & AGAIN:
        pass
    if errors := {code.name for code in error_codes(answer)}:
        raise BadAnswer(f"{type(message).__name__} v{version} was answered {errors}")


FETCH_ABORTED, FETCH_PLAIN = f"fetch/{ABORTED}-aborted", "fetch/none-aborted"

CASES = (
    Case("init-producer-id/transactional", INIT, _init, limit=5_000),
    Case("txn-offset-commit/1", COMMIT, _commit(1), limit=20_000, done=_abort),
    Case("txn-offset-commit/10", COMMIT, _commit(10), limit=20_000, done=_abort),
    Case(FETCH_PLAIN, FETCH, _fetch(PLAIN_TOPIC, _write_many), limit=200),
    Case(FETCH_ABORTED, FETCH, _fetch(ABORTED_TOPIC, _abort_many), limit=200),
)

STEPS = {
    1: ("add-partitions-to-txn", "produce/in-txn-v1", "end-txn/v1"),
    2: ("produce/in-txn-v2", "end-txn/v2"),
}
"""What a transaction consists of, by transaction version."""
_RAISED = struct.Struct(">ihqh")
"""The answer to EndTxn version 5 behind its header: throttle time, error code, producer id, epoch."""


def measure(contestants: Sequence[Contestant], effort: Effort, selected: Callable[[str], bool]) -> dict[str, Measured]:
    """The round trips of every step."""
    found: dict[str, Measured] = {}
    for (_, steps), begin in zip(STEPS.items(), (_begin_first, _begin_second), strict=True):
        if any(map(selected, steps)):
            found |= cycles.measure(steps, contestants, effort, begin)
    return found


def _begin_first(client: Client) -> Cycle:
    return partial(_first, Transactional(client), _topic(client))


def _begin_second(client: Client) -> Cycle:
    return partial(_second, Transactional(client), _topic(client))


def _topic(client: Client) -> str:
    topic = f"{WRITE_TOPIC}-{next(_number)}"
    create_topic(client, topic, 1)
    return topic


def _first(producer: Transactional, topic: str) -> Iterator[int]:
    yield _timed(producer.client, producer.add(topic), ADD)[0]
    yield _timed(producer.client, producer.produce(topic), PRODUCE_IN[1])[0]
    yield _timed(producer.client, producer.end(True), END[1])[0]


def _second(producer: Transactional, topic: str) -> Iterator[int]:
    yield _timed(producer.client, producer.produce(topic), PRODUCE_IN[2])[0]
    elapsed, payload = _timed(producer.client, producer.end(True), END[2])
    _, _, producer_id, epoch = _RAISED.unpack_from(payload, 5)
    producer.goes_on((producer_id, epoch))
    yield elapsed


def _timed(client: Client, message: Message, version: int) -> tuple[int, bytes]:
    """Until it is answered without error: whoever writes markers behind the answer is waited for, and it counts."""
    data = frame(message, version)
    start = perf_counter_ns()
    while True:
        payload = client.exchange(data)
        elapsed = perf_counter_ns() - start
        errors = set(error_codes(read_answer(message.API_KEY, version, payload)[1]))
        if not errors:
            return elapsed, payload
        if not errors <= AGAIN:
            raise BadAnswer(f"{type(message).__name__} was answered {', '.join(code.name for code in errors)}")
