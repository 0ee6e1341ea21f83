"""`kafkastub journal`: what a running stub was asked and has answered, over the control port (docs/journal.md)."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkastub.cli import output
from kafkastub.cli.broker import positive
from kafkastub.cli.control import Control, action

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_ADDED = ("throttle_time_ms", "text")
"""What the control port tells beside the columns of an export."""
_FILTERS = (
    ("api", "NAME", "API: OffsetCommit"),
    ("group", "GROUP", "group"),
    ("transactional-id", "ID", "transactional id: part of its transaction, or about it"),
    ("producer-id", "N", "producer id: part of its transaction, or about it"),
    ("topic", "TOPIC", "topic"),
    ("client-id", "ID", "client id"),
    ("error", "ERROR", "error in the answer: NOT_COORDINATOR"),
    ("outcome", "OUTCOME", "outcome: reply, pending, no_reply, closed, refused or dropped"),
    ("fault", "ID", "fault: the id of the rule that fired"),
    ("since", "WHEN", "sequence number or higher, or broker time (ISO 8601 with a time zone) or later"),
)
_SILENCE_SECONDS = 130
"""Of a stream in which a line comes every minute at least."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    journal = commands.add_parser("journal", help="show and export the requests that a running stub has received")
    actions = journal.add_subparsers(required=True, metavar="ACTION")
    parser = action(actions, "tail", "show the newest requests", _tail)
    parser.add_argument("-f", "--follow", action="store_true", help="continue with new requests until interrupted")
    parser.add_argument(
        "-n", "--lines", type=positive, default=20, metavar="N", help="number of requests (default %(default)s)"
    )
    _add_filters(parser)
    parser = action(actions, "export", "write the journal to a file", _export)
    parser.add_argument(
        "file", metavar="FILE", help="FILE.jsonl or FILE.parquet; - writes JSON lines to standard output"
    )
    parser.add_argument("--frames", action="store_true", help="include the raw bytes of requests and answers")
    parser.add_argument("--messages", action="store_true", help="include requests and answers field by field")
    _add_filters(parser)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    for name, metavar, text in _FILTERS:
        parser.add_argument(f"--{name}", metavar=metavar, help=f"only requests with this {text}")


def _wanted(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name.replace("-", "_"): getattr(arguments, name.replace("-", "_")) for name, _, _ in _FILTERS}


def _tail(arguments: argparse.Namespace, control: Control) -> int:
    wanted = _wanted(arguments)
    if not arguments.follow:
        for entry in control.ask("GET", "/v1/journal", limit=arguments.lines, **wanted)["entries"]:
            _print(arguments, entry)
        return 0
    # A shell without job control starts what is in the background with SIGINT ignored, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt), closing(_lines(control, wanted)) as following:
        next(following)  # from here on nothing is missed
        shown = set()
        for entry in control.ask("GET", "/v1/journal", limit=arguments.lines, **wanted)["entries"]:
            if entry["outcome"] != "pending":  # it comes once it is answered
                _print(arguments, entry)
                shown.add(entry["sequence"])
        for line in following:
            if line is not None and line.get("sequence") not in shown:
                _print(arguments, line)
    return 0


def _lines(control: Control, wanted: dict[str, Any]) -> Generator[dict[str, Any] | None]:
    """None at first, then entries as they come."""
    stream = control.with_timeout(_SILENCE_SECONDS)
    with stream.opened("GET", "/v1/journal/follow", **wanted) as response:
        for line in response:
            yield json.loads(line) if line.strip() else None


def _print(arguments: argparse.Namespace, entry: dict[str, Any]) -> None:
    if arguments.output == "json":
        output.as_json({name: value for name, value in entry.items() if name not in _ADDED}, indent=None)
    elif entry["kind"] == "left_out":
        output.warn(f"{entry['count']} requests came too fast and are left out")
    else:
        bad = entry["fault"] or any(each["code"] for each in entry["errors"])
        (output.marked if bad else output.say)(entry["text"])
    sys.stdout.flush()


def _export(arguments: argparse.Namespace, control: Control) -> int:
    file: str = arguments.file
    form = "parquet" if file.endswith(".parquet") else "jsonl"
    parameters = {**_wanted(arguments), "format": form}
    parameters |= {name: "true" for name in ("frames", "messages") if getattr(arguments, name)}
    with control.opened("GET", "/v1/journal/export", **parameters) as response:
        if file == "-":
            output.copy(response)
            return 0
        try:
            with Path(file).open("wb") as target:
                shutil.copyfileobj(response, target)
        except OSError as error:
            raise ValueError(f"cannot write {file}: {error.strerror}") from None
    if arguments.output != "json":
        output.say(f"Written to {file}.")
    else:
        output.as_json({"file": file, "format": form})
    return 0
