"""Producer ids (InitProducerId; RPCProducerIdManager)."""

from __future__ import annotations

from typing import NamedTuple


class ProducerIdAndEpoch(NamedTuple):
    producer_id: int
    epoch: int


class ProducerIds:
    """Hands out producer ids from 0 on.

    Attributes:
        next: the id that comes next.
    """

    __slots__ = ("next",)

    def __init__(self) -> None:
        self.next = 0

    def skip_to(self, producer_id: int) -> None:
        """No id below it is handed out from now on."""
        self.next = max(self.next, producer_id)

    def allocate(self) -> ProducerIdAndEpoch:
        """A new id; its epoch is 0."""
        allocated = ProducerIdAndEpoch(self.next, 0)
        self.next += 1
        return allocated
