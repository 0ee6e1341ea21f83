"""The waits of `KafkaStub`: topics, groups, requests, quiet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkastub.journal import Entry, Journal
    from kafkastub.stub.runner import Runner


class StubWaits:
    """The waits. Each raises an AssertionError after `timeout` seconds that says what the present state is."""

    def __init__(self, runner: Runner, journal: Callable[[], Journal]) -> None:
        self._runner = runner
        self._journal = journal

    def topic(self, topic: str, *, partitions: int | None = None, timeout: float = 5) -> None:
        """Wait until a topic exists, with at least `partitions` partitions.

        Raises TopicTimeout after `timeout` seconds, TypeError, ValueError.
        """
        from kafkastub.stub.topics import wait_topic

        wait_topic(self._runner, topic, partitions, timeout)

    def group(self, group: str, *, state: str = "Stable", members: int | None = None, timeout: float = 5) -> None:
        """Wait until a group is in `state` and has exactly `members` members (any number if None).

        `state` is one of Empty, PreparingRebalance, CompletingRebalance, NotReady, Assigning, Reconciling, Stable and
        Dead. A group that does not exist is Dead. Raises GroupTimeout after `timeout` seconds, ValueError for an
        unknown state, TypeError.
        """
        from kafkastub.stub.groups import wait_group

        wait_group(self._runner, group, state, members, timeout)

    def assigned(self, group: str, assignment: Mapping[str, Iterable[tuple[str, int]]], timeout: float = 5) -> None:
        """Wait until members of a group have exactly these partitions: `{"one": [("orders", 0)], "two": []}`.

        You can name a member by its member id, its group instance id or its client id. Other members may have any
        partitions. Raises GroupTimeout after `timeout` seconds, ValueError if no member is named, TypeError.
        """
        from kafkastub.stub.groups import wait_assigned

        wait_assigned(self._runner, group, assignment, timeout)

    def quiet(self, seconds: float = 0.2, *, ignoring: Collection[str] | None = None, timeout: float = 5) -> None:
        """Wait until no request has come for `seconds`, except those that clients always send. As `journal.wait_quiet`.

        `ignoring`: the APIs that do not count, by default fetches, heartbeats and metadata. Raises JournalTimeout after
        `timeout` seconds, ValueError, RuntimeError if no journal is kept.
        """
        if ignoring is None:
            self._journal().wait_quiet(seconds, timeout=timeout)
        else:
            self._journal().wait_quiet(seconds, ignoring=ignoring, timeout=timeout)

    def request(self, *, timeout: float = 5, **wanted: Any) -> Entry:
        """Wait for an answered request that matches. As `journal.wait_for`. Raises JournalTimeout, ValueError."""
        return self._journal().wait_for(timeout=timeout, **wanted)
