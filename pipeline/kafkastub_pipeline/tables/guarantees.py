"""`guarantees`: what an application did to its records, as `kafkastub check` reports it of the same journal.

The checker is the broker's: a second one would be right as long as nobody changed the first. It reads a journal's
requests one after the other, so that this is one task, of the driver.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DDL: Final = (
    "guarantee string, verdict string, group_id string, topic string, `partition` int, offsets array<struct<first:"
    " bigint, last: bigint>>, happened_at timestamp, cause string, members array<string>, entries array<bigint>,"
    " complete_since timestamp"
)
_LOOKED_AT: Final = 100
"""Lines, of which one has a frame: a clock that was moved has none."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def is_checkable(path: str) -> bool:
    """Return whether a journal is one that the checker reads: lines with frames, in a directory on this machine."""
    folder = Path(path.removeprefix("file://"))
    file = next(iter(sorted(folder.glob("*.jsonl"))), None) if folder.is_dir() else None
    if file is None:
        return False
    with file.open("rb") as lines:
        try:
            return any(json.loads(line).get("request") is not None for line in islice(lines, _LOOKED_AT))
        except ValueError:
            return False


def guarantees(spark: SparkSession, journal: str) -> DataFrame:
    """A row a finding or notice. Raises PipelineError where the checker cannot read the journal."""
    from kafkastub_pipeline.session import local_table

    if not is_checkable(journal):
        raise PipelineError(
            f"guarantees cannot be made of --journal {journal}: give the directory of `kafkastub serve --journal DIR`,"
            " which has the frames, on this machine"
        )
    try:
        from kafkastub.guarantees.files import check_journal

        verdict = check_journal(journal.removeprefix("file://")).to_json()
    except (OSError, ValueError) as error:
        raise PipelineError(f"guarantees cannot be made of --journal {journal}: {error}") from error
    rows = [(one, "finding") for one in verdict["findings"]] + [(one, "notice") for one in verdict["notices"]]
    return local_table(spark, [_row(*one) for one in rows], DDL)


def _row(found: dict[str, Any], verdict: str) -> tuple[Any, ...]:
    return (
        found["guarantee"],
        verdict,
        found["group"],
        found["topic"],
        found["partition"],
        found["offsets"],
        _EPOCH + timedelta(milliseconds=found["broker_ms"]),
        found["cause"],
        found["members"],
        found["entries"],
        None,
    )
