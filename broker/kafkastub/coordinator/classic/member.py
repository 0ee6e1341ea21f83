"""A member of a classic group. Kafka: ClassicGroupMember."""

from __future__ import annotations

from collections.abc import Set

from kafkastub.coordinator.records import MemberMetadata
from kafkastub.coordinator.turn import Token, Turn
from kafkastub.deadlines import Deadline

Protocols = tuple[tuple[str, bytes], ...]
"""A member's protocols with its metadata for each, the one it likes best first."""


class ClassicMember:
    """One member: who it is, what it supports, what it is assigned, and what it is parked on.

    Attributes:
        group_instance_id: set for a static member (KIP-345).
        join_token, sync_token: under what its join or sync is parked; None while it is not.
        is_new: it has not seen the end of a rebalance yet; then a parked join does not keep its session alive.
        session: its session's end.
    """

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "join_token",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session",
        "session_timeout_ms",
        "sync_token",
    )

    def __init__(
        self,
        member_id: str,
        group_instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: Protocols,
        session: Deadline[Turn],
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.session = session
        self.join_token: Token | None = None
        self.sync_token: Token | None = None
        self.is_new = False

    def metadata(self, protocol: str | None) -> bytes:
        """The member's metadata for a protocol that it supports."""
        return metadata_of(self.protocols, protocol)

    def vote(self, candidates: Set[str]) -> str | None:
        """The candidate that it likes best; None where it supports none."""
        return next((name for name, _ in self.protocols if name in candidates), None)

    @property
    def satisfies_session(self) -> bool:
        """Whether what it is parked on stands for a heartbeat."""
        return not self.is_new and (self.join_token is not None or self.sync_token is not None)

    def persisted(self, protocol: str, assignment: bytes) -> MemberMetadata:
        """The member as a generation's record holds it."""
        return MemberMetadata(
            self.member_id,
            self.group_instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            self.metadata(protocol),
            assignment,
        )


def metadata_of(protocols: Protocols, protocol: str | None) -> bytes:
    """The metadata that a member with these protocols has for one of them."""
    return next(metadata for name, metadata in protocols if name == protocol)
