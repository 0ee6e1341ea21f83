"""The commands about groups: `kafkastub groups`, `share-groups` and `streams-groups`, but for what a type adds."""

from __future__ import annotations

import argparse
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkastub.cli import kafka_order, output
from kafkastub.cli.broker import add_client_action
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import add_scope, chosen, selected

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.cli.log_places import Partition
    from kafkastub.client import Client
    from kafkastub.client.of_groups import Group

    Work = Callable[[argparse.Namespace, Client], int]

Row = dict[str, Any]
Widths = Mapping[str, int]
MISSING: Final = "-"
_AS_WIDE_AS_NEEDED: Final = {
    "GROUP", "TOPIC", "COORDINATOR (ID)", "CONSUMER-ID", "GROUP-INSTANCE-ID", "MEMBER", "PROCESS", "HOST", "CLIENT-ID",
    "CURRENT-ASSIGNMENT", "TARGET-ASSIGNMENT",
}  # fmt: skip
"""Columns that have their width at least, unless that is 0, as it is of the last column."""


class GroupCommand(ABC):
    """The command about groups of one type. What Kafka's tools do differently from type to type is said here.

    Attributes:
        kind: how messages call such groups.
        states, types: in which states they can be, and of which types where that is more than one.
        plural: what is behind "state" and "type" where such a list is refused.
        list_widths: of the table of `list`: how much more the first column has than it needs, and of the others.
        client: the module of `kafkastub.client` for them.
        texts: of `describe`, and of its options --offsets, --members, --state.
        tables: how wide which columns are of each part that `describe` shows, and of the same with --verbose.
        without: what JSON does not tell of a member.
        at_once: whether `describe` shows a group before it asks for the next one; else it shows all, by name.
        spaced, between: an empty line above a table, and what stands before the coordinator's id.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    kind: ClassVar[str]
    states: ClassVar[tuple[str, ...]]
    types: ClassVar[tuple[str, ...]] = ()
    plural: ClassVar[str] = ""
    list_widths: ClassVar[tuple[int, int]] = (0, 0)
    client: ClassVar[str]
    texts: ClassVar[tuple[str, str, str, str]]
    tables: ClassVar[Mapping[str, tuple[Widths, Widths]]]
    without: ClassVar[Collection[str]] = ()
    at_once: ClassVar[bool] = False
    spaced: ClassVar[bool] = True
    between: ClassVar[str] = "  "

    @property
    def client_module(self) -> Any:
        """The client's module, loaded when it is first asked."""
        return import_module(f"kafkastub.client.{self.client}")

    def add_to(self, commands: Commands) -> None:
        """Add the command to the parser."""
        groups = commands.add_parser(self.name, help=self.help)
        actions = groups.add_subparsers(required=True, metavar="ACTION")
        self._add_list(actions)
        self._add_describe(actions)
        self.add_delete(actions)
        self.add_more(actions)

    def _add_list(self, actions: Commands) -> None:
        parser = add_client_action(actions, "list", f"list {self.kind} groups", self.list_groups)
        text = "also show the states; with STATE, list only groups in these states"
        parser.add_argument("--state", nargs="?", const="", metavar="STATE,…", help=text)
        if self.types:
            text = "also show the types; with TYPE, list only groups of these types"
            parser.add_argument("--type", nargs="?", const="", metavar="TYPE,…", help=text)

    def _add_describe(self, actions: Commands) -> None:
        text, offsets, members, state = self.texts
        parser = add_client_action(actions, "describe", text, self.describe)
        add_scope(parser, self.kind)
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--offsets", action="store_true", help=offsets)
        part.add_argument("--members", action="store_true", help=members)
        part.add_argument("--state", action="store_true", help=state)
        parser.add_argument("--verbose", action="store_true", help="show more columns")

    def add_delete(self, actions: Commands) -> argparse.ArgumentParser:
        """Add `delete`."""
        parser = add_client_action(actions, "delete", "delete groups that have no members", self.delete)
        add_scope(parser, self.kind)
        return parser

    @abstractmethod
    def add_more(self, actions: Commands) -> None:
        """Add the actions that only this type has."""

    # -- list ----------------------------------------------------------------------------------------------------------

    def list_groups(self, arguments: argparse.Namespace, client: Client) -> int:
        """`list`."""
        allowed = {"state": self.states} | ({"type": self.types} if self.types else {})
        given = {name: getattr(arguments, name) for name in allowed}
        wanted = {f"{name}s": chosen(given[name], allowed[name], f"{name}s", name + self.plural) for name in given}
        found = {one.group_id: one for one in self.client_module.list_groups(client, **wanted)}
        ids, told = kafka_order.names(found), [name for name in ("type", "state") if name in allowed]
        shown = [name for name in told if given[name] is not None]
        if arguments.output == "json":
            output.as_json([{"group": one, **{name: getattr(found[one], name) for name in told}} for one in ids])
        elif shown:
            more, width = self.list_widths
            columns = {"GROUP": output.width(15, ids) + more} | dict.fromkeys(map(str.upper, shown), width)
            output.table(columns, [[one, *(getattr(found[one], name) for name in shown)] for one in ids])
        else:
            for one in ids:
                output.say(one)
        return 0

    # -- describe ------------------------------------------------------------------------------------------------------

    def describe(self, arguments: argparse.Namespace, client: Client) -> int:
        """`describe`."""
        from kafkastub.client import BrokerError

        part = "members" if arguments.members else "state" if arguments.state else "offsets"
        ids = selected(arguments, client, self.client_module.list_groups)
        as_json, found = arguments.output == "json", []
        try:
            for group_id in ids if self.at_once else output.progress(sorted(ids), "asking"):
                group = self.client_module.describe(client, group_id)
                found.append((group, self.offsets(client, group) if part == "offsets" else []))
                if self.at_once and not as_json:
                    self._show(*found[-1], part, arguments.verbose)
        except BrokerError as error:
            return executed(self.kind, error.as_java_prints_it)
        if as_json:
            output.as_json([self._told(group, rows, part) for group, rows in found])
        elif not self.at_once:
            for group, rows in found:
                self._show(group, rows, part, arguments.verbose)
        # brokers before DescribeGroups v6 call a group that does not exist dead
        return FAILED if any(group.state == "Dead" for group, _ in found) else 0

    def _told(self, group: Group[Any], rows: list[Row], part: str) -> Row:
        told: Row = {"group": group.id, "state": group.state}
        if part == "members":
            members = [asdict(one) for one in group.members]
            return told | {"members": [{n: one[n] for n in one if n not in self.without} for one in members]}
        if part == "state":
            node = group.coordinator
            coordinator = {"id": node.id, "host": node.host, "port": node.port}
            return told | {"coordinator": coordinator, **self.of_state(group), "members": len(group.members)}
        return told | {"offsets": rows}

    def _show(self, group: Group[Any], rows: list[Row], part: str, verbose: bool) -> None:
        """Print it as a table, if there is one to show."""
        if part == "members":
            rows = self.members(group, verbose)
        elif part == "state":
            node, told = group.coordinator, self._told(group, [], part)
            told |= {
                "#members": told["members"],
                "coordinator_(id)": f"{node.host}:{node.port}{self.between}({node.id})",
            }
            rows = [{name: MISSING if value == "" else value for name, value in told.items()}]
        rows = [{"group": group.id, **row} for row in rows]
        if self.is_shown(group, part, rows):
            print_rows(rows, self.columns(group, part, verbose), above=self.spaced)

    def columns(self, group: Any, part: str, verbose: bool) -> Widths:
        """Of the table of a part."""
        columns = self.tables[part][verbose]
        return {"GROUP": 15, "COORDINATOR (ID)": 25, **columns, "#MEMBERS": 0} if part == "state" else columns

    @abstractmethod
    def offsets(self, client: Client, group: Any) -> list[Row]:
        """A group's offsets as JSON tells them. Raises BrokerError."""

    @abstractmethod
    def members(self, group: Any, verbose: bool) -> list[Row]:
        """A group's members as the table has them."""

    @abstractmethod
    def of_state(self, group: Any) -> Row:
        """What is told of the state of a group of this type alone."""

    @abstractmethod
    def is_shown(self, group: Any, part: str, rows: list[Row]) -> bool:
        """Whether the table is shown; what is to be said about the group's state is said first."""

    # -- delete --------------------------------------------------------------------------------------------------------

    @abstractmethod
    def delete(self, arguments: argparse.Namespace, client: Client) -> int:
        """`delete`."""

    def delete_empty(
        self, arguments: argparse.Namespace, client: Client, unknown: str, delete: Callable[[str], None]
    ) -> tuple[list[str], dict[str, str]]:
        """Delete the groups that the options name: those that are gone, and why others are not.

        Args:
            unknown: what is said of one that there is not, or that is of another type.
        """
        from kafkastub.client import BrokerError

        states = {one.group_id: one.state for one in self.client_module.list_groups(client)}
        failed: dict[str, str] = {}
        done = []
        for group_id in selected(arguments, client, self.client_module.list_groups):
            if group_id not in states:
                failed[group_id] = f"java.lang.IllegalArgumentException: Group '{group_id}' {unknown}"
            elif states[group_id] != "Empty":
                why = f"{self.kind.capitalize()} group '{group_id}' is not EMPTY."
                failed[group_id] = f"org.apache.kafka.common.errors.GroupNotEmptyException: {why}"
            else:
                try:
                    delete(group_id)
                    done.append(group_id)
                except BrokerError as error:
                    failed[group_id] = error.as_java_prints_it
        return done, failed


def add_of_one(actions: Commands, name: str, text: str, work: Work) -> argparse.ArgumentParser:
    """Add an action on one group."""
    parser = add_client_action(actions, name, text, work)
    parser.add_argument("--group", required=True, metavar="GROUP", help="the group")
    return parser


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


def print_rows(rows: list[Row], columns: Widths, *, above: bool) -> None:
    """A table of rows by lower-case names of the columns."""
    cells = {name: [cell(row[re.sub("[- ]", "_", name.lower())]) for row in rows] for name in columns}
    widths = {
        name: output.width(least, cells[name]) if least and name in _AS_WIDE_AS_NEEDED else least
        for name, least in columns.items()
    }
    output.table(widths, list(zip(*cells.values(), strict=True)), above=above)


def cell(value: object) -> str:
    """What stands in a table."""
    return MISSING if value is None else str(value)


def assignment(partitions: Iterable[Partition]) -> str:
    """`audit:0;orders:0,1`."""
    by_topic: dict[str, list[int]] = {}
    for name, index in sorted(partitions):
        by_topic.setdefault(name, []).append(index)
    return ";".join(sorted(f"{name}:{','.join(map(str, indexes))}" for name, indexes in by_topic.items()))
