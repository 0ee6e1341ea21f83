"""`kafkastub streams-groups`: groups of Kafka Streams of any broker, as kafka-streams-groups.sh shows and changes them.

Columns and sentences are those of Apache Kafka 4.3.1 (`StreamsGroupCommand`, KIP-1071). Differences: the exit status
is 1 where something failed (Kafka's tool often ends with 0), and no Java stack trace is printed.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar, Final

from kafkastub.cli import groups as any_groups
from kafkastub.cli import kafka_order, output
from kafkastub.cli.common import FAILED
from kafkastub.cli.of_groups import GroupCommand, Row, add_of_one, executed, print_deleted
from kafkastub.cli.streams_groups_named import inputs, internal_topics

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client
    from kafkastub.client.streams_groups import Group, Member


_PARTITION: Final = {"GROUP": 15, "TOPIC": 15, "PARTITION": 10}
_MEMBERS: Final = {
    "GROUP": 15, "TARGET-ASSIGNMENT-EPOCH": 25, "TOPOLOGY-EPOCH": 14, "MEMBER": 15, "MEMBER-PROTOCOL": 15,
    "MEMBER-EPOCH": 15, "PROCESS": 15, "CLIENT-ID": 15, "ASSIGNMENTS": 0,
}  # fmt: skip


class _StreamsGroups(GroupCommand):
    name = "streams-groups"
    help = "list, describe and delete groups of Kafka Streams of any broker, and change their offsets"
    kind = "streams"
    states = ("Empty", "NotReady", "Stable", "Assigning", "Reconciling", "Dead")
    texts = (
        "show offsets and lag, members with their tasks, or the state of groups",
        "show offsets and lag of the topics that members read (the default)",
        "show the members and their tasks",
        "show state and coordinator",
    )
    client = "streams_groups"
    tables: ClassVar = {
        "offsets": (
            _PARTITION | {"OFFSET-LAG": 0},
            _PARTITION | dict.fromkeys(("CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET", "OFFSET-LAG"), 15),
        ),
        "members": ({"GROUP": 15, "MEMBER": 15, "PROCESS": 15, "CLIENT-ID": 15, "ASSIGNMENTS": 0}, _MEMBERS),
        "state": ({"STATE": 25}, {"STATE": 25, "GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25}),
    }
    at_once = True
    spaced, between = False, " "

    def add_delete(self, actions: Commands) -> argparse.ArgumentParser:
        parser = super().add_delete(actions)
        parser.add_argument(
            "--delete-all-internal-topics", action="store_true", help="also delete the internal topics of the groups"
        )
        return parser

    def add_more(self, actions: Commands) -> None:
        offsets = add_of_one(actions, "delete-offsets", "delete offsets of a group", _delete_offsets)
        scope = offsets.add_mutually_exclusive_group(required=True)
        text = "source topic, or some of its partitions; may be given several times"
        scope.add_argument("--input-topic", dest="topic", action="append", metavar="TOPIC[:0,1]", help=text)
        scope.add_argument("--all-input-topics", dest="all_topics", action="store_true", help="all source topics")
        from kafkastub.cli import streams_groups_reset

        streams_groups_reset.add_to(actions)

    def offsets(self, client: Client, group: Group) -> list[Row]:
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

    def of_state(self, group: Group) -> Row:
        return {
            "group_epoch": group.epoch,
            "target_assignment_epoch": group.assignment_epoch,
            "topology_epoch": group.topology_epoch,
            "subtopologies": [asdict(one) for one in group.subtopologies],
        }

    def is_shown(self, group: Group, part: str, rows: list[Row]) -> bool:
        if part == "state" and group.state == "Empty":
            output.error(f"Streams group '{group.id}' has no active members.")
        return part == "state" or bool(group.members)

    def members(self, group: Group, verbose: bool) -> list[Row]:
        return [
            {
                "target_assignment_epoch": group.assignment_epoch,
                "topology_epoch": group.topology_epoch,
                "member": one.id,
                "member_protocol": "classic" if one.is_classic else "streams",
                "member_epoch": one.epoch,
                "process": one.process_id,
                "client_id": one.client_id,
                "assignments": _assigned(one, verbose),
            }
            for one in group.members
        ]

    def delete(self, arguments: argparse.Namespace, client: Client) -> int:
        internal: dict[str, list[str]] = {}

        def delete(group_id: str) -> None:
            if arguments.delete_all_internal_topics:
                internal[group_id] = internal_topics(client, group_id)
            self.client_module.delete(client, group_id)

        done, failed = self.delete_empty(arguments, client, "does not exist or is not a streams group.", delete)
        refused = {group_id: _delete_topics(client, internal.get(group_id, [])) for group_id in done}
        kept = {group_id: told for group_id, told in refused.items() if told}
        if arguments.output == "json":
            rows = [{"group": one, "error": failed.get(one), "topics_error": kept.get(one)} for one in [*done, *failed]]
            output.as_json(rows)
        else:
            _print_deleted(done, failed, [one for one in done if internal.get(one)], kept)
        return FAILED if failed or kept else 0


add_to = _StreamsGroups().add_to


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


def _print_deleted(done: list[str], failed: dict[str, str], with_topics: list[str], kept: dict[str, str]) -> None:
    print_deleted("streams", done, failed, none=repr(""), end=".")
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
            return executed("streams", error.as_java_prints_it)
    arguments.profile = "kafka"
    return any_groups.delete_offsets(arguments, client)
