"""The configuration that groups with epochs go by, typed, and what a group's own configuration overrides.

Kafka: GroupCoordinatorConfig, GroupConfig, GroupConfigManager. Times are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.config.assignors import assignor_names


class GroupConfig(NamedTuple):
    """What a group's configuration (resource type GROUP) says itself; None where it says nothing.

    That of a consumer or share group, as far as its coordinator goes by it; what is delivered how is not here. The
    values are within the broker's bounds already; so Kafka keeps them, and so it clamps them where the bounds have
    changed since (GroupConfigManager).
    """

    session_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    assignment_interval_ms: int | None = None
    assignor_offload: bool | None = None


class StreamsGroupConfig(NamedTuple):
    """The same of a streams group.

    Attributes:
        rack_aware_assignment_tags: names of tags of clients.
        assignor: None where the broker's default is used.
    """

    session_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    assignment_interval_ms: int | None = None
    assignor_offload: bool | None = None
    initial_rebalance_delay_ms: int | None = None
    num_standby_replicas: int | None = None
    num_warmup_replicas: int | None = None
    task_offset_interval_ms: int | None = None
    acceptable_recovery_lag: int | None = None
    rack_aware_assignment_tags: tuple[str, ...] | None = None
    assignor: str | None = None


_OTHER_NAMES: Final = {"assignor": "assignor.name", "assignor_offload": "assignor.offload.enable"}


def config_name(field: str) -> str:
    """The configuration that a field of these classes has, behind the type's name."""
    return _OTHER_NAMES.get(field) or field.replace("_", ".")


def _configured(values: BrokerConfig, group_type: str, *own: str) -> dict[str, Any]:
    """What every type has of `group.TYPE.…`, and fields of its own."""
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

    @staticmethod
    def of(values: BrokerConfig) -> ModernSettings:
        """From the broker's configuration."""
        raise NotImplementedError


@dataclass(slots=True)
class ConsumerSettings(ModernSettings):
    """The broker's part: `group.consumer.*`.

    Attributes:
        assignors: names, the default first.
        migration_policy: `disabled`, `upgrade`, `downgrade` or `bidirectional`.
        assignor_offload: whether assignors are to run beside the coordinator. Kafka 4.4.0 knows the name and does not
            ask for it: a new target is in the answer to the heartbeat that made it necessary.
        assignor_raises_epoch: whether another assignor than before is reason for a new epoch, as since 4.4.
    """

    assignor_offload: bool = True
    regex_refresh_interval_ms: int = 600_000
    assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"
    assignor_raises_epoch: bool = True

    @staticmethod
    def of(values: BrokerConfig) -> ConsumerSettings:
        """From the broker's configuration."""
        return ConsumerSettings(
            **_configured(values, "consumer", "assignor_offload", "regex_refresh_interval_ms"),
            assignors=assignor_names(values["group.consumer.assignors"]),
            migration_policy=values["group.consumer.migration.policy"].lower(),
            assignor_raises_epoch=values.follows(4, 4),
        )


@dataclass(slots=True)
class ShareGroupSettings(ModernSettings):
    """The broker's part: `group.share.*`.

    Attributes:
        initialize_retry_interval_ms: how long the share coordinator has to make a partition's state before it is asked
            again.
    """

    max_size: int = 200
    initialize_retry_interval_ms: int = 30_000

    @staticmethod
    def of(values: BrokerConfig) -> ShareGroupSettings:
        """From the broker's configuration."""
        made = ShareGroupSettings(**_configured(values, "share", "initialize_retry_interval_ms"))
        made.initialize_retry_interval_ms = max(made.initialize_retry_interval_ms, values["offsets.commit.timeout.ms"])
        return made


class StreamsRules(NamedTuple):
    """What Kafka's releases do differently with streams groups; a default is what 4.4 does.

    Attributes:
        has_statics: members may be static, have warm-up tasks, and tell how far their tasks are; else INVALID_REQUEST.
        known_have_room: a member that joins again has its place in a group that is full.
        endpoints_change: a member that joins without an endpoint has none, and the group's endpoint epoch is raised for
            another endpoint; else the one that it told before stays, and tasks are told anew to whoever joins.
        from_current: the assignor goes by what members have; else by what they were to have.
        roles_change: a task changes its role at the member that has it; else it is let go of first.
        looks_on: of those who have a task's state, the assignor looks beyond one whose process has the task already.
        computes: the assignor fills its maps with `HashMap.computeIfAbsent`; else with `putIfAbsent`, after which what
            shares a bucket is in another order.
        endpoints_in_order: partitions at an endpoint are in order, without those that a topic has not.
        has_interval: a target is computed once in an interval, and its record says when that was.
        first_target_epoch: the epoch of the target of a group that is new, before any is computed.
    """

    has_statics: bool = True
    known_have_room: bool = True
    endpoints_change: bool = True
    from_current: bool = True
    roles_change: bool = True
    looks_on: bool = True
    computes: bool = True
    endpoints_in_order: bool = True
    has_interval: bool = True
    first_target_epoch: int = 1

    @staticmethod
    def of(values: BrokerConfig) -> StreamsRules:
        """As `kafkastub.as.version` has it. What 4.3 does alone came back to 4.2 with 4.2.2."""
        newest, is_4_3 = values.follows(4, 4), values.follows(4, 3) and not values.follows(4, 4)
        return StreamsRules(
            has_statics=newest,
            known_have_room=newest,
            endpoints_change=newest,
            from_current=newest,
            roles_change=newest,
            looks_on=not is_4_3,
            computes=newest,
            endpoints_in_order=not is_4_3,
            has_interval=values.follows(4, 3),
            first_target_epoch=1 if values.follows(4, 3) else 0,
        )


NEWEST_RULES: Final = StreamsRules()


@dataclass(slots=True)
class StreamsGroupSettings(ModernSettings):
    """The broker's part: `group.streams.*`.

    Attributes:
        num_warmup_replicas: how many tasks may warm up at once. Kafka 4.4.0 has no task warm up yet: whoever is to get
            a task gets it at once.
        acceptable_recovery_lag: in records.
        rack_aware_assignment_tags: names of tags that clients have to have; the assignor does not go by them yet.
        rules: what is of the release.
    """

    initial_rebalance_delay_ms: int = 3_000
    num_standby_replicas: int = 0
    num_warmup_replicas: int = 2
    task_offset_interval_ms: int = 60_000
    acceptable_recovery_lag: int = 10_000
    rack_aware_assignment_tags: tuple[str, ...] = ()
    rules: StreamsRules = NEWEST_RULES

    @staticmethod
    def of(values: BrokerConfig) -> StreamsGroupSettings:
        """From the broker's configuration; what came later than its release counts for nothing."""
        rules = StreamsRules.of(values)
        later = "num_warmup_replicas", "task_offset_interval_ms", "acceptable_recovery_lag"
        own = "initial_rebalance_delay_ms", "num_standby_replicas", *(later if rules.has_statics else ())
        found = dict.fromkeys(later, 0) | _configured(values, "streams", *own)
        if not rules.has_interval:
            found["assignment_interval_ms"] = 0
        tags = tuple(values["group.streams.rack.aware.assignment.tags"])
        return StreamsGroupSettings(**found, rack_aware_assignment_tags=tags, rules=rules)
