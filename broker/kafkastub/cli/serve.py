"""`kafkastub serve`: a broker as a process."""

from __future__ import annotations

import argparse
import asyncio
import signal
from typing import TYPE_CHECKING

from kafkastub.cli.common import refuse
from kafkastub.cli.serving import (
    Refused,
    add_end_option,
    add_log_options,
    add_watching_options,
    end_with_standard_input,
    host,
    is_number,
    load_control,
    load_registry,
    port,
    ring_of,
    rules_of,
    say,
)

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.config import BrokerConfig, Listeners
    from kafkastub.control.hosted import Hosted
    from kafkastub.control.port import ControlPort
    from kafkastub.faults import FaultRule
    from kafkastub.registry_port.port import RegistryPort
    from kafkastub.server.broker import Broker
    from kafkastub.state.snapshots.saved import SavedState

_SETTLED_SECONDS = 1.0
"""After that long nobody waits for the broker to start."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    serve = commands.add_parser(
        "serve",
        help="run a broker until SIGTERM or SIGINT",
        description="Run a broker until SIGTERM or SIGINT. One line on standard output says when it is ready.",
    )
    serve.set_defaults(run=_serve)
    serve.add_argument("--host", type=host, help="address to listen on, 0.0.0.0 for all addresses (default 127.0.0.1)")
    serve.add_argument("--port", type=port, help="port to listen on, 0 for any free port (default 9092)")
    serve.add_argument(
        "--advertised", metavar="HOST:PORT", help="address that clients connect to; also NAME://HOST:PORT,…"
    )
    serve.add_argument("--nodes", type=_nodes, default=1, metavar="N", help="number of nodes, 1 to 100 (default 1)")
    serve.add_argument("--racks", nargs="+", default=[], metavar="RACK", help="racks of the nodes, assigned in turn")
    serve.add_argument(
        "--config",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="Kafka's broker configuration; overrides --config-file",
    )
    serve.add_argument("--config-file", metavar="FILE", help="server.properties file")
    serve.add_argument(
        "--profile",
        choices=["kips", "kafka"],
        default="kips",
        help="behave as the KIPs say, or as Kafka 4.x (default %(default)s)",
    )
    serve.add_argument(
        "--topic",
        metavar="NAME:PARTITIONS",
        nargs="+",
        action="extend",
        default=[],
        help="create topics before the broker is ready",
    )
    serve.add_argument(
        "--as-version",
        metavar="RELEASE",
        help="advertise and accept only the APIs of this Apache Kafka release, 2.1 to 4.4 (docs/as-version.md)",
    )
    serve.add_argument(
        "--data-dir",
        type=_data_dir,
        metavar="DIR",
        help="keep all data in DIR for the next run; see kafkastub.flush in --config",
    )
    serve.add_argument(
        "--snapshot",
        metavar="FILE",
        help="start from this snapshot (`kafkastub snapshot save`, or of a cluster `take --from`), unless --data-dir "
        "already has data",
    )
    add_watching_options(serve)
    serve.add_argument(
        "--registry-port",
        type=port,
        metavar="PORT",
        help="serve a schema registry on this port, 0 for any free port (default: no registry; docs/registry.md)",
    )
    serve.add_argument(
        "--registry-host",
        type=host,
        default="127.0.0.1",
        metavar="HOST",
        help="address of the schema registry, 0.0.0.0 for all addresses (default %(default)s); "
        "--control-allowed-hosts applies to it, too",
    )
    add_end_option(serve)
    add_log_options(serve)


def _nodes(text: str) -> int:
    if not is_number(text) or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of nodes: 1 to 100 is allowed")
    return int(text)


def _check_racks(nodes: int, racks: list[str]) -> None:
    """Raises ValueError for more racks than nodes."""
    if racks:
        from kafkastub.stub import arguments as stub_arguments

        stub_arguments.nodes(nodes, racks, "--")


def _data_dir(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty: name a folder, or leave the option out to keep nothing")
    return text


def _serve(arguments: argparse.Namespace) -> int:
    from kafkastub.config import BrokerConfig, ConfigError, Profile
    from kafkastub.server.collector import spare_large_states
    from kafkastub.server.descriptors import raise_limit
    from kafkastub.server.loops import new_event_loop
    from kafkastub.server.server import ListenError
    from kafkastub.storage import DataDirError
    from kafkawire.errors import KafkaError

    try:
        given = overrides(arguments)
        config = BrokerConfig(given, Profile.named(arguments.profile))
        snapshot = _snapshot(arguments.snapshot, config)
        if snapshot is not None and snapshot.properties:
            from kafkastub.state.snapshots.configured import configured

            config = configured(snapshot, given, arguments.profile)
        topics = named_topics(arguments.topic)
        _check_racks(arguments.nodes, arguments.racks)
        listeners = _listeners(arguments, config)
        rules = rules_of(arguments.faults)
        load_control(arguments.control_port)
        load_registry(arguments.registry_port)
    except (ConfigError, ValueError) as error:
        return refuse(str(error))
    raise_limit()
    loop = new_event_loop()
    spare_large_states(loop.call_soon_threadsafe)
    try:
        loop.run_until_complete(_run(arguments, config, topics, listeners, rules, snapshot))
    except KafkaError as error:
        return refuse(error.message or error.code.name)
    except (ConfigError, ListenError, DataDirError, Refused) as error:
        return refuse(str(error))
    except ValueError as error:
        if snapshot is None:
            raise
        return refuse(str(error))
    finally:
        loop.close()
    return 0


async def _run(
    arguments: argparse.Namespace,
    config: BrokerConfig,
    topics: dict[str, int],
    listeners: Listeners,
    rules: list[FaultRule],
    snapshot: SavedState | None,
) -> None:
    from kafkastub.config.listeners import LISTENERS
    from kafkastub.server.broker import Broker
    from kafkastub.server.logs import process_logger

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if arguments.exit_with_stdin:
        end_with_standard_input(stop.set)
    log = process_logger(arguments.log_format, arguments.log_level)
    hosted = _hosted(arguments, config, topics, rules)
    broker = Broker(config, log, data_dir=arguments.data_dir)
    await broker.start(listeners, topics, arguments.nodes, arguments.racks, snapshot, loads_later=True)
    control = registry = None
    try:
        control = await _equip(arguments, broker, rules, hosted)
        registry = await _registry(arguments, broker, hosted)
    except BaseException:
        if control is not None:
            await control.close()
        await broker.stop()
        raise
    if listeners.plain and LISTENERS in config.static:
        log.warning(
            f"{LISTENERS} of the file is not used: --host and --port of the command line win",
            file=arguments.config_file,
        )
    say(f"kafkastub ready on {broker.bound} (profile {config.profile.name})")
    if control is not None:
        say(f"kafkastub control port on {control.url}")
    if registry is not None:
        say(f"kafkastub schema registry on {registry.url}")
    from kafkastub.server.memory import give_back, keep_freed_memory

    broker.when_much_is_freed(give_back)
    broker.load_rest()
    loop.call_later(_SETTLED_SECONDS, keep_freed_memory)
    await stop.wait()
    if registry is not None:
        await registry.close()
    if control is not None:
        await control.close()
    await (broker if hosted is None else hosted.running()).stop()


def _hosted(
    arguments: argparse.Namespace, config: BrokerConfig, topics: dict[str, int], rules: list[FaultRule]
) -> Hosted | None:
    """What the control port serves; None where there is none."""
    if arguments.control_port is None:
        return None
    from kafkastub.control.hosted import Hosted
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.clock import StubClock
    from kafkastub.stub.faults import StubFaults

    return Hosted(
        config,
        topics,
        clock=StubClock,
        faults=StubFaults,
        chaos=StubChaos,
        rules=rules,
        seed=arguments.chaos,
        ring=ring_of(arguments),
    )


async def _equip(
    arguments: argparse.Namespace, broker: Broker, rules: list[FaultRule], hosted: Hosted | None
) -> ControlPort | None:
    """Give a broker its journal, its faults and its control port. Raises ListenError, Refused."""
    if arguments.journal is not None:
        try:
            broker.keep_journal(ring_of(arguments), arguments.journal)
        except OSError as error:
            raise Refused(str(error)) from None
    if rules and hosted is None:
        from kafkastub.faults import FaultError
        from kafkastub.stub.faults import attach

        try:
            attach(broker, rules)
        except FaultError as error:
            raise Refused(f"{arguments.faults}: {error}") from None
    if arguments.chaos is not None and hosted is None:
        from kafkastub.faults import Chaos

        broker.set_chaos(Chaos(*arguments.chaos))
    if hosted is None:
        return None
    from kafkastub.control.port import ControlPort
    from kafkastub.faults import FaultError

    try:
        hosted.opened(broker)
    except FaultError as error:
        raise Refused(f"{arguments.faults}: {error}") from None
    where = arguments.control_host, arguments.control_port
    control = ControlPort(hosted, broker.log, *where, arguments.control_allowed_hosts, arguments.control_token)
    await control.open()
    return control


async def _registry(arguments: argparse.Namespace, broker: Broker, hosted: Hosted | None) -> RegistryPort | None:
    """The schema registry; None where none is asked for. Raises ListenError, Refused."""
    if arguments.registry_port is None:
        return None
    from kafkastub.registry.errors import RegistryError
    from kafkastub.registry_port.kept import KeptRegistry
    from kafkastub.registry_port.port import RegistryPort

    kept = KeptRegistry((lambda: broker) if hosted is None else hosted.running)
    where = arguments.registry_host, arguments.registry_port
    registry = RegistryPort(kept, broker.log, *where, arguments.control_allowed_hosts)
    try:
        await registry.open()
    except RegistryError as error:
        raise Refused(error.message) from None
    if hosted is not None:
        from kafkastub.registry_port.schema_lookup import SchemaLookup

        hosted.schemas = SchemaLookup(kept)
    return registry


def _snapshot(file: str | None, config: BrokerConfig) -> SavedState | None:
    """Raises ValueError."""
    if file is None:
        return None
    from kafkastub.state.snapshots.files import read_path
    from kafkastub.state.snapshots.holding import OF_OWN

    try:
        return read_path(file, config, OF_OWN)
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None


def _listeners(arguments: argparse.Namespace, config: BrokerConfig) -> Listeners:
    """Where to listen: what the command line says wins over the file's `listeners`. Raises ConfigError."""
    from kafkastub.config.listeners import LISTENERS, plain_listener, plan_listeners

    host, port = arguments.host, arguments.port
    given = host is not None or port is not None
    if given and not any(pair.partition("=")[0].strip() == LISTENERS for pair in arguments.config):
        return plain_listener(host or "127.0.0.1", 9092 if port is None else port, arguments.advertised, config)
    if not given and LISTENERS not in config.static:
        port = 9092
    return plan_listeners(config, host, port, arguments.advertised)


def overrides(arguments: argparse.Namespace) -> dict[str, object]:
    """The configuration of file and options, an option wins. Raises ValueError."""
    from kafkastub.config import load_properties

    found: dict[str, object] = {}
    if arguments.config_file:
        try:
            found.update(load_properties(arguments.config_file))
        except OSError as error:
            raise ValueError(f"cannot read {arguments.config_file}: {error.strerror}") from None
    for pair in arguments.config:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            # What follows the name may be a password.
            raise ValueError(f"{pair.partition(' ')[0]!r} is not a configuration: expected KEY=VALUE")
        found[key.strip()] = value.strip()
    if arguments.as_version is not None:
        found["kafkastub.as.version"] = arguments.as_version
    return found


def named_topics(texts: list[str]) -> dict[str, int]:
    """The partitions by topic of NAME:PARTITIONS texts. Raises ValueError."""
    topics: dict[str, int] = {}
    for name, partitions in map(_topic, texts):
        if name in topics:
            raise ValueError(f"--topic {name!r} is given twice: {name}:{topics[name]} and {name}:{partitions}")
        topics[name] = partitions
    return topics


def _topic(text: str) -> tuple[str, int]:
    name, colon, partitions = text.rpartition(":")
    if not colon or not name or not is_number(partitions) or int(partitions) < 1:
        raise ValueError(f"--topic {text!r}: expected NAME:PARTITIONS, with at least one partition")
    return name, int(partitions)
