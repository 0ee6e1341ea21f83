"""`kafkastub clock`: the broker's clock, over the control port."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, Final

from kafkastub.cli import output
from kafkastub.cli.control import Control, action
from kafkastub.config.durations import milliseconds

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_NUMBER: Final = re.compile(r"-?[0-9]{1,30}")
"""Unix milliseconds; of more digits than that none could be."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    clock = commands.add_parser("clock", help="show, freeze, set or advance the clock of a stub")
    actions = clock.add_subparsers(required=True, metavar="ACTION")
    action(actions, "show", "show broker time", _plain("GET", "/v1/clock"))
    action(actions, "freeze", "stop broker time", _plain("POST", "/v1/clock/freeze"))
    action(actions, "unfreeze", "let broker time run on from its present value", _plain("POST", "/v1/clock/unfreeze"))
    parser = action(actions, "set", "set broker time", _set)
    parser.add_argument("to", metavar="TIME", help="ISO 8601 with a time zone, or Unix milliseconds")
    parser = action(
        actions, "advance", "move broker time forward and wait until everything that falls due has happened", _advance
    )
    parser.add_argument("by", metavar="DURATION", help="length of time: 7d, 90m, 1h30m")
    parser.add_argument("--timers", action="store_true", help="also move sessions, rebalances and long polls forward")


def _plain(method: str, path: str) -> Any:
    def work(arguments: argparse.Namespace, control: Control) -> int:
        return _show(arguments, control.ask(method, path))

    return work


def _set(arguments: argparse.Namespace, control: Control) -> int:
    text: str = arguments.to
    to = int(text) if _NUMBER.fullmatch(text) else text
    return _show(arguments, control.ask("POST", "/v1/clock/set", {"to": to}))


def _advance(arguments: argparse.Namespace, control: Control) -> int:
    milliseconds(arguments.by)  # refused here, where the sentence needs no name of a field
    return _show(arguments, control.ask("POST", "/v1/clock/advance", {"by": arguments.by, "timers": arguments.timers}))


def _show(arguments: argparse.Namespace, state: Any) -> int:
    return output.print_result(arguments.output, state, state["now"] + (" (frozen)" if state["frozen"] else ""))
