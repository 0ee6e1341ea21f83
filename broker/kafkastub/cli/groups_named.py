"""What commands about groups share: which groups and partitions their options name, and in what state a group is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kafkastub.cli import kafka_order
from kafkastub.cli.broker import UsageError

if TYPE_CHECKING:
    from kafkastub.client import Client


def add_scope(parser: argparse.ArgumentParser, kind: str) -> None:
    """--group, --all-groups, of groups of that kind."""
    scope = parser.add_mutually_exclusive_group(required=True)
    scope.add_argument("--group", action="append", metavar="GROUP", help="group id; may be given several times")
    scope.add_argument("--all-groups", action="store_true", help=f"all {kind} groups")


def selected(
    arguments: argparse.Namespace, client: Client, list_groups: Callable[[Client], Iterable[Any]]
) -> list[str]:
    """The groups that the options name, each once."""
    if arguments.all_groups:
        return kafka_order.names(listing.group_id for listing in list_groups(client))
    return list(dict.fromkeys(arguments.group))


def chosen(text: str | None, allowed: tuple[str, ...], what: str, list_of: str) -> list[str]:
    """Names of `allowed` out of a comma separated list in any case; what a refusal calls them, and such a list.

    Raises UsageError.
    """
    found = []
    for item in (text or "").split(",") if text else []:
        known = [name for name in allowed if name.lower() == item.strip().lower()]
        if not known:
            shown = ", ".join(name for name in allowed if name != "Unknown")
            raise UsageError(f"Invalid {list_of} list '{text}'. Valid {what} are: {shown}")
        found += known
    return found


def state_of(describe: Callable[[Client, str], Any], client: Client, group_id: str) -> str:
    """The state that a description tells; "Dead" where there is no such group. Raises BrokerError."""
    from kafkastub.client import BrokerError
    from kafkawire.errors import ErrorCode

    try:
        state: str = describe(client, group_id).state
    except BrokerError as error:
        if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        return "Dead"
    return state


def partitions_in(text: str) -> list[tuple[str, int]]:
    """The partitions in `topic:0,1`. Raises UsageError."""
    parts = text.split(":")
    if len(parts) != 2:
        raise UsageError(f"Invalid topic arg '{text}', expected topic name and partitions")
    found = []
    for number in parts[1].split(","):
        if not (number.isascii() and number.isdigit()) or int(number) >= 1 << 31:
            raise UsageError(f"Invalid partition '{number}' specified in topic arg '{text}'")
        found.append((parts[0], int(number)))
    return found


def named_partitions(client: Client, texts: Iterable[str]) -> list[tuple[str, int]]:
    """The partitions in several `topic` or `topic:0,1`, each once. Raises BrokerError, UsageError."""
    from kafkastub.client import topics

    texts = list(texts)
    found = [one for text in texts if ":" in text for one in partitions_in(text)]
    for topic in topics.describe(client, [text for text in texts if ":" not in text]).values():
        found += [(topic.name, partition.index) for partition in topic.partitions]
    return list(dict.fromkeys(found))
