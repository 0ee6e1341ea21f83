"""Random topologies of Kafka Streams programs, as heartbeats tell them: right ones, and such as are refused."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.script import OWN

T = TypeVar("T")

SHARED = ("t1", "t2", "t3")
"""Source topics that are there for all scenarios, of 3, 1 and 2 partitions."""

NOWHERE = "<p>none"
"""One that never comes."""

CONFIGS: tuple[dict[str, str], ...] = (
    {},
    {"cleanup.policy": "compact"},
    {"cleanup.policy": "compact"},
    {"cleanup.policy": "compact,delete", "retention.ms": "86400000"},
    {"cleanup.policy": "delete", "retention.ms": "-1", "segment.bytes": "52428800"},
    {"message.timestamp.type": "CreateTime", "min.compaction.lag.ms": "1000"},
)
UNMAKEABLE: tuple[dict[str, Json], ...] = (
    {"replication_factor": 3},
    {"topic_configs": [{"key": "cleanup.policy", "value": "nope"}]},
    {"topic_configs": [{"key": "no.such", "value": "1"}]},
)


class Topologies:
    """Makes them up."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self._tries = 0

    def topology(self, group: str) -> Json:
        """One that a broker takes; its topics may be missing, or have other numbers of partitions than they should."""
        self._sinks: list[str] = []
        count = self._pick((1, 1, 1, 2, 2, 3))
        own = 0.75 if group != "<p>g1" else 0.15
        subtopologies = [self._subtopology(group, number, own) for number in range(count)]
        for name in self._sinks:  # a repartition topic that nobody has read yet is read by the last one
            subtopologies[-1].setdefault("repartition_source_topics", []).append(self._repartition(name))
        if self._sinks and count > 1:
            self._copartition(subtopologies[-1])
        if self._chance(0.1):
            self.random.shuffle(subtopologies)
        return {"epoch": self._pick((0, 1, 1, 3)), "subtopologies": subtopologies}

    def _subtopology(self, group: str, number: int, own: float) -> Json:
        one: dict[str, Json] = {"subtopology_id": str(number)}
        taken = [name for name in self._sinks if self._chance(0.7)] if number else []
        self._sinks = [name for name in self._sinks if name not in taken]
        if taken:
            one["repartition_source_topics"] = [self._repartition(name) for name in taken]
        if not taken or self._chance(0.4):
            one["source_topics"] = self._sources(own)
        if self._chance(0.6):
            names = [f"{group}-{number}{letter}-changelog" for letter in self._pick(("a", "a", "ab"))]
            one["state_changelog_topics"] = [self._with_configs({"name": name}) for name in names]
        if self._chance(0.35) and not number:
            name = f"{group}-{number}-repartition"
            one["repartition_sink_topics"] = [name]
            self._sinks.append(name)
        self._copartition(one)
        return one

    def _sources(self, own: float) -> list[str]:
        names = [self._pick(OWN if self._chance(own) else SHARED) for _ in range(self._pick((1, 1, 1, 2)))]
        return list(dict.fromkeys(names + [NOWHERE] * self._chance(0.04)))

    def _repartition(self, name: str) -> Json:
        one: dict[str, Json] = {"name": name}
        if self._chance(0.3):
            one["partitions"] = self._pick((1, 2, 3, 4))
        return self._with_configs(one)

    def _with_configs(self, one: dict[str, Json]) -> Json:
        configs = self._pick(CONFIGS)
        if configs:
            one["topic_configs"] = [{"key": key, "value": value} for key, value in configs.items()]
        if self._chance(0.1):
            one["replication_factor"] = 1
        return one

    def _copartition(self, one: Json) -> None:
        """All sources in one group, or two groups."""
        sources, repartitions = (len(one.get(kind, ())) for kind in ("source_topics", "repartition_source_topics"))
        if sources + repartitions > 1 and self._chance(0.4):
            group: dict[str, Json] = {"source_topics": list(range(sources))}
            if repartitions:
                group["repartition_source_topics"] = list(range(repartitions))
            one["copartition_groups"] = [group]

    def unmakeable(self, group: str) -> Json:
        """One with a topic that a broker alone cannot make, and perhaps one that it can."""
        self._tries += 1  # a broker remembers for a while what it could not make
        changelog = {"name": f"{group}-never{self._tries}-changelog"} | self._pick(UNMAKEABLE)
        other = [{"name": f"{group}-0a-changelog"}] * self._chance(0.5)
        only = {"subtopology_id": "0", "source_topics": ["t1"], "state_changelog_topics": [changelog, *other]}
        return {"epoch": 1, "subtopologies": [only]}

    def refused(self, group: str) -> Json:
        """One that a broker refuses, or that makes it stumble."""
        changelog = {"name": f"{group}-bad-changelog"}
        repartition = {"name": f"{group}-bad-repartition"}
        wrong: tuple[dict[str, Json], ...] = (
            {"source_topic_regex": ["t.*"]},
            {"source_topics": []},
            {"source_topics": ["__consumer_offsets", "t1", "__transaction_state", "__cluster_metadata"]},
            {"source_topics": ["bad name", "t1", "", "."]},
            {"source_topics": ["t1", "t1"], "repartition_sink_topics": ["bad name"]},
            {"state_changelog_topics": [changelog | {"partitions": 2}]},
            {"state_changelog_topics": [changelog, changelog]},
            {"state_changelog_topics": [{"name": "__share_group_state"}]},
            {"state_changelog_topics": [changelog | {"topic_configs": [{"key": "a", "value": "b"}] * 2}]},
            {"repartition_source_topics": [repartition]},
            {"repartition_source_topics": [repartition], "repartition_sink_topics": [repartition["name"]]},
            {"repartition_source_topics": [repartition], "repartition_sink_topics": [repartition["name"]]}
            | {"source_topics": []},
            {"copartition_groups": [{"source_topics": [0, 5]}]},
            {"copartition_groups": [{"source_topics": [-1]}]},
            {"copartition_groups": [{"source_topics": [0], "repartition_source_topics": [0]}]},
            {"copartition_groups": [{}]},
        )
        first: dict[str, Json] = {"subtopology_id": "0", "source_topics": ["t1"]}
        subtopologies = [first | self._pick(wrong)]
        if self._chance(0.1):
            subtopologies = self._pick(([first, first], [first | {"subtopology_id": ""}], []))
        return {"epoch": self._pick((1, 1, 1, 1, -1)), "subtopologies": subtopologies}

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _pick(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)
