"""Committed offsets as groups are asked for them, where `__consumer_offsets` cannot be read.

Managed clusters let nobody read it. What it says and no answer does is lost: when an offset was committed, members,
epochs and assignments. Each group becomes one that has offsets alone, committed at the moment of the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafkastub.client import BrokerError, groups, of_groups
from kafkastub.cluster_snapshots.source import Source
from kafkastub.coordinator import CommittedOffset, partition_for
from kafkastub.metadata import CONSUMER_OFFSETS
from kafkastub.state.internal_topics.offsets_codec import OffsetsCodec
from kafkawire.offsets_topic import offset_key
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import ZERO_UUID

PARTITIONS: Final = 50
"""Of the topic where nobody may see it; Kafka's default."""
_VALUE_VERSION: Final = 3
_MOST_IN_BATCH: Final = 500
_SHARE: Final = "share"
_LOST: Final = (
    "its groups were asked for their offsets instead: these count as committed at the moment of the snapshot, and "
    "members, share groups and the states of groups are not in it"
)


def batches(source: Source, partitions: int, now_ms: int) -> dict[int, list[bytes]]:
    """By partition of a topic with so many, what stands for the offsets of all groups that are listed."""
    found: dict[int, list[bytes]] = {}
    ends = dict.fromkeys(range(partitions), 0)
    for group_id, records in _records(source, now_ms):
        partition = partition_for(group_id, partitions)
        for first in range(0, len(records), _MOST_IN_BATCH):
            some = records[first : first + _MOST_IN_BATCH]
            found.setdefault(partition, []).append(build_batch(some, base_offset=ends[partition], leader_epoch=0))
            ends[partition] += len(some)
    source.note(CONSUMER_OFFSETS, _LOST)
    return found


def _records(source: Source, now_ms: int) -> Iterator[tuple[str, list[NewRecord]]]:
    codec = OffsetsCodec(_VALUE_VERSION)
    for group_id in _groups(source):
        records = []
        with source.noting(f"offsets of group {group_id}"):
            for (topic, partition), one in groups.offsets(source.client, group_id).items():
                epoch = -1 if one.leader_epoch is None else one.leader_epoch
                committed = CommittedOffset(one.offset, epoch, one.metadata, now_ms, -1, ZERO_UUID)
                records.append(NewRecord(offset_key(group_id, topic, partition), codec.offset(committed), now_ms))
        if records:
            yield group_id, records


def _groups(source: Source) -> list[str]:
    found: set[str] = set()
    for node in source.client.nodes():
        try:
            rows = of_groups.listed(source.client, node, (), ())
        except BrokerError as error:
            source.note(f"groups that broker {node.id} coordinates", error)
            continue
        found.update(row.group_id for row in rows if row.group_type.lower() != _SHARE)
    return sorted(found)
