"""The command `kafkastub`: one module a subcommand, each with `add_to(commands)`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kafkastub import __version__
from kafkastub.cli import serve


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status."""
    arguments = _parser().parse_args(argv)
    status: int = arguments.run(arguments)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kafkastub", description="A Kafka broker stub for integration tests.")
    parser.add_argument("--version", action="version", version=f"kafkastub {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (serve,):
        command.add_to(commands)
    return parser
