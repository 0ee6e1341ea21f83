"""The assignor of share groups: partitions are shared where there are more members than partitions.

Every partition gets the same number of members, which is as low as it can be with a partition for each; what a member
has stays with it, as far as that goes. Kafka: SimpleAssignor, SimpleHomogeneousAssignmentBuilder,
SimpleHeterogeneousAssignmentBuilder; with their orders of iteration, and what follows from these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.assignors.simple_heterogeneous import assign_heterogeneous
from kafkastub.coordinator.modern.assignors.simple_homogeneous import assign_homogeneous
from kafkastub.steps import Pace, no_pause

Assignable = Mapping[bytes, Collection[int]]
"""The partitions that may be assigned, by topic id."""


class SimpleAssignor:
    """`simple`."""

    name: Final = "simple"

    def assign(
        self, spec: GroupSpec, topics: TopicDescriber, assignable: Assignable, pace: Pace = no_pause
    ) -> dict[str, Assignment]:
        """The new target of each member; who is missing has none. Partitions may be empty.

        Raises: AssignorError for a topic that does not exist.
        """
        if not spec.members:
            return {}
        if spec.homogeneous:
            return assign_homogeneous(spec, topics, assignable, pace)
        return assign_heterogeneous(spec, topics, assignable, pace)
