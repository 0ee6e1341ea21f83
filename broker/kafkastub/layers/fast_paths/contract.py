"""What a fast path is, and what may stand in its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import Parts

FastPath = Callable[[ConnectionInfo, bytes, int, int, int, int], bytes | None]
"""(connection, buffer, where the body begins, where the frame ends, broker time, timer time) -> the answer's body.

None, and nothing has happened: the request is for the handler.
"""


class Memory(Protocol):
    """Of a fast path that learns from the careful way."""

    @property
    def token(self) -> object:
        """What is the same as long as an answer that is being worked out may be kept; None where one that is put off
        never is.
        """

    def keep(self, info: ConnectionInfo, raw: bytes, request: Any, answer: Any, token: object, body: Parts) -> None:
        """The careful way has answered the request whose body is `raw` with this `body`, alone and without pauses, if
        with any then since `token` was the same.
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
        learns: whether it is a `Memory`, too.
    """

    make: FastPathMaker
    alike: bool = False
    learns: bool = False
