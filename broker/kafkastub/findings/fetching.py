"""Whether somebody asks for records, and what stopped it: what the journal's newest entries say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import perf_counter_ns
from typing import Final, NamedTuple

from kafkastub.journal import DEFAULT_ENTRIES, Entry, Outcome, Raw
from kafkastub.state.fetch_sessions import FetchSessions
from kafkawire.api import ApiKey

Place = tuple[str, int]

MOST: Final = DEFAULT_ENTRIES
"""Entries that are looked through: all of a journal that is no larger than by default."""
_COMMITTED: Final = 1
"""The isolation level of who reads committed records only."""
_OF_MEMBERS: Final = frozenset(
    {
        ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.OFFSET_COMMIT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)  # fmt: skip
_OF_READERS: Final = _OF_MEMBERS | {ApiKey.FETCH, ApiKey.LIST_OFFSETS}
_CORRELATED: Final = 8
"""Bytes: API key, version and correlation id of a request."""
_VERSIONED: Final = 4
"""The same without the correlation id."""
_SHORT: Final = 1_000
"""Bytes of a request that is not looked into again where the same connection has sent the same later."""
_SAMPLED: Final = 3
"""Requests of a connection that are looked into for the groups that it speaks of: those to a coordinator have one."""
_CONNECTIONS: Final = 5
"""Of one client id that ask for one partition."""
_SOME: Final = 1000
"""Partitions that are looked for in one go."""
_JUST_NOW: Final = 3.0
"""Seconds: clients ask again after half of one, by default."""
_NEWEST: Final = 10
"""Answers to a client: an error that is older has been got over."""

Reading = Callable[[int, Raw], Entry]


class LastFetch(NamedTuple):
    """The last Fetch of a connection that was about a partition, or that let go of it within a fetch session.

    Attributes:
        peer: of the connection, `HOST:PORT`.
        host: of the connection, as Kafka prints it: `/127.0.0.1`.
        principal: as Kafka prints it.
        seconds: since it was answered, or since it came where it has not been.
        waited: seconds since it came.
        pending: it waits for records, or by a fault.
        errors: in its answer.
        committed: it wants committed records only.
        fault: that it has met.
        throttle_ms: what its answer said.
        offset: from which on; None where that is not known, or where it let go of the partition.
        let_go: with it the client has ceased to ask.
        gone: its connection is closed.
    """

    peer: str
    host: str
    principal: str
    seconds: float
    waited: float
    pending: bool
    errors: tuple[str, ...]
    committed: bool
    fault: str | None
    throttle_ms: int
    min_bytes: int
    max_wait_ms: int
    offset: int | None
    let_go: bool
    gone: bool

    @property
    def now(self) -> bool:
        """Whether it asks at this time: it waits, or was answered just now, and clients ask again at once."""
        return not self.let_go and (self.pending or self.seconds < _JUST_NOW)


class Looked(NamedTuple):
    """What the newest entries say of some client ids.

    Attributes:
        asked: by client id and partition; of each connection one, newest first.
        groups: by client id, the groups in whose name it speaks, as a member.
        began: by client id and partition, the time that its last ListOffsets asked for: -1 the end, -2 the beginning.
    """

    asked: dict[tuple[str, Place], list[LastFetch]]
    groups: dict[str, set[str]]
    began: dict[tuple[str, Place], int]


class Wanted(NamedTuple):
    """What is looked for.

    Attributes:
        places: by client id, partitions with their topics' ids.
        sessions: a node's fetch sessions.
    """

    places: dict[str, dict[Place, bytes]]
    sessions: Callable[[int], FetchSessions]


def last_fetches(walked: Iterator[tuple[int, Raw]], read: Reading, wanted: Wanted) -> Iterator[Looked | None]:
    """Look through entries, the newest first, for what is wanted; None on the way, the find at last.

    Within a fetch session only changes are named: what else a Fetch asks for, the session knows. Where that is gone,
    the Fetch counts for all that its client is wanted for.
    """
    looked, now = Looked({}, {client: set() for client in wanted.places}, {}), perf_counter_ns()
    names = {topic_id: place[0] for places in wanted.places.values() for place, topic_id in places.items()}
    connections: dict[tuple[int, str], _Connection] = {}
    seen: set[tuple[int, bytes]] = set()
    for sequence, raw in islice(walked, MOST):
        yield None
        key = -1 if raw.outcome is Outcome.CLOCK else int.from_bytes(raw.data[raw.start : raw.start + 2], signed=True)
        if key not in _OF_READERS:
            continue
        if raw.end - raw.start <= _SHORT:  # idle clients ask for the same again and again
            said = raw.data[raw.start : raw.start + _VERSIONED] + raw.data[raw.start + _CORRELATED : raw.end]
            if (raw.connection.id, said) in seen:
                continue
            seen.add((raw.connection.id, said))
        entry = read(sequence, raw)
        client = entry.client_id
        if client is None or client not in wanted.places:
            continue
        who = raw.connection.id, client
        connection = connections.get(who)
        if connection is None:
            connection = connections[who] = _Connection(wanted, client, now)
        if key == ApiKey.FETCH:
            yield from connection.fetched(entry, raw, names, looked)
        elif key == ApiKey.LIST_OFFSETS:
            for place, timestamp in _listed(entry):
                if place in wanted.places[client]:
                    looked.began.setdefault((client, place), timestamp)
        elif connection.spoke < _SAMPLED:
            connection.spoke += 1
            looked.groups[client].update(entry.groups)
    yield looked


class _Connection:
    """What one connection is still looked for, of one client id."""

    def __init__(self, wanted: Wanted, client: str, now: int) -> None:
        self._client = client
        self._places = wanted.places[client]
        self._left = dict(self._places)
        self._sessions = wanted.sessions
        self._seen: set[int] = set()
        self._now = now
        self._said = b""
        """The last Fetch that was looked at, from behind its correlation id on."""
        self.spoke = 0
        """Entries that were looked into for the groups that they name."""

    def fetched(self, entry: Entry, raw: Raw, names: dict[bytes, str], looked: Looked) -> Iterator[None]:
        """Note what this Fetch was about, of what newer ones were not."""
        said = raw.data[raw.start + _CORRELATED : raw.end]
        if not self._left or said == self._said:  # idle clients ask for the same again and again
            return
        self._said, request = said, entry.request
        if request is None:
            return
        about: dict[Place, int | None] = {}
        for topic in request.topics:
            name = topic.topic or names.get(topic.topic_id, "")
            about.update(((name, one.partition), one.fetch_offset) for one in topic.partitions)
        gone = {
            (topic.topic or names.get(topic.topic_id, ""), index)
            for topic in request.forgotten_topics_data
            for index in topic.partitions
        }
        if request.session_epoch > 0 and request.session_id not in self._seen:
            self._seen.add(request.session_id)
            for number, (place, topic_id) in enumerate(self._left.items(), 1):
                if place not in about and place not in gone:
                    self._by_session(raw.connection.node_id, request.session_id, place, topic_id, about)
                if not number % _SOME:
                    yield None
        found = (about.keys() | gone) & self._left.keys()
        asked = self._asked(entry, raw) if found else None
        for place in found:
            del self._left[place]
            known = looked.asked.setdefault((self._client, place), [])
            if asked is not None and len(known) < _CONNECTIONS:
                known.append(asked._replace(offset=about.get(place), let_go=place not in about))

    def _by_session(
        self, node: int, session: int, place: Place, topic_id: bytes, about: dict[Place, int | None]
    ) -> None:
        sessions = self._sessions(node)
        offset = sessions.fetch_offset(session, place[0], topic_id, place[1])
        if offset is not None or not sessions.knows(session):
            about[place] = offset

    def _asked(self, entry: Entry, raw: Raw) -> LastFetch:
        """About no partition yet."""
        request = entry.request
        return LastFetch(
            raw.connection.peer,
            raw.connection.client_host,
            raw.connection.principal,
            (self._now - (raw.started if raw.ended is None else raw.ended)) / 1e9,
            (self._now - raw.started) / 1e9,
            raw.outcome is Outcome.PENDING,
            entry.error_names,
            request.isolation_level == _COMMITTED,
            raw.fault,
            entry.throttle_ms,
            request.min_bytes,
            request.max_wait_ms,
            None,
            False,
            raw.connection.gone,
        )


def _listed(entry: Entry) -> Iterator[tuple[Place, int]]:
    """What a ListOffsets asks for."""
    for topic in () if entry.request is None else entry.request.topics:
        for one in topic.partitions:
            yield (topic.name, one.partition_index), one.timestamp


def met_faults(
    walked: Iterable[tuple[int, Raw]], read: Reading, group: str, clients: set[str]
) -> Iterator[Counter[str] | None]:
    """By fault, how many requests of a group have met it: they name it, or none and are its clients'."""
    found: Counter[str] = Counter()
    for sequence, raw in islice(walked, MOST):
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
    for sequence, raw in islice(walked, MOST):
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
