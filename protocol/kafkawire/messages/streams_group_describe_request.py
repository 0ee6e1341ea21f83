"""StreamsGroupDescribeRequest (key 89), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class StreamsGroupDescribeRequest(Message):
    __slots__ = ("group_ids", "include_authorized_operations", "include_topology_description")
    API_KEY = 89
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_ids", "[]string", (0, 1), None, None, None),
        ("include_authorized_operations", "bool", (0, 1), None, None, None),
        ("include_topology_description", "bool", (1, 1), None, None, None),
    )

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
        include_topology_description: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations
        self.include_topology_description = include_topology_description
