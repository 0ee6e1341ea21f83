"""The assignor `uniform`: members get equally many partitions, and keep what they have. Kafka: UniformAssignor."""

from __future__ import annotations

from typing import Final

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.assignors.uniform_heterogeneous import assign_heterogeneous
from kafkastub.coordinator.modern.assignors.uniform_homogeneous import assign_homogeneous
from kafkastub.steps import Pace, no_pause


class UniformAssignor:
    """An `Assignor`."""

    name: Final = "uniform"

    def assign(self, spec: GroupSpec, topics: TopicDescriber, pace: Pace = no_pause) -> dict[str, Assignment]:
        """The new target of each member.

        Raises: AssignorError for a topic that does not exist, or an old target in which members share a partition.
        """
        if not spec.members:
            return {}
        if spec.homogeneous:
            return assign_homogeneous(spec, topics, pace)
        return assign_heterogeneous(spec, topics, pace)
