"""`kafkastub share-groups`: share groups of any broker, as kafka-share-groups.sh shows and changes them (KIP-932).

Columns and sentences are those of Apache Kafka 4.3.1 (`ShareGroupCommand`). Differences: the exit status is 1 where
something failed (Kafka's tool ends with 0), and no Java stack trace is printed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from kafkastub.cli import kafka_order, log_places, of_groups, output
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import named_partitions, selected, state_of
from kafkastub.cli.groups_reset import add_date_time, add_ends, add_execute, show
from kafkastub.cli.of_groups import Row

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.cli.log_places import Partition, Plan
    from kafkastub.client import BrokerError, Client
    from kafkastub.client.share_groups import Group, ShareOffset

_KIND: Final = "share"
STATES: Final = ("Empty", "Stable", "Dead")


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    groups = commands.add_parser("share-groups", help="look at share groups of any broker, change where they start")
    actions = groups.add_subparsers(required=True, metavar="ACTION")
    of_groups.add_list(actions, _KIND, _list)
    of_groups.add_describe(
        actions,
        _KIND,
        _describe,
        "show where groups start, what is left, members or the state",
        "where they start and how much is left (the default)",
    )
    of_groups.add_delete(actions, _KIND, _delete)
    offsets = of_groups.add_of_one(
        actions, "delete-offsets", "forget topics in a group without members", _delete_offsets
    )
    offsets.add_argument("--topic", required=True, action="append", metavar="TOPIC", help="a topic")
    _add_reset(actions)


def _add_reset(actions: Commands) -> None:
    text = "let a group without members start elsewhere; only shows it without --execute"
    parser = of_groups.add_of_one(actions, "reset-offsets", text, _reset)
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topic", action="append", metavar="TOPIC[:0,1]", help="a topic, or some of its partitions")
    topics.add_argument("--all-topics", action="store_true", help="whatever the group has read of")
    where = parser.add_mutually_exclusive_group(required=True)
    add_ends(where)
    add_date_time(where)
    add_execute(parser)
    parser.set_defaults(export=False)


def _list(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import share_groups

    return of_groups.list_of_type(arguments, client, STATES, share_groups.list_groups)


# -- describe --------------------------------------------------------------------------------------------------------


def _describe(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, share_groups

    part = of_groups.part_of(arguments)
    try:
        groups = [
            share_groups.describe(client, one) for one in sorted(selected(arguments, client, share_groups.list_groups))
        ]
        offsets = {one.id: share_groups.offsets(client, one.id) if part == "offsets" else {} for one in groups}
    except BrokerError as error:
        return of_groups.executed(_KIND, error.as_java_prints_it)
    if arguments.output == "json":
        output.as_json([of_groups.as_json(one, part, _rows(offsets[one.id]), _of_state(one)) for one in groups])
        return 0
    for group in groups:
        if part == "members":
            _print_members(group, arguments.verbose)
        elif part == "state":
            _print_state(group, arguments.verbose)
        else:
            _print_offsets(group.id, offsets[group.id], arguments.verbose)
    return 0


def _of_state(group: Group) -> Row:
    return {"group_epoch": group.epoch, "assignment_epoch": group.assignment_epoch, "assignor": group.assignor}


def _rows(offsets: dict[Partition, ShareOffset]) -> list[Row]:
    return [
        {
            "topic": name,
            "partition": index,
            "leader_epoch": one.leader_epoch,
            "start_offset": one.start,
            "lag": one.lag,
        }
        for (name, index), one in sorted(offsets.items())
    ]


def _print_offsets(group_id: str, offsets: dict[Partition, ShareOffset], verbose: bool) -> None:
    known = {place: one for place, one in sorted(offsets.items()) if one.start >= 0}
    if not known:
        output.say(f"Share group '{group_id}' has no offset information.", above=True)
        return
    columns = {
        "GROUP": output.width(15, [group_id]),
        "TOPIC": output.width(15, (name for name, _ in known)),
        "PARTITION": 10,
    }
    columns |= {"LEADER-EPOCH": 13} if verbose else {}
    columns |= {"START-OFFSET": 13, "LAG": 0}
    rows: list[list[object]] = []
    for (name, index), one in known.items():
        epoch = [of_groups.cell(one.leader_epoch)] if verbose else []
        rows.append([group_id, name, index, *epoch, one.start, of_groups.cell(one.lag)])
    output.table(columns, rows, above=True)


def _print_members(group: Group, verbose: bool) -> None:
    _warn_of_empty(group)
    if not group.members:
        return
    members = sorted(group.members, key=lambda one: one.id)
    columns = {
        "GROUP": output.width(15, [group.id]),
        "CONSUMER-ID": output.width(15, (one.id for one in members)),
        "HOST": output.width(15, (one.host for one in members)),
        "CLIENT-ID": output.width(15, (one.client_id for one in members)),
        "#PARTITIONS": 12,
    }
    columns |= {"MEMBER-EPOCH": 13} if verbose else {}
    columns["ASSIGNMENT"] = 0
    rows: list[list[object]] = []
    for one in members:
        epoch = [one.epoch] if verbose else []
        shown = of_groups.assignment(one.assignment)
        rows.append([group.id, one.id, one.host, one.client_id, len(one.assignment), *epoch, shown])
    output.table(columns, rows, above=True)


def _print_state(group: Group, verbose: bool) -> None:
    _warn_of_empty(group)
    columns: dict[str, tuple[int, object]] = {"STATE": (15, group.state)}
    if verbose:
        columns |= {"GROUP-EPOCH": (12, group.epoch), "ASSIGNMENT-EPOCH": (17, group.assignment_epoch)}
    of_groups.print_state(group, columns)


def _warn_of_empty(group: Group) -> None:
    if group.state == "Empty":
        output.warn(f"Share group '{group.id}' has no active members.", above=True)


# -- delete ----------------------------------------------------------------------------------------------------------


def _delete(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import share_groups

    done, failed = of_groups.delete_of_type(
        arguments,
        client,
        _KIND,
        "is not a share group.",
        share_groups.list_groups,
        lambda group_id: share_groups.delete(client, group_id),
    )
    if arguments.output == "json":
        output.as_json([{"group": group_id, "error": failed.get(group_id)} for group_id in [*done, *failed]])
    else:
        of_groups.print_deleted(_KIND, done, failed)
    return FAILED if failed else 0


def _delete_offsets(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, share_groups

    names = sorted(set(arguments.topic))
    failure: BrokerError | None = None
    results: dict[str, BrokerError | None] = {}
    try:
        results = share_groups.delete_offsets(client, arguments.group, names)
    except BrokerError as error:
        failure = error
        results = dict.fromkeys(names, error)
    if arguments.output == "json":
        topics = [{"topic": name, "error": error and error.message} for name, error in sorted(results.items())]
        output.as_json({"group": arguments.group, "error": failure and failure.code.name, "topics": topics})
    else:
        if failure is not None:
            output.error(failure.message)
        rows = [[name, f"Error: {error.message}" if error else "Successful"] for name, error in sorted(results.items())]
        output.table({"TOPIC": output.width(15, names), "STATUS": 0}, rows, above=True)
    return FAILED if any(results.values()) else 0


# -- reset -----------------------------------------------------------------------------------------------------------


def _reset(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, share_groups

    try:
        state = state_of(share_groups.describe, client, arguments.group)
    except BrokerError as error:
        output.warn(error.message)
        return FAILED
    if state not in ("Empty", "Dead"):
        output.warn(f"Share group '{arguments.group}' is not empty.")
        return FAILED
    try:
        plan = _plan(arguments, client)
        if arguments.execute:
            for refused in share_groups.alter_offsets(client, arguments.group, plan).values():
                raise refused
    except BrokerError as error:
        return of_groups.executed(_KIND, error.message)
    widths = [output.width(15, [arguments.group]), output.width(15, (name for name, _ in plan)), 10, 0]
    show(arguments, {arguments.group: {one: plan[one] for one in kafka_order.partitions(plan)}}, widths)
    return 0


def _plan(arguments: argparse.Namespace, client: Client) -> Plan:
    """Where the group is to start. Raises BrokerError, UsageError."""
    from kafkastub.client import share_groups

    if arguments.all_topics:
        wanted = list(share_groups.offsets(client, arguments.group))
    else:
        wanted = named_partitions(client, arguments.topic)
    log_places.check(client, wanted)
    if arguments.to_datetime is not None:
        return log_places.since(client, wanted, arguments.to_datetime)
    return log_places.at(client, wanted, -2 if arguments.to_earliest else -1)
