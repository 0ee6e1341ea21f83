"""What `kafkastub groups`, `share-groups` and `streams-groups` do alike: their options, and what all of them print."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkastub.cli import kafka_order, output
from kafkastub.cli.broker import add_client_action
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import add_scope, chosen, selected

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.cli.log_places import Partition
    from kafkastub.client import Client, Node
    from kafkastub.client.of_groups import Listing

    Work = Callable[[argparse.Namespace, Client], int]

Row = dict[str, Any]
MISSING: Final = "-"


class Group(Protocol):
    """A group of any type, as `kafkastub.client` describes it."""

    @property
    def id(self) -> str: ...
    @property
    def coordinator(self) -> Node: ...
    @property
    def state(self) -> str: ...
    @property
    def members(self) -> Sequence[Any]: ...


# -- options ---------------------------------------------------------------------------------------------------------


def add_list(actions: Commands, kind: str, work: Work) -> argparse.ArgumentParser:
    """Add `list` to the actions."""
    parser = add_client_action(actions, "list", f"list {kind} groups", work)
    parser.add_argument("--state", nargs="?", const="", metavar="STATE,…", help="show states, or only groups in these")
    return parser


def add_describe(
    actions: Commands,
    kind: str,
    work: Work,
    text: str,
    offsets: str,
    members: str = "who is in the group",
    state: str = "state and coordinator",
) -> None:
    """Add `describe`, with a text for it and for each part that it shows."""
    parser = add_client_action(actions, "describe", text, work)
    add_scope(parser, kind)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--offsets", action="store_true", help=offsets)
    part.add_argument("--members", action="store_true", help=members)
    part.add_argument("--state", action="store_true", help=state)
    parser.add_argument("--verbose", action="store_true", help="more columns")


def add_delete(actions: Commands, kind: str, work: Work) -> argparse.ArgumentParser:
    """Add `delete`."""
    parser = add_client_action(actions, "delete", "delete groups that have no members", work)
    add_scope(parser, kind)
    return parser


def add_of_one(actions: Commands, name: str, text: str, work: Work) -> argparse.ArgumentParser:
    """Add an action on one group."""
    parser = add_client_action(actions, name, text, work)
    parser.add_argument("--group", required=True, metavar="GROUP", help="the group")
    return parser


# -- what is done ----------------------------------------------------------------------------------------------------


def list_of_type(
    arguments: argparse.Namespace,
    client: Client,
    states: tuple[str, ...],
    list_groups: Callable[[Client, list[str]], Iterable[Listing]],
) -> int:
    """`list` of the groups of one type, which can be in these states."""
    wanted = chosen(arguments.state, states, "states", "state")
    found = {one.group_id: one.state for one in list_groups(client, wanted)}
    names = kafka_order.names(found)
    if arguments.output == "json":
        output.as_json([{"group": name, "state": found[name]} for name in names])
    elif arguments.state is None:
        for name in names:
            output.say(name)
    else:
        output.table({"GROUP": output.width(15, names), "STATE": 0}, [[name, found[name]] for name in names])
    return 0


def delete_of_type(
    arguments: argparse.Namespace,
    client: Client,
    kind: str,
    unknown: str,
    list_groups: Callable[[Client], Iterable[Listing]],
    delete: Callable[[str], None],
) -> tuple[list[str], dict[str, str]]:
    """Delete the groups that the options name: those that are gone, and why others are not.

    Args:
        unknown: what is said of one that there is not, or that is of another type.
    """
    from kafkastub.client import BrokerError

    states = {one.group_id: one.state for one in list_groups(client)}
    failed: dict[str, str] = {}
    done = []
    for group_id in selected(arguments, client, list_groups):
        if group_id not in states:
            failed[group_id] = f"java.lang.IllegalArgumentException: Group '{group_id}' {unknown}"
        elif states[group_id] != "Empty":
            why = f"{kind.capitalize()} group '{group_id}' is not EMPTY."
            failed[group_id] = f"org.apache.kafka.common.errors.GroupNotEmptyException: {why}"
        else:
            try:
                delete(group_id)
                done.append(group_id)
            except BrokerError as error:
                failed[group_id] = error.as_java_prints_it
    return done, failed


# -- what is printed -------------------------------------------------------------------------------------------------


def executed(kind: str, why: str) -> int:
    """Say as Kafka's tools say it that the broker refused."""
    output.error(f"Executing {kind} group command failed due to {why}")
    return FAILED


def print_deleted(kind: str, done: Iterable[str], failed: Mapping[str, str], *, none: str = "", end: str = "") -> None:
    """Which groups were deleted, and why others were not; `none` stands for no names."""
    quoted = ", ".join(f"'{group_id}'" for group_id in kafka_order.names(done))
    if not failed:
        output.say(f"Deletion of requested {kind} groups ({quoted or none}) was successful.")
        return
    output.error(f"Deletion of some {kind} groups failed:")
    for group_id in kafka_order.names(failed):
        output.say(f"* Group '{group_id}' could not be deleted due to: {failed[group_id]}")
    if quoted:
        output.say(f"These {kind} groups were deleted successfully: {quoted}{end}", above=True)


def part_of(arguments: argparse.Namespace) -> str:
    """Which part `describe` is to show."""
    return "members" if arguments.members else "state" if arguments.state else "offsets"


def as_json(group: Group, part: str, offsets: list[Row], of_state: Row) -> Row:
    """A description; `of_state` is what the state of a group of this type has of its own."""
    told: Row = {"group": group.id, "state": group.state}
    if part == "members":
        return told | {"members": [asdict(one) for one in group.members]}
    if part == "state":
        node = group.coordinator
        coordinator = {"id": node.id, "host": node.host, "port": node.port}
        return told | {"coordinator": coordinator, **of_state, "members": len(group.members)}
    return told | {"offsets": offsets}


def print_state(
    group: Group, more: Mapping[str, tuple[int, object]], *, between: str = "  ", above: bool = True
) -> None:
    """The table of a group's state; `more` columns by name: how wide, and what is in it."""
    node = group.coordinator
    coordinator = f"{node.host}:{node.port}{between}({node.id})"
    columns = {"GROUP": output.width(15, [group.id]), "COORDINATOR (ID)": output.width(25, [coordinator])}
    columns |= {name: width for name, (width, _) in more.items()} | {"#MEMBERS": 0}
    cells = [cell for _, cell in more.values()]
    output.table(columns, [[group.id, coordinator, *cells, len(group.members)]], above=above)


def cell(value: object) -> str:
    """What stands in a table."""
    return MISSING if value is None else str(value)


def assignment(partitions: Iterable[Partition]) -> str:
    """`audit:0;orders:0,1`."""
    by_topic: dict[str, list[int]] = {}
    for name, index in sorted(partitions):
        by_topic.setdefault(name, []).append(index)
    return ";".join(sorted(f"{name}:{','.join(map(str, indexes))}" for name, indexes in by_topic.items()))
