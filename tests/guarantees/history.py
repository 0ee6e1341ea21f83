"""Histories in words, as docs/guarantees.md has them: what passed, a line each, and what a check finds in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from kafkastub.guarantees import Checker, Finding, Verdict
from kafkastub.guarantees.events import (
    Acquired,
    Assigned,
    At,
    Batch,
    Client,
    Commit,
    Committed,
    Ended,
    Event,
    Expelled,
    Fetched,
    Joined,
    Left,
    Listed,
    Partition,
    PositionsRead,
    Produced,
    ProducerGiven,
    Replicated,
    ShareAcknowledged,
    ShareEnded,
    ShareGiven,
    ShareUnanswered,
)
from kafkawire.errors import ErrorCode

GROUP = "billing"
LOCK_MS = 30_000
"""The acquisition lock of a share group."""
_KINDS = {"accepts": 1, "releases": 2, "rejects": 3, "renews": 4}


def partition_of(text: str) -> Partition:
    name, _, index = text.rpartition("-")
    return name, int(index)


def error_of(text: str | None) -> int | None:
    """`NOT_COORDINATOR`, or `no answer`; 0 where nothing is said."""
    if text is None:
        return 0
    return None if text.startswith("no answer") else ErrorCode[text].value


@dataclass
class _Producer:
    id: int
    transactional: bool = False
    sequence: int = 0


@dataclass
class Playing:
    """Makes events of lines, and feeds them to a checker."""

    checker: Checker = field(default_factory=Checker)
    logs: dict[Partition, int] = field(default_factory=dict)
    producers: dict[str, _Producer] = field(default_factory=dict)
    open: dict[Partition, list[tuple[int, int, str]]] = field(default_factory=dict)
    batches: dict[Partition, list[Batch]] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    connections: dict[str, int] = field(default_factory=dict)
    sequence: int = 0
    sent: dict[str, list[int]] = field(default_factory=dict)
    later_ns: int = 0
    limit: int | None = None

    def at(self) -> At:
        self.sequence += 1
        began = self.sequence * 1000 + self.later_ns
        return At(self.sequence, began // 10, began, began + 1)

    def client(self, name: str) -> Client:
        connection = self.connections.setdefault(name, len(self.connections) + 1)
        return Client(connection, name, "/127.0.0.1", "User:ANONYMOUS")

    def feed(self, event: Event) -> None:
        self.checker.feed(event)

    def verdict(self, *wanted: str) -> Verdict:
        return self.checker.verdict(
            wanted or None, gone=lambda one: one in self.gone, limit=lambda group: self.limit, requests=self.sequence
        )

    def line(self, text: str) -> None:
        """Raises ValueError for a line that means nothing."""
        for pattern, do in _LINES:
            found = re.fullmatch(pattern, text)
            if found is not None:
                do(self, found.groupdict())
                return
        raise ValueError(f"no line of a history: {text!r}")


def writes(play: Playing, said: dict[str, str | None]) -> None:
    who, partition, count = str(said["who"]), partition_of(str(said["place"])), int(str(said["count"]))
    error = error_of(said["error"])
    producer = play.producers.get(who)
    base = play.logs.get(partition, 0)
    sent = play.sent.setdefault(who, [])
    if said["which"] is None or said["which"] == "another":
        sent.append(play.sequence)
    number = re.match(r"the (\d+)", said["which"] or "")
    what = sent[int(number[1]) - 1] if number else sent[0] if said["which"] == "the first" else sent[-1]
    crc = hash((who, what))
    is_written = error == 0 or (said["error"] or "").endswith("written")
    transactional = producer is not None and producer.transactional
    batch = Batch(
        0, count, -1 if producer is None else producer.id, 0, 0 if producer else -1, crc, transactional, False
    )
    contents = [hash((who, what, n)) for n in range(count)]
    if is_written:
        play.batches.setdefault(partition, []).append(batch._replace(first=base, end=base + count))
        play.logs[partition] = base + count
    play.feed(
        Produced(
            play.at(),
            play.client(who),
            partition,
            batch,
            who if transactional else None,
            int(said["acks"] or -1),
            error,
            base if error == 0 else -1,
            lambda: contents,
        )
    )


def has_replicas(play: Playing, said: dict[str, str | None]) -> None:
    play.feed(Replicated(play.at(), play.client("admin"), str(said["topic"]), int(str(said["count"]))))


def begins(play: Playing, said: dict[str, str | None]) -> None:
    who = str(said["who"])
    play.producers[who] = _Producer(7 + len(play.producers), True)


def ends(play: Playing, said: dict[str, str | None]) -> None:
    who, commits = str(said["who"]), said["how"] == "commits"
    producer = play.producers[who]
    error = error_of(said["error"])
    if error == 0 or (said["error"] or "").endswith("done"):
        _mark(play, producer.id, commits)
    play.feed(Ended(play.at(), play.client(who), who, producer.id, 0, commits, error))


def _mark(play: Playing, producer_id: int, commits: bool) -> None:
    """Write markers behind what a producer's transaction has written."""
    for partition, batches in play.batches.items():
        mine = [one for one in batches if one.producer_id == producer_id]
        if mine and not mine[-1].control:
            base = play.logs[partition]
            batches.append(Batch(base, base + 1, producer_id, 0, -1, 0, True, True, not commits))
            play.logs[partition] = base + 1


def starts_again(play: Playing, said: dict[str, str | None]) -> None:
    """InitProducerId, by the same instance: the coordinator aborts what was open."""
    who = str(said["who"])
    producer = play.producers[who]
    _mark(play, producer.id, False)
    play.feed(ProducerGiven(play.at(), play.client(who), who, producer.id, 0))


def goes(play: Playing, said: dict[str, str | None]) -> None:
    play.gone.add(play.client(str(said["who"])).connection)


def joins(play: Playing, said: dict[str, str | None]) -> None:
    who = str(said["who"])
    kept = frozenset(partition_of(one) for one in (said["kept"] or "").split(", ") if one)
    play.feed(Joined(play.at(), play.client(who), GROUP, who, who, kept, 0))


def owns(play: Playing, said: dict[str, str | None]) -> None:
    who, places = str(said["who"]), str(said["places"])
    partitions = frozenset(partition_of(one) for one in places.split(", ") if one != "nothing")
    play.feed(Assigned(play.at(), play.client(who), GROUP, who, partitions))


def leaves(play: Playing, said: dict[str, str | None]) -> None:
    who = str(said["who"])
    play.feed(Left(play.at(), play.client(who), GROUP, (who,)))


def expelled(play: Playing, said: dict[str, str | None]) -> None:
    who = str(said["who"])
    play.feed(Expelled(play.at(), play.client(who), GROUP, who))


def asks(play: Playing, said: dict[str, str | None]) -> None:
    offset = -1 if said["offset"] == "nothing" else int(str(said["offset"]))
    partition = partition_of(str(said["place"]))
    play.feed(PositionsRead(play.at(), play.client(str(said["who"])), GROUP, ((partition, offset),)))


def told_end(play: Playing, said: dict[str, str | None]) -> None:
    partition = partition_of(str(said["place"]))
    timestamp = -1 if said["which"] == "end" else -2
    play.feed(Listed(play.at(), play.client(str(said["who"])), partition, timestamp, int(str(said["offset"]))))


def fetches(play: Playing, said: dict[str, str | None]) -> None:
    partition, asked = partition_of(str(said["place"])), int(str(said["asked"]))
    end = asked if said["last"] is None else int(str(said["last"])) + 1
    batches = [one for one in play.batches.get(partition, []) if one.end > asked and one.first < end]
    if end > asked and not batches:
        batches = [Batch(asked, end, -1, -1, -1, 0, False, False)]
    play.feed(
        Fetched(
            play.at(),
            play.client(str(said["who"])),
            partition,
            asked,
            end,
            tuple(batches),
            said["isolation"] is not None,
            int(said["start"] or 0),
            -1,
            0,
        )
    )


def commits(play: Playing, said: dict[str, str | None]) -> None:
    who, partition, offset = str(said["who"]), partition_of(str(said["place"])), int(str(said["offset"]))
    producer = play.producers[str(said["by"])].id if said["by"] else None
    alone = said["alone"] is not None
    play.feed(
        Committed(
            play.at(),
            play.client(said["by"] or who),
            GROUP,
            "" if alone else who,
            -1 if alone else 1,
            (Commit(partition, offset, error_of(said["error"])),),
            None if producer is None else (producer, 0),
            said["by"] or "",
        )
    )


def acquires(play: Playing, said: dict[str, str | None]) -> None:
    first, last = int(str(said["first"])), int(str(said["last"]))
    play.feed(
        ShareGiven(
            play.at(),
            play.client(str(said["who"])),
            GROUP,
            str(said["who"]),
            partition_of(str(said["place"])),
            (Acquired(first, last + 1, int(said["times"] or 1)),),
            LOCK_MS,
        )
    )


def loses_fetch(play: Playing, said: dict[str, str | None]) -> None:
    play.feed(ShareUnanswered(play.at(), play.client(str(said["who"])), GROUP))


def ends_session(play: Playing, said: dict[str, str | None]) -> None:
    who = str(said["who"])
    play.feed(ShareEnded(play.at(), play.client(who), GROUP, who))


def passes(play: Playing, said: dict[str, str | None]) -> None:
    play.later_ns += int(str(said["seconds"])) * 1_000_000_000


def limits(play: Playing, said: dict[str, str | None]) -> None:
    play.limit = int(str(said["count"]))


def acknowledges(play: Playing, said: dict[str, str | None]) -> None:
    first, last = int(str(said["first"])), int(str(said["last"]))
    play.feed(
        ShareAcknowledged(
            play.at(),
            play.client(str(said["who"])),
            GROUP,
            str(said["who"]),
            partition_of(str(said["place"])),
            ((first, last + 1, (_KINDS[str(said["kind"])],)),),
            error_of(said["error"]),
        )
    )


_WHO = r"(?P<who>\w+)"
_PLACE = r"(?P<place>\w+-\d+)"
_ERROR = r"(: (?P<error>no answer, but written|no answer, but done|no answer|[A-Z_]+))?"
_LINES: list[tuple[str, Callable[[Playing, dict[str, str | None]], None]]] = [
    (
        rf"{_WHO} writes ((?P<which>the same|another|the first|the \d+(?:st|nd|rd|th)) )?(?P<count>\d+) to {_PLACE}"
        rf"( with acks (?P<acks>\d))?{_ERROR}",
        writes,
    ),
    (r"(?P<topic>\w+) has (?P<count>\d+) replicas", has_replicas),
    (rf"{_WHO} begins a transaction", begins),
    (rf"{_WHO} (?P<how>commits|aborts) the transaction{_ERROR}", ends),
    (rf"{_WHO} starts again", starts_again),
    (rf"{_WHO} goes", goes),
    (rf"{_WHO} joins( and keeps (?P<kept>[\w, -]+))?", joins),
    (rf"{_WHO} owns (?P<places>[\w, -]+)", owns),
    (rf"{_WHO} leaves", leaves),
    (rf"{_WHO} is told that its session has ended", expelled),
    (rf"{_WHO} reads that {_PLACE} is committed up to (?P<offset>\d+|nothing)", asks),
    (rf"{_WHO} is told the (?P<which>end|beginning) of {_PLACE}: (?P<offset>\d+)", told_end),
    (
        rf"{_WHO} fetches {_PLACE} from (?P<asked>\d+)(?P<isolation>, committed records)?: "
        rf"(nothing|(?P<from>\d+)-(?P<last>\d+))(, the log begins at (?P<start>\d+))?",
        fetches,
    ),
    (
        rf"{_WHO} commits {_PLACE} (?P<offset>\d+)(?P<alone> as no member)?"
        rf"( in the transaction of (?P<by>\w+))?{_ERROR}",
        commits,
    ),
    (rf"{_WHO} is given {_PLACE} (?P<first>\d+)-(?P<last>\d+) to share( for the (?P<times>\d+)\w\w time)?", acquires),
    (rf"{_WHO} fetches to share: no answer", loses_fetch),
    (rf"{_WHO} ends its share session", ends_session),
    (r"(?P<seconds>\d+) seconds pass", passes),
    (r"the delivery limit is (?P<count>\d+)", limits),
    (rf"{_WHO} (?P<kind>accepts|releases|rejects|renews) {_PLACE} (?P<first>\d+)-(?P<last>\d+){_ERROR}", acknowledges),
]


def played(text: str) -> tuple[Verdict, list[str]]:
    """What a check says of a history, and what the history says that it says: its lines behind `->`."""
    play, wanted = Playing(), []
    for line in text.strip().splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("->"):
            wanted.append(line.removeprefix("->").strip())
        elif line:
            play.line(line)
    return play.verdict(), wanted


def found(verdict: Verdict) -> list[str]:
    """Its findings and notices, as histories have them."""
    return [*map(shown, verdict.findings), *(f"notices {shown(one)}" for one in verdict.notices)]


def shown(finding: Finding) -> str:
    """`skipped orders-0 offsets 5-9`, as histories have it."""
    return f"{finding.guarantee} {finding.place}".strip()
