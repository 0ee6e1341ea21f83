"""Groups at random, each with a history: members come and go, topics come, grow and vanish, subscriptions change.

What an assignor finds is what the members have at the next step, as it comes out of a record.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, MemberSubscription
from kafkastub.coordinator.modern.partition_sets import of_record
from kafkastub.metadata.ids import random_uuid
from kafkawire.java_order import string_map_order

_FEW = (0, 1, 1, 2, 3, 5, 8, 12, 17, 40)
_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


@dataclass
class Topics:
    """A `TopicDescriber`."""

    counts: dict[bytes, int]

    def partition_count(self, topic_id: bytes) -> int:
        return self.counts.get(topic_id, -1)

    def racks(self, topic_id: bytes, partition: int) -> frozenset[str]:
        return frozenset({f"rack{partition % 3}"})


@dataclass
class Member:
    instance_id: str | None
    topic_ids: list[bytes]
    assigned: Assignment = field(default_factory=dict)


@dataclass
class Group:
    """A group that changes.

    Args:
        size: about how large it and its topics are; 1 is small.
    """

    chance: random.Random
    size: int = 1
    counts: dict[bytes, int] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    same: bool = True

    def __post_init__(self) -> None:
        chance = self.chance
        self.same = chance.random() < 0.5
        for _ in range(chance.choice((1, 1, 2, 3, 4, 14)) * self.size):
            self._new_topic()
        for _ in range(chance.choice((1, 2, 2, 3, 5, 9, 17, 30)) * self.size):
            self._join()

    def step(self) -> None:
        """Something changes, or several things."""
        chance = self.chance
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            what = chance.choice(("join", "leave", "grow", "topic", "vanish", "subscribe", "kind", "many leave"))
            if what == "join":
                self._join()
            elif what == "leave" and self.members:
                del self.members[chance.choice(list(self.members))]
            elif what == "many leave":
                for member in chance.sample(list(self.members), len(self.members) // 2):
                    del self.members[member]
            elif what == "grow":
                topic = chance.choice(list(self.counts))
                self.counts[topic] += chance.choice((1, 2, 7, 30))
            elif what == "topic":
                self._new_topic()
            elif what == "vanish" and len(self.counts) > 1:
                del self.counts[chance.choice(list(self.counts))]
            elif what == "subscribe" and self.members:
                self.members[chance.choice(list(self.members))].topic_ids = self._subscription()
            elif what == "kind":
                self.same = chance.random() < 0.5
        if not self.members:
            self._join()

    def spec(self) -> GroupSpec:
        """As an assignor is given it."""
        members = {}
        every = list(self.counts)
        for member_id in string_map_order(self.members):
            member = self.members[member_id]
            topic_ids = every if self.same else [topic for topic in member.topic_ids if topic in self.counts]
            members[member_id] = MemberSubscription(
                "rack1", member.instance_id, dict.fromkeys(topic_ids).keys(), member.assigned
            )
        return GroupSpec(members, self.same)

    def apply(self, target: dict[str, Assignment]) -> None:
        """The target is what the members have now: as it was made, or as it comes out of a record."""
        for member_id, member in self.members.items():
            member.assigned = target.get(member_id, {})
            if self.chance.random() < 0.3:
                member.assigned = {topic: of_record(list(found)) for topic, found in member.assigned.items()}

    def _new_topic(self) -> None:
        count = self.chance.choice(_FEW) if self.chance.random() < 0.9 else self.chance.randint(0, 300)
        self.counts.setdefault(random_uuid(self.chance), count * self.size)  # an id may come twice, and none shrinks

    def _join(self) -> None:
        member_id = "".join(self.chance.choices(_NAMES, k=self.chance.choice((2, 22))))
        instance = f"i{self.chance.randint(0, 10**9)}" if self.chance.random() < 0.3 else None
        self.members[member_id] = Member(instance, self._subscription())

    def _subscription(self) -> list[bytes]:
        every = list(self.counts)
        return self.chance.sample(every, self.chance.randint(0, len(every)))


def histories(seed: int, groups: int, steps: int = 10) -> Iterator[tuple[str, Group]]:
    """Assignor and group, as long as there are groups: the same group comes back changed, until it had its steps."""
    chance = random.Random(seed)
    for number in range(0, groups, steps):
        group = Group(random.Random(chance.random()), size=1 if number % 100 else 4)
        for step in range(min(steps, groups - number)):
            if step:
                group.step()
            yield chance.choice(("uniform", "uniform", "uniform", "range")), group
