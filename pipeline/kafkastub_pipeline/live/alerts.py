"""What is to be looked at now: alerts, found in the tables of the present, and what has changed since the last look."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkastub_pipeline.report.quoting import quoted
from kafkastub_pipeline.settings import STORM_GENERATIONS
from kafkastub_pipeline.tables.findings import WITHIN_MS

EXPIRING: Final = "offset_expires"
HANGING: Final = "transaction_hangs"
UNOWNED: Final = "partition_unowned"
FLAPPING: Final = "group_flaps"
SOON_MS: Final = 86_400_000
"""An offset that expires within a day, of a partition with records behind it."""
FLAPS_WITHIN_MS: Final = WITHIN_MS
"""A group flaps that has begun `STORM_GENERATIONS` within ten minutes."""
GRACE_MS: Final = 30_000
"""A partition has no owner for a moment in every rebalance."""
MOST: Final = 1_000
"""Alerts of a kind that are open at once: those that were raised already, then the most urgent."""
LONGEST: Final = 1_000
"""Bytes of a group's name, and characters of a transactional id: clients choose them, and what is open is kept."""


class Subject(NamedTuple):
    """What an alert is about; None for what it is not about."""

    alert: str
    group_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    transactional_id: str | None = None


@dataclass(frozen=True)
class Found:
    """Something that is so now.

    Attributes:
        detail: a sentence.
        command: what to do about it.
        since_ms: since when, where a table says so.
    """

    subject: Subject
    detail: str
    command: str
    since_ms: int | None = None


class Open(NamedTuple):
    """Something that was so at the last look.

    Attributes:
        since_ms: when it began, or was first seen.
        raised: whether a row said so; not yet within the grace of its kind.
    """

    since_ms: int
    raised: bool


class Change(NamedTuple):
    """A row: an alert that was raised, or cleared."""

    subject: Subject
    state: str
    at_ms: int
    since_ms: int
    detail: str
    command: str


def changes(
    before: Mapping[Subject, Open], found: Iterable[Found], now_ms: int
) -> tuple[list[Change], dict[Subject, Open]]:
    """Compare what is so now with the last look: each alert is raised once and cleared once.

    Args:
        before: what was so at the last look.
        found: what is so now.
        now_ms: this moment, in Unix milliseconds.

    Returns:
        The rows to write, and what the next look compares with.
    """
    rows: list[Change] = []
    after: dict[Subject, Open] = {}
    for one in found:
        if one.subject in after:
            continue
        was = before.get(one.subject)
        since = was.since_ms if was is not None else min(one.since_ms or now_ms, now_ms)
        raised = was is not None and was.raised
        if not raised and now_ms - since >= (GRACE_MS if one.subject.alert == UNOWNED else 0):
            rows.append(Change(one.subject, "raised", now_ms, since, one.detail, one.command))
            raised = True
        after[one.subject] = Open(since, raised)
    for subject, was in before.items():
        if subject not in after and was.raised:
            rows.append(Change(subject, "cleared", now_ms, was.since_ms, "it is no longer so", ""))
    return rows, after


def _of_groups(server: str, group_id: str, rest: str) -> str:
    """A command about a group; empty for a name that no shell passes on."""
    if "\0" in group_id:
        return ""
    return f"kafka-consumer-groups.sh --bootstrap-server {server} --group {quoted(group_id)} {rest}"


def expiring(group_id: str, topic: str, partition: int, seconds_left: float, lag: int, server: str) -> Found:
    """An offset that expires soon, with records behind it."""
    when = "has expired: the next sweep deletes it" if seconds_left <= 0 else f"expires in {_span(seconds_left)}"
    return Found(
        Subject(EXPIRING, group_id, topic, partition),
        f"The offset of group {group_id!r} for {topic}-{partition} {when}, and {_many(lag, 'record')} behind it.",
        _of_groups(
            server,
            group_id,
            f"--topic {topic}:{partition} --reset-offsets --to-current --dry-run --export",
        ),
    )


def hanging(topic: str, partition: int, transactional_id: str | None, offset: int, held: int, server: str) -> Found:
    """A transaction that has not ended in its time, and holds back readers of committed records."""
    whose = "nobody that the coordinator knows" if transactional_id is None else repr(transactional_id)
    return Found(
        Subject(HANGING, None, topic, partition, transactional_id),
        f"A transaction of {whose} holds {topic}-{partition} at offset {offset}: {_many(held, 'record')} behind it.",
        f"kafka-transactions.sh --bootstrap-server {server} abort --topic {topic} --partition {partition}"
        f" --start-offset {offset}",
    )


def unowned(group_id: str, topic: str, partition: int, lag: int, server: str) -> Found:
    """A partition with records behind the group's offset that none of its members has."""
    return Found(
        Subject(UNOWNED, group_id, topic, partition),
        f"No member of group {group_id!r} has {topic}-{partition}, and {_many(lag, 'record')} behind its offset.",
        _of_groups(server, group_id, "--describe --members --verbose"),
    )


def flapping(
    rebalances: Iterable[tuple[str, int, int]], now_ms: int, server: str, open_: Container[Subject] = ()
) -> list[Found]:
    """Groups that begin one generation after the other.

    Args:
        rebalances: (group, new generations, milliseconds of the newest), in any order.
        open_: alerts that are open: they are looked for first.
    """
    counts: dict[str, int] = {}
    for group, count, ms in rebalances:
        if ms >= now_ms - FLAPS_WITHIN_MS:
            counts[group] = counts.get(group, 0) + count
    flaps = [
        (Subject(FLAPPING, group) not in open_, -count, group)
        for group, count in counts.items()
        if count >= STORM_GENERATIONS
    ]
    return [
        Found(
            Subject(FLAPPING, group),
            f"Group {group!r} began {-count} generations within {_span(FLAPS_WITHIN_MS / 1000)}.",
            _of_groups(server, group, "--describe --state"),
        )
        for _, count, group in sorted(flaps)[:MOST]
    ]


def _many(count: int, what: str) -> str:
    return f"one {what} is" if count == 1 else f"{count:,} {what}s are"


def _span(seconds: float) -> str:
    """`3 h 20 min`, `45 s`."""
    left = int(seconds)
    if left < 60:
        return f"{left} s"
    hours, minutes = divmod(left // 60, 60)
    return " ".join(f"{count} {unit}" for count, unit in ((hours, "h"), (minutes, "min")) if count)
