"""Why a test may have failed: sentences that its report begins with, the most telling first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Generator, Iterable, Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.findings.finding import many
from kafkastub.findings.groups import LEVELS, of_group
from kafkastub.findings.watched import Watched, reading
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.findings.finding import Finding
    from kafkastub.journal import Entry, Raw
    from kafkastub.server.broker import Broker
    from kafkastub.state.broker_state import BrokerState

MOST: Final = 8
"""Sentences."""
_ENTRIES: Final = 2_000
"""Of the journal, the newest."""
_GROUPS: Final = 6
_TOPICS: Final = 1_000
"""Whose names are compared with one that is not there."""
_SOME: Final = 8
"""Names that are compared in one go."""
_NAMES: Final = 1_000
"""Topics of a request."""
_PARTITIONS: Final = 500
"""Whose records are counted in one go."""
_SILENT_SECONDS: Final = 2.5
"""Clients send a heartbeat every three seconds or more often, and a fetch twice a second."""
_UNKNOWN: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_GOT_OVER: Final = frozenset(
    {
        ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.TOPIC_ALREADY_EXISTS,
    }
)  # fmt: skip
"""Errors that are a step of the protocol, or that another sentence names."""
_WRITES: Final = frozenset({ApiKey.PRODUCE, ApiKey.TXN_OFFSET_COMMIT, ApiKey.END_TXN, ApiKey.OFFSET_COMMIT})
"""What a client may have given up, so that no later answer follows."""


class RequestFacts(NamedTuple):
    """What is to be known of a request. The request and its answer are not kept: decoded, they may be very large.

    Attributes:
        duration_us: microseconds to the answer; None without one.
        errors: error codes of the answer, as far as they matter.
        missing: topics that Metadata does not know.
        fetched: topics that Fetch names.
    """

    wall_time: datetime
    duration_us: int | None
    outcome: str
    client: str
    api_key: int
    api: str
    fault: str | None
    errors: tuple[int, ...]
    missing: tuple[str, ...]
    fetched: tuple[str, ...]


class Reader:
    """Reads requests, the newest first."""

    def __init__(self) -> None:
        self._later: set[tuple[str, int]] = set()
        """Clients and APIs of which a later answer was read."""

    def read(self, one: Entry) -> RequestFacts:
        """Decode a request and its answer, as far as they matter: this is what takes long."""
        client, key = one.client_id or "a client", one.api_key
        made_good = (client, key) in self._later and key not in _WRITES
        self._later.add((client, key))
        missing: tuple[str, ...] = ()
        if key == ApiKey.METADATA and _UNKNOWN in one.errors:
            unknown = (each.name for each in one.response.topics if each.error_code == _UNKNOWN and each.name)
            missing = tuple(islice(unknown, _NAMES))
        return RequestFacts(
            one.wall_time,
            one.duration_us,
            one.outcome,
            client,
            key,
            one.api,
            one.fault,
            () if made_good else tuple(code for code in one.errors if code and code not in _GOT_OVER),
            missing,
            one.topics[:_NAMES] if key == ApiKey.FETCH else (),
        )


def causes(watched: Watched, began: datetime) -> list[str]:
    """Return why a test that began then, in the time of the wall, may have failed: at most MOST sentences.

    Runs on the broker's loop, and reads a bounded part of journal and groups.
    """
    reader = Reader()
    requests = [reader.read(one) for one, _ in recent(watched.running(), began)]
    return [each for each in find_causes(watched, requests) if each is not None]


def recent(broker: Broker, began: datetime) -> Iterator[tuple[Entry, Raw]]:
    """Requests since then, in the time of the wall, the newest first, and no more than are to be read."""
    ring, entry = broker.observer.ring, reading(broker)
    for number, raw in () if ring is None else islice(ring.walk(before=ring.total), _ENTRIES):
        one = entry(number, raw)
        if one.wall_time < began:
            return
        if one.kind == "request":
            yield one, raw


def find_causes(watched: Watched, requests: list[RequestFacts]) -> Iterator[str | None]:
    """Find the same step by step: None stands where the broker may serve others (`control.walks`).

    Args:
        requests: of `recent`, as `Reader` has read them.
    """
    state: BrokerState | None = getattr(watched.running(), "state", None)
    if state is None:
        yield from _of_a_proxy(watched, requests)
        return
    groups: list[tuple[str, str]] = []
    for group in _of_groups(watched, state):
        if group is None:
            yield None
        else:
            groups.append(group)
    found: dict[str, None] = {}
    for each in (
        *_of_holds(watched),
        *(yield from _kept(_of_topics(state, requests))),
        *(sentence for level, sentence in groups if level == "stop"),
        *_of_errors(requests),
        *(yield from _kept(_of_empty_topics(state, requests))),
        *(sentence for level, sentence in groups if level == "look"),
    ):
        found[each] = None
    yield from islice(found or _of_silence(requests), MOST)


def _of_a_proxy(watched: Watched, requests: list[RequestFacts]) -> Iterator[str]:
    """What can be said without the state of a cluster, which only the cluster knows."""
    fetched = {name for one in requests for name in one.fetched}
    topics = (
        f"The cluster had no topic {name!r} when {client} asked for it {_times(times)}."
        for name, client, times in _asked_in_vain(requests, fetched)
    )
    found = dict.fromkeys([*_of_holds(watched), *topics, *_of_errors(requests)])
    yield from islice(found or _of_silence(requests), MOST)


def _kept(steps: Iterator[str | None]) -> Generator[None, None, list[str]]:
    """What comes of steps, which pauses where they do."""
    found: list[str] = []
    for step in steps:
        if step is None:
            yield None
        else:
            found.append(step)
    return found


def _of_holds(watched: Watched) -> Iterator[str]:
    for fault in watched.faults:
        if fault.held:
            names = ", ".join(dict.fromkeys(f"{one.api} of {one.client_id}" for one in list(fault.held)[:3]))
            yield f"Fault {fault.id!r} holds {many(len(fault.held), 'request')} until it is released: {names}."


def _of_topics(state: BrokerState, requests: Iterable[RequestFacts]) -> Iterator[str | None]:
    """Those that clients asked for and nobody made."""
    for name, client, times in _asked_in_vain(requests):
        if state.cluster.topic(name) is None:
            meant = yield from _meant(state, name)
            yield f"Topic {name!r} does not exist; {client} asked for it {_times(times)}.{meant}"


def _asked_in_vain(requests: Iterable[RequestFacts], but: Container[str] = ()) -> Iterator[tuple[str, str, int]]:
    """Topics that were not there, `but` for these, with the client that asked most often, and how often."""
    missing: dict[str, Counter[str]] = {}
    for one in requests:
        for name in one.missing:
            if name not in but:
                missing.setdefault(name, Counter())[one.client] += 1
    for name, clients in islice(missing.items(), MOST):
        ((client, times),) = clients.most_common(1)
        yield name, client, times


def _meant(state: BrokerState, name: str) -> Generator[None, None, str]:
    close = yield from _closest(state, name)
    if close is not None:
        return f" Did you mean {close!r}?"
    known = list(islice((topic for topic in state.cluster.topics if not topic.startswith("__")), 4))
    return f" The topics are {', '.join(map(repr, known))}." if known else " There is no topic."


def _closest(state: BrokerState, name: str) -> Generator[None, None, str | None]:
    """A topic whose name is nearly the same; names of 249 characters take a millisecond to compare."""
    names = [topic for topic in islice(state.cluster.topics, _TOPICS) if topic != name and not topic.startswith("__")]
    found: list[str] = []
    for start in range(0, len(names), _SOME):
        found = get_close_matches(name, [*found, *names[start : start + _SOME]], 1)
        yield None
    return found[0] if found else None


def _of_empty_topics(state: BrokerState, requests: Iterable[RequestFacts]) -> Iterator[str | None]:
    """Made by the request of a client that reads it (auto.create.topics.enable), where one of a like name is meant."""
    looked = 0
    for name in dict.fromkeys(name for one in requests for name in one.fetched):
        if looked == MOST or state.cluster.topic(name) is None or (yield from _records(state, name)):
            continue
        looked += 1
        other = yield from _closest(state, name)
        if other is not None and (count := (yield from _records(state, other))):
            yield f"Topic {name!r} is empty, and {other!r} has {many(count, 'record')}: did you mean that one?"


def _records(state: BrokerState, name: str) -> Generator[None, None, int]:
    """How many a topic has, which may have 100,000 partitions; 0 where it is gone."""
    topic, count = state.cluster.topic(name), 0
    partitions = [] if topic is None else [(topic.topic_id, each.index) for each in topic.partitions]
    for start in range(0, len(partitions), _PARTITIONS):
        logs = (state.logs.log(*place) for place in partitions[start : start + _PARTITIONS])
        count += sum(log.log_end_offset - log.log_start_offset for log in logs if log is not None)
        yield None
    return count


def _of_groups(watched: Watched, state: BrokerState) -> Iterator[tuple[str, str] | None]:
    names = islice((name for name, group in state.coordinator.groups.items() if group.size), _GROUPS)
    for name in list(names):
        found: list[Finding] = []
        for step in of_group(watched, state, name):
            if step is None:
                yield None
            else:
                found.append(step)
        for one in sorted(found, key=lambda one: LEVELS.index(one.level)):
            if one.level != "fine":
                yield one.level, f"Group {name!r}: {one.sentence}"


def _of_errors(requests: Iterable[RequestFacts]) -> Iterator[str]:
    """Answers with errors that no later answer to the same client and API has made good."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for one in requests:
        by = "" if one.fault is None else f" (fault {one.fault!r})"
        for code in one.errors:
            counts[one.client, one.api, ErrorCode(code).name, by] += 1
    for (client, api, error, by), times in counts.items():
        yield f"{client} got {error} in the answer to {api} {_times(times)}{by}."


def _of_silence(requests: list[RequestFacts]) -> Iterator[str]:
    """Requests are the newest first. Silence while the broker owes an answer is no riddle: another sentence has it."""
    later = datetime.now(UTC)
    for number, one in enumerate(requests):
        silent = (later - one.wall_time).total_seconds()
        if silent >= _SILENT_SECONDS and not any(_waited(each, later) for each in requests[number : number + 50]):
            yield (
                f"No client sent anything for {silent:.1f} s, not even a heartbeat: "
                "it had ended, or a call that blocks kept its thread or event loop busy."
            )
            return
        later = one.wall_time


def _waited(request: RequestFacts, until: datetime) -> bool:
    """Whether its answer was owed most of the time until then."""
    took = request.duration_us
    if took is None:
        return request.outcome == "pending"
    return (until - request.wall_time).total_seconds() - took / 1e6 < _SILENT_SECONDS


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
