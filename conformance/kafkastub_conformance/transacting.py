"""What cases about transactions have in common: a producer with a transactional id, and what is seen of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect_that
from kafkawire.errors import ErrorCode as E
from kafkawire.records import NewRecord, build_batch

TIMEOUT_MS = 60_000
TRANSACTIONAL = 16
"""The bit of a batch's attributes."""

AGAIN = (E.COORDINATOR_LOAD_IN_PROGRESS, E.COORDINATOR_NOT_AVAILABLE, E.NOT_COORDINATOR, E.CONCURRENT_TRANSACTIONS)

ADDED_BEFORE = {"AddPartitionsToTxn": 3, "Produce": 11, "AddOffsetsToTxn": 4, "TxnOffsetCommit": 4, "EndTxn": 4}
"""The last versions of a client that says before it writes which partition it is (KIP-98, not KIP-890)."""

OPENING = ("AddPartitionsToTxn", "Produce", "EndTxn", "DescribeTransactions")
"""What it takes to have a transaction and see its end."""


class Producer:
    """A producer with a transactional id of its own, started; or one more that has the id of another.

    It does as clients before KIP-890 do, but for the case's own API, which goes at the version of the run.
    """

    def __init__(self, on: Broker, name: str = "", timeout_ms: int = TIMEOUT_MS) -> None:
        on.needs(*OPENING)
        self.on = on
        self.name = name or on.cluster.transactional_id()
        self.sequences: dict[tuple[str, int], int] = {}
        answer = init(on, self.name, timeout_ms)
        expect_that("error_code of InitProducerId", answer.error_code, E.NONE)
        self.id = int(answer.producer_id)
        self.epoch = int(answer.producer_epoch)

    def ask(self, api: str, at: int | None = None, **body: Any) -> Answer:
        """A request at a version of clients that add first; at that of the run where the case is about the API."""
        if at is None and api != self.on.api:
            at = self.on.version_of(api, ADDED_BEFORE.get(api))
        return self.on.ask(api, at=at, **body)

    @property
    def who(self) -> dict[str, Any]:
        """Its names in requests."""
        return {"transactional_id": self.name, "producer_id": self.id, "producer_epoch": self.epoch}

    # Each with everything that is said as keyword, so that a case can say something else.

    def add(self, topic: Topic, *partitions: int, at: int | None = None, **changes: Any) -> list[tuple[int, int]]:
        """AddPartitionsToTxn of one transaction; (partition, error code) by partition."""
        answer = self.ask("AddPartitionsToTxn", at, **added(self.who | changes, (topic.name, partitions or (0,))))
        return codes(answer)[topic.name]

    def add_offsets(self, group: str, **changes: Any) -> Answer:
        """AddOffsetsToTxn."""
        return self.ask("AddOffsetsToTxn", **{**self.who, "group_id": group, **changes})

    def batch(self, topic: Topic, *values: bytes, partition: int = 0, **changes: int) -> bytes:
        """The next batch for a partition."""
        place = topic.name, partition
        sequence = self.sequences.get(place, 0)
        said = {
            "producer_id": self.id,
            "producer_epoch": self.epoch,
            "base_sequence": sequence,
            "attributes": TRANSACTIONAL,
        }
        self.sequences[place] = sequence + len(values)
        return plain(*values, **{**said, **changes})

    def produce(
        self,
        topic: Topic,
        *values: bytes,
        partition: int = 0,
        at: int | None = None,
        name: str | None = "",
        **changes: Any,
    ) -> int:
        """The error code of a Produce; `name` is another transactional id, `changes` are of the batch."""
        data = self.batch(topic, *values, partition=partition, **changes)
        row = {"index": partition, "records": data}
        body = {
            "transactional_id": self.name if name == "" else name,
            "acks": -1,
            "timeout_ms": 10_000,
            "topic_data": [{"name": topic.name, "topic_id": topic.id, "partition_data": [row]}],
        }
        answer = self.ask("Produce", at, **body)
        return int(answer.responses[0].partition_responses[0].error_code)

    def write(self, topic: Topic, *values: bytes, partition: int = 0) -> None:
        """Add the partition and write into it."""
        if self.on.api != "Produce" or self.on.version <= ADDED_BEFORE["Produce"]:
            at = self.on.version_of("AddPartitionsToTxn") if self.on.api == "AddPartitionsToTxn" else None
            expect_that("AddPartitionsToTxn", self.add(topic, partition, at=at), [(partition, E.NONE)])
        expect_that("error_code of Produce", self.produce(topic, *values, partition=partition), E.NONE)

    def commit_offsets(self, group: str, *offsets: tuple[Topic, int, int], **changes: Any) -> list[tuple[int, int]]:
        """TxnOffsetCommit of (topic, partition, offset); (partition, error code) in their order."""
        topics = [
            {
                "name": topic.name,
                "topic_id": topic.id,
                "partitions": [{"partition_index": partition, "committed_offset": offset, "committed_metadata": ""}],
            }
            for topic, partition, offset in offsets
        ]
        answer = self.ask("TxnOffsetCommit", **{**self.who, "group_id": group, "topics": topics, **changes})
        return [(row.partition_index, row.error_code) for topic in answer.topics for row in topic.partitions]

    def pending(self, group: str, *offsets: tuple[Topic, int, int]) -> None:
        """Add the group and commit offsets of it, that wait for the transaction's end."""
        if self.on.api != "TxnOffsetCommit" or self.on.version <= ADDED_BEFORE["TxnOffsetCommit"]:
            expect_that("error_code of AddOffsetsToTxn", self.add_offsets(group).error_code, E.NONE)
        found = self.commit_offsets(group, *offsets)
        expect_that("TxnOffsetCommit", sorted(found), sorted((partition, E.NONE) for _, partition, _ in offsets))

    def end(self, commit: bool, at: int | None = None, **changes: Any) -> Answer:
        """EndTxn, and wait until the markers are written, which a broker may do behind its answer."""
        answer = self.ask("EndTxn", at, **{**self.who, "committed": commit, **changes})
        settled(self.on, self.name)
        return answer

    def ended(self, commit: bool) -> None:
        """EndTxn without an error; the epoch that it brings (KIP-890) is the producer's from then on."""
        answer = self.end(commit)
        expect_that("error_code of EndTxn", answer.error_code, E.NONE)
        if answer.version >= 5:
            self.id, self.epoch = int(answer.producer_id), int(answer.producer_epoch)
            self.sequences.clear()


def plain(*values: bytes, **options: Any) -> bytes:
    """A batch of records of these days: behind older ones a marker, which has the broker's time, begins a segment."""
    now_ms = time.time_ns() // 1_000_000
    return build_batch([NewRecord(b"k", value, now_ms) for value in values], **options)


def init(on: Broker, name: str, timeout_ms: int = TIMEOUT_MS, **changes: Any) -> Answer:
    """InitProducerId, again while there is a transaction that is being ended, or the coordinator is loading."""
    body = {"transactional_id": name, "transaction_timeout_ms": timeout_ms, **changes}
    found = [on.ask("InitProducerId", **body)]

    def over() -> bool:
        if found[0].error_code in AGAIN:
            found[0] = on.ask("InitProducerId", **body)
        return found[0].error_code not in AGAIN

    on.in_time(over)
    return found[0]


def added(who: dict[str, Any], *topics: tuple[str, Sequence[int]], **more: Any) -> dict[str, Any]:
    """The body of AddPartitionsToTxn, for whichever version."""
    rows = [{"name": name, "partitions": list(partitions)} for name, partitions in topics]
    older = {f"v3_and_below_{key}": value for key, value in {**who, "topics": rows}.items()}
    return {**older, "transactions": [{**who, "topics": rows, **more}]}


def codes(answer: Answer) -> dict[str, list[tuple[int, int]]]:
    """What AddPartitionsToTxn says of one transaction: by topic, (partition, error code) by partition."""
    topics = (
        [topic for one in answer.results_by_transaction for topic in one.topic_results]
        if answer.version >= 4
        else answer.results_by_topic_v3_and_below
    )
    return {
        topic.name: sorted((row.partition_index, row.partition_error_code) for row in topic.results_by_partition)
        for topic in topics
    }


def described(on: Broker, name: str) -> Any:
    """What DescribeTransactions says of one transactional id."""
    return on.ask("DescribeTransactions", transactional_ids=[name]).transaction_states[0]


def state(on: Broker, name: str) -> str:
    """The state of its transaction."""
    return str(described(on, name).transaction_state)


def partitions(on: Broker, name: str) -> dict[str, list[int]]:
    """What is in its transaction."""
    return {topic.topic: sorted(topic.partitions) for topic in described(on, name).topics}


def settled(on: Broker, name: str) -> None:
    """Wait until no marker is under way."""
    expect_that("whether the markers come", on.in_time(lambda: not state(on, name).startswith("Prepare")), True)


def stale(on: Broker, since: int) -> E:
    """How an epoch that is no longer the producer's is refused: otherwise from version `since` on (KIP-588)."""
    return E.PRODUCER_FENCED if on.version >= since else E.INVALID_PRODUCER_EPOCH
