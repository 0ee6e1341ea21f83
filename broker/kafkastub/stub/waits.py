"""What `KafkaStub` waits for: topics, groups, requests, quiet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkastub.journal import Entry, Journal
    from kafkastub.stub.runner import Runner


class StubWaits:
    """Each returns when it is so, and raises an AssertionError that says how it is after `timeout` seconds."""

    def __init__(self, runner: Runner, journal: Callable[[], Journal]) -> None:
        self._runner = runner
        self._journal = journal

    def topic(self, topic: str, *, partitions: int | None = None, timeout: float = 5) -> None:
        """Wait until there is a topic, with so many `partitions` at least.

        Raises TopicTimeout after `timeout` seconds, TypeError, ValueError.
        """
        from kafkastub.stub.topics import wait_topic

        wait_topic(self._runner, topic, partitions, timeout)

    def group(self, group: str, *, state: str = "Stable", members: int | None = None, timeout: float = 5) -> None:
        """Wait until a group is in `state` and has so many `members` (any number where None).

        `state` is one of Empty, PreparingRebalance, CompletingRebalance, NotReady, Assigning, Reconciling, Stable
        and Dead; a group that does not exist is Dead. Raises GroupTimeout after `timeout` seconds, ValueError for a
        state that there is not, TypeError.
        """
        from kafkastub.stub.groups import wait_group

        wait_group(self._runner, group, state, members, timeout)

    def assigned(self, group: str, assignment: Mapping[str, Iterable[tuple[str, int]]], timeout: float = 5) -> None:
        """Wait until members of a group have exactly these partitions: `{"one": [("orders", 0)], "two": []}`.

        A member is named by its member id, its group instance id or its client id; others may have what they have.
        Raises GroupTimeout after `timeout` seconds, ValueError where nobody is named, TypeError.
        """
        from kafkastub.stub.groups import wait_assigned

        wait_assigned(self._runner, group, assignment, timeout)

    def quiet(self, seconds: float = 0.2, *, ignoring: Collection[str] | None = None, timeout: float = 5) -> None:
        """`journal.wait_quiet`: wait until nothing was asked for so many seconds, but what clients always ask.

        `ignoring`: the APIs that do not count, by default fetches, heartbeats and metadata. Raises JournalTimeout
        after `timeout` seconds, ValueError, RuntimeError where no journal is kept.
        """
        if ignoring is None:
            self._journal().wait_quiet(seconds, timeout=timeout)
        else:
            self._journal().wait_quiet(seconds, ignoring=ignoring, timeout=timeout)

    def request(self, *, timeout: float = 5, **wanted: Any) -> Entry:
        """`journal.wait_for`: wait for an answered request that matches. Raises JournalTimeout, ValueError."""
        return self._journal().wait_for(timeout=timeout, **wanted)
