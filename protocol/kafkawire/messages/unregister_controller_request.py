"""UnregisterControllerRequest (key 94), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message


class UnregisterControllerRequest(Message):
    __slots__ = ("controller_id",)
    API_KEY = 94
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("controller_id", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        controller_id: int = 0,
    ) -> None:
        self.controller_id = controller_id
