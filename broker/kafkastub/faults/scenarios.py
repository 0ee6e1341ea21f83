"""Trouble with a name: what Kafka's protocol allows, and what correct clients do not survive all the same.

The requests of a transaction go over several connections, and are sent again. What the network has held back arrives
behind what was sent later, and belongs to another transaction then. With transactions of version 1 (KIP-98) the broker
cannot tell: two transactions of a producer have the same epoch. With version 2 (KIP-890) each end raises the epoch, and
the late request is refused. Jepsen (Bufstream 0.1.0, 2024) has found it, and filed KAFKA-17754.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from kafkastub.faults.acts import ChaosAct
from kafkastub.faults.rules import FaultError

JEPSEN: Final = "https://jepsen.io/analyses/bufstream-0.1.0"
_KAFKA_17754: Final = "https://issues.apache.org/jira/browse/KAFKA-17754"
_KIP_890: Final = "https://cwiki.apache.org/confluence/display/KAFKA/KIP-890:+Transactions+Server-Side+Defense"


@dataclass(frozen=True)
class Scenario:
    """One.

    Attributes:
        name: what it is asked for by.
        acts: what is done.
        seen: what the application sees of it, with transactions of version 1.
        sources: who has told of it.
    """

    name: str
    acts: tuple[ChaosAct, ...]
    seen: str
    sources: tuple[str, ...]


SCENARIOS: Final[Mapping[str, Scenario]] = {
    one.name: one
    for one in (
        Scenario(
            "late-abort",
            (ChaosAct("EndTxn", 1, committed=False, behind="Produce"),),
            "lost write, torn transaction: the next transaction loses what it has written so far, and commits the rest",
            (JEPSEN, _KAFKA_17754),
        ),
        Scenario(
            "late-commit",
            (ChaosAct("EndTxn", 1, committed=True, behind="Produce"),),
            "aborted read, torn transaction: what the next one has written so far is committed, though it is aborted",
            (JEPSEN, _KAFKA_17754),
        ),
        Scenario(
            "late-partitions",
            (ChaosAct("AddPartitionsToTxn", 1, behind="EndTxn"),),
            "a transaction that nobody has begun: it ends by its timeout, which fences the producer",
            (_KIP_890,),
        ),
        Scenario(
            "late-records",
            (ChaosAct("Produce", 1, behind="EndTxn"),),
            "nothing: its partition is not in a transaction any more; without verification it might hang for ever",
            (_KIP_890,),
        ),
        Scenario(
            "late-offsets",
            (ChaosAct("TxnOffsetCommit", 1, behind="EndTxn"),),
            "nothing: the offsets' partition is not in a transaction any more",
            (_KIP_890,),
        ),
    )
}
"""By name."""


def scenario_acts(name: str, nth: int = 1, transactional_id: str | None = None) -> tuple[ChaosAct, ...]:
    """What a scenario does, to the so-manieth request that it is for, of that transactional id. Raises FaultError."""
    found = SCENARIOS.get(name)
    if found is None:
        raise FaultError(f"chaos={name!r} is refused: the scenarios are {', '.join(SCENARIOS)}")
    return tuple(replace(act, nth=nth, transactional_id=transactional_id) for act in found.acts)
