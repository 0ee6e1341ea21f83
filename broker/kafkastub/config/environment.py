"""Configuration by environment variables, as the apache/kafka image maps them.

Source: `kafka.docker.KafkaDockerWrapper`: KAFKA_ is taken off, the rest in lower case, `_` is a dot, `__` an underscore
and `___` a dash. Some names are for the image's scripts and the JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PREFIX: Final = "KAFKA_"
CREATE_TOPICS: Final = "KAFKA_CREATE_TOPICS"
"""`NAME:PARTITIONS[:REPLICAS]`, separated by commas: what images for tests have called it for long."""

NOT_FOR_THE_BROKER: Final = frozenset(
    {
        CREATE_TOPICS,
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_HEAP_OPTS",
        "KAFKA_JMX_HOSTNAME",
        "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_LOG4J_LOGGERS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_OPTS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
        "KAFKA_VERSION",
    }
)


def configs_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Kafka's configuration names with their values."""
    return {
        _name(variable.removeprefix(PREFIX)): value
        for variable, value in sorted(environment.items())
        if variable.startswith(PREFIX) and variable != PREFIX and variable not in NOT_FOR_THE_BROKER
    }


def topics_of(environment: Mapping[str, str]) -> list[str]:
    """`NAME:PARTITIONS` of each topic to create. Raises ValueError with one sentence."""
    found = []
    for text in filter(None, (part.strip() for part in environment.get(CREATE_TOPICS, "").split(","))):
        name, *numbers = text.split(":")
        if not name or not 1 <= len(numbers) <= 2 or not all(n.isascii() and n.isdigit() for n in numbers):
            raise ValueError(f"{CREATE_TOPICS}: {text!r} is not a topic: expected NAME:PARTITIONS, several with commas")
        found.append(f"{name}:{numbers[0]}")
    return found


def _name(rest: str) -> str:
    return rest.lower().replace("_", ".").replace("...", "-").replace("..", "_")
