"""ListConfigResources."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from tests.handlers.in_process import InProcess


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess(nodes=2)
    create_topic(broker.state, "a")
    broker.state.cluster.group_configs["g"] = {"consumer.session.timeout.ms": "46000"}
    broker.state.cluster.client_metrics_configs["m"] = {"interval.ms": "100"}
    return broker


def listed(broker: InProcess, *kinds: int, version: int = 1) -> list[tuple[int, str]]:
    answer = broker.ask(ListConfigResourcesRequest(resource_types=kinds), version)
    assert answer.error_code == ErrorCode.NONE
    return sorted((resource.resource_type, resource.resource_name) for resource in answer.config_resources)


@pytest.mark.behaviour("LC-1")
def test_version_0_lists_client_metrics(broker: InProcess):
    assert listed(broker, version=0) == [(16, "m")]


@pytest.mark.behaviour("LC-2")
def test_version_1_lists_what_is_asked_for(broker: InProcess):
    assert listed(broker) == [(2, "a"), (4, "1"), (4, "2"), (8, "1"), (8, "2"), (16, "m"), (32, "g")]
    assert listed(broker, 2, 32) == [(2, "a"), (32, "g")]
    assert listed(broker, 2, 4, 8, 16, 32) == listed(broker)


@pytest.mark.behaviour("LC-3")
@pytest.mark.parametrize("kinds", [(0,), (2, 99)])
def test_an_unknown_type_is_refused(broker: InProcess, kinds: tuple[int, ...]):
    answer = broker.ask(ListConfigResourcesRequest(resource_types=kinds))
    assert (answer.error_code, answer.config_resources) == (ErrorCode.UNSUPPORTED_VERSION, ())
