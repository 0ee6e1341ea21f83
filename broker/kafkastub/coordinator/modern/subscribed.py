"""Which groups subscribe to which topics, and the hashes of these topics.

Kafka: GroupMetadataManager.groupsByTopics, topicHashCache; ModernGroup.computeMetadataHash.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.topic_hash import group_hash, topic_hash
from kafkawire.java_order import copied, string_map_order


class SubscribedTopics:
    """The topics that groups with epochs subscribe to, whether they exist or not.

    Args:
        image: gives the topics as they are now.
    """

    __slots__ = ("_groups", "_hashes", "_image")

    def __init__(self, image: Callable[[], ClusterImage]) -> None:
        self._image = image
        self._groups: dict[str, set[str]] = {}
        self._hashes: dict[str, int] = {}

    def add(self, name: str, group_id: str) -> None:
        """A group subscribes to the topic."""
        self._groups.setdefault(name, set()).add(group_id)

    def discard(self, name: str, group_id: str) -> None:
        """A group does not subscribe to the topic any more."""
        groups = self._groups.get(name)
        if groups is not None:
            groups.discard(group_id)
            if not groups:
                del self._groups[name]
                self._hashes.pop(name, None)

    def changed(self, names: Iterable[str]) -> set[str]:
        """Topics were created, grown or deleted: the groups that subscribe to any of them."""
        groups: set[str] = set()
        for name in names:
            self._hashes.pop(name, None)
            groups.update(self._groups.get(name, ()))
        return groups

    def metadata_hash(self, names: Collection[str]) -> int:
        """What a group with this subscription knows its topics by; signed, of 64 bits, 0 without a topic."""
        hashes, topic_id = self._hashes, self._image().topic_id
        there = [name for name in names if name in hashes or topic_id(name) is not None]  # there may be very many
        found = ((name, self.hash_of(name)) for name in there)
        return group_hash({name: known for name, known in found if known is not None})

    def hash_of(self, name: str) -> int | None:
        """The hash of one topic, which is kept until the topic changes; None where there is no such topic."""
        known = self._hashes.get(name)
        if known is None:
            image = self._image()
            topic_id = image.topic_id(name)
            if topic_id is not None:
                racks = [image.racks(name, partition) for partition in range(image.partition_count(name))]
                known = self._hashes[name] = topic_hash(name, topic_id, racks)
        return known


def topic_ids_of(names: Collection[str], image: ClusterImage) -> list[bytes]:
    """The ids of those of the topics that exist, in the order of a `HashSet` of all these names.

    Only those that exist are looked at for long. A frozenset is given the names in order, others in theirs.
    """
    found = {name: topic_id for name in names if (topic_id := image.topic_id(name)) is not None}
    order = sorted(found) if isinstance(names, frozenset) else found
    return [found[name] for name in string_map_order(order, copied(len(names)))]


class Describer:
    """The topics, for an assignor. Kafka: SubscribedTopicDescriberImpl."""

    __slots__ = ("_counts", "_image")

    def __init__(self, image: ClusterImage, counts: Mapping[bytes, int]) -> None:
        """`counts`: how many partitions each topic has; topics may change while an assignor is at work."""
        self._image = image
        self._counts = counts

    def partition_count(self, topic_id: bytes) -> int:
        """-1 where there is no such topic."""
        return self._counts.get(topic_id, -1)

    def racks(self, topic_id: bytes, partition: int) -> frozenset[str]:
        """Empty where that is not known."""
        name = self._image.topic_name(topic_id)
        return frozenset() if name is None else frozenset(self._image.racks(name, partition))
