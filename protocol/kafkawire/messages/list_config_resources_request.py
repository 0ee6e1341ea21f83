"""ListConfigResourcesRequest (key 74), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class ListConfigResourcesRequest(Message):
    __slots__ = ("resource_types",)
    API_KEY = 74
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("resource_types", "[]int8", (1, 1), None, None, None),
    )

    def __init__(
        self,
        resource_types: Sequence[int] = (),
    ) -> None:
        self.resource_types = resource_types
