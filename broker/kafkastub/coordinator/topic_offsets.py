"""The committed offsets of one group and topic: hard state, changed by records only (`TopicOffsets.put`, `remove`).

A million offsets have to fit, so one group's offsets of one topic are columns, not objects: a slot a partition in
parallel arrays, about 40 bytes each. The slot of a partition is its index while the indices are dense; a group that
commits a few far-apart partitions gets a dictionary from partition to slot instead.

One column is no state but the log's: where in `__consumer_offsets` an offset's record stood that the log has compacted
away since. It fills this in, to tell later what is left of such records; a new commit makes it `NOWHERE` again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from kafkastub.coordinator.records import (
    NO_TIMESTAMP,
    CommittedOffset,
    OffsetCommit,
    PackedRun,
    Partitions,
    RequestedRun,
    is_run,
    packed,
)
from kafkawire.rows import Run
from kafkawire.schema import ZERO_UUID

_ABSENT = -(2**63)
"""In the column of commit timestamps: this slot holds no offset."""

NOWHERE = -1
"""The place of a record that the log still has, or that was never on one."""

_NOTHING = (-1, -1, "")
"""What is read where there is no offset."""

_BULK = 16
"""From so many partitions on, a run of neighbours is stored by slices."""


class TopicOffsets:
    """One group's committed offsets of one topic.

    Attributes:
        count: how many partitions have a committed offset.
        oldest: no commit in here is older than this, broker milliseconds; a bound, not always met.

    A consumer commits the same partitions over and over: as long as it does, only its last commit is kept (`_again`),
    and stored in the columns when somebody looks at them or commits anything else.
    """

    __slots__ = (
        "_again",
        "_commit_ts",
        "_epochs",
        "_expire_ts",
        "_free",
        "_metadata",
        "_offsets",
        "_places",
        "_read",
        "_run",
        "_slots",
        "_topic_ids",
        "count",
        "oldest",
    )

    def __init__(self) -> None:
        self.count = 0
        self.oldest = 2**63
        self._slots: dict[int, int] | None = None
        self._free: list[int] = []
        self._offsets = array("q")
        self._epochs = array("i")
        self._metadata: list[str] = []
        self._commit_ts = array("q")
        self._places = array("q")
        self._expire_ts: array[int] | None = None
        self._topic_ids: bytes | list[bytes] = b""
        self._run: RequestedRun | None = None
        """The partitions of the last commit, where another one like it may wait in `_again`."""
        self._again: OffsetCommit | None = None
        """The last commit, where the columns do not have it yet: of the partitions of `_run` and no others."""
        self._read: tuple[Sequence[int], bytes, PackedRun] | None = None
        """What `read_run` gave last, and for which partitions and topic id."""

    def copy(self) -> TopicOffsets:
        """Others that are the same; commits, which nobody changes, are shared."""
        copied = TopicOffsets.__new__(TopicOffsets)  # by hand: there may be a hundred thousand
        copied.count, copied.oldest = self.count, self.oldest
        copied._slots = None if self._slots is None else self._slots.copy()
        copied._free = self._free.copy()
        copied._offsets, copied._epochs = self._offsets[:], self._epochs[:]
        copied._metadata, copied._commit_ts, copied._places = self._metadata[:], self._commit_ts[:], self._places[:]
        copied._expire_ts = None if self._expire_ts is None else self._expire_ts[:]
        copied._topic_ids = self._topic_ids[:]
        copied._run, copied._again, copied._read = self._run, self._again, self._read
        return copied

    # -- reading -------------------------------------------------------------------------------------------------

    def slot(self, partition: int) -> int:
        """The slot of a partition's committed offset, or -1 where there is none."""
        if self._again is not None:
            self._catch_up()
        if self._slots is not None:
            return self._slots.get(partition, -1)
        if 0 <= partition < len(self._commit_ts) and self._commit_ts[partition] != _ABSENT:
            return partition
        return -1

    def offset_epoch_metadata(self, slot: int) -> tuple[int, int, str]:
        """What OffsetFetch answers, of a slot that is not -1."""
        return self._offsets[slot], self._epochs[slot], self._metadata[slot]

    def topic_id(self, slot: int) -> bytes:
        """The topic id that the offset was committed under."""
        ids = self._topic_ids
        return ids if isinstance(ids, bytes) else ids[slot]

    def commit_timestamp(self, slot: int) -> int:
        """When the offset was committed, broker milliseconds."""
        return self._commit_ts[slot]

    def expire_timestamp(self, slot: int) -> int:
        """When an offset that was committed with its own retention expires, else -1."""
        return NO_TIMESTAMP if self._expire_ts is None else self._expire_ts[slot]

    @property
    def explicit_expiry(self) -> bool:
        """Whether any offset in here may carry its own expiry."""
        return self._expire_ts is not None

    def get(self, partition: int) -> CommittedOffset | None:
        """A partition's committed offset."""
        slot = self.slot(partition)
        return None if slot < 0 else self.at(slot)

    def partitions(self) -> list[int]:
        """The partitions with a committed offset; ascending, or in the order of their first commit if far apart."""
        if self._again is not None:
            self._catch_up()
        if self._slots is not None:
            return list(self._slots)
        return [i for i, ts in enumerate(self._commit_ts) if ts != _ABSENT]

    def items(self) -> Iterator[tuple[int, CommittedOffset]]:
        """Every partition with its committed offset."""
        for partition in self.partitions():
            yield partition, self.at(self.slot(partition))

    def at(self, slot: int) -> CommittedOffset:
        """A committed offset, of a slot that is not -1."""
        return CommittedOffset(
            *self.offset_epoch_metadata(slot),
            self._commit_ts[slot],
            self.expire_timestamp(slot),
            self.topic_id(slot),
        )

    # -- writing: by records only --------------------------------------------------------------------------------

    def put(self, commit: OffsetCommit) -> None:
        """Store what a commit record says of this topic."""
        partitions, timestamp, expiry = commit.partitions, commit.commit_timestamp, commit.expire_timestamp
        if timestamp < self.oldest:
            self.oldest = timestamp
        self._read = None
        if isinstance(partitions, Run):
            run = self._run
            if (
                run is not None
                and run.same_rows(partitions)
                and commit.topic_id == self._topic_ids
                and expiry == NO_TIMESTAMP
            ):
                self._again = commit
                return
        if self._again is not None:
            self._catch_up()
        self._run = None
        self._put(commit, timestamp, expiry)

    def _catch_up(self) -> None:
        """Store the last commit in the columns."""
        commit, self._again = self._again, None
        assert commit is not None
        assert isinstance(commit.partitions, Run)
        self._put_run(packed(commit.partitions), commit.commit_timestamp, NO_TIMESTAMP)

    def _put(self, commit: OffsetCommit, timestamp: int, expiry: int) -> None:
        partitions, commit_ts = commit.partitions, self._commit_ts
        if expiry != NO_TIMESTAMP and self._expire_ts is None:
            self._expire_ts = array("q", [NO_TIMESTAMP]) * len(commit_ts)
        uniform = self._topic_ids == commit.topic_id
        if not uniform:
            uniform = self._take_topic_id(commit.topic_id)
        if uniform and self._slots is None and (isinstance(partitions, PackedRun | Run) or len(partitions) >= _BULK):
            run = _pack(partitions)
            if run is not None and 0 <= run.first <= len(commit_ts):
                self._put_run(run, timestamp, expiry)
                if not isinstance(partitions, Run):
                    commit.partitions = run
                elif self._expire_ts is None:
                    self._run = partitions
                return
        offsets, epochs, metadata, places = self._offsets, self._epochs, self._metadata, self._places
        for p in partitions:
            slot = p.partition_index
            if self._slots is not None or slot >= len(commit_ts):
                slot = self._make_slot(slot)  # may replace the columns
                offsets, epochs, metadata, commit_ts = self._offsets, self._epochs, self._metadata, self._commit_ts
                places = self._places
            if commit_ts[slot] == _ABSENT:
                self.count += 1
            offsets[slot] = p.committed_offset
            epochs[slot] = p.committed_leader_epoch
            metadata[slot] = p.committed_metadata or ""
            commit_ts[slot] = timestamp
            places[slot] = NOWHERE
            if self._expire_ts is not None:
                self._expire_ts[slot] = expiry
            if not uniform:
                self._topic_ids[slot] = commit.topic_id  # type: ignore[index]

    def _put_run(self, run: PackedRun, timestamp: int, expiry: int) -> None:
        """Store neighbours by slices. They begin within the columns or right behind them."""
        first, size = run.first, len(run.offsets)
        end = first + size
        if self.count == len(self._commit_ts):  # no gaps
            self.count = max(self.count, end)
        else:
            known = self._commit_ts[first:end]
            self.count += size - len(known) + known.count(_ABSENT)
        self._offsets[first:end] = run.offsets
        self._epochs[first:end] = run.epochs
        self._metadata[first:end] = run.metadata
        self._commit_ts[first:end] = array("q", [timestamp]) * size
        self._places[first:end] = array("q", [NOWHERE]) * size
        if self._expire_ts is not None:
            self._expire_ts[first:end] = array("q", [expiry]) * size

    def read(self, partition: int, topic_id: bytes) -> tuple[int, int, str]:
        """(offset, leader epoch, metadata), or (-1, -1, "") where there is none.

        `topic_id`: only what was committed under this id, or under none; zeros are any.
        """
        if self._again is not None:
            self._catch_up()
        slot, ids = partition, self._topic_ids
        if self._slots is not None:
            slot = self._slots.get(partition, -1)
        if not 0 <= slot < len(self._commit_ts) or self._commit_ts[slot] == _ABSENT:
            return _NOTHING
        if not _same_topic(ids if isinstance(ids, bytes) else ids[slot], topic_id):
            return _NOTHING
        return self._offsets[slot], self._epochs[slot], self._metadata[slot]

    def read_run(self, partitions: Sequence[int], topic_id: bytes) -> PackedRun | None:
        """Of many, in columns; None unless the partitions are neighbours that all have an offset.

        As long as nothing changes it is the same object.
        """
        if self._read is not None and self._read[0] == partitions and self._read[1] == topic_id:
            return self._read[2]
        if self._again is not None:
            self._catch_up()
        if self._slots is not None or not isinstance(self._topic_ids, bytes):
            return None
        first, end = partitions[0], partitions[0] + len(partitions)
        if first < 0 or end > len(self._commit_ts) or not is_run(partitions):
            return None
        if not _same_topic(self._topic_ids, topic_id):
            return None
        if self.count < len(self._commit_ts) and _ABSENT in self._commit_ts[first:end]:
            return None
        run = PackedRun(first, self._offsets[first:end], self._epochs[first:end], self._metadata[first:end])
        self._read = partitions, topic_id, run
        return run

    def _make_slot(self, partition: int) -> int:
        """A slot for a partition that the columns do not reach yet, or that is looked up by dictionary."""
        if self._slots is None:
            if partition < 2 * len(self._commit_ts) + 64:
                self._grow(partition + 1 - len(self._commit_ts))
                return partition
            self._become_sparse()
        assert self._slots is not None
        slot = self._slots.get(partition, -1)
        if slot < 0:
            if self._free:
                slot = self._free.pop()
            else:
                slot = len(self._commit_ts)
                self._grow(1)
            self._slots[partition] = slot
        return slot

    def _grow(self, size: int) -> None:
        self._offsets.extend([0] * size)
        self._epochs.extend([-1] * size)
        self._metadata.extend([""] * size)
        self._commit_ts.extend([_ABSENT] * size)
        self._places.extend([NOWHERE] * size)
        if self._expire_ts is not None:
            self._expire_ts.extend([NO_TIMESTAMP] * size)
        if isinstance(self._topic_ids, list):
            self._topic_ids.extend([b""] * size)

    def _become_sparse(self) -> None:
        """Close the gaps and look partitions up by dictionary from now on."""
        kept = self.partitions()
        self._offsets = array("q", [self._offsets[i] for i in kept])
        self._epochs = array("i", [self._epochs[i] for i in kept])
        self._metadata = [self._metadata[i] for i in kept]
        self._commit_ts = array("q", [self._commit_ts[i] for i in kept])
        self._places = array("q", [self._places[i] for i in kept])
        if self._expire_ts is not None:
            self._expire_ts = array("q", [self._expire_ts[i] for i in kept])
        if isinstance(self._topic_ids, list):
            self._topic_ids = [self._topic_ids[i] for i in kept]
        self._slots = {partition: slot for slot, partition in enumerate(kept)}

    def _take_topic_id(self, topic_id: bytes) -> bool:
        """All offsets of a topic have one id, as a rule; a list of ids is for logs in which they have not.

        Whether they still have one.
        """
        if not self.count:
            self._topic_ids = topic_id
        elif isinstance(self._topic_ids, bytes):
            self._topic_ids = [self._topic_ids] * len(self._commit_ts)
        return isinstance(self._topic_ids, bytes)

    def remove(self, partition: int) -> bool:
        """Forget a partition's offset; whether there was one."""
        slot = self.slot(partition)
        if slot < 0:
            return False
        self.count -= 1
        self._run = self._read = None
        self._commit_ts[slot] = _ABSENT
        self._metadata[slot] = ""
        if self._slots is not None:
            del self._slots[partition]
            self._free.append(slot)
        return True

    # -- the log's column ----------------------------------------------------------------------------------------

    def note_log_offset(self, commit: OffsetCommit, place: int) -> None:
        """The records of a commit stood on the log from that offset on; it is noted where there was no newer commit.

        What has the same timestamp and offset counts as that commit: a newer one alike would stand in for it.
        """
        partitions, timestamp = commit.partitions, commit.commit_timestamp
        if self._again is not None:
            run = self._run
            if (
                run is not None
                and self._again is not commit
                and isinstance(partitions, Run)
                and run.same_rows(partitions)
            ):
                return  # there is a newer commit of the same
            self._catch_up()
        if isinstance(partitions, Run) and partitions.size > 1:
            partitions = packed(partitions)
        commit_ts, offsets = self._commit_ts, self._offsets
        if isinstance(partitions, PackedRun) and self._slots is None:
            size, first = len(partitions.offsets), partitions.first
            here = commit_ts[first : first + size]
            if here and here == array("q", [here[0]]) * size:  # all by one commit, this or a newer one
                if here[0] != timestamp:
                    return
                if offsets[first : first + size] == partitions.offsets:
                    self._places[first : first + size] = array("q", range(place, place + size))
                    return
        known, slots = len(commit_ts), self._slots
        if len(partitions) == 1 and slots is None and not isinstance(partitions, PackedRun):
            slot = partitions[0].partition_index
            if slot < known and commit_ts[slot] == timestamp and offsets[slot] == partitions[0].committed_offset:
                self._places[slot] = place
            return
        for at, p in enumerate(partitions, place):
            slot = p.partition_index if slots is None else slots.get(p.partition_index, -1)
            if 0 <= slot < known and commit_ts[slot] == timestamp and offsets[slot] == p.committed_offset:
                self._places[slot] = at

    def place(self, slot: int) -> int:
        """The log offset of the compacted record behind an offset, or NOWHERE; of a slot that is not -1."""
        return self._places[slot]

    def logged_before(self, end: int) -> list[tuple[int, int]]:
        """(log offset, partition) of every offset whose compacted record stood before `end` on the log."""
        if self._slots is None:
            columns = zip(self._places, self._commit_ts, strict=True)
            return [(at, i) for i, (at, ts) in enumerate(columns) if NOWHERE < at < end and ts != _ABSENT]
        return [(at, p) for p, slot in self._slots.items() if NOWHERE < (at := self._places[slot]) < end]


def _pack(partitions: Partitions) -> PackedRun | None:
    """Neighbours in ascending order as columns, None where the partitions are no such run."""
    if isinstance(partitions, PackedRun):
        return partitions
    if isinstance(partitions, Run):
        return packed(partitions)
    if not is_run([p.partition_index for p in partitions]):
        return None
    return PackedRun(
        partitions[0].partition_index,
        array("q", [p.committed_offset for p in partitions]),
        array("i", [p.committed_leader_epoch for p in partitions]),
        [p.committed_metadata or "" for p in partitions],
    )


def _same_topic(committed: bytes, wanted: bytes) -> bool:
    """Whether two ids may be of one topic; zeros are of any."""
    return wanted == ZERO_UUID or committed in (wanted, ZERO_UUID)
