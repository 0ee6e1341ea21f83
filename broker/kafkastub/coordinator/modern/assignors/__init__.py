"""Who computes the targets of consumer groups. Kafka: the package org.apache.kafka.coordinator.group.assignor."""

from __future__ import annotations

from importlib import import_module

from kafkastub.coordinator.modern.assignment import Assignor

_PACKAGE = "org.apache.kafka.coordinator.group.assignor."
_ASSIGNORS = {"uniform": ("uniform", "UniformAssignor"), "range": ("range", "RangeAssignor")}
"""Name to module and class."""
_CLASSES = {f"{_PACKAGE}{made}": name for name, (_, made) in _ASSIGNORS.items()}


def named(name: str) -> Assignor | None:
    """The assignor `uniform` or `range`, by that name or by the class name that Kafka's configuration takes too.

    None where there is no such assignor. Loads it when it is first asked for.
    """
    found = _ASSIGNORS.get(_CLASSES.get(name, name))
    if found is None:
        return None
    assignor: Assignor = getattr(import_module(f"{__name__}.{found[0]}"), found[1])()
    return assignor
