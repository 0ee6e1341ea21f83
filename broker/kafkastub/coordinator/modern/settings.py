"""The configuration that groups with epochs go by, typed, and what a group's own configuration overrides.

Kafka: GroupCoordinatorConfig, GroupConfig, GroupConfigManager. Times are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from kafkastub.config import BrokerConfig


class GroupConfig(NamedTuple):
    """What a group's configuration (resource type GROUP) says itself; None where it says nothing.

    As far as a coordinator of any type goes by it; a type with more has its own class. The values are within the
    broker's bounds already; so Kafka keeps them, and so it clamps them where the bounds have changed since
    (GroupConfigManager).
    """

    session_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    assignment_interval_ms: int | None = None
    assignor_offload: bool | None = None


_OTHER_NAMES: Final = {"assignor": "assignor.name", "assignor_offload": "assignor.offload.enable"}


def config_name(field: str) -> str:
    """The configuration that a field of these classes has, behind the type's name."""
    return _OTHER_NAMES.get(field) or field.replace("_", ".")


def configured(values: BrokerConfig, group_type: str, *own: str) -> dict[str, Any]:
    """What every type has of `group.TYPE.…`, and fields of its own; Kafka's names follow from theirs."""
    names = ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms", "max_size", *own)
    found = {name: values[f"group.{group_type}.{config_name(name)}"] for name in names}
    return {**found, "empty_is_assigned": values.follows(4, 4)}


@dataclass(slots=True)
class ModernSettings:
    """The broker's part that every type has. The owner may change what Kafka lets one change while it runs.

    Attributes:
        empty_is_assigned: whether the target of a group without members counts as computed, as since 4.4.
    """

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000
    max_size: int = 2**31 - 1
    empty_is_assigned: bool = True

    own_config: ClassVar[type[Any]] = GroupConfig
    """What a group of the type may say itself."""

    @staticmethod
    def of(values: BrokerConfig) -> ModernSettings:
        """From the broker's configuration."""
        raise NotImplementedError
