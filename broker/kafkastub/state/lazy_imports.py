"""Code of a type of groups, brought in with the first who wants it: whoever wants none does not pay for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Final

from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Deferred, Steps, in_parts
from kafkastub.state.groups import coordinator_of
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

MODERN: Final = [
    f"kafkastub.coordinator.modern.{name}"
    for name in ("records", "member", "group", "settings", "context", "watching", "groups")
]
"""What all types with epochs stand on."""
_AT_ONCE: Final = 1


def once_imported(
    state: BrokerState,
    modules: Sequence[str],
    go_on: Callable[[], Message | Deferred],
    failed: Callable[[ErrorCode], Message],
) -> Message | Deferred:
    """What comes of going on once the modules are there.

    They are brought in one by one, others between: some milliseconds each, where all of them take 35.
    """

    def steps() -> Steps:
        for module in modules:
            import_module(module)
            yield _AT_ONCE
        with suppress(KafkaError):  # which is told below, where it is its turn
            coordinator_of(state)
        yield _AT_ONCE
        return go_on()

    return in_parts(steps(), _AT_ONCE, state.transactions.turns.add, failed)
