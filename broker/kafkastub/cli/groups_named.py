"""Which groups and partitions the options of `kafkastub groups` name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafkastub.cli import kafka_order
from kafkastub.cli.broker import UsageError

if TYPE_CHECKING:
    from kafkastub.client import Client


def selected(arguments: argparse.Namespace, client: Client) -> list[str]:
    """The groups that the options name, each once."""
    if arguments.all_groups:
        from kafkastub.client import groups

        return kafka_order.names(listing.group_id for listing in groups.list_groups(client))
    return list(dict.fromkeys(arguments.group))


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
