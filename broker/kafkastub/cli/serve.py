"""`kafkastub serve`: a broker as a process."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    serve = commands.add_parser("serve", help="run a broker until SIGTERM or SIGINT")
    serve.set_defaults(run=_serve)
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    serve.add_argument(
        "--port", type=_port, default=9092, help="port to listen on, 0 for any free one (default %(default)s)"
    )
    serve.add_argument("--advertised", metavar="HOST:PORT", help="what clients are told to connect to")
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
        "--topic", metavar="NAME:PARTITIONS", nargs="+", action="extend", default=[], help="create a topic"
    )
    serve.add_argument(
        "--data-dir", metavar="DIR", help="keep everything there for the next run; see kafkastub.flush in --config"
    )
    serve.add_argument("--log-format", choices=["console", "json"], default="console")
    serve.add_argument("--log-level", choices=["debug", "info", "warning", "error"], default="info")


def _is_number(text: str) -> bool:
    """Whether `text` is what a user means by a number: str.isdigit() also takes superscripts."""
    return text.isascii() and text.isdigit()


def _port(text: str) -> int:
    if not _is_number(text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535 is allowed")
    return int(text)


def _serve(arguments: argparse.Namespace) -> int:
    from kafkastub.config import BrokerConfig, ConfigError, Profile
    from kafkastub.server.loops import new_event_loop
    from kafkastub.server.server import ListenError
    from kafkastub.storage import DataDirError
    from kafkastub.stub import parse_address
    from kafkawire.errors import KafkaError

    try:
        config = BrokerConfig(_overrides(arguments), Profile.named(arguments.profile))
        topics = dict(map(_topic, arguments.topic))
        advertised = parse_address(arguments.advertised) if arguments.advertised else None
    except (ConfigError, ValueError) as error:
        return refuse(str(error))
    loop = new_event_loop()
    # What is loaded now stays: the collector need not look at it again with every sweep.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    try:
        loop.run_until_complete(_run(arguments, config, topics, advertised))
    except KafkaError as error:
        return refuse(error.message or error.code.name)
    except (ListenError, DataDirError) as error:
        return refuse(str(error))
    finally:
        loop.close()
    return 0


async def _run(
    arguments: argparse.Namespace, config: object, topics: dict[str, int], advertised: tuple[str, int] | None
) -> None:
    from kafkastub.config import BrokerConfig
    from kafkastub.server.broker import Broker
    from kafkastub.server.logs import process_logger

    assert isinstance(config, BrokerConfig)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    broker = Broker(config, process_logger(arguments.log_format, arguments.log_level), data_dir=arguments.data_dir)
    await broker.start(arguments.host, arguments.port, advertised, topics)
    host = f"[{broker.host}]" if ":" in broker.host else broker.host
    _say(f"kafkastub ready on {host}:{broker.port} (profile {config.profile.name})")
    await stop.wait()
    await broker.stop()


def _overrides(arguments: argparse.Namespace) -> dict[str, object]:
    from kafkastub.config import load_properties

    overrides: dict[str, object] = {}
    if arguments.config_file:
        try:
            overrides.update(load_properties(Path(arguments.config_file)))
        except OSError as error:
            raise ValueError(f"cannot read {arguments.config_file}: {error.strerror}") from None
    for pair in arguments.config:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{pair!r} is no configuration: KEY=VALUE is wanted")
        overrides[key.strip()] = value.strip()
    return overrides


def _topic(text: str) -> tuple[str, int]:
    name, colon, partitions = text.rpartition(":")
    if not colon or not name or not _is_number(partitions) or int(partitions) < 1:
        raise ValueError(f"--topic {text!r}: NAME:PARTITIONS is wanted, with at least one partition")
    return name, int(partitions)


def _say(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:  # nobody reads it; the broker serves all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
