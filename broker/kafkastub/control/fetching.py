"""Whether somebody asks for records, and what stopped it: what the journal's newest entries say of it."""

from __future__ import annotations

from collections import Counter
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

_COMMITTED: Final = 1
"""The isolation level of who reads committed records only."""
_OF_MEMBERS: Final = frozenset(
    {
        ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.OFFSET_COMMIT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)  # fmt: skip
_NEWEST: Final = 10
"""Answers to a client: an error that is older has been got over."""

Reading = Callable[[int, Raw], Entry]


class Asked(NamedTuple):
    """The last Fetch of a client that was, or may have been, about a partition.

    Attributes:
        seconds: since it came.
        pending: it waits for records, or by a fault.
        errors: in its answer.
        committed: it wants committed records only.
        fault: that it has met.
    """

    seconds: float
    pending: bool
    errors: tuple[str, ...]
    committed: bool
    fault: str | None


Found = dict[tuple[str, Place], Asked]
"""By client id and partition."""


def last_fetches(
    walked: Iterator[tuple[int, Raw]], read: Reading, wanted: set[tuple[str, Place]]
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
        seconds, pending = (now - raw.started) / 1e9, raw.outcome is Outcome.PENDING
        asked = Asked(seconds, pending, entry.error_names, entry.request.isolation_level == _COMMITTED, raw.fault)
        for one in wanted:
            if one[0] == client and one not in found and (whole or one[1] in named):
                found[one] = asked
        if len(found) == len(wanted):
            break
    yield found


def met_faults(
    walked: Iterator[tuple[int, Raw]], read: Reading, group: str, clients: set[str]
) -> Iterator[Counter[str] | None]:
    """By fault, how many requests of a group have met it: they name it, or none and are its clients'."""
    found: Counter[str] = Counter()
    for sequence, raw in islice(walked, _MOST):
        yield None
        if raw.fault is None:
            continue
        entry = read(sequence, raw)
        if group in entry.groups or (not entry.groups and entry.client_id in clients):
            found[raw.fault] += 1
    yield found


class Refusal(NamedTuple):
    """The newest error that a client was answered.

    Attributes:
        seconds: since it asked.
    """

    client: str
    api: str
    error: str
    topics: tuple[str, ...]
    seconds: float


def refusals(walked: Iterator[tuple[int, Raw]], read: Reading, group: str) -> Iterator[list[Refusal] | None]:
    """What clients that were members of a group are refused now; None on the way."""
    members: set[str] = set()
    refused: dict[str, Refusal] = {}
    looked: Counter[str] = Counter()
    now = perf_counter_ns()
    for sequence, raw in islice(walked, _MOST):
        yield None
        if raw.outcome is not Outcome.REPLY:
            continue
        entry = read(sequence, raw)
        client = entry.client_id
        if client is None:
            continue
        if entry.api_key in _OF_MEMBERS and group in entry.groups:
            members.add(client)
        looked[client] += 1
        if client not in refused and looked[client] <= _NEWEST and entry.error_names:
            about = (now - raw.started) / 1e9
            refused[client] = Refusal(client, entry.api, entry.error_names[0], entry.topics, about)
    yield [refused[client] for client in sorted(members & refused.keys())]


def _key(data: bytes) -> int:
    return int.from_bytes(data, signed=True)
