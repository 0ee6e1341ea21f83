"""The order in which Kafka's tools print: that of Java's `HashMap`, which follows from the hashes of the keys."""

from __future__ import annotations

from collections.abc import Iterable


def names(texts: Iterable[str]) -> list[str]:
    """Names in the order of a map with these keys."""
    from kafkawire.java_order import string_map_order

    return string_map_order(texts)


def topics(texts: Iterable[str]) -> list[str]:
    """Topics in the order in which the Java client describes them.

    Three maps, filled one from the other (`KafkaAdminClient.describeTopics`, `DescribeTopicsResult`): one made for n,
    a copy of it, and another made for n. Where keys share a bucket, the map before decides.
    """
    from kafkawire.java_order import string_map_order

    found = list(dict.fromkeys(texts))
    count = len(found)
    for wanted in (count, int(count / 0.75 + 1), count):
        found = string_map_order(found, wanted)
    return found


def partitions(keys: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Partitions in the order of a map with these keys (`TopicPartition.hashCode`)."""
    from kafkawire.java_order import hash_map_order, string_hash

    distinct = dict.fromkeys(keys)
    return hash_map_order(
        ((31 * (31 + index) + string_hash(name)) & 0xFFFFFFFF, (name, index)) for name, index in distinct
    )
