"""ListGroupsResponse (key 16), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class ListedGroup(Struct):
    __slots__ = ("group_id", "protocol_type", "group_state", "group_type")
    FIELDS = (
        ("group_id", "string", (0, 5), None, None, None),
        ("protocol_type", "string", (0, 5), None, None, None),
        ("group_state", "string", (4, 5), None, None, None),
        ("group_type", "string", (5, 5), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type


class ListGroupsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "groups")
    API_KEY = 16
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 5), None, None, None),
        ("error_code", "int16", (0, 5), None, None, None),
        ("groups", "[]ListedGroup", (0, 5), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: Sequence[ListedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = groups
