"""`kafkastub streams-groups reset-offsets`: where an application is to go on, and which of its topics are to go."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafkastub.cli import log_places, output
from kafkastub.cli.broker import UsageError, add_client_action
from kafkastub.cli.groups_named import add_scope, selected
from kafkastub.cli.groups_reset import Planner, add_scenarios, reset_groups
from kafkastub.cli.log_places import Partition
from kafkastub.cli.streams_groups_named import inputs, internal_topics

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client

_WIDTHS = (30, 30, 10, 15)


def add_to(actions: Commands) -> None:
    """Add the action to the parser."""
    text = "reset the offsets of groups without members, and delete their internal topics"
    parser = add_client_action(actions, "reset-offsets", text, _reset)
    add_scope(parser, "streams")
    scope = parser.add_mutually_exclusive_group()
    text = "source topic, or some of its partitions; may be given several times"
    scope.add_argument("--input-topic", dest="topic", action="append", metavar="TOPIC[:0,1]", help=text)
    scope.add_argument("--all-input-topics", dest="all_topics", action="store_true", help="all source topics")
    add_scenarios(parser)
    own = parser.add_mutually_exclusive_group()
    text = "with --execute: delete this internal topic of the group; may be given several times"
    own.add_argument("--delete-internal-topic", action="append", default=[], metavar="TOPIC", help=text)
    own.add_argument(
        "--delete-all-internal-topics",
        action="store_true",
        help="with --execute: delete all internal topics of the group",
    )


def _reset(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import streams_groups

    if not (arguments.topic or arguments.all_topics or arguments.from_file):
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not (arguments.dry_run or arguments.execute):
        raise UsageError("Option [reset-offsets] takes the option: [execute] or [dry-run]")
    ids = selected(arguments, client, streams_groups.list_groups)
    return reset_groups(arguments, client, "streams", ids, streams_groups.describe, _StreamsPlanner, _WIDTHS)


class _StreamsPlanner(Planner):
    """Offsets go only where the group has some already; internal topics go with them."""

    def scope(self) -> list[Partition]:
        if self.arguments.all_topics:
            return inputs(self.client, self.group_id)
        found = super().scope()
        log_places.check(self.client, found)
        if self.arguments.topic and not self.committed(of_all=True).keys() >= set(found):
            output.error(f"One or more topics are not part of the group '{self.group_id}'.")
            return []
        return found

    def clean_up(self) -> bool:
        from kafkastub.client import BrokerError, topics
        from kafkawire.errors import ErrorCode

        if not self.arguments.execute:
            return True
        names = self.arguments.delete_internal_topic
        try:
            if self.arguments.delete_all_internal_topics:
                names = internal_topics(self.client, self.group_id)
            topics.delete(self.client, names)
        except BrokerError as error:
            gone = error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            why = "because the topics do not exist." if gone else f"due to {error.as_java_prints_it}"
            output.error(f"Deleting internal topics for group '{self.group_id}' failed {why}")
            return False
        return True
