"""`stub.journal`: the requests that the broker received, and its answers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from kafkastub.journal.entry import EPOCH, Entry
from kafkastub.journal.extract import TopicName
from kafkastub.journal.naming import api_key, meant
from kafkastub.journal.quiet import POLLS, check_quiet, counts, ignored_keys
from kafkastub.journal.ring import Outcome, Raw, Ring
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

_FILTERS = [
    "api", "group", "member_id", "transactional_id", "producer_id", "topic", "client_id", "error", "outcome", "fault",
    "since", "where",
]  # fmt: skip


_TEXTS = ["group", "member_id", "topic"]
_TEXTS_OR_NONE = ["transactional_id", "client_id", "fault"]
"""None matches where there is none."""


class JournalTimeout(AssertionError):
    """The requests that were expected did not come. The text says which came instead."""


class Journal:
    """The requests of a broker, the newest `DEFAULT_ENTRIES` or `DEFAULT_BYTES` of them.

    Iterating returns `Entry` objects, oldest first, as they are at that moment. Filters are keywords:

        api: the API's name, "OffsetCommit"
        group, topic: a name in the request
        transactional_id, producer_id: of a transaction that the request is part of or asks about
        client_id: the client id of the request
        error: an error in the answer, "NOT_COORDINATOR"
        outcome: "reply", "pending", "no_reply", "closed", "refused", "dropped"
        fault: the id of the fault that fired
        since: a sequence number, or an aware datetime by the broker's clock
        where: a function that returns whether an Entry matches
    """

    def __init__(
        self, ring: Ring, call: Callable[[Callable[[], Any]], Any], topic_name: TopicName, first: int = 0
    ) -> None:
        """`call` runs a function in the thread that writes the ring, and returns its result.

        `first`: the sequence number of the first entry that it shows.
        """
        self._first = first
        self._ring = ring
        self._call = call
        self._topic_name = topic_name

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.requests())

    def __len__(self) -> int:
        return len(self._call(lambda: self._numbered(0))) if self._first else int(self._call(lambda: len(self._ring)))

    def from_moment(self, moment: datetime) -> Journal:
        """Return the journal without the entries before a moment of the machine's clock, for one of several tests."""
        ns = (moment - EPOCH) // timedelta(microseconds=1) * 1000 - self._ring.wall_offset_ns
        numbered = self._call(lambda: self._numbered(0))
        first = next((sequence for sequence, raw in numbered if raw.started >= ns), None)
        return Journal(self._ring, self._call, self._topic_name, self.total if first is None else first)

    @property
    def total(self) -> int:
        """The number of entries since the start, which is the sequence number of the next one."""
        return int(self._call(lambda: self._ring.total))

    def requests(self, **wanted: Any) -> list[Entry]:
        """Return the entries that match all keywords. Raises ValueError for a filter that can match nothing."""
        matches = matcher(wanted)
        since = wanted.get("since")
        first = since if isinstance(since, int) else 0
        numbered = self._call(lambda: self._numbered(first))
        return [entry for entry in (self._entry(*each) for each in numbered) if matches(entry)]

    def tail(self, count: int = 20, since: int = 0) -> list[Entry]:
        """Return the newest `count` entries, oldest first."""
        numbered = self._call(lambda: self._numbered(max(since, self._ring.total - count)))
        return [self._entry(*each) for each in numbered]

    def wait_for(self, *, timeout: float = 5, **wanted: Any) -> Entry:
        """Wait for an answered request that matches, and return it. Entries that exist already count, too.

        To wait for a new one, take `since=stub.journal.total` before. Raises JournalTimeout after `timeout` seconds,
        ValueError for a filter that can match nothing.
        """
        matches = matcher(wanted)
        pending_wanted = wanted.get("outcome") == "pending"
        found: list[Entry | Exception] = []
        came = threading.Event()

        def look(sequence: int, raw: Raw) -> None:
            if found or (raw.outcome is Outcome.PENDING and not pending_wanted):
                return
            entry = self._entry(sequence, raw)
            try:
                if not matches(entry):
                    return
                found.append(entry)
            except Exception as error:  # of the caller's own `where`: it is no business of the broker's
                found.append(error)
            came.set()

        def begin() -> None:
            since = wanted.get("since")
            for sequence, raw in self._numbered(since if isinstance(since, int) else 0):
                look(sequence, raw)
            if not found:
                self._ring.watchers.append(look)

        def end() -> None:
            if look in self._ring.watchers:
                self._ring.watchers.remove(look)

        self._call(begin)
        try:
            came.wait(timeout)
        finally:
            self._call(end)
        if not found:
            raise JournalTimeout(self._what_came_instead(wanted, timeout))
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]

    def wait_quiet(self, seconds: float = 0.2, *, ignoring: Collection[str] = POLLS, timeout: float = 5) -> None:
        """Wait until no request has come for `seconds` by the machine's clock, so that clients have finished their
        work.

        The APIs in `ignoring` do not count: those that clients call repeatedly, with or without work to do. Silence
        before the call counts. Raises JournalTimeout after `timeout` seconds, whose text lists the requests;
        ValueError.
        """
        ignored = ignored_keys(ignoring)
        check_quiet(seconds, timeout)
        stirred = threading.Event()
        last: list[int] = []

        def look(sequence: int, raw: Raw) -> None:
            if counts(raw, ignored):
                last[:] = [sequence]
                stirred.set()

        def begin() -> float:
            self._ring.watchers.append(look)
            return self._ring.quiet_for(lambda raw: counts(raw, ignored))

        def end() -> None:
            if look in self._ring.watchers:
                self._ring.watchers.remove(look)

        left = seconds - self._call(begin)
        deadline = time.monotonic() + timeout
        try:
            while left > 0:
                patience = deadline - time.monotonic()
                if not stirred.wait(max(min(left, patience), 0)):
                    if patience >= left:
                        return
                    raise JournalTimeout(self._never_quiet(seconds, timeout, last))
                stirred.clear()
                left = seconds
        finally:
            self._call(end)

    def _never_quiet(self, seconds: float, timeout: float, last: list[int]) -> str:
        said = f"it was not quiet for {seconds:g} s within {timeout:g} s"
        if not last:
            return f"{said}: expected less time"
        found = self._call(lambda: [one for one in self._numbered(last[0]) if one[0] == last[0]])
        return f"{said}; the last request was:\n" + "\n".join(f"  {self._entry(*one)}" for one in found)

    def clear(self) -> None:
        """Delete the entries. Sequence numbers continue."""
        self._call(self._ring.clear)

    def to_jsonl(
        self, path: str | os.PathLike[str], *, frames: bool = False, messages: bool = False, **wanted: Any
    ) -> Path:
        """Write the entries as JSON lines (docs/journal.md lists the columns).

        With `frames`, include the raw bytes; with `messages`, requests and answers field by field.
        """
        from kafkastub.journal.export import write_jsonl

        return write_jsonl(self.requests(**wanted), path, frames, messages)

    def to_parquet(
        self, path: str | os.PathLike[str], *, frames: bool = False, messages: bool = False, **wanted: Any
    ) -> Path:
        """Write the entries as a Parquet file. Raises ImportError without pyarrow (extra `journal`)."""
        from kafkastub.journal.export import write_parquet

        return write_parquet(self.requests(**wanted), path, frames, messages)

    def _numbered(self, since: int) -> list[tuple[int, Raw]]:
        return self._ring.numbered(max(since, self._first))

    def _entry(self, sequence: int, raw: Raw) -> Entry:
        return Entry(sequence, raw, self._ring.wall_offset_ns, self._topic_name)

    def _what_came_instead(self, wanted: dict[str, Any], timeout: float) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
        last = self.tail(5)
        if not last:
            return f"no request with {said} within {timeout:g} s: there was none at all"
        lines = "\n".join(f"  {entry}" for entry in last)
        return f"no request with {said} within {timeout:g} s; the last ones were:\n{lines}"

    def __repr__(self) -> str:
        return f"<Journal of {len(self)} requests>"


def matcher(wanted: dict[str, Any]) -> Callable[[Entry], bool]:
    """Return a function that matches entries. Raises ValueError for a filter that can match nothing."""
    tests: list[Callable[[Entry], bool]] = []
    for name, value in wanted.items():
        _check_kind(name, value)
        tests.append(_test(name, value))
    return lambda entry: all(test(entry) for test in tests)


def _check_kind(name: str, value: Any) -> None:
    """What is compared and is of another kind would match nothing, and a test that wants nothing would pass."""
    if (name in _TEXTS or (name in _TEXTS_OR_NONE and value is not None)) and not isinstance(value, str):
        raise ValueError(f"{name}={value!r} is refused: expected a string")
    if name == "producer_id" and (not isinstance(value, int) or isinstance(value, bool)):
        raise ValueError(f"{name}={value!r} is refused: expected a whole number")
    if name == "since" and not (value.tzinfo if isinstance(value, datetime) else isinstance(value, int)):
        raise ValueError(f"{name}={value!r} is refused: expected a sequence number, or a datetime with its zone")


def _test(name: str, value: Any) -> Callable[[Entry], bool]:
    match name:
        case "api":
            key = api_key(value)
            return lambda entry: entry.api_key == key
        case "group":
            return lambda entry: value in entry.groups
        case "member_id":
            return lambda entry: any(one.member_id == value for one in entry.members)
        case "transactional_id":
            return lambda entry: any(one.transactional_id == value for one in entry.transactions)
        case "producer_id":
            return lambda entry: any(one.producer_id == value for one in entry.transactions)
        case "topic":
            return lambda entry: value in entry.topics
        case "client_id":
            return lambda entry: entry.client_id == value
        case "error":
            code = _error(value)
            return lambda entry: code in entry.errors
        case "outcome":
            if value not in {each.name.lower() for each in Outcome}:
                raise ValueError(f"outcome={value!r}: one of {', '.join(each.name.lower() for each in Outcome)}")
            return lambda entry: entry.outcome == value
        case "fault":
            return lambda entry: entry.fault == value
        case "since":
            if isinstance(value, datetime):
                return lambda entry: entry.broker_time >= value
            return lambda entry: entry.sequence >= value
        case "where":
            return lambda entry: bool(value(entry))
    raise ValueError(
        f"a journal has no filter {name}=; it has {', '.join(_FILTERS)}"
        + "".join(f"; {known}" for known in [meant(name, _FILTERS)] if known)
    )


def _error(name: str | int) -> int:
    if isinstance(name, int):
        return name
    try:
        return ErrorCode[name].value
    except KeyError:
        why = meant(name, [code.name for code in ErrorCode]) or "they are written like NOT_COORDINATOR"
        raise ValueError(f"error={name!r}: Kafka has no such error; {why}") from None
