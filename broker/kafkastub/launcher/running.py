"""One stub of a launcher: a broker with its control port, on the loop that all of them share.

One loop for all costs nobody a change of threads; no request holds it for more than some milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkastub.config import BrokerConfig, ConfigError, Listeners, Profile, load_properties, plan_listeners
from kafkastub.control.hosted import Hosted
from kafkastub.control.port import ControlPort
from kafkastub.control.problems import Problem
from kafkastub.control.serving import MissingExtra
from kafkastub.faults import FaultError, FaultRule
from kafkastub.journal.ring import DEFAULT_ENTRIES, MOST_ENTRIES, Ring
from kafkastub.server.broker import Broker
from kafkastub.server.node_listener import ListenError
from kafkastub.storage import DataDirError
from kafkastub.stub import arguments
from kafkastub.stub.chaos import StubChaos
from kafkastub.stub.clock import StubClock
from kafkastub.stub.faults import StubFaults
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.faults import Chaos, PlayedChaos
    from kafkastub.launcher.options import StubOptions
    from kafkastub.registry_port.port import RegistryPort
    from kafkastub.state.snapshots.saved import SavedState


class Plan(NamedTuple):
    """What was asked for, checked: nothing of it is open yet."""

    config: BrokerConfig
    listeners: Listeners
    topics: dict[str, int]
    nodes: tuple[int, list[str]]
    snapshot: SavedState | None
    rules: list[FaultRule]
    chaos: Callable[[], Chaos | PlayedChaos] | None
    ring: Ring | None
    control_names: tuple[str, ...]
    control_token: str | None
    registry_at: tuple[str, int] | None


def plan(options: StubOptions) -> Plan:
    """Raises Problem, which names the field."""
    try:
        return _plan(options)
    except (ValueError, TypeError, FaultError, OSError) as error:  # ConfigError is a ValueError
        raise Problem(400, str(error)) from None
    except KafkaError as error:
        raise Problem(400, error.message or error.code.name, error.code.name) from None


def _plan(options: StubOptions) -> Plan:
    settings: dict[str, object] = {}
    if options.config_file is not None:
        try:
            settings.update(load_properties(options.config_file))
        except ConfigError as error:
            raise ValueError(f"config_file: {error}") from None
    settings.update(options.config)
    if options.as_version is not None:
        settings["kafkastub.as.version"] = options.as_version
    host, port = options.host, options.port
    if options.users is not None:
        settings, host, port = arguments.with_users(options.users, settings, host, port), None, None
    config = BrokerConfig(settings, Profile.named(options.profile))
    snapshot = _snapshot(options.snapshot, config)
    if snapshot is not None and snapshot.properties:
        from kafkastub.state.snapshots.configured import configured

        config = configured(snapshot, settings, options.profile)
    for name in config.unknown:
        from kafkastub.config.mistyped import refusal

        if (why := refusal(name)) is not None:
            raise ConfigError(why)
    return Plan(
        config,
        plan_listeners(config, host, port, options.advertised),
        arguments.topics(options.topics),
        arguments.nodes(options.nodes, options.racks),
        snapshot,
        [_rule(number, given) for number, given in enumerate(options.faults)],
        None if options.chaos is None else arguments.chaos(options.chaos, options.chaos_level),
        _ring(options),
        arguments.names(options.control_allowed_hosts, "control_allowed_hosts"),
        _token(options.control_token),
        arguments.registry(
            options.registry or options.registry_port is not None, options.registry_host, options.registry_port
        ),
    )


def _token(given: str | None) -> str | None:
    """It is a secret: what is wrong with it is told without it."""
    if given is None:
        return None
    from kafkastub.control.keys import checked_token

    try:
        return checked_token(given)
    except ValueError as error:
        raise ValueError(f"control_token is refused: {error}") from None


def _rule(number: int, given: dict[str, Any]) -> FaultRule:
    try:
        FaultRule.check_size(given)
        return FaultRule.from_dict(given)
    except FaultError as error:
        raise ValueError(f"faults.{number}: {error}") from None


def _ring(options: StubOptions) -> Ring | None:
    if options.journal is False:
        if options.check:
            raise ValueError("check=true reads the journal: leave journal=false out")
        return None
    entries = DEFAULT_ENTRIES if options.journal_entries is None else options.journal_entries
    if not 1 <= entries <= MOST_ENTRIES:
        raise ValueError(f"journal_entries={entries} is refused: 1 to {MOST_ENTRIES} is allowed")
    return Ring.of(entries)


def _snapshot(file: str | None, config: BrokerConfig) -> SavedState | None:
    if file is None:
        return None
    from kafkastub.state.snapshots.files import read_path
    from kafkastub.state.snapshots.holding import OF_OWN

    try:
        return read_path(file, config, OF_OWN)
    except OSError as error:
        raise ValueError(f"snapshot={file!r} cannot be read: {error.strerror}") from None


class RunningStub:
    """A broker with its ports. All of it runs in the thread of the launcher's loop."""

    def __init__(self, options: StubOptions, token: str, log: Any) -> None:
        """`token` is what changes at its control port need where the options have none. Raises Problem."""
        self.options = options
        self._plan = plan(options)
        self.token = self._plan.control_token or token
        self._log = log
        self._hosted = Hosted(
            self._plan.config,
            self._plan.topics,
            clock=StubClock,
            faults=StubFaults,
            chaos=self._with_chaos,
            rules=self._plan.rules,
            ring=self._plan.ring,
            replaced=self._begin_chaos,
        )
        self._control: ControlPort | None = None
        self._registry: RegistryPort | None = None

    def _with_chaos(self, hosted: Hosted) -> StubChaos:
        self._chaos = StubChaos(hosted)
        return self._chaos

    @property
    def broker(self) -> Broker:
        """The one that runs now: a reset puts another in its place. Raises Problem before there is one."""
        return self._hosted.running()

    @property
    def control_url(self) -> str | None:
        return None if self._control is None else self._control.url

    @property
    def registry_url(self) -> str | None:
        return None if self._registry is None else self._registry.url

    async def start(self) -> None:
        """Answer on all ports. Raises Problem; then nothing of it is open."""
        try:
            await self._start()
        except (ListenError, DataDirError) as error:
            raise Problem(409, str(error)) from None
        except KafkaError as error:
            raise Problem(400, error.message or error.code.name, error.code.name) from None
        except MissingExtra as error:
            raise Problem(501, str(error)) from None
        except (ValueError, FaultError) as error:  # of a snapshot that does not fit, a rule that can never match
            raise Problem(400, str(error)) from None

    async def _start(self) -> None:
        plan = self._plan
        broker = Broker(plan.config, self._log, data_dir=self.options.data_dir)
        await broker.start(plan.listeners, plan.topics, *plan.nodes, plan.snapshot)
        try:
            self._keep_journal(broker)
            self._hosted.opened(broker)
            if self.options.check:
                self._hosted.follower()
            self._begin_chaos(broker)
            at = self.options.control_host, self.options.control_port
            self._control = ControlPort(self._hosted, self._log, *at, plan.control_names, self.token)
            await self._control.open()
            await self._open_registry()
        except BaseException:
            await self._close_ports()
            await broker.stop()
            raise

    def _keep_journal(self, broker: Broker) -> None:
        if self._plan.ring is None or isinstance(self.options.journal, bool):
            return
        try:
            broker.keep_journal(self._plan.ring, self.options.journal)
        except OSError as error:
            raise ValueError(f"journal={self.options.journal!r} is refused: {error}") from None

    def _begin_chaos(self, broker: Broker) -> None:
        if self._plan.chaos is not None:
            self._chaos.begin(broker, self._plan.chaos())

    async def _open_registry(self) -> None:
        if self._plan.registry_at is None:
            return
        from kafkastub.registry.errors import RegistryError
        from kafkastub.registry_port.kept import KeptRegistry
        from kafkastub.registry_port.port import RegistryPort

        kept = KeptRegistry(self._hosted.running)
        self._registry = RegistryPort(kept, self._log, *self._plan.registry_at, self._plan.control_names)
        try:
            await self._registry.open()
        except RegistryError as error:
            self._registry = None
            raise ValueError(error.message) from None
        from kafkastub.registry_port.schema_lookup import SchemaLookup

        self._hosted.schemas = SchemaLookup(kept)

    async def _close_ports(self) -> None:
        registry, self._registry = self._registry, None
        if registry is not None:
            await registry.close()
        control, self._control = self._control, None
        if control is not None:
            await control.close()

    async def close(self) -> None:
        """Nothing of it is left on the loop."""
        await self._close_ports()
        await self.broker.stop()
