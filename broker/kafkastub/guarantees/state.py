"""What is kept of logs and groups, all of it by partition: ranges, positions, who owns what."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkastub.guarantees.events import At, Batch, Client, Partition
from kafkastub.guarantees.ranges import Range, Ranges

MOST_STEPS: Final = 120
"""Of a partition's story that are kept."""
MOST_MAYBE: Final = 32
MOST_PENDING: Final = 1000
"""Batches of a partition in transactions whose end is not known."""
MOST_CLIENTS: Final = 10_000


class Step(NamedTuple):
    """A line of a partition's story."""

    sequence: int
    broker_ms: int
    what: str
    """ "given", "given again", "committed", "commit refused", "commit without an answer", "owned by" …"""
    who: str
    start: int
    end: int
    """Offsets; -1 where there are none."""


@dataclass(slots=True)
class Pending:
    """Records of a transaction whose end is not known."""

    producer_id: int
    start: int
    end: int
    read_to: int
    """Somebody has read from their end up to here, and there was no marker of the producer."""
    is_open: bool
    """Whether they belong to the producer's open transaction: they were seen being written, and no end was sent."""


class Log:
    """What is known of a partition's records."""

    __slots__ = ("aborted", "data", "end", "first", "pending", "start")

    def __init__(self) -> None:
        self.data = Ranges()
        """Offsets of records that a reader of committed records gets."""
        self.aborted = Ranges()
        self.pending: list[Pending] = []
        self.start = 0
        self.end = 0
        """As far as it is known."""
        self.first = -1
        """The end when it was seen for the first time."""

    def written(self, batch: Batch) -> None:
        """A batch was written."""
        self._known(batch)
        if batch.transactional and not batch.control:
            read = next((one for one in self.pending if one.start == batch.first), None)
            if read is None:
                self._keep(Pending(batch.producer_id, batch.first, batch.end, batch.end, True))
            else:
                read.is_open = True
        elif not batch.control:
            self.data.add(batch.first, batch.end)

    def read(self, batches: tuple[Batch, ...], asked: int, end: int) -> None:
        """Somebody has read this, from an offset on up to another one.

        A marker ends what lies before it if all between the two was read: another one might lie there.
        """
        for batch in batches:
            self._known(batch)
            if batch.control:
                if batch.aborts is not None:
                    self._marked(batch, asked)
            elif not batch.transactional:
                self.data.add(batch.first, batch.end)
            elif not self._is_decided(batch) and all(one.start != batch.first for one in self.pending):
                self._keep(Pending(batch.producer_id, batch.first, batch.end, batch.end, False))
        for one in self.pending:
            if one.read_to >= asked:
                one.read_to = max(one.read_to, end)

    def ended(self, producer_id: int, commits: bool) -> None:
        """The producer's open transaction has ended."""
        self._decide([one for one in self.pending if one.is_open and one.producer_id == producer_id], commits)

    def maybe_ended(self, producer_id: int) -> None:
        """The end of the producer's open transaction was sent, and had no answer."""
        for one in self.pending:
            if one.producer_id == producer_id:
                one.is_open = False

    def _is_decided(self, batch: Batch) -> bool:
        return bool(self.data.within(batch.first, batch.end) or self.aborted.within(batch.first, batch.end))

    def _known(self, batch: Batch) -> None:
        if self.first < 0:
            self.first = batch.first
        self.end = max(self.end, batch.end)

    def _keep(self, one: Pending) -> None:
        if len(self.pending) >= MOST_PENDING:
            del self.pending[0]
        self.pending.append(one)

    def _marked(self, marker: Batch, asked: int) -> None:
        mine = [
            one
            for one in self.pending
            if one.producer_id == marker.producer_id and one.end <= marker.first and one.read_to >= asked
        ]
        self._decide(mine, not marker.aborts)

    def _decide(self, ended: list[Pending], commits: bool) -> None:
        for one in ended:
            self.pending.remove(one)
            (self.data if commits else self.aborted).add(one.start, one.end)


@dataclass
class Member:
    """Of a group, under one member id."""

    id: str
    instance: int
    """The client behind it, which may have had other member ids before."""
    client: Client
    assigned: frozenset[Partition] = frozenset()
    before: frozenset[Partition] = frozenset()
    """What it was assigned before that."""
    kept: frozenset[Partition] = frozenset()
    """What it goes on with when it is assigned it again."""
    gone: str = ""
    """How it left, where it has."""


@dataclass
class Tenure:
    """The time in which one member owns a partition, from its assignment on."""

    member: str
    instance: int
    began: At
    first: At | None = None
    """Of its first fetch."""
    given: Ranges = field(default_factory=Ranges)
    maybe: Ranges = field(default_factory=Ranges)
    """What may have been given to another client."""
    commits: int = 0


class Refused(NamedTuple):
    """A commit that was not accepted."""

    offset: int
    error: int | None
    """None: there was no answer."""
    at: At
    member: str


class Behind(NamedTuple):
    """Where a member began, past what was committed."""

    start: int
    end: int
    committed_at: At | None
    began: At
    member: str
    before: str
    """The member that had been given what is left out, as far as it is known."""


class GroupPartition:
    """A partition as a group has it."""

    __slots__ = (
        "again", "baseline", "behind", "client_ids", "commits", "committed", "committed_at", "furthest", "given",
        "is_known", "last_member", "left", "maybe", "maybe_given", "over", "refused", "story", "tenure",
        "uncommitted_given",
    )  # fmt: skip

    def __init__(self) -> None:
        self.committed: int | None = None
        self.is_known = False
        """Whether that is known: a commit was accepted, or OffsetFetch has told."""
        self.committed_at: At | None = None
        self.furthest = 0
        """The highest offset that members have committed, since somebody else set another one."""
        self.maybe: list[int] = []
        """Commits without an answer."""
        self.baseline: int | None = None
        """The first offset that the group asked for."""
        self.given = Ranges()
        self.again = Ranges()
        """Given more than once."""
        self.maybe_given = Ranges()
        """Given to a client of which it is not clear which group it was in."""
        self.tenure: Tenure | None = None
        self.last_member = ""
        self.over = ""
        """How the tenure before ended."""
        self.behind: list[Behind] = []
        self.left: list[list[Range]] = []
        """Of findings: offsets that were left behind, until they are given again."""
        self.refused: Refused | None = None
        self.commits = 0
        """That were sent, whatever became of them."""
        self.client_ids: set[str] = set()
        """Of who was given something."""
        self.uncommitted_given: list[tuple[int, Range, At]] = []
        """Records of open transactions that were given to a reader of uncommitted ones, with the producer id."""
        self.story: deque[Step] = deque(maxlen=MOST_STEPS)

    def tell(self, at: At, what: str, who: str, start: int = -1, end: int = -1) -> None:
        """Add a line to the story; what was given goes on in the line before."""
        last = self.story[-1] if self.story else None
        if last is not None and what == last.what == "given" and who == last.who and start == last.end:
            self.story[-1] = last._replace(end=end)
        else:
            self.story.append(Step(at.sequence, at.broker_ms, what, who, start, end))


class Group:
    """A group of consumers, or of one that has no members and commits all the same."""

    __slots__ = (
        "clients", "ends", "in_transactions", "joined", "members", "name", "outside", "partitions", "topics",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: dict[str, Member] = {}
        self.clients: set[tuple[str, str]] = set()
        """Client id and host of who spoke for it."""
        self.partitions: dict[Partition, GroupPartition] = {}
        self.joined: At | None = None
        """When a member joined for the first time."""
        self.ends: dict[Partition, int] = {}
        """Where logs ended then."""
        self.topics: set[str] = set()
        self.in_transactions: dict[Partition, At] = {}
        """Where offsets were committed in a transaction."""
        self.outside: dict[Partition, tuple[At, int]] = {}

    def partition(self, partition: Partition) -> GroupPartition:
        found = self.partitions.get(partition)
        if found is None:
            found = self.partitions[partition] = GroupPartition()
        return found

    def client_of(self, member: str) -> str:
        """For people: the member's client id and the beginning of its id."""
        return short(member) if member else "a client without a member id"


class State:
    """Everything, for all families."""

    def __init__(self, partial: bool = False) -> None:
        self.partial = partial
        """Whether requests had passed that nobody can read any more."""
        self.begun: dict[Partition, int] = {}
        """Of a partial history: the first end that is known of a log. What is below may have been given before."""
        self.logs: dict[Partition, Log] = {}
        self.groups: dict[str, Group] = {}
        self.named: dict[int, set[str]] = {}
        """Groups that were named on a connection."""
        self.loose: dict[tuple[str, Partition], Ranges] = {}
        """What was given to clients of no known group, by their client id."""
        self.transactions_in: dict[int, set[Partition]] = {}
        """Partitions that a producer's open transaction has records in."""
        self.forgotten: dict[str, int] = {}
        """What was forgotten for want of room, and how often."""

    def log(self, partition: Partition) -> Log:
        found = self.logs.get(partition)
        if found is None:
            found = self.logs[partition] = Log()
        return found

    def group(self, name: str) -> Group:
        found = self.groups.get(name)
        if found is None:
            found = self.groups[name] = Group(name)
        return found

    def forget(self, what: str) -> None:
        self.forgotten[what] = self.forgotten.get(what, 0) + 1

    def decidable(self, partition: Partition, start: int, end: int) -> int:
        """The first of these offsets that nobody was given before the history begins; `end` for none."""
        return max(start, self.begun.get(partition, end)) if self.partial else start

    def groups_of(self, client: Client, partition: Partition) -> list[Group]:
        """Whom a client that fetches from a partition does it for: one group where that is clear."""
        named = [self.groups[one] for one in self.named.get(client.connection, ()) if one in self.groups]
        if len(named) == 1:
            return named
        found = named or [one for one in self.groups.values() if (client.client_id, client.host) in one.clients]
        if not found:
            found = [one for one in self.groups.values() if any(client.client_id == who for who, _ in one.clients)]
        if len(found) > 1:
            owners = [one for one in found if _owns(one, client, partition)]
            found = owners or [one for one in found if partition[0] in one.topics] or found
        return found


def _owns(group: Group, client: Client, partition: Partition) -> bool:
    found = group.partitions.get(partition)
    if found is None or found.tenure is None:
        return False
    member = group.members.get(found.tenure.member)
    return member is not None and member.client.client_id == client.client_id


def short(member: str) -> str:
    """A member id for people: its name and eight characters of what makes it unique."""
    head, dash, _ = member.rpartition("-")
    if not dash:
        return member[:40]
    name = member[:-37] if len(member) > 37 and member[-37] == "-" else head
    return f"{name[:40]}-{member[len(name) + 1 :][:8]}"
