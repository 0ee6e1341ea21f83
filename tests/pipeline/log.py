"""A log of `__consumer_offsets` by hand, as decoded records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = 1_800_000_000_000
SECOND = 1000
MINUTE = 60_000
HOUR = 60 * MINUTE


class Log:
    """Every group is on its own partition, unless it is said to share one. Times are milliseconds after `START`."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._partitions: dict[str, int] = {}
        self._lengths: dict[int, int] = {}

    def together(self, *groups: str) -> None:
        """These share a partition of the log."""
        self._partitions.update(dict.fromkeys(groups, len(set(self._partitions.values()))))

    def commit(
        self, group: str, topic: str, at: int, *, partition: int = 0, offset: int = 5, id_: str | None = None
    ) -> None:
        """An offset, with the topic's id where the broker writes it."""
        commit = {"committed_offset": offset, "commit_ms": START + at, "expire_ms": -1, "topic_id": id_}
        self._write(RecordType.OFFSET_COMMIT, group, at, topic=topic, partition=partition, **commit)

    def gone(self, group: str, topic: str, at: int, *, partition: int = 0) -> None:
        """An offset's tombstone."""
        self._write(RecordType.OFFSET_COMMIT, group, at, tombstone=True, topic=topic, partition=partition)

    def generation(
        self, group: str, at: int, *topics: str, members: tuple[str, ...] = ("m",), kind: str = "consumer"
    ) -> None:
        """A classic group's record: every member subscribes to all of the topics, or to nobody knows what."""
        known = list(topics) if kind == "consumer" else None
        all_ = [{"member_id": member, "group_instance_id": None, "topics": known} for member in members]
        state = {"protocol_type": kind, "generation": 1, "state_ms": START + at, "members": all_}
        self._write(RecordType.GROUP_METADATA, group, at, group=state)

    def group_gone(self, group: str, at: int) -> None:
        """A classic group's tombstone."""
        self._write(RecordType.GROUP_METADATA, group, at, tombstone=True)

    def epoch(self, group: str, at: int, *, kind: str = "CONSUMER", tombstone: bool = False) -> None:
        """A KIP-848 group's own record."""
        self._write(RecordType[f"{kind}_GROUP_METADATA"], group, at, tombstone=tombstone)

    def member(
        self, group: str, member: str, at: int, *topics: str, kind: str = "CONSUMER", tombstone: bool = False
    ) -> None:
        """A member's record."""
        of_member = {"member_id": member, "topics": list(topics)}
        self._write(RecordType[f"{kind}_GROUP_MEMBER_METADATA"], group, at, tombstone=tombstone, **of_member)

    def pattern(self, group: str, pattern: str, at: int, *topics: str) -> None:
        """The topics that a regular expression stands for."""
        self._write(RecordType.CONSUMER_GROUP_REGULAR_EXPRESSION, group, at, member_id=pattern, topics=list(topics))

    def _write(self, type_: RecordType, group_id: str, at: int, *, tombstone: bool = False, **values: Any) -> None:
        if group_id not in self._partitions:
            self.together(group_id)
        log_partition = self._partitions[group_id]
        log_offset = self._lengths.get(log_partition, 0)
        self._lengths[log_partition] = log_offset + 1
        place = {"log_partition": log_partition, "log_offset": log_offset, "log_ms": START + at}
        self._rows.append({**place, "record_type": int(type_), "group_id": group_id, "tombstone": tombstone, **values})

    def records(self, spark: SparkSession) -> DataFrame:
        """As `decode` gives them."""
        import pyarrow as pa

        from kafkastub_pipeline.decode.columns import RECORD

        return spark.createDataFrame(pa.Table.from_pylist(self._rows, schema=RECORD))


def after_start(milliseconds: int | None) -> int | None:
    """A time of a table's, as the log has it."""
    return None if milliseconds is None else milliseconds - START
