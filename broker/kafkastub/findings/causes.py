"""Why a test may have failed: sentences that its report begins with, the most telling first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final

from kafkastub.findings.finding import many
from kafkastub.findings.groups import LEVELS, of_group
from kafkastub.findings.watched import Watched, reading
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.findings.finding import Finding
    from kafkastub.journal import Entry
    from kafkastub.state.broker_state import BrokerState

MOST: Final = 8
"""Sentences."""
_ENTRIES: Final = 2_000
"""Of the journal, the newest."""
_GROUPS: Final = 6
_SILENT_SECONDS: Final = 2.5
"""Clients send a heartbeat every three seconds or more often, and a fetch twice a second."""
_GOT_OVER: Final = frozenset(
    {
        ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.TOPIC_ALREADY_EXISTS,
    }
)  # fmt: skip
"""Errors that are a step of the protocol, or told in another sentence."""
_WRITES: Final = frozenset({ApiKey.PRODUCE, ApiKey.TXN_OFFSET_COMMIT, ApiKey.END_TXN, ApiKey.OFFSET_COMMIT})
"""What a client may have given up, so that no later answer follows."""


def causes(watched: Watched, began: datetime) -> list[str]:
    """What a test that began then, in the time of the wall, may have failed of: at most MOST sentences.

    Runs on the broker's loop, and reads a bounded part of journal and groups.
    """
    broker = watched.running()
    ring, state = broker.observer.ring, broker.state
    entry = reading(broker)
    newest: list[Entry] = []
    for number, raw in () if ring is None else islice(ring.walk(before=ring.total), _ENTRIES):
        one = entry(number, raw)
        if one.wall_time < began:
            break
        newest.append(one)
    requests = [one for one in newest if one.kind == "request"]
    groups = list(_of_groups(watched, state))
    told = [
        *_of_holds(watched),
        *_of_topics(state, requests),
        *(sentence for level, sentence in groups if level == "stop"),
        *_of_errors(requests),
        *_of_empty_topics(state, requests),
        *(sentence for level, sentence in groups if level == "look"),
    ]
    return list(dict.fromkeys(told or _of_silence(requests)))[:MOST]


def _of_holds(watched: Watched) -> Iterator[str]:
    for fault in watched.faults:
        if fault.held:
            names = ", ".join(dict.fromkeys(f"{one.api} of {one.client_id}" for one in list(fault.held)[:3]))
            yield f"Fault {fault.id!r} holds {many(len(fault.held), 'request')} until it is released: {names}."


def _of_topics(state: BrokerState, requests: Iterable[Entry]) -> Iterator[str]:
    """Those that clients asked for and nobody made."""
    missing: dict[str, Counter[str]] = {}
    for one in requests:
        if one.api_key == ApiKey.METADATA and ErrorCode.UNKNOWN_TOPIC_OR_PARTITION in one.errors:
            for topic in one.response.topics:
                if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and topic.name:
                    missing.setdefault(topic.name, Counter())[one.client_id or "a client"] += 1
    for name, clients in missing.items():
        if state.cluster.topic(name) is None:
            ((client, times),) = clients.most_common(1)
            meant = _meant(state, name)
            yield f"Nobody made a topic {name!r}, for which {client} asked {_times(times)}.{meant}"


def _meant(state: BrokerState, name: str) -> str:
    known = [topic for topic in state.cluster.topics if not topic.startswith("__")]
    close = get_close_matches(name, known, 1)
    if close:
        return f" Is {close[0]!r} meant?"
    return f" The topics are {', '.join(map(repr, known[:4]))}." if known else " There is no topic."


def _of_empty_topics(state: BrokerState, requests: Iterable[Entry]) -> Iterator[str]:
    """Made by the request of a client that reads it (auto.create.topics.enable), where one of a like name is meant."""
    fetched = {topic for one in requests if one.api_key == ApiKey.FETCH for topic in one.topics}
    for name in fetched:
        topic = state.cluster.topic(name)
        if topic is not None and not _records(state, name):
            for other in get_close_matches(name, [each for each in state.cluster.topics if each != name], 1):
                if count := _records(state, other):
                    yield f"Topic {name!r} is empty, and {other!r} has {many(count, 'record')}: is that one meant?"


def _records(state: BrokerState, name: str) -> int:
    topic = state.cluster.topic(name)
    logs = () if topic is None else (state.logs.log(topic.topic_id, each.index) for each in topic.partitions)
    return sum(log.log_end_offset - log.log_start_offset for log in logs if log is not None)


def _of_groups(watched: Watched, state: BrokerState) -> Iterator[tuple[str, str]]:
    names = [name for name, group in state.coordinator.groups.items() if group.size]
    for name in names[:_GROUPS]:
        found: list[Finding] = [one for one in of_group(watched, state, name) if one is not None]
        for one in sorted(found, key=lambda one: LEVELS.index(one.level)):
            if one.level != "fine":
                yield one.level, f"Group {name!r}: {one.sentence}"


def _of_errors(requests: Iterable[Entry]) -> Iterator[str]:
    """Answers with errors that no later answer to the same client and API has made good."""
    seen: set[tuple[str | None, int]] = set()
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for one in requests:  # the newest first
        key = one.client_id, one.api_key
        if key in seen and one.api_key not in _WRITES:
            continue
        seen.add(key)
        by = "" if one.fault is None else f" (fault {one.fault!r})"
        for code in one.errors:
            if code and code not in _GOT_OVER:
                counts[one.client_id or "a client", one.api, ErrorCode(code).name, by] += 1
    for (client, api, error, by), times in counts.items():
        yield f"{client} was answered {error} to {api} {_times(times)}{by}."


def _of_silence(requests: list[Entry]) -> Iterator[str]:
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


def _waited(request: Entry, until: datetime) -> bool:
    """Whether its answer was owed most of the time until then."""
    took = request.duration_us
    if took is None:
        return request.outcome == "pending"
    return (until - request.wall_time).total_seconds() - took / 1e6 < _SILENT_SECONDS


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
