"""The brokers that scenarios are played on: their settings, and the topics that all scenarios share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.schema import Message
from tests.differential.bodies import Json, build
from tests.differential.wire import Connection, request_class, response_class

TOPICS = {"t1": 3, "t2": 1, "t3": 2}
"""Topics that are always there: {name: partitions}. A scenario with topics of its own names them `<p>…`."""

SETTLED = "settled"
"""A topic of which only the configuration is altered, to see that earlier changes of the cluster have come through."""

READY_SECONDS = 30.0

COMMON: dict[str, object] = {
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": False,
    "log.retention.ms": -1,  # the stub's own default
}

CONFIGS: dict[str, dict[str, object]] = {
    "plain": {**COMMON},
    "tight": {
        **COMMON,
        "group.max.size": 2,
        "offset.metadata.max.bytes": 10,
        "group.min.session.timeout.ms": 10,
        "group.max.session.timeout.ms": 60000,
    },
    "delayed": {**COMMON, "group.initial.rebalance.delay.ms": 300},
    "data": {
        **COMMON,
        "message.max.bytes": 60000,
        "fetch.max.bytes": 90000,
        "log.retention.check.interval.ms": 3600000,
        "transaction.state.log.num.partitions": 1,
    },
}
"""Broker settings by the name that a scenario uses, for Apache Kafka and the stub alike."""

ORDERLY: dict[str, object] = {
    "num.network.threads": 1,
    "num.io.threads": 1,
    "group.coordinator.threads": 1,
    "group.coordinator.append.linger.ms": 0,
    "transaction.state.log.num.partitions": 1,
    "log.initial.task.delay.ms": 3600000,  # nothing is deleted or compacted while a scenario looks
    "log.cleaner.backoff.ms": 3600000,
}
"""What makes Apache Kafka handle requests in the order of their arrival; see tests.differential.play."""


@dataclass
class Broker:
    """A running broker that has the shared topics: where it is, and their topic ids."""

    host: str
    port: int
    topic_ids: dict[str, bytes] = field(default_factory=dict)


def prepared(bootstrap_servers: str) -> Broker:
    """Create the shared topics on a fresh broker, and wait until its group coordinator serves."""
    host, _, port = bootstrap_servers.rpartition(":")
    broker = Broker(host, int(port))
    connection = Connection(broker.host, broker.port, "preparing")
    try:
        topics = [{"name": name, "num_partitions": count, "replication_factor": 1} for name, count in TOPICS.items()]
        topics.append({"name": SETTLED, "num_partitions": 1, "replication_factor": 1})
        _ask(connection, "CreateTopics", 5, {"topics": topics, "timeout_ms": 30000})
        for key_type in (0, 1):
            _until(connection, "FindCoordinator", 2, {"key": "warm", "key_type": key_type}, ErrorCode.NONE)
        heartbeat = {"group_id": "warm", "member_id": "nobody", "generation_id": 1}
        _until(connection, "Heartbeat", 3, heartbeat, ErrorCode.UNKNOWN_MEMBER_ID)
        _until(connection, "InitProducerId", 0, {"transactional_id": None}, ErrorCode.NONE)
        asked = {"topics": [{"name": name} for name in (*TOPICS, "__consumer_offsets")]}
        for topic in _ask(connection, "Metadata", 12, asked).topics:
            broker.topic_ids[topic.name] = bytes(topic.topic_id)
    finally:
        connection.close()
    return broker


def _ask(connection: Connection, api: str, version: int, body: dict[str, Json]) -> Any:
    connection.send(api, version, encode(build(request_class(api), body), version))
    return decode(response_class(api), version, connection.receive(READY_SECONDS).body())


def _until(connection: Connection, api: str, version: int, body: dict[str, Json], code: ErrorCode) -> Message:
    """Ask until the answer has the error code `code`; raises AssertionError after the deadline."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        answer = _ask(connection, api, version, body)
        if answer.error_code == code:
            return answer  # type: ignore[no-any-return]
        assert time.monotonic() < deadline, f"{api} still answers {answer!r}"
        Event().wait(0.02)
