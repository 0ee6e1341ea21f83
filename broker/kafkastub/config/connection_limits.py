"""How many connections a broker takes, from whom and how fast, as configured (Kafka: ``ConnectionQuotas``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from . import definition
from .errors import ConfigError, InvalidValue
from .kafka_table import BROKER

MAX_CONNECTIONS: Final = "max.connections"
CREATION_RATE: Final = "max.connection.creation.rate"
PER_IP: Final = "max.connections.per.ip"
OVERRIDES: Final = "max.connections.per.ip.overrides"
OF_LISTENERS: Final = (MAX_CONNECTIONS, CREATION_RATE)
"""What a listener may have for itself, as ``listener.name.<name>.max.connections``."""
_OVERRIDE: Final = re.compile(r"listener\.name\.[^.]*\.(" + "|".join(map(re.escape, OF_LISTENERS)) + ")")
_HOST: Final = re.compile(r"[0-9a-zA-Z\-%._:]*")


class Configured(Protocol):
    """What is asked of a broker's configuration here: its values by name, and the texts that they were given as."""

    @property
    def static(self) -> Mapping[str, str]: ...

    @property
    def dynamic_broker(self) -> Mapping[str, str]: ...

    @property
    def dynamic_default(self) -> Mapping[str, str]: ...

    def __getitem__(self, name: str) -> Any: ...


class BadOverrides(ValueError):
    """max.connections.per.ip.overrides cannot be read; ``str()`` is Kafka's text."""


def per_ip_overrides(text: str) -> dict[str, int]:
    """Host or address to its number of connections. Raises BadOverrides."""
    found: dict[str, int] = {}
    for part in definition.split_at_commas(text):
        if not part:
            continue
        host, colon, number = part.rpartition(":")
        if not colon:
            length = len(part)
            raise BadOverrides(f"Error parsing configuration property '{OVERRIDES}': begin 0, end -1, length {length}")
        value = definition.whole(number.strip())
        if value is None or not -(1 << 31) <= value < 1 << 31:
            raise BadOverrides(f'For input string: "{number.strip()}"')
        found[host.strip()] = value
    bad = [host for host in found if _HOST.fullmatch(host) is None]
    if bad:
        raise BadOverrides(f"{OVERRIDES} contains invalid addresses : {','.join(bad)}")
    return found


def of_listener(config: Configured, listener: str, name: str) -> int:
    """The listener's own value of one of OF_LISTENERS, else the broker's."""
    key = f"listener.name.{listener.lower()}.{name}"
    for texts in (config.dynamic_broker, config.dynamic_default, config.static):
        if key in texts:
            return int(definition.parse(name, BROKER[name], texts[key]))
    return int(config[name])


def letting_nobody_in(config: Configured, listeners: Iterable[str]) -> Iterator[str]:
    """The names of the limits that are 0, with which a broker starts as Kafka's does: whoever connects waits."""
    if config[MAX_CONNECTIONS] == 0:
        yield MAX_CONNECTIONS
        return
    for listener in listeners:
        if of_listener(config, listener, MAX_CONNECTIONS) == 0:
            yield f"listener.name.{listener.lower()}.{MAX_CONNECTIONS}"


def check_connection_limits(texts: Mapping[str, str]) -> None:
    """Raises ConfigError (one sentence) for texts that a broker would not start with."""
    for key, text in texts.items():
        override = _OVERRIDE.fullmatch(key)
        if override is not None:
            row = BROKER[override[1]]
            try:
                definition.check(override[1], row, definition.parse(override[1], row, text))
            except InvalidValue:
                raise ConfigError(f"{key}={text} is refused: allowed is {definition.allowed(row)}") from None
    try:
        per_ip_overrides(texts.get(OVERRIDES, ""))
    except BadOverrides:
        rule = "allowed is a comma separated list of HOST:NUMBER, for example 127.0.0.1:100"
        raise ConfigError(f"{OVERRIDES}={texts[OVERRIDES]} is refused: {rule}") from None
