"""The checker: is fed events in the order in which they ended, and says what they show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from kafkastub.guarantees.catalog import CATALOG, chosen
from kafkastub.guarantees.consumers import Consumers, Look
from kafkastub.guarantees.events import (
    Assigned,
    Beat,
    Committed,
    Ended,
    Event,
    Expelled,
    Fetched,
    Joined,
    Left,
    Listed,
    NamedGroups,
    Partition,
    PositionsRead,
    Produced,
    ProducerGiven,
    Replicated,
    ShareAcknowledged,
    ShareEnded,
    ShareGiven,
    ShareReset,
    ShareUnanswered,
    Spoke,
    TopicsDeleted,
)
from kafkastub.guarantees.findings import Finding
from kafkastub.guarantees.ownership import Ownership
from kafkastub.guarantees.producers import Producers
from kafkastub.guarantees.relations import Position
from kafkastub.guarantees.shares import Limit, Shares, nobody_knows_the_limit
from kafkastub.guarantees.state import State
from kafkastub.guarantees.transactions import Transactions
from kafkastub.guarantees.verdict import Verdict

Gone = Callable[[int], bool | None]
"""Whether a connection has ended, by its number; None where nobody knows."""


def nobody_knows(connection: int) -> bool | None:
    """Of connections in files."""
    return None


class Checker:
    """Has a state by partition, group and producer; says at any time what is true by then."""

    def __init__(self, partial: bool = False) -> None:
        """`partial`: whether the history begins in the middle, with requests before it that nobody can read."""
        self._state = State(partial)
        ownership = Ownership(self._state)
        self._consumers = Consumers(self._state, ownership)
        self._producers = Producers(self._state)
        self._transactions = Transactions(self._state, self._consumers, self._producers)
        self._shares = Shares(self._state)
        consumers, producers, transactions, shares = (
            self._consumers, self._producers, self._transactions, self._shares,
        )  # fmt: skip
        handlers: dict[type[Event], tuple[Callable[[Any], None], ...]] = {
            Produced: (transactions.produced, producers.produced),
            Replicated: (producers.replicated,),
            Fetched: (consumers.fetched, transactions.fetched),
            Joined: (ownership.joined,),
            Assigned: (ownership.assigned,),
            Beat: (ownership.beat,),
            Spoke: (ownership.spoke,),
            Expelled: (ownership.expelled,),
            Left: (ownership.left,),
            Committed: (transactions.committed,),
            PositionsRead: (consumers.positions,),
            Listed: (consumers.listed,),
            NamedGroups: (ownership.named,),
            ProducerGiven: (transactions.given,),
            Ended: (transactions.end,),
            TopicsDeleted: (self._deleted,),
            ShareGiven: (shares.given,),
            ShareAcknowledged: (shares.acknowledged,),
            ShareEnded: (shares.ended,),
            ShareUnanswered: (shares.unanswered,),
            ShareReset: (lambda event: shares.reset(event.group),),
        }
        if partial:
            handlers[Produced] = (self._written, *handlers[Produced])
            handlers[Fetched] = (self._read, *handlers[Fetched])
        self._handlers: Final = handlers

    def feed(self, event: Event) -> None:
        """What has passed next."""
        for handle in self._handlers[type(event)]:
            handle(event)

    def _written(self, event: Produced) -> None:
        if event.base_offset >= 0 and event.error == 0:
            self._state.begun.setdefault(event.partition, event.base_offset)

    def _read(self, event: Fetched) -> None:
        if event.log_end >= 0:
            self._state.begun.setdefault(event.partition, event.log_end)

    def _deleted(self, event: TopicsDeleted) -> None:
        """What comes under the same name is another topic."""
        for name in event.topics:
            self._producers.deleted(name)
            self._shares.deleted(name)
            for partition in [one for one in self._state.logs if one[0] == name]:
                del self._state.logs[partition]
            for group in self._state.groups.values():
                for partition in [one for one in group.partitions if one[0] == name]:
                    del group.partitions[partition]

    def positions(self, topic: str, group: str | None) -> tuple[str | None, dict[Partition, Position]]:
        """How far a group is with a topic; see `Follower.positions`. Raises ValueError."""
        having = {
            name: {partition: of for partition, of in one.partitions.items() if partition[0] == topic and of.committed}
            for name, one in self._state.groups.items()
        }
        if group is None:
            several = sorted(name for name, found in having.items() if found)
            if len(several) > 1:
                raise ValueError(f"topic {topic!r} is read by groups {', '.join(several)}: name one, as group=")
            group = several[0] if several else None
        of_group = None if group is None else self._state.groups.get(group)
        if group is None or of_group is None:
            return group, {}
        found = {}
        for partition, of in having[group].items():
            outside = of_group.outside.get(partition)
            found[partition] = Position(
                of.committed or 0, tuple(of.story), partition in of_group.in_transactions,
                None if outside is None else outside[0].sequence,
            )  # fmt: skip
        return group, found

    def verdict(
        self,
        wanted: Collection[str] | None = None,
        *,
        ignoring: Collection[str] = (),
        look: Look | None = None,
        gone: Gone = nobody_knows,
        limit: Limit = nobody_knows_the_limit,
        requests: int = 0,
        undecided: Iterable[str] = (),
    ) -> Verdict:
        """What is true by now.

        Args:
            wanted: the guarantees that findings are about, all others' are notices; None for those that fail a check.
            ignoring: guarantees that nothing is said of.
            look: says where a log has records.
            gone: says whether a connection has ended.
            limit: says how often a share group is delivered a record at most.
            requests: how many were read.

        Raises ValueError for a name of a guarantee that there is not.
        """
        fails = {one.name for one in CATALOG.values() if one.fails} if wanted is None else chosen(wanted)
        without = chosen(ignoring)
        open_questions = list(undecided)
        every: list[Finding] = [
            *self._consumers.findings(look, open_questions),
            *self._producers.findings(gone, open_questions),
            *self._transactions.findings(gone, open_questions),
            *self._shares.findings(look, limit, open_questions),
        ]
        every = sorted(
            (one for one in every if one.guarantee not in without), key=lambda one: max(one.entries, default=-1)
        )
        for what, times in self._state.forgotten.items():
            open_questions.append(f"{what}: {times} were forgotten for want of room")
        looked_at = {
            "requests": requests,
            "batches written": self._producers.batches,
            "records given": self._consumers.given,
            "commits": self._consumers.commits,
            "transactions": self._transactions.ended,
        }
        return Verdict(
            tuple(one for one in every if one.guarantee in fails),
            tuple(one for one in every if one.guarantee not in fails),
            tuple(dict.fromkeys(open_questions)),
            looked_at,
        )
