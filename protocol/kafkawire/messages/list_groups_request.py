"""ListGroupsRequest (key 16), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class ListGroupsRequest(Message):
    __slots__ = ("states_filter", "types_filter")
    API_KEY = 16
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("states_filter", "[]string", (4, 5), None, None, None),
        ("types_filter", "[]string", (5, 5), None, None, None),
    )

    def __init__(
        self,
        states_filter: Sequence[str] = (),
        types_filter: Sequence[str] = (),
    ) -> None:
        self.states_filter = states_filter
        self.types_filter = types_filter
