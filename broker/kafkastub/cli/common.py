"""What the commands share."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

REFUSED = 2
"""Exit status where what was asked for makes no sense; the reason is on standard error."""

FAILED = 1
"""Exit status where it was tried and did not work out."""

TOKEN_VARIABLE = "KAFKASTUB_CONTROL_TOKEN"


def refuse(reason: str) -> int:
    """Say why on standard error; gives the exit status."""
    from kafkastub.cli import output

    output.note(f"kafkastub: {reason}")
    return REFUSED


def add_action(actions: Commands, name: str, text: str) -> argparse.ArgumentParser:
    """An action of a command; `text`, without a full stop, says what it does."""
    return actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False)


def token(text: str) -> str:
    """The token of a control port, as an argument. It is a secret: what is wrong with it is told without it."""
    from kafkastub.control.keys import checked_token

    try:
        return checked_token(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_token_option(parser: argparse.ArgumentParser, what: str) -> None:
    """--control-token; `what` it is for."""
    parser.add_argument(
        "--control-token",
        type=token,
        default=os.environ.get(TOKEN_VARIABLE) or None,
        metavar="TOKEN",
        help=f"{what} (default ${TOKEN_VARIABLE})",
    )


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """-o, --output."""
    parser.add_argument(
        "-o",
        "--output",
        choices=["table", "json"],
        default="table",
        help="output format (default %(default)s)",
    )


def printing(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """A command's `run` whose whole point is what it prints: where that cannot be written, it has failed."""

    def printed(arguments: argparse.Namespace) -> int:
        try:
            status = run(arguments)
            sys.stdout.flush()
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.ENOSPC, errno.EIO):
                raise
            if error.errno != errno.EPIPE:  # `| head` has seen enough
                refuse(f"cannot write to standard output: {error.strerror}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return FAILED
        return status

    return printed
