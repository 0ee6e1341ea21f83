"""What a `KafkaStub` tells of its requests and groups."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kafkastub.journal.ring import DEFAULT_BYTES, DEFAULT_ENTRIES, Ring

if TYPE_CHECKING:
    from kafkastub.journal import Journal
    from kafkastub.server.broker import Broker

_DEAD = "Dead"
_STATES = {name.lower(): name for name in ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", _DEAD)}


class GroupTimeout(AssertionError):
    """A group has not become what was waited for; the text says what it is."""


class StubObserved:
    """Mixed into `KafkaStub`, which gives the two methods that everything goes through."""

    if TYPE_CHECKING:

        def _running(self) -> Broker: ...

        def _call(self, work: Callable[[], Any]) -> Any: ...

    def _keep_journal(self, wanted: bool | str | os.PathLike[str]) -> None:
        self._journal_dir = None if isinstance(wanted, bool) else wanted
        self._ring = Ring(DEFAULT_ENTRIES, DEFAULT_BYTES) if wanted is not False else None
        """Lives on when the stub is closed: a test that failed is told of afterwards."""
        self._observed: Broker | None = None
        """The broker that runs, or the one that ran last: topic ids in the journal are its."""

    def _observe(self, broker: Broker) -> None:
        """A broker has started; its thread is this one."""
        self._observed = broker
        if self._ring is not None:
            broker.keep_journal(self._ring, self._journal_dir)

    @cached_property
    def journal(self) -> Journal:
        """Every request with its answer, the newest 10,000 or 8 MiB of them; to be read when the stub is closed too.

        Raises RuntimeError where it is off.
        """
        from kafkastub.journal import Journal

        if self._ring is None:
            raise RuntimeError("this stub keeps no journal: leave journal=False out")
        return Journal(self._ring, self._call_or_do, self._topic_name)

    def wait_group(self, group: str, *, state: str = "Stable", members: int | None = None, timeout: float = 5) -> None:
        """Wait until a group is in `state` and has so many `members` (any number where None).

        `state` is one of Empty, PreparingRebalance, CompletingRebalance, Stable and Dead; a group that does not exist
        is Dead. Raises GroupTimeout after `timeout` seconds, ValueError for a state that there is not.
        """
        if state.lower() not in _STATES:
            raise ValueError(f"state={state!r}: a group is {', '.join(_STATES.values())}")
        wanted = _STATES[state.lower()], members
        broker = self._running()
        came = threading.Event()

        def look() -> None:
            now = _state_of(broker, group)
            if now[0] == wanted[0] and (members is None or now[1] == members):
                came.set()

        def begin() -> None:
            look()
            if not came.is_set():
                broker.state.group_watchers.append(look)

        def end() -> tuple[str, int]:
            if look in broker.state.group_watchers:
                broker.state.group_watchers.remove(look)
            return _state_of(broker, group)

        self._call(begin)
        try:
            came.wait(timeout)
        finally:
            now = self._call(end)
        if not came.is_set():
            raise GroupTimeout(
                f"group {group!r} is {_in_words(*now)} after {timeout:g} s, {_in_words(*wanted)} was waited for"
            )

    def _call_or_do(self, work: Callable[[], Any]) -> Any:
        """In the stub's thread; where there is none, here."""
        from kafkastub.stub.stub import StubError

        try:
            return self._call(work)
        except StubError:
            return work()

    def _topic_name(self, topic_id: bytes) -> str | None:
        if self._observed is None:
            return None
        return self._observed.state.cluster.name_of(topic_id)


def _state_of(broker: Broker, group_id: str) -> tuple[str, int]:
    group = broker.state.coordinator.groups.get(group_id)
    return (_DEAD, 0) if group is None else (group.state_name, group.size)


def _in_words(state: str, members: int | None) -> str:
    if members is None:
        return state
    return f"{state} with {members or 'no'} {'member' if members == 1 else 'members'}"
