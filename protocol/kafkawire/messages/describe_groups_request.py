"""DescribeGroupsRequest (key 15), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class DescribeGroupsRequest(Message):
    __slots__ = ("groups", "include_authorized_operations")
    API_KEY = 15
    VERSIONS = (0, 6)
    FLEXIBLE = (5, 32767)
    FIELDS = (
        ("groups", "[]string", (0, 6), None, None, None),
        ("include_authorized_operations", "bool", (3, 6), None, None, None),
    )

    def __init__(
        self,
        groups: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = groups
        self.include_authorized_operations = include_authorized_operations
