"""A small log, read by the driver before Spark is started.

Spark's Kafka source starts a client a task, and has to be fetched. A log of a few thousand records is read by the
client that asks the cluster anyway, in less time than that takes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline import here
from kafkastub_pipeline.cluster import Beginnings, beginnings
from kafkastub_pipeline.connection import reader_config
from kafkastub_pipeline.topics import SHARES, TOPIC, TRANSACTIONS

if TYPE_CHECKING:
    import pyarrow as pa

SECONDS: Final = 15.0
"""After which it is left to Spark."""
_BATCH: Final = 1000


@dataclass(frozen=True)
class Held:
    """The cluster before its log is read, and what of it is here.

    Attributes:
        log: the records of `__consumer_offsets`, as `decode.plain` has them; None where Spark has to read them.
        shares: those of `__share_group_state`; None as well where there are none, or they may not be read.
        transactions: those of `__transaction_state`; None likewise.
        log_wanted, shares_wanted, transactions_wanted: whether anything is made of them that the cluster has.
    """

    begun: Beginnings
    log: pa.Table | None = None
    shares: pa.Table | None = None
    log_wanted: bool = True
    shares_wanted: bool = True
    transactions: pa.Table | None = None
    transactions_wanted: bool = False

    @property
    def needs_kafka(self) -> bool:
        """Whether Spark has to read anything of the cluster."""
        shares = self.shares_wanted and self.begun.share_partitions and self.shares is None
        transactions = self.transactions_wanted and self.begun.transaction_partitions and self.transactions is None
        return bool((self.log_wanted and self.log is None) or shares or transactions)


def held(
    bootstrap_servers: str,
    options: Sequence[tuple[str, str]] = (),
    log: bool = True,
    shares: bool = True,
    transactions: bool = False,
) -> Held:
    """Ask the cluster, and read what is small. Raises what `cluster.reached` raises.

    Args:
        log: whether the log is wanted; False where its records come from elsewhere.
        shares: whether `__share_group_state` is wanted; False where its table is not asked for.
        transactions: whether `__transaction_state` is.
    """
    begun = beginnings(bootstrap_servers, options)
    records = None
    if log:
        records = _read(bootstrap_servers, TOPIC, begun.log_partitions, begun.log_sizes, options)
    states = None
    if shares:
        states = _read(bootstrap_servers, SHARES, begun.share_partitions or 0, begun.share_sizes, options)
    begins = None
    if transactions:
        count, sizes = begun.transaction_partitions or 0, begun.transaction_sizes
        begins = _read(bootstrap_servers, TRANSACTIONS, count, sizes, options)
    return Held(begun, records, states, log, shares, begins, transactions)


def _read(
    bootstrap_servers: str,
    topic: str,
    partitions: int,
    sizes: Mapping[int, int],
    options: Sequence[tuple[str, str]],
) -> pa.Table | None:
    """Every record of a topic; None where it is not small, or does not come within the time.

    Args:
        sizes: how many records each partition holds at most. One that is missing did not answer: Spark waits for it.
    """
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition

    if not partitions or len(sizes) < partitions or sum(sizes.values()) > here.RECORDS:
        return None
    left = {partition for partition, size in sizes.items() if size}
    # an end of a partition is told when the broker has waited for more
    config = reader_config(bootstrap_servers, options, "read_committed", fetch_wait_max_ms=10)
    records: list[Any] = []
    try:
        with closing(Consumer(config)) as consumer:
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in sorted(left)])
            whole = _consumed(consumer, left, records)
    except KafkaException:
        return None
    return _table(records) if whole else None


def _consumed(consumer: Any, left: set[int], records: list[Any]) -> bool:
    """Read to the end of each partition; whether that was done. What is written meanwhile is bounded, too."""
    from confluent_kafka import KafkaError

    deadline, size = time.monotonic() + SECONDS, 0
    while left and time.monotonic() < deadline:
        for message in consumer.consume(_BATCH, 0.05):
            error = message.error()
            if error is None:
                records.append(message)
                size += len(message.key() or b"") + len(message.value() or b"")
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard(message.partition())
            else:
                return False
        if len(records) > 2 * here.RECORDS or size > here.BYTES:
            return False
    return not left


def newest_transactions(bootstrap_servers: str, begun: Beginnings, options: Sequence[tuple[str, str]] = ()) -> pa.Table:
    """The newest record of each transactional id, as `decode.plain` has them. Raises PipelineError.

    What is kept follows the number of ids, however long the topic is: it is compacted to the same.
    """
    import pyarrow as pa

    from kafkastub_pipeline.formats.log import LogPart, records_between
    from kafkastub_pipeline.formats.options import Asked

    starts = {partition: begun.starts[TRANSACTIONS, partition] for partition in begun.transaction_sizes}
    spans = [(one, starts[one], starts[one] + size) for one, size in begun.transaction_sizes.items() if size]
    found: dict[bytes | None, tuple[Any, ...]] = {}
    if spans:
        asked = Asked(bootstrap_servers, tuple(options), TRANSACTIONS)
        for batch in records_between(asked, LogPart(spans)):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            found.update({row[0]: row for row in rows})
    names = "key", "value", "log_partition", "log_offset", "log_ms"
    types = pa.binary(), pa.binary(), pa.int32(), pa.int64(), pa.int64()
    kept = [dict(zip(names, row, strict=True)) for row in found.values()]
    return pa.Table.from_pylist(kept, pa.schema(list(zip(names, types, strict=True))))


def _table(records: Sequence[Any]) -> pa.Table:
    import pyarrow as pa

    columns = {
        "key": pa.array([one.key() for one in records], pa.binary()),
        "value": pa.array([one.value() for one in records], pa.binary()),
        "log_partition": pa.array([one.partition() for one in records], pa.int32()),
        "log_offset": pa.array([one.offset() for one in records], pa.int64()),
        "log_ms": pa.array([one.timestamp()[1] for one in records], pa.int64()),
    }
    return pa.table(columns)
