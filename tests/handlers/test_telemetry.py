"""GetTelemetrySubscriptions and PushTelemetry; `test_topics_as_kafka` compares them with Apache Kafka as well."""

from __future__ import annotations

from typing import Any

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kafkawire.messages.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kafkawire.messages.push_telemetry_request import PushTelemetryRequest
from kafkawire.messages.push_telemetry_response import PushTelemetryResponse
from kafkawire.records import compress
from tests.handlers.desk import Desk

ME = bytes(8) + bytes(7) + b"d"
MY_SUBSCRIPTION = -725132358
"""As Apache Kafka 4.4.0 answered it for ME, without any subscription."""
INTERVAL_MS = 300_000


def get(desk: Desk, instance: bytes = ME) -> GetTelemetrySubscriptionsResponse:
    request = GetTelemetrySubscriptionsRequest(client_instance_id=instance)
    return desk.ask(0, request, GetTelemetrySubscriptionsResponse)


def push(desk: Desk, instance: bytes = ME, subscription: int = MY_SUBSCRIPTION, **fields: Any) -> int:
    request = PushTelemetryRequest(client_instance_id=instance, subscription_id=subscription, **fields)
    return desk.ask(0, request, PushTelemetryResponse).error_code


def subscribe(desk: Desk, name: str, **configs: str) -> None:
    changes = [AlterableConfig(key.replace("_", "."), 0, value) for key, value in configs.items()]
    resource = AlterConfigsResource(resource_type=16, resource_name=name, configs=changes)
    answer = desk.ask(1, IncrementalAlterConfigsRequest(resources=[resource]), IncrementalAlterConfigsResponse)
    assert answer.responses[0].error_code == ErrorCode.NONE


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.behaviour("TS-1")
def test_ids(desk: Desk):
    first, second = get(desk, bytes(16)), get(desk, bytes(16))
    assert len({bytes(16), first.client_instance_id, second.client_instance_id}) == 3
    answer = get(desk)
    assert answer.client_instance_id == ME
    assert (answer.push_interval_ms, answer.telemetry_max_bytes) == (INTERVAL_MS, 1048576)
    assert (answer.requested_metrics, answer.accepted_compression_types) == ((), (4, 3, 1, 2))


@pytest.mark.behaviour("TS-1")
@pytest.mark.parametrize(
    ("match", "concerned"),
    [("client_id=te.t", True), ("client_id=tes", False), ("client_id=test,client_source_address=10.*", False)],
)
def test_subscriptions_that_match(desk: Desk, match: str, concerned: bool):
    subscribe(desk, "all", metrics="x.y", interval_ms="200000")
    subscribe(desk, "some", metrics="a.b,c.d,e,x.y", interval_ms="100000", match=match)
    answer = get(desk)
    metrics, interval_ms = ({"a.b", "e", "c.d", "x.y"}, 100_000) if concerned else ({"x.y"}, 200_000)
    assert (set(answer.requested_metrics), answer.push_interval_ms) == (metrics, interval_ms)


@pytest.mark.behaviour("TS-1")
def test_everything(desk: Desk):
    subscribe(desk, "some", metrics="a.b")
    subscribe(desk, "all", metrics="*")
    assert get(desk).requested_metrics == ("*",)


@pytest.mark.behaviour("TS-2")
def test_the_subscription_id_is_kafkas(desk: Desk):
    assert get(desk).subscription_id == MY_SUBSCRIPTION
    subscribe(desk, "t", metrics="a.b,c.d,e", interval_ms="100000")
    answer = get(desk)
    assert (answer.subscription_id, answer.requested_metrics) == (-816823375, ("a.b", "e", "c.d"))


@pytest.mark.behaviour("TS-3")
def test_too_soon(desk: Desk):
    get(desk)
    desk.timer_ms += INTERVAL_MS - 1
    refused = get(desk)
    assert (refused.error_code, refused.client_instance_id) == (ErrorCode.THROTTLING_QUOTA_EXCEEDED, bytes(16))
    desk.timer_ms += 1
    assert get(desk).error_code == ErrorCode.NONE
    assert push(desk, subscription=5) == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert get(desk).error_code == ErrorCode.NONE
    assert get(desk).error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED


@pytest.mark.behaviour("TS-4")
def test_a_changed_subscription(desk: Desk):
    get(desk)
    subscribe(desk, "t", metrics="a.b")
    assert get(desk).requested_metrics == ("a.b",)


@pytest.mark.behaviour("PT-1", "PT-3")
def test_pushes(desk: Desk):
    get(desk)
    assert push(desk, metrics=b"x") == ErrorCode.NONE
    assert push(desk, metrics=b"x") == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    desk.timer_ms += INTERVAL_MS
    assert push(desk, metrics=b"x") == ErrorCode.NONE
    assert push(desk, metrics=b"x", terminating=True) == ErrorCode.NONE


@pytest.mark.behaviour("PT-2")
def test_invalid_pushes(desk: Desk):
    assert push(desk, bytes(16)) == ErrorCode.INVALID_REQUEST
    assert push(desk, bytes(15) + b"\x01") == ErrorCode.INVALID_REQUEST
    assert push(desk, terminating=True) == ErrorCode.NONE
    assert push(desk, terminating=True) == ErrorCode.INVALID_REQUEST


@pytest.mark.behaviour("PT-4", "PT-5", "PT-6")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"subscription": 5}, ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
        ({"compression_type": 5}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"compression_type": -1}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"metrics": bytes(1048577)}, ErrorCode.TELEMETRY_TOO_LARGE),
        ({"metrics": bytes(1048576)}, ErrorCode.NONE),
    ],
)
def test_refused_pushes(desk: Desk, fields: dict[str, Any], code: ErrorCode):
    assert push(desk, **fields) == code


@pytest.mark.behaviour("TS-3")
def test_an_instance_is_forgotten_after_three_intervals(desk: Desk):
    assert push(desk, terminating=True) == ErrorCode.NONE
    desk.timer_ms += 3 * INTERVAL_MS
    assert push(desk) == ErrorCode.NONE


@pytest.mark.behaviour("PT-7")
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_body_that_is_not_of_its_codec(desk: Desk, codec: int):
    assert push(desk, compression_type=codec, metrics=compress(codec, b"fine"), terminating=False) == ErrorCode.NONE
    assert push(Desk(), compression_type=codec, metrics=b"garbage") == ErrorCode.INVALID_RECORD
    assert push(Desk(), compression_type=codec, metrics=b"") == ErrorCode.NONE, "nothing is of any codec"
