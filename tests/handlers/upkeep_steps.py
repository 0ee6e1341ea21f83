"""The steps of the conversation about what keeps a cluster in order: log directories, elections, telemetry."""

from __future__ import annotations

from typing import Any, Final

from kafkawire.api import ApiKey
from kafkawire.messages.describe_log_dirs_request import DescribableLogDirTopic, DescribeLogDirsRequest
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.push_telemetry_request import PushTelemetryRequest
from kafkawire.records import NewRecord, build_batch
from tests.handlers.topic_scenario import CLIENT_METRICS, DELETE, SET, Step, alter, create, new

UNCLEAN: Final = 1
KEYS: Final = ("metrics", "interval.ms", "match")


def produce(label: str, topic: str, partition: int, *values: bytes) -> Step:
    batch = build_batch([NewRecord(b"k", value, 1_700_000_000_000) for value in values])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, batch)])
    request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data])
    return Step(label, ApiKey.PRODUCE, 9, lambda _: request)


def ends(label: str, topic: str, *partitions: int) -> Step:
    asked = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in partitions]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=asked)])
    return Step(label, ApiKey.LIST_OFFSETS, 7, lambda _: request)


def log_dirs(label: str, *topics: tuple[str, list[int]], every: bool = False, version: int = 5) -> Step:
    asked = None if every else [DescribableLogDirTopic(topic=name, partitions=indexes) for name, indexes in topics]
    request = DescribeLogDirsRequest(topics=asked)
    return Step(label, ApiKey.DESCRIBE_LOG_DIRS, version, lambda _: request)


def elect(label: str, *topics: tuple[str, list[int]], every: bool = False, version: int = 2, **fields: Any) -> Step:
    asked = None if every else [TopicPartitions(topic=name, partitions=indexes) for name, indexes in topics]
    request = ElectLeadersRequest(topic_partitions=asked, **fields)
    return Step(label, ApiKey.ELECT_LEADERS, version, lambda _: request)


def uuid(number: int) -> bytes:
    return bytes(8) + number.to_bytes(8, "big")


def subscriptions(label: str, instance: bytes) -> Step:
    request = GetTelemetrySubscriptionsRequest(client_instance_id=instance)
    return Step(label, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, lambda _: request)


def push(label: str, instance: bytes, subscription: int, **fields: Any) -> Step:
    request = PushTelemetryRequest(client_instance_id=instance, subscription_id=subscription, **fields)
    return Step(label, ApiKey.PUSH_TELEMETRY, 0, lambda _: request)


LOG_DIRS: Final[tuple[Step, ...]] = (
    create("kept", new("kept", 3)),
    ends("kept, led by now", "kept", 0, 1, 2),
    produce("kept", "kept", 0, b"one", b"two"),
    produce("kept, more", "kept", 0, b"x" * 5000),
    produce("kept elsewhere", "kept", 2, b"three"),
    *(log_dirs(f"log dirs {v}", ("kept", [0, 1, 2]), version=v) for v in range(1, 6)),
    log_dirs("every log dir", every=True),
    log_dirs("every log dir 1", every=True, version=1),
    log_dirs("log dirs of nothing"),
    log_dirs("log dirs, unknown", ("kept", [0, 7, -1, 0]), ("nope", [0]), ("", [0]), ("a/b", [0])),
    log_dirs("log dirs, no partitions", ("kept", [])),
    log_dirs("log dirs, twice", ("kept", [2, 0]), ("kept", [2, 1])),
)

ELECTIONS: Final[tuple[Step, ...]] = (
    *(elect(f"elect {v}", ("kept", [0, 2]), version=v) for v in range(3)),
    *(elect(f"elect unclean {v}", ("kept", [0]), version=v, election_type=UNCLEAN) for v in (1, 2)),
    *(elect(f"elect of no kind {v}", ("kept", [0]), ("nope", [1]), version=v, election_type=7) for v in (1, 2)),
    elect("elect everywhere of no kind", every=True, election_type=-1),
    elect("elect everywhere of no kind 1", every=True, election_type=-1, version=1),
    *(elect(f"elect unknown {v}", ("kept", [9, -1]), ("nope", [0]), ("", [0]), version=v) for v in range(3)),
    elect("elect unknown, unclean", ("kept", [9]), ("nope", [0]), election_type=UNCLEAN),
    elect("elect twice", ("kept", [1, 1])),
    elect("elect no partition", ("kept", []), ("nope", [])),
    elect("elect nothing"),
    *(elect(f"elect, time {ms}", ("kept", [0]), ("nope", [0]), timeout_ms=ms) for ms in (0, -1)),
    elect("elect, no time, version 0", ("kept", [0]), ("nope", [0]), timeout_ms=0, version=0),
    elect("elect, no time, no kind", ("kept", [0]), timeout_ms=0, election_type=7),
)

ELECTIONS_EVERYWHERE: Final[tuple[Step, ...]] = (
    *(elect(f"elect everywhere {v}", every=True, version=v) for v in range(3)),
    elect("elect everywhere, unclean", every=True, election_type=UNCLEAN),
    elect("elect everywhere, no time", every=True, timeout_ms=0),
)

ANY: Final = bytes(16)
"""An instance without an id: it may ask again and again."""

TELEMETRY: Final[tuple[Step, ...]] = (
    subscriptions("telemetry, no id", ANY),
    subscriptions("telemetry, reserved id", uuid(1)),
    subscriptions("telemetry", uuid(100)),
    subscriptions("telemetry, too soon", uuid(100)),
    *(push(f"push, id {number}", uuid(number), 0) for number in (0, 1, 2)),
    push("push, wrong subscription", uuid(100), 5, metrics=b"x"),
    subscriptions("telemetry, after a wrong subscription", uuid(100)),
    push("push", uuid(100), -725132358, metrics=b"x"),
    push("push, and at once again", uuid(100), -725132358, metrics=b"x"),
    push("push, no such codec, last", uuid(100), -725132358, compression_type=5, terminating=True),
    subscriptions("telemetry, unsupported, ended", uuid(100)),
    push("push, unknown instance", uuid(101), 5),
    push("push, too soon", uuid(101), 5),
    push("push, last", uuid(101), 5, terminating=True),
    push("push, after the last", uuid(101), 5, terminating=True),
    push("push, after the last and one", uuid(101), 5),
    push("push, and another", uuid(101), 5),
    push("push, no such codec", uuid(109), -725132367, compression_type=5),
    subscriptions("telemetry, after no such codec", uuid(109)),
    push("push, too large", uuid(109), -725132367, metrics=bytes(1048577)),
    push("push, as large as may be", uuid(110), -725132366 ^ 108 ^ 110, metrics=bytes(1048576)),
    alter("telemetry for all", CLIENT_METRICS, "t", ("metrics", SET, "a.b,c.d,e"), ("interval.ms", SET, "100000")),
    subscriptions("telemetry, subscribed", ANY),
    subscriptions("telemetry, subscription changed", uuid(100)),
    alter("telemetry for others", CLIENT_METRICS, "t", ("match", SET, "client_id=other")),
    subscriptions("telemetry for others, asked", ANY),
    alter("telemetry for us", CLIENT_METRICS, "t", ("match", SET, "client_id=ra.,client_source_address=127.*")),
    subscriptions("telemetry for us, asked", ANY),
    alter("telemetry, everything", CLIENT_METRICS, "u", ("metrics", SET, "*"), ("interval.ms", SET, "200000")),
    subscriptions("telemetry, everything, asked", ANY),
    alter("telemetry by half a name", CLIENT_METRICS, "u", ("match", SET, "client_software_name=unk")),
    subscriptions("telemetry by half a name, asked", ANY),
    alter("telemetry by name", CLIENT_METRICS, "u", ("match", SET, "client_software_name=unknown")),
    subscriptions("telemetry by name, asked", ANY),
    *(
        alter(f"telemetry of {name} ended", CLIENT_METRICS, name, *((key, DELETE, None) for key in KEYS))
        for name in ("t", "u")
    ),
    subscriptions("telemetry as before", ANY),
)

UPKEEP: Final = LOG_DIRS + ELECTIONS + ELECTIONS_EVERYWHERE + TELEMETRY
