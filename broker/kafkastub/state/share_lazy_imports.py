"""Requests about share groups that may be the first: the code that serves them is brought in part by part.

All of it takes tens of milliseconds to load, in which nobody else would be served.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Deferred, Steps, in_parts
from kafkastub.state.lazy_imports import MODERN
from kafkawire.error_texts import text_of
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

_STATE: Final = (
    "kafkastub.share_coordinator.coordinator",
    "kafkastub.state.share_coordinator.runtime",
    "kafkastub.share_partitions.partition",
    "kafkastub.state.share_partitions.partition_cache",
    "kafkastub.state.share_partitions.manager",
)
AT_ONCE: Final = 100
"""Partitions before others have their turn."""
STATE: Final = (*_STATE, "kafkastub.state.share_coordinator.state_requests")
"""What the APIs 83 to 87 take."""
OFFSETS: Final = (
    *_STATE,
    *MODERN,
    "kafkastub.coordinator.share.state",
    "kafkastub.coordinator.modern.assignors.simple",
    "kafkastub.coordinator.share.heartbeat",
    "kafkastub.coordinator.share.groups",
    "kafkastub.state.share_group_persister_calls",
    "kafkastub.state.share_group_offsets",
)
"""What the APIs 90 to 92 take."""
_NOT_HERE: Final = "This is not the correct coordinator."


def served(
    state: BrokerState,
    modules: Sequence[str],
    steps: Callable[[], Steps],
    at_once: int,
    failed: Callable[[ErrorCode], Message],
    *,
    for_nobody: bool = True,
) -> Message | Deferred:
    """As `in_parts`, once these modules are there; `steps` is called then. The last of them needs all others."""
    if modules[-1] in sys.modules:
        return in_parts(steps(), at_once, state.share_partitions.coordinator.turns.add, failed, for_nobody=for_nobody)
    if state.refusal is not None:  # of a node that does not coordinate: that holds for now, and not for later
        return failed(state.refusal)
    return in_parts(
        _bringing_in(modules, steps, at_once), at_once, state.transactions.turns.add, failed, for_nobody=for_nobody
    )


def _bringing_in(modules: Sequence[str], steps: Callable[[], Steps], at_once: int) -> Steps:
    for name in modules:
        import_module(name)
        yield at_once
    return (yield from steps())


def refusal_text(error: KafkaError) -> str | None:
    """What the APIs 90 to 92 say of a group that is refused."""
    return _NOT_HERE if error.code == ErrorCode.NOT_COORDINATOR else text_of(error)
