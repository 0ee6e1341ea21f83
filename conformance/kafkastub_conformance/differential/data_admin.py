"""The administrating half of the random data plane: topics, configurations, and what tells of them."""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import KINDS, Places
from kafkastub_conformance.differential.play import Play

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32

VALUES: dict[str, tuple[str | None, ...]] = {
    "cleanup.policy": ("delete", "compact,delete", "bogus", None),
    "compression.type": ("producer", "gzip", "uncompressed", "lz5"),
    "max.message.bytes": ("600", "5000", "-1", "x", None),
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "other"),
    "message.timestamp.before.max.ms": ("3600000", "9223372036854775807", "-1"),
    "message.timestamp.after.max.ms": ("3600000", "1000000", "x"),
    "retention.ms": ("-1", "604800000", "-2", "9223372036854775808", ""),
    "retention.bytes": ("-1", "100000", " 7000000 "),
    "segment.bytes": ("1048576", "1", "5000000"),
    "min.insync.replicas": ("1", "0", "2"),
    "min.cleanable.dirty.ratio": ("0.5", "1.5", ".7", "1"),
    "flush.messages": ("1", "9223372036854775807"),
    "preallocate": ("true", "FALSE", "yes"),
    "follower.replication.throttled.replicas": ("*", "0:1", "nope", ""),
    "unclean.leader.election.enable": ("true", "false"),
    "no.such.key": ("1",),
}
"""Topic configurations and values for them, good and bad."""

BROKER_KEYS = ("message.max.bytes", "log.retention.ms", "compression.type", "log.segment.bytes")


class Administration(Places):
    """Adds administration."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.made = 0
        self.altered: set[str] = set()
        """Topics whose kind says no more what they are."""

    def begin(self) -> None:
        """Some topics of several kinds."""
        for kind in ("plain", *self.random.sample(list(KINDS), 4)):
            self._create(kind)

    def administer(self) -> None:
        """One request of an administrator."""
        weights: dict[Callable[[], object], int] = {
            self.create_topics: 4,
            self.create_partitions: 3,
            self.delete_topics: 2,
            self.metadata: 5,
            self.describe_topic_partitions: 3,
            self.describe_configs: 4,
            self.alter_configs: 3,
            self.incremental_alter_configs: 5,
            self.list_config_resources: 1,
            self.describe_cluster: 1,
            self.describe_producers: 3,
            self.describe_log_dirs: 2,
            self.elect_leaders: 2,
            self.telemetry: 2,
        }
        self.random.choices(list(weights), list(weights.values()))[0]()

    # Topics.

    def create_topics(self) -> None:
        """One that can be, or several that can't all."""
        if len(self.topics) < 7 and self.chance(0.4):
            self._create(self.pick(list(KINDS)))
            return
        topics: list[Json] = []
        for _ in range(self.random.randint(1, 3)):
            asked: dict[str, Json] = {
                "name": self.pick(("<p>bad1", *self.topics, "bad name", "", ".", "<p>x.y", "<p>x_y")),
                "num_partitions": self.pick((0, -1, 1, 3, -2, 20000)),
                "replication_factor": self.pick((1, -1, 2, 0)),
                "configs": self._settings() if self.chance(0.4) else [],
            }
            if self.chance(0.25):
                nodes = self.pick((["<node>"], ["<stranger>"], [], ["<node>", "<node>"]))
                asked["assignments"] = [{"partition_index": self.pick((0, 0, 1)), "broker_ids": nodes}]
            topics.append(asked)
        # What could be created is not: its place in Kafka's image is its own business.
        body = {"topics": topics, "timeout_ms": self.pick((5000, 5000, 0)), "validate_only": True}
        self.play.ask("a1", "CreateTopics", self.version("CreateTopics", 2), body)

    def _create(self, kind: str) -> None:
        self.made += 1
        name = f"<p>{kind}{self.made}"
        count = self.random.randint(1, 3)
        configs = [{"name": key, "value": value} for key, value in KINDS[kind].items()]
        asked = {"name": name, "num_partitions": count, "replication_factor": 1, "configs": configs}
        if self.chance(0.2):
            asked |= {"num_partitions": -1, "replication_factor": -1}
            asked["assignments"] = [{"partition_index": index, "broker_ids": ["<node>"]} for index in range(count)]
        body = {"topics": [asked], "timeout_ms": 30000}
        answer = self.play.ask("a1", "CreateTopics", self.version("CreateTopics", 2), body, settle=True)
        if "error_code" not in str(answer):
            self.topics[name] = count
            self.play.ask("a1", "Metadata", self.newest("Metadata", 12), {"topics": [{"name": name}]})

    def create_partitions(self) -> None:
        """More, as many, fewer."""
        topics = []
        for _ in range(self.pick((1, 1, 2))):
            topic = self.topic()
            count = self.topics.get(topic, 1) + self.pick((1, 1, 0, -1))
            asked: dict[str, Json] = {"name": topic, "count": count, "assignments": None}
            if self.chance(0.3):
                places = [
                    {"broker_ids": self.pick((["<node>"], ["<stranger>"], ["<node>", "<node>"], []))}
                    for _ in range(self.pick((1, 1, 2, 0)))
                ]
                asked["assignments"] = places
            topics.append(asked)
        body = {"topics": topics, "timeout_ms": 30000, "validate_only": self.chance(0.3)}
        version = self.version("CreatePartitions")
        answer = self.play.ask("a1", "CreatePartitions", version, body, settle=not body["validate_only"])
        for one in (answer or {}).get("results", ()):
            name = one.get("name", "")
            if not one.get("error_code") and not body["validate_only"]:
                self.topics[name] = next(topic["count"] for topic in topics if topic["name"] == name)

    def delete_topics(self) -> None:
        """By name or id; what is not there too."""
        names = [self.pick((*self.topics, "<p>nope", "bad name")) for _ in range(self.pick((1, 1, 2)))]
        version = self.version("DeleteTopics", 1)
        states: list[Json] = []
        for name in names:
            by_id = self.chance(0.4)
            asked = None if by_id else name
            states.append({"name": asked, "topic_id": self.topic_id(name) if by_id else "00" * 16})
        body = {"topics": states, "topic_names": names, "timeout_ms": 30000}
        body.pop("topic_names" if version >= 6 else "topics")
        answer = self.play.ask("a1", "DeleteTopics", version, body, settle=True)
        for one in (answer or {}).get("responses", ()):
            name = one.get("name") or self._named(one.get("topic_id", ""))
            if not one.get("error_code"):
                self.topics.pop(name, None)

    def metadata(self) -> None:
        """By name, by id, of everything; nothing is created by it."""
        version = self.version("Metadata")
        some = [self.topic() for _ in range(self.random.randint(0, 3))]
        topics: Json = [{"name": name} for name in some]
        if version >= 12 and self.chance(0.4):
            topics = [{"name": None, "topic_id": self.topic_id(name)} for name in some]
        body = {
            "topics": None if version >= 1 and self.chance(0.15) else topics,
            "allow_auto_topic_creation": self.chance(0.3) and self.play.stage.broker.alone,
            "include_topic_authorized_operations": self.chance(0.3),
            "include_cluster_authorized_operations": self.chance(0.3),
        }
        if not topics and version == 0:
            return  # everything, other scenarios' topics included
        self.play.ask("a1", "Metadata", version, body)

    def describe_topic_partitions(self) -> None:
        """Named topics; by pages."""
        topics = [{"name": self.topic()} for _ in range(self.random.randint(1, 3))]
        body: dict[str, Json] = {"topics": topics, "response_partition_limit": self.pick((2000, 1, 2, 3, 0, -1))}
        if self.chance(0.4):
            name = self.topic()
            body["cursor"] = {"topic_name": name, "partition_index": self.pick((0, 1, 2, 9, -1))}
        self.play.ask("a1", "DescribeTopicPartitions", 0, body)

    # Configurations.

    def describe_configs(self) -> None:
        """Topics with all or some keys, the broker with some."""
        resources: list[Json] = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.pick((TOPIC, TOPIC, TOPIC, BROKER, GROUP, CLIENT_METRICS, 3))
            keys: Json = self.pick((None, None, [], list(self.random.sample(list(VALUES), 3))))
            name = self.topic() if kind == TOPIC else "<p>what"
            if kind == BROKER:
                name, keys = self.pick(("1", "1", "", "2", "x")), list(BROKER_KEYS)
            resources.append({"resource_type": kind, "resource_name": name, "configuration_keys": keys})
        body = {
            "resources": resources,
            "include_synonyms": self.chance(0.5),
            "include_documentation": self.chance(0.3),
        }
        self.play.ask("a1", "DescribeConfigs", self.version("DescribeConfigs", 1), body)

    def alter_configs(self) -> None:
        """All of a topic's configuration anew; now and then other resources."""
        kind, name = self._resource()
        if name.startswith(("<p>small", "<p>recompressed", "<p>unpacked")):
            return
        configs = self._settings()
        if kind != TOPIC:
            configs = [{"name": "no.such.key", "value": "1"}]
        resources = [{"resource_type": kind, "resource_name": name, "configs": configs}]
        body = {"resources": resources, "validate_only": self.chance(0.3)}
        self.play.ask("a1", "AlterConfigs", self.version("AlterConfigs"), body, settle=not body["validate_only"])
        self._look_at(kind, name)

    def incremental_alter_configs(self) -> None:
        """Set, delete, append, subtract."""
        resources = []
        for _ in range(self.pick((1, 1, 2))):
            kind, name = self._resource()
            changes = [
                one | {"config_operation": self.pick((0, 0, 0, 1, 2, 3, 7))}
                for one in self._settings()
                if not (name.startswith(("<p>recompressed", "<p>unpacked")) and one["name"] == "compression.type")
            ]
            if kind != TOPIC:
                changes = [{"name": "no.such.key", "value": "1"}]
            resources.append({"resource_type": kind, "resource_name": name, "configs": changes})
        body = {"resources": resources, "validate_only": self.chance(0.2)}
        version, settle = self.version("IncrementalAlterConfigs"), not body["validate_only"]
        self.play.ask("a1", "IncrementalAlterConfigs", version, body, settle=settle)
        self._look_at(*self._resource())

    def _look_at(self, kind: int, name: str) -> None:
        if kind == TOPIC:
            asked = {"resource_type": TOPIC, "resource_name": name, "configuration_keys": None}
            self.play.ask("a1", "DescribeConfigs", self.newest("DescribeConfigs", 4), {"resources": [asked]})

    def _resource(self) -> tuple[int, str]:
        if self.chance(0.85):
            topic = self.topic()
            self.altered.add(topic)
            return TOPIC, topic
        return self.pick(((BROKER, "2"), (BROKER, "x"), (BROKER, "1"), (LOGGER, "2"), (3, "a"), (GROUP, "")))

    def _settings(self) -> list[Json]:
        names = self.random.sample(list(VALUES), self.random.randint(1, 3))
        # compression.type changes what is stored into something of another length: see the kinds of topics.
        names = [name for name in names if name != "compression.type" or self.chance(0.1)] or ["flush.messages"]
        return [{"name": name, "value": self.pick(VALUES[name])} for name in names]

    def list_config_resources(self) -> None:
        """All kinds, some, none."""
        kinds = self.random.sample((TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP, 3), self.random.randint(0, 2))
        version = self.version("ListConfigResources")
        self.play.ask("a1", "ListConfigResources", version, {"resource_types": kinds})

    # What tells of the cluster.

    def describe_cluster(self) -> None:
        """Brokers, controllers, neither."""
        body = {"endpoint_type": self.pick((1, 1, 3)), "include_cluster_authorized_operations": self.chance(0.5)}
        self.play.ask("a1", "DescribeCluster", self.version("DescribeCluster"), body)

    def describe_producers(self) -> None:
        """Of some partitions."""
        topics = []
        for _ in range(self.random.randint(1, 2)):
            topic = self.topic()
            topics.append({"name": topic, "partition_indexes": [self.partition(topic) for _ in range(2)]})
        self.play.ask("a1", "DescribeProducers", 0, {"topics": topics})

    def describe_log_dirs(self) -> None:
        """Of everything, or of some partitions."""
        topics: Json = None
        if self.chance(0.7):
            names = self.random.sample(list(self.topics), min(2, len(self.topics)))
            topics = [{"topic": name, "partitions": [self.partition(name)]} for name in names]
        self.play.ask("a1", "DescribeLogDirs", self.version("DescribeLogDirs", 1), {"topics": topics})

    def elect_leaders(self) -> None:
        """There is nobody else to be elected."""
        topics = [{"topic": self.topic(), "partitions": [self.partition("")]} for _ in range(self.pick((1, 2)))]
        body = {"election_type": self.pick((0, 1, 7)), "topic_partitions": topics, "timeout_ms": 5000}
        self.play.ask("a1", "ElectLeaders", self.version("ElectLeaders"), body)

    def telemetry(self) -> None:
        """Nobody wants metrics; what is pushed is looked at all the same."""
        instance = self.pick(("<instance 1>", "<instance 2>", "00" * 16, "00" * 15 + "01"))
        if self.chance(0.5) and instance != "00" * 15 + "01":
            self.play.ask("a2", "GetTelemetrySubscriptions", 0, {"client_instance_id": instance})
            return
        known = self.pick(("<subscription 1>", "<subscription 2>", "<subscription 3>", "7", "9"))
        body = {
            "client_instance_id": instance,
            "subscription_id": known if known in "79" or self.play.stage.names.knows(known) else "5",
            "terminating": self.chance(0.2),
            "compression_type": self.pick((0, 0, 1, 2, 3, 4, 5)),
            "metrics": self.pick(("", "00", "ff" * 30)),
        }
        self.play.ask("a2", "PushTelemetry", 0, body)
