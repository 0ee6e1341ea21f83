"""`kafkastub share-groups`: share groups of any broker, as kafka-share-groups.sh shows and changes them (KIP-932).

Columns and sentences are those of Apache Kafka 4.3.1 (`ShareGroupCommand`). Differences: the exit status is 1 where
something failed (Kafka's tool ends with 0), and no Java stack trace is printed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, ClassVar, Final

from kafkastub.cli import kafka_order, log_places, output
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import named_partitions, state_of
from kafkastub.cli.groups_reset import add_date_time, add_ends, add_execute, show
from kafkastub.cli.of_groups import GroupCommand, Row, add_of_one, assignment, executed, print_deleted

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.cli.log_places import Plan
    from kafkastub.client import BrokerError, Client
    from kafkastub.client.share_groups import Group


_OFFSETS: Final = {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, "START-OFFSET": 13, "LAG": 0}
_MEMBERS: Final = {"GROUP": 15, "CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 15, "#PARTITIONS": 12}


class _ShareGroups(GroupCommand):
    name = "share-groups"
    help = "list, describe and delete share groups of any broker, and change their start offsets"
    kind = "share"
    states = ("Empty", "Stable", "Dead")
    texts = (
        "show start offsets and lag, members, or the state of groups",
        "show start offsets and lag (the default)",
        "show the members",
        "show state and coordinator",
    )
    client = "share_groups"
    tables: ClassVar = {
        "offsets": (_OFFSETS, {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, "LEADER-EPOCH": 13} | _OFFSETS),
        "members": (_MEMBERS | {"ASSIGNMENT": 0}, _MEMBERS | {"MEMBER-EPOCH": 13, "ASSIGNMENT": 0}),
        "state": ({"STATE": 15}, {"STATE": 15, "GROUP-EPOCH": 12, "ASSIGNMENT-EPOCH": 17}),
    }
    without = ("instance_id",)

    def add_more(self, actions: Commands) -> None:
        text = "delete the offsets of topics in a group without members"
        offsets = add_of_one(actions, "delete-offsets", text, _delete_offsets)
        offsets.add_argument("--topic", required=True, action="append", metavar="TOPIC", help="topic name")
        _add_reset(actions)

    def offsets(self, client: Client, group: Group) -> list[Row]:
        return [
            {
                "topic": name,
                "partition": index,
                "leader_epoch": one.leader_epoch,
                "start_offset": one.start,
                "lag": one.lag,
            }
            for (name, index), one in sorted(self.client_module.offsets(client, group.id).items())
        ]

    def of_state(self, group: Group) -> Row:
        return {"group_epoch": group.epoch, "assignment_epoch": group.assignment_epoch, "assignor": group.assignor}

    def is_shown(self, group: Group, part: str, rows: list[Row]) -> bool:
        if part == "offsets":
            rows[:] = [row for row in rows if row["start_offset"] >= 0]
            if not rows:
                output.say(f"Share group '{group.id}' has no offset information.", above=True)
        elif group.state == "Empty":
            output.warn(f"Share group '{group.id}' has no active members.", above=True)
        return bool(rows)

    def members(self, group: Group, verbose: bool) -> list[Row]:
        return [
            {
                "consumer_id": one.id,
                "host": one.host,
                "client_id": one.client_id,
                "#partitions": len(one.assignment),
                "member_epoch": one.epoch,
                "assignment": assignment(one.assignment),
            }
            for one in sorted(group.members, key=lambda one: one.id)
        ]

    def delete(self, arguments: argparse.Namespace, client: Client) -> int:
        unknown = "is not a share group."
        done, failed = self.delete_empty(arguments, client, unknown, lambda one: self.client_module.delete(client, one))
        if arguments.output == "json":
            output.as_json([{"group": group_id, "error": failed.get(group_id)} for group_id in [*done, *failed]])
        else:
            print_deleted(self.kind, done, failed)
        return FAILED if failed else 0


add_to = _ShareGroups().add_to


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


def _add_reset(actions: Commands) -> None:
    text = "reset the start offsets of a group without members; changes nothing without --execute"
    parser = add_of_one(actions, "reset-offsets", text, _reset)
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument(
        "--topic",
        action="append",
        metavar="TOPIC[:0,1]",
        help="topic, or some of its partitions; may be given several times",
    )
    topics.add_argument("--all-topics", action="store_true", help="all topics that the group has read")
    where = parser.add_mutually_exclusive_group(required=True)
    add_ends(where)
    add_date_time(where)
    add_execute(parser)
    parser.set_defaults(export=False)


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
        return executed("share", error.message)
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
