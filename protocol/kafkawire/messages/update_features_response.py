"""UpdateFeaturesResponse (key 57), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class UpdatableFeatureResult(Struct):
    __slots__ = ("feature", "error_code", "error_message")
    FIELDS = (
        ("feature", "string", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (0, 2), (0, 2), None, None),
    )

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message


class UpdateFeaturesResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results")
    API_KEY = 57
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (0, 2), (0, 2), None, None),
        ("results", "[]UpdatableFeatureResult", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[UpdatableFeatureResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results
