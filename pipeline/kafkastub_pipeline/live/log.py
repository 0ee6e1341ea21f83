"""Alerts as rows: raised once, cleared once, whatever is killed on the way.

What is open is in a small file beside the checkpoint, numbered from look to look. The rows of a look are written before
that file: a look that was killed between the two is completed at the next start from the rows that it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import Files, check_no_pattern, check_writable
from kafkastub_pipeline.live.alerts import Change, Found, Open, Subject, changes
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS: Final = (
    ("alert", "string", "`transaction_hangs`, `offset_expires`, `partition_unowned` or `group_flaps`"),
    ("state", "string", "`raised`, or `cleared` when it is no longer so"),
    ("at", "timestamp", "when that was noticed"),
    ("since", "timestamp", "since when it is so, or when it was first seen"),
    ("group_id", "string", "the group; null for a transaction"),
    ("topic", "string", "the topic; null for a group as a whole"),
    ("partition", "int", "the partition"),
    ("transactional_id", "string", "of a transaction; null where the coordinator knows none"),
    ("detail", "string", "what is so, in a sentence"),
    ("command", "string", "what to do about it; empty for a cleared one, and for a group's name with NUL"),
)
_DDL: Final = (
    "alert string, state string, at_ms bigint, since_ms bigint, group_id string, topic string, `partition` int,"
    " transactional_id string, detail string, command string"
)
_BATCH: Final = "batch"
_TOPIC: Final = "topic:"


class Target(Protocol):
    """Where rows go.

    Attributes:
        name: as `--alerts` has it.
    """

    name: str

    def begin(self) -> None:
        """Look at it before the first row is written. Raise PipelineError where it has rows of another stream."""

    def write(self, number: int, rows: Sequence[Change]) -> None:
        """Write the rows of a look, once. Raise PipelineError."""

    def written(self, number: int) -> list[Change] | None:
        """Return the rows of a look that are there whole; None where they are not, or cannot be told."""


def target_of(spark: SparkSession, given: str, servers: str, options: Sequence[tuple[str, str]]) -> Target:
    """Return the target of `--alerts`: a directory, or `topic:NAME`. Raise PipelineError."""
    if not given.startswith(_TOPIC):
        check_no_pattern("--alerts", given)
        return _Directory(spark, given)
    name = given.removeprefix(_TOPIC)
    if not name:
        raise PipelineError("--alerts topic: names no topic; give topic:NAME, or a directory")
    return _Topic(name, servers, options)


class AlertLog:
    """Alerts that are open, and the rows that say so."""

    def __init__(self, spark: SparkSession, root: str, target: Target) -> None:
        """Raise PipelineError where what is open cannot be read, or the target has alerts of another stream."""
        self._files = Files(spark)
        self._root = root.rstrip("/")
        self._target = target
        self._number, self._open = self._load()
        if not self._number:
            target.begin()
            self._keep({})
        rows = target.written(self._number + 1)
        if rows is not None:
            self._keep(_applied(self._open, rows))

    @property
    def open(self) -> Mapping[Subject, Open]:
        """What was so at the last look."""
        return self._open

    def note(self, found: Iterable[Found], now_ms: int) -> list[Change]:
        """Write what has changed since the last look, and return it.

        Args:
            found: what is so now.
            now_ms: this moment, in Unix milliseconds.
        """
        rows, after = changes(self._open, found, now_ms)
        if rows:
            self._target.write(self._number + 1, rows)
        if rows or after != self._open:
            self._keep(after)
        return rows

    def _keep(self, after: dict[Subject, Open]) -> None:
        number = self._number + 1
        kept = {"target": self._target.name, "open": [[*subject, *state] for subject, state in after.items()]}
        self._files.write(f"{self._root}/{number}.json", json.dumps(kept))
        self._files.remove(f"{self._root}/{self._number}.json")
        self._number, self._open = number, after

    def _load(self) -> tuple[int, dict[Subject, Open]]:
        numbers = [int(name[:-5]) for name in self._files.entries(self._root) if name[:-5].isdigit()]
        if not numbers:
            return 0, {}
        path = f"{self._root}/{max(numbers)}.json"
        try:
            kept = json.loads(self._files.read(path) or "")
            target = kept["target"]
            found = {Subject(*row[:5]): Open(int(row[5]), bool(row[6])) for row in kept["open"]}
        except Exception as error:  # no such JSON; or other bytes than Hadoop's checksum beside it is of
            raise PipelineError(f"{path} is damaged: name another --checkpoint") from error
        if target != self._target.name:
            raise PipelineError(
                f"the alerts of this checkpoint are in {target}: go on with --alerts {target}, or name another"
                " --checkpoint"
            )
        return max(numbers), found


def _applied(before: Mapping[Subject, Open], rows: Iterable[Change]) -> dict[Subject, Open]:
    """What is open behind these rows."""
    after = dict(before)
    for row in rows:
        if row.state == "raised":
            after[row.subject] = Open(row.since_ms, raised=True)
        else:
            after.pop(row.subject, None)
    return after


class _Directory:
    """Parquet: a directory a look, `batch=N`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._files = Files(spark)
        self._path = path.rstrip("/")
        self.name = self._files.whole(self._path)

    def begin(self) -> None:
        check_writable(self._files, "--alerts", self._path)
        if self._files.has_data(self._path):
            raise PipelineError(
                f"{self._path} has alerts of a stream with another checkpoint: go on with that one, or name another"
                " --alerts"
            )

    def write(self, number: int, rows: Sequence[Change]) -> None:
        from pyspark.sql import functions as f

        frame = (
            local_table(self._spark, [_flat(row) for row in rows], _DDL)
            .withColumn("at", time_of(f.col("at_ms")))
            .withColumn("since", time_of(f.col("since_ms")))
            .select(*(name for name, _, _ in COLUMNS))
        )
        path = self._at(number)
        try:
            frame.coalesce(1).write.mode("overwrite").parquet(path)
        except Exception as error:
            raise PipelineError(f"alerts cannot be written to {path}: {sentence(error)}") from error

    def written(self, number: int) -> list[Change] | None:
        path = self._at(number)
        if not self._files.exists(f"{path}/_SUCCESS"):
            return None
        frame = self._spark.read.parquet(path)
        times = "unix_millis(at) as at_ms", "unix_millis(since) as since_ms"
        rows = frame.selectExpr("*", *times).collect()
        return [
            Change(
                Subject(row.alert, row.group_id, row.topic, row.partition, row.transactional_id),
                row.state, row.at_ms, row.since_ms, row.detail, row.command,
            )
            for row in rows
        ]  # fmt: skip

    def _at(self, number: int) -> str:
        return f"{self._path}/{_BATCH}={number}"


class _Topic:
    """A topic: a record a row, in JSON, with the subject as its key, so that compaction keeps the newest of each.

    A look that was killed behind its records writes them again: consumers may see a row twice.
    """

    def __init__(self, name: str, servers: str, options: Sequence[tuple[str, str]]) -> None:
        from kafkastub_pipeline.clients import for_librdkafka

        self.name = f"{_TOPIC}{name}"
        self._topic, self._servers = name, servers
        self._config: dict[str, Any] = {**dict(for_librdkafka(options)), "bootstrap.servers": servers}

    def write(self, number: int, rows: Sequence[Change]) -> None:
        from confluent_kafka import KafkaException, Producer

        failed: list[str] = []

        def delivered(error: Any, _: Any) -> None:
            if error is not None:
                failed.append(error.str())

        try:
            producer = Producer(
                {**self._config, "enable.idempotence": True, "message.timeout.ms": 30_000, "log_level": 0}
            )
            for row in rows:
                key = json.dumps(list(row.subject))
                producer.produce(self._topic, json.dumps(_as_json(row)), key, on_delivery=delivered)
            producer.flush(40)
        except KafkaException as error:
            failed.append(str(error.args[0]))
        if failed:
            raise PipelineError(f"alerts cannot be written to topic {self._topic} on {self._servers}: {failed[0]}")

    def begin(self) -> None:
        pass

    def written(self, number: int) -> list[Change] | None:
        return None


def _as_json(row: Change) -> dict[str, Any]:
    about = row.subject._asdict()
    return {
        "alert": about.pop("alert"), "state": row.state, "at_ms": row.at_ms, "since_ms": row.since_ms, **about,
        "detail": row.detail, "command": row.command,
    }  # fmt: skip


def _flat(row: Change) -> tuple[Any, ...]:
    return tuple(_as_json(row).values())
