"""PushTelemetry (key 72), version 0. Not advertised, as there is no receiver, but answered.    KIP-714

PT-1  What is pushed is taken and goes nowhere.
PT-2  A reserved instance id: INVALID_REQUEST; likewise whatever follows a push that said it was the last.
PT-3  Before the push interval has passed: THROTTLING_QUOTA_EXCEEDED, unless it is the last or the first after the
      subscriptions were asked for.    Kafka: ClientMetricsInstance.maybeUpdatePushRequestTimestamp
PT-4  Another subscription id than the instance's: UNKNOWN_SUBSCRIPTION_ID.
PT-5  A codec that does not exist: UNSUPPORTED_COMPRESSION_TYPE.
PT-6  More than telemetry.max.bytes, as it comes or unpacked: TELEMETRY_TOO_LARGE. Kafka up to 4.3 unpacks without
      limit; here what is unpacked has 16 MB at most.    Kafka: ClientMetricsManager.processPushTelemetryRequest
PT-7  A body that is not of its codec: INVALID_RECORD.
Not done: a body of a codec that is not installed is taken; what is unpacked is not looked at.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.telemetry import RESERVED_IDS, Instance
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.push_telemetry_request import PushTelemetryRequest
from kafkawire.messages.push_telemetry_response import PushTelemetryResponse
from kafkawire.records import TooMuchUnpacked, UnavailableCodecError, decompress

_CODECS: Final = range(5)


def error_response(request: PushTelemetryRequest, code: ErrorCode, version: int) -> PushTelemetryResponse:
    return PushTelemetryResponse(error_code=code)


@handles(ApiKey.PUSH_TELEMETRY, 0, 0, error_response=error_response, advertised=False)
def push_telemetry(ctx: RequestContext, request: PushTelemetryRequest) -> Outcome:
    if request.client_instance_id in RESERVED_IDS:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    configs = ctx.state.cluster.client_metrics_configs
    instance = ctx.state.telemetry.instance(ctx, configs, request.client_instance_id)
    instance.last_error = _refusal(ctx, request, instance)
    instance.terminating = request.terminating
    if instance.last_error:
        raise KafkaError(instance.last_error)
    return PushTelemetryResponse()


def _refusal(ctx: RequestContext, request: PushTelemetryRequest, instance: Instance) -> ErrorCode:
    """The first reason to refuse it in Kafka's order, NONE where there is none."""
    if instance.terminating:
        return ErrorCode.INVALID_REQUEST
    if not instance.may_push(ctx.timer_ms) and not request.terminating:
        return ErrorCode.THROTTLING_QUOTA_EXCEEDED
    if request.subscription_id != instance.subscription_id:
        return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    if request.compression_type not in _CODECS:
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    if len(request.metrics) > ctx.state.config["telemetry.max.bytes"]:
        return ErrorCode.TELEMETRY_TOO_LARGE
    return _unpacked(request.compression_type, request.metrics, ctx.state.config["telemetry.max.bytes"])


def _unpacked(codec: int, metrics: bytes, most: int) -> ErrorCode:
    if not metrics or not codec:
        return ErrorCode.NONE
    try:
        decompress(codec, metrics, min(most, MOST_UNPACKED))
    except UnavailableCodecError:
        return ErrorCode.NONE
    except TooMuchUnpacked:
        return ErrorCode.TELEMETRY_TOO_LARGE
    except KafkaError:
        return ErrorCode.INVALID_RECORD
    return ErrorCode.NONE


MOST_UNPACKED: Final = 16 << 20
"""Bytes, whatever telemetry.max.bytes is: the others wait meanwhile."""
