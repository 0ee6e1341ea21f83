"""`kafkastub chaos`: trouble that every correct client survives, over the control port."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafkastub.cli import output
from kafkastub.cli.control import Control, action
from kafkastub.cli.serving import seed_and_level

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_MOST_CHARACTERS: Final = 1 << 20
"""Of a file of acts."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    chaos = commands.add_parser("chaos", help="start and stop random faults that every correct client survives")
    actions = chaos.add_subparsers(required=True, metavar="ACTION")
    parser = action(actions, "start", "start the faults of a seed", _start)
    parser.add_argument(
        "seed",
        type=seed_and_level,
        metavar="SEED[:LEVEL]",
        help="seed, and a level from 1 to 3 (default 1; docs/chaos.md)",
    )
    parser = action(actions, "play", "play a list of acts from a JSON file", _play)
    parser.add_argument("file", metavar="FILE", help="JSON file with a list of acts (docs/chaos.md)")
    action(actions, "stop", "stop chaos", _plain("DELETE"))
    action(actions, "show", "show the seed and the acts so far", _plain("GET"))


def _start(arguments: argparse.Namespace, control: Control) -> int:
    seed, level = arguments.seed
    return _show(arguments, control.ask("PUT", "/v1/chaos", {"seed": seed, "level": level}))


def _play(arguments: argparse.Namespace, control: Control) -> int:
    try:
        with Path(arguments.file).open(encoding="utf-8") as file:
            acts = json.loads(file.read(_MOST_CHARACTERS))
    except OSError as error:
        output.error(f"cannot read {arguments.file}: {error.strerror}")
        return 2
    except ValueError as error:
        output.error(f"{arguments.file} is not JSON: {error}")
        return 2
    return _show(arguments, control.ask("PUT", "/v1/chaos", {"acts": acts}))


def _plain(method: str) -> Any:
    def work(arguments: argparse.Namespace, control: Control) -> int:
        return _show(arguments, control.ask(method, "/v1/chaos"))

    return work


def _show(arguments: argparse.Namespace, state: Any) -> int:
    if arguments.output == "json":
        output.as_json(state)
    elif state["seed"] is None and state["played"] is None:
        output.say("There is no chaos.")
    else:
        played = f"{state['played']} acts, {state['left']} to come"
        what = played if state["seed"] is None else f"seed {state['seed']}, level {state['level']}"
        output.say(f"{what}{'' if state['running'] else ', stopped'}")
        for act in state["acts"]:
            output.say(f"{act['number']:>5} {act['what']}")
    return 0
