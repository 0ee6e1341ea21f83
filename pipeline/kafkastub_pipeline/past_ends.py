"""Where partitions ended at moments of the past, as their records' timestamps tell it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from kafkastub_pipeline.cluster import TIMEOUT, Place
from kafkastub_pipeline.connection import connected


def ends_at(
    bootstrap_servers: str, wanted: Iterable[tuple[str, int, int]], options: Sequence[tuple[str, str]] = ()
) -> dict[tuple[str, int, int], int]:
    """The offset of the first record not before each (topic, partition, Unix milliseconds); -1 where there is none.

    Partitions are asked together, each for one moment at a time: the caller bounds their number. What does not come
    within the time is left out.
    """
    import confluent_kafka.admin
    from confluent_kafka import KafkaException, TopicPartition

    spec: Any = confluent_kafka.admin.OffsetSpec  # type: ignore[attr-defined]

    left: dict[Place, list[int]] = {}
    for topic, partition, at_ms in wanted:
        left.setdefault((topic, partition), []).append(at_ms)
    found: dict[tuple[str, int, int], int] = {}
    if not left:
        return found
    admin, _ = connected(bootstrap_servers, options, TIMEOUT)
    deadline = time.monotonic() + TIMEOUT
    while left and time.monotonic() < deadline:
        now = {place: moments.pop() for place, moments in left.items()}
        left = {place: moments for place, moments in left.items() if moments}
        asked = admin.list_offsets(
            {TopicPartition(*place): spec.for_timestamp(at_ms) for place, at_ms in now.items()},
            request_timeout=TIMEOUT,
        )
        for place, future in asked.items():
            key = place.topic, place.partition, now[place.topic, place.partition]
            try:
                found[key] = int(future.result().offset)
            except KafkaException:  # a partition without a leader, or one that may not be described
                continue
    return found
