"""Named lists of acts that Kafka's protocol allows, and that correct clients do not survive.

A producer sends the requests of a transaction over several connections, and repeats them. A request that the network
has held back can arrive after later requests, during the producer's next transaction. With transactions of version 1
(KIP-98) both transactions have the same producer epoch, so the broker applies the late request to the wrong one. With
version 2 (KIP-890) each EndTxn raises the epoch, and the broker refuses the late request. Jepsen found this in 2024
(Bufstream 0.1.0) and reported it as KAFKA-17754.
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
    """A list of acts with a name.

    Attributes:
        name: the name, "late-commit".
        acts: what chaos does.
        seen: what an application observes, with transactions of version 1.
        sources: addresses of public reports.
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
            "lost write, torn transaction: the next transaction loses what it has written so far and commits the rest",
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
            "the coordinator begins a transaction that no client began; its timeout ends it and fences the producer",
            (_KIP_890,),
        ),
        Scenario(
            "late-records",
            (ChaosAct("Produce", 1, behind="EndTxn"),),
            "nothing, because the broker verifies partitions; without verification the records would hang",
            (_KIP_890,),
        ),
        Scenario(
            "late-offsets",
            (ChaosAct("TxnOffsetCommit", 1, behind="EndTxn"),),
            "nothing, because the broker verifies partitions",
            (_KIP_890,),
        ),
    )
}
"""By name."""


def scenario_acts(name: str, nth: int = 1, transactional_id: str | None = None) -> tuple[ChaosAct, ...]:
    """The acts of a scenario for the `nth` request of its kind, of one transactional id or any. Raises FaultError."""
    found = SCENARIOS.get(name)
    if found is None:
        raise FaultError(f"chaos={name!r} is refused: the scenarios are {', '.join(SCENARIOS)}")
    return tuple(replace(act, nth=nth, transactional_id=transactional_id) for act in found.acts)
