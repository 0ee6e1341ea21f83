"""Share groups: acknowledged without being given, given up, archived."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafkastub.guarantees.events import At, Partition, ShareAcknowledged, ShareGiven
from kafkastub.guarantees.findings import Finding, error_name, found
from kafkastub.guarantees.ranges import Ranges
from kafkastub.guarantees.state import State, short

_REJECT: Final = 3
_MOST: Final = 1000


class Shares:
    """The guarantees of share groups."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._given: dict[tuple[str, str, Partition], Ranges] = {}
        """By group, member and partition."""
        self._most: dict[tuple[str, Partition], tuple[int, At]] = {}
        self.found: list[Finding] = []

    def given(self, event: ShareGiven) -> None:
        key = event.group, event.member, event.partition
        ranges = self._given.setdefault(key, Ranges())
        for one in event.acquired:
            ranges.add(one.first, one.end)
        if len(self._given) > 10 * _MOST:
            del self._given[next(iter(self._given))]
            self._state.forget("members of share groups")

    def acknowledged(self, event: ShareAcknowledged) -> None:
        given = self._given.get((event.group, event.member, event.partition), Ranges())
        for start, end, types in event.batches:
            if event.error:
                never = given.without(start, end)
                if never and event.error:
                    cause = (
                        f"{short(event.member)} acknowledged records that it had not been given, and was told "
                        f"{error_name(event.error)}"
                    )
                    self._add("acknowledged_without_being_given", cause, event, never)
                continue
            each = types if len(types) > 1 else types * (end - start)
            rejected = Ranges((start + n, start + n + 1) for n, kind in enumerate(each) if kind == _REJECT)
            if rejected:
                cause = f"{short(event.member)} rejected records: nobody is given them again"
                self._add("given_up", cause, event, list(rejected))

    def _add(self, name: str, cause: str, event: ShareAcknowledged, offsets: list[tuple[int, int]]) -> None:
        if len(self.found) < _MOST:
            self.found.append(
                found(
                    name, cause, event.at, partition=event.partition, offsets=offsets, group=event.group,
                    members=(event.member,),
                )
            )  # fmt: skip

    def findings(self) -> Iterator[Finding]:
        """What is true by now."""
        yield from self.found
