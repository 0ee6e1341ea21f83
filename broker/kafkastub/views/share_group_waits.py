"""What is waited for of a share group's records, and what of it is not so yet, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafkastub.state.broker_state import BrokerState
from kafkastub.views.of_groups import Awaited
from kafkastub.views.share_groups import ACQUIRED, STATES, SharePartitionView, partition_view, view


@dataclass(frozen=True)
class Wanted(Awaited):
    """What is waited for of a share group's records; what is None does not matter.

    Attributes:
        topic: of this topic alone.
        acquired, held: so many at least.
        lag: of every partition at most; of a `topic`, all of its partitions have to have been read.
    """

    topic: str | None = None
    acquired: int | None = None
    held: int | None = None
    lag: int | None = None

    def missing(self, state: BrokerState, group_id: str) -> str | None:
        found = view(state, group_id)
        if found is None:
            return "does not exist"
        topic = self.topic
        if topic is not None and state.cluster.topic(topic) is None:
            return f"has read nothing of topic {topic!r}, which does not exist"
        places = [place for place in found.partitions if topic in (None, place[0])]
        if not places:
            return "has read nothing" if topic is None else f"has read nothing of topic {topic!r}"
        seen = [partition_view(state, group_id, name, index, 0, {}) for name, index in places]
        acquired = sum(one.count(ACQUIRED) for one in seen)
        held = sum(len(some.offsets) for one in seen for some in one.ranges if some.held)
        if self.acquired is not None and acquired < self.acquired:
            return f"has {acquired} records in its members' hands instead of {self.acquired}"
        if self.held is not None and held < self.held:
            return f"has {held} records whose acknowledgements are held instead of {self.held}"
        return None if self.lag is None else _behind(seen, self.lag)

    def watched(self, state: BrokerState) -> list[list[Callable[[], None]]]:
        return [state.group_watchers, state.share_partitions.watchers]


def _behind(seen: Iterable[SharePartitionView], at_most: int) -> str | None:
    left = []
    for one in seen:
        place, lag = f"{one.topic}-{one.partition}", one.lag
        if lag is None:
            if one.end > at_most:
                left.append(f"nothing of {place}, which nobody has read")
        elif lag > at_most:
            told = ", ".join(f"{one.count(state)} {state}" for state in STATES if one.count(state))
            left.append(f"{lag} in {place} ({told})")
    return "is not done with " + ", ".join(left) if left else None
