"""UpdateRaftVoterResponse (key 82), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import Message, Struct


class CurrentLeader(Struct):
    __slots__ = ("leader_id", "leader_epoch", "host", "port")
    FIELDS = (
        ("leader_id", "int32", (0, 0), None, None, None),
        ("leader_epoch", "int32", (0, 0), None, None, None),
        ("host", "string", (0, 0), None, None, None),
        ("port", "int32", (0, 0), None, None, None),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port


class UpdateRaftVoterResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "current_leader")
    API_KEY = 82
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 0), None, None, None),
        ("error_code", "int16", (0, 0), None, None, None),
        ("current_leader", "CurrentLeader", (0, 0), None, 0, (0, 0)),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = CurrentLeader() if current_leader is None else current_leader
