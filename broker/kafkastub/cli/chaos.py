"""`kafkastub chaos`: trouble that every correct client survives, over the control port."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from kafkastub.cli import output
from kafkastub.cli.control import Control, action
from kafkastub.cli.serving import seed_and_level

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    chaos = commands.add_parser("chaos", help="let requests meet trouble that every correct client survives")
    actions = chaos.add_subparsers(required=True, metavar="ACTION")
    parser = action(actions, "start", "let requests meet what a seed decides", _start)
    parser.add_argument("seed", type=seed_and_level, metavar="SEED[:LEVEL]", help="level 1 to 3 (docs/chaos.md)")
    action(actions, "stop", "let requests meet nothing of it any more", _plain("DELETE"))
    action(actions, "show", "show the seed, and what it has done", _plain("GET"))


def _start(arguments: argparse.Namespace, control: Control) -> int:
    seed, level = arguments.seed
    return _show(arguments, control.ask("PUT", "/v1/chaos", {"seed": seed, "level": level}))


def _plain(method: str) -> Any:
    def work(arguments: argparse.Namespace, control: Control) -> int:
        return _show(arguments, control.ask(method, "/v1/chaos"))

    return work


def _show(arguments: argparse.Namespace, state: Any) -> int:
    if arguments.output == "json":
        output.as_json(state)
    elif state["seed"] is None:
        output.say("There is no chaos.")
    else:
        output.say(f"seed {state['seed']}, level {state['level']}{'' if state['running'] else ', stopped'}")
        for act in state["acts"]:
            output.say(f"{act['number']:>5} {act['what']}")
    return 0
