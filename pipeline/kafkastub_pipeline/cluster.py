"""What only the cluster can tell: watermarks, topics, and the times of the next records.

A cluster goes on while its log is read, so that it matters what is asked when. Ends are asked behind the log: a commit
that was read is then never ahead of them, and a topic that it names is there unless it was deleted. Beginnings are
asked before it: records that go when they were consumed, as Kafka Streams deletes them, are else missing behind a
commit that was read before.

Plain Python over confluent-kafka; what comes back is small (a row a partition) and becomes a Spark table.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from kafkastub_pipeline.connection import connected, reader_config
from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.topics import GROUP, SHARES, TOPIC, TRANSACTIONS

TIMEOUT: Final = 30.0
_CHUNK: Final = 2000
"""So many partitions are asked for in one request."""
_TOPIC_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
"""Kafka: org.apache.kafka.common.internals.Topic."""

Place = tuple[str, int]


@dataclass
class Watermarks:
    """Of one partition; times are Unix milliseconds, None where there is none.

    Attributes:
        log_start: as `beginnings` had it, where the partition has not begun earlier since, as that of a new topic.
    """

    log_start: int
    high_watermark: int
    last_stable_offset: int
    newest_offset: int | None = None
    newest_ms: int | None = None


@dataclass
class Beginnings:
    """The cluster before its log is read.

    Attributes:
        log_partitions: how many `__consumer_offsets` has.
        log_sizes: how many records each of them holds at most: compaction leaves gaps.
        share_partitions: how many `__share_group_state` has; 0 where none is to be seen, None where it may not be read.
        share_sizes: how many records each of them holds at most.
        transaction_partitions, transaction_sizes: the same of `__transaction_state`.
        starts: where every partition begins that answered.
    """

    log_partitions: int
    log_sizes: dict[int, int] = field(default_factory=dict)
    share_partitions: int | None = 0
    share_sizes: dict[int, int] = field(default_factory=dict)
    transaction_partitions: int | None = 0
    transaction_sizes: dict[int, int] = field(default_factory=dict)
    starts: dict[Place, int] = field(default_factory=dict)

    def unreadable(self) -> list[str]:
        """Topics that are there, and may not be read."""
        known = {SHARES: self.share_partitions, TRANSACTIONS: self.transaction_partitions}
        return [topic for topic, partitions in known.items() if partitions is None]


@dataclass
class Snapshot:
    """The cluster behind its log, at `taken_ms` of this machine's clock.

    Attributes:
        partitions: every partition that exists and answered.
        listed: every partition that the cluster names, those without a leader too.
        topics: the names of all topics.
        topic_ids: theirs, in the usual notation of a UUID, where the broker tells them.
        retention_minutes: `offsets.retention.minutes`; None where the broker does not tell.
    """

    taken_ms: int
    partitions: dict[Place, Watermarks] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    topic_ids: dict[str, str] = field(default_factory=dict)
    listed: set[Place] = field(default_factory=set)
    retention_minutes: int | None = None

    def held(self) -> list[Place]:
        """Partitions whose last stable offset is behind their high watermark."""
        return [place for place, marks in self.partitions.items() if marks.last_stable_offset < marks.high_watermark]

    def unstable(self) -> list[int]:
        """Partitions of the log with records behind the last stable offset: there is an open transaction."""
        return sorted(
            partition
            for (topic, partition), marks in self.partitions.items()
            if topic == TOPIC and marks.last_stable_offset < marks.high_watermark
        )


def reached(bootstrap_servers: str, options: Sequence[tuple[str, str]] = (), timeout: float = TIMEOUT) -> Any:
    """An admin client and the cluster's metadata. Raises PipelineError: not reachable, no such topic, no permission."""
    admin, metadata = connected(bootstrap_servers, options, timeout)
    _check_topic(metadata, bootstrap_servers)
    _check_permission(admin, bootstrap_servers, timeout)
    _check_group(admin, bootstrap_servers, options, timeout)
    return admin, metadata


def beginnings(bootstrap_servers: str, options: Sequence[tuple[str, str]] = (), timeout: float = TIMEOUT) -> Beginnings:
    """What is asked before the log is read. Raises what `reached` raises."""
    spec = _offset_spec()
    admin, metadata = reached(bootstrap_servers, options, timeout)
    found = Beginnings(len(metadata.topics[TOPIC].partitions))
    found.share_partitions = _readable(admin, metadata, SHARES, timeout)
    found.transaction_partitions = _readable(admin, metadata, TRANSACTIONS, timeout)
    sizes = {TOPIC: found.log_sizes, SHARES: found.share_sizes, TRANSACTIONS: found.transaction_sizes}
    for chunk in _chunks(_with_leaders(metadata)):
        starts = admin.list_offsets(dict.fromkeys(chunk, spec.earliest()), request_timeout=timeout)
        of_log = [place for place in chunk if place.topic in sizes]
        ends = admin.list_offsets(dict.fromkeys(of_log, spec.latest()), request_timeout=timeout) if of_log else {}
        for place in chunk:
            start = _answer(starts[place])
            end = _answer(ends[place]) if place in ends else None
            if start is not None:
                found.starts[place.topic, place.partition] = start[0]
                if end is not None:
                    sizes[place.topic][place.partition] = end[0] - start[0]
    return found


def _readable(admin: Any, metadata: Any, name: str, timeout: float) -> int | None:
    """How many partitions a topic has; 0 where none is to be seen, None where it may not be read."""
    topic = metadata.topics.get(name)
    if topic is None or topic.error is not None:
        return 0
    return len(topic.partitions) if _allowed(admin, name, timeout, "Read") else None


def snapshot(
    bootstrap_servers: str,
    options: Sequence[tuple[str, str]] = (),
    timeout: float = TIMEOUT,
    begun: Beginnings | None = None,
) -> Snapshot:
    """Watermarks of every partition, to be taken behind the log. Raises what `reached` raises.

    Args:
        begun: the cluster before the log was read; None where no log is.
    """
    from confluent_kafka import IsolationLevel

    spec = _offset_spec()
    admin, metadata = reached(bootstrap_servers, options, timeout)
    found = Snapshot(int(time.time() * 1000))
    found.topics = {name for name, topic in metadata.topics.items() if topic.error is None}
    found.listed = {(name, index) for name, topic in metadata.topics.items() for index in topic.partitions}
    found.retention_minutes = _retention_minutes(admin, sorted(metadata.brokers), timeout)
    levels = IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED
    for chunk in _chunks(_with_leaders(metadata)):
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
            key = place.topic, place.partition
            before = None if begun is None else begun.starts.get(key)
            found.partitions[key] = Watermarks(
                start[0] if before is None else min(start[0], before),
                end[0],
                end[0] if stable is None else min(stable[0], end[0]),
                *((newest[0], newest[1]) if newest is not None and newest[1] >= 0 else (None, None)),
            )
    # behind the watermarks: where an id is that of a commit, the watermarks are those of its topic, and of no later one
    found.topic_ids = _topic_ids(admin, sorted(found.topics), timeout)
    return found


def spans(
    bootstrap_servers: str,
    topic: str,
    chosen: Callable[[int], Sequence[int]],
    options: Sequence[tuple[str, str]] = (),
    timeout: float = TIMEOUT,
) -> dict[int, tuple[int, int]]:
    """Return where partitions of a topic begin, and their last stable offsets.

    Args:
        chosen: the partitions that are wanted, of so many as the topic has.

    Raises PipelineError: the broker cannot be reached, has no such topic, or does not answer for a partition.
    """
    from confluent_kafka import IsolationLevel, TopicPartition

    spec = _offset_spec()
    admin, metadata = connected(bootstrap_servers, options, timeout)
    _check_topic(metadata, bootstrap_servers, topic)
    places = [TopicPartition(topic, one) for one in chosen(len(metadata.topics[topic].partitions))]
    level = IsolationLevel.READ_COMMITTED
    found: dict[int, tuple[int, int]] = {}
    for chunk in _chunks(places):
        starts = admin.list_offsets(dict.fromkeys(chunk, spec.earliest()), request_timeout=timeout)
        ends = admin.list_offsets(dict.fromkeys(chunk, spec.latest()), isolation_level=level, request_timeout=timeout)
        for place in chunk:
            start, end = _answer(starts[place]), _answer(ends[place])
            if start is None or end is None:
                raise PipelineError(
                    f"partition {place.partition} of {topic} on {bootstrap_servers} does not answer: it has no leader,"
                    " or this user needs the permission Describe on the topic"
                )
            found[place.partition] = start[0], end[0]
    return found


def pending_offsets(
    bootstrap_servers: str, groups: Iterable[str], options: Sequence[tuple[str, str]] = ()
) -> set[tuple[str, str, int]]:
    """Group, topic, partition of offsets that a transaction has committed and that has not ended yet (KIP-447).

    One small request a group: the caller bounds their number. Groups that do not answer are left out, and so is the
    group without a name, which confluent-kafka refuses to ask for.
    """
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException

    admin, _ = connected(bootstrap_servers, options, TIMEOUT)
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


def gone_topics(bootstrap_servers: str, names: Iterable[str], options: Sequence[tuple[str, str]] = ()) -> set[str]:
    """Those that the cluster says it has not, asked by their names.

    A topic that may not be described is left out of a listing as one that is gone is; asked by its name, the cluster
    tells the one from the other. What no topic can be called is not asked for.
    """
    from confluent_kafka import KafkaError, KafkaException, TopicCollection

    wanted = sorted(set(names))
    possible = [name for name in wanted if _TOPIC_NAME.fullmatch(name) and name not in (".", "..")]
    gone = set(wanted) - set(possible)
    if not possible:
        return gone
    admin, _ = connected(bootstrap_servers, options, TIMEOUT)
    for at in range(0, len(possible), _CHUNK):
        asked = admin.describe_topics(TopicCollection(possible[at : at + _CHUNK]), request_timeout=TIMEOUT)
        for name, future in asked.items():
            try:
                future.result()
            except KafkaException as error:  # anything else is no answer
                if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    gone.add(name)
    return gone


def _retention_minutes(admin: Any, brokers: Sequence[int], timeout: float) -> int | None:
    """`offsets.retention.minutes` of the first broker: a cluster where they differ has no retention of its own."""
    import confluent_kafka.admin
    from confluent_kafka import KafkaException

    if not brokers:
        return None
    api: Any = confluent_kafka.admin
    resource = api.ConfigResource(api.ResourceType.BROKER, str(brokers[0]))
    try:
        entries = admin.describe_configs([resource], request_timeout=timeout)[resource].result()
        return int(entries["offsets.retention.minutes"].value)
    except (KafkaException, KeyError, TypeError, ValueError):  # it may not be described, or no such broker knows it
        return None


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


def _offset_spec() -> Any:
    import confluent_kafka.admin

    return confluent_kafka.admin.OffsetSpec  # type: ignore[attr-defined]


def _with_leaders(metadata: Any) -> list[Any]:
    """The partitions that can be asked."""
    from confluent_kafka import TopicPartition

    return [
        TopicPartition(name, index)
        for name, topic in metadata.topics.items()
        if topic.error is None
        for index, partition in topic.partitions.items()
        if partition.leader >= 0
    ]


def _chunks(places: list[Any]) -> Iterator[list[Any]]:
    return (places[at : at + _CHUNK] for at in range(0, len(places), _CHUNK))


def _answer(future: Any) -> tuple[int, int] | None:
    from confluent_kafka import KafkaException

    try:
        result = future.result()
    except KafkaException:  # a partition without a leader, or one that may not be described
        return None
    return int(result.offset), int(result.timestamp)


def _check_topic(metadata: Any, bootstrap_servers: str, name: str = TOPIC) -> None:
    from confluent_kafka import KafkaError

    topic = metadata.topics.get(name)
    if topic is None or (topic.error is not None and topic.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART):
        nothing = {TOPIC: "no group has committed yet", TRANSACTIONS: "no client has begun a transaction yet"}
        raise PipelineError(
            f"there is no topic {name} on {bootstrap_servers}, or it may not be described:"
            f" {nothing.get(name, 'it was never made')}, or this user needs the permission Describe and Read on it"
        )
    if topic.error is not None:
        raise PipelineError(f"{name} on {bootstrap_servers} cannot be read: {topic.error.str()}")


def _check_permission(admin: Any, bootstrap_servers: str, timeout: float) -> None:
    """Who may describe the log and not read it is told before Spark starts."""
    names = _operations(admin, TOPIC, timeout)
    if names and "Read" not in names:
        raise PipelineError(
            f"{TOPIC} on {bootstrap_servers} may not be read: this user needs the permission Read on the topic, and has"
            f" {', '.join(names)}"
        )


def _allowed(admin: Any, topic: str, timeout: float, operation: str) -> bool:
    """Whether this user may do that with a topic, as far as the broker tells."""
    names = _operations(admin, topic, timeout)
    return not names or operation in names


def _operations(admin: Any, topic: str, timeout: float) -> list[str]:
    """What this user may do with a topic. Brokers without permissions, or without the question, name none."""
    from confluent_kafka import KafkaException, TopicCollection

    asked = admin.describe_topics(
        TopicCollection([topic]), include_authorized_operations=True, request_timeout=timeout
    )[topic]
    try:
        allowed = asked.result().authorized_operations
    except KafkaException:
        return []
    return sorted(one.name.capitalize() for one in allowed or ())


def _check_group(admin: Any, bootstrap_servers: str, options: Sequence[tuple[str, str]], timeout: float) -> None:
    """Java's client asks for the offsets of the group that it names: who may not is told before Spark starts."""
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException

    group = dict(options).get("group.id")
    asked = ConsumerGroupTopicPartitions(f"{GROUP}-check" if group is None else group)
    try:
        admin.list_consumer_group_offsets([asked], request_timeout=timeout)[asked.group_id].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.GROUP_AUTHORIZATION_FAILED:
            return
        wanted = f"group {group}" if group is not None else f"groups whose names begin with {GROUP}"
        how = f"--group {group}" if group is not None else f"--group {GROUP} --resource-pattern-type prefixed"
        raise PipelineError(
            f"{TOPIC} on {bootstrap_servers} may not be read: this user needs the permission Describe, or Read, on the"
            f" {wanted} (kafka-acls.sh --add --allow-principal User:… --operation Describe {how})"
        ) from error


def next_record_times(
    bootstrap_servers: str, wanted: Iterable[tuple[str, int, int]], options: Sequence[tuple[str, str]] = ()
) -> dict[tuple[str, int, int], int | None]:
    """The timestamp of the first record at or behind each (topic, partition, offset), Unix milliseconds.

    None where there is no record, but the mark of a transaction, say. Left out are topics that may not be read, and
    what does not come within the time. One small read each: the caller bounds their number.
    """
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

    found: dict[tuple[str, int, int], int | None] = {}
    # uncommitted: as far as lag is counted
    config = reader_config(bootstrap_servers, options, "read_uncommitted", fetch_message_max_bytes=65536)
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
                    message: Any = consumer.poll(1.0)
                    place = None if message is None else (message.topic(), message.partition())
                    if place not in now:
                        continue
                    error = message.error()
                    if error is None:
                        found[(*place, now.pop(place))] = message.timestamp()[1]
                    elif error.code() == KafkaError._PARTITION_EOF:
                        found[(*place, now.pop(place))] = None
                    elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                        now = {one: offset for one, offset in now.items() if one[0] != place[0]}
                        left = {one: offsets for one, offsets in left.items() if one[0] != place[0]}
            except KafkaException:
                break
    return found
