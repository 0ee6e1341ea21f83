"""What a handler may come back with: a closed set.

A response message is the reply. `Deferred` is a reply that is not there yet. `NO_REPLY` is a request that gets none
(Produce with acks=0). `CLOSE` ends the connection, where Kafka does.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from kafkastub.state.deferred import Deferred
from kafkawire.schema import Message

__all__ = ["CLOSE", "NO_REPLY", "Deferred", "Outcome", "Silence"]


class Silence(Enum):
    """The two outcomes that send nothing."""

    NO_REPLY = "no reply"
    CLOSE = "close"


NO_REPLY: Final = Silence.NO_REPLY
CLOSE: Final = Silence.CLOSE


Outcome = Message | Deferred | Literal[Silence.NO_REPLY, Silence.CLOSE]
