"""Share groups as those see them who look from outside, and what they may do to them past the protocol (KIP-932).

What an administrator has of Kafka goes over the protocol: ShareGroupDescribe, DescribeShareGroupOffsets. This is more:
what is in whose hands at this moment, which Kafka shows nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.state.broker_state import BrokerState
from kafkastub.views import groups
from kafkastub.views.groups import GroupView, by_name
from kafkastub.views.of_groups import SHARE

if TYPE_CHECKING:
    from kafkastub.metadata import Topic
    from kafkastub.share_coordinator.state_batches import StateBatch
    from kafkastub.share_partitions.partition import View
    from kafkastub.state.share_partitions.partition_cache import Live
    from kafkastub.storage import PartitionLog

TopicPartition = tuple[str, int]

AVAILABLE: Final = "available"
ACQUIRED: Final = "acquired"
ACKNOWLEDGED: Final = "acknowledged"
ARCHIVING: Final = "archiving"
ARCHIVED: Final = "archived"
STATES: Final = (AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVING, ARCHIVED)
"""By the number that Kafka gives them (RecordState)."""
_UNKNOWN: Final = -1


class RecordsView(NamedTuple):
    """Consecutive records of one partition that have the same state.

    Attributes:
        first, last: their offsets, both included.
        state: "available", "acquired", "acknowledged", "archiving" (on their way to the dead-letter topic), "archived".
            For records that are `held`, the state after the release.
        deliveries: the number of deliveries; 0 for records that no member has had.
        member_id: the member that has them; None unless they are acquired.
        client_id: the client id of this member; None if it is no longer in the group.
        lock_left_ms: the time until their lock expires, in milliseconds of timer time.
        held: whether their acknowledgements are held by a test, or are being written.
    """

    first: int
    last: int
    state: str
    deliveries: int = 0
    member_id: str | None = None
    client_id: str | None = None
    lock_left_ms: int | None = None
    held: bool = False

    @property
    def offsets(self) -> range:
        """The range of their offsets."""
        return range(self.first, self.last + 1)

    @property
    def is_done(self) -> bool:
        """Whether their state is final."""
        return self.state in (ACKNOWLEDGED, ARCHIVED) and not self.held


@dataclass(frozen=True, eq=False, repr=False)
class SharePartitionView:
    """A partition of a share group, at one moment.

    Attributes:
        start: the offset before which all records are done; None if no member has read the partition yet.
        end: the end of the log for the members of the group.
        ranges: the records from `start` to `end` with their states, without gaps.
        is_loaded: whether a member has read it since its leader began; if not, `ranges` is the stored state.
    """

    group_id: str
    topic: str
    partition: int
    start: int | None
    end: int
    ranges: tuple[RecordsView, ...] = ()
    is_loaded: bool = False

    @cached_property
    def available(self) -> dict[int, RecordsView]:
        """The records that can be acquired, by offset."""
        return self._of(AVAILABLE)

    @cached_property
    def acquired(self) -> dict[int, RecordsView]:
        """The records that members have acquired, by offset, with member, number of deliveries and lock."""
        return self._of(ACQUIRED)

    @cached_property
    def acknowledged(self) -> dict[int, RecordsView]:
        """The records that were accepted, by offset, from `start` on."""
        return self._of(ACKNOWLEDGED)

    @cached_property
    def archiving(self) -> dict[int, RecordsView]:
        """The records on their way to the dead-letter topic, by offset."""
        return self._of(ARCHIVING)

    @cached_property
    def archived(self) -> dict[int, RecordsView]:
        """The offsets from `start` on that were rejected, were delivered too often, or are no records."""
        return self._of(ARCHIVED)

    @property
    def lag(self) -> int | None:
        """The number of offsets that are not done; None if no member has read the partition yet."""
        return None if self.start is None else sum(len(one.offsets) for one in self.ranges if not one.is_done)

    def count(self, state: str) -> int:
        """Return the number of offsets in a state. Raises ValueError for an unknown state."""
        if state not in STATES:
            raise ValueError(f"state={state!r}: records are {', '.join(STATES)}")
        return sum(len(one.offsets) for one in self.ranges if one.state == state)

    def is_done(self, offset: int) -> bool:
        """Whether a record is not delivered again: it was accepted, rejected, or delivered too often."""
        if self.start is None or offset >= self.end:
            return False
        return offset < self.start or self[offset].is_done

    def _of(self, state: str) -> dict[int, RecordsView]:
        return {offset: one for one in self.ranges if one.state == state for offset in one.offsets}

    def __getitem__(self, offset: int) -> RecordsView:
        """What is known of a record. Raises KeyError for one before `start` and one that there is not, TypeError."""
        if not isinstance(offset, int) or isinstance(offset, bool):
            raise TypeError(f"{offset!r} is not an offset: expected a whole number")
        for one in self.ranges:
            if one.first <= offset <= one.last:
                return one
        raise KeyError(f"{self}: nothing is known of offset {offset}, from {self.start} to {self.end} it is")

    def __repr__(self) -> str:
        told = ", ".join(f"{self.count(state)} {state}" for state in STATES if self.count(state))
        return (
            f"<{self.topic}-{self.partition} in share group {self.group_id!r}: {told or 'nothing'} from {self.start}>"
        )


@dataclass(frozen=True, kw_only=True)
class ShareGroupView(GroupView):
    """A share group.

    Attributes:
        partitions: the partitions that its members may read.
        holds: whether a test holds the acknowledgements of its members.
    """

    partitions: tuple[TopicPartition, ...]
    holds: bool

    @property
    def group(self) -> GroupView:
        """What a group of any type has."""
        return self


def view(state: BrokerState, group_id: str) -> ShareGroupView | None:
    """A share group; None where there is none of that id."""
    found = groups.view(state, group_id)
    if found is None or found.type != SHARE:
        return None
    places = by_name(state, state.coordinator.share.initialized_partitions(group_id))
    holds = state.has_share_partitions and group_id in state.share_partitions.held
    return ShareGroupView(**vars(found), partitions=places, holds=holds)


def delivery_limit(state: BrokerState, group_id: str) -> int:
    """How often a record is delivered to a group at most."""
    return state.share_partitions.group_settings.of(group_id).delivery_count_limit


def client_ids(found: ShareGroupView) -> dict[str, str]:
    """The client ids of a group's members, by member id."""
    return {one.member_id: one.client_id for one in found.members.values()}


def partition_view(
    state: BrokerState, group_id: str, topic: str, index: int, timer_ms: int, clients: Mapping[str, str]
) -> SharePartitionView:
    """A partition of a share group, whose members have these client ids. Raises KeyError for one that there is not."""
    found = state.cluster.topic(topic)
    log = None if found is None or index < 0 else state.logs.log(found.topic_id, index)
    if found is None or log is None:
        raise KeyError(f"there is no partition {topic}-{index}")
    end = _end(state, group_id, log)
    if not state.has_share_partitions:
        return SharePartitionView(group_id, topic, index, None, end)
    live = _live(state, group_id, found, index)
    if live is not None:
        start = live.partition.start_offset
        ranges = (_seen(one, clients, timer_ms) for one in live.partition.view())
        return SharePartitionView(group_id, topic, index, start, end, _whole(ranges, start, end), True)
    return _kept(state, group_id, found, index, end)


def _end(state: BrokerState, group_id: str, log: PartitionLog) -> int:
    if state.has_share_partitions and state.share_partitions.reads_committed(group_id):
        return log.last_stable_offset
    return log.high_watermark


def _live(state: BrokerState, group_id: str, topic: Topic, index: int) -> Live | None:
    leader = topic.partitions[index].leader
    return state.share_partitions.partitions.get(leader, group_id, topic.topic_id, index)


def _kept(state: BrokerState, group_id: str, topic: Topic, index: int, end: int) -> SharePartitionView:
    """As it would be begun with: nobody has read of it since its leader began."""
    from kafkastub.share_coordinator.records import SharePartitionKey

    known = state.share_partitions.coordinator.coordinator.states.get(
        SharePartitionKey(group_id, topic.topic_id, index)
    )
    if known is None or known.start_offset == _UNKNOWN:
        return SharePartitionView(group_id, topic.name, index, None, end)
    ranges = _whole(map(_of_batch, known.batches), known.start_offset, end)
    return SharePartitionView(group_id, topic.name, index, known.start_offset, end, ranges)


def _of_batch(batch: StateBatch) -> RecordsView:
    return RecordsView(batch.first_offset, batch.last_offset, STATES[batch.delivery_state], batch.delivery_count)


def _seen(one: View, clients: Mapping[str, str], timer_ms: int) -> RecordsView:
    return RecordsView(
        one.first_offset,
        one.last_offset,
        STATES[one.state],
        one.delivery_count,
        one.member_id or None,
        clients.get(one.member_id),
        None if one.locked_until_ms is None else max(one.locked_until_ms - timer_ms, 0),
        one.in_transition,
    )


def _whole(ranges: Iterable[RecordsView], start: int, end: int) -> tuple[RecordsView, ...]:
    """All from start to end: what nothing is known of was delivered to nobody."""
    whole, at = [], start
    for one in ranges:
        if one.last < at:
            continue
        if one.first > at:
            whole.append(RecordsView(at, one.first - 1, AVAILABLE))
        whole.append(one._replace(first=max(one.first, at)))
        at = one.last + 1
    if at < end:
        whole.append(RecordsView(at, end - 1, AVAILABLE))
    return tuple(whole)


def hold_acknowledgements(state: BrokerState, group_id: str) -> None:
    """From now on nothing becomes of what the group's members say of records, and they are not answered."""
    state.share_partitions.hold_acknowledgements(group_id)


def release_acknowledgements(state: BrokerState, group_id: str, broker_ms: int, timer_ms: int) -> None:
    """Let go what is held, in its order, and hold no more. Nothing happens where nothing is held."""
    if state.has_share_partitions:
        state.share_partitions.release_acknowledgements(group_id, broker_ms, timer_ms)
