"""`stub.check()`: what the application did to its records, found from the requests and answers that passed."""

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
    """`stub.records`, or a proxy's."""

    def __call__(self, topic: str, partition: int | None = None, *, offset: int = 0, isolation: str = ...) -> list[Any]:
        """What a topic has."""


class StubCheck:
    """The check of a stub or a proxy; called, it gives the verdict.

        verdict = stub.check()
        assert verdict.ok, verdict

    It reads the journal. A stub that was started with `check=True` has read all of it while it came; another one reads
    what the journal still has when it is asked for the first time, and goes on from there.
    """

    def __init__(self, journal: KeptJournal, records: Callable[[], Records], now_ms: Callable[[], int]) -> None:
        self._journal = journal
        self._records = records
        self._now_ms = now_ms
        self._relations: list[tuple[str, str, str, By, str | None]] = []

    def __call__(self, *guarantees: str, ignoring: Collection[str] = ()) -> Verdict:
        """What is true by now.

        Args:
            guarantees: names of those that findings are about, such as "skipped" and "redelivered"; by default those
                that Kafka's clients can keep. What is seen of all others is a notice.
            ignoring: names of those that nothing is said of.

        Raises ValueError for a name that there is not, RuntimeError where no journal is kept.
        """
        if isinstance(ignoring, str):
            raise ValueError(f"ignoring={ignoring!r} is refused: a list of names is wanted, as [{ignoring!r}]")
        wanted = guarantees or None
        asked: list[tuple[Partition, int, int]] = []

        def note(partition: Partition, start: int, end: int) -> list[Range] | None:
            asked.append((partition, start, end))
            return None

        follower = self._journal.follower
        self._journal.call_or_do(follower.catch_up)
        follower.verdict(wanted, ignoring, note)
        answers = {one: self._look(*one) for one in asked}

        def look(partition: Partition, start: int, end: int) -> list[Range] | None:
            return answers.get((partition, start, end))

        verdict = follower.verdict(wanted, ignoring, look)
        for relation in self._relations:
            verdict = verdict.with_more(self._compared(follower, *relation))
        return verdict

    def exactly_once(self, input: str, output: str, *, by: By = "key", group: str | None = None) -> Verdict:
        """The verdict, with this relation: each record of `input` that the group has committed has one in `output`.

        Args:
            input: the topic that the application reads.
            output: the topic that it writes.
            by: what makes them the same: "key", "value", or a function of a record.
            group: who reads the input; need not be named where one group alone has committed something of it.

        The output has as many as the input, and none besides. Further calls of the check look at it, too. Raises
        ValueError, KeyError for a topic that there is not.
        """
        return self._related("exactly_once", input, output, by, group)

    def at_least_once(self, input: str, output: str, *, by: By = "key", group: str | None = None) -> Verdict:
        """The same, with one or more in `output`: work that is done again is allowed."""
        return self._related("at_least_once", input, output, by, group)

    def _related(self, name: str, input: str, output: str, by: By, group: str | None) -> Verdict:
        if not callable(by) and by not in _FIELDS:
            raise ValueError(f"by={by!r} is refused: 'key', 'value' or a function of a record is wanted")
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
    """Now, where there is no other clock."""
    return int(datetime.now(UTC).timestamp() * 1000)
