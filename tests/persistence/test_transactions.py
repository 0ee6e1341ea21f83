"""Producers and transactions of a partition after a restart: left in order, or killed at any byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.storage import LogSettings, PartitionLog
from kafkastub.storage.disk import DataDirectory, Disk, DiskLog, DiskLogs, Flush
from kafkawire.records import NewRecord, build_batch, parse_header
from tests.clients.jvm import Jvm
from tests.handlers.desk import SilentLog

TOPIC = bytes(15) + b"\1"
DUMP = "org.apache.kafka.tools.DumpLogSegments"


class Inline:
    """A runner without threads; what is to be done later is not done at all."""

    def soon(self, call: Callable[[], None]) -> None:
        pass

    def later(self, ms: int, call: Callable[[], None]) -> None:
        pass

    def submit(self, job: Callable[[], None], done: Callable[[BaseException | None], None]) -> None:
        job()
        done(None)

    submit_slow = submit


@contextmanager
def opened(root: Path, log_start_offset: int = 0, *, left: bool = True, **settings: Any) -> Iterator[DiskLog]:
    """The log of the directory; `left`: the process ends in order."""
    directory = DataDirectory(root, 1)
    if directory.is_new:
        directory.initialise("cluster")
    disk = Disk(directory, Flush(), Inline(), SilentLog())
    logs = DiskLogs(None, disk)
    log = logs.create(TOPIC, 0, LogSettings(**settings), name="orders-0")
    assert isinstance(log, DiskLog)
    log.restore(log_start_offset)
    yield log
    if left:
        logs.leave()
        disk.close()
    else:
        disk.abandon()
    logs.close()


class Producers:
    """Appends in the name of several producers, who know where they are."""

    def __init__(self, log: PartitionLog) -> None:
        self.log = log

    def send(self, producer_id: int) -> None:
        entry = self.log.producer_states.entry(producer_id)
        sequence, epoch = (0, 0) if entry is None else (entry.last_sequence + 1, entry.epoch)
        batch = build_batch(
            [NewRecord(b"k", b"v" * 20, 5)] * 2,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            attributes=0x10,
        )
        self.log.append(batch, leader_epoch=0, now_ms=100)

    def end(self, producer_id: int, commit: bool) -> None:
        entry = self.log.producer_states.entry(producer_id)
        epoch = 1 if entry is None else entry.epoch + 1
        self.log.append_marker(
            producer_id, epoch, commit, coordinator_epoch=3, transaction_version=2, leader_epoch=0, now_ms=100
        )

    def do(self, step: str, producer_id: int) -> None:
        if step == "send":
            self.send(producer_id)
        elif step == "plain":
            self.log.append(build_batch([NewRecord(None, b"plain", 5)]), leader_epoch=0, now_ms=100)
        else:
            self.end(producer_id, step == "commit")


def known(log: PartitionLog) -> tuple[Any, ...]:
    """All that is to outlive a restart."""
    producers = sorted(
        (
            one.producer_id,
            one.epoch,
            one.last_sequence,
            one.last_offset,
            one.last_timestamp,
            one.coordinator_epoch,
            one.transaction_start,
        )
        for one in log.producers()
    )
    start, end = log.log_start_offset, log.log_end_offset
    return producers, (start, log.last_stable_offset, end), log.aborted_transactions(start, end)


STEPS = st.lists(
    st.tuples(st.sampled_from(["send", "send", "commit", "abort", "plain"]), st.integers(1, 3)), max_size=40
)


@given(STEPS, STEPS, st.data())
def test_a_restart_changes_nothing_whatever_was_deleted(
    before: list[tuple[str, int]], after: list[tuple[str, int]], data: st.DataObject
):
    with TemporaryDirectory() as directory:
        root = Path(directory)
        with opened(root, segment_bytes=400) as log:
            for step in before:
                Producers(log).do(*step)
            log.delete_records_before(data.draw(st.integers(0, log.log_end_offset)))
            expected = known(log)
        start = expected[1][0]
        with opened(root, start, segment_bytes=400) as log:
            assert known(log) == expected
            for step in after:
                Producers(log).do(*step)
            expected = known(log)
        with opened(root, start, segment_bytes=400) as log:
            assert known(log) == expected


@given(STEPS, st.integers(0, 300), st.booleans(), STEPS)
def test_a_killed_process_leaves_what_its_whole_batches_say(
    steps: list[tuple[str, int]], lost: int, index_too: bool, after: list[tuple[str, int]]
):
    with TemporaryDirectory() as directory:
        root = Path(directory)
        with opened(root, left=False, segment_bytes=400) as log:
            for step in steps:
                Producers(log).do(*step)
        _cut(root / "orders-0", lost, index_too)
        expected = PartitionLog("orders-0", LogSettings())
        with opened(root, left=False, segment_bytes=400) as log:
            for step in steps:
                if expected.log_end_offset == log.log_end_offset:
                    break
                Producers(expected).do(*step)
            assert known(log) == known(expected)
            for step in after:
                Producers(log).do(*step)
                Producers(expected).do(*step)
        with opened(root, left=False, segment_bytes=400) as log:
            assert known(log) == known(expected)


def _cut(partition: Path, lost: int, index_too: bool) -> None:
    """The last bytes never came to the disk."""
    segments = sorted(partition.glob("*.log")) if partition.exists() else []
    if not segments:
        return
    os.truncate(segments[-1], max(0, segments[-1].stat().st_size - lost))
    if index_too:
        for index in partition.glob("*.txnindex"):
            os.truncate(index, max(0, index.stat().st_size - lost))


def test_a_damaged_snapshot_counts_as_missing(tmp_path: Path):
    with opened(tmp_path) as log:
        Producers(log).send(1)
        expected = known(log)
    (snapshot,) = (tmp_path / "orders-0").glob("*.snapshot")
    snapshot.write_bytes(snapshot.read_bytes()[:-1] + b"\xff")
    with opened(tmp_path) as log:
        assert known(log) == expected


def test_a_producer_whose_records_are_all_deleted_is_known_again(tmp_path: Path):
    with opened(tmp_path, segment_bytes=150) as log:
        Producers(log).send(1)
        Producers(log).do("plain", 0)
        log.delete_records_before(3)
    with opened(tmp_path, 3, segment_bytes=150) as log:
        assert len(list((tmp_path / "orders-0").glob("*.log"))) == 1
        Producers(log).send(1)
        assert known(log)[0] == [(1, 0, 3, 4, 5, -1, 0)]


def test_files_that_nobody_needs_go(tmp_path: Path):
    with opened(tmp_path, segment_bytes=150) as log:
        for _ in range(20):
            Producers(log).send(1)
            Producers(log).end(1, False)
        log.delete_records_before(log.log_end_offset)
    left = [path.suffix for path in (tmp_path / "orders-0").iterdir()]
    assert sorted(left) == [".log", ".snapshot"]


def test_kafka_reads_them(tmp_path: Path, jvm: Jvm):
    with opened(tmp_path, segment_bytes=300) as log:
        producers = Producers(log)
        producers.send(1)
        producers.send(2)
        producers.end(1, False)
        producers.end(2, True)
        producers.send(1)
    partition = tmp_path / "orders-0"
    (index,) = partition.glob("*.txnindex")
    done = jvm.tool(DUMP, "--files", str(index))
    assert "version: 0 producerId: 1 firstOffset: 0 lastOffset: 4 lastStableOffset: 2" in done.out
    newest = max(partition.glob("*.snapshot"))
    done = jvm.tool(DUMP, "--files", str(newest))
    assert (
        "producerId: 1 producerEpoch: 1 coordinatorEpoch: 3 currentTxnFirstOffset: OptionalLong[6] lastTimestamp: 5 "
        "firstSequence: 0 lastSequence: 1 lastOffset: 7 offsetDelta: 1 timestamp: 5" in done.out
    )
    done = jvm.tool(DUMP, "--deep-iteration", "--files", str(index.with_suffix(".log")))
    assert "endTxnMarker: ABORT coordinatorEpoch: 3" in done.out
    assert "isvalid: false" not in done.out


def test_markers_are_batches_like_others(tmp_path: Path):
    with opened(tmp_path) as log:
        Producers(log).send(1)
        Producers(log).end(1, True)
    with opened(tmp_path) as log:
        (whole,) = log.read(2, 1000).chunks
        assert parse_header(whole).control
