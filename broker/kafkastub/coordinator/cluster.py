"""What a coordinator must know of the topics. Kafka: CoordinatorMetadataImage."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class ClusterImage(Protocol):
    """The topics as they are now; the owner tells `metadata_changed` of what changes."""

    def topic_id(self, name: str) -> bytes | None:
        """16 bytes; None where there is no such topic."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """None where there is no such topic."""

    def partition_count(self, name: str) -> int:
        """0 where there is no such topic."""

    def racks(self, name: str, partition: int) -> Collection[str]:
        """The racks of the nodes that have a replica of the partition, one a replica; empty where none has a rack."""

    def names(self) -> Collection[str]:
        """All topics, internal ones too, as a regular expression is matched with all."""


class NoTopics:
    """The image of a cluster without topics: what a coordinator has before it is given one."""

    def topic_id(self, name: str) -> bytes | None:
        """None."""
        return None

    def topic_name(self, topic_id: bytes) -> str | None:
        """None."""
        return None

    def partition_count(self, name: str) -> int:
        """0."""
        return 0

    def racks(self, name: str, partition: int) -> Collection[str]:
        """None."""
        return ()

    def names(self) -> Collection[str]:
        """None."""
        return ()
