"""Members that subscribe to topics by a regular expression.

Kafka: maybeUpdateRegularExpressions, handleRegularExpressionsResult, TopicRegexResolver.

What an expression matches is found out after the answer to the heartbeat that asked for it, by a deadline that is due
at once. Kafka does it on another thread. Many expressions, or costly ones, in a cluster with many topics take several
rounds, so that nobody else is held up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Final

from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.records import (
    ConsumerGroupMetadata,
    ConsumerGroupRegularExpression,
)
from kafkastub.coordinator.modern.counts import decrease, increase
from kafkastub.coordinator.modern.expressions import Expression
from kafkastub.coordinator.modern.subscriptions import Counts
from kafkastub.coordinator.records import Record, Tombstone
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline
from kafkawire.errors import KafkaError
from kafkawire.java_order import string_map_order

MayDescribe = Callable[[str], bool]
"""Whether the member may know of a topic, by its name."""

REFRESH_NOT_BEFORE_MS: Final = 10_000
"""Between two looks at the topics of one group. Kafka: REGEX_BATCH_REFRESH_MIN_INTERVAL_MS."""
_AT_ONCE: Final = 1_000
"""Topics that match, each of which may have to be looked up among ACLs, before others have their turn."""


class Change(Enum):
    """What a heartbeat has done to its member's expression."""

    NONE = 0
    UPDATED = 1
    UPDATED_AND_RESOLVED = 2


class Resolution:
    """How the resolution of a group's expressions stands.

    Attributes:
        round: the next step of one that is under way.
        at: when they were resolved last, timer milliseconds; None before.
        version: of the topics at that time; see `Expressions.version`.
    """

    __slots__ = ("at", "round", "version")

    def __init__(self, round_: Deadline[Turn]) -> None:
        self.round = round_
        self.at: int | None = None
        self.version = 0

    def cancel(self) -> None:
        """The group is gone."""
        self.round.end()


class Expressions:
    """Finds out what expressions match.

    Attributes:
        version: of the topics; raised whenever one is created.
    """

    __slots__ = ("context", "version")

    def __init__(self, context: ConsumerContext) -> None:
        self.context = context
        self.version = 1

    def update(
        self,
        group: ConsumerGroup,
        member: ConsumerMember,
        updated: ConsumerMember,
        records: list[Record],
    ) -> tuple[Change, bool]:
        """What a heartbeat does to its member's expression, and whether that needs a look at the topics.

        Raises INVALID_REGULAR_EXPRESSION for one that is new to the group.
        """
        old, new = member.subscribed_topic_regex, updated.subscribed_topic_regex
        if old == new:
            return Change.NONE, False
        change, needed, members = Change.UPDATED, False, group.subscriptions.now.expressions
        if old and members.get(old) == 1:
            records.append(Tombstone(ConsumerGroupRegularExpression, group.group_id, old))
        if new:
            if new not in members:
                Expression(new)
                needed = True
            elif new in group.subscriptions.resolved:
                change = Change.UPDATED_AND_RESOLVED
        elif old:
            change = Change.UPDATED_AND_RESOLVED
        return change, needed

    def refresh(
        self,
        group: ConsumerGroup,
        member: ConsumerMember,
        updated: ConsumerMember,
        needed: bool,
        may_describe: MayDescribe | None,
        turn: Turn,
    ) -> None:
        """Look at the topics, after the answer, where it is needed or time for it. Once a round, and in 10 s."""
        members = group.subscriptions.now.expressions
        if not needed and not members:
            return
        resolution = self._resolution(group)
        if resolution.round.at is not None:
            return
        resolved = group.subscriptions.resolved
        age = turn.timer_ms - resolution.at if resolved and resolution.at is not None else None
        if age is not None and age <= REFRESH_NOT_BEFORE_MS:
            return
        used = dict(members)
        if member.subscribed_topic_regex:
            decrease(used, member.subscribed_topic_regex)
        if updated.subscribed_topic_regex:
            increase(used, updated.subscribed_topic_regex)
        needed = needed or len(used) != len(resolved) or resolution.version < self.version
        if used and (needed or age is None or age > self.context.settings.regex_refresh_interval_ms):
            self._start(group, resolution, string_map_order(used), may_describe, turn)

    def revived(self, group: ConsumerGroup, turn: Turn) -> None:
        """The group comes from its records, which say when its expressions were resolved."""
        for record in group.subscriptions.resolved.values():
            self._resolution(group).at = turn.timer_ms - max(turn.broker_ms - record.timestamp, 0)
            return

    def _resolution(self, group: ConsumerGroup) -> Resolution:
        if group.expressions is None:
            group.expressions = Resolution(Deadline(("regex", group.group_id), lambda later: None))
        resolution: Resolution = group.expressions
        return resolution

    def _start(
        self,
        group: ConsumerGroup,
        resolution: Resolution,
        regexes: Sequence[str],
        may_describe: MayDescribe | None,
        turn: Turn,
    ) -> None:
        version, found = self.version, dict[str, list[str]]()
        steps = self._steps(regexes, may_describe, found)
        deadlines = self.context.groups.deadlines

        def step(later: Turn) -> None:
            if self.context.groups.groups.get(group.group_id) is not group:
                return
            if next(steps, None) is not None:
                deadlines.arm(resolution.round, later.timer_ms)
                return
            resolution.at, resolution.version = later.timer_ms, version
            self._resolved(group, found, version, later)

        resolution.round.fire = step
        deadlines.arm(resolution.round, turn.timer_ms)

    def _steps(
        self, regexes: Sequence[str], may_describe: MayDescribe | None, found: dict[str, list[str]]
    ) -> Iterator[bool]:
        """Fill `found`, a bit at a time."""
        names = list(self.context.image.names())
        work = 0
        for regex in regexes:
            matched = found[regex] = []
            try:
                expression = Expression(regex)
            except KafkaError:
                continue  # one that came with the records; it matches nothing
            work += _AT_ONCE // 20 + len(names) // 10
            for name in expression.matching(names):
                if name is None:
                    work = _AT_ONCE
                else:
                    work += 1
                    if may_describe is None or may_describe(name):
                        matched.append(name)
                        self.context.topics.hash_of(name)  # which is asked for in the end, of all at once
                if work >= _AT_ONCE:
                    work = 0
                    yield True

    def _resolved(self, group: ConsumerGroup, found: dict[str, list[str]], version: int, turn: Turn) -> None:
        """The topics are found: a new epoch where they are others than before."""
        group_id, records, changed = group.group_id, list[Record](), False
        now = group.subscriptions.now
        counts = Counts(now.by_name, dict(now.by_regex), now.expressions)
        for regex, matched in found.items():
            if regex not in now.expressions:
                continue
            known = group.subscriptions.resolved.get(regex)
            before = () if known is None else known.topics
            topics = tuple(sorted(matched))
            if before != topics:
                changed = True
                for name in before:
                    decrease(counts.by_regex, name)
                for name in topics:
                    increase(counts.by_regex, name)
            records.append(ConsumerGroupRegularExpression(group_id, regex, topics, version, turn.broker_ms))
        metadata_hash = self.context.topics.metadata_hash(counts.names)
        if changed or metadata_hash != group.metadata_hash:
            records.append(ConsumerGroupMetadata(group_id, group.epoch + 1, metadata_hash))
            self.context.rebalances += 1
            group.metadata_stale = False
        self.context.write(group, records, turn)
