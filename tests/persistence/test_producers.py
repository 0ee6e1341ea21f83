"""What a log's files tell of its producers when some of their records are gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import structlog

from kafkastub.storage import LogSettings, Marker
from kafkastub.storage.disk import DataDirectory, Disk, Flush
from kafkastub.storage.disk.logs import DiskLog
from kafkastub.storage.disk.partition_files import OpenFiles, PartitionFiles
from kafkastub.storage.upkeep import Upkeep
from kafkawire.records import NewRecord, build_batch
from tests.persistence.test_flush import ByHand

TRANSACTIONAL = 0x10
COMPACTED = LogSettings(compact=True, delete=False, delete_retention_ms=1000, producers_expire_ms=5000)


class Kept:
    """A log in a data directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.runner = ByHand()
        directory = DataDirectory(root, 1)
        if directory.is_new:
            directory.initialise("cluster")
        disk = Disk(directory, Flush.parse("never"), self.runner, structlog.get_logger())
        self.log = DiskLog("orders-0", COMPACTED, 0, disk)
        self.log.attach(
            PartitionFiles(disk, OpenFiles(), lambda: directory.partition("orders-0"), lambda: 1 << 20, keeps_time=True)
        )
        self.log.restore(0)
        self._upkeep = Upkeep(self.log)

    def write(self, key: bytes, now_ms: int, producer_id: int = -1) -> None:
        record = NewRecord(key, b"v", now_ms)
        batch = build_batch([record])
        if producer_id >= 0:
            batch = build_batch(
                [record], producer_id=producer_id, producer_epoch=0, base_sequence=0, attributes=TRANSACTIONAL
            )
        self.log.append(batch, leader_epoch=0, now_ms=now_ms)

    def end(self, producer_id: int, commit: bool, now_ms: int, epoch: int = 1) -> None:
        marker = Marker(producer_id, epoch, commit, transaction_version=2)
        self.log.append_marker(marker, leader_epoch=0, now_ms=now_ms)

    def begin_compaction(self, now_ms: int) -> None:
        self._upkeep.run(now_ms)

    def compact(self, now_ms: int) -> None:
        """Until the files are rewritten."""
        self.begin_compaction(now_ms)
        while self.runner.jobs:
            self.runner.sync()

    def killed(self, copy: Path) -> Kept:
        """What a start finds that a killed process has left."""
        shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns(".lock"))
        return Kept(copy)


def test_a_transaction_is_over_though_its_producer_has_expired_and_its_marker_is_gone(tmp_path: Path):
    first = Kept(tmp_path / "first")
    first.write(b"k", 0)
    first.write(b"k", 1)
    first.write(b"t", 2, producer_id=7)
    first.compact(3)  # a segment ends, and what is written down of its producers has an open transaction
    first.end(7, commit=False, now_ms=4)
    first.write(b"x", 20_002, producer_id=8)  # the first expires
    first.end(8, commit=True, now_ms=20_003)
    first.write(b"k", 20_004)
    first.compact(20_005)
    assert first.log.last_stable_offset == first.log.log_end_offset
    second = first.killed(tmp_path / "second")
    assert [batch.base_offset for batch in second.log.batches_from(0)] == [4, 5, 6]
    assert second.log.last_stable_offset == second.log.log_end_offset


def test_aborted_records_do_not_come_back_without_their_marker(tmp_path: Path):
    """They go while the files are being rewritten for the sake of others, and it goes much later."""
    first = Kept(tmp_path / "first")
    first.write(b"k", 0)
    first.write(b"k", 1)
    first.begin_compaction(2)
    first.write(b"t", 3, producer_id=7)
    first.end(7, commit=False, now_ms=4)
    first.write(b"k", 5)
    first.compact(6)
    first.compact(20_000)
    second = first.killed(tmp_path / "second")
    assert [batch.base_offset for batch in second.log.batches_from(0)] == [4]
