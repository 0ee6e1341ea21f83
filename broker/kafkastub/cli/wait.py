"""`kafkastub wait`: until something has come, over the control port.

Exit status 0 once it is so; 1, and a sentence that says how it is, where it is not so in time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from kafkastub.cli import output
from kafkastub.cli.common import FAILED, add_action, add_output_option, printing, refuse
from kafkastub.cli.control import Control, ControlError, add_address_options

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_LONGEST: Final = 60
"""Seconds that the control port lets one request wait; one that is to wait for longer is asked again."""
_ON_THE_WAY: Final = 10
"""Seconds that an answer may take beside what it waits for."""
_TIMED_OUT: Final = 408

Ask = Callable[[Control, float], Any]
"""Asks once, and waits for so many seconds at most."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    wait = commands.add_parser("wait", help="wait for a topic, records, a group, a request, quiet …")
    actions = wait.add_subparsers(required=True, metavar="WHAT")
    parser = _action(actions, "topic", "a topic, and for its records", _topic)
    parser.add_argument("name", metavar="TOPIC")
    parser.add_argument("--partitions", type=int, metavar="N", help="at least N partitions")
    parser.add_argument("--records", type=int, metavar="N", help="at least N records that match the other options")
    parser.add_argument("--key", metavar="TEXT", help="with --records: only records with this key")
    parser.add_argument(
        "--contains", metavar="TEXT", help="with --records: only records whose value contains this text"
    )
    parser.add_argument(
        "--isolation", choices=("read_uncommitted", "read_committed"), help="with --records: isolation level"
    )
    parser = _action(actions, "group", "a group: for its state, the number of its members, or a small lag", _group)
    parser.add_argument("name", metavar="GROUP")
    parser.add_argument("--state", metavar="STATE", help="state of the group: Stable, Empty, Dead …")
    parser.add_argument("--members", type=int, metavar="N", help="exactly N members")
    parser.add_argument("--lag", type=int, metavar="N", help="a lag of at most N records in each partition")
    parser.add_argument("--topic", metavar="TOPIC", help="with --lag: only this topic")
    parser = _action(actions, "assigned", "members of a group to have exactly these partitions", _assigned)
    parser.add_argument("name", metavar="GROUP")
    parser.add_argument(
        "members",
        metavar="MEMBER=TOPIC:N,…",
        nargs="+",
        type=_member,
        help="member and its partitions: one=orders:0,orders:1",
    )
    parser = _action(
        actions, "share-group", "records of a share group: all of them done, or acquired by members", _share
    )
    parser.add_argument("name", metavar="GROUP")
    parser.add_argument("--lag", type=int, metavar="N", help="at most N records of each partition not done")
    parser.add_argument("--acquired", type=int, metavar="N", help="at least N records acquired by members")
    parser.add_argument("--held", type=int, metavar="N", help="held acknowledgements of at least N records")
    parser.add_argument("--topic", metavar="TOPIC", help="only this topic")
    text = "a streams group: for all of its tasks to be running, or for members to have these tasks"
    parser = _action(actions, "streams-group", text, _streams)
    parser.add_argument("name", metavar="GROUP")
    parser.add_argument(
        "active",
        metavar="MEMBER=SUBTOPOLOGY:N,…",
        nargs="*",
        type=_tasks,
        help="member and its active tasks: one=0:0,0:1",
    )
    text = "status of the group: MISSING_SOURCE_TOPICS …"
    parser.add_argument("--status", metavar="STATUS", help=text)
    parser.add_argument("--members", type=int, metavar="N", help="exactly N members that run the tasks")
    parser = _action(actions, "transaction", "a transactional id in a state", _transaction)
    parser.add_argument("name", metavar="ID")
    parser.add_argument(
        "--state", metavar="STATE", required=True, help="state of the transaction: CompleteCommit, Ongoing, Dead …"
    )
    parser = _action(actions, "request", "an answered request that matches", _request)
    for name in ("api", "group", "topic", "client-id", "error", "fault", "transactional-id", "since"):
        parser.add_argument(f"--{name}", metavar="TEXT", help="as in `kafkastub journal tail`")
    parser = _action(actions, "fault", "a fault rule to fire, or to hold requests", _fault)
    parser.add_argument("name", metavar="FAULT_ID")
    parser.add_argument("--hits", type=int, metavar="N", help="at least N hits (default 1)")
    parser.add_argument("--held", type=int, metavar="N", help="at least N requests held")
    parser = _action(actions, "quiet", "quiet: no requests, except those that clients always send", _quiet)
    parser.add_argument(
        "--seconds", type=float, default=0.2, metavar="SECONDS", help="seconds without such requests (default 0.2)"
    )
    parser.add_argument(
        "--ignoring", action="append", metavar="API", help="API whose requests do not count; may be given several times"
    )


def _action(
    actions: Commands, name: str, text: str, asking: Callable[[argparse.Namespace], Ask]
) -> argparse.ArgumentParser:
    def run(arguments: argparse.Namespace) -> int:
        try:
            ask = asking(arguments)
            longest = min(arguments.timeout, _LONGEST) + _ON_THE_WAY
            return _until(arguments, ask, Control(arguments.control, longest, arguments.control_token))
        except ValueError as error:
            return refuse(str(error))

    parser = add_action(actions, name, f"wait for {text}")
    parser.set_defaults(run=printing(run))
    add_address_options(parser, 5, "seconds to wait")
    add_output_option(parser)
    return parser


def _until(arguments: argparse.Namespace, ask: Ask, control: Control) -> int:
    deadline = time.monotonic() + arguments.timeout
    while True:
        left = deadline - time.monotonic()
        try:
            answer = ask(control, round(max(min(left, _LONGEST), 0), 3))
        except ControlError as error:
            if error.status == _TIMED_OUT and left > _LONGEST:
                continue
            in_all = f", {arguments.timeout:g} s in all" if arguments.timeout > _LONGEST else ""
            refuse(f"{error}{in_all}")
            return FAILED
        if arguments.output == "json":
            output.as_json(answer)
        return 0


def _get(path: str, **parameters: Any) -> Ask:
    return lambda control, seconds: control.ask("GET", path, None, timeout=seconds, **parameters)


def _named(path: str, name: str, rest: str = "/wait") -> str:
    return f"{path}/{quote(name, safe='')}{rest}"


def _topic(arguments: argparse.Namespace) -> Ask:
    return _get(
        _named("/v1/topics", arguments.name),
        partitions=arguments.partitions,
        records=arguments.records,
        key=arguments.key,
        contains=arguments.contains,
        isolation=arguments.isolation,
    )


def _group(arguments: argparse.Namespace) -> Ask:
    state = arguments.state
    if state is None and arguments.members is None and arguments.lag is None:
        state = "Stable"
    return _get(
        _named("/v1/groups", arguments.name),
        state=state,
        members=arguments.members,
        lag=arguments.lag,
        topic=arguments.topic,
    )


def _assigned(arguments: argparse.Namespace) -> Ask:
    assignment = dict(arguments.members)
    path = _named("/v1/groups", arguments.name, "/wait-assigned")
    return lambda control, seconds: control.ask("POST", path, {"assignment": assignment, "timeout": seconds})


def _share(arguments: argparse.Namespace) -> Ask:
    names = ("lag", "acquired", "held", "topic")
    return _get(_named("/v1/share-groups", arguments.name), **{name: getattr(arguments, name) for name in names})


def _streams(arguments: argparse.Namespace) -> Ask:
    said = {"status": arguments.status, "members": arguments.members}
    body: dict[str, Any] = {**said, "active": dict(arguments.active) or None}
    path = _named("/v1/streams-groups", arguments.name)
    return lambda control, seconds: control.ask("POST", path, {**body, "timeout": seconds})


def _transaction(arguments: argparse.Namespace) -> Ask:
    return _get(_named("/v1/transactions", arguments.name, ""), state=arguments.state)


def _request(arguments: argparse.Namespace) -> Ask:
    names = ("api", "group", "topic", "client_id", "error", "fault", "transactional_id", "since")
    return _get("/v1/journal/wait", **{name: getattr(arguments, name) for name in names})


def _fault(arguments: argparse.Namespace) -> Ask:
    return _get(_named("/v1/faults", arguments.name), hits=arguments.hits, held=arguments.held)


def _quiet(arguments: argparse.Namespace) -> Ask:
    return _get("/v1/journal/wait-quiet", seconds=arguments.seconds, ignoring=arguments.ignoring)


def _member(text: str) -> tuple[str, Sequence[dict[str, Any]]]:
    """`one=orders:0,orders:1`; nothing behind the sign for a member that has nothing."""
    name, found = _named_places(text, "partition", "TOPIC:N", "orders:0")
    return name, [{"topic": topic, "partition": index} for topic, index in found]


def _tasks(text: str) -> tuple[str, Sequence[dict[str, Any]]]:
    """`one=0:0,0:1`: tasks, as `_member` has partitions."""
    name, found = _named_places(text, "task", "SUBTOPOLOGY:N", "0:1")
    return name, [{"subtopology": subtopology, "partition": index} for subtopology, index in found]


def _named_places(text: str, kind: str, form: str, example: str) -> tuple[str, list[tuple[str, int]]]:
    name, sign, places = text.rpartition("=")
    found = []
    for place in filter(None, places.split(",")):
        first, colon, index = place.rpartition(":")
        if not colon or not index.isascii() or not index.isdigit():
            raise argparse.ArgumentTypeError(f"{place!r} is not a {kind}: expected {form}, for example {example}")
        found.append((first, int(index)))
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} names no member: expected MEMBER={form},…, such as one={example}")
    return name, found
