"""FindCoordinatorRequest (key 10), versions 0-6. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class FindCoordinatorRequest(Message):
    __slots__ = ("key", "key_type", "coordinator_keys")
    API_KEY = 10
    VERSIONS = (0, 6)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("key", "string", (0, 3), None, None, None),
        ("key_type", "int8", (1, 6), None, None, None),
        ("coordinator_keys", "[]string", (4, 6), None, None, None),
    )

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = coordinator_keys
