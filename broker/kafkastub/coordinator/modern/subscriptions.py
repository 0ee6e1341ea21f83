"""What the members of a group subscribe to, counted. Kafka: ModernGroup.subscribedTopicNames, SubscriptionCount."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafkastub.coordinator.modern.counts import decrease, increase
from kafkastub.coordinator.modern.subscribed import SubscribedTopics


class Counts(NamedTuple):
    """How often something is subscribed to.

    Attributes:
        by_name: members that name a topic, by its name.
        by_regex: regular expressions that match a topic, by its name.
        expressions: members by their regular expression.
    """

    by_name: dict[str, int]
    by_regex: dict[str, int]
    expressions: dict[str, int]

    @property
    def names(self) -> list[str]:
        """The topics, each once."""
        return list(dict.fromkeys((*self.by_name, *self.by_regex)))

    def homogeneous(self, members: int) -> bool:
        """Whether so many members all subscribe to the same. Kafka: ConsumerGroup.subscriptionType."""
        if not self.expressions:
            # What an expression matched that nobody has any more counts for nothing, as it has not gone yet.
            return self.by_regex.keys() <= self.by_name.keys() and all(
                count == members for count in self.by_name.values()
            )
        one_for_all = max(self.expressions.values()) == members
        return one_for_all and not self.by_name and all(count == 1 for count in self.by_regex.values())


class Subscriptions:
    """The counts of one group as it is, and as it will be; its members have topic names and an expression, or None.

    Attributes:
        resolved: the record of each regular expression, as far as it is resolved.
        lost: whether a topic has gone out of the subscription since somebody looked.
    """

    __slots__ = ("_counts", "_group_id", "_topics", "lost", "resolved")

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        self._group_id = group_id
        self._topics = topics
        self._counts = Counts({}, {}, {})
        self.resolved: dict[str, Any] = {}
        self.lost = False

    @property
    def now(self) -> Counts:
        """The counts; to be read only."""
        return self._counts

    def has(self, topic: str) -> bool:
        """Whether a member subscribes to the topic."""
        return topic in self._counts.by_name or topic in self._counts.by_regex

    def after(self, old: Iterable[Any], new: Any) -> Counts:
        """The counts once these members are gone and that one is there.

        What only regular expressions of theirs have matched is gone with them; what a new one matches is not known yet.
        """
        counts = Counts(*(dict(one) for one in self._counts))
        gone: set[str] = set()
        for member in old:
            for name in member.subscribed_topic_names:
                decrease(counts.by_name, name)
            if member.subscribed_topic_regex:
                decrease(counts.expressions, member.subscribed_topic_regex)
                gone.add(member.subscribed_topic_regex)
        if new is not None:
            for name in new.subscribed_topic_names:
                increase(counts.by_name, name)
            if new.subscribed_topic_regex:
                increase(counts.expressions, new.subscribed_topic_regex)
        for regex in gone:
            if regex not in counts.expressions and regex in self.resolved:
                for name in self.resolved[regex].topics:
                    decrease(counts.by_regex, name)
        return counts

    def replace(self, old: Any, new: Any) -> None:
        """A member has changed, come (no `old`) or gone (no `new`)."""
        counts = self._counts
        before = frozenset[str]() if old is None else old.subscribed_topic_names
        after = frozenset[str]() if new is None else new.subscribed_topic_names
        if before is not after and before != after:
            self._add(counts.by_name, after - before)
            self._remove(counts.by_name, before - after)
        before_regex = None if old is None else old.subscribed_topic_regex or None
        after_regex = None if new is None else new.subscribed_topic_regex or None
        if before_regex != after_regex:
            if before_regex is not None:
                decrease(counts.expressions, before_regex)
            if after_regex is not None:
                increase(counts.expressions, after_regex)

    def resolve(self, regex: str, record: Any) -> None:
        """A regular expression matches these topics, or is none any more."""
        old = self.resolved.pop(regex, None)
        if record is not None:
            self.resolved[regex] = record
            self._add(self._counts.by_regex, record.topics)
        if old is not None:
            self._remove(self._counts.by_regex, old.topics)

    def forget(self) -> None:
        """The group is gone."""
        for name in self._counts.names:
            self._topics.discard(name, self._group_id)

    def _add(self, counts: dict[str, int], names: Iterable[str]) -> None:
        by_name, by_regex, _ = self._counts
        for name in names:  # there may be very many
            if name not in by_name and name not in by_regex:
                self._topics.add(name, self._group_id)
            counts[name] = counts.get(name, 0) + 1

    def _remove(self, counts: dict[str, int], names: Iterable[str]) -> None:
        by_name, by_regex, _ = self._counts
        for name in names:
            decrease(counts, name)
            if name not in by_name and name not in by_regex:
                self._topics.discard(name, self._group_id)
                self.lost = True


def most(counts: Mapping[str, int], order: Iterable[str]) -> str | None:
    """The key with the largest count, of equals the first in the order; None without any."""
    best: str | None = None
    for key in order:
        if best is None or counts[key] > counts[best]:
            best = key
    return best
