"""A fault rule as data, with the checks that do not depend on the broker."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from typing import Any, Final, Self

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

SIDES = ("before", "after")
LONGEST_MS = 24 * 3600 * 1000
"""Of a delay: a day."""


class FaultError(ValueError):
    """A fault rule that can never match or act, or that contradicts itself."""


@dataclass(frozen=True, kw_only=True)
class FaultRule:
    """The requests that a rule matches, and what happens to them. A field that is left out matches everything.

    Which requests:
        api: the name of an API ("OffsetCommit", in any case, also OFFSET_COMMIT), an API key, or several of them.
        versions: a version, or "FIRST-LAST", both included.
        client_id: a glob pattern ("payments-*").
        listener: the name of a listener.
        node: the id of the node that receives the request.
        connection: the number of a connection, as in the journal.
        group, transactional_id, topic, partition: what the request must name. A request for "all topics" names none.
        after: the number of first matches that are spared.
        every: of the following matches, the rule acts on every Nth.
        share: the share of matches that the rule acts on, 0 to 1, drawn from `seed`: the same requests get the same
            faults.

    What happens; at most one of error, drop, cut and silent:
        error: the name or number of an error code. The work is not done. If the rule names a topic, a partition, a
            group or a transaction and the request has others, too, those are served normally.
        drop: the connection is closed, "before" the work is done or "after" it.
        cut: the work is done and this number of bytes of the answer is sent (the four bytes of its size included). Then
            the connection is closed.
        silent: the connection stays open without an answer. With True or "after" the work is done, with "before" it is
            not.
        delay_ms: the request waits for this number of milliseconds before anything else happens, and its connection
            waits, too.
        hold: the request waits until it is released: "before" its work is done, or "after", when only the answer waits.
            Its connection waits, too. Not together with silent and delay_ms.
        throttle_time_ms: the value in the answer, in milliseconds. A version without the field does not match. Not
            together with drop, cut and silent.

    How long:
        times: the number of requests on which the rule acts.
        until: seconds of broker time from the moment when the rule is added, or a point in time (an aware datetime or
            ISO text).
    """

    api: str | int | Sequence[str | int] | None = None
    versions: str | int | None = None
    client_id: str | None = None
    listener: str | None = None
    node: int | None = None
    connection: int | None = None
    group: str | None = None
    transactional_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    after: int = 0
    every: int = 1
    share: float | None = None
    seed: int = 0
    error: str | int | None = None
    drop: str | None = None
    cut: int | None = None
    silent: bool | str = False
    delay_ms: int = 0
    hold: str | None = None
    throttle_time_ms: int | None = None
    times: int | None = None
    until: float | str | datetime | None = None
    name: str | None = None
    """The id of the rule in journal, metrics and lists; "fault-1", "fault-2" … if not set."""

    def __post_init__(self) -> None:
        _check_types(self)
        _check_actions(self)
        _ = self.keys, self.version_range, self.error_code, self.until_ms

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the rule from the result of `to_dict`. Raises FaultError."""
        cls.check_size(given)
        if not isinstance(given, Mapping):
            raise FaultError(f'{given!r} is not a fault rule: expected a mapping, for example {{"api": "Fetch"}}')
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise FaultError(f"a fault rule has no {name!r}{_instead(str(name), known)}")
        return cls(**given)

    @staticmethod
    def check_size(given: object) -> None:
        """Raise FaultError for values that are too large for any rule, before they are formatted."""
        if _many(given):
            most = f"{_MOST_VALUES} values, or {_MOST_CHARACTERS} characters"
            raise FaultError(f"this is not a fault rule: it has more than {most}")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as values that JSON and YAML can represent."""
        said: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                if isinstance(value, datetime):
                    value = value.isoformat()
                elif isinstance(value, Sequence) and not isinstance(value, str):
                    value = list(value)
                said[field.name] = value
        return said

    @property
    def keys(self) -> tuple[ApiKey, ...] | None:
        """The API keys; None for all. Raises FaultError for a name that Kafka does not have."""
        if self.api is None:
            return None
        several: Iterable[str | int] = (self.api,) if isinstance(self.api, str | int) else self.api
        found = tuple(dict.fromkeys(map(_key, several)))
        if not found:
            raise FaultError("api=[] names no API: leave it out to mean all of them")
        return found

    @property
    def version_range(self) -> tuple[int, int] | None:
        """The first and the last version, both included; None for all."""
        if self.versions is None:
            return None
        first, dash, last = str(self.versions).partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            low, high = 1, 0
        if not 0 <= low <= high:
            raise FaultError(f'versions={self.versions!r} is refused: expected a version, or "FIRST-LAST"')
        return low, high

    @property
    def error_code(self) -> ErrorCode | None:
        """The error code. Raises FaultError for a code that Kafka does not have."""
        if self.error is None:
            return None
        try:
            code = ErrorCode[self.error.upper()] if isinstance(self.error, str) else ErrorCode(self.error)
        except (KeyError, ValueError):
            hint = _instead(str(self.error).upper(), [code.name for code in ErrorCode])
            raise FaultError(f"error={self.error!r}: Kafka has no such error{hint}") from None
        if code is ErrorCode.NONE:
            raise FaultError("error='NONE' is not a fault: leave error out")
        return code

    @property
    def until_ms(self) -> tuple[int, bool] | None:
        """Milliseconds, and whether they count from the moment when the rule is added; if not, they are Unix time."""
        until = self.until
        if until is None:
            return None
        if isinstance(until, int | float):
            if not 0 < until < 1e11:
                raise FaultError(f"until={until} is refused: expected more than 0 seconds of broker time")
            return round(until * 1000), True
        try:
            moment = datetime.fromisoformat(until) if isinstance(until, str) else until
        except ValueError:
            moment = None
        if not isinstance(moment, datetime) or moment.tzinfo is None:
            raise FaultError(f"until={until!r} is refused: expected seconds, or a time with its zone")
        return round(moment.timestamp() * 1000), False


def _key(name: str | int) -> ApiKey:
    if isinstance(name, int):
        if name in set(ApiKey):
            return ApiKey(name)
        raise FaultError(f"api={name}: Kafka has no API of this key")
    plain = name.replace("_", "").lower()
    for key in ApiKey:
        if key.camel.lower() == plain:
            return key
    raise FaultError(f"api={name!r}: Kafka has no such API{_instead(name, [key.camel for key in ApiKey])}")


def _instead(name: str, known: list[str]) -> str:
    by_case = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_case, n=1, cutoff=0.6)
    return f"; {by_case[close[0]]} is meant?" if close else ""


_MOST_VALUES: Final = 1000
_MOST_CHARACTERS: Final = 100_000


def _many(given: object) -> bool:
    """Whether there is more in it than a rule can say: to name it in a refusal, all of it would be written out.

    What an alias of YAML stands for counts each time, as it would be written each time.
    """
    left, values, characters = [given], 0, 0
    while left:
        one = left.pop()
        values += 1
        if isinstance(one, str | bytes):
            characters += len(one)
        elif isinstance(one, int):
            characters += one.bit_length() // 3
        elif isinstance(one, Mapping):
            left += islice(one.keys(), _MOST_VALUES)
            left += islice(one.values(), _MOST_VALUES)
        elif isinstance(one, list | tuple | set | frozenset):
            left += islice(one, _MOST_VALUES)
        if values > _MOST_VALUES or characters > _MOST_CHARACTERS:
            return True
    return False


_INTS = {
    "node": 0, "connection": 0, "partition": 0, "after": 0, "every": 1, "cut": 0, "delay_ms": 0,
    "throttle_time_ms": 0, "times": 1,
}  # fmt: skip
_TEXTS = ("client_id", "listener", "group", "transactional_id", "topic", "drop", "hold", "name")


def _check_types(rule: FaultRule) -> None:
    for name, least in _INTS.items():
        value = getattr(rule, name)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise FaultError(f"{name}={value!r} is refused: expected a whole number")
        if not least <= value <= 0x7FFFFFFF:
            raise FaultError(f"{name}={value} is refused: {least} to {0x7FFFFFFF} is allowed")
    for name in _TEXTS:
        value = getattr(rule, name)
        if value is not None and not isinstance(value, str):
            raise FaultError(f"{name}={value!r} is refused: expected a string")
    several = (rule.api,) if isinstance(rule.api, str | int) or rule.api is None else rule.api
    _wanted(several, (list, tuple), "api", "a name, a key, or several of them")
    for each in several:
        _wanted(each, (str, int, type(None)), "api", "a name or a key")
    _wanted(rule.versions, (str, int, type(None)), "versions", 'a version or "FIRST-LAST"')
    _wanted(rule.error, (str, int, type(None)), "error", "an error's name or number")
    _wanted(rule.seed, (int,), "seed", "a whole number")
    _wanted(rule.share, (int, float, type(None)), "share", "a number above 0 and up to 1")
    if rule.share is not None and not 0 < rule.share <= 1:
        raise FaultError(f"share={rule.share!r} is refused: expected a number above 0 and up to 1")
    if isinstance(rule.until, bool):
        raise FaultError(f"until={rule.until!r} is refused: expected seconds, or a time with its zone")


def _wanted(value: object, types: tuple[type, ...], name: str, what: str) -> None:
    if not isinstance(value, types) or isinstance(value, bool):
        raise FaultError(f"{name}={value!r} is refused: expected {what}")


def _check_actions(rule: FaultRule) -> None:
    if rule.drop is not None and rule.drop not in SIDES:
        raise FaultError(f'drop={rule.drop!r} is refused: expected "before" or "after" the work')
    if rule.hold is not None and rule.hold not in SIDES:
        raise FaultError(f'hold={rule.hold!r} is refused: expected "before" or "after" the work')
    if rule.silent not in (True, False, *SIDES):
        raise FaultError(f'silent={rule.silent!r} is refused: expected True, "before" or "after"')
    endings = {"error": rule.error is not None, "drop": rule.drop is not None, "cut": rule.cut is not None}
    endings["silent"] = bool(rule.silent)
    said = [name for name, given in endings.items() if given]
    if len(said) > 1:
        raise FaultError(f"{said[0]} and {said[1]} contradict each other: give one of them")
    if rule.throttle_time_ms is not None and said and said[0] != "error":
        raise FaultError(f"throttle_time_ms has no answer to stand in: {said[0]} lets none through")
    if rule.silent and rule.delay_ms:
        raise FaultError("delay_ms is nothing that anybody could see of a silent broker: leave it out")
    if rule.hold and (rule.silent or rule.delay_ms):
        other = "silent" if rule.silent else "delay_ms"
        raise FaultError(f"hold and {other} contradict each other: a request that is held waits until it is released")
    if not said and not rule.delay_ms and not rule.hold and rule.throttle_time_ms is None:
        raise FaultError(
            "the rule does nothing: give error, drop, cut, silent, delay_ms, hold or throttle_time_ms (0 bytes: cut=0)"
        )
    if rule.delay_ms > LONGEST_MS:
        raise FaultError(f"delay_ms={rule.delay_ms} is refused: {LONGEST_MS} (a day) is the most")
