"""What the commands that ask a running broker share: its address, how long to wait, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub.cli.common import FAILED, add_action, add_output_option, printing, refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client

ADDRESS_VARIABLE = "KAFKA_STUB_BOOTSTRAP"
DEFAULT_ADDRESS = "localhost:9092"


INTERRUPTED = 130
"""Exit status after Ctrl-C, as of a shell's own commands."""


class UsageError(Exception):
    """What was asked for makes no sense: one sentence."""


def add_broker_options(parser: argparse.ArgumentParser, timeout_ms: int = 30000) -> None:
    """The options of Kafka's tools that say which broker is asked, and --output."""
    parser.add_argument(
        "--bootstrap-server",
        "--bootstrap-servers",
        metavar="HOST:PORT",
        default=os.environ.get(ADDRESS_VARIABLE, DEFAULT_ADDRESS),
        help=f"bootstrap servers, separated by commas (default ${ADDRESS_VARIABLE}, else {DEFAULT_ADDRESS})",
    )
    parser.add_argument(
        "--timeout",
        metavar="MS",
        type=positive,
        default=timeout_ms,
        help="milliseconds to wait for an answer (default %(default)s)",
    )
    parser.add_argument(
        "--command-config", metavar="FILE", help="properties file of the client; only client.id is read"
    )
    add_output_option(parser)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Whoever ends the command by SIGTERM or SIGHUP wants it to clean up, too: it is interrupted as by Ctrl-C, once."""

    def interrupt(number: int, frame: object) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # there is no SIGHUP on Windows
        if number is not None:
            try:
                before[number] = signal.signal(number, interrupt)
            except ValueError:  # not the main thread, which alone is told of signals
                break
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def positive(text: str) -> int:
    """A whole number of at least 1, as an argument."""
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def with_client(work: Callable[[argparse.Namespace, Client], int]) -> Callable[[argparse.Namespace], int]:
    """A command's `run`: opens a client, and turns what is raised into a sentence and an exit status."""

    def run(arguments: argparse.Namespace) -> int:
        from kafkastub.client import Client, ClientError

        try:
            with Client(arguments.bootstrap_server, arguments.timeout / 1000, _client_id(arguments)) as client:
                return work(arguments, client)
        except (UsageError, ValueError) as error:
            return refuse(str(error))
        except ClientError as error:
            refuse(str(error))
            return FAILED
        except KeyboardInterrupt:
            return INTERRUPTED

    return printing(run)


def add_client_action(
    actions: Commands, name: str, text: str, work: Callable[[argparse.Namespace, Client], int]
) -> argparse.ArgumentParser:
    """An action of a command (see `add_action`) that asks a broker."""
    parser = add_action(actions, name, text)
    parser.set_defaults(run=with_client(work))
    add_broker_options(parser)
    return parser


def _client_id(arguments: argparse.Namespace) -> str:
    if not arguments.command_config:
        return "kafkastub"
    from kafkastub.config import load_properties

    try:
        given = load_properties(Path(arguments.command_config))
    except OSError as error:
        raise UsageError(f"cannot read {arguments.command_config}: {error.strerror}") from None
    protocol = given.get("security.protocol", "PLAINTEXT")
    if protocol != "PLAINTEXT":
        raise UsageError(f"security.protocol={protocol} in {arguments.command_config}: only PLAINTEXT is supported")
    return given.get("client.id", "kafkastub")
