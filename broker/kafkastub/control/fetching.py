"""Whether somebody asks for records: what the journal's newest entries say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from time import perf_counter_ns
from typing import Final, NamedTuple

from kafkastub.journal import Entry, Outcome, Raw
from kafkawire.api import ApiKey

Place = tuple[str, int]

_MOST: Final = 5000
"""Entries that are looked through."""
_SESSIONLESS: Final = -1
"""The epoch of a Fetch that names all that it wants (KIP-227)."""


class Asked(NamedTuple):
    """The last Fetch of a client that was, or may have been, about a partition.

    Attributes:
        seconds: since it came.
        pending: it waits for records.
        errors: in its answer.
    """

    seconds: float
    pending: bool
    errors: tuple[str, ...]


Found = dict[tuple[str, Place], Asked]
"""By client id and partition."""


def last_fetches(
    walked: Iterator[tuple[int, Raw]], read: Callable[[int, Raw], Entry], wanted: set[tuple[str, Place]]
) -> Iterator[Found | None]:
    """Look through entries, the newest first, for Fetches of (client id, partition); None on the way, the find at last.

    Within a fetch session only changes are named: such a Fetch counts for all that its client is wanted for.
    """
    found: Found = {}
    clients = {client for client, _ in wanted}
    now = perf_counter_ns()
    for sequence, raw in islice(walked, _MOST):
        yield None
        if raw.outcome is Outcome.CLOCK or _key(raw.data[raw.start : raw.start + 2]) != ApiKey.FETCH:
            continue
        entry = read(sequence, raw)
        client = entry.client_id
        if client not in clients or entry.request is None:
            continue
        named = set(entry.partitions)
        whole = entry.request.session_epoch != _SESSIONLESS
        asked = Asked((now - raw.started) / 1e9, raw.outcome is Outcome.PENDING, entry.error_names)
        for one in wanted:
            if one[0] == client and one not in found and (whole or one[1] in named):
                found[one] = asked
        if len(found) == len(wanted):
            break
    yield found


def _key(data: bytes) -> int:
    return int.from_bytes(data, signed=True)
