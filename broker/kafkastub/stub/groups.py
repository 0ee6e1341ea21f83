"""Waiting for what becomes of a group."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from kafkastub.stub.errors import GroupTimeout

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner

_DEAD: Final = "Dead"
_STATES: Final = {
    name.lower(): name for name in ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", _DEAD)
}


def wait_group(runner: Runner, group: str, state: str, members: int | None, timeout: float) -> None:
    """`KafkaStub.wait_group`. Raises GroupTimeout after `timeout` seconds, ValueError."""
    if state.lower() not in _STATES:
        raise ValueError(f"state={state!r}: a group is {', '.join(_STATES.values())}")
    wanted = _STATES[state.lower()], members
    broker = runner.running()
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

    runner.call(begin)
    try:
        came.wait(timeout)
    finally:
        now = runner.call(end)
    if not came.is_set():
        raise GroupTimeout(
            f"group {group!r} is {_in_words(*now)} after {timeout:g} s, {_in_words(*wanted)} was waited for"
        )


def _state_of(broker: Broker, group_id: str) -> tuple[str, int]:
    group = broker.state.coordinator.groups.get(group_id)
    return (_DEAD, 0) if group is None else (group.state_name, group.size)


def _in_words(state: str, members: int | None) -> str:
    if members is None:
        return state
    return f"{state} with {members or 'no'} {'member' if members == 1 else 'members'}"
