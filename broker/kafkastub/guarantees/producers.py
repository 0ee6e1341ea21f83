"""What is sent: refused and given up, sent twice, out of order, with too few acks, fenced and goes on."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from kafkastub.guarantees.events import At, Client, Partition, Produced, Replicated
from kafkastub.guarantees.findings import Finding, error_name, found
from kafkastub.guarantees.state import State
from kafkawire.errors import ErrorCode

_MOST: Final = 1000
_MOST_WAITING: Final = 10_000
"""Batches of all partitions together that were refused or had no answer."""
_MOST_RECORDS: Final = 20_000
RETRIABLE: Final = frozenset(
    (
        ErrorCode.CORRUPT_MESSAGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED, ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.CONCURRENT_TRANSACTIONS,
    )
)  # fmt: skip
"""Of a Produce: errors that Kafka's clients retry. Source: the subclasses of RetriableException."""
_MAYBE_WRITTEN: Final = frozenset((ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND))
_FENCED: Final = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED))


@dataclass(eq=False)
class _Batch:
    """One that was refused, or had no answer."""

    crc: int
    count: int
    at: At
    client: Client
    error: int | None
    end_before: int
    """Where the log ended; -1 if nobody knows, because of another batch without an answer."""
    producer_id: int
    last: At
    """Of the last attempt."""
    attempts: int = 1
    is_unclear: bool = False
    """Whether it was sent without an answer, too: it may be written."""
    behind: At | None = None
    """A later batch of the same connection that was accepted."""
    contents: Counter[int] = field(default_factory=Counter)
    """What of it is still not written."""


class Producers:
    """The guarantees of those who write."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._open: dict[Partition, deque[_Batch]] = {}
        """Batches that were refused or had no answer, and may come again. No partition is here without one."""
        self._waiting = 0
        """How many."""
        self._records = 0
        """In what of them is still not written."""
        self._unanswered: dict[Partition, set[int]] = {}
        """Batches without an answer since the end of a log was known, by CRC: two are enough to tell of another one."""
        self._accepted: dict[tuple[int, str], At] = {}
        """What a connection wrote last to a topic."""
        self._fenced: dict[tuple[int, int], tuple[At, int]] = {}
        self._told: set[tuple[int, int]] = set()
        self._replicas: dict[str, int] = {}
        """Of topics that have more than one."""
        self._weak: set[tuple[str, str]] = set()
        """Clients and topics that `weak_acks` has named."""
        self.found: list[Finding] = []
        self.batches = 0

    def produced(self, event: Produced) -> None:
        if event.error == 0 or event.acks == 0:
            self.batches += 1
        self.used(event.batch.producer_id, event.batch.epoch, event.error, event.at, event.client)
        log = self._state.log(event.partition)
        waiting = self._open.get(event.partition)
        count = event.batch.end - event.batch.first
        accepted = event.error == 0 and event.base_offset >= 0
        if self._replicas and event.acks in (0, 1):
            self._acks(event)
        if accepted:
            base = event.base_offset
            if waiting:
                self._compare(event, waiting, base, log.end)
            self._unanswered.pop(event.partition, None)
            log.written(event.batch._replace(first=base, end=base + count))
            if event.batch.transactional:
                self._state.transactions_in.setdefault(event.batch.producer_id, set()).add(event.partition)
            self._accepted[event.client.connection, event.partition[0]] = event.at
            if len(self._accepted) > _MOST:
                del self._accepted[next(iter(self._accepted))]
        if event.error == 0 or event.error == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            if self._records:
                self._strike(event)
        else:
            if _is_unclear(event.error):
                self._leave_open(event)
            if event.acks != 0:
                self._keep(event, log.end, count)

    def replicated(self, event: Replicated) -> None:
        if len(self._replicas) < _MOST:
            self._replicas[event.topic] = event.replicas

    def deleted(self, topic: str) -> None:
        """What comes under the same name is another topic."""
        self._replicas.pop(topic, None)

    def _acks(self, event: Produced) -> None:
        topic, client = event.partition[0], event.client.client_id
        replicas = self._replicas.get(topic)
        if replicas is None or (client, topic) in self._weak or len(self._weak) >= _MOST:
            return
        self._weak.add((client, topic))
        until = "none of them has" if event.acks == 0 else "one of them has"
        cause = (
            f"client {client!r} wrote with acks={event.acks} to a topic with {replicas} replicas: a record counts as "
            f"written when {until} it, and is lost if that node fails"
        )
        self.found.append(found("weak_acks", cause, event.at, partition=event.partition))

    def _leave_open(self, event: Produced) -> None:
        """It may be written: what was refused of the same content is not missing for certain."""
        if self._records:
            contents = set(event.contents())
            for partition, waiting in self._open.items():
                if partition[0] == event.partition[0]:
                    for one in waiting:
                        one.is_unclear = one.is_unclear or not contents.isdisjoint(one.contents)

    def _keep(self, event: Produced, end: int, count: int) -> None:
        """It was refused, or there was no answer."""
        waiting = self._open.get(event.partition, ())
        crc, others = event.batch.crc, self._unanswered.get(event.partition, set()) - {event.batch.crc}
        if _is_unclear(event.error):
            unanswered = self._unanswered.setdefault(event.partition, set())
            if len(unanswered) < 2:
                unanswered.add(crc)
        for one in waiting:
            if one.crc == crc and one.error == event.error:
                one.last, one.attempts = event.at, one.attempts + 1
                return
        one = _Batch(
            crc, count, event.at, event.client, event.error, -1 if others else end, event.batch.producer_id, event.at,
            is_unclear=any(each.crc == crc and _is_unclear(each.error) for each in waiting),
        )  # fmt: skip
        if event.error in RETRIABLE and event.error not in _MAYBE_WRITTEN:
            if self._records + count > _MOST_RECORDS:
                self._state.forget("records that were refused")
            else:
                one.contents.update(event.contents())
                self._records += one.contents.total()
        while len(waiting) >= _MOST:
            self._forget(event.partition)
        while self._waiting >= _MOST_WAITING:
            self._forget(next(iter(self._open)))
        self._open.setdefault(event.partition, deque()).append(one)
        self._waiting += 1

    def _forget(self, partition: Partition) -> None:
        """Forget the oldest one that waits for a partition, for want of room."""
        self._drop(partition, self._open[partition][0])
        self._state.forget("batches that were refused or had no answer")

    def _drop(self, partition: Partition, one: _Batch) -> None:
        """It does not wait any more."""
        waiting = self._open[partition]
        waiting.remove(one)
        self._waiting -= 1
        self._records -= one.contents.total()
        if not waiting:
            del self._open[partition]

    def _strike(self, event: Produced) -> None:
        """Written: whatever was refused of the same content was repeated, by this client or another one."""
        contents: list[int] | None = None
        for partition in [one for one in self._open if one[0] == event.partition[0]]:
            for one in [one for one in self._open[partition] if one.contents]:
                if contents is None:
                    contents = event.contents()
                before = one.contents.total()
                one.contents -= Counter(contents)
                self._records -= before - one.contents.total()
                if not one.contents and one.producer_id >= 0:
                    self._drop(partition, one)  # nothing more is said of it

    def _compare(self, event: Produced, waiting: deque[_Batch], base: int, end: int) -> None:
        """Compare an accepted batch with those that were refused, or had no answer. The log ended at `end`."""
        count = event.batch.end - event.batch.first
        mine = [one for one in waiting if one.crc == event.batch.crc and one.count == count]
        if event.batch.producer_id >= 0:  # the broker itself keeps order, and takes each once
            for one in mine:
                self._drop(event.partition, one)
            return
        unclear = [one for one in mine if _is_unclear(one.error)]
        refused = [one for one in mine if not _is_unclear(one.error) and one.behind is not None]
        attempts = sum(one.attempts for one in unclear)
        if unclear and self._is_repeated(event, unclear[0], base - unclear[0].end_before, attempts, end):
            start = unclear[0].end_before
            cause = (
                f"client {event.client.client_id!r}, without idempotence, sent a batch of {count} again that had "
                f"no answer and had been written: offsets {start} and {base} begin the same records"
            )
            self._add("sent_twice", cause, event, unclear[0], (start, base + count))
        if refused:
            first = refused[0]
            assert first.behind is not None
            if not any(one.at.began < first.behind.began for one in unclear):
                cause = (
                    f"client {event.client.client_id!r}, without idempotence, sent a batch again that was refused with "
                    f"{error_name(first.error or 0)}, behind one that it had sent after it"
                )
                self._add("out_of_order", cause, event, first, (base, base + count), first.behind)
        for one in mine:
            self._drop(event.partition, one)
        for one in waiting:
            if one.client.connection == event.client.connection and event.at.began >= one.at.began:
                one.behind = one.behind or event.at

    def _is_repeated(self, event: Produced, one: _Batch, between: int, attempts: int, end: int) -> bool:
        """Whether nothing but earlier attempts of it can lie between the end of the log before them, and the batch."""
        others = self._unanswered.get(event.partition, set()) - {one.crc}
        if one.end_before < 0 or end != one.end_before or others:
            return False
        return 0 < between <= attempts * one.count and between % one.count == 0

    def _add(self, name: str, cause: str, event: Produced, one: _Batch, offsets: tuple[int, int], *others: At) -> None:
        if len(self.found) < _MOST:
            self.found.append(
                found(name, cause, event.at, one.at, *others, partition=event.partition, offsets=[offsets])
            )

    # --- fenced

    def used(self, producer_id: int, epoch: int, error: int | None, at: At, client: Client) -> None:
        """A producer has asked for work with this id and epoch."""
        if producer_id < 0:
            return
        key = producer_id, epoch
        fenced = self._fenced.get(key)
        if fenced is not None and at.began > fenced[0].ended and key not in self._told:
            self._told.add(key)
            cause = (
                f"client {client.client_id!r} went on as producer {producer_id} with epoch {epoch} after it was told "
                f"{error_name(fenced[1])}: another one has taken its place"
            )
            self.found.append(found("fenced_goes_on", cause, at, fenced[0]))
        if error in _FENCED and fenced is None and error is not None:
            self._fenced[key] = at, error
            if len(self._fenced) > _MOST:
                del self._fenced[next(iter(self._fenced))]

    def aborted(self, producer_id: int) -> None:
        """The application has given the transaction up: nothing of it is missing."""
        for waiting in self._open.values():
            for one in waiting:
                if one.producer_id == producer_id:
                    self._records -= one.contents.total()
                    one.contents.clear()

    # --- what is told

    def findings(self, gone: Callable[[int], bool | None], undecided: list[str]) -> Iterator[Finding]:
        """What is true by now. `gone`: whether a connection has ended; None where nobody knows."""
        yield from self.found
        for partition, waiting in self._open.items():
            for one in waiting:
                if not one.contents or one.error is None:
                    continue
                later = self._accepted.get((one.client.connection, partition[0]))
                if later is not None and later.began <= one.last.ended:
                    later = None
                if one.is_unclear:
                    undecided.append(
                        f"{partition[0]}-{partition[1]}: {one.contents.total()} records were refused with "
                        f"{error_name(one.error)}, and sent without an answer, too: they may be written"
                    )
                    continue
                if later is None and not gone(one.client.connection):
                    undecided.append(
                        f"{partition[0]}-{partition[1]}: {one.contents.total()} records were refused with "
                        f"{error_name(one.error)}, and client {one.client.client_id!r} may still repeat them"
                    )
                    continue
                count = one.contents.total()
                records, were = ("records", "were") if count > 1 else ("record", "was")
                cause = (
                    f"{count} {records} of client {one.client.client_id!r} {were} refused with "
                    f"{error_name(one.error)}, which can be tried again, and {were} never written"
                )
                yield found("refused_and_given_up", cause, one.at, one.last, later, partition=partition)


def _is_unclear(error: int | None) -> bool:
    """Whether a batch with this error may be written."""
    return error is None or error in _MAYBE_WRITTEN
