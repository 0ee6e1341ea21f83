"""`__transaction_state` played: each transaction of each transactional id, from its begin to its end.

A transaction begins with its first record of the state Ongoing, ends when the coordinator has decided (PrepareCommit,
PrepareAbort), and is complete when its markers are written. The topic is compacted: of transactions that are over, the
log mostly has the last one of each id. Kafka: TransactionMetadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kafkastub_pipeline.decode.transactions import transaction_row
from kafkastub_pipeline.here import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPEN, COMMITTING, ABORTING, COMMITTED, ABORTED = "open", "committing", "aborting", "committed", "aborted"
_ENDING: Final = {"PrepareCommit": COMMITTING, "PrepareAbort": ABORTING, "PrepareEpochFence": ABORTING}
_ENDED: Final = {"CompleteCommit": COMMITTED, "CompleteAbort": ABORTED}
_EPOCH_RAISED_BY_END: Final = 2
_READ: Final = ("key", "value", "log_partition", "log_offset", "log_ms")

_KEYED_DDL: Final = (
    "transactional_id string, `key` binary, `value` binary, log_partition int, log_offset bigint, log_ms bigint"
)
_KEYED: Final = pa.schema(
    [
        ("transactional_id", pa.string()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
    ]
)
_LIFE_DDL: Final = (
    "transactional_id string, status string, producer_id bigint, producer_epoch smallint, timeout_ms int,"
    " partitions array<struct<topic: string, partition: int>>, started_ms bigint, ended_ms bigint,"
    " completed_ms bigint, prepared boolean, fenced boolean, session bigint, log_partition int, log_offset bigint,"
    " log_ms bigint"
)
_LIFE: Final = pa.schema(
    [
        ("transactional_id", pa.string()),
        ("status", pa.string()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("timeout_ms", pa.int32()),
        ("partitions", pa.list_(pa.struct([("topic", pa.string()), ("partition", pa.int32())]))),
        ("started_ms", pa.int64()),
        ("ended_ms", pa.int64()),
        ("completed_ms", pa.int64()),
        ("prepared", pa.bool_()),
        ("fenced", pa.bool_()),
        ("session", pa.int64()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
    ]
)


def transactions_of(raw: DataFrame) -> DataFrame:
    """A row a transaction; times are milliseconds, null where the log does not say.

    Args:
        raw: the records, as `decode.plain` gives them. What cannot be decoded is left out.
    """
    ordered = (
        mapped(raw, _keyed, _KEYED_DDL)
        .repartition("transactional_id")
        .sortWithinPartitions("transactional_id", "log_partition", "log_offset")
    )
    return mapped(ordered, _lives, _LIFE_DDL)


def _keyed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker: whose each record is."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in _READ]
        rows = []
        for key, value, *place in zip(*columns, strict=True):
            found = transaction_row(key, None)
            if "error" not in found:
                row = found["transactional_id"], key, value, *place
                rows.append(dict(zip(_KEYED.names, row, strict=True)))
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=_KEYED)


def _lives(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker over records sorted by transactional id and place on the log."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, records in groupby(rows, key=lambda row: row["transactional_id"]):
        found = list(lives(records))
        if found:
            yield pa.RecordBatch.from_pylist(found, schema=_LIFE)


def lives(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The transactions of one transactional id, in their order.

    `prepared` is whether the log has the decision itself, so that `ended_ms` is its time; `fenced` whether the
    coordinator took the epoch from the producer, because of its timeout or of another InitProducerId, None where the
    log does not say; `session` is the log offset of the InitProducerId that the producer began with, None likewise.

    Args:
        records: with `transactional_id`, `key`, `value` and their places, in the order of the log.
    """
    current: dict[str, Any] | None = None
    session: int | None = None
    for record in records:
        found = transaction_row(record["key"], record["value"])
        state = found.get("state")
        if state == "Ongoing":
            if current is not None and current["started_ms"] != _time(found["started_ms"]):
                yield current  # its end is not on the log any more
                current = None
            current = _begun(current, record, found, session) | {"status": OPEN, "partitions": found["partitions"]}
        elif state in _ENDING:
            fenced = _is_fenced(current, found)
            current = _begun(current, record, found, session)
            partitions = found["partitions"] or current["partitions"]
            decided = {"ended_ms": found["updated_ms"], "prepared": True, "fenced": fenced}
            current |= {"status": _ENDING[state], "partitions": partitions} | decided
        elif state in _ENDED:
            ended = _begun(current, record, found, session)
            ended_ms = ended["ended_ms"] if ended["ended_ms"] is not None else found["updated_ms"]
            yield ended | {"status": _ENDED[state], "ended_ms": ended_ms, "completed_ms": found["updated_ms"]}
            current = None
        elif state == "Empty":
            session = record["log_offset"]
        elif found["tombstone"] or state == "Dead":
            current = None
    if current is not None:
        yield current


def _begun(
    current: dict[str, Any] | None, record: dict[str, Any], found: dict[str, Any], session: int | None
) -> dict[str, Any]:
    """What is known of the transaction with this record, which is the newest of it."""
    place = {name: record[name] for name in ("transactional_id", "log_partition", "log_offset", "log_ms")}
    if current is not None:
        return current | place
    names = "producer_id", "producer_epoch", "timeout_ms", "partitions"
    times = {"started_ms": _time(found["started_ms"]), "ended_ms": None, "completed_ms": None}
    of_log = {"prepared": False, "fenced": None, "session": session, "version": found["client_transaction_version"]}
    return place | {name: found[name] for name in names} | times | of_log


def _is_fenced(current: dict[str, Any] | None, found: dict[str, Any]) -> bool | None:
    """Whether the end raises the epoch, as a producer's own request does from transactions of version 2 on (KIP-890).

    Kafka: prepareFenceProducerEpoch.
    """
    if current is None or current["status"] != OPEN or current["producer_id"] != found["producer_id"]:
        return None
    return None if current["version"] >= _EPOCH_RAISED_BY_END else current["producer_epoch"] < found["producer_epoch"]


def _time(milliseconds: int) -> int | None:
    return None if milliseconds < 0 else milliseconds
