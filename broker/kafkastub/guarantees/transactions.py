"""Applications that work in transactions: aborted records read, offsets outside, transactions left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from kafkastub.guarantees.consumers import Consumers
from kafkastub.guarantees.events import (
    At,
    Client,
    Commit,
    Committed,
    Ended,
    Fetched,
    Partition,
    Produced,
    ProducerGiven,
)
from kafkastub.guarantees.findings import Finding, found
from kafkastub.guarantees.producers import Producers
from kafkastub.guarantees.ranges import Range
from kafkastub.guarantees.state import MOST_MAYBE, Group, State, short

_MOST: Final = 10_000
_MOST_READ: Final = 200


@dataclass
class _Transaction:
    """One that has begun, by its producer id."""

    transactional_id: str
    began: At
    client: Client
    partitions: set[Partition] = field(default_factory=set)
    commits: list[Committed] = field(default_factory=list)


class Transactions:
    """The guarantees of transactions."""

    def __init__(self, state: State, consumers: Consumers, producers: Producers) -> None:
        self._state = state
        self._consumers = consumers
        self._producers = producers
        self._open: dict[int, _Transaction] = {}
        self._unclear: dict[int, _Transaction] = {}
        """Those whose end was sent and had no answer."""
        self.ended = 0

    # --- what comes

    def given(self, event: ProducerGiven) -> None:
        """InitProducerId ends what was open: the coordinator aborts it."""
        if event.producer_id < 0:
            for producer_id in [id for id, one in self._open.items() if one.transactional_id == event.transactional_id]:
                self._leave_unclear(producer_id)
        elif event.transactional_id is not None:
            if event.producer_id in self._open:
                self._end(event.producer_id, False)
            self._forget_unclear(event.producer_id)

    def produced(self, event: Produced) -> None:
        if event.batch.transactional and event.error == 0:
            self._begun(event.batch.producer_id, event.transactional_id or "", event.at, event.client).partitions.add(
                event.partition
            )

    def committed(self, event: Committed) -> None:
        """Offsets of a group: at once, or with the transaction that they are in."""
        group = self._state.group(event.group)
        accepted = [one for one in event.commits if one.error == 0]
        if event.producer is None:
            self._outside(group, event, accepted)
            self._consumers.committed(event, event.commits)
            return
        self._producers.used(*event.producer, _first_error(event.commits), event.at, event.client)
        for one in accepted:
            group.in_transactions.setdefault(one.partition, event.at)
        if accepted:
            self._begun(event.producer[0], event.transactional_id, event.at, event.client).commits.append(event)
        failed = tuple(one for one in event.commits if one.error != 0)
        if failed:
            self._consumers.committed(event, failed)

    def _outside(self, group: Group, event: Committed, accepted: list[Commit]) -> None:
        for one in accepted:
            of = group.partition(one.partition)
            before = max([-1 if of.committed is None else of.committed, *of.maybe])
            if event.member and one.partition not in group.outside and one.offset > before:
                group.outside[one.partition] = event.at, one.offset

    def end(self, event: Ended) -> None:
        if event.commits:
            self._producers.used(event.producer_id, event.epoch, event.error, event.at, event.client)
        if event.error is None:
            self._leave_unclear(event.producer_id)
        elif event.error == 0:
            self.ended += 1
            self._end(event.producer_id, event.commits)

    def _leave_unclear(self, producer_id: int) -> None:
        """Its end was sent and had no answer: the client sends it again, or nobody knows whether it has ended."""
        one = self._open.pop(producer_id, None)
        if one is not None:
            while len(self._unclear) >= _MOST:
                del self._unclear[next(iter(self._unclear))]
                self._state.forget("transactions")
            self._unclear[producer_id] = one
            for event in one.commits:
                for each in event.commits:
                    if each.error == 0:
                        maybe = self._state.group(event.group).partition(each.partition).maybe
                        maybe.append(each.offset)
                        del maybe[:-MOST_MAYBE]

    def _forget_unclear(self, producer_id: int) -> None:
        """The producer begins anew: how the transaction before has ended shows in markers alone."""
        if self._unclear.pop(producer_id, None) is not None:
            for partition in self._state.transactions_in.pop(producer_id, set()):
                self._state.log(partition).maybe_ended(producer_id)

    def _begun(self, producer_id: int, transactional_id: str, at: At, client: Client) -> _Transaction:
        one = self._open.get(producer_id)
        if one is None:
            self._forget_unclear(producer_id)
            while len(self._open) >= _MOST:
                del self._open[next(iter(self._open))]
                self._state.forget("transactions")
            one = self._open[producer_id] = _Transaction(transactional_id, at, client)
        one.transactional_id = one.transactional_id or transactional_id
        return one

    def _end(self, producer_id: int, commits: bool) -> None:
        one = self._open.pop(producer_id, None) or self._unclear.pop(producer_id, None)
        for partition in self._state.transactions_in.pop(producer_id, set()):
            self._state.log(partition).ended(producer_id, commits)
        if not commits:
            self._producers.aborted(producer_id)
        elif one is not None:
            for event in one.commits:
                self._consumers.committed(event, tuple(each for each in event.commits if each.error == 0))

    def fetched(self, event: Fetched) -> None:
        """Who reads uncommitted records is remembered until it is clear what becomes of them."""
        if event.committed_only or not any(one.transactional and not one.control for one in event.batches):
            return
        for group in self._state.groups_of(event.client, event.partition)[:1]:
            read = group.partition(event.partition).uncommitted_given
            for batch in event.batches:
                if batch.transactional and not batch.control and batch.end > event.asked and len(read) < _MOST_READ:
                    read.append((batch.producer_id, (max(batch.first, event.asked), batch.end), event.at))

    # --- what is told

    def findings(self, gone: Callable[[int], bool | None], undecided: list[str]) -> Iterator[Finding]:
        """What is true by now."""
        for group in self._state.groups.values():
            yield from self._read(group)
            for partition, at in group.in_transactions.items():
                outside = group.outside.get(partition)
                if outside is not None:
                    cause = (
                        f"the group commits offsets in transactions, and {outside[1]} outside of them: what was "
                        "written in an aborted transaction is not read again"
                    )
                    yield found(
                        "offsets_outside_transaction", cause, outside[0], at, partition=partition, group=group.name,
                        of=group.partition(partition),
                    )  # fmt: skip
        for producer_id, one in self._open.items():
            if gone(one.client.connection):
                what = f"transaction of {one.transactional_id or f'producer {producer_id}'!s}"
                cause = f"the {what} was begun and not ended, and client {one.client.client_id!r} has gone"
                yield found(
                    "transaction_left_open", cause, one.began, *(each.at for each in one.commits[-1:]),
                    partition=min(one.partitions, default=None),
                )  # fmt: skip

        for producer_id, one in self._unclear.items():
            if gone(one.client.connection):
                who = one.transactional_id or f"producer {producer_id}"
                undecided.append(
                    f"the end of the transaction of {who} had no answer, and client "
                    f"{one.client.client_id!r} has gone: it may be open"
                )

    def _read(self, group: Group) -> Iterator[Finding]:
        for partition, of in group.partitions.items():
            log = self._state.log(partition)
            aborted: list[Range] = []
            at = None
            for _, offsets, when in of.uncommitted_given:
                bad = log.aborted.within(*offsets)
                at = when if bad and at is None else at
                aborted += [one for one in bad if one not in aborted]
            who = (short(of.tenure.member),) if of.tenure is not None else ()
            if aborted and at is not None:
                cause = (
                    "records of an aborted transaction were given to the group, which reads with "
                    "isolation.level=read_uncommitted"
                )
                yield found(
                    "read_aborted", cause, at, partition=partition, offsets=aborted, group=group.name, members=who,
                    of=of,
                )  # fmt: skip
            elif of.uncommitted_given:
                cause = (
                    "the topic has records of transactions, and the group reads with isolation.level=read_uncommitted"
                )
                yield found(
                    "read_uncommitted", cause, of.uncommitted_given[0][2], partition=partition, group=group.name,
                    offsets=[of.uncommitted_given[0][1]], members=who, of=of,
                )  # fmt: skip


def _first_error(commits: tuple[Commit, ...]) -> int | None:
    return next((one.error for one in commits if one.error), 0)
