"""Client metrics: asked where they are advertised, and where they are answered all the same, as Kafka does."""

from __future__ import annotations

import uuid
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import Answer, at_least, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "KIP-714, Kafka: ClientMetricsManager"
CLIENT_METRICS = 16
NOBODY = bytes(16)
ALSO = ["GetTelemetrySubscriptions"]


def subscriptions(on: Broker, instance: bytes, client: str = "conform") -> Answer:
    return on.ask("GetTelemetrySubscriptions", client=client, client_instance_id=instance)


def push(on: Broker, instance: bytes, subscription: int, **more: Any) -> int:
    """The error code."""
    body = {"client_instance_id": instance, "subscription_id": subscription, "metrics": b"x", **more}
    return int(on.ask("PushTelemetry", **body).error_code)


def registered_instance(on: Broker) -> tuple[bytes, int]:
    """An instance that has asked for its subscriptions, and their id."""
    instance = uuid.uuid4().bytes
    return instance, subscriptions(on, instance).subscription_id


@case("GetTelemetrySubscriptions", "A new instance gets an id of its own.", source=SOURCE)
def new_instance(on: Broker) -> None:
    ids = set()
    for _ in range(2):
        answer = subscriptions(on, NOBODY)
        expect(answer, error_code=E.NONE, push_interval_ms=at_least(100), accepted_compression_types=[4, 3, 1, 2])
        ids.add(bytes(answer.client_instance_id))
    expect_that("how many ids other than none there are", len(ids - {NOBODY}), 2)


@case("GetTelemetrySubscriptions", "An instance that names its id keeps it; its subscription id stays.", source=SOURCE)
def same_instance(on: Broker) -> None:
    instance = uuid.uuid4().bytes
    answer = subscriptions(on, instance)
    expect(answer, error_code=E.NONE, client_instance_id=instance)


@case("GetTelemetrySubscriptions", "The limit is telemetry.max.bytes.", source=SOURCE)
def limit(on: Broker) -> None:
    expect(subscriptions(on, NOBODY), telemetry_max_bytes=on.cluster.number("telemetry.max.bytes", 1048576))


@case(
    "GetTelemetrySubscriptions", "Again before the push interval has passed: THROTTLING_QUOTA_EXCEEDED.", source=SOURCE
)
def too_soon(on: Broker) -> None:
    instance, _ = registered_instance(on)
    expect(subscriptions(on, instance), error_code=E.THROTTLING_QUOTA_EXCEEDED, client_instance_id=NOBODY)


@case(
    "GetTelemetrySubscriptions",
    "A subscription concerns the clients whose id its pattern matches.",
    source=SOURCE,
    also=["IncrementalAlterConfigs"],
)
def matched(on: Broker) -> None:
    name = on.cluster.name()
    on.cluster.resources.add((CLIENT_METRICS, name))
    settings = {"metrics": f"{name}.a,{name}.b", "interval.ms": "100000", "match": f"client_id={name}-yes"}
    rows = [{"name": key, "config_operation": 0, "value": value} for key, value in settings.items()]
    resource = {"resource_type": CLIENT_METRICS, "resource_name": name, "configs": rows}
    expect(on.ask("IncrementalAlterConfigs", resources=[resource]), responses=[{"error_code": E.NONE}])
    wanted = {f"{name}.a", f"{name}.b"}
    on.in_time(lambda: wanted <= set(subscriptions(on, NOBODY, f"{name}-yes").requested_metrics))
    answer = subscriptions(on, NOBODY, f"{name}-yes")
    expect_that("whether its metrics are wanted", wanted <= set(answer.requested_metrics), True)
    expect_that("whether the shortest interval counts", answer.push_interval_ms <= 100_000, True)
    other = subscriptions(on, NOBODY, f"{name}-no")
    expect_that("another client's metrics", wanted & set(other.requested_metrics), set())


@case(
    "PushTelemetry",
    "Metrics are accepted; a second push within the interval: THROTTLING_QUOTA_EXCEEDED.",
    source=SOURCE,
    also=ALSO,
)
def pushed(on: Broker) -> None:
    instance, subscription = registered_instance(on)
    expect_that("error_code", push(on, instance, subscription), E.NONE)
    expect_that("error_code at once again", push(on, instance, subscription), E.THROTTLING_QUOTA_EXCEEDED)


@case(
    "PushTelemetry",
    "The last push is taken at any time, and nothing after it: INVALID_REQUEST.",
    source=SOURCE,
    also=ALSO,
)
def terminating(on: Broker) -> None:
    instance, subscription = registered_instance(on)
    push(on, instance, subscription)
    expect_that("error_code of the last", push(on, instance, subscription, terminating=True), E.NONE)
    expect_that("error_code after it", push(on, instance, subscription, terminating=True), E.INVALID_REQUEST)


@case("PushTelemetry", "The id of nobody: INVALID_REQUEST.", source=SOURCE)
def of_nobody(on: Broker) -> None:
    expect_that("error_code", push(on, NOBODY, 1), E.INVALID_REQUEST)


@case("PushTelemetry", "Another subscription id: UNKNOWN_SUBSCRIPTION_ID.", source=SOURCE, also=ALSO)
def unknown_subscription(on: Broker) -> None:
    instance, subscription = registered_instance(on)
    expect_that("error_code", push(on, instance, subscription ^ 1), E.UNKNOWN_SUBSCRIPTION_ID)


@case(
    "PushTelemetry",
    "After such a push the subscriptions may be asked for at once.",
    source=SOURCE,
    also=ALSO,
    since="4.0",
    before="THROTTLING_QUOTA_EXCEEDED: ClientMetricsManager.validateGetRequest makes the exception for no error at all",
)
def asked_anew(on: Broker) -> None:
    instance, subscription = registered_instance(on)
    push(on, instance, subscription ^ 1)
    answer = subscriptions(on, instance)
    expect(answer, error_code=E.NONE, subscription_id=subscription)


@case("PushTelemetry", "A codec that does not exist: UNSUPPORTED_COMPRESSION_TYPE.", source=SOURCE, also=ALSO)
def unknown_codec(on: Broker) -> None:
    instance, subscription = registered_instance(on)
    code = push(on, instance, subscription, compression_type=9)
    expect_that("error_code", code, E.UNSUPPORTED_COMPRESSION_TYPE)


@case("PushTelemetry", "More than telemetry.max.bytes: TELEMETRY_TOO_LARGE.", source=SOURCE, also=ALSO)
def too_large(on: Broker) -> None:
    most = on.cluster.number("telemetry.max.bytes", 1048576)
    for size, code in ((most + 1, E.TELEMETRY_TOO_LARGE), (most, E.NONE)):
        instance, subscription = registered_instance(on)
        expect_that(f"error_code of {size} bytes", push(on, instance, subscription, metrics=b"x" * size), code)


@case("PushTelemetry", "A body that is not of its codec: INVALID_RECORD.", source=SOURCE, also=ALSO)
def wrong_codec(on: Broker) -> None:
    instance, subscription = registered_instance(on)
    code = push(on, instance, subscription, compression_type=1, metrics=b"not gzip")
    expect_that("error_code", code, E.INVALID_RECORD)
