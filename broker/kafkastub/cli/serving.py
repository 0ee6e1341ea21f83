"""What `kafkastub serve` and `kafkastub proxy` share: faults, chaos, the journal, the control port, the log."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkastub.cli.common import add_token_option

if TYPE_CHECKING:
    from kafkastub.faults import FaultRule
    from kafkastub.journal.ring import Ring


def add_watching_options(parser: argparse.ArgumentParser) -> None:
    """Of faults, chaos, the journal and the control port."""
    parser.add_argument("--faults", metavar="FILE", help="YAML file of fault rules to start with (docs/faults.md)")
    parser.add_argument(
        "--chaos",
        type=seed_and_level,
        metavar="SEED[:LEVEL]",
        help="random faults that every correct client survives, level 1 to 3 (default 1; docs/chaos.md)",
    )
    parser.add_argument(
        "--journal", metavar="DIR", help="write every request and answer to DIR, which must be new (docs/journal.md)"
    )
    parser.add_argument(
        "--journal-entries",
        type=entries,
        metavar="N",
        help="number of newest requests that the control port keeps and shows (default 10000)",
    )
    parser.add_argument(
        "--control-port",
        type=port,
        metavar="PORT",
        help="serve the HTTP control port on this port, 0 for any free port (default: none; docs/control.md)",
    )
    parser.add_argument(
        "--control-host",
        type=host,
        default="127.0.0.1",
        metavar="HOST",
        help="address of the control port, 0.0.0.0 for all addresses (default %(default)s)",
    )
    parser.add_argument(
        "--control-allowed-hosts",
        type=host_names,
        default=(),
        metavar="NAME,…",
        help="public DNS names that requests to the control port may use, * for any; IP addresses, localhost and names "
        "without a dot are always allowed (docs/control.md)",
    )
    add_token_option(parser, "token that clients need to change anything through the control port, see docs/control.md")


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """Of the log."""
    parser.add_argument(
        "--log-format",
        choices=["console", "json"],
        default="console",
        help="format of log lines on standard error (default %(default)s)",
    )
    parser.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="lowest level that is logged (default %(default)s)",
    )


def add_end_option(parser: argparse.ArgumentParser) -> None:
    """Of the end."""
    parser.add_argument(
        "--exit-with-stdin",
        action="store_true",
        help="exit when standard input is closed, which happens whenever the parent process ends",
    )


def end_with_standard_input(end: Callable[[], None]) -> None:
    """Call `end` on the running loop when standard input is closed; what is written there is ignored.

    A thread reads it: an event loop cannot wait for each kind of file that it may be.
    """
    loop = asyncio.get_running_loop()

    def read() -> None:
        with contextlib.suppress(OSError):  # it was closed before the start, or cannot be read
            while os.read(0, 1 << 16):
                pass
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(end)

    threading.Thread(target=read, name="kafkastub-stdin", daemon=True).start()


def is_number(text: str) -> bool:
    """Whether `text` is what a user means by a number: str.isdigit() also takes superscripts."""
    return text.isascii() and text.isdigit()


def port(text: str) -> int:
    if not is_number(text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535 is allowed")
    return int(text)


def entries(text: str) -> int:
    from kafkastub.journal.ring import MOST_ENTRIES

    if not is_number(text) or not 1 <= int(text) <= MOST_ENTRIES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of entries: 1 to {MOST_ENTRIES} is allowed")
    return int(text)


def host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty: 127.0.0.1 is this machine alone, 0.0.0.0 all of its addresses")
    return text


def host_names(text: str) -> tuple[str, ...]:
    from kafkastub.stub.arguments import names

    try:
        return names([name.strip() for name in text.split(",")], "")
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME, several with commas, or * for any") from None


def ring_of(arguments: argparse.Namespace) -> Ring:
    from kafkastub.journal.ring import DEFAULT_ENTRIES, Ring

    return Ring.of(DEFAULT_ENTRIES if arguments.journal_entries is None else arguments.journal_entries)


class Refused(Exception):
    """What was asked for makes no sense to the broker that was started."""


def load_control(port: int | None) -> None:
    """Before the port answers, for it takes a while. Raises ValueError."""
    if port is not None:
        from kafkastub.control.port import check_extra
        from kafkastub.control.serving import MissingExtra

        try:
            check_extra()
        except MissingExtra as error:
            raise ValueError(error) from None


def load_registry(port: int | None) -> None:
    """Before the port answers. Raises ValueError."""
    if port is not None:
        from kafkastub.control.serving import MissingExtra
        from kafkastub.registry_port.port import check_extra

        try:
            check_extra()
        except MissingExtra as error:
            raise ValueError(error) from None


def seed_and_level(text: str) -> tuple[int, int]:
    """SEED or SEED:LEVEL."""
    from kafkastub.faults import Chaos, FaultError

    seed, colon, level = text.partition(":")
    if not seed.isascii() or not seed.isdigit() or (colon and not (level.isascii() and level.isdigit())):
        raise argparse.ArgumentTypeError(f"{text!r} is refused: expected a seed, or SEED:LEVEL")
    try:
        chaos = Chaos(int(seed), int(level or 1))
    except FaultError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return chaos.seed, chaos.level


def rules_of(file: str | None) -> list[FaultRule]:
    """Raises ValueError."""
    if file is None:
        return []
    from pathlib import Path

    from kafkastub.faults import load_rules

    return load_rules(Path(file))


def say(line: str) -> None:
    from kafkastub.cli import output

    try:
        output.say(line)
        sys.stdout.flush()
    except OSError:  # nobody reads it, or there is no room for it; the broker serves all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
