"""Dead letters: what a share group has given up, as records of the group's dead-letter topic (KIP-1191).

Kafka: ShareGroupDLQManager, ShareGroupDLQStateManager.ProduceRequestHandler, ShareGroupDLQRecordFetcher.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kafkawire.errors import KafkaError
from kafkawire.records import (
    HEADER_SIZE,
    BatchHeader,
    NewRecord,
    Record,
    decompress,
    iterate_records,
    record_size,
)

CLIENT_REJECT: Final = "Offset rejected by client."
DELIVERY_COUNT_EXCEEDED: Final = "Offset delivery count exceeded the threshold."


class DeadLetter(NamedTuple):
    """Offsets of a share partition that are ARCHIVING: they are archived once their dead letters are written.

    Attributes:
        delivery_count: how often they were delivered.
        cause: why they were given up, CLIENT_REJECT or DELIVERY_COUNT_EXCEEDED.
    """

    first_offset: int
    last_offset: int
    delivery_count: int
    cause: str


class Origin(NamedTuple):
    """Where dead letters come from: a group, and a partition of a topic that it reads."""

    group_id: str
    topic: str
    partition: int


class Rules(NamedTuple):
    """What is asked of a dead-letter topic before anything is written there.

    Attributes:
        exists: whether there is such a topic.
        enabled: whether it is one for dead letters (`errors.deadletterqueue.group.enable`).
        auto_create: whether a missing one is made (`errors.deadletterqueue.auto.create.topics.enable`).
        prefix: how its name has to begin (`errors.deadletterqueue.topic.name.prefix`); "" is anyhow.
    """

    exists: bool
    enabled: bool
    auto_create: bool
    prefix: str


def refusal(group_id: str, topic: str, rules: Rules) -> str | None:
    """Why the group's dead letters are not written to the topic, in Kafka's words; None where they are.

    ProduceRequestHandler.validateDlqTopic.
    """
    if not topic:
        return f"Configured DLQ topic name in share group: {group_id} is empty."
    if topic.startswith("__"):
        return f"Configured DLQ topic name in share group: {group_id} cannot start with __, topic: {topic}."
    if rules.exists and not rules.enabled:
        return f"DLQ is not enabled on configured DLQ topic for share group: {group_id}, topic: {topic}."
    if not rules.exists and not rules.auto_create:
        why = "DLQ topic does not exist and auto create is disabled on cluster for share group"
        return f"{why}: {group_id}, topic: {topic}."
    if not topic.startswith(rules.prefix):
        why = "Configured DLQ topic name does not comply with the DLQ topic prefix in share group"
        return f"{why}: {group_id}, topic: {topic}, prefix: {rules.prefix}."
    return None


class Copy(NamedTuple):
    """What is copied of a record: neither its headers nor its timestamp."""

    offset: int
    key: bytes | None
    value: bytes | None


LogBatches = Iterable[tuple[BatchHeader, bytes | memoryview]]
"""Batches of a log in their order: a header, and the payload as it was received."""


class Copier:
    """Looks for records to be copied, in one pass through a log: for ascending offsets.

    A record of more than `most_bytes` is not copied, nor is a whole compressed batch that unpacks to more, or that
    can't be read (ShareGroupDLQRecordFetcher).

    Attributes:
        offset: what was looked for last.
    """

    __slots__ = ("_found", "_most_bytes", "_steps", "offset")

    def __init__(self, batches: LogBatches, most_bytes: int) -> None:
        self.offset = 0
        self._most_bytes = most_bytes
        self._found: Copy | None = None
        self._steps = self._look(batches)

    def look_for(self, offset: int) -> Iterator[None]:
        """Go on to this offset, step by step; `found` has it then."""
        self.offset = offset
        if self._found is None or self._found.offset < offset:
            self._found = None
            for found in self._steps:
                yield
                if found is not None and found.offset >= offset:
                    self._found = found
                    return

    @property
    def found(self) -> Copy | None:
        """Of the offset that was looked for; None where nothing is copied of it."""
        found = self._found
        return found if found is not None and found.offset == self.offset else None

    def _look(self, batches: LogBatches) -> Iterator[Copy | None]:
        """None is a step at which nothing was found."""
        for header, payload in batches:
            if header.last_offset < self.offset:
                yield None
                continue
            with contextlib.suppress(KafkaError):
                yield from self._inside(header, payload)

    def _inside(self, header: BatchHeader, payload: bytes | memoryview) -> Iterator[Copy | None]:
        if header.compression:
            payload = bytes(decompress(header.compression, payload, self._most_bytes))
            header = header._replace(attributes=header.attributes - header.compression)
        for record in iterate_records(payload, header):
            if record.offset < self.offset or _size(record, header) > self._most_bytes:
                yield None
            else:
                yield Copy(record.offset, record.key, record.value)


def _size(record: Record, header: BatchHeader) -> int:
    """Bytes in its batch, all but: with LogAppendTime its own timestamp is not known any more."""
    offset, timestamp, key, value, headers = record
    return record_size(
        offset - header.base_offset, timestamp - header.base_timestamp, NewRecord(key, value, timestamp, headers)
    )


def dead_records(
    origin: Origin, letter: DeadLetter, first: int, copier: Copier | None, broker_ms: int
) -> Iterator[NewRecord | None]:
    """A record for each offset of a letter from `first` on, in order; None stands for work that made none.

    All that is known of an offset is in the headers. Key and value are those of the record, where it is copied.
    """
    before = (
        (b"__dlq.errors.topic", origin.topic.encode()),
        (b"__dlq.errors.partition", b"%d" % origin.partition),
    )
    behind = (
        (b"__dlq.errors.group", origin.group_id.encode()),
        (b"__dlq.errors.delivery.count", b"%d" % letter.delivery_count),
        (b"__dlq.errors.message", letter.cause.encode()),
    )
    for offset in range(first, letter.last_offset + 1):
        copy = None
        if copier is not None:
            yield from copier.look_for(offset)
            copy = copier.found
        key, value = (None, None) if copy is None else copy[1:]
        yield NewRecord(key, value, broker_ms, (*before, (b"__dlq.errors.offset", b"%d" % offset), *behind))


class Pages:
    """Records put together to batches, each of `most_bytes` and `most_records` at most.

    The first record of a batch is always taken: what is too large by itself is for the log to refuse.
    """

    __slots__ = ("_most_bytes", "_most_records", "_size", "records")

    def __init__(self, most_bytes: int, most_records: int) -> None:
        self._most_bytes = most_bytes
        self._most_records = most_records
        self._size = HEADER_SIZE
        self.records: list[NewRecord] = []

    def take(self, record: NewRecord) -> bool:
        """Add a record, if it has a place beside those that are there."""
        records = self.records
        delta = record.timestamp - records[0].timestamp if records else 0
        size = self._size + record_size(len(records), delta, record)
        if records and (size > self._most_bytes or len(records) >= self._most_records):
            return False
        records.append(record)
        self._size = size
        return True
