"""RemoveRaftVoterRequest (key 81), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from kafkawire.schema import ZERO_UUID, Message


class RemoveRaftVoterRequest(Message):
    __slots__ = ("cluster_id", "voter_id", "voter_directory_id")
    API_KEY = 81
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("cluster_id", "string", (0, 0), (0, 0), None, None),
        ("voter_id", "int32", (0, 0), None, None, None),
        ("voter_directory_id", "uuid", (0, 0), None, None, None),
    )

    def __init__(
        self,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
