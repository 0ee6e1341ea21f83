"""The configuration of groups of the consumer protocol: the same requests to the stub and to Apache Kafka 4.4.0."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import kafkawire.messages.alter_configs_request as legacy
import kafkawire.messages.incremental_alter_configs_request as incremental
from kafkastub import KafkaStub
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.handlers.topic_scenario import APPEND, BROKER, DELETE, GROUP, SET
from tests.nodes.asking import ask
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import until

SESSION, HEARTBEAT, INTERVAL, OFFLOAD = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms",
    "consumer.assignor.offload.enable",
)
BOUNDS: dict[str, object] = {
    "group.consumer.session.timeout.ms": 12000,
    "group.consumer.min.session.timeout.ms": 6000,
    "group.consumer.heartbeat.interval.ms": 2000,
    "group.consumer.min.heartbeat.interval.ms": 1000,
    "group.consumer.assignment.interval.ms": 500,
    "group.consumer.max.assignment.interval.ms": 2000,
}
PATIENCE = 10.0
"""Seconds, in which Kafka tells of a change."""
Step = tuple[int, str, list[tuple[str, int, str | None]]]

STEPS: list[Step] = [
    (GROUP, "g", [(SESSION, SET, "6000")]),
    (GROUP, "g", [(SESSION, SET, "5999")]),
    (GROUP, "g", [(SESSION, SET, "60001")]),
    (GROUP, "g", [(SESSION, SET, "x")]),
    (GROUP, "g", [(SESSION, SET, "")]),
    (GROUP, "g", [(SESSION, SET, None)]),
    (GROUP, "g", [(HEARTBEAT, SET, "999")]),
    (GROUP, "g", [(HEARTBEAT, SET, "6000")]),
    (GROUP, "g", [(HEARTBEAT, SET, "5999"), (INTERVAL, SET, "0")]),
    (GROUP, "g", [(INTERVAL, SET, "-1")]),
    (GROUP, "g", [(INTERVAL, SET, "2001")]),
    (GROUP, "g", [(INTERVAL, APPEND, "1")]),
    (GROUP, "g", [(OFFLOAD, SET, "maybe")]),
    (GROUP, "g", [(OFFLOAD, SET, "FALSE")]),
    (GROUP, "g", [("consumer.heartbeat.ms", SET, "5")]),
    (GROUP, "g", [("group.consumer.max.size", SET, "5")]),
    (GROUP, "other", [(HEARTBEAT, SET, "12000")]),
    (GROUP, "other", [(HEARTBEAT, SET, "11999")]),
    (GROUP, "a group, with: anything", [(INTERVAL, SET, "100")]),
    (GROUP, "", [(INTERVAL, SET, "100")]),
    (GROUP, "g", [(SESSION, DELETE, None), (HEARTBEAT, DELETE, None)]),
    (GROUP, "other", [(HEARTBEAT, DELETE, None)]),
    (BROKER, "", [("group.consumer.assignment.interval.ms", SET, "1500")]),
    (BROKER, "", [("group.consumer.assignment.interval.ms", SET, "2001")]),
    (BROKER, "1", [("group.consumer.assignment.interval.ms", SET, "700")]),
    (BROKER, "", [("group.consumer.assignor.offload.enable", SET, "false")]),
    (BROKER, "", [("group.consumer.session.timeout.ms", SET, "20000")]),
    (BROKER, "", [("group.consumer.max.size", SET, "2")]),
    (BROKER, "", [("group.consumer.assignors", SET, "range")]),
    (GROUP, "g", [(INTERVAL, DELETE, None)]),
]


def play(servers: str, expected: list[Any] | None = None) -> list[Any]:
    """Each change, refused or done, and what is told of it then; where something is expected, it is waited for."""
    told: list[Any] = []
    seen = described(servers)

    def after(refused: bool) -> Any:
        return settled(servers, seen, refused, None if expected is None else expected[len(told)][-1])

    for kind, name, changes in STEPS:
        configs = [incremental.AlterableConfig(key, operation, value) for key, operation, value in changes]
        resource = incremental.AlterConfigsResource(kind, name, configs)
        (answer,) = ask(servers, incremental.IncrementalAlterConfigsRequest([resource]), 1).responses
        seen = after(bool(answer.error_code))
        told.append((kind, name, changes, answer.error_code, answer.error_message, seen))
    values = [legacy.AlterableConfig(name, text) for name, text in ((SESSION, "9000"), (INTERVAL, "0"))]
    for replacing in (values, values[:1], [legacy.AlterableConfig(SESSION, "1")], []):
        replaced = legacy.AlterConfigsResource(GROUP, "g", replacing)
        (reply,) = ask(servers, legacy.AlterConfigsRequest([replaced]), 2).responses
        seen = after(bool(reply.error_code))
        told.append((reply.error_code, reply.error_message, seen))
    return told


def settled(servers: str, before: Any, refused: bool, wanted: Any) -> Any:
    """What is told after a change. Kafka tells of one a moment after it has answered, and of its parts one by one."""
    if wanted is not None:
        with suppress(AssertionError):  # it is not told at all: then what is told is compared
            return until(lambda: (now := described(servers)) == wanted and now, "the change to be seen", PATIENCE)
    if refused or wanted is not None:
        return described(servers)
    return until(lambda: (now := described(servers)) != before and now, "the change to be seen")


def described(servers: str) -> Any:
    """The consumer protocol's configuration of two groups and of the broker; and which groups have any."""
    asked = [DescribeConfigsResource(kind, name, None) for kind, name in ((GROUP, "g"), (GROUP, "other"))]
    asked.append(DescribeConfigsResource(BROKER, "1", None))
    results = ask(servers, DescribeConfigsRequest(asked, include_synonyms=True), 4).results
    entries = [
        [
            (one.name, one.value, one.config_source, one.read_only, one.is_sensitive, one.config_type,
             [(each.name, each.value, each.source) for each in one.synonyms])
            for one in sorted(result.configs, key=lambda one: str(one.name))
            if one.name.startswith(("consumer.", "group.consumer."))
        ]
        for result in results
    ]  # fmt: skip
    listed = ask(servers, ListConfigResourcesRequest([GROUP]), 1).config_resources
    return entries, sorted(one.resource_name for one in listed)


@pytest.mark.oracle
def test_groups_are_configured_as_in_kafka() -> None:
    with ApacheKafka({**APACHE_CONFIG, **BOUNDS}) as kafka, KafkaStub(config={**CONFIG, **BOUNDS}) as stub:
        expected = play(stub.bootstrap_servers)
        for ours, theirs in zip(expected, play(kafka.bootstrap_servers, expected), strict=True):
            assert ours == theirs
