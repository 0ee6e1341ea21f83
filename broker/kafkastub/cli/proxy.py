"""`kafkastub proxy`: a real cluster with faults, holds, chaos and the journal in front of it, as a process."""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
from typing import TYPE_CHECKING, Any, Final, cast

from kafkastub.cli.common import refuse
from kafkastub.cli.control import seconds
from kafkastub.cli.serving import (
    Refused,
    add_end_option,
    add_log_options,
    add_watching_options,
    end_with_standard_input,
    host,
    load_control,
    port,
    ring_of,
    rules_of,
    say,
)

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.config import BrokerConfig
    from kafkastub.control.port import ControlPort
    from kafkastub.faults import FaultRule
    from kafkastub.proxy.proxy import Proxy
    from kafkastub.proxy.upstream import Upstream
    from kafkastub.server.broker import Broker

_DRAIN_SECONDS: Final = 5.0
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    proxy = commands.add_parser(
        "proxy",
        help="run a proxy with faults, holds, chaos and a journal in front of a real cluster until SIGTERM or SIGINT",
        description="Run a proxy in front of a real cluster until SIGTERM or SIGINT. Each node of the cluster has a "
        "port here. One line on standard output says when the proxy is ready (docs/proxy.md).",
    )
    proxy.set_defaults(run=_proxy)
    proxy.add_argument("--to", required=True, metavar="HOST:PORT,…", help="bootstrap servers of the cluster")
    proxy.add_argument(
        "--reach",
        action="append",
        default=[],
        metavar="HOST:PORT=HOST:PORT",
        help="reach the node that advertises the first address at the second; may be given several times",
    )
    proxy.add_argument(
        "--command-config",
        metavar="FILE",
        help="properties file of a Kafka client: TLS to the cluster, and a login for the proxy's own requests",
    )
    proxy.add_argument(
        "--host", type=host, default="127.0.0.1", help="address to listen on, 0.0.0.0 for all (default %(default)s)"
    )
    proxy.add_argument(
        "--port",
        type=port,
        default=9092,
        help="port of the first node; the others get the next ports; 0 for free ports (default %(default)s)",
    )
    proxy.add_argument(
        "--advertised",
        metavar="HOST:PORT",
        help="address that the first node advertises; the others get the next ports",
    )
    proxy.add_argument(
        "--wait",
        type=seconds,
        default=0,
        metavar="SECONDS",
        help="seconds to wait for the cluster at the start (default %(default)s)",
    )
    proxy.add_argument(
        "--tls", action="store_true", help="serve clients over TLS, with a generated certificate or that of --config"
    )
    proxy.add_argument(
        "--config",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="ssl.… configuration for --tls, as of a Kafka listener",
    )
    add_watching_options(proxy)
    proxy.add_argument(
        "--journal-bytes",
        type=_size,
        metavar="SIZE",
        help="size limit of --journal, 500M or 20G; beyond it the oldest entries are deleted (default 1G)",
    )
    proxy.add_argument(
        "--keep-bytes",
        type=_size,
        metavar="SIZE",
        help="memory limit for large requests and answers that faults, holds and chaos keep (default 512M)",
    )
    proxy.add_argument(
        "--hide-records",
        action="store_true",
        help="write only the number of records to the journal, without keys, values and headers",
    )
    add_end_option(proxy)
    add_log_options(proxy)


def _size(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", text.upper().removesuffix("B").removesuffix("I"))
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if size < 1 << 20:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: expected 1M and more, for example 500M or 20G")
    return size


def _proxy(arguments: argparse.Namespace) -> int:
    from kafkastub.config import BrokerConfig, ConfigError, Profile
    from kafkastub.proxy.proxy import UnreachableError
    from kafkastub.proxy.upstream import Upstream
    from kafkastub.server.descriptors import raise_limit
    from kafkastub.server.loops import new_event_loop
    from kafkastub.server.node_listener import ListenError

    try:
        config = BrokerConfig(_config(arguments.config), Profile.named("kips"))
        upstream = Upstream.of(arguments.command_config, _reach(arguments.reach))
        rules = rules_of(arguments.faults)
        load_control(arguments.control_port)
        loop = new_event_loop()
        raise_limit()
    except (ConfigError, ValueError) as error:
        return refuse(str(error))
    try:
        loop.run_until_complete(_run(arguments, config, upstream, rules))
    except (ConfigError, ListenError, UnreachableError, Refused, ValueError) as error:
        return refuse(str(error))
    finally:
        loop.close()
    return 0


def _reach(pairs: list[str]) -> dict[tuple[str, int], tuple[str, int]]:
    """Raises ValueError."""
    from kafkastub.proxy.proxy import reach

    return reach(dict(_pair(one) for one in pairs))


def _pair(text: str) -> tuple[str, str]:
    said, equals, found = text.partition("=")
    if not equals:
        raise ValueError(
            f"--reach {text!r} is refused: expected HOST:PORT=HOST:PORT, for example kafka:9092=localhost:9092"
        )
    return said, found


def _config(pairs: list[str]) -> dict[str, object]:
    """Raises ValueError."""
    found: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().startswith(("ssl.", "listener.name.", "kafkastub.tls.")):
            raise ValueError(f"{pair.partition(' ')[0]!r} is not a configuration of a proxy: expected ssl.…=VALUE")
        found[key.strip()] = value.strip()
    return found


async def _run(arguments: argparse.Namespace, config: BrokerConfig, upstream: Upstream, rules: list[FaultRule]) -> None:
    from kafkastub.proxy.proxy import Proxy, addresses
    from kafkastub.proxy.room import MOST
    from kafkastub.server.logs import process_logger

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if arguments.exit_with_stdin:
        end_with_standard_input(stop.set)
    log = process_logger(arguments.log_format, arguments.log_level)
    proxy = Proxy(
        addresses(arguments.to),
        log,
        upstream,
        tls=arguments.tls,
        config=config,
        drain_seconds=_DRAIN_SECONDS,
        keep_bytes=MOST if arguments.keep_bytes is None else arguments.keep_bytes,
    )
    advertised = None if arguments.advertised is None else addresses(arguments.advertised)[0]
    await proxy.start(arguments.host, arguments.port, advertised, arguments.wait)
    try:
        control = await _equip(arguments, proxy, rules)
    except BaseException:
        await proxy.stop()
        raise
    say(f"kafkastub ready on {proxy.bound} (proxy to {','.join(place.address for place in proxy.places)})")
    if control is not None:
        say(f"kafkastub control port on {control.url}")
    await stop.wait()
    if control is not None:
        await control.close()
    await proxy.stop()


async def _equip(arguments: argparse.Namespace, proxy: Proxy, rules: list[FaultRule]) -> ControlPort | None:
    """Give a proxy its journal, its faults and its control port. Raises ListenError, Refused."""
    from kafkastub.faults import Chaos, FaultError
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.in_front.faults import ProxyFaults

    runner = _Runner(proxy)
    faults, chaos = ProxyFaults(runner, proxy.refresh_names), StubChaos(runner)
    ring = None
    if arguments.journal is not None or arguments.control_port is not None:
        ring = ring_of(arguments)
        proxy.journal_bytes, proxy.hides_records = arguments.journal_bytes, arguments.hide_records
        try:
            proxy.keep_journal(ring, arguments.journal)
        except OSError as error:
            raise Refused(str(error)) from None
    try:
        for rule in rules:
            faults.add(rule)
    except FaultError as error:
        raise Refused(f"{arguments.faults}: {error}") from None
    if arguments.chaos is not None:
        chaos.begin(runner.running(), Chaos(*arguments.chaos))
    if arguments.control_port is None:
        return None
    from kafkastub.control.in_front.app import make_app
    from kafkastub.control.in_front.hosted import HostedProxy
    from kafkastub.control.port import ControlPort

    hosted = HostedProxy(proxy, faults=faults, chaos=chaos, ring=ring)
    where = arguments.control_host, arguments.control_port
    control = ControlPort(hosted, proxy.log, *where, arguments.control_allowed_hosts, arguments.control_token, make_app)
    hosted.opened()
    await control.open()
    return control


class _Runner:
    """What faults and chaos need: this is the proxy's thread."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def running(self) -> Broker:
        return cast("Broker", self._proxy)

    def call(self, work: Any) -> Any:
        return work()
