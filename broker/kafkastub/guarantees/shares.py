"""Share groups: acknowledged without being given, given up, archived."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from kafkastub.guarantees.events import Partition, ShareAcknowledged, ShareEnded, ShareGiven, ShareUnanswered
from kafkastub.guarantees.findings import Finding, error_name, found
from kafkastub.guarantees.ranges import Range, Ranges
from kafkastub.guarantees.shared import Archived, SharedPartition
from kafkastub.guarantees.state import State, short

Look = Callable[[Partition, int, int], list[Range] | None]
Limit = Callable[[str], int | None]
"""How often a group is delivered a record at most (`share.delivery.count.limit`); None if nobody knows."""

_RELEASE: Final = 2
_REJECT: Final = 3
_RENEW: Final = 4
_MOST: Final = 1000


def nobody_knows_the_limit(group: str) -> int | None:
    """Of groups in files, and of those of a cluster."""
    return None


class Shares:
    """The guarantees of share groups."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._given: dict[tuple[str, str, Partition], Ranges] = {}
        """By group, member and partition."""
        self._shared: dict[tuple[str, Partition], SharedPartition] = {}
        self.found: list[Finding] = []

    def given(self, event: ShareGiven) -> None:
        key = event.group, event.member, event.partition
        ranges = self._given.setdefault(key, Ranges())
        for one in event.acquired:
            ranges.add(one.first, one.end)
        if len(self._given) > 10 * _MOST:
            del self._given[next(iter(self._given))]
            self._state.forget("members of share groups")
        shared = self._shared.get((event.group, event.partition))
        if shared is None:
            while len(self._shared) >= 10 * _MOST:
                del self._shared[next(iter(self._shared))]
                self._state.forget("partitions of share groups")
            shared = self._shared[event.group, event.partition] = SharedPartition()
        if not shared.given(event):
            self._state.forget("records that members of share groups have")

    def acknowledged(self, event: ShareAcknowledged) -> None:
        given = self._given.get((event.group, event.member, event.partition), Ranges())
        shared = self._shared.get((event.group, event.partition))
        for start, end, types in event.batches:
            if event.error:
                unknown = self._state.decidable(event.partition, start, end)
                never = given.without(unknown, end) if unknown < end else []
                if never:
                    cause = (
                        f"{short(event.member)} acknowledged records that it had not been given, and was told "
                        f"{error_name(event.error)}"
                    )
                    self._add("acknowledged_without_being_given", cause, event, never)
                continue
            runs = list(_runs(start, end, types))
            if shared is not None:
                for first, behind, kind in runs:
                    _acknowledge(shared, event, first, behind, kind)
            rejected = [(first, behind) for first, behind, kind in runs if kind == _REJECT]
            if rejected and event.error == 0:
                cause = f"{short(event.member)} rejected records: no member gets them again"
                self._add("given_up", cause, event, rejected)

    def ended(self, event: ShareEnded) -> None:
        """A member has ended its session: what it has and has not acknowledged is given to others."""
        for (group, _), shared in self._shared.items():
            if group == event.group:
                shared.ended(event.member, event.at)

    def unanswered(self, event: ShareUnanswered) -> None:
        """A fetch without an answer: nobody knows which records it was given."""
        for (group, _), shared in self._shared.items():
            if group == event.group:
                shared.free.clear()

    def reset(self, group: str) -> None:
        """Somebody has moved the group's start offsets: what it skips by that is meant."""
        for key in [one for one in self._shared if one[0] == group]:
            del self._shared[key]

    def deleted(self, topic: str) -> None:
        """What comes under the same name is another topic."""
        for key in [one for one in self._shared if one[1][0] == topic]:
            del self._shared[key]

    def _add(self, name: str, cause: str, event: ShareAcknowledged, offsets: list[Range]) -> None:
        if len(self.found) < _MOST:
            self.found.append(
                found(
                    name, cause, event.at, partition=event.partition, offsets=offsets, group=event.group,
                    members=(event.member,),
                )
            )  # fmt: skip

    # --- what is told

    def findings(self, look: Look | None, limit: Limit, undecided: list[str]) -> Iterator[Finding]:
        """What is true by now."""
        yield from self.found
        for (group, partition), shared in self._shared.items():
            most = limit(group) if shared.free else None
            archived, free = list(shared.archived), []
            for one in shared.free:
                if most is not None and one.deliveries >= most:
                    archived.append(Archived(one.first, one.end, one.deliveries, one.at, one.member, one.why))
                elif one.deliveries > 1 and most is None:
                    free.append(one)
            yield from self._archived(group, partition, archived, look)
            if free:
                count, times = sum(one.end - one.first for one in free), max(one.deliveries for one in free)
                undecided.append(
                    f"{partition[0]}-{partition[1]}: {count} records were given to share group {group} up to {times} "
                    "times and released, and nobody has seen whether that is its delivery limit"
                )

    def _archived(
        self, group: str, partition: Partition, archived: list[Archived], look: Look | None
    ) -> Iterator[Finding]:
        start = self._state.log(partition).start
        ranges = Ranges((max(one.first, start), one.end) for one in archived)
        there: list[Range] = []
        for one in ranges:
            seen = None if look is None else look(partition, *one)
            there += [one] if seen is None else seen
        if not there:
            return
        first = archived[0]
        count = sum(end - begin for begin, end in there)
        records, them = ("records were", "them") if count > 1 else ("record was", "it")
        cause = (
            f"{count} {records} given {first.deliveries} times, which is the delivery limit, and nobody accepted or "
            f"rejected {them}: the last delivery ended with {first.why}"
        )
        yield found(
            "archived", cause, first.at, first.shown, partition=partition, offsets=there, group=group,
            members=(first.member,),
        )  # fmt: skip


def _acknowledge(shared: SharedPartition, event: ShareAcknowledged, start: int, end: int, kind: int) -> None:
    if event.error is None:
        shared.forget(event.member, start, end)
    elif kind == _RELEASE:
        shared.released(event.member, start, end, event.at)
    elif kind == _RENEW:
        shared.renewed(event.member, start, end, event.at)
    else:
        shared.forget(event.member, start, end)


def _runs(start: int, end: int, types: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """(from, up to, type) for offsets that follow each other and have the same."""
    if len(types) == 1:
        yield start, end, types[0]
        return
    at = start
    for kind, same in groupby(types[: end - start]):
        count = sum(1 for _ in same)
        yield at, at + count, kind
        at += count
