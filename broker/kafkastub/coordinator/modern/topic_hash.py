"""By what a group knows that its topics have changed. Kafka: Utils.computeTopicHash, Utils.computeGroupHash."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def topic_hash(name: str, topic_id: bytes, racks: Sequence[Collection[str]]) -> int:
    """The hash of one topic, a signed 64-bit number.

    Args:
        racks: for each partition the racks of its replicas in any order, one a replica (two in a rack count twice);
            empty where the nodes have none.
    """
    raise NotImplementedError


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """The metadata hash of a group, a signed 64-bit number: of the hashes of its topics, by name; 0 without any."""
    raise NotImplementedError
