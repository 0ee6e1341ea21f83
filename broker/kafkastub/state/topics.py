"""Topics created and deleted, everywhere at once: the cluster's state, the logs, the groups' offsets.

CreateTopics, auto-creation in Metadata, the offsets topic and the public face all come through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkastub.config import InvalidValue, UnknownTopicConfig, topic_settings, validate_topic_configs
from kafkastub.metadata import CLUSTER_METADATA, CONSUMER_OFFSETS, Cluster, Topic, invalid_topic_name
from kafkastub.state.internal_topics.catalog import CATALOG
from kafkastub.state.loading import resign
from kafkastub.steps import Steps, at_once
from kafkastub.storage import LogSettings
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

MOST_RECORDS: Final = 10_000
"""Records that Kafka's controller writes in one go: a topic, a partition and a configuration are one each."""
DEFAULT_COUNT: Final = -1
"""As a number of partitions or replicas: what the broker is configured for."""


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic that passed every check. ``assignments``: the replicas of each partition; None: the cluster places."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]
    assignments: Sequence[Sequence[int]] | None = None

    @property
    def records(self) -> int:
        """What writing it down takes."""
        return 1 + self.partitions + len(self.configs)


def name_error(cluster: Cluster, name: str) -> KafkaError | None:
    """Why no topic of that name may be created now (Kafka: ReplicationControlManager.validateNewTopicNames)."""
    if name in cluster.topics:
        return KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    other = cluster.colliding_topic(name)
    if other is not None:
        message = f"Topic '{name}' collides with existing topic: {other}"
        return KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    reason = invalid_topic_name(name)
    return None if reason is None else KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)


def check_configs(state: BrokerState, configs: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The overrides as a dict (the last of a name wins). Raises KafkaError(INVALID_CONFIG)."""
    pairs = list(configs)
    missing = [name for name, value in pairs if value is None]
    if missing:
        message = f"Null value not supported for topic configs: {','.join(missing)}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    overrides = {name: value for name, value in pairs if value is not None}
    try:
        validate_topic_configs(state.config.log_defaults, overrides)
    except (InvalidValue, UnknownTopicConfig) as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
    return overrides


def plan_topic(
    state: BrokerState,
    name: str,
    partitions: int = DEFAULT_COUNT,
    replication_factor: int = DEFAULT_COUNT,
    configs: Iterable[tuple[str, str | None]] = (),
    assignments: Sequence[tuple[int, Sequence[int]]] = (),
) -> TopicPlan:
    """Check everything but the name, in Kafka's order (ReplicationControlManager.createTopic). Raises KafkaError.

    ``assignments`` are (partition index, node ids).
    """
    overrides = check_configs(state, configs)
    if assignments:
        if replication_factor != DEFAULT_COUNT:
            message = "A manual partition assignment was specified, but replication factor was not set to -1."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if partitions != DEFAULT_COUNT:
            message = "A manual partition assignment was specified, but numPartitions was not set to -1."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        placed = _check_assignments(state, assignments)
        return TopicPlan(name, len(placed), len(placed[0]), overrides, placed)
    if replication_factor < DEFAULT_COUNT or replication_factor == 0:
        message = "Replication factor must be larger than 0, or -1 to use the default value."
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    if partitions < DEFAULT_COUNT or partitions == 0:
        message = "Number of partitions was set to an invalid non-positive value."
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
    if partitions == DEFAULT_COUNT:
        partitions = state.config["num.partitions"]
    if replication_factor == DEFAULT_COUNT:
        replication_factor = state.config["default.replication.factor"]
    _check_placeable(state, replication_factor)
    return TopicPlan(name, partitions, replication_factor, overrides)


def _check_placeable(state: BrokerState, replication_factor: int) -> None:
    """The same for a new topic, which tells it with more words."""
    try:
        check_placeable(state, replication_factor)
    except KafkaError as error:
        message = f"Unable to replicate the partition {replication_factor} time(s): {error.message}"
        raise KafkaError(error.code, message) from None


def check_placeable(state: BrokerState, replication_factor: int) -> None:
    """Raises KafkaError where so many replicas have no place (Kafka: StripedReplicaPlacer)."""
    brokers = len(state.cluster.registered)
    if not state.cluster.has_living_node or state.log_dirs.all_cordoned:
        reason = "All brokers are currently fenced, or have all their log directories cordoned."
    elif replication_factor > brokers:
        reason = (
            f"The target replication factor of {replication_factor} cannot be reached because only {brokers} broker(s) "
            "are registered or some brokers have all their log directories cordoned."
        )
    else:
        return
    raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)


def check_replicas(state: BrokerState, replicas: Sequence[int], expected: int | None) -> None:
    """Kafka: ReplicationControlManager.validateManualPartitionAssignment. Raises KafkaError."""
    if not replicas:
        reason = "an empty replica list."
    else:
        reason = ""
        registered, seen = state.cluster.registered, set[int]()
        for node_id in sorted(replicas):
            if node_id not in registered:
                reason = f"broker {node_id}, but no such broker is registered."
                break
            if state.log_dirs.all_cordoned:
                reason = f"broker {node_id}, but all its log directories are cordoned."
                break
            if node_id in seen:
                reason = f"the broker {node_id} more than once."
                break
            seen.add(node_id)
        if not reason and expected is not None and len(replicas) != expected:
            reason = (
                f"a partition with {len(replicas)} replica(s), but this is not consistent with previous partitions, "
                f"which have {expected} replica(s)."
            )
    if reason:
        message = f"The manual partition assignment includes {reason}"
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def check_alive(cluster: Cluster, index: int, replicas: Sequence[int]) -> None:
    """Raises KafkaError where nobody could lead the new partition."""
    if not any(cluster.is_alive(node_id) for node_id in replicas):
        message = (
            f"All brokers specified in the manual partition assignment for partition {index} are fenced or in "
            "controlled shutdown."
        )
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def _check_assignments(state: BrokerState, assignments: Sequence[tuple[int, Sequence[int]]]) -> list[Sequence[int]]:
    placed: dict[int, Sequence[int]] = {}
    expected: int | None = None
    for index, replicas in assignments:
        if index in placed:
            message = f"Found multiple manual partition assignments for partition {index}"
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        check_replicas(state, replicas, expected)
        check_alive(state.cluster, index, replicas)
        expected = len(replicas)
        placed[index] = replicas
    if any(index not in placed for index in range(len(placed))):
        message = "partitions should be a consecutive 0-based integer sequence"
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    return [placed[index] for index in range(len(placed))]


def log_settings(state: BrokerState, topic: Topic) -> LogSettings:
    """What the topic's logs go by."""
    values = topic_settings(state.config.log_defaults, topic.configs)
    expiration = "producer.id.expiration.ms"
    return LogSettings.from_topic(values | {expiration: state.config[expiration]})


def create_planned(state: BrokerState, plan: TopicPlan) -> Topic:
    """Make the topic and its empty logs. Raises KAFKA_STORAGE_ERROR."""
    state.check_writable()
    topic = state.cluster.create_topic(
        plan.name, plan.partitions, plan.replication_factor, plan.configs, assignments=plan.assignments
    )
    create_logs(state, topic)
    state.log_dirs.follow(topic, topic.partitions)
    state.topics_changed([topic.name])
    state.changed()
    return topic


def create_logs(state: BrokerState, topic: Topic) -> None:
    """The logs of all of a topic's partitions, empty."""
    _extend_logs(state, topic, 0)


def _extend_logs(state: BrokerState, topic: Topic, first: int) -> None:
    """Those of partitions from the first one on; users' logs are made when somebody asks for them."""
    settings, written = log_settings(state, topic), state.internal_topic(topic.name)
    if written is None:
        state.logs.extend(topic.topic_id, len(topic.partitions), settings, topic.name)
        return
    for index in range(first, len(topic.partitions)):
        log = written.create_log(f"{topic.name}-{index}", settings)
        state.logs.add(topic.topic_id, index, log)


def check_batch(records: int) -> None:
    """Raises KafkaError where Kafka's controller would refuse to write so many records (QuorumController)."""
    if records > MOST_RECORDS:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def create_topic(
    state: BrokerState,
    name: str,
    partitions: int = DEFAULT_COUNT,
    replication_factor: int = DEFAULT_COUNT,
    configs: Mapping[str, str] | None = None,
) -> Topic:
    """Check and create in one step. Raises KafkaError with Kafka's code and text where Kafka refuses."""
    error = name_error(state.cluster, name)
    if error is not None:
        raise error
    plan = plan_topic(state, name, partitions, replication_factor, (configs or {}).items())
    check_batch(plan.records)
    return create_planned(state, plan)


def topic_with(state: BrokerState, name: str, configs: Mapping[str, str]) -> Topic:
    """As `create_topic`, of as many partitions and replicas as the broker is configured for."""
    return create_topic(state, name, configs=configs)


def add_partitions(
    state: BrokerState, name: str, count: int, assignments: Sequence[Sequence[int]] | None = None
) -> None:
    """Grow a topic by ``count`` partitions and their empty logs. Raises KAFKA_STORAGE_ERROR."""
    state.check_writable()
    topic = state.cluster.topics[name]
    before = len(topic.partitions)
    added = state.cluster.add_partitions(name, count, assignments)
    _extend_logs(state, topic, before)
    state.log_dirs.follow(topic, added)
    state.topics_changed([name])
    state.changed()


def configure_topic(state: BrokerState, topic: Topic, overrides: Mapping[str, str]) -> None:
    """Give a topic other overrides; its logs go by them from now on. Raises KAFKA_STORAGE_ERROR."""
    state.check_writable()
    topic.configs = dict(overrides)
    state.changed()
    reconfigure_logs(state, topic)


def reconfigure_logs(state: BrokerState, topic: Topic) -> None:
    """Hand the topic's settings, as they are now, to its logs."""
    state.logs.configure(topic.topic_id, log_settings(state, topic))


def delete_topics(state: BrokerState, names: Iterable[str], broker_ms: int) -> None:
    """Remove existing topics: their logs, and what groups have committed on them. Raises KAFKA_STORAGE_ERROR."""
    at_once(delete_in_parts(state, names, broker_ms))


def delete_in_parts(state: BrokerState, names: Iterable[str], broker_ms: int) -> Steps[None]:
    """The same, so that others are served between parts; gives how much each was.

    All is gone with the first part; the others write tombstones of offsets.
    """
    state.check_writable()
    gone = list(dict.fromkeys(names))
    for name in gone:
        topic = state.cluster.delete_topic(name)
        topic_id = topic.topic_id
        state.log_dirs.forget(topic)
        state.logs.delete(topic_id)
        if state.has_share_partitions:
            state.share_partitions.topic_deleted(topic_id)
        state.fetch_purgatory.topic_changed(topic_id)
    for name in gone:
        resign(state, name, broker_ms, 0)
    if not gone:
        return
    for runtime in tuple(state.runtimes.values()):
        if runtime.loading is not None:
            runtime.loading.deleted += gone
        else:
            runtime.topics_deleted(gone, broker_ms, 0)
    state.topics_changed(gone)
    state.changed()
    yield 1
    yield from state.groups.tombstones(broker_ms)


def ensure_offsets_topic(state: BrokerState) -> Topic:
    """``__consumer_offsets``, made when first needed, as Kafka's auto-creation ends up.

    Its replication factor is at most the number of nodes, where Kafka would refuse (offsets.topic.replication.factor
    is 3 by default) and leave the coordinator unavailable for good. Raises COORDINATOR_NOT_AVAILABLE where the disk
    takes no topic any more.
    """
    topic = state.cluster.topic(CONSUMER_OFFSETS)
    if topic is None and not state.is_writable:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return topic if topic is not None else _create_internal(state, CONSUMER_OFFSETS)


def auto_create(state: BrokerState, name: str) -> Topic | None:
    """Create a topic that a client asked for by name, or None where Kafka's attempt would come to nothing.

    Kafka: AutoTopicCreationManager; the name is valid.
    """
    if not state.is_writable:
        return None
    if name in CATALOG:
        return _create_internal(state, name)
    if name == CLUSTER_METADATA:
        return None
    try:
        return create_topic(state, name)
    except KafkaError:
        return None


def _create_internal(state: BrokerState, name: str) -> Topic:
    config, definition = state.config, CATALOG[name]
    replicas = min(config[definition.replication_factor], len(state.cluster.registered))
    _check_placeable(state, replicas)
    plan = TopicPlan(name, config[definition.partitions], replicas, definition.topic_configs(config))
    return create_planned(state, plan)
