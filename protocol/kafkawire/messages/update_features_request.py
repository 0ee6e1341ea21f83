"""UpdateFeaturesRequest (key 57), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class FeatureUpdateKey(Struct):
    __slots__ = ("feature", "max_version_level", "allow_downgrade", "upgrade_type")
    FIELDS = (
        ("feature", "string", (0, 2), None, None, None),
        ("max_version_level", "int16", (0, 2), None, None, None),
        ("allow_downgrade", "bool", (0, 0), None, None, None),
        ("upgrade_type", "int8", (1, 2), None, None, None),
    )

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type


class UpdateFeaturesRequest(Message):
    __slots__ = ("timeout_ms", "feature_updates", "validate_only")
    API_KEY = 57
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("timeout_ms", "int32", (0, 2), None, None, None),
        ("feature_updates", "[]FeatureUpdateKey", (0, 2), None, None, None),
        ("validate_only", "bool", (1, 2), None, None, None),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: Sequence[FeatureUpdateKey] = (),
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = feature_updates
        self.validate_only = validate_only
