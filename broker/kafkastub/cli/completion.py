"""`kafkastub completion`: a script that completes the command line in a shell."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafkastub.cli import output
from kafkastub.cli.common import FAILED, printing, refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    completion = commands.add_parser(
        "completion",
        help="print a completion script for a shell",
        description='Print a completion script for a shell. To load it: eval "$(kafkastub completion bash)".',
    )
    completion.set_defaults(run=printing(_completion))
    completion.add_argument("shell", choices=["bash", "zsh"])


def _completion(arguments: argparse.Namespace) -> int:
    from kafkastub.cli import parser

    try:
        import shtab
    except ImportError:
        refuse("completion needs the extra cli: pip install 'kafkastub[cli]'")
        return FAILED
    output.block(shtab.complete(parser(), shell=arguments.shell))
    return 0
