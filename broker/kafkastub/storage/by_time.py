"""Records found by their time, batch by batch; what was found inside of compressed ones is remembered.

The headers tell which batches may have such a record; that they do, only the records tell (a batch that nobody had to
look into is kept as it came). So they are unpacked one after the other, as far as it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kafkastub.steps import Steps
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, UnavailableCodecError
from kafkawire.records.heads import Head, first_head

from .segment import Segment, StoredBatch
from .unpacker import Unpacker

_MOST_KNOWN: Final = 1000
"""Answers about single batches that are remembered for a log; the oldest go first."""


class TimestampAndOffset(NamedTuple):
    """A record's place. `leader_epoch` is that of its batch."""

    timestamp: int
    offset: int
    leader_epoch: int


class _Question(NamedTuple):
    base_offset: int
    timestamp: int
    start_offset: int
    exactly: bool


class ByTime:
    """Answers for one log, as long as its batches stay what they are."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[_Question, Head | KafkaError | None] = {}

    def first_from(
        self, segments: Sequence[Segment], timestamp: int, start_offset: int, unpacker: Unpacker
    ) -> Steps[TimestampAndOffset | None]:
        """The first record from that offset on with at least that timestamp (UnifiedLog.searchOffsetInLocalLog,
        FileRecords.searchForTimestamp).

        As in Kafka only the first segment that has such a timestamp is searched. Codec errors where a batch cannot be
        unpacked, InvalidRecordError where it holds no records.
        """
        segment = next((one for one in segments if one.largest_timestamp >= timestamp), None)
        for batch in () if segment is None else segment.from_time(timestamp):
            yield 1
            if batch.max_timestamp >= timestamp and batch.last_offset >= start_offset:
                question = _Question(batch.base_offset, timestamp, max(start_offset, batch.base_offset), False)
                found = yield from self._inside(batch, question, unpacker)
                if found is not None:
                    return TimestampAndOffset(*found, batch.leader_epoch)
        return None

    def largest(self, segments: Sequence[Segment], unpacker: Unpacker) -> Steps[TimestampAndOffset | None]:
        """The first record with the largest timestamp that a header names; None where there is none (KIP-734)."""
        segment = max(segments, key=lambda segment: segment.largest_timestamp)
        largest = segment.largest_timestamp
        if largest < 0:
            return None
        batch = segment.from_time(largest)[0]
        found = yield from self._inside(batch, _Question(batch.base_offset, largest, batch.base_offset, True), unpacker)
        return None if found is None else TimestampAndOffset(*found, batch.leader_epoch)

    def _inside(self, batch: StoredBatch, question: _Question, unpacker: Unpacker) -> Steps[Head | None]:
        known = self._known
        if question in known:
            answer = known[question]
            if isinstance(answer, KafkaError):
                raise KafkaError(answer.code, answer.message)
            return answer
        header = batch.header()
        _, timestamp, start_offset, exactly = question
        payload = memoryview(batch.head)[HEADER_SIZE:] if batch.payload is None else batch.payload
        try:
            answer = yield from unpacker.with_records(
                header.compression,
                payload,
                lambda data: first_head(data, header, timestamp, start_offset=start_offset, exactly=exactly),
            )
        except UnavailableCodecError:
            raise
        except KafkaError as failure:
            self._remember(question, failure.with_traceback(None))
            raise KafkaError(failure.code, failure.message) from None
        if header.compression:
            self._remember(question, answer)
        return answer

    def _remember(self, question: _Question, answer: Head | KafkaError | None) -> None:
        if len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[question] = answer
