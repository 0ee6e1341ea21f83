"""`kafkastub health`: whether a stub is up and has its topics; a container's HEALTHCHECK, so it has to start fast."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from kafkastub.cli import output
from kafkastub.cli.common import FAILED, refuse
from kafkastub.cli.control import Control, ControlError, add_address_options, seconds

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_AGAIN_SECONDS = 0.1


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    health = commands.add_parser(
        "health",
        help="check whether a stub is running and has its topics",
        description="Check whether a stub is running and has its topics. Exit status: 0 if so, 1 if not.",
    )
    health.set_defaults(run=_health)
    add_address_options(health, 3)
    health.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="ask any broker over the Kafka protocol, instead of a control port",
    )
    health.add_argument(
        "--topic", action="append", default=[], metavar="NAME", help="topic that must exist; may be given several times"
    )
    health.add_argument(
        "--wait",
        type=seconds,
        default=0,
        metavar="SECONDS",
        help="repeat the check for up to SECONDS seconds (default: check once)",
    )


def _health(arguments: argparse.Namespace) -> int:
    deadline = time.monotonic() + arguments.wait
    try:
        control = Control(arguments.control, arguments.timeout, arguments.control_token)
    except ValueError as error:
        return refuse(str(error))
    while True:
        wrong = _by_kafka(arguments) if arguments.bootstrap_server else _by_http(arguments, control)
        if wrong is None:
            output.say("healthy")
            return 0
        if time.monotonic() >= deadline:
            output.note(f"unhealthy: {wrong}")
            return FAILED
        time.sleep(_AGAIN_SECONDS)


def _by_http(arguments: argparse.Namespace, control: Control) -> str | None:
    try:
        control.ask("GET", "/health", topic=arguments.topic or None)
    except ControlError as error:
        return str(error)
    return None


def _by_kafka(arguments: argparse.Namespace) -> str | None:
    from kafkastub.client import Client, ClientError, topics

    try:
        with Client(arguments.bootstrap_server, arguments.timeout) as client:
            there = set(topics.names(client))
    except (ClientError, ValueError) as error:
        return str(error)
    missing = [f"topic {name!r} does not exist" for name in arguments.topic if name not in there]
    return "; ".join(missing) or None
