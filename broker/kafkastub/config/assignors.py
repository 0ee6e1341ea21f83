"""Which assignors groups of the consumer protocol can choose from. Kafka: ``GroupCoordinatorConfig``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .errors import ConfigError

NAME: Final = "group.consumer.assignors"
_PACKAGE: Final = "org.apache.kafka.coordinator.group.assignor."
_KNOWN: Final[Mapping[str, str]] = {
    "uniform": "uniform",
    "range": "range",
    _PACKAGE + "UniformAssignor": "uniform",
    _PACKAGE + "RangeAssignor": "range",
}


def assignor_names(configured: Iterable[str]) -> tuple[str, ...]:
    """What clients know them by, the default first: Kafka's own may be configured by their classes too.

    ConfigError for one that is not Kafka's, and where two have the same name.
    """
    texts = list(configured)
    names = [_KNOWN.get(text) for text in texts]
    found = tuple(name for name in names if name is not None)
    if len(found) < len(texts) or len(set(found)) < len(found):
        rule = "allowed are uniform and range, each once (no other class can be loaded)"
        raise ConfigError(f"{NAME}={','.join(texts)} is refused: {rule}")
    return found
