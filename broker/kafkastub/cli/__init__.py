"""The command `kafkastub`: one module a subcommand, each with `add_to(commands)`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from kafkastub.version import __version__

COMMANDS = (
    "serve",
    "proxy",
    "launcher",
    "replay",
    "groups",
    "share-groups",
    "streams-groups",
    "topics",
    "transactions",
    "conform",
    "clock",
    "faults",
    "chaos",
    "snapshot",
    "journal",
    "records",
    "check",
    "wait",
    "health",
    "container",
    "completion",
)
"""In the order of the help, each a module of that name here, `_` for `-`; none is loaded for the sake of another."""

HIDDEN = ("child",)
"""Those that people do not call."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status."""
    given = _action_first(sys.argv[1:] if argv is None else list(argv))
    arguments = parser(given[0] if given else None).parse_args(given)
    status: int = arguments.run(arguments)
    return status


def _action_first(given: list[str]) -> list[str]:
    """`groups --members --describe`, as kafka-consumer-groups.sh is asked, is `groups describe --members`."""
    if given[:1] in (["groups"], ["share-groups"], ["streams-groups"]) and given[1:2] and given[1].startswith("--"):
        for at, option in enumerate(given):
            if option in _GROUP_ACTIONS:
                return [given[0], option[2:], *given[1:at], *given[at + 1 :]]
    return given


_GROUP_ACTIONS = ("--list", "--describe", "--delete", "--delete-offsets", "--reset-offsets")


_ANY_WIDTH: Final = 1000


class _Parser(argparse.ArgumentParser):
    """One that prints as every command does; parsers of commands are of its kind."""

    is_built = True
    """Not while options are added: argparse asks for a formatter to check each, and one without a width loads `shutil`
    with three compressors to find out how wide the terminal is.
    """

    def _get_formatter(self) -> argparse.HelpFormatter:
        return super()._get_formatter() if _Parser.is_built else argparse.HelpFormatter(self.prog, width=_ANY_WIDTH)

    def error(self, message: str) -> NoReturn:
        from kafkastub.cli import output

        super().error(output.fit(message, sys.stderr))


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, or of one command alone."""
    _Parser.is_built = False
    try:
        return _built(only)
    finally:
        _Parser.is_built = True


def _built(only: str | None) -> argparse.ArgumentParser:
    whole = _Parser(prog="kafkastub", description="A Kafka broker stub for integration tests.")
    whole.add_argument("--version", action="version", version=f"kafkastub {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for name in (only,) if only in (*COMMANDS, *HIDDEN) else COMMANDS:
        importlib.import_module(f"kafkastub.cli.{name.replace('-', '_')}").add_to(commands)
    return whole
