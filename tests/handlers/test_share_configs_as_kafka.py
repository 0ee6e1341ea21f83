"""The configuration of share groups: the same requests to the stub and to Apache Kafka 4.4.0."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.handlers.topic_scenario import BROKER, DELETE, GROUP, SET
from tests.nodes.asking import ask
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import until

BOUNDS: dict[str, object] = {
    "group.share.session.timeout.ms": 12000,
    "group.share.min.session.timeout.ms": 6000,
    "group.share.heartbeat.interval.ms": 2000,
    "group.share.min.heartbeat.interval.ms": 1000,
    "group.share.record.lock.duration.ms": 1000,
    "group.share.min.record.lock.duration.ms": 1000,
}
PATIENCE = 3.0
"""Seconds, in which Kafka tells of a change."""
_TRIED: dict[str, tuple[str, ...]] = {
    "share.session.timeout.ms": ("6000", "5999", "60001", "x"),
    "share.heartbeat.interval.ms": ("999", "6000", "5999", "15001"),
    "share.record.lock.duration.ms": ("1000", "999", "60000", "60001", ""),
    "share.delivery.count.limit": ("2", "1", "10", "11"),
    "share.partition.max.record.locks": ("100", "99", "4000", "4001"),
    "share.auto.offset.reset": ("earliest", "latest", "EARLIEST", "none", "by_duration:PT1H", "by_duration:P1DT2H",
                                "by_duration:-PT1H", "by_duration:1h", "by_duration:", "BY_DURATION:PT1S", "",
                                "by_duration:PT0.123456789S", "by_duration:PT0.1234567891S", "by_duration:PT1.S",
                                "by_duration:PT9223372036854775807S", "by_duration:PT9223372036854775808S",
                                "by_duration:P106751991167300D", "by_duration:P106751991167301D",
                                f"by_duration:P{'9' * 5000}D", f"by_duration:P{'0' * 5000}1D", "by_duration:P\u0661D"),
    "share.isolation.level": ("read_committed", "READ_COMMITTED", "read_uncommitted", "none"),
    "share.renew.acknowledge.enable": ("false", "TRUE", "maybe"),
    "share.assignment.interval.ms": ("0", "-1", "15000", "15001"),
    "share.assignor.offload.enable": ("false", "no"),
    "errors.deadletterqueue.topic.name": ("dlq.g", "__dlq", "", "a b", "x" * 250),
    "errors.deadletterqueue.copy.record.enable": ("true", "yes"),
}  # fmt: skip
STEPS = [
    *((GROUP, "g", name, SET, text) for name, texts in _TRIED.items() for text in texts),
    (GROUP, "g", "share.session.timeout.ms", SET, None),
    (GROUP, "g", "share.max.size", SET, "5"),
    *((GROUP, "g", name, DELETE, None) for name in _TRIED),
    (BROKER, "", "group.share.assignment.interval.ms", SET, "1500"),
    (BROKER, "", "group.share.assignment.interval.ms", SET, "15001"),
    (BROKER, "1", "group.share.assignment.interval.ms", SET, "700"),
    (BROKER, "", "group.share.assignor.offload.enable", SET, "false"),
    (BROKER, "", "group.share.max.size", SET, "2"),
    (BROKER, "", "group.share.delivery.count.limit", SET, "3"),
    (BROKER, "", "group.share.record.lock.duration.ms", SET, "2000"),
]


def play(servers: str, expected: list[Any] | None = None) -> list[Any]:
    """Each change, refused or done, and what is told of it then; where something is expected, it is waited for."""
    told: list[Any] = []
    for kind, name, key, operation, value in STEPS:
        resource = AlterConfigsResource(kind, name, [AlterableConfig(key, operation, value)])
        (answer,) = ask(servers, IncrementalAlterConfigsRequest([resource]), 1).responses
        seen = described(servers, None if expected is None else expected[len(told)][-1])
        told.append((kind, name, key, value, answer.error_code, answer.error_message, seen))
    return told


def described(servers: str, wanted: Any) -> Any:
    """The configuration of the group and of the broker, as far as it is of share groups."""

    def now() -> Any:
        asked = [DescribeConfigsResource(GROUP, "g", None), DescribeConfigsResource(BROKER, "1", None)]
        return [
            [
                (one.name, one.value, one.config_source, one.read_only, one.is_sensitive, one.config_type,
                 [(each.name, each.value, each.source) for each in one.synonyms])
                for one in sorted(result.configs, key=lambda one: str(one.name))
                if one.name.startswith(("share.", "group.share.", "errors.dead"))
                and not one.name.startswith("share.coordinator.")
            ]
            for result in ask(servers, DescribeConfigsRequest(asked, include_synonyms=True), 4).results
        ]  # fmt: skip

    if wanted is not None:
        with suppress(AssertionError):  # it is not told at all: then what is told is compared
            return until(lambda: (found := now()) == wanted and found, "the change to be seen", PATIENCE)
    return now()


@pytest.mark.oracle
def test_share_groups_are_configured_as_in_kafka() -> None:
    with ApacheKafka({**APACHE_CONFIG, **BOUNDS}) as kafka, KafkaStub(config={**CONFIG, **BOUNDS}) as stub:
        expected = play(stub.bootstrap_servers)
        differing = [
            (ours[:-1], theirs[:-1], [pair for ours_, theirs_ in zip(ours[-1], theirs[-1], strict=True)
                                      for pair in zip(ours_, theirs_, strict=False) if pair[0] != pair[1]])
            for ours, theirs in zip(expected, play(kafka.bootstrap_servers, expected), strict=True)
            if ours != theirs
        ]  # fmt: skip
        assert differing == []
