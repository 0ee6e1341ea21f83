"""DeleteGroupsRequest (key 42), versions 0-3. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class DeleteGroupsRequest(Message):
    __slots__ = ("groups_names",)
    API_KEY = 42
    VERSIONS = (0, 3)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("groups_names", "[]string", (0, 3), None, None, None),
    )

    def __init__(
        self,
        groups_names: Sequence[str] = (),
    ) -> None:
        self.groups_names = groups_names
