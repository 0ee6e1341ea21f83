"""`kafkastub groups`: consumer groups of any broker, as kafka-consumer-groups.sh shows and changes them.

Columns and sentences are those of Apache Kafka 4.3.1 (`ConsumerGroupCommand`). Differences: the exit status is 1 where
something failed (Kafka's tool ends with 0), no Java stack trace is printed, and `delete-offsets` writes "Not Provided"
for the partition of a topic that cannot be looked up, as KIP-496 has it (with `--profile kafka`: "-").
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafkastub.cli import kafka_order, of_groups, output
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import chosen, partitions_in, selected

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import BrokerError, Client

STATES = ("Unknown", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling")
TYPES = ("Classic", "Consumer")
_KIND = "consumer"
NOT_PROVIDED = {"kips": "Not Provided", "kafka": "-"}


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    groups = commands.add_parser("groups", help="look at consumer groups of any broker, change their offsets")
    actions = groups.add_subparsers(required=True, metavar="ACTION")
    parser = of_groups.add_list(actions, _KIND, _list)
    parser.add_argument("--type", nargs="?", const="", metavar="TYPE,…", help="show types, or only groups of these")
    of_groups.add_describe(
        actions,
        _KIND,
        _describe,
        "show offsets and lag, members or the state of groups",
        "offsets and lag (the default)",
        "who is in the group",
        "state, coordinator and assignor",
    )
    of_groups.add_delete(actions, _KIND, _delete)
    offsets = of_groups.add_of_one(actions, "delete-offsets", "delete offsets of a group", delete_offsets)
    offsets.add_argument(
        "--topic", required=True, action="append", metavar="TOPIC[:0,1]", help="a topic, or some of its partitions"
    )
    offsets.add_argument(
        "--profile",
        choices=list(NOT_PROVIDED),
        default="kips",
        help="the table as in KIP-496, or as Kafka 4.3 prints it",
    )
    from kafkastub.cli import groups_reset

    groups_reset.add_to(actions)


def _list(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import groups

    states = chosen(arguments.state, STATES, "states", "states")
    types = chosen(arguments.type, TYPES, "types", "types")
    by_id = {listing.group_id: listing for listing in groups.list_groups(client, states, types)}
    found = [by_id[group_id] for group_id in kafka_order.names(by_id)]
    if arguments.output == "json":
        output.as_json([{"group": row.group_id, "type": row.type, "state": row.state} for row in found])
    elif arguments.state is None and arguments.type is None:
        for row in found:
            output.say(row.group_id)
    else:
        columns, cells = {"GROUP": output.width(15, by_id) + 10}, [[row.group_id] for row in found]
        for given, name in ((arguments.type, "type"), (arguments.state, "state")):
            if given is not None:
                columns[name.upper()] = 20
                for row, line in zip(found, cells, strict=True):
                    line.append(getattr(row, name))
        output.table(columns, cells)
    return 0


def _describe(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.cli import groups_describe
    from kafkastub.client import BrokerError, groups

    part = of_groups.part_of(arguments)
    ids = selected(arguments, client, groups.list_groups)
    try:
        found = [groups_describe.collect(client, group_id, part) for group_id in output.progress(sorted(ids), "asking")]
    except BrokerError as error:
        return of_groups.executed(_KIND, error.as_java_prints_it)
    if arguments.output == "json":
        output.as_json([of_groups.as_json(group, part, rows, groups_describe.of_state(group)) for group, rows in found])
    else:
        for group, rows in found:
            groups_describe.show(group, part, rows, arguments.verbose)
    # brokers before DescribeGroups v6 call a group that does not exist dead
    return FAILED if any(group.state == "Dead" for group, _ in found) else 0


def _delete(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, groups

    failed: dict[str, BrokerError] = {}
    done = []
    for group_id in output.progress(selected(arguments, client, groups.list_groups), "deleting"):
        try:
            groups.delete(client, group_id)
            done.append(group_id)
        except BrokerError as error:
            failed[group_id] = error
    done = kafka_order.names(done)
    if arguments.output == "json":
        problems = {group_id: {"code": error.code.name, "message": error.message} for group_id, error in failed.items()}
        output.as_json([{"group": group_id, "error": problems.get(group_id)} for group_id in [*done, *failed]])
        return FAILED if failed else 0
    of_groups.print_deleted(_KIND, done, {group_id: error.as_java_prints_it for group_id, error in failed.items()})
    return FAILED if failed else 0


def delete_offsets(arguments: argparse.Namespace, client: Client) -> int:
    """Delete the offsets of `topic` in `group`, and show what became of it; gives the exit status."""
    from kafkastub.client import BrokerError, groups
    from kafkastub.client import topics as of_topics

    wanted: list[tuple[str, int]] = []
    results: dict[tuple[str, int], BrokerError | None] = {}
    for text in arguments.topic:
        if ":" in text:
            wanted += partitions_in(text)
            continue
        try:
            topic = of_topics.describe(client, [text])[text]
        except BrokerError as error:
            results[text, -1] = error
        else:
            wanted += [(text, partition.index) for partition in topic.partitions]
    wanted = list(dict.fromkeys(wanted))
    failure: BrokerError | None = None
    try:
        codes = groups.delete_offsets(client, arguments.group, wanted)
    except BrokerError as error:
        failure = error
        results |= dict.fromkeys(wanted, error)
    else:
        results |= {partition: BrokerError(code) if code else None for partition, code in codes.items()}
    _print_deleted(arguments, failure, results)
    return FAILED if failure or any(results.values()) else 0


def _print_deleted(
    arguments: argparse.Namespace, failure: BrokerError | None, results: dict[tuple[str, int], BrokerError | None]
) -> None:
    ordered = sorted(results.items(), key=lambda item: f"{item[0][0]}{item[0][1]}")
    if arguments.output == "json":
        output.as_json(
            {
                "group": arguments.group,
                "error": failure and failure.code.name,
                "partitions": [
                    {"topic": name, "partition": index if index >= 0 else None, "error": error and error.code.name}
                    for (name, index), error in ordered
                ],
            }
        )
        return
    if failure:
        output.error(failure.message)
    elif any(error for (_, index), error in results.items() if index >= 0):
        output.error("Encountered some partition-level error, see the follow-up details.")
    else:
        output.say(f"Request succeeded for deleting offsets from group {arguments.group}.")
    columns = {"TOPIC": output.width(15, (name for name, _ in results)), "PARTITION": 10, "STATUS": 15}
    missing = NOT_PROVIDED[arguments.profile]
    rows = [
        [name, index if index >= 0 else missing, f"Error: {error.as_java_prints_it}" if error else "Successful"]
        for (name, index), error in ordered
    ]
    output.table(columns, rows, above=True)
