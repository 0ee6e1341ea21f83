"""What a fast path is, and what may stand in its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafkastub.state.broker_state import BrokerState

FastPath = Callable[[int, bytes, int, int, int, int], bytes | None]
"""(node id, buffer, where the body begins, where the frame ends, broker time, timer time) -> the answer's body.

None, and nothing has happened: the request is for the handler.
"""

IsClear = Callable[[Any], bool]
"""A request -> whether nothing stands before the handler that may care for it, or for any other one that names the same
groups, transactions, topics and partitions, whoever sends it and whenever.

A fast path asks when it meets these names first, and never again. Where it is not clear, they are for the handler.
"""


def always_clear(request: Any) -> bool:
    """Nothing stands before the handler."""
    return True


FastPathMaker = Callable[[BrokerState, int, IsClear], FastPath | None]
"""Makes the fast path for one version, None where there is none."""


class FastPathOf(NamedTuple):
    """The fast path of one API.

    Attributes:
        alike: whether all its answers have the same error codes; else those have that are the same object.
    """

    make: FastPathMaker
    alike: bool = False
