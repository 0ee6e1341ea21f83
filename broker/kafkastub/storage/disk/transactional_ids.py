"""Which producer id and epoch each transactional id had, as versions wrote it down that had no `__transaction_state`.

A small log of records, a later one of an id in place of those before. It is read once, and goes when what it says is in
`__transaction_state`.
"""

from __future__ import annotations

from struct import Struct, error
from typing import Final, NamedTuple

from kafkastub.storage.batches import batches_of
from kafkastub.storage.errors import DataDirError
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, iterate_records

from .journal import Disk
from .scan import read_segments

DIRECTORY: Final = ".transactional-ids"
_VALUE: Final = Struct(">qhh")


class Kept(NamedTuple):
    """What a transactional id has.

    Attributes:
        last_epoch: the epoch that its last bump was asked for with; -1 where it was asked for with none.
    """

    producer_id: int
    epoch: int
    last_epoch: int


def read_transactional_ids(disk: Disk) -> dict[str, Kept]:
    """What each has. DataDirError, OSError."""
    found: dict[str, Kept] = {}
    directory = disk.directory.root / DIRECTORY
    if not directory.is_dir():
        return found
    for segment, data in read_segments(directory, disk.log):
        try:
            for header, whole in batches_of(data):
                for record in iterate_records(whole[HEADER_SIZE:], header):
                    found[(record.key or b"").decode(errors="surrogatepass")] = Kept(
                        *_VALUE.unpack(record.value or b"")
                    )
        except (KafkaError, ValueError, error) as why:
            raise DataDirError(f"{segment.path} is damaged: no transactional ids ({why})") from None
    return found


def forget_transactional_ids(disk: Disk) -> None:
    """They are in `__transaction_state`: remove the log, once all that is written by now is on the disk."""
    directory = disk.directory.root / DIRECTORY
    if directory.is_dir():
        disk.doom(directory)
