"""`kafkastub streams-groups`: groups of Kafka Streams of any broker, as kafka-streams-groups.sh shows and changes them.

Columns and sentences are those of Apache Kafka 4.3.1 (`StreamsGroupCommand`, KIP-1071). Differences: the exit status
is 1 where something failed (Kafka's tool often ends with 0), and no Java stack trace is printed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from kafkastub.cli import groups as any_groups
from kafkastub.cli import kafka_order, of_groups, output
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import selected
from kafkastub.cli.of_groups import Row
from kafkastub.cli.streams_groups_named import inputs, internal_topics

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client
    from kafkastub.client.streams_groups import Group, Member

_KIND: Final = "streams"
STATES: Final = ("Empty", "NotReady", "Stable", "Assigning", "Reconciling", "Dead")


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    groups = commands.add_parser("streams-groups", help="look at groups of Kafka Streams of any broker, change them")
    actions = groups.add_subparsers(required=True, metavar="ACTION")
    of_groups.add_list(actions, _KIND, _list)
    of_groups.add_describe(
        actions,
        _KIND,
        _describe,
        "show offsets and lag, members with their tasks, or the state",
        "offsets and lag of what members read (the default)",
        "who is in the group, and their tasks",
        "state and coordinator",
    )
    delete = of_groups.add_delete(actions, _KIND, _delete)
    delete.add_argument("--delete-all-internal-topics", action="store_true", help="and the topics of their own")
    offsets = of_groups.add_of_one(actions, "delete-offsets", "delete offsets of a group", _delete_offsets)
    scope = offsets.add_mutually_exclusive_group(required=True)
    text = "a source topic, or some of its partitions"
    scope.add_argument("--input-topic", dest="topic", action="append", metavar="TOPIC[:0,1]", help=text)
    scope.add_argument("--all-input-topics", dest="all_topics", action="store_true", help="all source topics")
    from kafkastub.cli import streams_groups_reset

    streams_groups_reset.add_to(actions)


def _list(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import streams_groups

    return of_groups.list_of_type(arguments, client, STATES, streams_groups.list_groups)


# -- describe --------------------------------------------------------------------------------------------------------


def _describe(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, streams_groups

    told: list[Row] = []
    part = of_groups.part_of(arguments)
    for group_id in selected(arguments, client, streams_groups.list_groups):
        try:
            group = streams_groups.describe(client, group_id)
            rows = _offsets(client, group) if part == "offsets" else []
        except BrokerError as error:
            return of_groups.executed(_KIND, error.as_java_prints_it)
        if arguments.output == "json":
            told.append(of_groups.as_json(group, part, rows, _of_state(group)))
        elif part == "state":
            _print_state(group, arguments.verbose)
        elif group.members and part == "members":
            _print_members(group, arguments.verbose)
        elif group.members:
            _print_offsets(group.id, rows, arguments.verbose)
    if arguments.output == "json":
        output.as_json(told)
    return 0


def _offsets(client: Client, group: Group) -> list[Row]:
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


def _of_state(group: Group) -> Row:
    return {
        "group_epoch": group.epoch,
        "target_assignment_epoch": group.target_epoch,
        "topology_epoch": group.topology_epoch,
        "subtopologies": [asdict(one) for one in group.subtopologies],
    }


def _print_offsets(group_id: str, rows: list[Row], verbose: bool) -> None:
    columns = {
        "GROUP": output.width(15, [group_id]),
        "TOPIC": output.width(15, (row["topic"] for row in rows)),
        "PARTITION": 10,
    }
    more = ("CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET", "OFFSET-LAG") if verbose else ()
    columns |= dict.fromkeys(more, 15) if verbose else {"OFFSET-LAG": 0}
    names = [name.lower().replace("-", "_") for name in columns][1:]
    output.table(columns, [[group_id, *(of_groups.cell(row[name]) for name in names)] for row in rows])


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
    columns: dict[str, tuple[int, object]] = {"STATE": (25, group.state)}
    if verbose:
        columns |= {"GROUP-EPOCH": (15, group.epoch), "TARGET-ASSIGNMENT-EPOCH": (25, group.target_epoch)}
    of_groups.print_state(group, columns, between=" ", above=False)


# -- delete ----------------------------------------------------------------------------------------------------------


def _delete(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import groups, streams_groups

    internal: dict[str, list[str]] = {}

    def delete(group_id: str) -> None:
        if arguments.delete_all_internal_topics:
            internal[group_id] = internal_topics(client, group_id)
        groups.delete(client, group_id)

    unknown = "does not exist or is not a streams group."
    done, failed = of_groups.delete_of_type(arguments, client, _KIND, unknown, streams_groups.list_groups, delete)
    refused = {group_id: _delete_topics(client, internal.get(group_id, [])) for group_id in done}
    kept = {group_id: told for group_id, told in refused.items() if told}
    if arguments.output == "json":
        rows = [{"group": one, "error": failed.get(one), "topics_error": kept.get(one)} for one in [*done, *failed]]
        output.as_json(rows)
    else:
        _print_deleted(done, failed, [one for one in done if internal.get(one)], kept)
    return FAILED if failed or kept else 0


def _print_deleted(done: list[str], failed: dict[str, str], with_topics: list[str], kept: dict[str, str]) -> None:
    of_groups.print_deleted(_KIND, done, failed, none=repr(""), end=".")
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
            return of_groups.executed(_KIND, error.as_java_prints_it)
    arguments.profile = "kafka"
    return any_groups.delete_offsets(arguments, client)
