"""Waits in a test's thread for a state of the broker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kafkastub.stub.errors import GroupTimeout

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.stub.runner import Runner

    Watchers = Iterable[list[Callable[[], None]]]


def check_timeout(timeout: object) -> None:
    """Check a timeout in seconds. Raises TypeError, ValueError."""
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise TypeError(f"timeout={timeout!r} is refused: expected a number of seconds")
    if not 0 <= timeout <= threading.TIMEOUT_MAX:
        raise ValueError(f"timeout={timeout!r} is refused: expected seconds from 0 to {threading.TIMEOUT_MAX:.0f}")


def of_groups(broker: Broker) -> Watchers:
    """Return the watchers that are called when a group may have changed."""
    return (broker.state.group_watchers,)


def wait_until(
    runner: Runner,
    reached: Callable[[Broker], bool],
    describe: Callable[[Broker], str],
    timeout: float,
    watchers: Callable[[Broker], Watchers] = of_groups,
    error: type[AssertionError] = GroupTimeout,
) -> None:
    """Wait until a condition is true. It is checked whenever the `watchers` are called.

    Raises `error` with the text of `told` after `timeout` seconds.
    """
    broker = runner.running()
    came = threading.Event()

    def look() -> None:
        if not came.is_set() and reached(broker):
            came.set()

    def begin() -> None:
        look()
        if not came.is_set():
            for some in watchers(broker):
                some.append(look)

    def end() -> str:
        for some in watchers(broker):
            if look in some:
                some.remove(look)
        look()
        return "" if came.is_set() else describe(broker)

    runner.call(begin)
    try:
        came.wait(timeout)
    finally:
        complaint = runner.call(end)
    if complaint:
        raise error(complaint)


def wait_until_nothing(
    runner: Runner,
    missing: Callable[[BrokerState], str | None],
    whom: str,
    timeout: float,
    watchers: Callable[[Broker], Watchers] = of_groups,
) -> None:
    """Wait until a group lacks nothing. `missing` returns in words what `whom` lacks. Raises GroupTimeout."""

    def left(broker: Broker) -> str | None:
        return "is being loaded" if broker.state.groups.loading is not None else missing(broker.state)

    def describe(broker: Broker) -> str:
        return f"{whom} {left(broker) or 'is as it is to be'} after {timeout:g} s"

    wait_until(runner, lambda broker: left(broker) is None, describe, timeout, watchers)
