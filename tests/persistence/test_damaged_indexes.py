"""A bit that is another in a file beside a segment: the batches win, and the log says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kafkawire.records import HEADER_SIZE, NewRecord, build_batch, iterate_records
from tests.persistence.test_producers import TRANSACTIONAL, Kept

INDEX = "orders-0/00000000000000000000.txnindex"


def readable(kept: Kept, start: int) -> list[int]:
    """Offsets that a reader of committed records is given from `start` on, as clients choose them."""
    log, found, left_out = kept.log, list[int](), set[int]()
    told = log.aborted_in_read(start, log.size) if start < log.log_end_offset else None
    aborted = [] if told is None else sorted(zip(told.first_offsets, told.producer_ids, strict=True))
    for batch in log.batches_from(start):
        header = batch.header()
        if header.base_offset >= log.last_stable_offset:
            break
        while aborted and aborted[0][0] <= header.last_offset:
            left_out.add(aborted.pop(0)[1])
        if header.control:
            left_out.discard(header.producer_id)
        elif not header.transactional or header.producer_id not in left_out:
            payload = b"".join(batch.chunks)[HEADER_SIZE:]
            found += [record.offset for record in iterate_records(payload, header)]
    return found


def append(kept: Kept, now_ms: int, producer_id: int, epoch: int, sequence: int) -> None:
    batch = build_batch(
        [NewRecord(b"k", b"v", now_ms)],
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        attributes=TRANSACTIONAL,
    )
    kept.log.append(batch, leader_epoch=0, now_ms=now_ms)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """Transactions of two producers beside each other, after an orderly end; one is open still."""
    kept = Kept(tmp_path / "left")
    clock = iter(range(100))
    for round_, commit in enumerate((True, False, True, False, False)):
        kept.write(b"p", next(clock))
        for producer_id, sequence in ((7, 0), (8, 0), (7, 1)):
            append(kept, next(clock), producer_id, round_, sequence)
        kept.end(7, commit, next(clock), epoch=round_ + 1)
        append(kept, next(clock), 8, round_, 1)
        kept.end(8, not commit, next(clock), epoch=round_ + 1)
    append(kept, next(clock), 7, 5, 0)
    kept.log.leave()
    return tmp_path / "left"


def of(directory: Path, copy: Path) -> Kept:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(directory, copy, ignore=shutil.ignore_patterns(".lock"))
    return Kept(copy)


def test_aborted_records_were_readable_after_a_flipped_bit_in_an_index(left: Path, tmp_path: Path):
    index = left / INDEX
    sound = index.read_bytes()
    with capture_logs() as said:
        kept = of(left, tmp_path / "sound")
    ends = range(kept.log.log_end_offset)
    wanted = [readable(kept, start) for start in ends]
    assert wanted[0]
    assert said == []
    mended = 0
    for at in range(len(sound)):
        damaged = bytearray(sound)
        damaged[at] ^= 1 << (at * 5 % 8)
        index.write_bytes(damaged)
        copy = tmp_path / "copy"
        with capture_logs() as said:
            kept = of(left, copy)
        assert [readable(kept, start) for start in ends] == wanted, f"byte {at}"
        now = (copy / INDEX).read_bytes()
        assert now in (sound, damaged), f"byte {at}"
        assert [INDEX in line["event"] for line in said] == [True] * (now == sound), f"byte {at}"
        mended += now == sound
    assert mended > len(sound) * 0.9  # what is left says of a batch that is not there what might have been so


@pytest.mark.parametrize("lost", [1, 34, 35, 68])
def test_an_index_that_a_killed_process_left_short_is_made_whole(left: Path, tmp_path: Path, lost: int):
    index = left / INDEX
    sound = index.read_bytes()
    index.write_bytes(sound[:-lost])
    of(left, tmp_path / "copy")
    assert (tmp_path / "copy" / INDEX).read_bytes() == sound


def test_a_damaged_snapshot_of_producers_went_without_a_word(left: Path, tmp_path: Path):
    (snapshot,) = (left / "orders-0").glob("*.snapshot")
    whole = snapshot.read_bytes()
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        snapshot.write_bytes(damaged)
        with capture_logs() as said:
            kept = of(left, tmp_path / "copy")
        assert kept.log.last_stable_offset == 35
        assert [snapshot.name in line["event"] for line in said] == [True], f"byte {at}"
