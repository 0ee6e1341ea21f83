"""How far groups are behind the ends of the logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from kafkastub.coordinator.records import CommittedOffset
from kafkastub.coordinator.topic_offsets import TopicOffsets
from kafkastub.state.broker_state import BrokerState

TopicPartition = tuple[str, int]

_SOME: Final = 128
"""Partitions that are looked at in one go."""


class Measured(NamedTuple):
    """A committed offset, and how far its log goes; None where the topic is gone, or the partition."""

    partition: int
    commit: CommittedOffset
    log_end_offset: int | None
    lag: int | None


def measured(state: BrokerState, name: str, columns: TopicOffsets) -> Iterator[Measured]:
    """A group's offsets of one topic, one by one; what is deleted on the way is left out."""
    topic = state.cluster.topic(name)
    for index in columns.partitions():
        commit = columns.get(index)
        if commit is None:
            continue
        log = None if topic is None else state.logs.log(topic.topic_id, index)
        if log is None:
            yield Measured(index, commit, None, None)
        else:
            end = log.log_end_offset
            yield Measured(index, commit, end, max(end - commit.offset, 0))


def without_offset(state: BrokerState, name: str, columns: TopicOffsets) -> Iterator[int]:
    """How many partitions of a topic have records and no committed offset of a group, some at a time."""
    topic = state.cluster.topic(name)
    if topic is None:
        return
    for first in range(0, len(topic.partitions), _SOME):
        found = 0
        for partition in topic.partitions[first : first + _SOME]:
            if columns.get(partition.index) is None:
                log = state.logs.look(topic.topic_id, partition.index)
                found += log is not None and log.high_watermark > log.log_start_offset
        yield found


def lag_of(state: BrokerState, group: str) -> dict[TopicPartition, int] | None:
    """By partition that a group has committed: how many records it is behind the end; None where there is no group.

    0 where the topic is gone.
    """
    if group not in state.coordinator.groups:
        return None
    found: dict[TopicPartition, int] = {}
    for name, columns in state.coordinator.offsets.topics(group).items():
        for one in measured(state, name, columns):
            found[name, one.partition] = one.lag or 0
    return found


def is_share_group(state: BrokerState, group: str) -> bool:
    """Whether it is there, and one: what it is done with is no offset that it commits."""
    found = state.coordinator.groups.get(group)
    return found is not None and found.group_type == "share"


def behind(state: BrokerState, group: str, topic: str | None, at_most: int) -> str | None:
    """What a group has still to do until its lag is at most so much, in words; None where that is nothing.

    Every partition counts that has records: of `topic`, or of all topics that it has committed anything of.
    """
    lags = lag_of(state, group)
    if lags is None:
        return "does not exist"
    if is_share_group(state, group):
        return "is a share group, which commits nothing: wait for it as for a share group"
    if topic is not None and state.cluster.topic(topic) is None:
        return f"has committed nothing of topic {topic!r}, which does not exist"
    known = {place: lag for place, lag in lags.items() if topic in (None, place[0])}
    for name in sorted({name for name, _ in known}) if topic is None else (topic,):
        found = state.cluster.topic(name)
        if found is None:
            continue
        for partition in found.partitions:
            log = state.logs.log(found.topic_id, partition.index)
            has_records = log is not None and log.high_watermark > log.log_start_offset
            if has_records and (name, partition.index) not in known:
                return f"has committed nothing of {name}-{partition.index}"
    if not known:
        return "has committed nothing"
    left = {place: lag for place, lag in known.items() if lag > at_most}
    if not left:
        return None
    return "is behind by " + ", ".join(f"{lag} in {name}-{index}" for (name, index), lag in sorted(left.items()))
