"""`kafkastub container`: serve as the environment says, the image's entry point; and `kafkastub container health`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

OPTIONS: Final = {
    "KAFKASTUB_AS_VERSION": "--as-version",
    "KAFKASTUB_CONTROL_ALLOWED_HOSTS": "--control-allowed-hosts",
    "KAFKASTUB_CONTROL_HOST": "--control-host",
    "KAFKASTUB_CONTROL_PORT": "--control-port",
    "KAFKASTUB_DATA_DIR": "--data-dir",
    "KAFKASTUB_FAULTS": "--faults",
    "KAFKASTUB_LOG_FORMAT": "--log-format",
    "KAFKASTUB_LOG_LEVEL": "--log-level",
    "KAFKASTUB_NODES": "--nodes",
    "KAFKASTUB_PROFILE": "--profile",
}
"""Environment variables and the options of `kafkastub serve` that they are."""


HEALTH_SECONDS: Final = 3


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    container = commands.add_parser(
        "container",
        help="serve as KAFKA_* environment variables say, as the apache/kafka image does",
        description=(
            "Serve as the environment says: KAFKA_* is Kafka's configuration as the apache/kafka image maps it, "
            f"KAFKA_CREATE_TOPICS is topics, {', '.join(OPTIONS)} are options of `kafkastub serve`."
            " With the one word `health` it looks whether the broker answers and has those topics."
        ),
        prefix_chars="\0",  # what looks like an option is one of serve's
        add_help=False,
    )
    container.set_defaults(run=_run)
    container.add_argument("options", nargs=argparse.REMAINDER, help="options of `kafkastub serve`, which win")


def _run(arguments: argparse.Namespace) -> int:
    from kafkastub.cli import main

    try:
        if arguments.options == ["health"]:
            return _health(os.environ)
        given = serve_options(os.environ)
    except ValueError as error:
        return refuse(str(error))
    return main(["serve", *given, *arguments.options])


def _health(environment: Mapping[str, str]) -> int:
    """0 where the broker of this container answers and has the topics that were asked for; says why where not."""
    from kafkastub.client import Client, ClientError, topics
    from kafkastub.config.environment import topics_of

    wanted = {text.partition(":")[0] for text in topics_of(environment)}
    try:
        with Client(f"127.0.0.1:{_port(environment)}", timeout=HEALTH_SECONDS) as client:
            missing = sorted(wanted - set(topics.names(client)))
    except ClientError as error:
        print(error, file=sys.stderr)
        return 1
    if missing:
        print(f"topics that are not there yet: {', '.join(missing)}", file=sys.stderr)
        return 1
    return 0


def _port(environment: Mapping[str, str]) -> int:
    """The port of the first listener that clients use."""
    for listener in environment.get("KAFKA_LISTENERS", "").split(","):
        name, _, address = listener.strip().partition("://")
        port = address.rpartition(":")[2]
        if port.isdecimal() and name != environment.get("KAFKA_CONTROLLER_LISTENER_NAMES", "CONTROLLER"):
            return int(port)
    return 9092


def serve_options(environment: Mapping[str, str]) -> list[str]:
    """The command line of `kafkastub serve` for an environment. Raises ValueError with one sentence."""
    from kafkastub.config.environment import configs_of, topics_of

    said = {option: environment[name] for name, option in OPTIONS.items() if environment.get(name)}
    options = [part for pair in said.items() for part in pair]
    configs = configs_of(environment)
    if configs:
        options += ["--config", *(f"{name}={value}" for name, value in configs.items())]
    topics = topics_of(environment)
    return options + (["--topic", *topics] if topics else [])
