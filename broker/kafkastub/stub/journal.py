"""The journal of a stub; `stub.journal` reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kafkastub.journal.ring import Ring
from kafkastub.stub.errors import StubError

if TYPE_CHECKING:
    from kafkastub.guarantees.following import Follower
    from kafkastub.journal import Journal
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner


class KeptJournal:
    """The newest requests of a stub, and the directory to which all of them are written."""

    def __init__(
        self, runner: Runner, wanted: bool | str | os.PathLike[str], entries: int, checks: bool = False
    ) -> None:
        """`wanted`: whether there is a journal; a path is a new directory for it.

        `checks`: whether guarantees are checked while requests pass. Raises ValueError.
        """
        self._runner = runner
        self._directory = None if isinstance(wanted, bool) else wanted
        if checks and wanted is False:
            raise ValueError("check=True needs the journal: remove journal=False")
        self.ring = Ring.of(entries) if wanted is not False else None
        """Stays readable when the stub is closed, for the report of a failed test."""
        self._checks = checks
        self._broker: Broker | None = None
        """The one that runs, or the one that ran last: topic ids in the journal are its."""

    def keep(self, broker: Broker) -> None:
        """Record the requests of this broker, in its thread. Raises JournalDirError."""
        self._broker = broker
        if self.ring is not None:
            broker.keep_journal(self.ring, self._directory)
            if self._checks:
                _ = self.follower  # it reads from the start

    @cached_property
    def reader(self) -> Journal:
        """Return the journal. Raises RuntimeError without one."""
        from kafkastub.journal import Journal

        if self.ring is None:
            raise RuntimeError("this stub keeps no journal: remove journal=False")
        return Journal(self.ring, self.call_or_do, self.topic_name)

    @cached_property
    def follower(self) -> Follower:
        """Return the check of the entries that the journal has and gets. Raises RuntimeError without a journal."""
        from kafkastub.guarantees.following import follower_of

        ring = self.ring
        if ring is None:
            raise RuntimeError("this stub keeps no journal, which a check needs: remove journal=False")
        found: Follower = self.call_or_do(lambda: follower_of(ring, self.topic_name))
        return found

    def call_or_do(self, work: Callable[[], Any]) -> Any:
        """Call a function in the broker's thread, or here if no broker runs."""
        try:
            return self._runner.call(work)
        except StubError:
            return work()

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic that has, or had, this id."""
        return None if self._broker is None else self._broker.name_of(topic_id)

    def delivery_limit(self, group: str) -> int | None:
        """Return how often a record is delivered to a share group at most; None if the broker is a cluster's."""
        state = getattr(self._broker, "state", None)
        if state is None:
            return None
        from kafkastub.views.share_groups import delivery_limit

        found: int = self.call_or_do(lambda: delivery_limit(state, group))
        return found
