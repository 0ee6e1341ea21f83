"""`kafkastub_journal`: the stub's journal, as `kafkastub serve --journal DIR` writes it, or as Parquet.

A request whose answer is waited for is in the files twice: when it came, and with its end. A batch has each entry once,
as it ended; a stream has lines as they come, those of requests that wait with the outcome `pending`. Drivers and
workers have to see the files.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.formats.columns import columns_of, ddl_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_FORMAT: Final = "kafkastub_journal"
_PENDING: Final = "pending"
_ROWS: Final = 5_000
_BYTES: Final = 1 << 24
"""Entries that are handed to Spark at once, and the bytes of their frames: one of the two ends a batch."""
_TAIL: Final = 1 << 16


class FilePart(InputPartition):
    """Lines of a file, or a file in Parquet.

    Attributes:
        path: of the file.
        start, end: bytes, each at the beginning of a line.
        later: files in which an entry that is pending in this one may end; None for a stream, which has both lines.
    """

    def __init__(self, path: str, start: int, end: int, later: tuple[str, ...] | None) -> None:
        super().__init__((path, start, end))
        self.path, self.start, self.end, self.later = path, start, end, later


class KafkastubJournal(DataSource):
    """A row an entry."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def schema(self) -> str:
        directory_of(self.options)
        return ddl_of(columns_of(_FORMAT))

    def reader(self, schema: StructType) -> DataSourceReader:
        return JournalReader(directory_of(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return JournalStream(directory_of(self.options), schema)


def directory_of(options: Mapping[str, str]) -> Path:
    """Return where the journal is. Raise PipelineError."""
    given = {name.lower(): value for name, value in options.items()}
    path = given.pop("path", None)
    if given:
        raise PipelineError(f"{_FORMAT}: there is no option {', '.join(sorted(given))}; there is path")
    if path is None:
        raise PipelineError(f"{_FORMAT}: no journal is named; give its directory, as .load(DIR)")
    return Path(path.removeprefix("file://"))


def lines_of(directory: Path) -> list[Path]:
    """Return the files with lines of JSON, in the order in which they were written."""
    return [directory] if directory.suffix == ".jsonl" else sorted(directory.glob("*.jsonl"))


class _Reading:
    def __init__(self, directory: Path, schema: StructType) -> None:
        self._directory = directory
        self._schema = schema

    def _check(self) -> None:
        if not self._directory.exists():
            raise PipelineError(f"{_FORMAT}: there is no {self._directory}; give the directory of serve --journal")

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Runs in a worker."""
        from kafkastub_pipeline.arrow import arrow_schema_of

        if not isinstance(partition, FilePart):
            return
        schema = arrow_schema_of(self._schema)
        if partition.end < 0:
            yield from _parquet(partition.path, schema)
        else:
            yield from _batches(_entries(partition), schema)


class JournalReader(_Reading, DataSourceReader):
    """The journal as it is when Spark plans."""

    def partitions(self) -> list[InputPartition]:
        self._check()
        files = lines_of(self._directory)
        later = [tuple(map(str, files[at:])) for at in range(1, len(files) + 1)]
        found: list[InputPartition]
        found = [FilePart(str(file), 0, whole_lines(file), rest) for file, rest in zip(files, later, strict=True)]
        if found:
            return found
        single = self._directory.is_file()
        tables = [self._directory] if single else sorted(self._directory.glob("**/*.parquet"))
        if not tables:
            raise PipelineError(f"{_FORMAT}: {self._directory} contains no journal: neither *.jsonl nor *.parquet")
        return [FilePart(str(file), 0, -1, ()) for file in tables]


class JournalStream(_Reading, DataSourceStreamReader):
    """The journal as it grows: how many bytes of each file are done is in the checkpoint."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        self._check()
        return {}

    def latestOffset(self) -> dict[str, int]:  # type: ignore[override]  # noqa: N802
        return {file.name: whole_lines(file) for file in lines_of(self._directory)}

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[InputPartition]:
        folder = self._directory.parent if self._directory.suffix == ".jsonl" else self._directory
        parts = (FilePart(str(folder / name), start.get(name, 0), last, None) for name, last in sorted(end.items()))
        return [one for one in parts if one.start < one.end and Path(one.path).exists()]


def whole_lines(file: Path) -> int:
    """Return how many bytes the complete lines of a file take: the last line may be torn."""
    size = file.stat().st_size
    with file.open("rb") as lines:
        while size:
            begin = max(0, size - _TAIL)
            lines.seek(begin)
            at = lines.read(size - begin).rfind(b"\n")
            if at >= 0:
                return begin + at + 1
            size = begin
    return 0


def _entries(part: FilePart) -> Iterator[dict[str, Any]]:
    """The lines; of an entry that is there twice, and not of a stream, the one with its end."""
    waiting: dict[int, dict[str, Any]] = {}
    for entry in _lines(part.path, part.start, part.end):
        if part.later is not None and entry.get("outcome") == _PENDING:
            waiting[entry["sequence"]] = entry
            continue
        waiting.pop(entry["sequence"], None)
        yield entry
    for path in part.later or ():
        if not waiting:
            break
        for entry in _lines(path, 0, whole_lines(Path(path))):
            if entry.get("outcome") != _PENDING:
                waiting.pop(entry["sequence"], None)
    yield from waiting.values()


def _lines(path: str, start: int, end: int) -> Iterator[dict[str, Any]]:
    with Path(path).open("rb") as lines:
        lines.seek(start)
        at = start
        for line in lines:
            at += len(line)
            if at > end:
                return
            try:
                entry = json.loads(line)
                entry["sequence"]
            except (ValueError, TypeError, KeyError) as error:
                raise PipelineError(f"{_FORMAT}: byte {at - len(line)} of {path} begins no entry: {error}") from error
            yield entry


def _batches(entries: Iterator[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    held: list[dict[str, Any]] = []
    size = 0
    for entry in entries:
        held.append(entry)
        size += len(entry.get("request") or "") + len(entry.get("response") or "")
        if len(held) >= _ROWS or size >= _BYTES:
            yield _batch(held, schema)
            held, size = [], 0
    if held:
        yield _batch(held, schema)


def _batch(entries: list[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    columns = []
    for field in schema:
        values = [entry.get(field.name) for entry in entries]
        parse = _parser(field.type)
        if parse is not None:
            values = [None if value is None else parse(value) for value in values]
        columns.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _parser(type_: pa.DataType) -> Callable[[str], Any] | None:
    import pyarrow as pa

    if pa.types.is_timestamp(type_):
        return datetime.fromisoformat
    return base64.b64decode if pa.types.is_binary(type_) else None


def _parquet(path: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        there = [name for name in schema.names if name in file.schema_arrow.names]
        for batch in file.iter_batches(_ROWS, columns=there):
            columns = [
                batch.column(field.name).cast(field.type)
                if field.name in there
                else pa.nulls(batch.num_rows, field.type)
                for field in schema
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
