"""Topics that are joined must have as many partitions as each other. Kafka: CopartitionedTopicsEnforcer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from kafkastub.coordinator.streams.statuses import misfit
from kafkastub.coordinator.streams.topology import Subtopology, TopicInfo
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order, string_order

T = TypeVar("T")


def groups_of(subtopology: Subtopology) -> list[list[str]]:
    """The names that each group stands for, each once, in the order of Kafka's set.

    Raises UNKNOWN_SERVER_ERROR for a position that there is not.
    """
    sources, repartitioned = subtopology.source_topics, subtopology.repartition_source_topics
    groups = []
    for group in subtopology.copartition_groups:
        names = [_at(sources, position) for position in group.source_topics]
        names += [_at(repartitioned, position).name for position in group.repartition_source_topics]
        groups.append(string_map_order(names))
    return groups


def _at(items: tuple[T, ...], position: int) -> T:
    if 0 <= position < len(items):
        return items[position]
    raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)


class Copartitioning:
    """Makes the partitions of repartition topics fit together.

    Args:
        topics: all repartition topics that parts of the application read.
        count_of: the partitions of a topic that is there, or as decided so far.
    """

    def __init__(self, topics: Collection[TopicInfo], count_of: Callable[[str], int]) -> None:
        self._fixed = {topic.name: None for topic in topics if topic.partitions != 0}
        self._repartitioned = {topic.name for topic in topics}
        self._count_of = count_of
        self._fixed_counts: set[int] | None = None

    def decided(self, group: list[str]) -> Mapping[str, int]:
        """The partitions that the repartition topics of a group must have.

        Args:
            group: names, each once.

        Raises TopicConfigurationError where counts that cannot be changed differ.
        """
        if not group:
            return {}
        counts = {name: self._count_of(name) for name in group}
        repartitioned = {name: count for name, count in counts.items() if name in self._repartitioned}
        if len(repartitioned) < len(counts):
            common = _common({name: count for name, count in counts.items() if name not in repartitioned})
        elif self._fixed:
            common = self._as_fixed(repartitioned)
        else:
            common = max(repartitioned.values())
        for name in string_map_order(repartitioned):
            if name in self._fixed and repartitioned[name] != common:
                raise misfit(
                    f"Number of partitions [{repartitioned[name]}] of repartition topic [{name}] doesn't match "
                    f"number of partitions [{common}] of the source topic."
                )
        return dict.fromkeys(repartitioned, common)

    def _as_fixed(self, group: Mapping[str, int]) -> int:
        """As many as those have whose number is given: all of the application, not of the group only, as in Kafka."""
        if self._fixed_counts is None:  # what is given is never changed by what is decided
            self._fixed_counts = set(map(self._count_of, self._fixed))
        if len(self._fixed_counts) > 1:
            raise _differ(group)
        (common,) = self._fixed_counts
        return common


def _common(group: Mapping[str, int]) -> int:
    if len(set(group.values())) > 1:
        raise _differ(group)
    return next(iter(group.values()))


def _differ(group: Mapping[str, int]) -> Exception:
    names = ", ".join(f"{name}={group[name]}" for name in sorted(group, key=string_order))
    return misfit(f"Following topics do not have the same number of partitions: [{{{names}}}]")
