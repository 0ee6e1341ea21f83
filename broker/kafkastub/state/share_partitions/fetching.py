"""A share fetch on its way: from which share partitions it may acquire, whether there is enough, what it acquires.

Kafka: DelayedShareFetch, ShareFetchUtils.processFetchResponse, ReplicaManager.readFromLog. All that happens in one go
here, so that nobody has to lock a share partition against others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from kafkastub.share_partitions.log_batches import AbortedTransaction, Acquired, count_of
from kafkastub.state.share_coordinator.needed_state import NeededState
from kafkastub.state.share_partitions.partition_cache import Live
from kafkastub.state.share_partitions.reading import batches_in, sent, shares
from kafkastub.storage import PartitionLog, Read
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Records

_NOTHING: Final = Read([], 0)


class Wanted(NamedTuple):
    """What a share fetch asks for.

    Attributes:
        acquire_mode: 0 batch optimised, 1 record limit (ShareAcquireMode).
        committed: whether the group reads committed records only.
    """

    group_id: str
    member_id: str
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    acquire_mode: int
    committed: bool


class Fetched(NamedTuple):
    """What a share fetch is told of one partition."""

    live: Live
    error_code: int
    records: Records
    acquired: Sequence[Acquired]


_Results = dict[Live, Read | KafkaError]


class ShareFetching:
    """One request, from share partitions that were there when it came.

    Args:
        acquired: is told that there are new locks in a share partition.
        fetched: is told where there were records.
    """

    def __init__(
        self,
        state: NeededState,
        wanted: Wanted,
        lives: Iterable[Live],
        acquired: Callable[[Live, int], None],
        fetched: Callable[[Sequence[Live]], None],
    ) -> None:
        self._state = state
        self._wanted = wanted
        self._lives = [*lives]
        self._told = acquired
        self._fetched = fetched
        self._ready: tuple[dict[Live, int], _Results] | None = None

    def keys(self) -> list[tuple[bytes, int]]:
        """What it waits for: something may be read, or may have become available."""
        return [key for live in self._lives for key in (live.key, (live.topic_id, live.index))]

    def is_ready(self) -> bool:
        """Is there enough, or something that has to be told (DelayedShareFetch.tryComplete)?"""
        offsets = self._offsets()
        if not offsets or (self._wanted.min_bytes > 0 and self._are_at_the_end(offsets)):
            return False
        unknown = [live for live, offset in offsets.items() if live.known_offset != offset]
        results = self._read(offsets, unknown, len(offsets)) if unknown else {}
        failed = False
        for live, result in results.items():
            if isinstance(result, KafkaError):
                failed = True
            else:
                live.known_offset = offsets[live]
        if failed or self._is_enough(offsets):
            self._ready = offsets, results
            return True
        return False

    def finish(self, timer_ms: int) -> list[Fetched]:
        """Acquire what there is now (DelayedShareFetch.onComplete)."""
        offsets, results = (self._offsets(), {}) if self._ready is None else self._ready
        if offsets:
            missing = [live for live in offsets if live not in results]
            if missing:
                results = {**self._read(offsets, missing, len(offsets)), **results}
        left = self._wanted.max_records
        fetched = []
        for live, result in results.items():
            one = self._acquire(live, offsets[live], result, left, timer_ms)
            left -= count_of(one.acquired)
            fetched.append(one)
        self._fetched([live for live, result in results.items() if isinstance(result, Read) and result.size])
        return fetched

    def _offsets(self) -> dict[Live, int]:
        """From where on each is to be read that has, or may have, something to acquire."""
        return {
            live: live.partition.next_fetch_offset()
            for live in self._lives
            if not live.fenced and live.partition.can_acquire()
        }

    def _are_at_the_end(self, offsets: dict[Live, int]) -> bool:
        """Whether there is nothing to be read: most often that is so, for many who wait for the same few records."""
        for live, offset in offsets.items():
            if offset != self._end(live.log):
                return False
            live.known_offset = offset
        return True

    def _end(self, log: PartitionLog) -> int:
        return log.last_stable_offset if self._wanted.committed else log.high_watermark

    def _read(self, offsets: dict[Live, int], lives: Sequence[Live], acquired: int) -> _Results:
        """Partition by partition within the limits; the first that has records may exceed them."""
        limits = shares(self._wanted.max_bytes, len(lives), acquired, self._state.random)
        left, at_least_one = self._wanted.max_bytes, True
        results: _Results = {}
        for live, limit in zip(lives, limits, strict=True):
            log = live.log
            upto = log.last_stable_offset if self._wanted.committed else None
            try:
                read = log.read(offsets[live], min(limit, left), at_least_one=at_least_one, upto=upto)
            except KafkaError as error:
                results[live] = error
                continue
            at_least_one = at_least_one and not read.size
            left = max(0, left - read.size)
            results[live] = read
        return results

    def _is_enough(self, offsets: dict[Live, int]) -> bool:
        limits = shares(self._wanted.max_bytes, len(offsets), len(offsets), self._state.random)
        gathered = 0
        for (live, offset), limit in zip(offsets.items(), limits, strict=True):
            log = live.log
            end = self._end(log)
            if offset > end and (offset >= log.high_watermark or log.batch_offset(offset) > end):
                return True
            if offset < end:
                available = log.bytes_after(offset, end if self._wanted.committed else None)
                if available is None:
                    return True
                gathered += min(available, limit)
        return gathered >= self._wanted.min_bytes

    def _acquire(self, live: Live, offset: int, result: Read | KafkaError, left: int, timer_ms: int) -> Fetched:
        if isinstance(result, KafkaError):
            if result.code != ErrorCode.OFFSET_OUT_OF_RANGE:
                return Fetched(live, result.code, b"", ())
            live.partition.log_start_moved(live.log.log_start_offset)
            return Fetched(live, ErrorCode.NONE, b"", ())
        if not result.size or left <= 0:
            return Fetched(live, ErrorCode.NONE, b"", ())
        wanted = self._wanted
        # More than `left` offsets behind what is in flight are acquired in no case.
        found = batches_in(result, max(offset, live.partition.end_offset) + left)
        aborted: list[AbortedTransaction] = []
        if wanted.committed:
            told = live.log.aborted_in_read(offset, result.size)
            if told is not None:
                aborted = [AbortedTransaction(*one) for one in zip(told.producer_ids, told.first_offsets, strict=True)]
        acquired = live.partition.acquire(
            wanted.member_id, wanted.acquire_mode, wanted.batch_size, left, offset, found.batches, timer_ms, aborted
        )
        self._told(live, timer_ms)
        if not acquired:
            return Fetched(live, ErrorCode.NONE, b"", ())
        return Fetched(live, ErrorCode.NONE, sent(result, found, acquired), acquired)
