"""What streams groups go by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.coordinator.modern.settings import ModernSettings, configured


class StreamsGroupConfig(NamedTuple):
    """What a streams group's configuration (resource type GROUP) says itself: see `GroupConfig`.

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

    own_config = StreamsGroupConfig

    @staticmethod
    def of(values: BrokerConfig) -> StreamsGroupSettings:
        """From the broker's configuration; what came later than its release counts for nothing."""
        rules = StreamsRules.of(values)
        later = "num_warmup_replicas", "task_offset_interval_ms", "acceptable_recovery_lag"
        own = "initial_rebalance_delay_ms", "num_standby_replicas", *(later if rules.has_statics else ())
        found = dict.fromkeys(later, 0) | configured(values, "streams", *own)
        if not rules.has_interval:
            found["assignment_interval_ms"] = 0
        tags = tuple(values["group.streams.rack.aware.assignment.tags"])
        return StreamsGroupSettings(**found, rack_aware_assignment_tags=tags, rules=rules)
