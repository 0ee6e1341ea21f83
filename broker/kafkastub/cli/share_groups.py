"""`kafkastub share-groups`: share groups of any broker, as kafka-share-groups.sh shows and changes them (KIP-932).

Columns and sentences are those of Apache Kafka 4.3.1 (`ShareGroupCommand`). Differences: the exit status is 1 where
something failed (Kafka's tool ends with 0), and no Java stack trace is printed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from kafkastub.cli import kafka_order, log_places, output
from kafkastub.cli.broker import add_client_action
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import add_scope, chosen, partitions_in, selected, state_of

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.cli.log_places import Partition, Plan
    from kafkastub.client import BrokerError, Client
    from kafkastub.client.share_groups import Group, ShareOffset

_EVERY: Final = "every share group"
STATES: Final = ("Empty", "Stable", "Dead")
_MISSING: Final = "-"


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    groups = commands.add_parser("share-groups", help="look at share groups of any broker, change where they start")
    actions = groups.add_subparsers(required=True, metavar="ACTION")
    parser = add_client_action(actions, "list", "list share groups", _list)
    parser.add_argument("--state", nargs="?", const="", metavar="STATE,…", help="show states, or only groups in these")
    _add_describe(actions)
    add_scope(add_client_action(actions, "delete", "delete groups that have no members", _delete), _EVERY)
    offsets = add_client_action(actions, "delete-offsets", "forget topics in a group without members", _delete_offsets)
    offsets.add_argument("--group", required=True, metavar="GROUP", help="the group")
    offsets.add_argument("--topic", required=True, action="append", metavar="TOPIC", help="a topic")
    _add_reset(actions)


def _add_describe(actions: Commands) -> None:
    parser = add_client_action(
        actions, "describe", "show where groups start, what is left, members or the state", _describe
    )
    add_scope(parser, _EVERY)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--offsets", action="store_true", help="where they start and how much is left (the default)")
    part.add_argument("--members", action="store_true", help="who is in the group")
    part.add_argument("--state", action="store_true", help="state and coordinator")
    parser.add_argument("--verbose", action="store_true", help="more columns")


def _add_reset(actions: Commands) -> None:
    text = "let a group without members start elsewhere; only shows it without --execute"
    parser = add_client_action(actions, "reset-offsets", text, _reset)
    parser.add_argument("--group", required=True, metavar="GROUP", help="the group")
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topic", action="append", metavar="TOPIC[:0,1]", help="a topic, or some of its partitions")
    topics.add_argument("--all-topics", action="store_true", help="whatever the group has read of")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--to-earliest", action="store_true", help="the start of the log")
    where.add_argument("--to-latest", action="store_true", help="the end of the log")
    where.add_argument(
        "--to-datetime",
        type=log_places.date_time,
        metavar="TIME",
        help="the first record at or after 2026-01-31T13:00:00.000",
    )
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--dry-run", action="store_true", help="only show the new offsets (the default)")
    act.add_argument("--execute", action="store_true", help="do it")


def _list(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import share_groups

    states = chosen(arguments.state, STATES, "states", "state")
    found = {one.group_id: one.state for one in share_groups.list_groups(client, states)}
    names = kafka_order.names(found)
    if arguments.output == "json":
        output.as_json([{"group": name, "state": found[name]} for name in names])
    elif arguments.state is None:
        for name in names:
            output.say(name)
    else:
        output.table({"GROUP": output.width(15, names), "STATE": 0}, [[name, found[name]] for name in names])
    return 0


# -- describe --------------------------------------------------------------------------------------------------------


def _describe(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, share_groups

    told: list[dict[str, Any]] = []
    try:
        groups = [
            share_groups.describe(client, one) for one in sorted(selected(arguments, client, share_groups.list_groups))
        ]
        of_offsets = not (arguments.members or arguments.state)
        offsets = {one.id: share_groups.offsets(client, one.id) if of_offsets else {} for one in groups}
    except BrokerError as error:
        output.error(f"Executing share group command failed due to {error.as_java_prints_it}")
        return FAILED
    for group in groups:
        if arguments.output == "json":
            told.append(_as_json(group, arguments, offsets[group.id]))
        elif arguments.members:
            _print_members(group, arguments.verbose)
        elif arguments.state:
            _print_state(group, arguments.verbose)
        else:
            _print_offsets(group.id, offsets[group.id], arguments.verbose)
    if arguments.output == "json":
        output.as_json(told)
    return 0


def _as_json(group: Group, arguments: argparse.Namespace, offsets: dict[Partition, ShareOffset]) -> dict[str, Any]:
    told: dict[str, Any] = {"group": group.id, "state": group.state}
    if arguments.members:
        return told | {"members": [asdict(one) for one in group.members]}
    if arguments.state:
        node = group.coordinator
        return told | {
            "coordinator": {"id": node.id, "host": node.host, "port": node.port},
            "group_epoch": group.epoch,
            "assignment_epoch": group.assignment_epoch,
            "assignor": group.assignor,
            "members": len(group.members),
        }
    rows = [
        {
            "topic": name,
            "partition": index,
            "leader_epoch": one.leader_epoch,
            "start_offset": one.start,
            "lag": one.lag,
        }
        for (name, index), one in sorted(offsets.items())
    ]
    return told | {"offsets": rows}


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
        epoch = [_cell(one.leader_epoch)] if verbose else []
        rows.append([group_id, name, index, *epoch, one.start, _cell(one.lag)])
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
        shown = _assignment(one.assignment)
        rows.append([group.id, one.id, one.host, one.client_id, len(one.assignment), *epoch, shown])
    output.table(columns, rows, above=True)


def _print_state(group: Group, verbose: bool) -> None:
    _warn_of_empty(group)
    node = group.coordinator
    coordinator = f"{node.host}:{node.port}  ({node.id})"
    columns = {"GROUP": output.width(15, [group.id]), "COORDINATOR (ID)": max(25, len(coordinator)), "STATE": 15}
    columns |= {"GROUP-EPOCH": 12, "ASSIGNMENT-EPOCH": 17} if verbose else {}
    columns["#MEMBERS"] = 0
    epochs = [group.epoch, group.assignment_epoch] if verbose else []
    output.table(columns, [[group.id, coordinator, group.state, *epochs, len(group.members)]], above=True)


def _warn_of_empty(group: Group) -> None:
    if group.state == "Empty":
        output.warn(f"Share group '{group.id}' has no active members.", above=True)


def _assignment(partitions: list[Partition]) -> str:
    by_topic: dict[str, list[int]] = {}
    for name, index in sorted(partitions):
        by_topic.setdefault(name, []).append(index)
    return ";".join(sorted(f"{name}:{','.join(map(str, indexes))}" for name, indexes in by_topic.items()))


# -- delete ----------------------------------------------------------------------------------------------------------


def _delete(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, share_groups

    states = {one.group_id: one.state for one in share_groups.list_groups(client)}
    failed: dict[str, str] = {}
    done = []
    for group_id in selected(arguments, client, share_groups.list_groups):
        if group_id not in states:
            failed[group_id] = f"java.lang.IllegalArgumentException: Group '{group_id}' is not a share group."
        elif states[group_id] != "Empty":
            why = f"Share group '{group_id}' is not EMPTY."
            failed[group_id] = f"org.apache.kafka.common.errors.GroupNotEmptyException: {why}"
        else:
            try:
                share_groups.delete(client, group_id)
                done.append(group_id)
            except BrokerError as error:
                failed[group_id] = error.as_java_prints_it
    if arguments.output == "json":
        output.as_json([{"group": group_id, "error": failed.get(group_id)} for group_id in [*done, *failed]])
        return FAILED if failed else 0
    quoted = ", ".join(f"'{group_id}'" for group_id in kafka_order.names(done))
    if not failed:
        output.say(f"Deletion of requested share groups ({quoted}) was successful.")
        return 0
    output.error("Deletion of some share groups failed:")
    for group_id in kafka_order.names(failed):
        output.say(f"* Group '{group_id}' could not be deleted due to: {failed[group_id]}")
    if done:
        output.say(f"These share groups were deleted successfully: {quoted}", above=True)
    return FAILED


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
        output.error(f"Executing share group command failed due to {error.message}")
        return FAILED
    ordered = [(arguments.group, *place, plan[place]) for place in kafka_order.partitions(plan)]
    if arguments.output == "json":
        names = ("group", "topic", "partition", "new_offset")
        output.as_json([dict(zip(names, row, strict=True)) for row in ordered])
    else:
        columns = {
            "GROUP": output.width(15, [arguments.group]),
            "TOPIC": output.width(15, (name for name, _ in plan)),
            "PARTITION": 10,
        }
        output.table(columns | {"NEW-OFFSET": 0}, ordered, above=True)
    return 0


def _plan(arguments: argparse.Namespace, client: Client) -> Plan:
    """Where the group is to start. Raises BrokerError, UsageError."""
    from kafkastub.client import share_groups, topics

    if arguments.all_topics:
        wanted = list(share_groups.offsets(client, arguments.group))
    else:
        wanted = [one for text in arguments.topic if ":" in text for one in partitions_in(text)]
        for topic in topics.describe(client, [text for text in arguments.topic if ":" not in text]).values():
            wanted += [(topic.name, partition.index) for partition in topic.partitions]
        wanted = list(dict.fromkeys(wanted))
    log_places.check(client, wanted)
    if arguments.to_datetime is not None:
        return log_places.since(client, wanted, arguments.to_datetime)
    return log_places.at(client, wanted, -2 if arguments.to_earliest else -1)


# -- what all print --------------------------------------------------------------------------------------------------


def _cell(value: object) -> object:
    return _MISSING if value is None else value
