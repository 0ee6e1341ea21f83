"""`stub.check()`: what the application did to its records, computed from its requests and answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkastub.stub.errors import StubError, TopicError

if TYPE_CHECKING:
    from kafkastub.guarantees import Verdict
    from kafkastub.guarantees.events import Partition
    from kafkastub.guarantees.following import Follower
    from kafkastub.guarantees.ranges import Range
    from kafkastub.guarantees.relations import Item
    from kafkastub.stub.journal import KeptJournal

By = str | Callable[[Any], Hashable]
_FIELDS: Final = ("key", "value")


class Records(Protocol):
    """The interface of `stub.records` that the check uses; a proxy has it, too."""

    def __call__(self, topic: str, partition: int | None = None, *, offset: int = 0, isolation: str = ...) -> list[Any]:
        """Return the records of a topic."""


class StubCheck:
    """The check of a stub or a proxy. Call it to get the verdict.

        verdict = stub.check()
        assert verdict.ok, verdict

    It reads the journal. A stub that was started with `check=True` reads every request when it comes. Any other stub
    reads the entries that the journal still has at the first call, and continues from there.
    """

    def __init__(self, journal: KeptJournal, records: Callable[[], Records], now_ms: Callable[[], int]) -> None:
        self._journal = journal
        self._records = records
        self._now_ms = now_ms
        self._relations: list[tuple[str, str, str, By, str | None]] = []

    def __call__(self, *guarantees: str, ignoring: Collection[str] = ()) -> Verdict:
        """Return the verdict up to now.

        Args:
            guarantees: the names of the guarantees to check, such as "skipped" and "redelivered"; by default those that
                Kafka's clients can keep. Violations of the others are notices.
            ignoring: the names of guarantees that are left out, also of the notices.

        Raises ValueError for an unknown name, RuntimeError if no journal is kept.
        """
        if isinstance(ignoring, str):
            raise ValueError(f"ignoring={ignoring!r} is refused: expected a list of names, for example [{ignoring!r}]")
        wanted = guarantees or None
        asked: list[tuple[Partition, int, int]] = []

        def note(partition: Partition, start: int, end: int) -> list[Range] | None:
            asked.append((partition, start, end))
            return None

        follower = self._journal.follower
        self._journal.call_or_do(follower.catch_up)
        limit = self._journal.delivery_limit
        follower.verdict(wanted, ignoring, note, limit)
        answers = {one: self._look(*one) for one in asked}

        def look(partition: Partition, start: int, end: int) -> list[Range] | None:
            return answers.get((partition, start, end))

        verdict = follower.verdict(wanted, ignoring, look, limit)
        for relation in self._relations:
            verdict = verdict.with_more(self._compared(follower, *relation))
        return verdict

    def exactly_once(self, input: str, output: str, *, by: By = "key", group: str | None = None) -> Verdict:
        """Return the verdict with this relation: each record of `input` that the group has committed has one in
        `output`.

        Args:
            input: the topic that the application reads.
            output: the topic that it writes.
            by: what makes two records the same: "key", "value", or a function of a record.
            group: the group that reads the input. It can be left out if only one group has committed offsets of the
                input.

        The output must have as many records as the input, and no others. Later calls of the check include the relation.
        Raises ValueError, KeyError for a topic that does not exist.
        """
        return self._related("exactly_once", input, output, by, group)

    def at_least_once(self, input: str, output: str, *, by: By = "key", group: str | None = None) -> Verdict:
        """Return the verdict with one or more records in `output` for each: repeated work is allowed.

        See `exactly_once`.
        """
        return self._related("at_least_once", input, output, by, group)

    def _related(self, name: str, input: str, output: str, by: By, group: str | None) -> Verdict:
        if not callable(by) and by not in _FIELDS:
            raise ValueError(f"by={by!r} is refused: expected 'key', 'value' or a function of a record")
        relation = name, input, output, by, group
        if relation not in self._relations:
            self._relations.append(relation)
        return self()

    def _compared(self, follower: Follower, name: str, input: str, output: str, by: By, group: str | None) -> list[Any]:
        from kafkastub.guarantees.relations import compared

        group, positions = follower.positions(input, group)
        read = self._records()
        taken = read(input, isolation="read_committed")
        written = read(output, isolation="read_committed")
        in_transactions = any(record.transaction is not None for record in written)
        return compared(
            name, group, _items(taken, by), list(_items(written, by)), positions, self._now_ms(), in_transactions
        )

    def _look(self, partition: Partition, start: int, end: int) -> list[Range] | None:
        """Where there are records; None where nobody can say any more."""
        from kafkastub.guarantees.ranges import Ranges

        try:
            read = self._records()(partition[0], partition[1], offset=start, isolation="read_committed")
        except (KeyError, StubError, TopicError, OSError):
            return None
        found = Ranges((record.offset, record.offset + 1) for record in read if start <= record.offset < end)
        return list(found)


def _items(records: list[Any], by: By) -> list[Item]:
    from kafkastub.guarantees.relations import Item

    what = by if callable(by) else (lambda record: getattr(record, by))
    return [Item((record.topic, record.partition), record.offset, what(record)) for record in records]


def wall_ms() -> int:
    """Return the time of this machine in Unix milliseconds."""
    return int(datetime.now(UTC).timestamp() * 1000)
