"""GetTelemetrySubscriptions (key 71), version 0. Not advertised, as there is no receiver, but answered.    KIP-714

TS-1  A new instance gets an id, one that names its id keeps it; what it is to report follows from the client metrics
      subscriptions whose patterns it matches: their metrics and the shortest interval.    Kafka: ClientMetricsManager
TS-2  The subscription id is Kafka's: a checksum of metrics and interval, mixed with the instance id.
TS-3  Before the push interval has passed: THROTTLING_QUOTA_EXCEEDED; not after a push was refused for its subscription
      id or compression.
TS-4  A changed subscription concerns known instances at once.
Not done: instances are forgotten by time only (three intervals), not when their connection closes; of Java's regular
expressions those that cannot be matched in one pass, see `kafkastub.config.patterns`.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import random_uuid
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kafkawire.messages.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kafkawire.records import Compression
from kafkawire.schema import ZERO_UUID

_ACCEPTED: Final = (Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY)
_ASKS_AGAIN: Final = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def error_response(
    request: GetTelemetrySubscriptionsRequest, code: ErrorCode, version: int
) -> GetTelemetrySubscriptionsResponse:
    return GetTelemetrySubscriptionsResponse(error_code=code)


@handles(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, 0, error_response=error_response, advertised=False)
def get_telemetry_subscriptions(ctx: RequestContext, request: GetTelemetrySubscriptionsRequest) -> Outcome:
    instance_id = request.client_instance_id
    telemetry = ctx.state.telemetry
    while instance_id == ZERO_UUID or (instance_id != request.client_instance_id and telemetry.knows(instance_id)):
        instance_id = random_uuid(ctx.state.random)
    instance = telemetry.instance(ctx, ctx.state.cluster.client_metrics_configs, instance_id)
    if not instance.may_get(ctx.timer_ms) and instance.last_error not in _ASKS_AGAIN:
        raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
    instance.last_error = ErrorCode.NONE
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=_ACCEPTED,
        push_interval_ms=instance.interval_ms,
        telemetry_max_bytes=ctx.state.config["telemetry.max.bytes"],
        delta_temporality=True,
        requested_metrics=instance.metrics,
    )
