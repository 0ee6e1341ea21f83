"""What only the cluster can tell, taken at one moment: watermarks, topics, and the times of the next records.

Plain Python over confluent-kafka; what comes back is small (a row a partition) and becomes a Spark table.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.sources import TOPIC

TIMEOUT: Final = 30.0
_CHUNK: Final = 2000
"""So many partitions are asked for in one request."""

Place = tuple[str, int]


@dataclass
class Watermarks:
    """Of one partition; times are Unix milliseconds, None where there is none."""

    log_start: int
    high_watermark: int
    last_stable_offset: int
    newest_offset: int | None = None
    newest_ms: int | None = None


@dataclass
class Snapshot:
    """The cluster at `taken_ms` of this machine's clock.

    Attributes:
        partitions: every partition that exists and answered.
        topics: the names of all topics.
        topic_ids: theirs, in the usual notation of a UUID, where the broker tells them.
        log_partitions: how many `__consumer_offsets` has.
    """

    taken_ms: int
    partitions: dict[Place, Watermarks] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    topic_ids: dict[str, str] = field(default_factory=dict)
    log_partitions: int = 0

    def unstable(self) -> list[int]:
        """Partitions of the log with records behind the last stable offset: there is an open transaction."""
        return sorted(
            partition
            for (topic, partition), marks in self.partitions.items()
            if topic == TOPIC and marks.last_stable_offset < marks.high_watermark
        )


def client_config(bootstrap_servers: str, options: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """For confluent-kafka; it logs nothing by itself."""
    return {"bootstrap.servers": bootstrap_servers, "log_level": 0, "error_cb": lambda _: None, **dict(options)}


def reached(bootstrap_servers: str, options: Sequence[tuple[str, str]] = (), timeout: float = TIMEOUT) -> Any:
    """An admin client and the cluster's metadata. Raises PipelineError: not reachable, no such topic, no permission."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        admin = AdminClient(client_config(bootstrap_servers, options))
        metadata = admin.list_topics(timeout=timeout)
    except KafkaException as error:
        raise PipelineError(
            f"no broker answers at {bootstrap_servers}: {error.args[0].str()}; check --bootstrap-servers"
        ) from error
    _check_topic(metadata, bootstrap_servers)
    _check_permission(admin, bootstrap_servers, timeout)
    return admin, metadata


def snapshot(bootstrap_servers: str, options: Sequence[tuple[str, str]] = (), timeout: float = TIMEOUT) -> Snapshot:
    """Watermarks of every partition. Raises what `reached` raises."""
    import confluent_kafka.admin
    from confluent_kafka import IsolationLevel, TopicPartition

    spec: Any = confluent_kafka.admin.OffsetSpec  # type: ignore[attr-defined]

    admin, metadata = reached(bootstrap_servers, options, timeout)
    found = Snapshot(int(time.time() * 1000), log_partitions=len(metadata.topics[TOPIC].partitions))
    places = [
        TopicPartition(name, index)
        for name, topic in metadata.topics.items()
        if topic.error is None
        for index, partition in topic.partitions.items()
        if partition.leader >= 0
    ]
    found.topics = {name for name, topic in metadata.topics.items() if topic.error is None}
    found.topic_ids = _topic_ids(admin, sorted(found.topics), timeout)
    levels = IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED
    for at in range(0, len(places), _CHUNK):
        chunk = places[at : at + _CHUNK]
        asked = [
            admin.list_offsets(dict.fromkeys(chunk, spec.earliest()), request_timeout=timeout),
            admin.list_offsets(dict.fromkeys(chunk, spec.latest()), isolation_level=levels[0], request_timeout=timeout),
            admin.list_offsets(dict.fromkeys(chunk, spec.latest()), isolation_level=levels[1], request_timeout=timeout),
            admin.list_offsets(dict.fromkeys(chunk, spec.max_timestamp()), request_timeout=timeout),
        ]
        for place in chunk:
            answers = [_answer(one[place]) for one in asked]
            start, end, stable, newest = answers
            if start is None or end is None:
                continue
            found.partitions[place.topic, place.partition] = Watermarks(
                start[0],
                end[0],
                end[0] if stable is None else stable[0],
                *((newest[0], newest[1]) if newest is not None and newest[1] >= 0 else (None, None)),
            )
    return found


def pending_offsets(
    bootstrap_servers: str, groups: Iterable[str], options: Sequence[tuple[str, str]] = ()
) -> set[tuple[str, str, int]]:
    """Group, topic, partition of offsets that a transaction has committed and that has not ended yet (KIP-447).

    One small request a group: the caller bounds their number. Groups that do not answer are left out, and so is the
    group without a name, which confluent-kafka refuses to ask for.
    """
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException

    admin, _ = reached(bootstrap_servers, options)
    asked = {
        group: admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], require_stable=True, request_timeout=TIMEOUT
        )[group]
        for group in groups
        if group
    }
    found: set[tuple[str, str, int]] = set()
    for group, future in asked.items():
        try:
            places = future.result().topic_partitions
        except KafkaException:
            continue
        found |= {
            (group, place.topic, place.partition)
            for place in places
            if place.error is not None and place.error.code() == KafkaError.UNSTABLE_OFFSET_COMMIT
        }
    return found


def _topic_ids(admin: Any, topics: Sequence[str], timeout: float) -> dict[str, str]:
    from confluent_kafka import KafkaException, TopicCollection

    found: dict[str, str] = {}
    for at in range(0, len(topics), _CHUNK):
        asked = admin.describe_topics(TopicCollection(list(topics[at : at + _CHUNK])), request_timeout=timeout)
        for name, future in asked.items():
            try:
                id_ = future.result().topic_id
            except KafkaException:  # gone meanwhile, or not to be described
                continue
            halves = id_.get_most_significant_bits(), id_.get_least_significant_bits()
            number = (halves[0] % 2**64) << 64 | halves[1] % 2**64
            if number:  # a broker before Kafka 2.8 has none
                found[name] = str(uuid.UUID(int=number))
    return found


def _answer(future: Any) -> tuple[int, int] | None:
    from confluent_kafka import KafkaException

    try:
        result = future.result()
    except KafkaException:  # a partition without a leader, or one that may not be described
        return None
    return int(result.offset), int(result.timestamp)


def _check_topic(metadata: Any, bootstrap_servers: str) -> None:
    from confluent_kafka import KafkaError

    topic = metadata.topics.get(TOPIC)
    if topic is None or (topic.error is not None and topic.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART):
        raise PipelineError(
            f"there is no topic {TOPIC} on {bootstrap_servers}, or it may not be described: no group has committed yet,"
            " or this user needs the permission Describe and Read on it"
        )
    if topic.error is not None:
        raise PipelineError(f"{TOPIC} on {bootstrap_servers} cannot be read: {topic.error.str()}")


def _check_permission(admin: Any, bootstrap_servers: str, timeout: float) -> None:
    """Who may describe the log and not read it is told before Spark starts. Brokers without permissions say nothing."""
    from confluent_kafka import KafkaException, TopicCollection

    asked = admin.describe_topics(
        TopicCollection([TOPIC]), include_authorized_operations=True, request_timeout=timeout
    )[TOPIC]
    try:
        allowed = asked.result().authorized_operations
    except KafkaException:  # a broker that does not know the question
        return
    names = sorted(one.name.capitalize() for one in allowed or ())
    if names and "Read" not in names:
        raise PipelineError(
            f"{TOPIC} on {bootstrap_servers} may not be read: this user needs the permission Read on the topic, and has"
            f" {', '.join(names)}"
        )


def next_record_times(
    bootstrap_servers: str, wanted: Iterable[tuple[str, int, int]], options: Sequence[tuple[str, str]] = ()
) -> dict[tuple[str, int, int], int]:
    """The timestamp of the first record at or behind each (topic, partition, offset), Unix milliseconds.

    Those that do not come within the time are left out. One small read each: the caller bounds their number.
    """
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    found: dict[tuple[str, int, int], int] = {}
    config = client_config(bootstrap_servers, options) | {
        "group.id": "kafkastub-pipeline",
        "enable.auto.commit": False,
        "fetch.message.max.bytes": 65536,
        "auto.offset.reset": "earliest",
    }
    left: dict[Place, list[int]] = {}
    for topic, partition, offset in wanted:
        left.setdefault((topic, partition), []).append(offset)
    with closing(Consumer(config)) as consumer:
        while left:
            now = {place: offsets.pop() for place, offsets in left.items()}
            left = {place: offsets for place, offsets in left.items() if offsets}
            try:
                consumer.assign([TopicPartition(topic, p, offset) for (topic, p), offset in now.items()])
                deadline = time.monotonic() + TIMEOUT
                while now and time.monotonic() < deadline:
                    message = consumer.poll(1.0)
                    place = None if message is None or message.error() else (message.topic(), message.partition())
                    if message is not None and place in now:
                        found[(*place, now.pop(place))] = message.timestamp()[1]
            except KafkaException:
                break
    return found
