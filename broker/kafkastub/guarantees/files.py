"""The verdict of a journal on disk: the same entries, read when all is over."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from kafkastub.guarantees.checker import Checker
from kafkastub.guarantees.reading import Reader
from kafkastub.guarantees.verdict import Verdict
from kafkastub.journal.disk import read_rows
from kafkastub.journal.ring import Outcome, Raw
from kafkawire.api import ApiKey

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_US: Final = timedelta(microseconds=1)
_OUTCOMES: Final = {one.name.lower(): one for one in Outcome}
_NAMES: Final = (ApiKey.METADATA, ApiKey.CREATE_TOPICS)


class _Sender(NamedTuple):
    """What an entry in a file knows of a connection."""

    id: int
    client_host: str
    principal: str
    node_id: int


def check_journal(
    directory: str | os.PathLike[str], wanted: Collection[str] | None = None, ignoring: Collection[str] = ()
) -> Verdict:
    """What the requests in a journal show. Raises JournalDirError for what is none, ValueError for unknown names."""
    entries = [(int(row["sequence"]), _raw(row)) for row in read_rows(directory) if row["kind"] == "request"]
    entries.sort(key=lambda one: (one[1].ended or one[1].started, one[0]))
    first = min((sequence for sequence, _ in entries), default=0)
    reader, checker = Reader(lambda topic_id: None), Checker(partial=first > 0)
    for sequence, raw in entries:  # which topic an id is of may be told behind the first request that has it
        if _key(raw) in _NAMES:
            list(reader.read(sequence, raw))
    reader.requests = 0
    for sequence, raw in entries:
        for event in reader.read(sequence, raw):
            checker.feed(event)
    undecided = [f"the journal's first {first} entries are gone"] if first else []
    return checker.verdict(wanted, ignoring=ignoring, requests=reader.requests, undecided=undecided)


def _raw(row: dict[str, Any]) -> Raw:
    request: bytes = row["request"]
    started = (datetime.fromisoformat(row["wall_time"]) - _EPOCH) // _US * 1000
    took = row["duration_us"]
    broker_ms = (datetime.fromisoformat(row["broker_time"]) - _EPOCH) // (1000 * _US)
    host = str(row.get("peer") or "").rpartition(":")[0]
    sender = _Sender(
        row["connection_id"], f"/{host.strip('[]')}", str(row.get("principal")), int(row.get("node_id", 0))
    )
    return Raw(
        request, 0, len(request), row["response"], sender, broker_ms, started,
        None if took is None else started + took * 1000, _OUTCOMES.get(row["outcome"], Outcome.DROPPED), None,
    )  # fmt: skip


def _key(raw: Raw) -> int:
    return int.from_bytes(raw.data[:2], signed=True)
