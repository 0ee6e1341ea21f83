"""What the random generator of the data plane knows of its topics: which there are, and where their logs end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.play import NotThere, Play

T = TypeVar("T")

KINDS: dict[str, dict[str, str]] = {
    "plain": {},
    "compact": {"cleanup.policy": "compact"},
    "both": {"cleanup.policy": "compact,delete"},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "small": {"max.message.bytes": "600", "internal.segment.bytes": "2000"},
    "bounded": {"message.timestamp.before.max.ms": "3600000", "message.timestamp.after.max.ms": "3600000"},
    "recompressed": {"compression.type": "gzip"},
    "unpacked": {"compression.type": "uncompressed"},
}
"""The configurations of a scenario's topics; a topic is named `<p>` and its kind."""


class Places:
    """A play, its topics, and the small change of random choices."""

    def __init__(self, play: Play, source: random.Random) -> None:
        self.play = play
        self.random = source
        self.topics: dict[str, int] = {}
        """Partitions by topic."""
        self.ends: dict[tuple[str, int], int] = {}
        """Where a partition ends, as far as answers told."""

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)

    def version(self, api: str, since: int = 0) -> int:
        """Any version that both brokers serve; the latest more often. Raises NotThere."""
        every = [version for version in self.play.versions(api) if version >= since]
        if not every:
            raise NotThere(api)
        return every[-1] if self.chance(0.3) else self.pick(every)

    def newest(self, api: str, most: int) -> int:
        """The latest version that both brokers serve, `most` at most. Raises NotThere."""
        every = [version for version in self.play.versions(api) if version <= most]
        if not every:
            raise NotThere(api)
        return every[-1]

    def topic(self) -> str:
        """A topic, seldom one that is not there or may not be written to."""
        if self.chance(0.06) or not self.topics:
            return self.pick(("<p>nope", "__consumer_offsets", "bad name", ""))
        return self.pick(list(self.topics))

    def partition(self, topic: str) -> int:
        """One of the topic's partitions, seldom none."""
        if self.chance(0.05):
            return self.pick((-1, 9, 2**31 - 1))
        return self.random.randrange(self.topics.get(topic, 1))

    def place(self) -> tuple[str, int]:
        topic = self.topic()
        return topic, self.partition(topic)

    def topic_id(self, topic: str, *, may_be_zero: bool = True) -> str:
        """The topic's id; seldom another."""
        if self.chance(0.03):
            return self.pick(("00" * 16 if may_be_zero else "ac" * 16, "ab" * 16, "00" * 15 + "01"))
        return verbs.topic_id(topic) if topic.startswith("<p>") and topic != "<p>nope" else "cd" * 16

    def learn_ends(self, produced: Json) -> None:
        """Where logs end now, by an answer to Produce: at least at what it says."""
        for topic in (produced or {}).get("responses", ()):
            name = topic.get("name") or self._named(topic.get("topic_id", ""))
            for one in topic.get("partition_responses", ()):
                if not one.get("error_code"):
                    place = name, one.get("index", 0)
                    self.ends[place] = max(self.ends.get(place, 0), one.get("base_offset", 0) + 1)

    def _named(self, topic_id: str) -> str:
        return topic_id.removeprefix("<topic ").removesuffix(">").replace("p.", "<p>", 1)
