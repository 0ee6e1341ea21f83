"""`kafkastub faults`: fault rules of a running stub, over the control port (docs/faults.md)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kafkastub.cli import output
from kafkastub.cli.control import Control, action

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_COLUMNS = {"ID": 20, "HITS": 8, "MATCHED": 8, "HELD": 8, "RULE": 0}


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    faults = commands.add_parser("faults", help="list, add and remove the fault rules of a running stub")
    actions = faults.add_subparsers(required=True, metavar="ACTION")
    action(actions, "list", "list the rules and how often each has fired", _list)
    parser = action(actions, "add", "add a rule: api=OffsetCommit error=NOT_COORDINATOR times=3", _add)
    parser.add_argument("fields", nargs="*", metavar="FIELD=VALUE", help="fields of the rule (docs/faults.md)")
    parser.add_argument("--file", metavar="FILE", help="read rules from a YAML file instead")
    parser = action(actions, "remove", "remove rules", _remove)
    parser.add_argument("ids", nargs="+", metavar="ID", help="ids of rules, as `list` shows them")
    action(actions, "clear", "remove all rules", _clear)
    parser = action(actions, "release", "release requests that a rule with hold=before or hold=after holds", _release)
    parser.add_argument("id", metavar="ID", help="id of the rule, as `list` shows it")
    parser.add_argument("--count", type=int, metavar="N", help="release only the first N requests (default: all)")
    parser.add_argument(
        "--connection", type=int, metavar="NUMBER", help="release only requests of this connection (default: any)"
    )


def _list(arguments: argparse.Namespace, control: Control) -> int:
    found = control.ask("GET", "/v1/faults")["faults"]
    return output.listed(arguments.output, found, "There are no faults.", _COLUMNS, _row)


def _row(fault: Any) -> tuple[object, ...]:
    rule = " ".join(f"{name}={_text(value)}" for name, value in fault["rule"].items())
    return fault["id"], fault["hits"], fault["matched"], len(fault["held"]), rule


def _add(arguments: argparse.Namespace, control: Control) -> int:
    rules = _of_file(arguments.file) if arguments.file else [_of_fields(arguments.fields)]
    if arguments.file and arguments.fields:
        raise ValueError("fields and --file contradict each other: give one of them")
    added = [control.ask("POST", "/v1/faults", rule) for rule in rules]
    if arguments.output == "json":
        output.as_json(added if arguments.file else added[0])
    else:
        for fault in added:
            output.say(f"Added {fault['id']}.")
    return 0


def _remove(arguments: argparse.Namespace, control: Control) -> int:
    for fault in arguments.ids:
        control.ask("DELETE", f"/v1/faults/{quote(fault, safe='')}")
        if arguments.output != "json":
            output.say(f"Removed {fault}.")
    if arguments.output == "json":
        output.as_json({"removed": len(arguments.ids)})
    return 0


def _clear(arguments: argparse.Namespace, control: Control) -> int:
    gone = control.ask("DELETE", "/v1/faults")
    text = f"Removed {gone['removed']} {'fault' if gone['removed'] == 1 else 'faults'}."
    return output.print_result(arguments.output, gone, text)


def _release(arguments: argparse.Namespace, control: Control) -> int:
    wanted = {"n": arguments.count, "connection": arguments.connection}
    found = control.ask("POST", f"/v1/faults/{quote(arguments.id, safe='')}/release", wanted)
    text = f"Released {found['released']} {'request' if found['released'] == 1 else 'requests'}."
    return output.print_result(arguments.output, found, text)


def _of_fields(pairs: list[str]) -> dict[str, Any]:
    """Raises ValueError."""
    if not pairs:
        raise ValueError("say what the rule is: FIELD=VALUE …, or --file FILE")
    rule: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"{pair!r} is not a field of a rule: expected FIELD=VALUE")
        if name in rule:
            raise ValueError(f"{name} is given twice")
        rule[name] = _value(name, text)
    return rule


_TEXTS = ("client_id", "listener", "group", "transactional_id", "topic", "drop", "hold", "name", "versions")
"""Fields that stay a text though they may look like a number."""


def _value(name: str, text: str) -> Any:
    if name in _TEXTS:
        return text
    if name == "api" and "," in text:
        return [each.strip() for each in text.split(",")]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text


def _of_file(file: str) -> list[dict[str, Any]]:
    """Raises ValueError."""
    from kafkastub.faults import load_rules

    return [rule.to_dict() for rule in load_rules(Path(file))]


def _text(value: Any) -> str:
    return value if isinstance(value, str) and " " not in value else json.dumps(value, ensure_ascii=False)
