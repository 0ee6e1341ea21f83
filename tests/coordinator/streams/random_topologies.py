"""Topologies as no one would write them, and some as Kafka Streams would, with the topics that there are."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kafkawire.messages.streams_group_topology_value import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)

_IDS = ("0", "1", "2", "3", "10", "11", "Aa", "BB", "AaAa", "BBBB", "AaBB", "é", "sub-\uff5e", "x" * 30)
"""Some of them have the same hash."""
_CONFIGS = (
    ("cleanup.policy", "compact"),
    ("cleanup.policy", "delete"),
    ("segment.bytes", "52428800"),
    ("retention.ms", "-1"),
    ("retention.bytes", "-1"),
    ("message.timestamp.type", "CreateTime"),
    ("Aa", "1"),
    ("BB", "2"),
)


@dataclass
class Cluster:
    """An image of topics."""

    counts: dict[str, int] = field(default_factory=dict)

    def topic_id(self, name: str) -> bytes | None:
        return name.encode().ljust(16, b".")[:16] if name in self.counts else None

    def topic_name(self, topic_id: bytes) -> str | None:
        return None

    def partition_count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def racks(self, name: str, partition: int) -> tuple[str, ...]:
        return ()

    def names(self) -> list[str]:
        return list(self.counts)


def topology(chance: random.Random, cluster: Cluster) -> StreamsGroupTopologyValue:
    """One more; the cluster gets most of its source topics."""
    broken = chance.random() < 0.4
    how_many = chance.choice((1, 1, 2, 3, 4, 6, 14))
    ids = chance.sample(_IDS, how_many)
    if broken and chance.random() < 0.05:
        ids[-1] = ids[0]
    same_count = chance.choice((None, chance.randint(1, 6)))
    sources = [f"in-{i}{chance.choice(('', '-Aa', '-BB'))}" for i in range(chance.choice((1, 2, 3, 12)))]
    for name in sources:
        if chance.random() < (0.97 if broken else 0.995):
            cluster.counts[name] = same_count or chance.randint(1, 6)
    made = [_repartition(chance, i, broken) for i in range(chance.choice((0, 0, 1, 3, 9, 30)))]
    subtopologies: list[Subtopology] = []
    for position, subtopology_id in enumerate(ids):
        seen = made if broken else [topic for i, topic in enumerate(made) if i % how_many < position]
        later = made if broken else [topic for i, topic in enumerate(made) if i % how_many == position]
        subtopologies.append(_subtopology(chance, subtopology_id, position, sources, seen, later, broken))
    if chance.random() < 0.5:
        chance.shuffle(subtopologies)
    return StreamsGroupTopologyValue(chance.randint(0, 5), subtopologies)


def _repartition(chance: random.Random, number: int, broken: bool) -> TopicInfo:
    partitions = chance.choice((0, 0, 0, 0, 3, chance.randint(1, 6)))
    if broken and chance.random() < 0.02:
        partitions = -1
    return TopicInfo(
        f"app-node-{number:04}-repartition", partitions, chance.choice((0, 0, 1, 3, -1)), _configs(chance, broken)
    )


def _configs(chance: random.Random, broken: bool) -> list[TopicConfig]:
    chosen = dict(chance.sample(_CONFIGS, chance.choice((0, 1, 3, 6))))
    found = [TopicConfig(*pair) for pair in chosen.items()]
    if broken and found and chance.random() < 0.01:
        found.append(TopicConfig(found[0].key, "again"))
    return found


def _subtopology(
    chance: random.Random,
    name: str,
    position: int,
    sources: list[str],
    seen: list[TopicInfo],
    later: list[TopicInfo],
    broken: bool,
) -> Subtopology:
    read = chance.sample(sources, min(len(sources), chance.choice((0, 1, 1, 2, 5))))
    inner = chance.sample(seen, min(len(seen), chance.choice((0, 1, 2, 4))))
    if not broken:
        read = read or ([] if inner else [chance.choice(sources)])
        sinks = later
    else:
        sinks = chance.sample(later, min(len(later), chance.choice((0, 1, 2, 9))))
        if inner and chance.random() < 0.01:
            inner = [*inner, inner[0]]
        if inner and chance.random() < 0.05:
            changed = chance.randrange(len(inner))
            one = inner[changed]
            inner[changed] = TopicInfo(one.name, chance.choice((0, 2)), one.replication_factor, one.topic_configs)
        if seen and chance.random() < 0.03:
            read = [*read, chance.choice(seen).name]
    kept = [
        TopicInfo(f"app-store-{position:02}-{i}-changelog", 0, chance.choice((0, 0, 2)), _configs(chance, broken))
        for i in range(chance.choice((0, 0, 1, 2, 15)))
    ]
    if broken and kept and chance.random() < 0.03:
        kept[0].partitions = chance.choice((1, 4, -2))
    if broken and kept and inner and chance.random() < 0.03:
        kept[0].name = inner[0].name
    return Subtopology(
        name,
        read,
        [],
        kept,
        [one.name for one in sinks],
        inner,
        [_group(chance, len(read), len(inner), broken) for _ in range(chance.choice((0, 0, 1, 2)))],
    )


def _group(chance: random.Random, sources: int, inner: int, broken: bool) -> CopartitionGroup:
    mine = sorted(chance.sample(range(sources), chance.choice((0, 1, sources)) if sources else 0))
    its = sorted(chance.sample(range(inner), chance.choice((0, 1, inner)) if inner else 0))
    if broken and chance.random() < 0.02:
        mine = [*mine, chance.choice((-1, sources))]
    if broken and chance.random() < 0.02:
        its = [*its, chance.choice((-1, inner))]
    if its and chance.random() < 0.1:
        its = [*its, its[0]]
    return CopartitionGroup(mine, [], its)
