"""The broker's configuration (Kafka: ``KafkaConfig``): names, typed values, where each comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from . import definition
from .assignors import NAME as ASSIGNORS
from .assignors import assignor_names
from .connection_limits import check_connection_limits
from .errors import ConfigError, InvalidValue
from .kafka_table import BROKER, TOPIC, TOPIC_SYNONYMS, Row
from .log_dirs import CORDONED, wrongly_cordoned
from .newer import follows, later_than
from .own import OWN, PROFILE, profile_with
from .own_names import check_name
from .profile import Profile

# The stub's own start: what a real broker must be told, and topics that keep their records (a test's records carry
# wall-clock timestamps while broker time leaps). They count as set in the properties file.
STUB_DEFAULTS: Final[dict[str, str]] = {
    "controller.listener.names": "CONTROLLER",
    "log.retention.ms": "-1",
    "node.id": "1",
    "process.roles": "broker,controller",
}

# A name by which another may be given: the first that is set wins (DynamicBrokerConfig.brokerConfigSynonyms).
_SYNONYMS: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_LISTENER_OVERRIDE = re.compile(r"listener\.name\.[^.]*\.(.*)")
_OF_THE_AUTHORIZER: Final = ("super.users", "allow.everyone.if.no.acl.found")
"""Read by the StandardAuthorizer itself, not by Kafka's broker."""
_KNOWN_PREFIXES = ("listener.name.", "config.providers.", "rsm.config.", "rlmm.config.")
_INFINITE_RETENTION = "offsets.retention.minutes"
_WITH_EPOCHS: Final = ("consumer", "share", "streams")
_SHARE_ASSIGNORS: Final = "group.share.assignors"
_SIMPLE: Final = ("simple", "org.apache.kafka.coordinator.group.assignor.SimpleAssignor")
"""The group types that have a heartbeat of their own."""


def synonyms(name: str) -> tuple[str, ...]:
    """The names that set the same thing, in their order of precedence (DescribeConfigs lists them)."""
    for group in _SYNONYMS:
        if name in group:
            return group
    if name == "log.flush.interval.ms":
        return (name, "log.flush.scheduler.interval.ms")
    override = _LISTENER_OVERRIDE.fullmatch(name)
    return (name, override[1]) if override else (name,)


class Dynamic(NamedTuple):
    """The dynamic part of a configuration, and what follows from it together with the static part."""

    broker: dict[str, str]
    default: dict[str, str]
    values: dict[str, Any]
    log_defaults: dict[str, Any]


class BrokerConfig:
    """Kafka's broker configuration, typed and checked.

    ``config["offsets.retention.minutes"]`` is the typed value (int, float, bool, str, list[str] or None), defaults
    filled in, the stub's own names (``own.py``) like Kafka's. Raises KeyError for any other name.

    Attributes:
        static: name to text, what was set at the start (STUB_DEFAULTS included).
        profile: the one given, with the answers that were configured one by one (``kafkastub.…``).
        dynamic_broker, dynamic_default: name to text, what IncrementalAlterConfigs set for this broker and for all.
        unknown: names given that Kafka does not have, in the order given. They are ignored; `config.mistyped` says
            which may be meant.
        log_defaults: topic configuration name to typed value, for a topic without overrides.
        of_cluster: what of `static` comes from a snapshot of a real cluster, for the snapshots of this broker.
    """

    of_cluster: Mapping[str, str] = MappingProxyType({})

    def __init__(self, overrides: Mapping[str, object] | None, profile: Profile) -> None:
        """Raises ConfigError (one sentence: key, value, what is allowed) for what Kafka would not start with."""
        given: dict[str, object] = dict(overrides or {})
        self.profile = profile = profile_with(profile, given)
        self.static: dict[str, str] = {}
        self.dynamic_broker: dict[str, str] = {}
        self.dynamic_default: dict[str, str] = {}
        self._own = {name: row[1] for name, row in OWN.items()}
        self._own |= {name: getattr(profile, field) for name, field in PROFILE.items()}
        self._values: dict[str, Any] = _defaults()
        unknown = []
        for name, value in (given | _stub_defaults_beside(given)).items():
            check_name(name)
            row = BROKER.get(name)
            if name in PROFILE:
                continue
            if name in OWN:
                self._own[name] = _accepted(name, OWN[name], value, profile)
            elif row is not None:
                typed = self._values[name] = _accepted(name, row, value, profile)
                self.static[name] = value if isinstance(value, str) else definition.to_text(row, typed) or ""
            elif name.startswith(_KNOWN_PREFIXES) or name in _OF_THE_AUTHORIZER:
                if _is_slip_of_listener(name):
                    unknown.append(name)
                self.static[name] = str(value)
            else:
                unknown.append(name)
                self.static[name] = str(value)
        self.unknown = tuple(unknown)
        self._values |= self._own
        self._values["broker.id"] = self._values["node.id"]
        self.static["broker.id"] = self.static.get("broker.id", self.static["node.id"])
        # KIP-966: with eligible leader replicas the cluster has its own minimum from the start
        self.dynamic_default["min.insync.replicas"] = str(self._values["min.insync.replicas"])
        _check_together(self._values, self.static)
        check_connection_limits(self.static)
        self.log_defaults: dict[str, Any] = _log_defaults(self._values, set(self.static))

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def follows(self, major: int, minor: int) -> bool:
        """Whether the broker does what came with that release of Kafka: not where kafkastub.as.version is older."""
        return follows(self["kafkastub.as.version"], major, minor)

    @property
    def to_come(self) -> frozenset[str]:
        """Names of Kafka's tables that came with a later release than the broker's."""
        return later_than(self["kafkastub.as.version"])

    def __repr__(self) -> str:
        shown = (f"{name}={_shown(name, value)}" for name, value in sorted(self.static.items()) if name in BROKER)
        return f"BrokerConfig({', '.join(shown)})"

    def set_dynamic(self, texts: Mapping[str, str], *, per_broker: bool) -> None:
        """Replace the dynamic values of this broker, or those of all brokers; unknown names are kept but unused.

        Raises InvalidValue, or ConfigError for values that do not go together, and changes nothing then.
        """
        broker = dict(texts) if per_broker else self.dynamic_broker
        default = self.dynamic_default if per_broker else dict(texts)
        values = _defaults() | self._own
        merged = self.static | default | broker
        for name, text in merged.items():
            if row := BROKER.get(name):
                typed = values[name] = definition.parse(name, row, text)
                if not self._may_be_infinite(name, typed):
                    definition.check(name, row, typed)
        values["broker.id"] = values["node.id"]
        _clamp_assignment_intervals(values)
        _check_together(values, merged)
        self.dynamic_broker, self.dynamic_default, self._values = broker, default, values
        self.log_defaults = _log_defaults(values, set(merged))

    def dynamic(self) -> Dynamic:
        """What `set_dynamic` replaces; `put_dynamic` puts it back as it is."""
        return Dynamic(self.dynamic_broker, self.dynamic_default, self._values, self.log_defaults)

    def put_dynamic(self, dynamic: Dynamic) -> None:
        """Go on with what `dynamic` gave before."""
        self.dynamic_broker, self.dynamic_default, self._values, self.log_defaults = dynamic

    def _may_be_infinite(self, name: str, typed: Any) -> bool:
        return name == _INFINITE_RETENTION and typed == -1 and self.profile.infinite_retention_allowed


def _is_slip_of_listener(name: str) -> bool:
    """Whether a listener's entry is none of Kafka's, as one mistyped. What a plug-in may read is not known here."""
    override = _LISTENER_OVERRIDE.fullmatch(name)
    # the names of SASL have their mechanism in front: plain.sasl.jaas.config
    if override is None or override[1] in BROKER or override[1].partition(".")[2] in BROKER:
        return False
    from .mistyped import slip

    return slip(name)


_DEFAULTS: Final = {name: row[1] for name, row in BROKER.items()}
_LISTS: Final = tuple(name for name, default in _DEFAULTS.items() if type(default) is tuple)


def _defaults() -> dict[str, Any]:
    values = dict(_DEFAULTS)
    for name in _LISTS:  # each configuration has its own
        values[name] = list(values[name])
    return values


def _stub_defaults_beside(given: Mapping[str, object]) -> dict[str, object]:
    """The stub's own defaults, without those that would shadow a synonym that the user gave."""
    own: dict[str, object] = {name: text for name, text in STUB_DEFAULTS.items() if name not in given}
    if "broker.id" in given and "node.id" not in given:
        own["node.id"] = given["broker.id"]
    if any(name in given for name in synonyms("log.retention.ms")):
        own.pop("log.retention.ms", None)
    return own


def _accepted(name: str, row: Row, value: object, profile: Profile) -> Any:
    """The typed value. Raises ConfigError."""
    infinite = name == _INFINITE_RETENTION and profile.infinite_retention_allowed
    try:
        typed = definition.parse(name, row, value)
        if not (infinite and typed == -1):
            definition.check(name, row, typed)
    except InvalidValue:
        rule = definition.allowed(row)
        if name == _INFINITE_RETENTION:
            rule += " (or -1: offsets never expire)" if infinite else " (-1 is for the profile kips)"
        raise ConfigError(f"{name}={_shown(name, value)} is refused: allowed is {rule}") from None
    return typed


def _shown(name: str, value: object) -> str:
    """A value fit to be printed: nothing of a password, nor of what a listener's override may hide."""
    override = _LISTENER_OVERRIDE.fullmatch(name)
    row = BROKER.get(name) or OWN.get(name) or (BROKER.get(override[1].rpartition(".")[2]) if override else None)
    if (row is not None and row[0] == "password") or override or name.startswith(_KNOWN_PREFIXES):
        return "[hidden]"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _log_defaults(values: Mapping[str, Any], given: set[str]) -> dict[str, Any]:
    """What a topic has without overrides (``KafkaConfig.extractLogConfigMap``)."""
    result: dict[str, Any] = {name: row[1] for name, row in TOPIC.items()}
    for topic_name, sources in TOPIC_SYNONYMS.items():
        for name, factor in sources:
            value = values[name]
            if value is not None:
                result[topic_name] = value * factor if factor != 1 else value
                break
    if result["retention.ms"] < 0:
        result["retention.ms"] = -1
    for name, value in result.items():
        if type(value) is tuple:
            result[name] = list(value)
    for name in later_than(values["kafkastub.as.version"]):
        result.pop(name, None)
    return result


def _check_together(values: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """The rules beyond ConfigDef (Kafka: ``KafkaConfig.validateValues``, ``GroupCoordinatorConfig``)."""

    def refuse(name: str, rule: str) -> None:
        raise ConfigError(f"{name}={_shown(name, values[name])} is refused: {rule}")

    if "broker.id" in given and int(given["broker.id"]) != values["node.id"]:
        raise ConfigError(f"broker.id={given['broker.id']} is refused: it must equal node.id={values['node.id']}")
    for name in ("log.roll.ms", "log.retention.ms", "log.retention.minutes", "log.retention.hours"):
        if values[name] == 0 or (name == "log.roll.ms" and values[name] is not None and values[name] < 1):
            refuse(
                name,
                "allowed is a whole number, at least 1" + ("" if "roll" in name else " (or -1: unlimited)"),
            )
    if values["log.roll.jitter.ms"] is not None and values["log.roll.jitter.ms"] < 0:
        refuse("log.roll.jitter.ms", "allowed is a whole number, at least 0")
    for name in ("offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec"):
        if values[name] not in range(5):
            refuse(name, "allowed are 0 (none), 1 (gzip), 2 (snappy), 3 (lz4) and 4 (zstd)")
    if values["log.cleaner.dedupe.buffer.size"] // values["log.cleaner.threads"] <= 1 << 20:
        refuse(
            "log.cleaner.dedupe.buffer.size",
            "allowed is more than 1048576 bytes for each of log.cleaner.threads",
        )
    for name in ("replica.socket.timeout.ms", "replica.lag.time.max.ms"):
        if values["replica.fetch.wait.max.ms"] > values[name]:
            refuse("replica.fetch.wait.max.ms", f"it must not exceed {name}={values[name]}")
    if values["max.connections.per.ip"] == 0 and not values["max.connections.per.ip.overrides"]:
        refuse("max.connections.per.ip", "0 is allowed only together with max.connections.per.ip.overrides")
    if "classic" not in values["group.coordinator.rebalance.protocols"]:
        refuse("group.coordinator.rebalance.protocols", "the protocol classic can't be disabled")
    if problem := wrongly_cordoned(values):
        refuse(CORDONED, problem[0].lower() + problem[1:])
    assignor_names(values[ASSIGNORS])
    for kind in _WITH_EPOCHS:
        _check_group_timeouts(values, kind, refuse)
    _check_share_groups(values, refuse)


def _clamp_assignment_intervals(values: dict[str, Any]) -> None:
    """One that was set while the broker ran counts as the bound where it is past it: the bounds are of this start.

    Kafka: GroupCoordinatorConfig.clampDynamicConfigs.
    """
    for kind in _WITH_EPOCHS:
        name, low, high = _bounded(kind, "assignment.interval")
        values[name] = min(max(values[name], values[low]), values[high])


def _bounded(kind: str, what: str) -> tuple[str, str, str]:
    """The name, and the names of its bounds."""
    return f"group.{kind}.{what}.ms", f"group.{kind}.min.{what}.ms", f"group.{kind}.max.{what}.ms"


def _check_group_timeouts(values: Mapping[str, Any], kind: str, refuse: Any) -> None:
    for timeout in ("heartbeat.interval", "session.timeout", "assignment.interval"):
        name, low, high = _bounded(kind, timeout)
        if not values[low] <= values[name] <= values[high]:
            refuse(name, f"it must lie between {low}={values[low]} and {high}={values[high]}")
    heartbeat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
    if values[heartbeat] >= values[session]:
        refuse(heartbeat, f"it must be less than {session}={values[session]}")


def _check_share_groups(values: Mapping[str, Any], refuse: Any) -> None:
    """Kafka: ShareGroupConfig, GroupCoordinatorConfig.verifyShareGroupConfigs."""
    if len(values[_SHARE_ASSIGNORS]) != 1 or values[_SHARE_ASSIGNORS][0] not in _SIMPLE:
        refuse(_SHARE_ASSIGNORS, "allowed is simple (no other class can be loaded)")
    for what in ("delivery.count.limit", "partition.max.record.locks", "record.lock.duration.ms"):
        name, low, high = f"group.share.{what}", f"group.share.min.{what}", f"group.share.max.{what}"
        if not values[low] <= values[name] <= values[high]:
            refuse(name, f"it must lie between {low}={values[low]} and {high}={values[high]}")
    if values["group.share.max.share.sessions"] < values["group.share.max.size"]:
        least = values["group.share.max.size"]
        refuse("group.share.max.share.sessions", f"it must be at least group.share.max.size={least}")
