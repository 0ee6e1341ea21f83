"""Of each key of the log its newest record, kept in files from batch to batch: compaction, as Kafka does it.

A batch rewrites the partitions of the log that have new records, and no others. What belongs together is named by a
small file, the manifest of the batch, which is written last: a batch that was killed is done again from the one before,
so that no record is missing or counts twice.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.decode import decoded, plain
from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.files import Files
from kafkastub_pipeline.live.alerts import FLAPS_WITHIN_MS, LONGEST
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.sources import RAW_DDL
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLAIN_DDL: Final = "key binary, value binary, log_partition int, log_offset bigint, log_ms bigint"
_PART: Final = "part"
_MOST_GROUPS: Final = 1_000
"""Groups of a batch whose new generations are counted: those with the most."""
_MOST_COUNTS: Final = 10_000
"""Of batches that are kept, the newest: clients decide how many groups there are, and how long their names."""
GENERATIONS: Final = (
    int(RecordType.GROUP_METADATA),
    int(RecordType.CONSUMER_GROUP_METADATA),
    int(RecordType.SHARE_GROUP_METADATA),
    int(RecordType.STREAMS_GROUP_METADATA),
)
"""Records of which each new generation or epoch of a group writes one."""


class Newest:
    """The newest records, in a directory.

    Attributes:
        newest_ms: the newest timestamp on the log, in Unix milliseconds; -1 before the first record.
        rebalances: (group, new generations, milliseconds of the newest) of batches that are kept, by batch.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._root = root.rstrip("/")
        self._files = Files(spark)
        self._batch, self._parts = -1, dict[str, int]()
        self.newest_ms = -1
        self.rebalances: dict[int, list[tuple[str, int, int]]] = {}
        self._load()

    @property
    def batch(self) -> int:
        """The newest batch that is whole; -1 before the first."""
        return self._batch

    def absorb(self, raw: DataFrame, batch: int) -> None:
        """Take the records of a batch in. A batch that is whole already is left alone.

        Args:
            raw: key, value, partition, offset, timestamp.
        """
        from pyspark.sql import functions as f

        if batch <= self._batch:
            return
        fresh = raw.persist()
        try:
            seen = fresh.groupBy("partition").agg(f.expr("max(unix_millis(timestamp)) as ms")).collect()
            touched = [str(row.partition) for row in seen]
            if not touched:
                return
            self.newest_ms = max([self.newest_ms, *(row.ms for row in seen if row.ms is not None)])
            before = self._read({part: of for part, of in self._parts.items() if part in touched})
            newest = (
                before.unionByName(plain(fresh))
                .groupBy("log_partition", "key")
                .agg(f.expr("max_by(struct(value, log_offset, log_ms), log_offset)").alias("newest"))
                .select("key", "newest.value", "log_partition", "newest.log_offset", "newest.log_ms")
                .where("value is not null")  # nothing older is left that a tombstone would end
                .withColumn(_PART, f.col("log_partition"))
            )
            target = f"{self._root}/{batch}"
            newest.repartition("log_partition").write.mode("overwrite").partitionBy(_PART).parquet(target)
            written = {name.partition("=")[2] for name in self._files.entries(target) if name.startswith(f"{_PART}=")}
            parts = {part: of for part, of in self._parts.items() if part not in touched}
            parts |= {part: batch for part in touched if part in written}
            self.rebalances[batch] = self._generations(fresh)
        finally:
            fresh.unpersist()
        self.rebalances = _recent(self.rebalances)
        manifest = {"parts": parts, "newest_ms": self.newest_ms, "rebalances": self.rebalances}
        self._files.write(f"{self._root}/{batch}.json", json.dumps(manifest))
        self._batch, self._parts = batch, parts
        self._clean()

    def raw(self) -> DataFrame:
        """The records as Spark's Kafka source has them."""
        found = self._read(self._parts)
        return found.selectExpr(
            "key", "value", "log_partition as `partition`", "log_offset as offset",
            "timestamp_millis(log_ms) as timestamp",
        )  # fmt: skip

    def _read(self, parts: dict[str, int]) -> DataFrame:
        paths = [f"{self._root}/{batch}/{_PART}={part}" for part, batch in parts.items()]
        if not paths:
            return plain(local_table(self._spark, [], RAW_DDL))
        return self._spark.read.schema(_PLAIN_DDL).parquet(*paths)

    def _generations(self, fresh: DataFrame) -> list[tuple[str, int, int]]:
        """Of groups that began a generation or an epoch: how many they began, and when the last."""
        from pyspark.sql import functions as f

        # the first two bytes of a key are its type: other records are not decoded
        kinds = ", ".join(f"X'{kind:04x}'" for kind in GENERATIONS)
        rows = (
            decoded(fresh.where(f"substring(key, 1, 2) in ({kinds}) and value is not null"))
            .where(f"error is null and octet_length(group_id) <= {LONGEST}")
            .groupBy("group_id")
            .agg(
                f.expr("count(distinct coalesce(`group`.generation, modern.epoch))").alias("n"),
                f.max("log_ms").alias("ms"),
            )
            .orderBy(f.desc("n"))
            .limit(_MOST_GROUPS)
            .collect()
        )
        return [(row.group_id, int(row["n"]), int(row["ms"])) for row in rows]

    def _load(self) -> None:
        """Raises PipelineError where the newest manifest is damaged."""
        found = [int(name.removesuffix(".json")) for name in self._files.entries(self._root) if _is_manifest(name)]
        if not found:
            return
        path = f"{self._root}/{max(found)}.json"
        try:
            manifest: dict[str, Any] = json.loads(self._files.read(path) or "")
            self.newest_ms = int(manifest["newest_ms"])
            self._parts = {str(part): int(of) for part, of in manifest["parts"].items()}
            self.rebalances = {
                int(number): [(str(group), int(count), int(ms)) for group, count, ms in groups]
                for number, groups in manifest["rebalances"].items()
            }
        except Exception as error:  # no such JSON; or other bytes than Hadoop's checksum beside it is of
            raise PipelineError(f"{path} is damaged: name another --checkpoint") from error
        self._batch = max(found)

    def _clean(self) -> None:
        """Remove what the manifest does not name."""
        needed = {str(batch) for batch in self._parts.values()}
        for name in self._files.entries(self._root):
            number, _, rest = name.partition(".")
            if not number.isdigit() or int(number) > self._batch or name == f"{self._batch}.json":
                continue
            if rest or number not in needed:
                self._files.remove(f"{self._root}/{name}")
                continue
            for part in self._files.entries(f"{self._root}/{name}"):
                if part.startswith(f"{_PART}=") and self._parts.get(part.partition("=")[2]) != int(number):
                    self._files.remove(f"{self._root}/{name}/{part}")


def _recent(rebalances: dict[int, list[tuple[str, int, int]]]) -> dict[int, list[tuple[str, int, int]]]:
    """What counts for a group that flaps, the newest batches first, and no more than is to be kept."""
    newest_ms = max((ms for groups in rebalances.values() for _, _, ms in groups), default=0)
    found: dict[int, list[tuple[str, int, int]]] = {}
    count = 0
    for batch in sorted(rebalances, reverse=True):
        recent = [one for one in rebalances[batch] if one[2] >= newest_ms - FLAPS_WITHIN_MS]
        count += len(recent)
        if recent and count <= _MOST_COUNTS:
            found[batch] = recent
    return found


def _is_manifest(name: str) -> bool:
    return name.endswith(".json") and name.removesuffix(".json").isdigit()
