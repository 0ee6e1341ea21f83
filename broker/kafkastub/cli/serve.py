"""`kafkastub serve`: a broker as a process."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

from kafkastub.cli.common import add_token_option, refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.config import BrokerConfig, Listeners
    from kafkastub.control.hosted import Hosted
    from kafkastub.control.port import ControlPort
    from kafkastub.faults import FaultRule
    from kafkastub.journal.ring import Ring
    from kafkastub.server.broker import Broker
    from kafkastub.state.snapshots.saved import SavedState

_SETTLED_SECONDS = 1.0
"""After that long nobody waits for the broker to start."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    serve = commands.add_parser(
        "serve",
        help="run a broker until SIGTERM or SIGINT",
        description="Run a broker until SIGTERM or SIGINT. One line on standard output says when it answers.",
    )
    serve.set_defaults(run=_serve)
    serve.add_argument("--host", type=_host, help="address to listen on, 0.0.0.0 for all (default 127.0.0.1)")
    serve.add_argument("--port", type=_port, help="port to listen on, 0 for any free one (default 9092)")
    serve.add_argument(
        "--advertised", metavar="HOST:PORT", help="what clients are told to connect to; NAME://HOST:PORT,… too"
    )
    serve.add_argument("--nodes", type=_nodes, default=1, metavar="N", help="nodes of the cluster (default 1)")
    serve.add_argument("--racks", nargs="+", default=[], metavar="RACK", help="their racks, dealt out in turn")
    serve.add_argument(
        "--config",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="Kafka's broker configuration; wins over --config-file",
    )
    serve.add_argument("--config-file", metavar="FILE", help="a server.properties")
    serve.add_argument(
        "--profile", choices=["kips", "kafka"], default="kips", help="the KIPs, or Kafka 4.x (default %(default)s)"
    )
    serve.add_argument(
        "--topic",
        metavar="NAME:PARTITIONS",
        nargs="+",
        action="extend",
        default=[],
        help="create topics before the port answers",
    )
    serve.add_argument(
        "--as-version",
        metavar="RELEASE",
        help="advertise and accept only what this Apache Kafka release has, 2.1 to 4.4 (docs/as-version.md)",
    )
    serve.add_argument(
        "--data-dir",
        type=_data_dir,
        metavar="DIR",
        help="keep everything there for the next run; see kafkastub.flush in --config",
    )
    serve.add_argument(
        "--snapshot",
        metavar="FILE",
        help="begin with what is in it (`kafkastub snapshot save`); a --data-dir with something in it goes on instead",
    )
    serve.add_argument("--faults", metavar="FILE", help="fault rules in YAML, there from the start (docs/faults.md)")
    serve.add_argument(
        "--chaos",
        type=seed_and_level,
        metavar="SEED[:LEVEL]",
        help="trouble that every correct client survives, level 1 to 3 (docs/chaos.md)",
    )
    serve.add_argument(
        "--journal", metavar="DIR", help="write every request and answer there, a new directory (docs/journal.md)"
    )
    serve.add_argument(
        "--journal-entries",
        type=_entries,
        metavar="N",
        help="the newest so many are kept for the control port, which shows them (default 10000)",
    )
    serve.add_argument(
        "--control-port",
        type=_port,
        metavar="PORT",
        help="serve the HTTP control port there, 0 for any free one (docs/control.md); without it there is none",
    )
    serve.add_argument(
        "--control-host",
        type=_host,
        default="127.0.0.1",
        metavar="HOST",
        help="its address, 0.0.0.0 for all (default %(default)s)",
    )
    serve.add_argument(
        "--control-allowed-hosts",
        type=_names,
        default=(),
        metavar="NAME,…",
        help="names of the public DNS that it may be asked by, * for any; addresses, localhost and names without a dot "
        "are good in any case (docs/control.md)",
    )
    add_token_option(serve, "what whoever changes something there has to know: docs/control.md")
    serve.add_argument(
        "--log-format",
        choices=["console", "json"],
        default="console",
        help="the form of log lines on standard error (default %(default)s)",
    )
    serve.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="the least that is logged (default %(default)s)",
    )


def _is_number(text: str) -> bool:
    """Whether `text` is what a user means by a number: str.isdigit() also takes superscripts."""
    return text.isascii() and text.isdigit()


def _port(text: str) -> int:
    if not _is_number(text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535 is allowed")
    return int(text)


def _nodes(text: str) -> int:
    if not _is_number(text) or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of nodes: 1 to 100 is allowed")
    return int(text)


def _entries(text: str) -> int:
    from kafkastub.journal.ring import MOST_ENTRIES

    if not _is_number(text) or not 1 <= int(text) <= MOST_ENTRIES:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of entries: 1 to {MOST_ENTRIES} is allowed")
    return int(text)


def _check_racks(nodes: int, racks: list[str]) -> None:
    """Raises ValueError for more racks than nodes."""
    if racks:
        from kafkastub.stub import arguments as stub_arguments

        stub_arguments.nodes(nodes, racks, "--")


def _host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty: 127.0.0.1 is this machine alone, 0.0.0.0 all of its addresses")
    return text


def _names(text: str) -> tuple[str, ...]:
    from kafkastub.stub.arguments import names

    try:
        return names([name.strip() for name in text.split(",")], "")
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: NAME is wanted, several with commas, or * for any") from None


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
        config = BrokerConfig(overrides(arguments), Profile.named(arguments.profile))
        topics = named_topics(arguments.topic)
        _check_racks(arguments.nodes, arguments.racks)
        listeners = _listeners(arguments, config)
        rules = _rules(arguments.faults)
        snapshot = _snapshot(arguments.snapshot, config)
        _load_control(arguments.control_port)
    except (ConfigError, ValueError) as error:
        return refuse(str(error))
    raise_limit()
    loop = new_event_loop()
    spare_large_states(loop.call_soon_threadsafe)
    try:
        loop.run_until_complete(_run(arguments, config, topics, listeners, rules, snapshot))
    except KafkaError as error:
        return refuse(error.message or error.code.name)
    except (ConfigError, ListenError, DataDirError, _Refused) as error:
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
    log = process_logger(arguments.log_format, arguments.log_level)
    hosted = _hosted(arguments, config, topics, rules)
    broker = Broker(config, log, data_dir=arguments.data_dir)
    await broker.start(listeners, topics, arguments.nodes, arguments.racks, snapshot)
    try:
        control = await _equip(arguments, broker, rules, hosted)
    except BaseException:
        await broker.stop()
        raise
    if listeners.plain and LISTENERS in config.static:
        log.warning(
            f"{LISTENERS} of the file is not used: --host and --port of the command line win",
            file=arguments.config_file,
        )
    _say(f"kafkastub ready on {broker.bound} (profile {config.profile.name})")
    if control is not None:
        _say(f"kafkastub control port on {control.url}")
    from kafkastub.server.memory import give_back, keep_freed_memory

    broker.when_much_is_freed(give_back)
    loop.call_later(_SETTLED_SECONDS, keep_freed_memory)
    await stop.wait()
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
        ring=_ring(arguments),
    )


def _ring(arguments: argparse.Namespace) -> Ring:
    from kafkastub.journal.ring import DEFAULT_ENTRIES, Ring

    return Ring.of(DEFAULT_ENTRIES if arguments.journal_entries is None else arguments.journal_entries)


async def _equip(
    arguments: argparse.Namespace, broker: Broker, rules: list[FaultRule], hosted: Hosted | None
) -> ControlPort | None:
    """Give a broker its journal, its faults and its control port. Raises ListenError, _Refused."""
    if arguments.journal is not None:
        try:
            broker.keep_journal(_ring(arguments), arguments.journal)
        except OSError as error:
            raise _Refused(str(error)) from None
    if rules and hosted is None:
        from kafkastub.faults import FaultError
        from kafkastub.stub.faults import attach

        try:
            attach(broker, rules)
        except FaultError as error:
            raise _Refused(f"{arguments.faults}: {error}") from None
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
        raise _Refused(f"{arguments.faults}: {error}") from None
    where = arguments.control_host, arguments.control_port
    control = ControlPort(hosted, broker.log, *where, arguments.control_allowed_hosts, arguments.control_token)
    await control.open()
    return control


class _Refused(Exception):
    """What was asked for makes no sense to the broker that was started."""


def _load_control(port: int | None) -> None:
    """Before the port answers, for it takes a while. Raises ValueError."""
    if port is not None:
        from kafkastub.control.port import MissingExtra, check_extra

        try:
            check_extra()
        except MissingExtra as error:
            raise ValueError(error) from None


def seed_and_level(text: str) -> tuple[int, int]:
    """SEED or SEED:LEVEL."""
    from kafkastub.faults import Chaos, FaultError

    seed, colon, level = text.partition(":")
    if not seed.isascii() or not seed.isdigit() or (colon and not (level.isascii() and level.isdigit())):
        raise argparse.ArgumentTypeError(f"{text!r} is refused: a seed is wanted, or SEED:LEVEL")
    try:
        chaos = Chaos(int(seed), int(level or 1))
    except FaultError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return chaos.seed, chaos.level


def _snapshot(file: str | None, config: BrokerConfig) -> SavedState | None:
    """Raises ValueError."""
    if file is None:
        return None
    from pathlib import Path

    from kafkastub.state.snapshots.files import read
    from kafkastub.state.snapshots.holding import OF_OWN

    try:
        with Path(file).open("rb") as content:
            return read(content, file, config, OF_OWN)
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None


def _rules(file: str | None) -> list[FaultRule]:
    """Raises ValueError."""
    if file is None:
        return []
    from pathlib import Path

    from kafkastub.faults import load_rules

    return load_rules(Path(file))


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
            raise ValueError(f"{pair.partition(' ')[0]!r} is no configuration: KEY=VALUE is wanted")
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
    if not colon or not name or not _is_number(partitions) or int(partitions) < 1:
        raise ValueError(f"--topic {text!r}: NAME:PARTITIONS is wanted, with at least one partition")
    return name, int(partitions)


def _say(line: str) -> None:
    from kafkastub.cli import output

    try:
        output.say(line)
        sys.stdout.flush()
    except OSError:  # nobody reads it, or there is no room for it; the broker serves all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
