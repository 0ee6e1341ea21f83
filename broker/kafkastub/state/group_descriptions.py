"""Descriptions of the groups that a request names, which may be very many: DescribeGroups, ConsumerGroupDescribe."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, TypeVar

from kafkastub.coordinator import BatchOrder
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Deferred, Steps, in_parts
from kafkawire.codec import Encoder
from kafkawire.errors import ErrorCode
from kafkawire.rows import Shared
from kafkawire.schema import Message, Struct

S = TypeVar("S", bound=Struct)

MANY: Final = 100
"""Groups in a request from which its answer is made, and encoded, part by part."""
_AT_ONCE: Final = 2_000
"""How much of the work is done before others have their turn: some milliseconds."""
_NAMES: Final = 500
"""Names that are put in order together."""
_GROUP: Final = 5
"""What a description counts, beside its bytes: so many names are put in order meanwhile."""
_BYTES: Final = 64
"""How many bytes of a description count as much as a name."""


def in_order(
    group_ids: Sequence[str], partitions: int, describe: Callable[[str], S], encode: Encoder
) -> Generator[int, None, Shared[S]]:
    """The descriptions in the order in which Kafka gives them; says bit by bit how much work it was.

    Args:
        describe: one group as it is then. It is asked once for one that is named many times.
        encode: the encoder of one description.
    """
    order = BatchOrder(partitions)
    for at in range(0, len(group_ids), _NAMES):
        some = group_ids[at : at + _NAMES]
        order.add(some)
        yield len(some)
    known: dict[str, S] = {}
    encoded: dict[int, bytes] = {}
    found: list[S] = []
    for of_partition in order.in_order():
        for at in range(0, len(of_partition), _NAMES):
            some = of_partition[at : at + _NAMES]
            for group_id in some:
                described = known.get(group_id)
                if described is None:
                    described = known[group_id] = describe(group_id)
                    data = encoded[id(described)] = b"".join(encode(described))
                    yield _GROUP + len(data) // _BYTES
                found.append(described)
            yield len(some) // 10
    return Shared(found, encoded)


def one_after_the_other(state: BrokerState, steps: Steps, failed: Callable[[ErrorCode], Message]) -> Message | Deferred:
    """Serve such a request part by part, others between; of such requests, one after the other.

    An answer takes ten to a hundred times the memory of its request while it is made. For the arguments see `in_parts`.
    """

    def in_turn(work: Iterator[None]) -> None:
        state.groups.describing.append(work)
        if len(state.groups.describing) == 1:
            state.transactions.in_turns(_first(state))

    return in_parts(steps, _AT_ONCE, in_turn, failed, for_nobody=False)


def _first(state: BrokerState) -> Iterator[None]:
    """Work off the first request, and let the next one begin."""
    waiting = state.groups.describing
    try:
        yield from waiting[0]
    finally:
        waiting.popleft()
        if waiting:
            state.transactions.in_turns(_first(state))
