"""`kafkastub streams-groups`: groups of Kafka Streams of any broker, as kafka-streams-groups.sh shows and changes them.

Columns and sentences are those of Apache Kafka 4.3.1 (`StreamsGroupCommand`, KIP-1071). Differences: the exit status
is 1 where something failed (Kafka's tool often ends with 0), and no Java stack trace is printed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from kafkastub.cli import groups as any_groups
from kafkastub.cli import kafka_order, output
from kafkastub.cli.broker import add_client_action
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import add_scope, chosen, selected
from kafkastub.cli.streams_groups_named import inputs, internal_topics

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client
    from kafkastub.client.streams_groups import Group, Member

_EVERY: Final = "every streams group"
STATES: Final = ("Empty", "NotReady", "Stable", "Assigning", "Reconciling", "Dead")
_Row = dict[str, Any]


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    groups = commands.add_parser("streams-groups", help="look at groups of Kafka Streams of any broker, change them")
    actions = groups.add_subparsers(required=True, metavar="ACTION")
    parser = add_client_action(actions, "list", "list streams groups", _list)
    parser.add_argument("--state", nargs="?", const="", metavar="STATE,…", help="show states, or only groups in these")
    _add_describe(actions)
    delete = add_client_action(actions, "delete", "delete groups that have no members", _delete)
    add_scope(delete, _EVERY)
    delete.add_argument("--delete-all-internal-topics", action="store_true", help="and the topics of their own")
    offsets = add_client_action(actions, "delete-offsets", "delete offsets of a group", _delete_offsets)
    offsets.add_argument("--group", required=True, metavar="GROUP", help="the group")
    scope = offsets.add_mutually_exclusive_group(required=True)
    text = "a source topic, or some of its partitions"
    scope.add_argument("--input-topic", dest="topic", action="append", metavar="TOPIC[:0,1]", help=text)
    scope.add_argument("--all-input-topics", dest="all_topics", action="store_true", help="all source topics")
    from kafkastub.cli import streams_groups_reset

    streams_groups_reset.add_to(actions)


def _add_describe(actions: Commands) -> None:
    parser = add_client_action(
        actions, "describe", "show offsets and lag, members with their tasks, or the state", _describe
    )
    add_scope(parser, _EVERY)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--offsets", action="store_true", help="offsets and lag of what members read (the default)")
    part.add_argument("--members", action="store_true", help="who is in the group, and their tasks")
    part.add_argument("--state", action="store_true", help="state and coordinator")
    parser.add_argument("--verbose", action="store_true", help="more columns")


def _list(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import streams_groups

    states = chosen(arguments.state, STATES, "states", "state")
    found = {one.group_id: one.state for one in streams_groups.list_groups(client, states)}
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
    from kafkastub.client import BrokerError, streams_groups

    told: list[_Row] = []
    for group_id in selected(arguments, client, streams_groups.list_groups):
        try:
            group = streams_groups.describe(client, group_id)
            rows = [] if arguments.members or arguments.state else _offsets(client, group)
        except BrokerError as error:
            return _executed(error.as_java_prints_it)
        if arguments.output == "json":
            told.append(_as_json(group, arguments, rows))
        elif arguments.state:
            _print_state(group, arguments.verbose)
        elif group.members and arguments.members:
            _print_members(group, arguments.verbose)
        elif group.members:
            _print_offsets(group.id, rows, arguments.verbose)
    if arguments.output == "json":
        output.as_json(told)
    return 0


def _executed(why: str) -> int:
    output.error(f"Executing streams group command failed due to {why}")
    return FAILED


def _offsets(client: Client, group: Group) -> list[_Row]:
    """Of what active tasks read. Raises BrokerError."""
    from kafkastub.client import groups, topics

    places = kafka_order.partitions(sorted(group.reads()))
    starts = topics.list_offsets(client, dict.fromkeys(places, topics.EARLIEST))
    ends = topics.list_offsets(client, dict.fromkeys(places, topics.LATEST))
    committed = groups.offsets(client, group.id)
    rows = []
    for topic, index in places:
        found, end = committed.get((topic, index)), ends[topic, index]
        rows.append(
            {
                "topic": topic,
                "partition": index,
                "current_offset": None if found is None else found.offset,
                "leader_epoch": None if found is None else found.leader_epoch,
                "log_end_offset": end,
                "offset_lag": end - (starts[topic, index] if found is None else found.offset),
            }
        )
    return rows


def _as_json(group: Group, arguments: argparse.Namespace, rows: list[_Row]) -> _Row:
    told: _Row = {"group": group.id, "state": group.state}
    if arguments.members:
        return told | {"members": [asdict(one) for one in group.members]}
    if arguments.state:
        node = group.coordinator
        return told | {
            "coordinator": {"id": node.id, "host": node.host, "port": node.port},
            "group_epoch": group.epoch,
            "target_assignment_epoch": group.target_epoch,
            "topology_epoch": group.topology_epoch,
            "subtopologies": [asdict(one) for one in group.subtopologies],
            "members": len(group.members),
        }
    return told | {"offsets": rows}


def _print_offsets(group_id: str, rows: list[_Row], verbose: bool) -> None:
    columns = {
        "GROUP": output.width(15, [group_id]),
        "TOPIC": output.width(15, (row["topic"] for row in rows)),
        "PARTITION": 10,
    }
    more = ("CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET", "OFFSET-LAG") if verbose else ()
    columns |= dict.fromkeys(more, 15) if verbose else {"OFFSET-LAG": 0}
    names = [name.lower().replace("-", "_") for name in columns][1:]
    output.table(columns, [[group_id, *("-" if row[name] is None else row[name] for name in names)] for row in rows])


def _print_members(group: Group, verbose: bool) -> None:
    members = group.members
    id_, process = output.width(15, (one.id for one in members)), output.width(15, (one.process_id for one in members))
    client_id, name = output.width(15, (one.client_id for one in members)), output.width(15, [group.id])
    if not verbose:
        columns = {"GROUP": name, "MEMBER": id_, "PROCESS": process, "CLIENT-ID": client_id, "ASSIGNMENTS": 0}
        output.table(columns, [[group.id, m.id, m.process_id, m.client_id, _assigned(m, False)] for m in members])
        return
    columns = {"GROUP": name, "TARGET-ASSIGNMENT-EPOCH": 25, "TOPOLOGY-EPOCH": 14, "MEMBER": id_}
    columns |= {"MEMBER-PROTOCOL": 15, "MEMBER-EPOCH": 15, "PROCESS": process, "CLIENT-ID": client_id, "ASSIGNMENTS": 0}
    epochs = group.target_epoch, group.topology_epoch
    kinds = {True: "classic", False: "streams"}
    rows = [
        [group.id, *epochs, m.id, kinds[m.is_classic], m.epoch, m.process_id, m.client_id, _assigned(m, True)]
        for m in members
    ]
    output.table(columns, rows)


def _assigned(member: Member, target: bool) -> str:
    """`ACTIVE: 0:[0,1]; STANDBY: 1:[0]; `"""
    kinds = {role.upper(): tasks for role, tasks in vars(member.assignment).items()}
    if target:
        kinds |= {f"TARGET-{role.upper()}": tasks for role, tasks in vars(member.target).items()}
    return "".join(
        f"{kind}: " + "".join(f"{name}:[{','.join(map(str, some))}]; " for name, some in tasks.items())
        for kind, tasks in kinds.items()
        if tasks
    )


def _print_state(group: Group, verbose: bool) -> None:
    if group.state == "Empty":
        output.error(f"Streams group '{group.id}' has no active members.")
    node = group.coordinator
    coordinator = f"{node.host}:{node.port} ({node.id})"
    columns = {"GROUP": output.width(15, [group.id]), "COORDINATOR (ID)": max(25, len(coordinator)), "STATE": 25}
    columns |= {"GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25} if verbose else {}
    epochs = [group.epoch, group.target_epoch] if verbose else []
    output.table(columns | {"#MEMBERS": 0}, [[group.id, coordinator, group.state, *epochs, len(group.members)]])


# -- delete ----------------------------------------------------------------------------------------------------------


def _delete(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, groups, streams_groups

    states = {one.group_id: one.state for one in streams_groups.list_groups(client)}
    failed: dict[str, str] = {}
    internal: dict[str, list[str]] = {}
    done = []
    for group_id in selected(arguments, client, streams_groups.list_groups):
        if group_id not in states:
            why = f"Group '{group_id}' does not exist or is not a streams group."
            failed[group_id] = f"java.lang.IllegalArgumentException: {why}"
        elif states[group_id] != "Empty":
            why = f"Streams group '{group_id}' is not EMPTY."
            failed[group_id] = f"org.apache.kafka.common.errors.GroupNotEmptyException: {why}"
        else:
            try:
                if arguments.delete_all_internal_topics:
                    internal[group_id] = internal_topics(client, group_id)
                groups.delete(client, group_id)
                done.append(group_id)
            except BrokerError as error:
                failed[group_id] = error.as_java_prints_it
    refused = {group_id: _delete_topics(client, internal.get(group_id, [])) for group_id in done}
    kept = {group_id: told for group_id, told in refused.items() if told}
    if arguments.output == "json":
        rows = [{"group": one, "error": failed.get(one), "topics_error": kept.get(one)} for one in [*done, *failed]]
        output.as_json(rows)
    else:
        _print_deleted(done, failed, [one for one in done if internal.get(one)], kept)
    return FAILED if failed or kept else 0


def _print_deleted(done: list[str], failed: dict[str, str], with_topics: list[str], kept: dict[str, str]) -> None:
    quoted = ", ".join(f"'{group_id}'" for group_id in kafka_order.names(done))
    if not failed:
        output.say(f"Deletion of requested streams groups ({quoted or repr('')}) was successful.")
    else:
        output.error("Deletion of some streams groups failed:")
        for group_id in kafka_order.names(failed):
            output.say(f"* Group '{group_id}' could not be deleted due to: {failed[group_id]}")
        if done:
            output.say(f"These streams groups were deleted successfully: {quoted}.", above=True)
    if kept:
        output.say("Deletion of some associated internal topics failed:")
        for group_id, why in kept.items():
            output.say(f"* Internal topics of the streams group '{group_id}' could not be deleted due to: {why}")
    elif with_topics:
        shown = ", ".join(f"'{group_id}'" for group_id in kafka_order.names(with_topics))
        output.say(f"Deletion of associated internal topics of the streams groups ({shown}) was successful.")


def _delete_topics(client: Client, names: list[str]) -> str | None:
    """Why it failed."""
    from kafkastub.client import BrokerError, topics

    try:
        topics.delete(client, names)
    except BrokerError as error:
        return error.as_java_prints_it
    return None


def _delete_offsets(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError

    if arguments.all_topics:
        try:
            arguments.topic = [f"{topic}:{index}" for topic, index in inputs(client, arguments.group)]
        except BrokerError as error:
            return _executed(error.as_java_prints_it)
    arguments.profile = "kafka"
    return any_groups.delete_offsets(arguments, client)
