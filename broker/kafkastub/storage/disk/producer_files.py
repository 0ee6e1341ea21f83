"""What of producers is written beside a segment, in Kafka's own files: aborted transactions, and snapshots.

    <offset>.txnindex   the aborted transactions whose markers are in the segment (TransactionIndex, AbortedTxn)
    <offset>.snapshot   the producers as they were at that offset (ProducerStateManager.writeSnapshot)

Both can be made from the records, as far as these are there: so nobody waits until the disk has them, and one that is
damaged counts as missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from struct import Struct, error
from typing import Final

from kafkastub.storage.log_transactions import AbortedTransaction
from kafkastub.storage.producers import AppendedBatch, ProducerEntry
from kafkawire.records import NO_SEQUENCE
from kafkawire.records.checksum import crc32c

ABORTED_SUFFIX: Final = ".txnindex"
SNAPSHOT_SUFFIX: Final = ".snapshot"

_ABORTED: Final = Struct(">hqqqq")
_ABORTED_VERSION: Final = 0
_HEAD: Final = Struct(">hI")
_COUNT: Final = Struct(">i")
_ENTRY: Final = Struct(">qhiqiqiq")
_SNAPSHOT_VERSION: Final = 1
_NOWHERE: Final = -1
_LAST_SEQUENCE: Final = 0x7FFFFFFF


def encode_aborted(aborted: AbortedTransaction) -> bytes:
    """An entry of a `.txnindex`."""
    return _ABORTED.pack(_ABORTED_VERSION, *aborted)


def read_aborted(path: Path) -> tuple[list[AbortedTransaction], bool]:
    """The entries of a `.txnindex`, as far as they are whole, and whether there is what was never written.

    None where there is no such file. OSError.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], False
    rows = list(_ABORTED.iter_unpack(data[: len(data) - len(data) % _ABORTED.size]))
    known = [AbortedTransaction(*fields) for version, *fields in rows if version == _ABORTED_VERSION]
    return known, len(known) < len(rows)


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    """The contents of a `.snapshot`."""
    packed = [
        _ENTRY.pack(
            entry.producer_id,
            entry.epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.batches[-1].last_offset - entry.batches[-1].first_offset if entry.batches else 0,
            entry.last_timestamp,
            entry.coordinator_epoch,
            _NOWHERE if entry.transaction_start is None else entry.transaction_start,
        )
        for entry in entries
    ]
    body = _COUNT.pack(len(packed)) + b"".join(packed)
    return _HEAD.pack(_SNAPSHOT_VERSION, crc32c(body)) + body


def read_snapshot(path: Path) -> list[ProducerEntry] | None:
    """The producers in a `.snapshot`; None where it is damaged or not there.

    The broker time of their last appends is not in it: their records' own time stands for it.
    """
    try:
        data = path.read_bytes()
        version, crc = _HEAD.unpack_from(data)
        (count,) = _COUNT.unpack_from(data, _HEAD.size)
    except (OSError, error):
        return None
    entries = data[_HEAD.size + _COUNT.size :]
    if version != _SNAPSHOT_VERSION or crc32c(data[_HEAD.size :]) != crc or len(entries) != count * _ENTRY.size:
        return None
    return [_entry(*fields) for fields in _ENTRY.iter_unpack(entries)]


def _entry(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    transaction_start: int,
) -> ProducerEntry:
    entry = ProducerEntry(producer_id)
    entry.epoch, entry.coordinator_epoch = epoch, coordinator_epoch
    entry.last_timestamp = entry.appended_ms = timestamp
    entry.transaction_start = None if transaction_start == _NOWHERE else transaction_start
    if last_offset >= 0 and last_sequence != NO_SEQUENCE:
        first_sequence = last_sequence - offset_delta & _LAST_SEQUENCE  # the numbers begin anew behind the last
        entry.appended(AppendedBatch(first_sequence, last_sequence, last_offset - offset_delta, last_offset, timestamp))
    return entry


def snapshot_path(directory: Path, offset: int) -> Path:
    """Kafka's name of a snapshot."""
    return directory / f"{offset:020d}{SNAPSHOT_SUFFIX}"
