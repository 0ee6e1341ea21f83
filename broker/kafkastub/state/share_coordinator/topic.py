"""`__share_group_state`: kept until it is pruned, in memory or in a data directory."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.share_coordinator.coordinator import ShareCoordinator
from kafkastub.share_coordinator.records import ShareCodec, ShareRecord, ShareTombstone
from kafkastub.state.internal_topics.kept_topic import KeptTopic
from kafkastub.state.share_coordinator.needed_state import NeededState

_HISTORY: Final = 10_000
"""With more records, all partitions together, what is not needed any more is pruned without waiting for its time."""
_HEAVIEST: Final = 200_000
"""Likewise with so many state batches in them: some 40 MB. One record may have ten thousands."""


def _weight(record: ShareRecord) -> int:
    return 0 if isinstance(record, ShareTombstone) else len(record.batches)


def share_topic(state: NeededState, coordinator: ShareCoordinator) -> KeptTopic[ShareRecord]:
    """The logs of `__share_group_state` (`share.coordinator.state.topic.*`)."""
    codec = ShareCodec()
    shape: dict[str, Any] = {
        "history": _HISTORY,
        "heaviest": _HEAVIEST,
        "weigh": _weight,
        "compression": state.config["share.coordinator.state.topic.compression.codec"],
        "log": state.log,
        "partitions": lambda: len(state.cluster.topics[SHARE_GROUP_STATE].partitions),
    }
    if state.disk is None:
        return KeptTopic(codec, coordinator, **shape)
    from kafkastub.state.internal_topics.durable_kept_topic import DurableKeptTopic
    from kafkastub.storage.disk import DiskLogs

    assert isinstance(state.logs, DiskLogs)
    return DurableKeptTopic(codec, coordinator, **shape, logs=state.logs, fall_back=state.fall_back)
