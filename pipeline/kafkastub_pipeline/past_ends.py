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
    within the time is left out; so is the first record that a partition still has, unless it is its very first: where
    all records of before are gone, it tells nothing of where the partition ended then.
    """
    import confluent_kafka.admin
    from confluent_kafka import TopicPartition

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
        asked = {TopicPartition(*place): spec.for_timestamp(at_ms) for place, at_ms in now.items()}
        for place, offset in _offsets(admin, asked).items():
            found[(*place, now[place])] = offset
    # where partitions begin is asked behind that: what is deleted meanwhile shows
    places = {(topic, partition) for topic, partition, _ in found}
    starts = _offsets(admin, {TopicPartition(*place): spec.earliest() for place in places})
    return {
        key: offset for key, offset in found.items() if offset <= 0 or (key[:2] in starts and offset > starts[key[:2]])
    }


def _offsets(admin: Any, asked: dict[Any, Any]) -> dict[Place, int]:
    """What ListOffsets answers, of the partitions that answer."""
    from confluent_kafka import KafkaException

    found: dict[Place, int] = {}
    if not asked:
        return found
    for place, future in admin.list_offsets(asked, request_timeout=TIMEOUT).items():
        try:
            found[place.topic, place.partition] = int(future.result().offset)
        except KafkaException:  # a partition without a leader, or one that may not be described
            continue
    return found
