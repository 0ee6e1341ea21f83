"""The command `kafkastub`: one module a subcommand, each with `add_to(commands)`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from kafkastub.version import __version__

COMMANDS = (
    "serve",
    "replay",
    "groups",
    "topics",
    "transactions",
    "conform",
    "clock",
    "faults",
    "journal",
    "health",
    "container",
    "completion",
)
"""In the order of the help, each a module of that name here; none is loaded for the sake of another."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status."""
    given = sys.argv[1:] if argv is None else list(argv)
    arguments = parser(given[0] if given else None).parse_args(given)
    status: int = arguments.run(arguments)
    return status


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, or of one command alone."""
    whole = argparse.ArgumentParser(prog="kafkastub", description="A Kafka broker stub for integration tests.")
    whole.add_argument("--version", action="version", version=f"kafkastub {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for name in (only,) if only in COMMANDS else COMMANDS:
        importlib.import_module(f"kafkastub.cli.{name}").add_to(commands)
    return whole
