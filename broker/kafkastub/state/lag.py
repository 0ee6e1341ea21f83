"""How far groups are behind the ends of the logs."""

from __future__ import annotations

from kafkastub.state.broker_state import BrokerState

TopicPartition = tuple[str, int]


def lag_of(state: BrokerState, group: str) -> dict[TopicPartition, int] | None:
    """By partition that a group has committed: how many records it is behind the end; None where there is no group.

    0 where the topic is gone.
    """
    if group not in state.coordinator.groups:
        return None
    found: dict[TopicPartition, int] = {}
    for name, columns in state.coordinator.offsets.topics(group).items():
        topic = state.cluster.topic(name)
        for index, committed in columns.items():
            log = None if topic is None else state.logs.log(topic.topic_id, index)
            found[name, index] = 0 if log is None else max(log.high_watermark - committed.offset, 0)
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
