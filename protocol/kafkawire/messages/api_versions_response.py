"""ApiVersionsResponse (key 18), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ApiVersion(Struct):
    __slots__ = ("api_key", "min_version", "max_version")
    FIELDS = (
        ("api_key", "int16", (0, 5), None, None, None),
        ("min_version", "int16", (0, 5), None, None, None),
        ("max_version", "int16", (0, 5), None, None, None),
    )

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version


class SupportedFeatureKey(Struct):
    __slots__ = ("name", "min_version", "max_version")
    FIELDS = (
        ("name", "string", (3, 5), None, None, None),
        ("min_version", "int16", (3, 5), None, None, None),
        ("max_version", "int16", (3, 5), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version


class FinalizedFeatureKey(Struct):
    __slots__ = ("name", "max_version_level", "min_version_level")
    FIELDS = (
        ("name", "string", (3, 5), None, None, None),
        ("max_version_level", "int16", (3, 5), None, None, None),
        ("min_version_level", "int16", (3, 5), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level


class ApiVersionsResponse(Message):
    __slots__ = ("error_code", "api_keys", "throttle_time_ms", "supported_features", "finalized_features_epoch", "finalized_features", "zk_migration_ready")
    API_KEY = 18
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("error_code", "int16", (0, 5), None, None, None),
        ("api_keys", "[]ApiVersion", (0, 5), None, None, None),
        ("throttle_time_ms", "int32", (1, 5), None, None, None),
        ("supported_features", "[]SupportedFeatureKey", (3, 5), None, 0, (3, 5)),
        ("finalized_features_epoch", "int64", (3, 5), None, 1, (3, 5)),
        ("finalized_features", "[]FinalizedFeatureKey", (3, 5), None, 2, (3, 5)),
        ("zk_migration_ready", "bool", (3, 5), None, 3, (3, 5)),
    )

    def __init__(
        self,
        error_code: int = 0,
        api_keys: Sequence[ApiVersion] = (),
        throttle_time_ms: int = 0,
        supported_features: Sequence[SupportedFeatureKey] = (),
        finalized_features_epoch: int = -1,
        finalized_features: Sequence[FinalizedFeatureKey] = (),
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = finalized_features
        self.zk_migration_ready = zk_migration_ready
