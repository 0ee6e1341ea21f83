"""The configuration of a test's broker: command-line options and ini entries, and the marker, which overrides them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from kafkastub import KafkaStub

MARKER = "kafka_stub"

FOR_TESTS: dict[str, object] = {"group.initial.rebalance.delay.ms": 0}
"""Kafka delays the first rebalance of a new group by 3 s, which would be most of a test's time."""
QUICK_HEARTBEATS: dict[str, dict[str, object]] = {
    f"group.{kind}.": {
        f"group.{kind}.min.heartbeat.interval.ms": 100,
        f"group.{kind}.heartbeat.interval.ms": 100,
        f"group.{kind}.assignment.interval.ms": 0,
    }
    for kind in ("consumer", "share", "streams")
}
"""By default, members of consumer groups (KIP-848), share groups (KIP-932) and streams groups (KIP-1071) send a
heartbeat every five seconds, and learn of changes only in the answers.
"""
QUICK_HEARTBEATS["group.streams."]["group.streams.initial.rebalance.delay.ms"] = 0
"""By default, a new streams group waits 3 s for more members."""


LEAST_RUNS: Final = 9
"""Of a test that is made smaller: three times it is played before and behind."""
_LONGEST_SHRINKING: Final = 86_400.0


@dataclass(frozen=True)
class Wanted:
    """The configuration of a broker from options and markers. None is the default of `KafkaStub`."""

    topics: Mapping[str, int] = field(default_factory=dict)
    """Names with numbers of partitions."""
    config: Mapping[str, object] = field(default_factory=dict)
    """Kafka's broker configuration."""
    retention_minutes: int | None = None
    """`offsets.retention.minutes`."""
    profile: str | None = None
    as_version: str | None = None
    nodes: int | None = None
    chaos: Any = None
    """A seed; several seeds, with one run of the test each; a list of `ChaosAct`; or the name of a scenario."""
    chaos_level: int = 1
    check: Any = None
    """Whether a test fails if `stub.check()` has findings: True, or names of guarantees."""
    partitions: int = 1
    """Partitions of the topic that the fixture `kafka_topic` creates."""
    own: bool = False
    """Whether `topics` get names that begin with `kafka_prefix`."""
    registry: bool = False
    """Whether the broker has a schema registry. The fixture `kafka_registry_url` starts one, too."""
    restore: bool = False
    """Whether the state of `kafka_stub_server` before the test is restored after it."""

    def narrowed(self, markers: Iterable[pytest.Mark]) -> Wanted:
        """Return it with the keywords of markers, of which the closest to the test win. Raises pytest.UsageError."""
        known = [each.name for each in fields(self)]
        wanted = self
        for marker in reversed(list(markers)):
            for name in marker.kwargs:
                if name not in known:
                    raise pytest.UsageError(
                        f"@pytest.mark.kafka_stub has no {name}=; it has {', '.join(known)}{_hint(name)}"
                    )
            if marker.args:
                raise pytest.UsageError("@pytest.mark.kafka_stub takes keywords only, for example topics={'orders': 3}")
            said = {name: value for name, value in marker.kwargs.items() if value is not None}
            if "topics" in said:
                said["topics"] = {**wanted.topics, **as_topics(said["topics"])}
            if "config" in said:
                if not isinstance(said["config"], Mapping):
                    raise pytest.UsageError(
                        f"@pytest.mark.kafka_stub(config={said['config']!r}): expected names with their values, "
                        "{'group.max.size': 2}"
                    )
                said["config"] = {**wanted.config, **said["config"]}
            wanted = replace(wanted, **said)
        return wanted

    @property
    def particular(self) -> list[str]:
        """The names of the keywords that are set and that need a stub."""
        plain = Wanted()
        return [
            name
            for name in (
                "config",
                "retention_minutes",
                "profile",
                "as_version",
                "nodes",
                "chaos",
                "chaos_level",
                "check",
                "restore",
            )
            if getattr(self, name) != getattr(plain, name)
        ]

    def stub(self, **arguments: Any) -> KafkaStub:
        """Return a stub with this configuration, not started. `arguments` are those of KafkaStub and override it."""
        from kafkastub import KafkaStub

        own = arguments.get("config") or {}
        if self.check and arguments.get("journal") is not False:
            arguments = {"check": True, **arguments}
        config = {**FOR_TESTS, **self.config}
        for beginning, quick in QUICK_HEARTBEATS.items():
            if not any(name.startswith(beginning) for name in (*self.config, *own)):  # the intervals have bounds
                config |= quick
        if self.retention_minutes is not None:
            config["offsets.retention.minutes"] = self.retention_minutes
        said: dict[str, Any] = {"topics": self.topics}
        said |= {
            name: getattr(self, name) for name in ("profile", "as_version", "nodes") if getattr(self, name) is not None
        }
        if self.registry:
            said["registry"] = True
        return KafkaStub(**{**said, **arguments, "config": {**config, **own}})


def add_options(parser: pytest.Parser) -> None:
    """Add the command-line options and the ini entries."""
    group = parser.getgroup("kafkastub", "a Kafka broker for tests")
    group.addoption(
        "--kafka-stub-profile",
        choices=["kips", "kafka"],
        help="behaviour of the broker: as the KIPs say, or as released Kafka (default kips)",
    )
    group.addoption(
        "--kafka-stub-retention-minutes",
        type=int,
        metavar="N",
        help="offset retention in minutes (offsets.retention.minutes)",
    )
    group.addoption(
        "--kafka-stub-as-version", metavar="RELEASE", help="serve only the APIs of this release of Apache Kafka"
    )
    group.addoption(
        "--kafka-stub-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="Kafka's broker configuration; may be given several times",
    )
    group.addoption(
        "--kafka-stub-chaos-seed",
        metavar="SEED[:LEVEL]",
        help="run every test that uses kafka_stub under this chaos, whatever its markers say (docs/chaos.md)",
    )
    group.addoption(
        "--kafka-stub-shrink",
        action="store_true",
        help="repeat a test that fails under chaos with fewer and simpler acts, and print the smallest list that still "
        "makes it fail as a test file (docs/chaos.md)",
    )
    group.addoption(
        "--kafka-stub-shrink-runs",
        type=int,
        default=200,
        metavar="N",
        help="limit of runs for each such test (default 200)",
    )
    group.addoption(
        "--kafka-stub-shrink-seconds",
        type=float,
        default=300.0,
        metavar="S",
        help="limit of seconds for each such test (default 300)",
    )
    group.addoption(
        "--kafka-stub-bootstrap",
        metavar="HOST:PORT",
        help="run the tests through a proxy in front of this cluster (default $KAFKA_STUB_BOOTSTRAP), and skip tests "
        "that need the stub",
    )
    group.addoption(
        "--kafka-stub-command-config",
        metavar="FILE",
        help="properties file of a client of that cluster, for TLS and the proxy's own login "
        "(default $KAFKA_STUB_COMMAND_CONFIG)",
    )
    group.addoption(
        "--kafka-stub-report",
        metavar="DIR",
        help="write an HTML page to DIR for each failed test that used a stub, with all data of "
        "the stub (docs/pytest.md)",
    )
    parser.addini("kafka_stub_profile", "behaviour of the broker: kips or kafka (default kips)")
    parser.addini("kafka_stub_retention_minutes", "offset retention in minutes (offsets.retention.minutes)")
    parser.addini("kafka_stub_as_version", "serve only the APIs of this release of Apache Kafka")
    parser.addini("kafka_stub_config", "Kafka's broker configuration, one KEY=VALUE per line", type="linelist")
    parser.addini(
        "kafka_stub_check", "fail tests that break guarantees: true for the usual ones, or names of guarantees"
    )
    parser.addini(
        "kafka_stub_journal_lines", "number of requests shown with a failed test, 0 for none (default 20)", default="20"
    )


def real_cluster(config: pytest.Config) -> str | None:
    """Return HOST:PORT of the cluster that replaces the stub, None without one."""
    given: str | None = config.getoption("--kafka-stub-bootstrap") or os.environ.get("KAFKA_STUB_BOOTSTRAP")
    for address in given.split(",") if given else ():
        host, _, port = address.strip().rpartition(":")
        if not (host and port.isascii() and port.isdigit()):
            raise pytest.UsageError(
                f"--kafka-stub-bootstrap or KAFKA_STUB_BOOTSTRAP: {given!r} is not an address: expected HOST:PORT"
            )
    return given or None


def command_config(config: pytest.Config) -> str | None:
    """Return the path of the properties file for connections to that cluster."""
    return config.getoption("--kafka-stub-command-config") or os.environ.get("KAFKA_STUB_COMMAND_CONFIG") or None


def shrinking(config: pytest.Config) -> tuple[int, float] | None:
    """Return the limits of runs and seconds; None without `--kafka-stub-shrink`. Raises pytest.UsageError."""
    if not config.getoption("--kafka-stub-shrink"):
        return None
    runs, seconds = config.getoption("--kafka-stub-shrink-runs"), config.getoption("--kafka-stub-shrink-seconds")
    if runs < LEAST_RUNS:
        raise pytest.UsageError(f"--kafka-stub-shrink-runs={runs} is refused: it must be {LEAST_RUNS} or more")
    if not 0 < seconds <= _LONGEST_SHRINKING:
        bounds = f"more than 0, and {_LONGEST_SHRINKING:.0f} at most"
        raise pytest.UsageError(f"--kafka-stub-shrink-seconds={seconds:g} is refused: it must be {bounds}")
    if config.getoption("usepdb", False):
        raise pytest.UsageError("--kafka-stub-shrink is refused with --pdb: the debugger would stop every run")
    return runs, seconds


def registry_url() -> str | None:
    """Return the URL of that cluster's schema registry."""
    return os.environ.get("KAFKA_STUB_REGISTRY_URL") or None


def journal_lines(config: pytest.Config) -> int:
    """Return the number of requests that a failure shows. Raises pytest.UsageError."""
    given = str(config.getini("kafka_stub_journal_lines")).strip()
    if not (given.isascii() and given.isdigit()):
        raise pytest.UsageError(f"kafka_stub_journal_lines = {given}: expected a number of requests, 0 for none")
    return int(given)


def guarantees(said: Any) -> tuple[str, ...] | None:
    """Return the guarantees that a test is checked for: empty for the usual ones, None without a check.

    Raises pytest.UsageError.
    """
    if said is None or isinstance(said, bool):
        return () if said else None
    from kafkastub.guarantees.catalog import chosen

    names = (said,) if isinstance(said, str) else said
    try:
        chosen(names)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"@pytest.mark.kafka_stub(check={said!r}): True, or names; {error}") from None
    return tuple(names)


def _check_by_ini(config: pytest.Config) -> Any:
    said = str(config.getini("kafka_stub_check")).strip()
    if said.lower() in ("", "false", "true"):
        return said.lower() == "true" or None
    return said.replace(",", " ").split()


def wanted_by_options(config: pytest.Config) -> Wanted:
    """Return the configuration from command line and ini entries. Raises pytest.UsageError."""
    minutes = _option(config, "retention_minutes")
    try:
        retention = None if minutes is None else int(minutes)
    except ValueError:
        raise pytest.UsageError(f"kafka_stub_retention_minutes = {minutes}: expected a number of minutes") from None
    entries = [*config.getini("kafka_stub_config"), *config.getoption("--kafka-stub-config")]
    return Wanted(
        config=dict(map(_entry, entries)),
        retention_minutes=retention,
        profile=_option(config, "profile"),
        as_version=_option(config, "as_version"),
        check=_check_by_ini(config),
    )


def wanted_by_marker(node: pytest.Item) -> Wanted:
    """Return the configuration from options and the markers of a test. Raises pytest.UsageError."""
    return wanted_by_options(node.config).narrowed(node.iter_markers(MARKER))


@dataclass(frozen=True)
class Trouble:
    """The chaos of a test: a seed and a level, or acts."""

    seed: int = 0
    level: int = 1
    acts: tuple[Any, ...] | None = None
    """In the place of a seed: `ChaosAct`s."""
    name: str = "acts"
    """Of the acts: the scenario that they are."""

    @property
    def id(self) -> str:
        """The part of the test's id that names the chaos."""
        if self.acts is not None:
            return f"chaos-{self.name}"
        return f"chaos-{self.seed}" + (f":{self.level}" if self.level != 1 else "")

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `KafkaStub`, or of a proxy, for this chaos."""
        return {"chaos": self.acts} if self.acts is not None else {"chaos": self.seed, "chaos_level": self.level}


def troubles(config: pytest.Config, markers: Iterable[pytest.Mark]) -> list[Trouble] | None:
    """Return each chaos that a test runs with, one after the other. Raises pytest.UsageError."""
    given = config.getoption("--kafka-stub-chaos-seed")
    if given is not None:
        seed, colon, level = given.partition(":")
        if not seed.isdigit() or (colon and not level.isdigit()):
            raise pytest.UsageError(f"--kafka-stub-chaos-seed {given}: expected a seed, or SEED:LEVEL")
        return [Trouble(int(seed), int(level or 1))]
    wanted = Wanted().narrowed(markers)
    if wanted.chaos is None:
        return None
    if isinstance(wanted.chaos, str):
        return [_scenario(wanted.chaos)]
    several = [wanted.chaos] if isinstance(wanted.chaos, int) else list(wanted.chaos)
    if several and "kafkastub.faults.acts" in sys.modules and _has_acts(several):
        return [Trouble(acts=tuple(several))]
    if not several or not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in several):
        raise pytest.UsageError(
            f"@pytest.mark.kafka_stub(chaos={wanted.chaos!r}): expected a seed, or several: range(20); or a list of "
            "ChaosAct, or a scenario's name"
        )
    return [Trouble(seed, wanted.chaos_level) for seed in several]


def _scenario(name: str) -> Trouble:
    """Raises pytest.UsageError where there is none of that name."""
    from kafkastub.faults import FaultError, scenario_acts

    try:
        return Trouble(acts=scenario_acts(name), name=name)
    except FaultError as error:
        raise pytest.UsageError(f"@pytest.mark.kafka_stub(…): {error}") from None


def _has_acts(several: list[Any]) -> bool:
    """Whether it is a list of acts. Raises pytest.UsageError for one with others in it."""
    from kafkastub.faults import ChaosAct, FaultError
    from kafkastub.faults.acts import acts_of

    if not any(isinstance(one, ChaosAct) for one in several):
        return False
    try:
        acts_of(several)
    except FaultError as error:
        raise pytest.UsageError(f"@pytest.mark.kafka_stub(chaos=[…]): {error}") from None
    return True


_OF_ONE_BROKER: Final = frozenset({"nodes", "chaos", "chaos_level", "check"})
"""Keywords that no option says of `kafka_stub_server`."""


def check_shared(marked: Wanted) -> None:
    """Raise pytest.UsageError for keywords of a marker that do not apply to a broker that all tests share."""
    for name in marked.particular:
        if name == "restore":
            continue
        option = f"--kafka-stub-{name.replace('_', '-')}"
        instead = "" if name in _OF_ONE_BROKER else f", or say it for all tests with {option}"
        raise pytest.UsageError(
            f"@pytest.mark.kafka_stub({name}=…) cannot change kafka_stub_server, which all tests share: "
            f"take kafka_stub{instead}"
        )


def _hint(name: str) -> str:
    """What to do instead of a keyword that the marker does not have."""
    import difflib
    import inspect

    from kafkastub import KafkaStub

    found = difflib.get_close_matches(name, [each.name for each in fields(Wanted)], n=1)
    if found:
        return f"; is {found[0]} meant?"
    if name in inspect.signature(KafkaStub.__init__).parameters:
        return f"; a broker with {name}= is made by the fixture kafka_stub_factory, or by KafkaStub({name}=…)"
    return ""


def _option(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"--kafka-stub-{name.replace('_', '-')}")
    return given if given is not None else config.getini(f"kafka_stub_{name}") or None


def _entry(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        # What follows the name may be a password.
        raise pytest.UsageError(f"kafka_stub_config {text.partition(' ')[0]!r}: expected KEY=VALUE")
    return key.strip(), value.strip()


def as_topics(topics: Any) -> Mapping[str, int]:
    """Return a mapping unchanged, and a list of names as topics of one partition."""
    if isinstance(topics, Mapping):
        return topics
    if not isinstance(topics, list | tuple | set | frozenset) or not all(isinstance(name, str) for name in topics):
        raise pytest.UsageError(
            f"@pytest.mark.kafka_stub(topics={topics!r}): expected names with their partitions, {{'orders': 3}}, "
            "or a list of names"
        )
    return dict.fromkeys(topics, 1)
