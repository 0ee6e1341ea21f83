"""A broker's loggers, of a Kafka that was just started and of the stub."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.oracle.apache_kafka import FAST, ApacheKafka
from tests.persistence.speaker import Speaker

LOGGER, ROOT, CONTROLLER, APIS = 8, "root", "kafka.server.ControllerServer", "kafka.server.KafkaApis"
SET, DELETE, APPEND = 0, 1, 2
CHANGES: tuple[tuple[tuple[str, int, str | None], ...], ...] = (
    ((CONTROLLER, DELETE, None),),
    ((CONTROLLER, SET, "LOUD"),),
    ((CONTROLLER, SET, None),),
    ((CONTROLLER, SET, "debug"),),
    ((CONTROLLER, SET, "OFF"),),
    ((CONTROLLER, SET, "WARN"), (APIS, SET, "TRACE")),
    ((CONTROLLER, DELETE, None),),
    ((ROOT, SET, "ERROR"),),
    ((CONTROLLER, SET, "DEBUG"), (ROOT, DELETE, None)),
    ((CONTROLLER, APPEND, "x"),),
    ((CONTROLLER, 9, "x"),),
    (("kafka.nothing", 9, "x"),),
    (("kafka.nothing", APPEND, "x"),),
    (("kafka.nothing", SET, "x"),),
    (("kafka.server", SET, "DEBUG"),),
    (("kafka.server", DELETE, None),),
    (("", SET, "INFO"),),
    (("ROOT", SET, "INFO"),),
    ((APIS, DELETE, "x"),),
    ((CONTROLLER, SET, "FATAL"), (ROOT, SET, "INFO")),
)


def played(speaker: Speaker) -> list[Any]:
    """What is answered, with what all loggers have then, which is looked at twice."""
    found: list[Any] = [described(speaker, None)]
    for changes in CHANGES:
        named = [AlterableConfig(name, operation, value) for name, operation, value in changes]
        asked = IncrementalAlterConfigsRequest([AlterConfigsResource(LOGGER, "1", named)])
        answer = speaker.ask(asked, 1).responses[0]
        found += [(changes, answer.error_code, answer.error_message), described(speaker, None)]
    return [*found, described(speaker, [ROOT, CONTROLLER, "nonsuch"])]


def described(speaker: Speaker, names: list[str] | None) -> list[tuple[object, ...]]:
    asked = DescribeConfigsRequest([DescribeConfigsResource(LOGGER, "1", names)], True, True)
    told = speaker.ask(asked, 4).results[0].configs
    return [(one.name, one.value, one.read_only, one.config_source, one.config_type, one.synonyms) for one in told]


@pytest.mark.oracle
@pytest.mark.behaviour("DC-10", "IA-10", "IA-12")
def test_loggers_are_those_of_kafka_and_change_as_there():
    with ApacheKafka(config=FAST) as kafka, Speaker(kafka.bootstrap_servers) as speaker:
        theirs = played(speaker)
    with KafkaStub() as stub, Speaker(stub.bootstrap_servers) as speaker:
        ours = played(speaker)
    for there, here in zip(theirs, ours, strict=True):
        assert here == there
