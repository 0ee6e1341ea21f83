"""`kafkastub records`: the records of a running stub, by the schemas of its registry where they have one."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kafkastub.cli import output
from kafkastub.cli.broker import positive
from kafkastub.cli.control import Control, action

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_MOST_AT_ONCE = 1000
"""Records of one answer."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    records = commands.add_parser("records", help="show and write records of a running stub, by their schemas")
    actions = records.add_subparsers(required=True, metavar="ACTION")
    parser = action(actions, "show", "show records of a topic, by default the newest of each partition", _show)
    parser.add_argument("topic", metavar="TOPIC", help="name of the topic")
    parser.add_argument("--partition", type=_number, metavar="N", help="only this partition")
    parser.add_argument("--offset", type=_number, metavar="N", help="from this offset on")
    parser.add_argument(
        "-n",
        "--lines",
        type=positive,
        default=20,
        metavar="N",
        help="number of records of each partition (default %(default)s)",
    )
    parser = action(actions, "produce", "write a record", _produce)
    parser.add_argument("topic", metavar="TOPIC", help="name of the topic")
    parser.add_argument("value", metavar="VALUE", help="text, or JSON with --schema; - reads it from standard input")
    parser.add_argument("--schema", metavar="SUBJECT", help="write the value by the latest schema of this subject")
    parser.add_argument("--message", metavar="NAME", help="Protobuf message of the value, if not the first of its file")
    parser.add_argument("--key", metavar="KEY", help="text, or JSON with --key-schema (default: no key)")
    parser.add_argument("--key-schema", metavar="SUBJECT", help="write the key by the latest schema of this subject")
    parser.add_argument("--partition", type=_number, metavar="N", help="partition (default: by the key)")
    parser.add_argument(
        "--header", action="append", default=[], metavar="NAME=VALUE", help="header; may be given several times"
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


def _path(topic: str) -> str:
    return f"/v1/topics/{quote(topic, safe='')}"


def _show(arguments: argparse.Namespace, control: Control) -> int:
    path = _path(arguments.topic)
    for place in control.ask("GET", path)["partition_list"]:
        if arguments.partition not in (None, place["partition"]):
            continue
        offset, left = arguments.offset, arguments.lines
        if offset is None:
            offset = max(place["log_start_offset"], place["log_end_offset"] - left, 0)
        while left > 0:
            limit = min(left, _MOST_AT_ONCE)
            query = {"partition": place["partition"], "offset": offset, "limit": limit, "decoded": "true"}
            page = control.ask("GET", f"{path}/records", **query)
            for record in page["records"]:
                _print(arguments, record)
            left -= len(page["records"])
            if page["next"] <= offset or page["next"] >= page["end"]:
                break
            offset = page["next"]
    return 0


def _print(arguments: argparse.Namespace, record: dict[str, Any]) -> None:
    if arguments.output == "json":
        output.as_json(record, indent=None)
        return
    parts = [f"{arguments.topic}-{record['partition']}@{record['offset']}", record["timestamp"]]
    parts += [
        f"{part}={_text_of(record, part)}" for part in ("key", "value") if record[part] is not None or part == "value"
    ]
    parts += [f"{name}:{_raw_text(value)}" for name, value in record["headers"]]
    wrong = [each["error"] for part in ("key", "value") if (each := record[f"{part}_by_schema"]) and each["error"]]
    (output.marked if wrong else output.say)(" ".join([*parts, *(f"({each})" for each in wrong)]))
    sys.stdout.flush()


def _text_of(record: dict[str, Any], part: str) -> str:
    by_schema = record[f"{part}_by_schema"]
    if by_schema is None or by_schema["error"] is not None:
        return _raw_text(record[part])
    return json.dumps(by_schema["content"], ensure_ascii=False)


def _raw_text(content: Any) -> str:
    return "null" if content is None else content if isinstance(content, str) else f"base64:{content['base64']}"


def _produce(arguments: argparse.Namespace, control: Control) -> int:
    value = sys.stdin.read() if arguments.value == "-" else arguments.value
    if arguments.message is not None and arguments.schema is None:
        raise ValueError("--message names a message of a schema: --schema is missing")
    if arguments.key_schema is not None and arguments.key is None:
        raise ValueError("--key-schema is for a key: --key is missing")
    record: dict[str, Any] = {"value": _given("VALUE", value, arguments.schema, arguments.message)}
    if arguments.key is not None:
        record["key"] = _given("--key", arguments.key, arguments.key_schema, None)
    if arguments.partition is not None:
        record["partition"] = arguments.partition
    record["headers"] = dict(map(_header, arguments.header))
    (place,) = control.ask("POST", f"{_path(arguments.topic)}/records", {"records": [record]})["records"]
    told = place | {"topic": arguments.topic}
    return output.print_result(
        arguments.output, told, f"Written to {arguments.topic}-{place['partition']}@{place['offset']}."
    )


def _given(what: str, text: str, subject: str | None, message: str | None) -> Any:
    if subject is None:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not JSON, which a schema needs: {error}") from None
    return {"json": value, "schema": subject} | ({} if message is None else {"message": message})


def _header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--header {text!r}: expected NAME=VALUE")
    return name, value
