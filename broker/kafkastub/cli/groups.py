"""`kafkastub groups`: consumer groups of any broker, as kafka-consumer-groups.sh shows and changes them.

Columns and sentences are those of Apache Kafka 4.3.1 (`ConsumerGroupCommand`). Differences: the exit status is 1 where
something failed (Kafka's tool ends with 0), no Java stack trace is printed, and `delete-offsets` writes "Not Provided"
for the partition of a topic that cannot be looked up, as KIP-496 has it (with `--profile kafka`: "-").
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, ClassVar, Final

from kafkastub.cli import kafka_order, output
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import partitions_in, selected
from kafkastub.cli.of_groups import MISSING, GroupCommand, Row, add_of_one, assignment, print_deleted

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import BrokerError, Client
    from kafkastub.client.groups import Group, Member

    Partition = tuple[str, int]

NOT_PROVIDED: Final = {"kips": "Not Provided", "kafka": "-"}
_REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")

_OFFSETS: Final = {
    "GROUP": 15, "TOPIC": 15, "PARTITION": 10, "CURRENT-OFFSET": 15, "LOG-END-OFFSET": 15, "LAG": 15, "CONSUMER-ID": 15,
    "HOST": 15, "CLIENT-ID": 0,
}  # fmt: skip
_MEMBERS: Final = {"GROUP": 15, "CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 15, "#PARTITIONS": 15}
_STATE: Final = {"ASSIGNMENT-STRATEGY": 20, "STATE": 20}


class _Groups(GroupCommand):
    name = "groups"
    help = "list, describe and delete consumer groups of any broker, and change their offsets"
    kind = "consumer"
    states = (
        "Unknown", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling",
    )  # fmt: skip
    texts = (
        "show offsets and lag, members, or the state of groups",
        "show offsets and lag (the default)",
        "show the members",
        "show state, coordinator and assignor",
    )
    types = ("Classic", "Consumer")
    plural = "s"
    list_widths = (10, 20)
    client = "groups"
    tables: ClassVar = {
        "offsets": (_OFFSETS, {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, "LEADER-EPOCH": 15} | _OFFSETS),
        "members": (
            _MEMBERS | {"": 0},
            _MEMBERS | {"CURRENT-EPOCH": 15, "CURRENT-ASSIGNMENT": 20, "TARGET-EPOCH": 15, "TARGET-ASSIGNMENT": 20},
        ),
        "state": (_STATE, _STATE | {"GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25}),
    }

    def add_more(self, actions: Commands) -> None:
        offsets = add_of_one(actions, "delete-offsets", "delete offsets of a group", delete_offsets)
        offsets.add_argument(
            "--topic",
            required=True,
            action="append",
            metavar="TOPIC[:0,1]",
            help="topic, or some of its partitions; may be given several times",
        )
        text = "format of the table: as in KIP-496 (kips), or as Kafka 4.3 prints it (kafka); default %(default)s"
        offsets.add_argument("--profile", choices=list(NOT_PROVIDED), default="kips", help=text)
        from kafkastub.cli import groups_reset

        groups_reset.add_to(actions)

    def offsets(self, client: Client, group: Group) -> list[Row]:
        """Partitions of members, those with most first, then partitions that are nobody's."""
        from kafkastub.client import topics

        committed = self.client_module.offsets(client, group.id)
        owners: list[tuple[Member | None, list[Partition]]] = [
            (member, member.assignment)
            for member in sorted(group.members, key=lambda member: -len(member.assignment))
            if member.assignment
        ]
        assigned = {partition for _, own in owners for partition in own}
        owners.append((None, [partition for partition in committed if partition not in assigned]))
        wanted = {partition for _, own in owners for partition in own}
        described = topics.describe(client, {name for name, _ in wanted})
        led = {
            (topic.name, partition.index)
            for topic in described.values()
            for partition in topic.partitions
            if partition.leader is not None
        }
        ends = topics.list_offsets(client, dict.fromkeys(sorted(wanted & led), topics.LATEST))
        rows = []
        for member, own in owners:
            for name, index in sorted(own):
                found, end = committed.get((name, index)), ends.get((name, index))
                rows.append(
                    {
                        "group": group.id,
                        "topic": name,
                        "partition": index,
                        "leader_epoch": found and found.leader_epoch,
                        "current_offset": found and found.offset,
                        "log_end_offset": end,
                        "lag": None if found is None or end is None else end - found.offset,
                        "consumer_id": member and member.id,
                        "host": member and member.host,
                        "client_id": member and member.client_id,
                    }
                )
        return rows

    def of_state(self, group: Group) -> Row:
        return {
            "assignment_strategy": group.assignor,
            "group_epoch": group.epoch,
            "target_assignment_epoch": group.assignment_epoch,
        }

    def is_shown(self, group: Group, part: str, rows: list[Row]) -> bool:
        name, state = group.id, group.state
        if state == "Dead":
            output.error(f"Consumer group '{name}' does not exist.")
        elif state == "Empty":
            output.warn(f"Consumer group '{name}' has no active members.", above=True)
        elif state in _REBALANCING:
            output.warn(f"Warning: Consumer group '{name}' is rebalancing.", above=True)
        return part == "members" or (state != "Dead" and bool(rows))

    def columns(self, group: Group, part: str, verbose: bool) -> dict[str, int]:
        columns = dict(super().columns(group, part, verbose))
        if part == "members" and any(one.instance_id for one in group.members):
            columns = {"GROUP": 15, "CONSUMER-ID": 15, "GROUP-INSTANCE-ID": 17} | columns
        if part == "members" and verbose and {True, False} <= {one.upgraded for one in group.members}:
            columns["UPGRADED"] = 0
        return columns

    def members(self, group: Group, verbose: bool) -> list[Row]:
        return [
            {
                "consumer_id": one.id,
                "group_instance_id": one.instance_id or "",
                "host": one.host,
                "client_id": one.client_id,
                "#partitions": len(one.assignment),
                "current_epoch": one.epoch,
                "current_assignment": assignment(one.assignment) or MISSING,
                "target_epoch": group.assignment_epoch,
                "target_assignment": assignment(one.target) or MISSING,
                "upgraded": None if one.upgraded is None else str(one.upgraded).lower(),
                "": "",
            }
            for one in group.members
        ]

    def delete(self, arguments: argparse.Namespace, client: Client) -> int:
        from kafkastub.client import BrokerError

        failed: dict[str, BrokerError] = {}
        done = []
        for group_id in output.progress(selected(arguments, client, self.client_module.list_groups), "deleting"):
            try:
                self.client_module.delete(client, group_id)
                done.append(group_id)
            except BrokerError as error:
                failed[group_id] = error
        done = kafka_order.names(done)
        if arguments.output == "json":
            problems = {one: {"code": error.code.name, "message": error.message} for one, error in failed.items()}
            output.as_json([{"group": group_id, "error": problems.get(group_id)} for group_id in [*done, *failed]])
        else:
            print_deleted(self.kind, done, {group_id: error.as_java_prints_it for group_id, error in failed.items()})
        return FAILED if failed else 0


add_to = _Groups().add_to


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
