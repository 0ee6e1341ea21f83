"""The logs of a snapshot as Kafka's own segments: for a file, and for a data directory."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple

from kafkastub.metadata import Node, Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.snapshots.putting_back import topics_back
from kafkastub.state.snapshots.saved import SavedState
from kafkastub.steps import at_once
from kafkastub.storage import PartitionLog
from kafkastub.storage.segment import Chunk, StoredBatch
from kafkastub.storage.state_log import StateLog
from kafkawire.records import parse_header


class LogSegment(NamedTuple):
    """One file of batches. `times`: where batches begin that were appended later than those before, and when."""

    base_offset: int
    chunks: list[Chunk]
    times: list[tuple[int, int]]


class Scratch:
    """A snapshot put back where nobody serves it: its coordinators' topics can be read as bytes.

    It has no dynamic configuration and no users: logs are all that it is for.
    """

    def __init__(self, saved: SavedState) -> None:
        config = copy.copy(saved.config)
        self.state = BrokerState(config, [Node(one.node_id) for one in saved.nodes], log=None)
        at_once(topics_back(self.state, saved))
        self.topics = list(self.state.cluster.topics.values())

    def logs(self, topic: Topic) -> Iterator[tuple[int, PartitionLog]]:
        """Each partition's that may have something."""
        for index in range(len(topic.partitions)):
            log = self.log(topic, index)
            if log is not None:
                yield index, log

    def log(self, topic: Topic, index: int) -> PartitionLog | None:
        """One partition's; None where it is as new."""
        logs = self.state.logs
        return logs.log(topic.topic_id, index) if logs.is_touched(topic.topic_id, index) else None


def segments_of(log: PartitionLog) -> Iterator[LogSegment]:
    """All that have batches."""
    if isinstance(log, StateLog):
        chunks: list[Chunk] = [batch for _, batch in log.batches()]
        if chunks:
            yield LogSegment(min(log.log_start_offset, parse_header(chunks[0]).base_offset), chunks, [])
        return
    for segment in log.saved().segments:
        if not segment.batches:
            continue
        chunks, times, last = [], [], -1
        for batch in segment.batches:
            if batch.appended_ms != last:
                last = batch.appended_ms
                times.append((batch.base_offset, last))
            chunks += _chunks(batch)
        yield LogSegment(segment.base_offset, chunks, times)


def _chunks(batch: StoredBatch) -> list[Chunk]:
    return [batch.head] if batch.payload is None else [batch.head, batch.payload]
