"""Who computes the targets of consumer groups. Kafka: the package org.apache.kafka.coordinator.group.assignor.

An assignor's own mistakes and absurd input raise `AssignorError`.
"""

from __future__ import annotations

from kafkastub.coordinator.modern.assignment import Assignor


def named(name: str) -> Assignor | None:
    """The assignor `uniform` or `range`, by that name or by the class name that Kafka's configuration takes too.

    None where there is no such assignor. Loads it when it is first asked for.
    """
    raise NotImplementedError
