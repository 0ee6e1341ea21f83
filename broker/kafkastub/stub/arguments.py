"""Checks of the arguments of `KafkaStub` and its clock. Each refusal is one sentence.

Arguments of a wrong type raise TypeError, wrong values ValueError or one of its subclasses.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from kafkastub.config import ConfigError
from kafkastub.config.durations import LAST_MS
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.faults import Chaos, PlayedChaos

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END: Final = "broker time lies between 1970 and the end of the year 9999, in UTC"

_LONGEST: Final = 200
"""Characters of what is said of a step."""

MOST_NODES: Final = 100
_TOPICS = 'expected names with their numbers of partitions, {"orders": 3}, or a list of names, ["orders"]'


def topics(given: object) -> dict[str, int]:
    """Return names with numbers of partitions; names in a list have one each. Raises TypeError, ValueError."""
    if given is None:
        return {}
    if isinstance(given, list | tuple | set | frozenset):
        for name in given:
            topic(name, 1)
            plain, _, count = name.partition(":")
            if count.isascii() and count.isdigit():
                raise ValueError(f"topics={given!r} is refused: {_TOPICS}; {name!r} is {{{plain!r}: {count}}} there")
        given = dict.fromkeys(given, 1)
    if not isinstance(given, Mapping):
        raise TypeError(f"topics={given!r} is refused: {_TOPICS}")
    for name, partitions in given.items():
        topic(name, partitions)
    return dict(given)


def topic(name: object, partitions: object) -> None:
    """Check a topic's name and number of partitions before Kafka does. Raises TypeError, ValueError."""
    if not isinstance(name, str):
        raise TypeError(f"topic {name!r} is refused: its name has to be a string")
    if not isinstance(partitions, int) or isinstance(partitions, bool):
        raise TypeError(f"topic {name!r} is refused: its number of partitions has to be an int, not {partitions!r}")
    if partitions < 0:  # what Kafka takes for "the default"; none at all is refused by Kafka itself
        raise ValueError(f"topic {name!r} is refused: it needs at least one partition, not {partitions}")


def named(error: KafkaError, name: str, settings: Iterable[str] = ()) -> str:
    """Return why Kafka refuses a topic with this configuration, with the topic's name."""
    reason = error.message or error.code.name
    for setting in settings:
        if reason.endswith(f"Unknown topic config name: {setting}"):
            from kafkastub.config.mistyped import topic_question

            reason += "".join(f"; {meant}" for meant in [topic_question(setting)] if meant)
    return reason if name and name in reason else f"topic {name!r} is refused: {reason}"


def configs(given: object, what: str) -> None:
    """Check that the argument maps names to values. Raises TypeError."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise TypeError(f'{what}={given!r} is refused: expected a mapping, for example {{"group.max.size": 2}}')
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{what}={given!r} is refused: {name!r} is not a name of a configuration")


def mistyped(unknown: Iterable[str]) -> None:
    """Raise ConfigError for a name that can only be a typing mistake, and that would be ignored.

    Other unknown names are ignored, because a real broker's configuration has names of its plug-ins. A warning lists
    them, which test runners show. If warnings are errors, only the line in the log remains, so that working tests keep
    working.
    """
    for name in unknown:
        from kafkastub.config.mistyped import question, refusal

        if (why := refusal(name)) is not None:
            raise ConfigError(why)
        text = f"kafkastub ignores the configuration {name}: Kafka has no such name"
        with contextlib.suppress(UserWarning):
            warnings.warn("; ".join(filter(None, (text, question(name)))), stacklevel=3)


def address(host: object, port: object, of: str = "") -> tuple[str, int]:
    """Return the address to listen on; `of` is the beginning of the arguments' names. Raises TypeError, ValueError."""
    if not isinstance(host, str):
        raise TypeError(f"{of}host={host!r} is refused: expected a string, for example 127.0.0.1")
    if not host:
        raise ValueError(f"{of}host='' is refused: 127.0.0.1 is this machine alone, 0.0.0.0 every address that it has")
    if not isinstance(port, int) or isinstance(port, bool):
        raise TypeError(f"{of}port={port!r} is refused: expected an int, 0 for any free port")
    if not 0 <= port <= 65535:
        raise ValueError(f"{of}port={port} is refused: 0 to 65535 is allowed")
    return host, port


def with_users(users: object, config: Mapping[str, object], host: str | None, port: int | None) -> dict[str, object]:
    """Return the configuration with these users, and with a SASL listener if it has none. Raises TypeError."""
    if not isinstance(users, Mapping) or not all(
        isinstance(one, str) and one for pair in users.items() for one in pair
    ):
        raise TypeError('users is refused: expected a mapping of names to passwords, for example {"alice": "secret"}')
    named: dict[str, object] = {"kafkastub.users": json.dumps(dict(users))}
    if "listeners" not in config:
        where = host or "127.0.0.1"
        where = f"[{where}]" if ":" in where else where
        named["listeners"] = f"SASL_PLAINTEXT://{where}:{port or 0}"
        named["inter.broker.listener.name"] = "SASL_PLAINTEXT"
    return {**named, **config}


def nodes(count: object, racks: object, of: str = "") -> tuple[int, list[str]]:
    """Return the number of nodes and their racks; `of` is the beginning of the names. Raises TypeError, ValueError."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"{of}nodes={count!r} is refused: expected an int, for example 3")
    if not 1 <= count <= MOST_NODES:
        raise ValueError(f"{of}nodes={count} is refused: 1 to {MOST_NODES} is allowed")
    if isinstance(racks, str) or not isinstance(racks, Sequence) or not all(isinstance(one, str) for one in racks):
        raise TypeError(f'{of}racks={racks!r} is refused: expected a list of names, for example ["a", "b"]')
    if len(racks) > count:
        most = f"at most {count} {'is' if count == 1 else 'are'} allowed, one for each node"
        raise ValueError(f"{of}racks names {len(racks)} racks: {most}; leave some out, or raise {of}nodes")
    return count, list(racks)


def data_dir(given: object) -> None:
    """Check the path of a folder. Raises TypeError, ValueError."""
    if given is None:
        return
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"data_dir={given!r} is refused: expected a path")
    if not os.fspath(given):
        raise ValueError("data_dir='' is refused: name a folder, or leave it out to keep nothing")


def text(given: object, what: str) -> None:
    """Check that the argument is a string or None. Raises TypeError."""
    if given is not None and not isinstance(given, str):
        raise TypeError(f"{what}={given!r} is refused: expected a string")


def flag(given: object, what: str) -> bool:
    """Return the argument if it is a bool. Raises TypeError."""
    if not isinstance(given, bool):
        raise TypeError(f"{what}={given!r} is refused: expected True or False")
    return given


def wanted_text(given: object, what: str) -> None:
    """Check that the argument is a string, and not None. Raises TypeError."""
    if not isinstance(given, str):
        raise TypeError(f"{what}={given!r} is refused: expected a string")


def registry(wanted: object, host: object, port: object) -> tuple[str, int] | None:
    """Return the address of the schema registry; None without one. Raises TypeError, ValueError."""
    if not isinstance(wanted, bool):
        raise TypeError(f"registry={wanted!r} is refused: expected True or False; registry_port= says where")
    if not wanted and port is None:
        return None
    return address(host, 0 if port is None else port, "registry_")


def names(given: object, what: str) -> tuple[str, ...]:
    """Return host names; "*" is any name. Raises TypeError, ValueError."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise TypeError(f'{what}={given!r} is refused: expected a list of names, for example ["stub.example"]')
    for name in given:
        if not name or "," in name or name != name.strip():
            raise ValueError(f"{what}={given!r} is refused: {name!r} is not a host's name")
    return tuple(name.lower().removesuffix(".") for name in given)


def moment(given: object) -> int:
    """Return a point in time in Unix milliseconds. Raises TypeError, ValueError."""
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise ValueError(f"{given} has no time zone: expected an aware datetime, for example with tzinfo=UTC")
        ms = (given - EPOCH) // timedelta(milliseconds=1)
        named = given.isoformat()
    elif isinstance(given, int) and not isinstance(given, bool):
        ms, named = given, f"{shortened(given)} ms"
    else:
        raise TypeError(f"the clock cannot be set to {given!r}: expected an aware datetime or Unix milliseconds")
    if not 0 <= ms <= LAST_MS:
        raise ValueError(f"the clock cannot be set to {named}: {_END}")
    return ms


def step(by: object, **units: object) -> int:
    """Return a step forward in milliseconds. Raises TypeError, ValueError."""
    if by is not None and not isinstance(by, timedelta):
        raise TypeError(f"the clock cannot advance by {by!r}: expected a timedelta, or days=, hours=, minutes= …")
    for unit, count in units.items():
        if not isinstance(count, int | float) or isinstance(count, bool):
            raise TypeError(f"the clock cannot advance by {unit}={count!r}: expected a number")
    try:
        length = (by or timedelta()) + timedelta(**units)  # type: ignore[arg-type]
    except (OverflowError, ValueError):
        shown = ", ".join(f"{unit}={count}" for unit, count in units.items() if count)
        raise ValueError(f"the clock cannot advance by {shown[:_LONGEST] or by}: {_END}") from None
    ms = length // timedelta(milliseconds=1)
    if ms < 0:
        raise ValueError(f"the clock only moves forward, not by {length}")
    return ms


def reached(now_ms: int, ms: int) -> None:
    """Raise ValueError for a step whose end is no valid datetime."""
    if now_ms + ms > LAST_MS:
        left = timedelta(milliseconds=max(0, LAST_MS - now_ms))
        raise ValueError(f"the clock cannot advance by {timedelta(milliseconds=ms)}, but by {left} at most: {_END}")


def shortened(number: int) -> str:
    """Return a number as digits, or a description of a number with thousands of digits."""
    return str(number) if number.bit_length() <= 128 else f"a number of {number.bit_length()} bits"


def chaos(given: object, level: object) -> Callable[[], Chaos | PlayedChaos]:
    """Return a function that makes the chaos of a seed, a list of acts, or a scenario. Raises FaultError."""
    from kafkastub.faults import Chaos, PlayedChaos, scenario_acts

    make: Callable[[], Chaos | PlayedChaos]
    if isinstance(given, str):
        given = scenario_acts(given)
    if isinstance(given, list | tuple):
        make = partial(PlayedChaos, tuple(given))
    else:
        make = partial(Chaos, given, level)  # type: ignore[arg-type]
    make()
    return make
