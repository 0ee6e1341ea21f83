"""A data source over an internal topic: a task a partition of the log, each read to its end by librdkafka.

A batch ends where the log ended when it was planned: at the last stable offset, so that a transaction that is open, and
what is behind it in its partition, is not read. A stream keeps how far it is, by partition, in Spark's checkpoint.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.formats.columns import Columns, columns_of, ddl_of
from kafkastub_pipeline.formats.options import Asked, parse_options, values_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

Span = tuple[int, int, int]
"""Partition, first offset, offset behind the last."""
TIMEOUT: Final = 60.0
"""Seconds in which a partition has to bring a record, or to report its end."""
_BATCH: Final = 10_000
_BYTES: Final = 1 << 25
"""Records that are decoded at once, and their bytes, which may be a megabyte each: one of the two ends a batch."""
_POLL: Final = 0.05
"""Seconds that a client waits for so many, and that the end of a partition takes to be noticed."""
_WAIT_MS: Final = 10
"""Milliseconds that a broker may wait for more than there is, before it reports the end of a partition."""
_SMALL: Final = 50_000
"""Records that a task reads at least, as far as there are so many."""
_TASK: Final = 1_000_000
"""Records that a task reads of a very large partition, such as that of a group which commits more than all others."""
_LARGEST: Final = 2 * _TASK
_PUSHING: Final = "pyspark.sql.worker.data_source_pushdown_filters"
"""The module that Spark (4.1 and later) plans a read with when it pushes filters down."""


class LogPart(InputPartition):
    """What a task reads: a partition of the log or a piece of one, or several small ones.

    Attributes:
        spans: partition, first offset, and the offset behind the last, of each.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        super().__init__(tuple(spans))
        self.spans = tuple(spans)


class LogSource(DataSource):
    """What the three data sources over internal topics share.

    Attributes:
        FORMAT: the name of the data source.
        TOPIC: the internal topic.
        OWNER: the column that names a record's group or transactional id.
        OPTION: the option that names one of them.
        PLACED: whether the owner alone decides in which partition of the topic a record is.
        MORE: options that only this data source has.
    """

    FORMAT = ""
    TOPIC = ""
    OWNER = ""
    OPTION = ""
    PLACED = True
    MORE: tuple[str, ...] = ()

    @classmethod
    def name(cls) -> str:
        return cls.FORMAT

    def schema(self) -> str:
        self.parsed_options()
        return ddl_of(self.columns())

    def columns(self) -> Columns:
        """Return the columns that the options ask for."""
        return columns_of(self.FORMAT, self.names())

    def names(self) -> tuple[str, ...] | None:
        """Return the columns that the options ask for; None for all."""
        return None

    def parsed_options(self) -> Asked:
        """Return what the options ask for. Raise PipelineError."""
        return parse_options(self.FORMAT, self.options, self.TOPIC, self.OPTION, self.MORE)

    def rows(self, raw: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
        """Decode raw records, as `decode.plain` has them, into columns of a schema."""
        raise NotImplementedError

    def reader(self, schema: StructType) -> DataSourceReader:
        return (PushedReader if is_pushing() else LogReader)(self, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return LogStream(self, schema)


def is_pushing() -> bool:
    """Return whether Spark plans with filters pushed down, in this process.

    A reader that takes filters is an error of Spark where `spark.sql.python.filterPushdown.enabled` is false, which is
    its default, and no reader is told the setting. A Spark that has another module for it pushes nothing here.
    """
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHING in sys.modules or getattr(spec, "name", None) == _PUSHING


class _Reading:
    """What a batch and a stream do alike: find where partitions end, and read a part of one."""

    def __init__(self, source: LogSource, schema: StructType) -> None:
        self._source = source
        self._schema = schema
        self._asked = source.parsed_options()
        known = {name for name, _, _ in source.columns()}
        if unknown := [name for name in schema.fieldNames() if name not in known]:
            raise PipelineError(f"{source.FORMAT} has no column {', '.join(unknown)}: leave .schema(…) out")

    def _spans(self) -> dict[int, tuple[int, int]]:
        """Of each partition that is wanted where it begins, and its last stable offset. Raises PipelineError."""
        from kafkastub_pipeline.cluster import spans

        wanted = self._asked
        return spans(wanted.servers, wanted.topic, self._chosen, wanted.client)

    def _chosen(self, count: int) -> list[int]:
        """The partitions that are wanted, of so many."""
        wanted = self._asked
        chosen = set(range(count)) if wanted.partitions is None else {one for one in wanted.partitions if one < count}
        if wanted.owners is not None and self._source.PLACED:
            chosen &= {partition_of(owner, count) for owner in wanted.owners}
        return sorted(chosen)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Runs in a worker."""
        from kafkastub_pipeline.arrow import arrow_schema_of

        if not isinstance(partition, LogPart):  # None is what Spark passes where nothing is to be read
            return
        schema = arrow_schema_of(self._schema)
        for raw in records_between(self._asked, partition):
            found = of_owners(self._source.rows(raw, schema), self._source.OWNER, self._asked.owners)
            if found.num_rows:
                yield found


class LogReader(_Reading, DataSourceReader):
    """One look at the log, up to where it ends when Spark plans."""

    def partitions(self) -> list[InputPartition]:
        return parts_of((one, start, end) for one, (start, end) in self._spans().items())


class PushedReader(LogReader):
    """The same with filters pushed down: `=` and `in` on the owner and on `log_partition` choose what is read."""

    def pushFilters(self, filters: Iterable[Any]) -> Iterable[Any]:  # noqa: N802
        for one in filters:
            self._asked = self._asked.narrowed(values_of(one, "log_partition"), values_of(one, self._source.OWNER))
            yield one  # Spark applies it, too


class LogStream(_Reading, DataSourceStreamReader):
    """The log as it grows: how far the stream is, by partition, is in its checkpoint."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        spans = self._spans()
        return {str(one): end if self._asked.from_end else start for one, (start, end) in spans.items()}

    def latestOffset(self) -> dict[str, int]:  # type: ignore[override]  # noqa: N802
        """As Spark 4.0 and 4.1 call it; later releases call both forms."""
        return {str(one): end for one, (_, end) in self._spans().items()}

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[InputPartition]:
        """A partition that the topic has got since is read from its beginning."""
        return parts_of((int(one), start.get(one, 0), last) for one, last in end.items())


def parts_of(spans: Iterable[Span]) -> list[InputPartition]:
    """Return a task for each large piece of the log, and one for several small ones: each task has a client."""
    found: list[InputPartition] = []
    held: list[Span] = []
    for partition, start, end in sorted(spans):
        while end - start > _LARGEST:
            found.append(LogPart([(partition, start, start + _TASK)]))
            start += _TASK
        if start < end:
            held.append((partition, start, end))
        if sum(last - first for _, first, last in held) >= _SMALL:
            found.append(LogPart(held))
            held = []
    if held:
        found.append(LogPart(held))
    return found


def partition_of(owner: str, count: int) -> int:
    """Return the partition of an internal topic that has the records of a group or a transactional id.

    Kafka: GroupMetadataManager.partitionFor, TransactionStateManager.partitionFor, Utils.abs.
    """
    from kafkawire.java_order import string_hash

    code = string_hash(owner)
    signed = code - 2**32 if code >= 2**31 else code
    return (0 if signed == -(2**31) else abs(signed)) % count


def of_owners(rows: pa.RecordBatch, column: str, owners: frozenset[str] | None) -> pa.RecordBatch:
    """Return the rows of some groups or transactional ids; all of them for None, or where the column is not wanted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if owners is None or column not in rows.schema.names:
        return rows
    return rows.filter(pc.is_in(rows.column(column), value_set=pa.array(sorted(owners), pa.string())))


def records_between(wanted: Asked, part: LogPart) -> Iterator[pa.RecordBatch]:
    """Read what a task has to read. Raise PipelineError where the broker does not bring it.

    Compaction and markers of transactions leave gaps: a span is over with its last record, with one behind it, or with
    the end of its partition.
    """
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    from kafkastub_pipeline.connection import reader_config

    config = reader_config(wanted.servers, wanted.client, "read_committed", fetch_wait_max_ms=_WAIT_MS)
    ends = {partition: end for partition, _, end in part.spans}
    left, held, size = set(ends), list[Any](), 0
    with closing(Consumer(config)) as consumer:
        consumer.assign([TopicPartition(wanted.topic, partition, start) for partition, start, _ in part.spans])
        heard = time.monotonic()
        while left:
            found: list[Any] = consumer.consume(_BATCH, _POLL)
            if found:
                heard = time.monotonic()
            elif time.monotonic() - heard > TIMEOUT:
                raise PipelineError(
                    f"partition {min(left)} of {wanted.topic} on {wanted.servers} brings no record in {TIMEOUT:.0f} s:"
                    " check that its leader is there"
                )
            for one in found:
                error, partition, offset = one.error(), one.partition(), one.offset()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise PipelineError(f"{wanted.topic} on {wanted.servers} cannot be read: {error.str()}")
                end = ends[partition]
                if error is None and offset < end:
                    held.append(one)
                    size += len(one.key() or b"") + len(one.value() or b"")
                if error is not None or offset >= end - 1:
                    left.discard(partition)
                if size >= _BYTES or len(held) >= _BATCH:
                    yield _raw(held)
                    held, size = [], 0
        if held:
            yield _raw(held)


def _raw(records: list[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(
        {
            "key": pa.array([one.key() for one in records], pa.binary()),
            "value": pa.array([one.value() for one in records], pa.binary()),
            "log_partition": pa.array([one.partition() for one in records], pa.int32()),
            "log_offset": pa.array([one.offset() for one in records], pa.int64()),
            "log_ms": pa.array([one.timestamp()[1] for one in records], pa.int64()),
        }
    )
