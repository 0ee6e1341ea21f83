"""A broker's state with its transactions, written to and read by a test."""

from __future__ import annotations

from kafkastub.storage import PartitionLog
from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.fetch_response import FetchResponse
from kafkawire.records import parse_header, read_batch, split_batches
from tests.handlers.desk import Desk, batch
from tests.handlers.test_transactions import Producer

TRANSACTIONAL, CONTROL = 0x10, 0x20
IMPLICIT = 12
"""The version of Produce from which on partitions join by being written to."""


class Writer(Producer):
    """A producer that writes, too."""

    sequences: dict[tuple[str, int, int], int]

    def write(self, *values: bytes, topic: str = "orders", partition: int = 0, version: int = IMPLICIT) -> int:
        """The error code."""
        if not hasattr(self, "sequences"):
            self.sequences = {}
        at = topic, partition, self.epoch
        sequence = self.sequences.get(at, 0)
        records = batch(
            *values, producer_id=self.id, producer_epoch=self.epoch, base_sequence=sequence, attributes=TRANSACTIONAL
        )
        code = self.desk.produce(records, topic, partition, version, transactional_id=self.name).error_code
        if code == ErrorCode.NONE:
            self.sequences[at] = sequence + len(values)
        return code

    def ends(self, commit: bool = True) -> None:
        self.goes_on(self.end(commit))

    @property
    def state(self) -> str:
        return self.told.transaction_state


def committed(desk: Desk, topic: str = "orders", partition: int = 0) -> list[bytes]:
    """What a reader of committed records finds."""
    asked = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=1,
        topics=[
            FetchTopic(topic=topic, partitions=[FetchPartition(partition, fetch_offset=0, partition_max_bytes=1 << 20)])
        ],
    )
    (answer,) = desk.ask(11, asked, FetchResponse).responses
    (data,) = answer.partitions
    assert data.error_code == ErrorCode.NONE
    aborted = sorted((one.first_offset, one.producer_id) for one in data.aborted_transactions or ())
    found: list[bytes] = []
    left_out = set[int]()
    for _, whole in split_batches(data.records or b""):  # as Java's CompletedFetch
        header = parse_header(whole)
        while aborted and aborted[0][0] <= header.last_offset:
            left_out.add(aborted.pop(0)[1])
        if header.attributes & CONTROL:
            left_out.discard(header.producer_id)
        elif not header.attributes & TRANSACTIONAL or header.producer_id not in left_out:
            found += [record.value or b"" for record in read_batch(whole)]
    return found


def log(desk: Desk, topic: str = "orders", partition: int = 0) -> PartitionLog:
    one = desk.state.cluster.topic(topic)
    assert one is not None
    found = desk.state.logs.log(one.topic_id, partition)
    assert found is not None
    return found


def stable_to(desk: Desk, topic: str = "orders", partition: int = 0) -> int:
    """The last stable offset."""
    return log(desk, topic, partition).last_stable_offset
