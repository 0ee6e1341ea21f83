"""`kafkastub check`: what an application did to its records, by the journal of its requests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub.cli import output
from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    check = commands.add_parser("check", help="check guarantees about an application's records from a journal on disk")
    check.set_defaults(run=_check)
    check.add_argument("journal", metavar="JOURNAL", help="directory that --journal wrote")
    check.add_argument("--guarantee", metavar="NAME", nargs="+", action="extend", help="check only these guarantees")
    check.add_argument(
        "--ignoring", metavar="NAME", nargs="+", action="extend", default=[], help="do not check these guarantees"
    )
    check.add_argument("--json", action="store_true", help="print JSON")
    check.add_argument("--junit", metavar="FILE", help="also write the result to FILE as JUnit XML")


def _check(arguments: argparse.Namespace) -> int:
    """0 if no broken guarantee was found, 1 otherwise."""
    from kafkastub.guarantees.files import check_journal

    try:
        verdict = check_journal(arguments.journal, arguments.guarantee, arguments.ignoring)
        if arguments.junit is not None:
            Path(arguments.junit).write_text(verdict.to_junit(), encoding="utf-8")
    except (ValueError, OSError) as error:
        return refuse(str(error))
    if arguments.json:
        output.as_json(verdict.to_json())
    else:
        output.say(str(verdict))
    return 0 if verdict.ok else 1
