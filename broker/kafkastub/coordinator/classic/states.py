"""The states of a classic group, and what each of them answers. Kafka: ClassicGroupState.

state                 join                sync               heartbeat              offset commit
--------------------  ------------------  -----------------  ---------------------  ------------------------------
EMPTY                 starts a group      UNKNOWN_MEMBER_ID  UNKNOWN_MEMBER_ID      without a generation only
PREPARING_REBALANCE   parked              REBALANCE_IN_PR.   REBALANCE_IN_PROGRESS  of the previous generation
COMPLETING_REBALANCE  answered, or a new  parked until the   accepted               REBALANCE_IN_PROGRESS
                      rebalance           leader's comes
STABLE                answered, or a new  the assignment     accepted               of this generation
                      rebalance
DEAD                  (the group is no longer in the coordinator)

EMPTY ----------------- join of a new member ----------------------------------> PREPARING_REBALANCE
PREPARING_REBALANCE --- all members have joined, or the time for it is over ---> COMPLETING_REBALANCE
PREPARING_REBALANCE --- the same, and nobody is left --------------------------> EMPTY
COMPLETING_REBALANCE -- the leader's assignment -------------------------------> STABLE
COMPLETING_REBALANCE -- join with other metadata, leave, lost member ----------> PREPARING_REBALANCE
STABLE ---------------- the same, or the leader joins again -------------------> PREPARING_REBALANCE
any ------------------- deleted, expired, or the coordinator was unloaded -----> DEAD
"""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """A state; the value is the name that DescribeGroups and ListGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


PREVIOUS: dict[State, frozenset[State]] = {
    State.EMPTY: frozenset({State.PREPARING_REBALANCE}),
    State.PREPARING_REBALANCE: frozenset({State.STABLE, State.COMPLETING_REBALANCE, State.EMPTY}),
    State.COMPLETING_REBALANCE: frozenset({State.PREPARING_REBALANCE}),
    State.STABLE: frozenset({State.COMPLETING_REBALANCE}),
    State.DEAD: frozenset(State),
}
"""From which states each state is reached."""
