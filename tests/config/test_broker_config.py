"""BrokerConfig: Kafka's names and defaults, typed; what Kafka would refuse is refused in one sentence."""

from __future__ import annotations

import pytest

from kafkastub.config import PROFILES, BrokerConfig, ConfigError, Profile, validate_topic_configs
from kafkastub.config.definition import java_double
from kafkastub.config.errors import InvalidValue, UnknownTopicConfig

KIPS, KAFKA = Profile.named("kips"), Profile.named("kafka")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offsets.retention.minutes", 10080),
        ("offsets.retention.check.interval.ms", 600000),
        ("auto.create.topics.enable", True),
        ("log.cleanup.policy", ["delete"]),
        ("log.cleaner.min.cleanable.ratio", 0.5),
        ("broker.rack", None),
        ("compression.type", "producer"),
        ("group.initial.rebalance.delay.ms", 3000),
        ("log.retention.ms", -1),
        ("node.id", 1),
    ],
)
def test_defaults(name: str, value: object):
    config = BrokerConfig(None, KIPS)
    assert config[name] == value
    assert type(config[name]) is type(value)


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("num.partitions", " 3 ", 3),
        ("num.partitions", "+3", 3),
        ("auto.create.topics.enable", "FALSE", False),
        ("auto.create.topics.enable", False, False),
        ("log.cleanup.policy", "compact , delete", ["compact", "delete"]),
        ("log.cleanup.policy", ["compact"], ["compact"]),
        ("log.cleaner.min.cleanable.ratio", "1", 1.0),
        ("log.cleaner.min.cleanable.ratio", ".5f", 0.5),
        ("group.consumer.migration.policy", "Disabled", "Disabled"),
    ],
)
def test_values_are_read_as_kafka_reads_them(name: str, given: object, value: object):
    assert BrokerConfig({name: given}, KIPS)[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offsets.retention.minutes", "0"),
        ("offsets.retention.minutes", -2),
        ("offsets.retention.minutes", "a week"),
        ("offsets.retention.minutes", ""),
        ("offsets.retention.minutes", 1.5),
        ("num.partitions", "0"),
        ("num.partitions", True),
        ("num.partitions", "3000000000"),
        ("num.partitions", "1_000"),
        ("auto.create.topics.enable", "1"),
        ("log.cleanup.policy", "bogus"),
        ("log.dirs", ""),
        ("compression.type", "brotli"),
        ("compression.gzip.level", "0"),
        ("log.retention.ms", "0"),
        ("log.retention.hours", 0),
        ("log.roll.ms", 0),
        ("log.roll.jitter.ms", -1),
        ("cordoned.log.dirs", "/nowhere"),
        ("offsets.topic.compression.codec", 9),
        ("log.cleaner.dedupe.buffer.size", 1000),
        ("replica.fetch.wait.max.ms", 40000),
        ("max.connections.per.ip", 0),
        ("group.coordinator.rebalance.protocols", "consumer"),
        ("group.consumer.heartbeat.interval.ms", 60000),
        ("group.consumer.session.timeout.ms", 44999),
        ("group.consumer.session.timeout.ms", 60001),
        ("group.consumer.heartbeat.interval.ms", 4999),
        ("group.consumer.assignment.interval.ms", 15001),
        ("group.share.assignment.interval.ms", -1),
        ("group.share.assignors", "uniform"),
        ("group.share.assignors", "simple,simple"),
        ("group.share.delivery.count.limit", 11),
        ("group.share.record.lock.duration.ms", 14999),
        ("group.share.record.lock.duration.ms", 60001),
        ("group.share.partition.max.record.locks", 4001),
        ("group.share.max.share.sessions", 199),
        ("group.consumer.assignors", "uniform,org.example.MyAssignor"),
        ("group.consumer.assignors", "range,org.apache.kafka.coordinator.group.assignor.RangeAssignor"),
        ("group.consumer.assignors", ""),
        ("group.consumer.migration.policy", "sometimes"),
        ("group.consumer.max.size", 0),
        ("ssl.client.auth", "x"),
        ("broker.id", "7x"),
    ],
)
@pytest.mark.parametrize("profile", [KIPS, KAFKA], ids=["kips", "kafka"])
def test_what_kafka_refuses_is_refused_in_one_sentence(name: str, value: object, profile: Profile):
    with pytest.raises(ConfigError) as caught:
        BrokerConfig({name: value}, profile)
    sentence = str(caught.value)
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    assert sentence.startswith(f"{name}={shown} is refused: ")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "given",
    [
        {"group.consumer.assignors": "org.apache.kafka.coordinator.group.assignor.RangeAssignor,uniform"},
        {"group.consumer.min.session.timeout.ms": 6000, "group.consumer.session.timeout.ms": 6000},
        {"group.share.assignors": "org.apache.kafka.coordinator.group.assignor.SimpleAssignor"},
        {"group.share.min.record.lock.duration.ms": 1000, "group.share.record.lock.duration.ms": 1000},
        {"group.share.max.size": 100, "group.share.max.share.sessions": 100},
        {"log.retention.ms": "-2"},
        {"connections.max.idle.ms": -5},
        {"offset.metadata.max.bytes": -4},
        {"log.cleanup.policy": ""},
    ],
)
def test_what_kafka_lets_pass_passes(given: dict[str, object]):
    BrokerConfig(given, KAFKA)


def test_infinite_retention_is_a_value_in_one_profile_only():
    assert BrokerConfig({"offsets.retention.minutes": "-1"}, KIPS)["offsets.retention.minutes"] == -1
    with pytest.raises(
        ConfigError, match=r"^offsets\.retention\.minutes=-1 is refused: .* at least 1 \(-1 is for the .*kips\)$"
    ):
        BrokerConfig({"offsets.retention.minutes": "-1"}, KAFKA)


def test_the_refusal_says_what_is_allowed():
    with pytest.raises(ConfigError, match=r"at least 1 \(or -1: offsets never expire\)$"):
        BrokerConfig({"offsets.retention.minutes": "0"}, KIPS)
    with pytest.raises(ConfigError, match=r"allowed is one of uncompressed, zstd, lz4, snappy, gzip, producer$"):
        BrokerConfig({"compression.type": "brotli"}, KIPS)


def test_unknown_names_are_told_and_ignored():
    config = BrokerConfig({"zookeeper.connect": "x:2181", "num.partitions": 2, "nope": 1}, KIPS)
    assert config.unknown == ("zookeeper.connect", "nope")
    assert "nope" not in config


def test_names_with_a_known_prefix_are_not_unknown():
    assert BrokerConfig({"listener.name.internal.ssl.key.password": "x"}, KIPS).unknown == ()


@pytest.mark.parametrize("name", ["ssl.key.password", "listener.name.internal.ssl.key.password"])
def test_passwords_are_not_printed(name: str):
    assert "secret" not in repr(BrokerConfig({name: "secret"}, KIPS))


def test_a_password_of_the_wrong_type_is_not_printed():
    with pytest.raises(ConfigError) as caught:
        BrokerConfig({"ssl.key.password": 12345}, KIPS)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "retention_ms"),
    [
        ({}, -1),
        ({"log.retention.hours": 2}, 7_200_000),
        ({"log.retention.hours": 2, "log.retention.minutes": 3}, 180_000),
        ({"log.retention.hours": 2, "log.retention.ms": 4}, 4),
        ({"log.retention.ms": -2}, -1),
    ],
)
def test_topics_keep_their_records_unless_told_otherwise(given: dict[str, object], retention_ms: int):
    assert BrokerConfig(given, KIPS).log_defaults["retention.ms"] == retention_ms


def test_a_broker_id_is_a_node_id():
    assert BrokerConfig({"broker.id": 5}, KIPS)["node.id"] == 5
    with pytest.raises(ConfigError, match=r"broker\.id=5 is refused"):
        BrokerConfig({"broker.id": 5, "node.id": 6}, KIPS)


def test_dynamic_values_of_the_broker_go_before_those_of_all():
    config = BrokerConfig({"message.max.bytes": 1}, KIPS)
    config.set_dynamic({"message.max.bytes": "2"}, per_broker=False)
    config.set_dynamic({"message.max.bytes": "3"}, per_broker=True)
    assert (config["message.max.bytes"], config.log_defaults["max.message.bytes"]) == (3, 3)
    config.set_dynamic({}, per_broker=True)
    assert config["message.max.bytes"] == 2
    with pytest.raises(InvalidValue):
        config.set_dynamic({"message.max.bytes": "-1"}, per_broker=True)
    assert config["message.max.bytes"] == 2


def test_two_brokers_do_not_share_lists():
    BrokerConfig(None, KIPS)["log.cleanup.policy"].append("compact")
    assert BrokerConfig(None, KIPS)["log.cleanup.policy"] == ["delete"]


def test_profiles_are_two():
    assert [profile.name for profile in PROFILES.values()] == ["kips", "kafka"]
    with pytest.raises(ConfigError, match=r"^profile=kafka4 is refused: allowed are kips and kafka$"):
        Profile.named("kafka4")


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        ({"retention.ms": "x"}, "Invalid value x for configuration retention.ms: Not a number of type LONG"),
        ({"retention.ms": "-2"}, "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        (
            {"compression.gzip.level": "10"},
            "Invalid value 10 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
        ),
        (
            {"preallocate": "yes"},
            "Invalid value yes for configuration preallocate: Expected value to be either true or false",
        ),
        ({"cleanup.policy": "delete,,compact"}, "Configuration 'cleanup.policy' values must not be empty."),
        (
            {"leader.replication.throttled.replicas": "x"},
            "Invalid value [x] for configuration leader.replication.throttled.replicas: "
            "leader.replication.throttled.replicas must be the literal '*' or a list of replicas in the following "
            "format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
        ),
        (
            {"min.cleanable.dirty.ratio": "1.5"},
            "Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1",
        ),
    ],
)
def test_topic_configurations_are_refused_in_kafkas_words(overrides: dict[str, str], text: str):
    with pytest.raises(InvalidValue) as caught:
        validate_topic_configs(BrokerConfig(None, KIPS).log_defaults, overrides)
    assert str(caught.value) == text


def test_an_unknown_topic_configuration():
    with pytest.raises(UnknownTopicConfig, match=r"^Unknown topic config name: nope$"):
        validate_topic_configs(BrokerConfig(None, KIPS).log_defaults, {"nope": "1"})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1.0"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (1e7, "1.0E7"),
        (0.0001, "1.0E-4"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_are_printed_as_java_prints_them(value: float, text: str):
    assert java_double(value) == text


def test_an_assignment_interval_set_while_bounds_were_wider_counts_as_the_bound():
    config = BrokerConfig({"group.consumer.max.assignment.interval.ms": 2000}, KAFKA)
    config.set_dynamic({"group.consumer.assignment.interval.ms": "9000"}, per_broker=False)
    assert config["group.consumer.assignment.interval.ms"] == 2000
    assert config.dynamic_default["group.consumer.assignment.interval.ms"] == "9000"
