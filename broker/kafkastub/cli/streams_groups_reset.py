"""`kafkastub streams-groups reset-offsets`: where an application is to go on, and which of its topics are to go."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafkastub.cli import kafka_order, log_places, output
from kafkastub.cli.broker import UsageError, add_client_action
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import add_scope, selected, state_of
from kafkastub.cli.groups_reset import Planner, add_scenarios, show
from kafkastub.cli.log_places import Partition, Plan
from kafkastub.cli.streams_groups_named import inputs, internal_topics

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client

_WIDTHS = (30, 30, 10, 15)


def add_to(actions: Commands) -> None:
    """Add the action to the parser."""
    text = "move the offsets of groups without members, delete their own topics"
    parser = add_client_action(actions, "reset-offsets", text, _reset)
    add_scope(parser, "every streams group")
    scope = parser.add_mutually_exclusive_group()
    text = "a source topic, or some of its partitions"
    scope.add_argument("--input-topic", dest="topic", action="append", metavar="TOPIC[:0,1]", help=text)
    scope.add_argument("--all-input-topics", dest="all_topics", action="store_true", help="all source topics")
    add_scenarios(parser)
    own = parser.add_mutually_exclusive_group()
    text = "with --execute: delete a topic of the group's own; may be given several times"
    own.add_argument("--delete-internal-topic", action="append", default=[], metavar="TOPIC", help=text)
    own.add_argument("--delete-all-internal-topics", action="store_true", help="with --execute: delete all of them")


def _reset(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, streams_groups

    if not (arguments.topic or arguments.all_topics or arguments.from_file):
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not (arguments.dry_run or arguments.execute):
        raise UsageError("Option [reset-offsets] takes the option: [execute] or [dry-run]")
    plans: dict[str, Plan] = {}
    failed = False
    try:
        for group_id in selected(arguments, client, streams_groups.list_groups):
            state = state_of(streams_groups.describe, client, group_id)
            if state in ("Empty", "Dead"):
                plans[group_id] = _reset_one(arguments, client, group_id)
                failed |= not _delete_topics(arguments, client, group_id)
            else:
                output.error(
                    f"Assignments can only be reset if the group '{group_id}' is inactive, "
                    f"but the current state is {state}."
                )
                plans[group_id], failed = {}, True
    except BrokerError as error:
        output.error(f"Executing streams group command failed due to {error.message}")
        return FAILED
    show(arguments, {group_id: plans[group_id] for group_id in kafka_order.names(plans)}, _WIDTHS)
    return FAILED if failed else 0


def _reset_one(arguments: argparse.Namespace, client: Client, group_id: str) -> Plan:
    """Work out a group's new offsets, and commit them where that is wanted. Raises BrokerError, UsageError."""
    from kafkastub.client import groups

    plan = _StreamsPlanner(arguments, client, group_id).plan()
    plan = {partition: plan[partition] for partition in kafka_order.partitions(plan)}
    if arguments.execute:
        groups.commit(client, group_id, plan)
    return plan


def _delete_topics(arguments: argparse.Namespace, client: Client, group_id: str) -> bool:
    """Whether nothing went wrong."""
    from kafkastub.client import BrokerError, topics
    from kafkawire.errors import ErrorCode

    if not arguments.execute:
        return True
    names = arguments.delete_internal_topic
    try:
        if arguments.delete_all_internal_topics:
            names = internal_topics(client, group_id)
        topics.delete(client, names)
    except BrokerError as error:
        gone = error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        why = "because the topics do not exist." if gone else f"due to {error.as_java_prints_it}"
        output.error(f"Deleting internal topics for group '{group_id}' failed {why}")
        return False
    return True


class _StreamsPlanner(Planner):
    """Offsets go only where the group has some already."""

    def scope(self) -> list[Partition]:
        if self.arguments.all_topics:
            return inputs(self.client, self.group_id)
        found = super().scope()
        log_places.check(self.client, found)
        if self.arguments.topic and not self.committed(of_all=True).keys() >= set(found):
            output.error(f"One or more topics are not part of the group '{self.group_id}'.")
            return []
        return found
