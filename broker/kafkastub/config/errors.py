"""What configuration code raises."""

from __future__ import annotations


class ConfigError(ValueError):
    """A configuration that the broker does not start with. The text is one sentence: key, value, what is allowed."""


class InvalidValue(ValueError):
    """A value that Kafka's ConfigDef refuses.

    ``str()`` is the text Kafka sends to clients. ``name`` is the configuration's, ``reason`` the part after the colon.
    """

    def __init__(self, name: str, value: object, reason: str, *, whole: str | None = None) -> None:
        super().__init__(whole or f"Invalid value {_printed(value)} for configuration {name}: {reason}")
        self.name = name
        self.reason = reason


class UnknownTopicConfig(ValueError):
    """A topic configuration name that Kafka does not have; ``str()`` is the text Kafka sends to clients."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown topic config name: {name}")


def _printed(value: object) -> str:
    """As Java prints it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(str(item) for item in value)}]"
    return str(value)
