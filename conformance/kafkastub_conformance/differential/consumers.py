"""Random scenarios of consumer groups of the newer protocol (KIP-848) from a seed.

Half of the heartbeats are those of members that do as they are told, so that groups become Stable; between them come
wrong ones, topics that come, grow and go, commits with epochs old and new (KIP-1251), and administrators.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.committing import TRANSACTIONAL_ID, Committing
from kafkastub_conformance.differential.consuming import Member
from kafkastub_conformance.differential.managing import Managing
from kafkastub_conformance.differential.mixing import Mixing
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G1, G2, GROUPS, Script

STEPS = 40

CONFIGS = {
    "consumer.assignment.interval.ms": ("0", "0", "0", "15000", "-1", "x", "99999999"),
    "consumer.heartbeat.interval.ms": ("5000", "7000", "1", "60000", "0"),
    "consumer.session.timeout.ms": ("45000", "60000", "50000", "1", "0"),
    "consumer.nothing": ("1",),
}
"""Configurations of groups and values for them, good and bad. No interval that may pass while a scenario runs."""


def consumer_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"consumer-{seed}",
        lambda play: ConsumersGenerator(play, seed).run(steps),
        GROUPS,
        "consumer",
        (TRANSACTIONAL_ID,) if _transacts(seed) else (),
        consumer_groups=GROUPS,
    )


def _transacts(seed: int) -> bool:
    return seed % 4 == 0


class ConsumersGenerator(Mixing, Committing[Member], Managing):
    """One scenario in the making."""

    BY_EPOCH, BY_NOBODY = 0.7, 0.1

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(f"consumer-{seed}"))
        self.transacts = _transacts(seed)
        self.mixes = seed % 3 == 0
        """Whether members of the classic protocol are there, too."""

    def run(self, steps: int) -> None:
        """Play until there are so many steps."""
        if not self.known:
            for group in GROUPS:
                self._configure(group, "consumer.assignment.interval.ms", "0")
        self.play.fill(steps, self.random, self.acts(), self.learn)

    def acts(self) -> dict[Callable[[], object], int]:
        """What is done, and how often."""
        return {
            self.obey: 50,
            self.join: 16,
            self.change: 8,
            self.err: 10,
            self.leave: 4,
            self.removed: 1,
            self.commit: 8,
            self.fetch: 5,
            self.transact: 8 * self.transacts,
            self.classic: 30 * self.mixes,
            self.classic_leave: 2 * self.mixes,
            self.classic_commit: 3 * self.mixes,
            self.offset_delete: 2,
            self.delete_groups: 1,
            self.list_groups: 2,
            self.describe: 3,
            self.describe_groups: 1,
            self.create_topic: 2,
            self.grow_topic: 2,
            self.delete_topic: 1,
            self.configure: 2,
        }

    # Offsets.

    def _offsets(self, member: Member) -> list[tuple[str, int, int]]:
        """Of what it owns, mostly, and of anything."""
        owned = [
            (topic.removeprefix("<topic ").removesuffix(">"), partition)
            for topic, partitions in member.owned.items()
            for partition in partitions
            if topic.startswith("<topic t")
        ]
        chosen = self.random.sample(owned, min(len(owned), self.pick((1, 1, 2))))
        if not chosen or self.chance(0.25):
            chosen.append((self.pick(("t1", "t2", "t3")), self.pick((0, 0, 1, 2, 9))))
        return [(topic, partition, self.random.randint(0, 100)) for topic, partition in chosen]

    # What administrators do.

    def list_groups(self) -> None:
        """With filters."""
        states = self.random.sample(("Stable", "empty", "Assigning", "RECONCILING", "dead"), self.pick((0, 0, 1, 2)))
        types = self.random.sample(("classic", "Consumer", "odd"), self.pick((0, 0, 1)))
        verbs.list_groups(self.play, "a1", self.version("ListGroups"), states_filter=states, types_filter=types)

    def describe(self) -> None:
        """ConsumerGroupDescribe at some version (the watcher uses one alone)."""
        asked = self.random.choices((*GROUPS, "<p>none"), k=self.pick((0, 1, 2))) + [""] * (
            self.known and self.chance(0.1)
        )
        body = {"group_ids": asked, "include_authorized_operations": self.chance(0.3)}
        self.play.ask("a1", "ConsumerGroupDescribe", self.version("ConsumerGroupDescribe"), body)

    def describe_groups(self) -> None:
        """The older request."""
        verbs.describe_groups(self.play, "a1", *GROUPS, version=self.version("DescribeGroups"))

    # Configurations of groups.

    def configure(self) -> None:
        """A group's own configuration: one that counts at the next heartbeat, or one that is refused."""
        key = self.pick(("consumer.assignment.interval.ms", *CONFIGS))
        self._configure(self.pick((G1, G2)), key, self.pick((*CONFIGS[key], None)))
        if self.chance(0.5):
            self.describe_configs()
